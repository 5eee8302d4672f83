"""The command of a benchmark whose works set two fits beside each other."""

from __future__ import annotations

import argparse
import json
from dataclasses import asdict, dataclass, field
from statistics import median

from benchmarks.measure import installed_version, machine_facts
from benchmarks.report import format_ratio, format_seconds

#: What a command exits with if both did not do the same work, or if one is missing.
DIFFERENT_WORK, NOT_AT_HAND = 3, 4


@dataclass(frozen=True)
class Outcome:
    """What one work has shown.

    Parameters
    ----------
    times : dict of str to Timing
        Of "ours" and "theirs".
    differences : list of str
        Reasons why both did not do the same work.
    peer : str
        Who they are.
    title : str
        What was done.
    facts : dict
        What else is written down.
    """

    times: dict
    differences: list
    peer: str
    title: str
    facts: dict = field(default_factory=dict)


def make_parser(name, description, n_repeats):
    """Make the parser of a command with the options that all have."""
    parser = argparse.ArgumentParser(
        prog=f"python -m benchmarks study {name}", description=description
    )
    parser.add_argument("works", nargs="*", metavar="WORK", help="default: all")
    parser.add_argument("--scale", type=float, default=1.0, help="share of the rows")
    parser.add_argument("--repeat", type=int, default=n_repeats, metavar="N")
    parser.add_argument("--json", metavar="FILE", help="write all times here")
    return parser


def run_pairs(parser, arguments, works, run_work, packages=("scikit-learn",)):
    """Run works and print what they show.

    Parameters
    ----------
    parser : ArgumentParser
        From `make_parser`, with further options.
    arguments : list of str or None
        Arguments of the command; None: those it was called with.
    works : dict
        All works by their names.
    run_work : callable
        Takes a work and the options, returns an Outcome.
    packages : sequence of str
        Packages that must be there, and whose versions are written down.

    Returns
    -------
    code : int
        What the command exits with.
    """
    options = parser.parse_args(arguments)
    names = options.works or list(works)
    if unknown := [name for name in names if name not in works]:
        parser.error(f"no such work: {unknown}; there are {', '.join(works)}")
    versions = {package: installed_version(package) for package in packages}
    if missing := [package for package in packages if versions[package] is None]:
        print(f"not installed: pip install {' '.join(missing)}")
        return NOT_AT_HAND
    written, is_same = {}, True
    for name in names:
        outcome = run_work(works[name], options)
        print(f"{name}: {describe(outcome)}")
        for reason in outcome.differences:
            print(f"    DIFFERENT WORK: {reason}")
        is_same = is_same and not outcome.differences
        written[name] = {
            **outcome.facts,
            "differences": outcome.differences,
            **{who: asdict(timing) for who, timing in outcome.times.items()},
        }
    if options.json:
        facts = {"machine": machine_facts(versions), "works": written}
        with open(options.json, "w", encoding="utf-8") as file:
            json.dump(facts, file, indent=1)
    return 0 if is_same else DIFFERENT_WORK


def describe(outcome):
    """Times of both and their ratios: median, least, and least of the processor."""
    measures = {
        "median": lambda timing: median(timing.seconds),
        "least": lambda timing: min(timing.seconds),
        "least processor time": lambda timing: min(timing.cpu_seconds),
    }
    texts = []
    for name, measure in measures.items():
        ours, theirs = (measure(outcome.times[who]) for who in ("ours", "theirs"))
        texts.append(
            f"{name} {format_seconds(ours)}, {format_seconds(theirs)}, "
            f"ratio {format_ratio(theirs / ours)}"
        )
    return f"ours, {outcome.peer}: {'; '.join(texts)}  ({outcome.title})"
