"""List of rules <-> dictionary for JSON, as for grown trees.

The tree from which the rules are derived is written separately.
"""

from __future__ import annotations

import numpy as np

from sklearn_textbook.tree.grow.serialise import check_header, read_array, write_array

FORMAT = "sklearn_textbook.RuleList"
#: Incremented whenever a field changes its meaning, type or position.
SCHEMA_VERSION = 1

#: Type and number of dimensions of every array.
_ARRAYS = {
    "start": (np.int64, 1),
    "nodes": (np.int32, 1),
    "rule_class": (np.int32, 1),
    "shares": (np.float64, 2),
    "rate": (np.float64, 1),
    "n_samples": (np.int64, 1),
    "weight": (np.float64, 1),
}


def write_fields(rule_list) -> dict:
    """Convert a list of rules to a dictionary of plain Python values."""
    arrays = {name: write_array(getattr(rule_list, name)) for name in _ARRAYS}
    return {"format": FORMAT, "schema_version": SCHEMA_VERSION, **arrays}


def read_fields(fields: dict) -> dict:
    """Read the arrays of a RuleList from the result of :func:`write_fields`."""
    names = {"format", "schema_version", *_ARRAYS}
    check_header(fields, "rule list", FORMAT, SCHEMA_VERSION, names)
    return {
        name: read_array(fields[name], dtype, name, n_dimensions)
        for name, (dtype, n_dimensions) in _ARRAYS.items()
    }
