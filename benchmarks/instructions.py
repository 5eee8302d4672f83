"""The command ``python -m benchmarks instructions``: a cost that noise cannot touch."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass

from benchmarks.callgrind import CounterUnavailableError, count_instructions
from benchmarks.counted_works import COUNTED_SCALE, COUNTED_WORKS
from benchmarks.measure import machine_facts, median, time_alternately
from benchmarks.peers import OWN
from benchmarks.report import format_seconds, format_table

#: What all calls need, and what takes long to import under the counter.
MODULES = ("pandas", "sklearn_textbook.ensemble", "sklearn_textbook.tree")


@dataclass(frozen=True)
class Count:
    """What a work took."""

    work: str
    instructions: int
    #: median of the clock's times, outside the counter
    seconds: float


def add_parser(commands):
    """Add the command to those of ``python -m benchmarks``."""
    parser = commands.add_parser(
        "instructions", help="count the instructions of fits by valgrind"
    )
    parser.add_argument(
        "--only",
        type=lambda text: text.split(","),
        default=list(COUNTED_WORKS),
        metavar="NAME,...",
        help="these works only: " + ", ".join(COUNTED_WORKS),
    )
    parser.add_argument(
        "--baseline", metavar="FILE", help="show ratios to the counts of this file"
    )
    parser.add_argument("--save", metavar="FILE", help="write the counts here")
    parser.add_argument(
        "--scale",
        type=float,
        default=COUNTED_SCALE,
        help="numbers of rows over 100,000 (default: %(default)s)",
    )
    parser.add_argument(
        "--repeat", type=int, default=3, metavar="N", help="rounds of the clock"
    )


def count_works(names, scale, n_repeats):
    """Count and time some works, with one thread."""
    calls = {name: COUNTED_WORKS[name].make_call(scale) for name in names}
    # The counter first: without one, nobody wants to wait for the clock.
    counts = count_instructions(calls.values(), MODULES)
    times = time_alternately(calls, n_repeats)
    return [
        Count(name, count, median(times[name].seconds))
        for name, count in zip(names, counts, strict=True)
    ]


def format_counts(counts, baseline=None):
    """The table; with a baseline, of the same scale, the ratios to it."""
    header = ("work", "million instructions", "time")
    others = {count.work: count for count in baseline or ()}
    if baseline is not None:
        header += ("million before", "ratio", "time before")
    rows = [header]
    for count in counts:
        row = (
            count.work,
            f"{count.instructions / 1e6:.2f}",
            format_seconds(count.seconds),
        )
        other = others.get(count.work)
        if baseline is not None and other is None:
            row += ("-", "-", "-")
        elif baseline is not None:
            row += (
                f"{other.instructions / 1e6:.2f}",
                f"{count.instructions / other.instructions:.4f}",
                format_seconds(other.seconds),
            )
        rows.append(row)
    return format_table(rows)


def write_counts(path, scale, counts):
    """Write counts, and where they were counted."""
    content = {
        "machine": machine_facts({OWN.name: OWN.find_version()}),
        "scale": scale,
        "counts": [asdict(count) for count in counts],
    }
    with open(path, "w", encoding="utf-8") as file:
        json.dump(content, file, indent=1)
        file.write("\n")


def read_counts(path, scale):
    """The counts that :func:`write_counts` has written, for this scale."""
    with open(path, encoding="utf-8") as file:
        content = json.load(file)
    if content["scale"] != scale:
        raise ValueError(f"{path} was counted with --scale {content['scale']}")
    return [Count(**entry) for entry in content["counts"]]


def run(parser, arguments):
    """Run the command; the exit status."""
    unknown = [name for name in arguments.only if name not in COUNTED_WORKS]
    if unknown:
        parser.error(f"unknown work {', '.join(unknown)}; see --help")
    if arguments.repeat < 1 or arguments.scale <= 0:
        parser.error("--repeat and --scale must be positive")
    baseline = None
    if arguments.baseline:
        try:
            baseline = read_counts(arguments.baseline, arguments.scale)
        except (OSError, ValueError) as error:
            parser.error(str(error))
    try:
        counts = count_works(arguments.only, arguments.scale, arguments.repeat)
    except CounterUnavailableError as error:
        parser.error(str(error))
    print(format_counts(counts, baseline))
    if arguments.save:
        write_counts(arguments.save, arguments.scale, counts)
    return 0
