"""Digests of grown trees: what was tested at every node, and what it measured.

Two digests, so that a change of the last bits of an impurity can be told from a tree
that is another one. All fields go in one by one in a fixed type and byte order: records
have unused bytes. Zeros keep their sign.
"""

import hashlib
import json
import math
import platform
from pathlib import Path

import numpy as np

from sklearn_textbook.tree.grow.layout import NOMINAL
from tests.growth.blocks import BLOCKS, LONG_BLOCKS
from tests.growth.cases import (
    fit_case,
    list_results,
    list_trees,
    name_case,
    uses_logarithms,
)

FOLDER = Path(__file__).parent
#: The file with the digests of each list of blocks.
FILES = {"digests.json": BLOCKS, "digests_long.json": LONG_BLOCKS}
DIGEST_BYTES = 8

STRUCTURE, VALUES = "structure", "values"
PARTS = (STRUCTURE, VALUES)
#: Fields of the nodes and of the surrogates in each of the digests.
NODE_FIELDS = {
    STRUCTURE: (
        *("feature", "threshold", "kind", "first_child", "n_children", "parent"),
        *("missing_branch", "n_samples"),
    ),
    VALUES: ("weight", "impurity", "improvement"),
}
SURROGATE_FIELDS = {
    STRUCTURE: ("node", "feature", "kind", "low_branch", "threshold", "n_used"),
    VALUES: ("agreement", "adjusted_agreement"),
}


def _as_canonical(array):
    """Little-endian numbers of 8 bytes; every NaN in the same form."""
    array = np.asarray(array)
    if array.dtype.kind == "f":
        array = np.where(np.isnan(array), np.nan, array)
        return np.ascontiguousarray(array, dtype="<f8")
    return np.ascontiguousarray(array, dtype="<i8")


def _read_maps(tree, records):
    """All level maps of some records, one after the other."""
    maps = [tree.read_level_map(r) for r in records[records["kind"] == NOMINAL]]
    return np.concatenate(maps) if maps else np.empty(0, dtype=np.int32)


def list_fields(tree):
    """List what goes into the digests of a tree.

    Parameters
    ----------
    tree : GrownTree
        The tree.

    Returns
    -------
    fields : dict of str to dict of str to ndarray
        For each digest the arrays by name.
    """
    fields = {part: {} for part in PARTS}
    for part in PARTS:
        for name in NODE_FIELDS[part]:
            fields[part][name] = tree.nodes[name]
        for name in SURROGATE_FIELDS[part]:
            fields[part][f"surrogate {name}"] = tree.surrogates[name]
    structure = fields[STRUCTURE]
    structure["levels"] = _read_maps(tree, tree.nodes)
    structure["surrogate levels"] = _read_maps(tree, tree.surrogates)
    structure["n_levels"] = tree.n_levels
    structure["n_classes"] = tree.n_classes
    fields[VALUES]["statistics"] = tree.statistics
    return {
        part: {name: _as_canonical(array) for name, array in arrays.items()}
        for part, arrays in fields.items()
    }


def list_all_fields(estimator):
    """List what goes into the digests of a fitted estimator, tree by tree.

    Parameters
    ----------
    estimator : estimator
        A fitted tree or ensemble.

    Returns
    -------
    fields : list of dict
        What :func:`list_fields` returns; last, what is of the whole ensemble.
    """
    columns, scores = list_results(estimator)
    of_ensemble = {
        STRUCTURE: {f"columns {n}": _as_canonical(c) for n, c in enumerate(columns)},
        VALUES: {f"score {n}": _as_canonical(s) for n, s in enumerate(scores)},
    }
    return [*map(list_fields, list_trees(estimator)), of_ensemble]


def digest_fields(fields):
    """Compute the digests of a list of fields.

    Parameters
    ----------
    fields : list of dict
        What :func:`list_all_fields` returns.

    Returns
    -------
    digests : str
        That of the structure and that of the values, with a space between.
    """
    digests = []
    for part in PARTS:
        digest = hashlib.blake2b(digest_size=DIGEST_BYTES)
        for arrays in fields:
            for name, array in arrays[part].items():
                digest.update(f"{name} {array.shape}".encode())
                digest.update(array)
        digests.append(digest.hexdigest())
    return " ".join(digests)


def make_key(case):
    """Make a short key of the name of a case: files would be three times as large.

    Parameters
    ----------
    case : dict
        The case.

    Returns
    -------
    key : str
        Ten digits.
    """
    return hashlib.blake2b(name_case(case).encode(), digest_size=5).hexdigest()


def grow_cases(cases, n_jobs=1):
    """Grow the trees of some cases.

    Parameters
    ----------
    cases : iterable of dict
        The cases.
    n_jobs : int, default=1
        Number of threads.

    Returns
    -------
    digests : dict of str to str
        By the keys of the cases.
    """
    return {
        make_key(case): digest_fields(list_all_fields(fit_case(case, n_jobs)))
        for case in cases
    }


# ---------------------------------------------------------------------- this machine
def describe_machine():
    """Describe what the last bits of the values depend on.

    Returns
    -------
    signature : dict of str to str
        ``machine``: the processor's family, because some compilers round a product and
        a sum at once; ``logarithms``: a digest of what the C library and numpy return.
    """
    grid = np.arange(1, 20_001) / 1_000.0
    digest = hashlib.blake2b(digest_size=DIGEST_BYTES)
    for function in (np.log2, np.log, np.exp):
        digest.update(_as_canonical(function(grid)))
    for function in (math.log2, math.log, math.exp):
        digest.update(_as_canonical([function(x) for x in grid]))
    return {"machine": platform.machine(), "logarithms": digest.hexdigest()}


def list_comparable(case, frozen, signature):
    """Tell which of the digests of a case can be compared.

    Parameters
    ----------
    case : dict
        The case.
    frozen, signature : dict
        :func:`describe_machine` where the digests were frozen, and here.

    Returns
    -------
    parts : tuple of str
        The structure always; the values where the machine computes the same.
    """
    is_same = frozen["machine"] == signature["machine"]
    if uses_logarithms(case):
        is_same = frozen == signature
    return PARTS if is_same else (STRUCTURE,)


# ------------------------------------------------------------------------- the files
def read_digests(path):
    """Read what :func:`write_digests` has written.

    Parameters
    ----------
    path : path-like
        The file.

    Returns
    -------
    frozen : dict
        ``signature`` and ``blocks``.
    """
    return json.loads(Path(path).read_text("utf-8"))


def write_digests(path, blocks):
    """Write digests and the signature of this machine.

    Parameters
    ----------
    path : path-like
        The file.
    blocks : dict of str to dict of str to str
        The digests, by blocks and names of cases.
    """
    content = {"signature": describe_machine(), "blocks": blocks}
    text = json.dumps(content, indent=0, ensure_ascii=False)
    Path(path).write_text(text + "\n", encoding="utf-8")


def compare_cases(cases, grown, frozen, signature):
    """List what differs between grown trees and the frozen ones.

    Parameters
    ----------
    cases : iterable of dict
        The cases.
    grown, frozen : dict of str to str
        Digests by the keys of the cases, now and when they were frozen.
    signature : dict of str to str
        The machine on which they were frozen.

    Returns
    -------
    differences : list of str
        A line for each case that is another one or is not frozen.
    """
    lines, here = [], describe_machine()
    for case in cases:
        key, name = make_key(case), name_case(case)
        if key not in frozen:
            lines.append(f"not frozen: {name}")
            continue
        pairs = zip(PARTS, frozen[key].split(), grown[key].split(), strict=True)
        parts = list_comparable(case, signature, here)
        differing = [part for part, a, b in pairs if a != b and part in parts]
        if differing:
            lines.append(f"{' and '.join(differing)} differ: {name}")
    return lines
