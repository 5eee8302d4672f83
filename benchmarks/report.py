"""Plain tables for people, JSON for programs."""

from __future__ import annotations

import json
from dataclasses import asdict, fields

from benchmarks.measure import Timing, median
from benchmarks.run import Comparison


def format_table(rows):
    """Text columns under a header row; the first column is left-aligned."""
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    lines = []
    for row in rows:
        first, *others = [
            cell.ljust(width) if i == 0 else cell.rjust(width)
            for i, (cell, width) in enumerate(zip(row, widths, strict=True))
        ]
        lines.append("  ".join([first, *others]).rstrip())
    lines.insert(1, "  ".join("-" * width for width in widths))
    return "\n".join(lines)


def format_seconds(seconds):
    """Seconds with three digits, in ms or µs where they are few."""
    for unit, factor in (("s", 1), ("ms", 1e3), ("us", 1e6)):
        if seconds * factor >= 1 or unit == "us":
            value = seconds * factor
            return f"{value:.3g} {unit}" if value < 100 else f"{value:.0f} {unit}"
    raise AssertionError


def format_ratio(ratio):
    """A ratio with three digits, '-' for none."""
    if ratio is None:
        return "-"
    return f"{ratio:.3g}" if ratio < 100 else f"{ratio:.0f}"


def format_comparisons(comparisons):
    """The table of times and ratios, and below it what was not the same work."""
    rows = [
        (
            "work",
            "threads",
            "ours",
            "min",
            "peer",
            "median",
            "min",
            "ratio",
            "needed",
            "verdict",
            "leaves",
            "score",
        )
    ]
    remarks = []
    for c in comparisons:
        rows.append(
            (
                c.work,
                str(c.n_threads),
                format_seconds(median(c.ours.seconds)),
                format_seconds(min(c.ours.seconds)),
                c.peer,
                format_seconds(median(c.theirs.seconds)),
                format_seconds(min(c.theirs.seconds)),
                format_ratio(c.ratio),
                format_ratio(c.needed),
                c.verdict,
                f"{c.our_leaves}/{c.peer_leaves}",
                f"{c.our_score:.4g}/{c.peer_score:.4g}",
            )
        )
        remarks += [f"{c.work}, {c.peer}: {reason}" for reason in c.differences]
    return "\n".join([format_table(rows), *dict.fromkeys(remarks)])


def format_figures(figures):
    """The table of figures that have a limit."""
    rows = [("work", "threads", "tool", "figure", "value", "at most", "verdict")]
    rows += [
        (
            f.work,
            str(f.n_threads),
            f.contender,
            f.what,
            format_ratio(f.value),
            format_ratio(f.limit),
            f.verdict,
        )
        for f in figures
    ]
    return format_table(rows)


def format_missing(missing):
    """One line per peer that is not at hand."""
    return "\n".join(f"not at hand, left out: {name}" for name in missing)


def write_json(path, machine, missing, comparisons, figures, notes):
    """Write everything measured, raw times included."""
    content = {
        "machine": machine,
        "missing_peers": missing,
        "notes": notes,
        "comparisons": [
            asdict(c) | {"ratio": c.ratio, "verdict": c.verdict} for c in comparisons
        ],
        "figures": [asdict(f) | {"verdict": f.verdict} for f in figures],
    }
    with open(path, "w", encoding="utf-8") as file:
        json.dump(content, file, indent=1)
        file.write("\n")


def read_comparisons(path):
    """The comparisons that :func:`write_json` has written."""
    with open(path, encoding="utf-8") as file:
        written = json.load(file)["comparisons"]
    names = [field.name for field in fields(Comparison)]
    return [
        Comparison(
            **{name: entry[name] for name in names}
            | {side: Timing(**entry[side]) for side in ("ours", "theirs")}
        )
        for entry in written
    ]


def _format_pair(values):
    """Texts such as "90 ms" and "48 ms" side by side, a common unit only once."""
    texts = list(dict.fromkeys(values))
    units = {text.partition(" ")[2] for text in texts}
    if len(units) == 1:
        numbers = " / ".join(text.partition(" ")[0] for text in texts)
        return f"{numbers} {units.pop()}".rstrip()
    return " / ".join(texts)


def format_document_table(comparisons):
    """A table of the medians in reStructuredText, all numbers of threads in a row.

    Comparisons of different work are not shown.
    """
    threads = " / ".join(str(n) for n in sorted({c.n_threads for c in comparisons}))
    rows = [("work", f"ours, {threads} threads", "against", f"ratio, {threads}")]
    groups = {}
    for c in sorted(comparisons, key=lambda c: c.n_threads):
        if not c.differences:
            groups.setdefault(c.work, {}).setdefault(c.peer, []).append(c)
    for work, peers in groups.items():
        for number, (peer, group) in enumerate(peers.items()):
            ours = [format_seconds(median(c.ours.seconds)) for c in group]
            theirs = [format_seconds(median(c.theirs.seconds)) for c in group]
            rows.append(
                (
                    f"``{work}``",
                    "the same" if number else _format_pair(ours),
                    f"{peer}, {_format_pair(theirs)}",
                    " / ".join(format_ratio(c.ratio) for c in group),
                )
            )
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    rule = " ".join("=" * width for width in widths)
    lines = [
        " ".join(
            cell.ljust(width) for cell, width in zip(row, widths, strict=True)
        ).rstrip()
        for row in rows
    ]
    return "\n".join([rule, lines[0], rule, *lines[1:], rule])
