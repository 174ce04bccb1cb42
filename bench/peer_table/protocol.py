"""How a peer's process is talked to: JSON lines over two pipes of its own, so that what a library prints disturbs
nothing.

The parent sends {"do": WORD, ...}, the worker answers {"ok": true, ...} or {"ok": false, "error": text}. A worker that
is not on its turn is stopped (SIGSTOP): threads that a library lets spin after a run take nothing from the next peer.
"""
import json
import os
import select
import signal
import subprocess
import tempfile
import time


class PeerFailed(Exception):
    """The peer said no, died, or took too long; the text says which."""


class Worker:
    """One long-lived process. `command` is started with two file numbers appended: where it reads, where it writes."""

    def __init__(self, command, processors=(), environment=None):
        down_read, down_write = os.pipe()
        up_read, up_write = os.pipe()
        self.talk = tempfile.TemporaryFile()
        pin = (lambda: os.sched_setaffinity(0, processors)) if processors else None
        self.process = subprocess.Popen(
            [*map(str, command), str(down_read), str(up_write)], pass_fds=(down_read, up_write), preexec_fn=pin,
            stdin=subprocess.DEVNULL, stdout=self.talk, stderr=self.talk, env={**os.environ, **(environment or {})})
        os.close(down_read)
        os.close(up_write)
        self.down, self.up, self.rest, self.paused = down_write, up_read, b"", False

    def ask(self, word, limit=300.0, **details):
        """The worker's answer as a dict. PeerFailed for a refusal, an end of the process or `limit` seconds."""
        self.resume()
        try:
            os.write(self.down, json.dumps({"do": word, **details}).encode() + b"\n")
        except BrokenPipeError:
            raise PeerFailed(self.last_words()) from None
        answer = self.read_line(time.monotonic() + limit)
        if not answer.get("ok"):
            raise PeerFailed(str(answer.get("error", "no reason given")))
        return answer

    def read_line(self, deadline):
        while b"\n" not in self.rest:
            left = deadline - time.monotonic()
            if left <= 0 or not select.select([self.up], [], [], left)[0]:
                self.close()
                raise PeerFailed("took too long and was stopped")
            piece = os.read(self.up, 1 << 16)
            if not piece:
                raise PeerFailed(self.last_words())
            self.rest += piece
        line, self.rest = self.rest.split(b"\n", 1)
        try:
            return json.loads(line)
        except ValueError:
            raise PeerFailed(f"answered what is no JSON: {line[:80]!r}") from None

    def last_words(self):
        """Why the process ended, from its exit code and what it printed last."""
        try:
            code = self.process.wait(10)
        except subprocess.TimeoutExpired:
            code = "none yet"
        self.talk.seek(0)
        printed = self.talk.read().decode(errors="replace").strip().splitlines()
        return f"ended with exit code {code}: {' / '.join(printed[-3:]) or 'nothing printed'}"

    def pause(self):
        if not self.paused and self.process.poll() is None:
            self.process.send_signal(signal.SIGSTOP)
            self.paused = True

    def resume(self):
        if self.paused:
            self.process.send_signal(signal.SIGCONT)
            self.paused = False

    def close(self):
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        for file in (self.down, self.up):
            try:
                os.close(file)
            except OSError:
                pass
        self.down = self.up = -1
        self.talk.close() if self.process.returncode is not None else None


def serve(handlers, read_from, write_to):
    """The worker's side: answers until the parent is gone. `handlers`: word → function(**details) → dict."""
    with os.fdopen(read_from, "r") as requests, os.fdopen(write_to, "w") as answers:
        for line in requests:
            request = json.loads(line)
            word = request.pop("do")
            try:
                answer = {"ok": True, **(handlers[word](**request) or {})}
            except BaseException as error:   # whatever a peer raises is its answer
                answer = {"ok": False, "error": f"{type(error).__name__}: {error}"[:500]}
            answers.write(json.dumps(answer) + "\n")
            answers.flush()
