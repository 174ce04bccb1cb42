"""The results as text, JSON, a PNG chart and one HTML page that needs no other file."""
import base64
import html
import io
import json
import math
import statistics

from peer_table import figures
from peer_table.adapters import TITLES

WALL = 0.92   # of the multiply-add ceiling: nothing is to be gained above it but with fewer multiplications


def rows(made):
    """(net, threads, summary, flops) in order; a network without figures comes with None."""
    for net, entry in made["nets"].items():
        if not entry["threads"]:
            yield net, "", None, None
        for threads, one in entry["threads"].items():
            yield net, threads, one, entry["flops"]


def peak_gflops(one, name="mica"):
    """The median over rounds of the multiply-add ceiling of a program's process, or NaN."""
    peaks = [p for p in one["peers"].get(name, {}).get("round_peaks_gflops", ()) if p is not None]
    return statistics.median(peaks) if peaks else math.nan


def share_of_peak(one, flops, name="mica"):
    """The median over rounds of what a program computes to what its process could have computed just then, or NaN."""
    peer = one["peers"].get(name, {})
    pairs = zip(peer.get("round_ms", ()), peer.get("round_peaks_gflops", ()))
    shares = [flops / ms * 1e-6 / peak for ms, peak in pairs if ms and peak] if flops else []
    return statistics.median(shares) if shares else math.nan


def number(value, form):
    return format(value, form) if value is not None and math.isfinite(value) else "-"


def line(net, threads, entry):
    """One network's result on one line, as it comes."""
    one = entry["threads"][str(threads)]
    mine = one["peers"].get("mica", {})
    text = f"{net:<20} {threads}T  Mica {number(mine.get('median_ms'), '8.2f')} ms"
    if "ratio" in one:
        low, middle, high = one["ratio_quartiles"]
        best = one["peers"][one["best_peer"]]["median_ms"]
        text += f"  {TITLES[one['best_peer']]:>12} {best:8.2f} ms  ratio {middle:.3f} ({low:.3f} to {high:.3f})"
    text += f"  {number(100 * share_of_peak(one, entry['flops']), '3.0f'):>3} % of peak"
    text += f"  {one['rounds']} rounds of {one['passes']} passes"
    return text + (f"  MISSED: {one['missed']}" if one["missed"] else "")


def missed_count(made):
    return sum(1 for _, _, one, _ in rows(made) if one is None or one["missed"])


def means(made):
    """threads → (geometric mean of the settled ratios of the networks whose best peer is below the wall, how many these
    are, how many networks are left out because they have no ratio that counts)."""
    found, without = {}, {}
    for _, threads, one, flops in rows(made):
        if not one or "ratio" not in one or one["missed"]:
            without[threads] = without.get(threads, 0) + 1
            continue
        share = share_of_peak(one, flops, one["best_peer"])
        if not share >= WALL:
            found.setdefault(threads, []).append(one["ratio"])
    not_made = without.get("", 0)  # for no number of threads
    return {threads: (figures.geometric_mean(list_), len(list_), without.get(threads, 0) + not_made)
            for threads, list_ in found.items()}


def peers_of(made):
    names = []
    for _, _, one, _ in rows(made):
        names += [n for n in (one["peers"] if one else ()) if n not in names]
    return names


def cells(made, key, form):
    """Rows of text: network, threads, then each program's figure of that key; `failed` for one with an error."""
    names = peers_of(made)
    table = [["network", "T", *(TITLES[n] for n in names)]]
    for net, threads, one, _ in rows(made):
        if one is None:
            continue
        row = [net, threads]
        for name in names:
            peer = one["peers"].get(name, {})
            row.append("failed" if peer.get("error") else number(peer.get(key), form))
        table.append(row)
    return table


def ratio_cells(made):
    table = [["network", "T", "best peer", "ratio", "quartiles", "of minima", "% of peak", "rounds", "passes each", ""]]
    for net, threads, one, flops in rows(made):
        if one is None:
            table.append([net, *[""] * 8, "missed: the network was not made"])
            continue
        low, _, high = one.get("ratio_quartiles", [math.nan] * 3)
        table.append([net, threads, TITLES.get(one["best_peer"], "-"), number(one.get("ratio"), ".3f"),
                      f"{number(low, '.3f')} to {number(high, '.3f')}", number(one.get("ratio_of_minima"), ".3f"),
                      number(100 * share_of_peak(one, flops), ".0f"), str(one["rounds"]), str(one["passes"]),
                      f"missed: {one['missed']}" if one["missed"] else ""])
    return table


def program_cells(made):
    """Version and instruction set of each program."""
    table = [["program", "version", "time is spent on (share of samples)", "told by itself"]]
    for name in peers_of(made):
        seen = [one["peers"][name] for _, _, one, _ in rows(made) if one and name in one["peers"]]
        version = next((p["version"] for p in seen if p.get("version")), "-")
        notes = next((p["notes"] for p in seen if p.get("notes")), "")
        table.append([TITLES[name], version, made.get("instructions", {}).get(name, "not sampled"), notes])
    return table


def error_cells(made):
    table = [["network", "T", "program", "error"]]
    for net, threads, one, _ in rows(made):
        for name, peer in (one["peers"] if one else {}).items():
            if peer.get("error"):
                table.append([net, threads, TITLES[name], peer["error"]])
    return table


SECTIONS = (
    ("Ratio of the best peer's time to Mica's (above 1: Mica is faster)", ratio_cells),
    ("Median ms", lambda made: cells(made, "median_ms", ".2f")),
    ("Minimum ms", lambda made: cells(made, "min_ms", ".2f")),
    ("Load ms", lambda made: cells(made, "load_ms", ".1f")),
    ("First run ms", lambda made: cells(made, "first_ms", ".2f")),
    ("Peak memory above an empty process, MiB", lambda made: cells(made, "memory_mb", ".1f")),
    ("Programs", program_cells),
    ("Errors", error_cells),
)


def headline(made):
    about = made["machine"]
    pace = "" if made["pace"] == "full" else f", {made['pace']}"
    text = [f"{about['processor']}, {about['processors']} processors, caches {' '.join(about['caches'])}, "
            f"{made['date']}, commit {made['commit']}{pace}, {made['clock']} clock; "
            f"load average before {about['load_average']:.1f}"]
    peaks = {}
    for _, threads, one, _ in rows(made):
        if one and math.isfinite(peak_gflops(one)):
            peaks.setdefault(threads, []).append(peak_gflops(one))
    text += [f"multiply-add ceiling {threads}T: {max(p):.0f} GFLOP/s" for threads, p in peaks.items()]
    text += [f"geometric mean {threads}T: {mean:.3f} over the {count} networks whose best peer is below {WALL:.0%} of "
             f"the ceiling; {left_out} missed or not settled, left out"
             for threads, (mean, count, left_out) in means(made).items()]
    total = sum(1 for _ in rows(made))
    return text + [f"{total - missed_count(made)} of {total} figures count"]


def aligned(table):
    widths = [max(len(row[k]) for row in table) for k in range(len(table[0]))]
    return "\n".join("  ".join(c.ljust(w) if k == 0 or k > 6 else c.rjust(w)
                               for k, (c, w) in enumerate(zip(row, widths))).rstrip() for row in table)


def text(made):
    parts = ["\n".join(headline(made))]
    parts += [f"{title}\n{aligned(table)}" for title, table in ((t, f(made)) for t, f in SECTIONS) if len(table) > 1]
    return "\n\n".join(parts)


def markdown(made):
    def row(cells_):
        return "| " + " | ".join(c.replace("|", "/") for c in cells_) + " |"
    parts = ["\n".join(f"- {one}" for one in headline(made))]
    for title, table in ((t, f(made)) for t, f in SECTIONS):
        if len(table) > 1:
            parts.append("\n".join([f"**{title}**", "", row(table[0]), row(["---"] * len(table[0])),
                                    *map(row, table[1:])]))
    return "\n\n".join(parts) + "\n"


def chart(made):
    """Bars of the ratio for each network, 1 and more threads beside each other, as PNG; None without matplotlib."""
    try:
        import matplotlib
        matplotlib.use("Agg")
        from matplotlib import pyplot
    except ImportError:
        return None
    nets = [net for net, entry in made["nets"].items() if any("ratio" in o for o in entry["threads"].values())]
    counts = sorted({t for net in nets for t in made["nets"][net]["threads"]}, key=int)
    if not nets:
        return None
    figure, axes = pyplot.subplots(figsize=(8, 1.2 + 0.34 * len(nets)), dpi=90)
    high = 0.8 / len(counts)
    for k, threads in enumerate(counts):
        ones = [made["nets"][net]["threads"].get(threads, {}) for net in nets]
        values = [one.get("ratio", 0) for one in ones]
        places = [i + (k - (len(counts) - 1) / 2) * high for i in range(len(nets))]
        bars = axes.barh(places, values, high, label=f"{threads} thread{'s' if threads != '1' else ''}",
                         color=("#2a6f97", "#89c2d9", "#a9d6e5")[k % 3])
        axes.bar_label(bars, [f"{v:.2f} {TITLES.get(o.get('best_peer'), '')}" if v else "" for v, o in
                              zip(values, ones)], fontsize=6, padding=2)
    axes.axvline(1, color="#444444", linewidth=1)
    axes.set_yticks(range(len(nets)), nets, fontsize=8)
    axes.invert_yaxis()
    axes.set_xlabel("time of the best peer / time of Mica (above 1: Mica is faster)", fontsize=8)
    axes.margins(x=0.2)
    axes.spines[["top", "right"]].set_visible(False)
    axes.legend(fontsize=8, loc="lower right")
    figure.tight_layout()
    stream = io.BytesIO()
    figure.savefig(stream, format="png")
    pyplot.close(figure)
    return stream.getvalue()


STYLE = """body{font:14px/1.5 system-ui,sans-serif;margin:2em auto;max-width:1200px;padding:0 1em;color:#222}
table{border-collapse:collapse;margin:.5em 0 2em;font-variant-numeric:tabular-nums;display:block;overflow-x:auto}
th,td{padding:.2em .7em;border-bottom:1px solid #ddd;text-align:right;white-space:nowrap}
th:first-child,td:first-child,td:last-child{text-align:left}th{background:#f4f6f8}img{max-width:100%}
.missed td{color:#a33}"""


def page(made, picture):
    def row(cells_, tag):
        marked = ' class="missed"' if any(c.startswith(("missed", "failed")) for c in cells_) else ""
        return f"<tr{marked}>" + "".join(f"<{tag}>{html.escape(c)}</{tag}>" for c in cells_) + "</tr>"
    parts = ["<!doctype html><html lang=en><meta charset=utf-8><title>Mica beside its peers</title>",
             f"<style>{STYLE}</style><h1>Mica beside its peers</h1>",
             "".join(f"<p>{html.escape(one)}</p>" for one in headline(made))]
    if picture:
        parts.append(f'<img alt="ratios" src="data:image/png;base64,{base64.b64encode(picture).decode()}">')
    for title, table in ((t, f(made)) for t, f in SECTIONS):
        if len(table) > 1:
            body = "".join(row(r, "td") for r in table[1:])
            parts.append(f"<h2>{html.escape(title)}</h2><table>{row(table[0], 'th')}{body}</table>")
    return "\n".join(parts) + "\n"


def clean(value):
    """JSON has no NaN: null stands for it."""
    if isinstance(value, dict):
        return {k: clean(v) for k, v in value.items()}
    if isinstance(value, list):
        return [clean(v) for v in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def write(made, folder):
    """peers.json, peers.txt, peers.md, peers.png and peers.html."""
    (folder / "peers.json").write_text(json.dumps(clean(made), indent=1) + "\n")
    (folder / "peers.txt").write_text(text(made) + "\n")
    (folder / "peers.md").write_text(markdown(made))
    picture = chart(made)
    if picture:
        (folder / "peers.png").write_bytes(picture)
    (folder / "peers.html").write_text(page(made, picture))
