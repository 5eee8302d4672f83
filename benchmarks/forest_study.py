"""Are our forests as good?

Fits random forests of this package, of scikit-learn and of R's ranger to the same rows,
20 times with other seeds and other training rows, and compares how well they predict
the rows held out, and what their out-of-bag estimates say. Ours gets the table as it
is, and once more what the peer gets.
"""

from __future__ import annotations

import argparse
import json
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from benchmarks.ranger import find_ranger_version
from benchmarks.study_forests import FORESTS
from benchmarks.study_tables import make_splits, make_tables

N_SEEDS, N_TREES = 20, 100
#: What is measured of every forest, in this order.
MEASURES = ("test", "out_of_bag")


def study_table(table, n_seeds=N_SEEDS, n_trees=N_TREES, forests=FORESTS):
    """Score every forest on a table.

    Returns
    -------
    dict
        Name of the forest -> array of shape (n_seeds, 2): accuracy, or R2, on the rows
        held out, and the same of the out-of-bag estimate.
    """
    splits = list(make_splits(table, n_seeds))
    return {
        name: np.array(list(score(table, splits, n_trees)))
        for name, score in forests.items()
    }


@dataclass(frozen=True)
class Difference:
    """Our mean score less a peer's, of runs with the same training rows."""

    mean: float
    #: standard error of the mean, from the differences of the pairs
    error: float
    #: standard deviation of the peer's scores: the standard error of one run
    spread: float

    @property
    def is_within(self):
        """Whether it is within one standard error of a run of the peer."""
        return abs(self.mean) <= self.spread

    @property
    def verdict(self):
        """Whether ours are "equal", "better" or "worse" than the peer's."""
        if self.is_within:
            return "equal"
        return "better" if self.mean > 0 else "worse"


def compare_scores(ours, theirs):
    """Compare the scores of two forests, run by run."""
    gain = ours - theirs
    error = gain.std(ddof=1) / np.sqrt(len(gain))
    return Difference(float(gain.mean()), float(error), float(theirs.std(ddof=1)))


def list_pairs(results):
    """Which forests are compared: (ours or ours in a peer's place, the peer)."""
    peers = [name for name in results if not name.startswith("ours")]
    return [
        (own, peer)
        for own_name in ("ours", "ours as {}")
        for peer in peers
        if (own := own_name.format(peer)) in results
    ]


def list_differences(studies):
    """Every comparison: (table, measure, which of ours, peer, Difference)."""
    for table, results in studies:
        for own, peer in list_pairs(results):
            for number, measure in enumerate(MEASURES):
                ours, theirs = results[own][:, number], results[peer][:, number]
                yield table, measure, own, peer, compare_scores(ours, theirs)


def format_gain(found):
    """Our difference and its standard error, in per cent; a mark if it is large."""
    mark = {"equal": "", "better": " +", "worse": " −"}[found.verdict]
    return f"({100 * found.mean:+.1f} ± {100 * found.error:.1f}){mark}"


def format_table(studies):
    """The results as a table of the documentation, in per cent.

    Of each peer the mean, and in brackets our difference with its standard error; for
    ours in the peer's place its mean, and the difference in brackets.
    """
    pairs = list_pairs(studies[0][1])
    columns = []
    for measure in MEASURES:
        columns.append(f"ours, {measure}")
        for own, peer in pairs:
            columns.append(f"{peer if own == 'ours' else own}, {measure}")
    yield ".. csv-table::"
    yield "   :header: table, " + ", ".join(f'"{name}"' for name in columns)
    yield ""
    for table, results in studies:
        cells = [f'"{table.name}"']
        for number, _ in enumerate(MEASURES):
            cells.append(f'"{100 * results["ours"][:, number].mean():.1f}"')
            for own, peer in pairs:
                found = compare_scores(
                    results[own][:, number], results[peer][:, number]
                )
                shown = results[peer if own == "ours" else own][:, number].mean()
                cells.append(f'"{100 * shown:.1f} {format_gain(found)}"')
        yield "   " + ", ".join(cells)


def write_json(path, studies):
    """Write every score and every comparison."""
    content = {
        "scores": {
            table.name: {name: rows.tolist() for name, rows in results.items()}
            for table, results in studies
        },
        "differences": [
            {"table": table.name, "measure": measure, "own": own, "peer": peer}
            | {"verdict": found.verdict, **vars(found)}
            for table, measure, own, peer, found in list_differences(studies)
        ],
    }
    Path(path).write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")


def main(arguments=None):
    """Run the command."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks study forests", description=__doc__
    )
    parser.add_argument("--seeds", type=int, default=N_SEEDS, metavar="N")
    parser.add_argument("--trees", type=int, default=N_TREES, metavar="N")
    parser.add_argument("--tables", nargs="+", metavar="NAME", help="default: all")
    parser.add_argument("--json", metavar="FILE", help="write all scores here")
    options = parser.parse_args(arguments)
    tables = [t for t in make_tables() if t.name in (options.tables or [t.name])]
    if not tables:
        parser.error("no such table; " + ", ".join(t.name for t in make_tables()))
    forests = dict(FORESTS)
    if find_ranger_version() is None:
        print("not at hand, left out: ranger")
        forests = {n: f for n, f in forests.items() if not n.endswith("ranger")}
    studies = []
    for table in tables:
        found = study_table(table, options.seeds, options.trees, forests)
        studies.append((table, found))
        if options.json:
            write_json(options.json, studies)
    print("\n".join(format_table(studies)))
    print_verdicts(list(list_differences(studies)))


def print_verdicts(differences):
    """Say how many differences are small, and which are not."""
    for places in ("as they come", "in the peer's place"):
        is_own = places == "as they come"
        chosen = [one for one in differences if (one[2] == "ours") == is_own]
        n_within = sum(found.is_within for *_, found in chosen)
        print(
            f"ours {places}: {n_within} of {len(chosen)} within one standard error of "
            "a run"
        )
        for table, measure, own, peer, found in chosen:
            if not found.is_within:
                print(f"{table.name}, {measure}: {own} {found.verdict} than {peer}")
