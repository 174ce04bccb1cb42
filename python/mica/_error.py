"""The one exception that Mica raises."""
from __future__ import annotations


class Error(Exception):
    """What is wrong, where, and what to do about it.

    code: the number that docs/errors.md explains, as 3001.
    what: what is wrong.
    where: a file, a node, an input; "" where there is nothing to say.
    hint: what to do about it; "" where there is nothing to say.

    An error behind this one is its `__cause__`.
    """

    def __init__(self, code: int, what: str, where: str = "", hint: str = "") -> None:
        super().__init__(code, what, where, hint)
        self.code = code
        self.what = what
        self.where = where
        self.hint = hint

    def __str__(self) -> str:
        text = f"error[MICA{self.code}]: {self.what}"
        if self.where:
            text += f"\n  --> {self.where}"
        if self.hint:
            text += f"\nhint: {self.hint}"
        return text
