"""Freeze the digests of grown trees, or say what differs from frozen ones.

``python -m tests.growth.freeze_digests`` grows all cases and writes both files anew.
To see where two trees part, save them with ``--save-trees`` at one commit and compare
with ``--compare`` at the other.
"""

import argparse
import pickle
import sys
from pathlib import Path

import numpy as np

from tests.growth.blocks import BLOCKS, LONG_BLOCKS, list_cases
from tests.growth.cases import fit_case, name_case
from tests.growth.digests import (
    FILES,
    FOLDER,
    PARTS,
    compare_cases,
    describe_machine,
    grow_cases,
    list_all_fields,
    read_digests,
    write_digests,
)

#: Stands in front of saved trees; another form of them gets another number.
FORM = "trees of tests.growth 1"


def make_parser():
    parser = argparse.ArgumentParser(
        prog="python -m tests.growth.freeze_digests", description=__doc__
    )
    action = parser.add_mutually_exclusive_group()
    action.add_argument(
        "--compare",
        metavar="FILE",
        type=Path,
        help="write nothing; print the cases that differ from this file of digests, or "
        "the first node that differs from trees that were saved",
    )
    action.add_argument(
        "--save-trees", metavar="FILE", type=Path, help="save trees, not digests"
    )
    parser.add_argument(
        "--only",
        metavar="TEXT",
        default="",
        help="cases with this in the name of the block, a slash and their own name",
    )
    return parser


# ----------------------------------------------------------------------------- digests
def grow_blocks(blocks):
    """Grow all cases of some blocks; their digests by blocks and keys."""
    return {block: grow_cases(list_cases(block)) for block in blocks}


def freeze(folder=FOLDER, files=FILES):
    """Write all files anew; print which cases changed."""
    for name, blocks in files.items():
        path = folder / name
        grown = grow_blocks(blocks)
        if path.exists():
            print_differences(grown, read_digests(path))
        write_digests(path, grown)
        n_cases = sum(map(len, grown.values()))
        print(f"{path.name}: {n_cases} cases in {len(grown)} blocks")


def print_differences(grown, frozen):
    """Print the cases that differ; return how many."""
    n_different, signature = 0, frozen["signature"]
    for block, digests in grown.items():
        expected = frozen["blocks"].get(block, {})
        lines = compare_cases(list_cases(block), digests, expected, signature)
        for line in lines:
            print(f"{block}: {line}")
        n_different += len(lines)
        n_lost = len(expected.keys() - digests)
        if n_lost:
            print(f"{block}: {n_lost} frozen cases are no longer listed")
    if signature != describe_machine():
        print("frozen on another machine: some values were not compared")
    print(f"{n_different} cases differ")
    return n_different


def compare_digests(path):
    """Print the cases whose digests differ from those of a file; return how many."""
    frozen = read_digests(path)
    return print_differences(grow_blocks(frozen["blocks"]), frozen)


# ------------------------------------------------------------------------------- trees
def list_named(only):
    """Yield the cases whose names contain a text, with these names."""
    for block in BLOCKS | LONG_BLOCKS:
        for case in list_cases(block):
            name = f"{block}/{name_case(case)}"
            if only in name:
                yield name, case


def save_trees(path, only):
    """Save the fields of the trees of some cases."""
    trees = {name: list_all_fields(fit_case(case)) for name, case in list_named(only)}
    path.write_bytes(pickle.dumps((FORM, trees)))
    print(f"{path}: {len(trees)} cases")


def find_difference(saved, grown):
    """Say where two lists of fields part first; None if they are equal."""
    if len(saved) != len(grown):
        return f"{len(saved) - 1} trees were saved, {len(grown) - 1} are grown"
    for number, (old, new) in enumerate(zip(saved, grown, strict=True)):
        found = [
            (_find_row(old[part][field], new[part][field]), part, field)
            for part in PARTS
            for field in old[part].keys() & new[part].keys()
        ]
        found = sorted(each for each in found if each[0] is not None)
        if found:
            row, part, field = found[0]
            values = [_show(fields[part][field], row) for fields in (old, new)]
            others = sorted({f for r, _, f in found if r == row} - {field})
            more = f"; there also {', '.join(others)}" if others else ""
            return (
                f"tree {number}, {part}, {field} at {row}: "
                f"{values[0]} was saved, {values[1]} is grown{more}"
            )
    return None


def _find_row(old, new):
    """The first row in which two arrays differ in a bit; None if there is none."""
    old, new = np.atleast_1d(old), np.atleast_1d(new)
    if old.shape[1:] != new.shape[1:]:
        return 0
    for row, (one, other) in enumerate(zip(old, new, strict=False)):
        if one.tobytes() != other.tobytes():
            return row
    return None if len(old) == len(new) else min(len(old), len(new))


def _show(array, row):
    array = np.atleast_1d(array)
    return repr(array[row].tolist()) if row < len(array) else "nothing"


def compare_trees(path, only):
    """Print where trees differ from saved ones; return the number of cases."""
    form, saved = pickle.loads(path.read_bytes())
    if form != FORM:
        raise ValueError(f"{path} holds {form}, not {FORM}")
    n_different = 0
    for name, case in list_named(only):
        if name not in saved:
            continue
        difference = find_difference(saved[name], list_all_fields(fit_case(case)))
        if difference is not None:
            n_different += 1
            print(f"{name}: {difference}")
    print(f"{n_different} cases differ")
    return n_different


def main(arguments=None):
    """Run the command; the exit status is 1 if trees differ from those in a file."""
    arguments = make_parser().parse_args(arguments)
    if arguments.save_trees is not None:
        save_trees(arguments.save_trees, arguments.only)
        return 0
    if arguments.compare is None:
        freeze()
        return 0
    if arguments.compare.suffix == ".json":
        return int(compare_digests(arguments.compare) > 0)
    return int(compare_trees(arguments.compare, arguments.only) > 0)


if __name__ == "__main__":
    sys.exit(main())
