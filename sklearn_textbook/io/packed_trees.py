"""The trees of an ensemble in JSON, in as few bytes per node as in pickles."""

from __future__ import annotations

import numpy as np

from sklearn_textbook.io.packed_arrays import pack_array, unpack_array
from sklearn_textbook.tree.grow.check import check_tree
from sklearn_textbook.tree.grow.layout import SIDE_DTYPES
from sklearn_textbook.tree.grow.storage import COMPACTED_NODES, Shape, restore_nodes
from sklearn_textbook.tree.route import RoutedTree

# How a column of the nodes may be kept; see tree/grow/storage.py.
_WAYS = ("all", "inner", "leaves", "guessed", "n_samples", "statistics")


def pack_tree(tree):
    """Write the parts of a tree that are not common to its ensemble.

    Parameters
    ----------
    tree : GrownTree
        The tree.

    Returns
    -------
    packed : dict
        ``nodes``: for each column of the nodes its kind of storage and the arrays, as
        :func:`~sklearn_textbook.tree.grow.storage.store_nodes` returns them; and, if
        there are any, ``level_branch``, ``surrogates`` and ``terms``.
    """
    stored = dict(tree.compact().stored)
    packed = {"nodes": {"n_children": pack_array(stored.pop("n_children"))}}
    for name, (how, *arrays) in stored.items():
        packed["nodes"][name] = [how, *map(pack_array, arrays)]
    if len(tree.level_branch):
        packed["level_branch"] = pack_array(tree.level_branch)
    for side, dtype in SIDE_DTYPES.items():
        records = getattr(tree, side)
        if len(records):
            packed[side] = {name: pack_array(records[name]) for name in dtype.names}
    return packed


def unpack_tree(packed, name, **shared):
    """Read a tree; everything about it is checked.

    Parameters
    ----------
    packed : dict
        Dictionary as :func:`pack_tree` writes it.
    name : str
        Name of the tree, for messages.
    **shared : object
        Parts common to the ensemble: ``n_features``, ``n_levels``, ``n_classes``,
        ``is_classifier`` and ``handle_unknown``.

    Returns
    -------
    tree : RoutedTree
        The tree, equal to the packed one bit for bit.

    Raises
    ------
    ValueError
        If it is damaged.
    """
    try:
        nodes, statistics = restore_nodes(_read_stored(packed["nodes"]))
        sides = {}
        if "level_branch" in packed:
            branches = unpack_array(packed["level_branch"], "level_branch")
            sides["level_branch"] = _cast(branches, np.dtype(np.int32), "level_branch")
        for side in SIDE_DTYPES.keys() & packed.keys():
            sides[side] = _read_records(packed[side], side)
        tree = RoutedTree(nodes=nodes, statistics=statistics, **shared, **sides)
        check_tree(tree)
    except KeyError as error:
        raise ValueError(f"{name} lacks {error}") from None
    except (ValueError, TypeError, IndexError, OverflowError) as error:
        raise ValueError(f"{name}: {error}") from None
    # Stored like large trees after growth. The arrays of the file are not kept: the
    # checks were those of the tree.
    return tree.compact() if tree.node_count >= COMPACTED_NODES else tree


def count_outputs(packed):
    """Count the outputs of a tree from its statistics; 0 if these are invalid."""
    try:
        return unpack_array(packed["nodes"]["statistics"][1], "statistics").shape[1]
    except (KeyError, IndexError, TypeError):
        return 0


def _read_stored(packed):
    """Read the storage of the columns of the nodes, and their arrays."""
    if not isinstance(packed, dict):
        raise ValueError("nodes must be an object")
    n_children = unpack_array(packed["n_children"], "n_children")
    if n_children.dtype.kind not in "iu" or n_children.ndim != 1 or not len(n_children):
        raise ValueError("n_children must be a non-empty list of integers")
    # Checked before memory of this size is allocated.
    is_possible = n_children.min() >= 0 and n_children.max() < len(n_children)
    if not is_possible or not Shape(n_children).is_sound:
        raise ValueError("n_children must be those of a tree, breadth first")
    stored = {"n_children": n_children}
    for name, entry in packed.items():
        if name == "n_children":
            continue
        is_list = isinstance(entry, list) and 1 <= len(entry) <= 3
        if not is_list or not isinstance(entry[0], str) or entry[0] not in _WAYS:
            raise ValueError(f"{name} must be a list that begins with how it is kept")
        stored[name] = entry[0], *(unpack_array(part, name) for part in entry[1:])
    return stored


def _read_records(packed, side):
    dtype = SIDE_DTYPES[side]
    if not isinstance(packed, dict) or packed.keys() != set(dtype.names):
        raise ValueError(f"{side} must have exactly {', '.join(dtype.names)}")
    columns = {name: unpack_array(packed[name], name) for name in packed}
    records = np.zeros(len(columns["node"]), dtype=dtype)
    for name, column in columns.items():
        if column.shape != records.shape:
            raise ValueError(f"the columns of {side} differ in length")
        records[name] = _cast(column, dtype[name], name)
    return records


def _cast(array, dtype, name):
    """Change the type of an array; refuse numbers that it cannot represent."""
    if dtype.kind == "i" and array.dtype.kind == "f":
        raise ValueError(f"{name} must hold integers")
    with np.errstate(over="ignore"):
        cast = array.astype(dtype)
    if array.ndim != 1 or not np.array_equal(cast, array, equal_nan=dtype.kind == "f"):
        raise ValueError(f"{name} must be a list of {dtype} numbers")
    return cast
