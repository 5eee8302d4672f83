"""Grown tree <-> dictionary for JSON, and helpers for other objects.

Everything is written as lists, column by column; numbers that JSON lacks are written
as the strings "NaN", "Infinity" and "-Infinity". Reading checks everything, since the
dictionary may be damaged or from another source, and routing through an invalid tree
would access memory out of bounds.
"""

from __future__ import annotations

import math

import numpy as np

from sklearn_textbook.tree.grow.layout import (
    NODE_DTYPE,
    SCHEMA_VERSION,
    SLOPE_DTYPE,
    SURROGATE_DTYPE,
    TERM_DTYPE,
)

FORMAT = "sklearn_textbook.GrownTree"

_NOT_FINITE = {"NaN": math.nan, "Infinity": math.inf, "-Infinity": -math.inf}
_FIELDS = {
    "format",
    "schema_version",
    "is_classifier",
    "handle_unknown",
    "n_features",
    "n_levels",
    "n_classes",
    "nodes",
    "statistics",
    "level_branch",
    "surrogates",
}
# Written only if there are any.
_OPTIONAL = {"terms", "slopes", "bounds"}


def write_fields(tree) -> dict:
    """Write a tree as a dictionary of plain Python values."""
    fields = {
        "format": FORMAT,
        "schema_version": int(tree.schema_version),
        "is_classifier": bool(tree.is_classifier),
        "handle_unknown": tree.handle_unknown,
        "n_features": int(tree.n_features),
        "n_levels": np.asarray(tree.n_levels).tolist(),
        "n_classes": np.asarray(tree.n_classes).tolist(),
        "nodes": _write_records(tree.nodes),
        "statistics": write_array(tree.statistics),
        "level_branch": tree.level_branch.tolist(),
        "surrogates": _write_records(tree.surrogates),
    }
    if len(tree.terms):
        fields["terms"] = _write_records(tree.terms)
    if len(tree.bounds):
        fields["slopes"] = _write_records(tree.slopes)
        fields["bounds"] = write_array(tree.bounds)
    return fields


def read_fields(fields: dict) -> dict:
    """Read the arguments of GrownTree from the result of :func:`write_fields`."""
    check_header(fields, "grown tree", FORMAT, SCHEMA_VERSION, _FIELDS, _OPTIONAL)
    if not isinstance(fields["is_classifier"], bool):
        raise ValueError(
            f"is_classifier is {fields['is_classifier']!r}, but must be true or false."
        )
    sides = {}
    if "terms" in fields:
        sides["terms"] = _read_records(fields, "terms", TERM_DTYPE)
    if "slopes" in fields:
        sides["slopes"] = _read_records(fields, "slopes", SLOPE_DTYPE)
    if "bounds" in fields:
        sides["bounds"] = read_array(fields["bounds"], np.float64, "bounds", 2)
    return {
        **sides,
        "nodes": _read_records(fields, "nodes", NODE_DTYPE),
        "statistics": read_array(fields["statistics"], np.float64, "statistics", 3),
        "n_features": _read_integer(fields, "n_features"),
        "n_levels": read_array(fields["n_levels"], np.int64, "n_levels"),
        "n_classes": read_array(fields["n_classes"], np.int64, "n_classes"),
        "is_classifier": fields["is_classifier"],
        "level_branch": read_array(fields["level_branch"], np.int32, "level_branch"),
        "surrogates": _read_records(fields, "surrogates", SURROGATE_DTYPE),
        "handle_unknown": fields["handle_unknown"],
    }


# ----------------------------------------------------------------------- writing
def _write_records(records):
    return {name: write_array(records[name]) for name in records.dtype.names}


def write_array(array: np.ndarray) -> list:
    """Convert to nested lists, with non-finite numbers as strings."""
    if array.dtype.kind != "f" or np.isfinite(array).all():
        return array.tolist()
    entries = array.astype(object)
    for name, number in _NOT_FINITE.items():
        entries[np.isnan(array) if math.isnan(number) else array == number] = name
    return entries.tolist()


# ----------------------------------------------------------------------- reading
def check_header(
    fields: object,
    name: str,
    form: str,
    newest: int,
    names: set[str],
    optional: set[str] = frozenset(),
) -> None:
    """Raise ValueError for another format, a later version, or missing entries."""
    if not isinstance(fields, dict):
        raise ValueError(
            f"A {name} is read from a dictionary, not from {type(fields).__name__}."
        )
    if fields.get("format") != form:
        raise ValueError(
            f"This is not a {name}: its format is {fields.get('format')!r}, but "
            f"must be {form!r}."
        )
    version = _read_integer(fields, "schema_version")
    if version > newest:
        raise ValueError(
            f"The {name} has schema_version {version}; this version of "
            f"sklearn_textbook reads up to {newest}. Update sklearn_textbook."
        )
    if version < 1:
        raise ValueError(f"schema_version is {version}, but must be at least 1.")
    for what, differing in (
        ("lacks", names - fields.keys()),
        ("has unknown", fields.keys() - names - optional),
    ):
        if differing:
            listed = ", ".join(sorted(map(repr, differing)))
            raise ValueError(f"The dictionary of the {name} {what} {listed}.")


def _read_integer(fields, name):
    value = fields.get(name)
    if not isinstance(value, int) or isinstance(value, bool):
        raise ValueError(f"{name} is {value!r}, but must be an integer.")
    return value


def _read_records(fields, name, dtype):
    """Convert a dictionary of columns of equal length to a structured array."""
    columns = fields[name]
    if not isinstance(columns, dict) or columns.keys() != set(dtype.names):
        found = sorted(columns) if isinstance(columns, dict) else columns
        raise ValueError(
            f"{name} must have exactly the columns {', '.join(dtype.names)}; "
            f"it has {str(found)[:200]}."
        )
    arrays = {
        column: read_array(columns[column], dtype[column], f"{name}.{column}")
        for column in dtype.names
    }
    lengths = {len(array) for array in arrays.values()}
    if len(lengths) > 1:
        listed = ", ".join(f"{key} {len(array)}" for key, array in arrays.items())
        raise ValueError(f"The columns of {name} differ in length: {listed}.")
    records = np.zeros(lengths.pop(), dtype=dtype)
    for column, array in arrays.items():
        records[column] = array
    return records


def read_array(entries: object, dtype, name: str, n_dimensions: int = 1) -> np.ndarray:
    """Convert nested lists of numbers to an array."""
    dtype = np.dtype(dtype)
    if not isinstance(entries, list):
        raise ValueError(f"{name} must be a list, not {type(entries).__name__}.")
    flat, shape = entries, (len(entries),)
    for _ in range(n_dimensions - 1):
        lengths = {len(part) if isinstance(part, list) else -1 for part in flat}
        if len(lengths) != 1 or lengths == {-1}:
            raise ValueError(
                f"{name} must be lists of {n_dimensions} levels, of equal length on "
                "each level."
            )
        shape = (*shape, lengths.pop())
        flat = [entry for part in flat for entry in part]
    try:
        # Numbers beyond float32 become infinite.
        with np.errstate(over="ignore"):
            numbers = np.array(_read_numbers(flat, dtype, name), dtype=dtype)
        return numbers.reshape(shape)
    except OverflowError:
        raise ValueError(f"{name} has a number out of the range of {dtype}.") from None


def _read_numbers(entries, dtype, name):
    """Check each entry, since numpy would convert other types silently."""
    allowed = {int} if dtype.kind == "i" else {int, float}
    if set(map(type, entries)) <= allowed:
        return entries
    numbers = []
    for position, entry in enumerate(entries):
        if type(entry) is str and dtype.kind == "f":
            entry = _NOT_FINITE.get(entry, entry)
        if type(entry) not in allowed:
            what = "an integer" if dtype.kind == "i" else "a number"
            raise ValueError(
                f"{name} has {str(entry)[:40]!r} in place {position}, where {what} "
                "must stand."
            )
        numbers.append(entry)
    return numbers
