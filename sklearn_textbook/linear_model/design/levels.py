"""Which columns a dictionary declares categorical, and the order of their levels."""

from __future__ import annotations

import numpy as np

from sklearn_textbook.tree.encode import ORDINAL, ColumnSchema, TableSchema

#: What stands in the dictionary for a column without order.
UNORDERED = "nominal"


def find_declared(categorical_features):
    """Separate which columns are categorical from what is said of their order.

    Parameters
    ----------
    categorical_features : "from_dtype", None, array-like, or dict
        A dict has names or positions of columns as keys; its values are "nominal" or
        the levels in their order.

    Returns
    -------
    categorical_features : "from_dtype", None or array-like
        What the reader of tables understands.
    orders : dict
        The declared order of levels of each such column.

    Raises
    ------
    ValueError
        If a value of the dict is neither "nominal" nor a sequence of distinct levels.
    """
    if not isinstance(categorical_features, dict):
        return categorical_features, {}
    orders = {}
    for column, order in categorical_features.items():
        if isinstance(order, str) and order == UNORDERED:
            continue
        levels = None if isinstance(order, str) else _list_levels(order)
        if not levels or len(set(levels)) < len(levels):
            raise ValueError(
                f"categorical_features[{column!r}] must be 'nominal', or a list of the "
                f"distinct levels in ascending order; got {order!r}."
            )
        orders[column] = levels
    return list(categorical_features), orders


def _list_levels(order):
    try:
        return np.asarray(order, dtype=object).ravel().tolist()
    except (TypeError, ValueError):
        return None


def order_levels(matrix, schema, orders):
    """Give columns their declared order of levels.

    Parameters
    ----------
    matrix : ndarray of shape (n_rows, n_columns)
        Codes of the levels as the table was read; those of ordered columns change.
    schema : TableSchema
        What the columns are.
    orders : dict
        Levels in their order, by name or position of the column.

    Returns
    -------
    schema : TableSchema
        With the ordered columns declared as such.

    Raises
    ------
    ValueError
        If a row holds a level that the declared order lacks.
    """
    columns = list(schema.columns)
    for key, levels in orders.items():
        position = schema.names.index(key) if isinstance(key, str) else int(key)
        column = columns[position]
        ordered = ColumnSchema(column.name, ORDINAL, tuple(levels), column.source)
        places = np.array([ordered.codes.get(level, -1) for level in column.levels])
        if (places < 0).any():
            lacking = [
                level
                for level, place in zip(column.levels, places, strict=True)
                if place < 0
            ]
            raise ValueError(
                f"Column {column.name!r} holds {lacking[0]!r}, which is not among the "
                f"levels that categorical_features declares for it: {levels}."
            )
        is_present = ~np.isnan(matrix[:, position])
        codes = matrix[is_present, position].astype(np.intp)
        matrix[is_present, position] = places[codes]
        columns[position] = ordered
    return TableSchema(tuple(columns), schema.has_names)


def find_used(codes, n_levels):
    """Mask of the levels that at least one row holds."""
    is_used = np.zeros(n_levels, dtype=bool)
    is_used[codes.astype(np.intp)] = True
    return is_used


def choose_reference(codes, is_used, reference_level):
    """Choose the level that gets no indicator; None if every level gets one.

    Parameters
    ----------
    codes : ndarray
        Codes of the rows.
    is_used : ndarray of bool, shape (n_levels,)
        Levels with rows.
    reference_level : {"first", "last", "most_frequent"} or None
        Which one.

    Returns
    -------
    reference : int or None
        Its code.
    """
    if reference_level is None:
        return None
    used = np.flatnonzero(is_used)
    if reference_level == "most_frequent":
        return int(np.bincount(codes.astype(np.intp)).argmax())
    return int(used[0] if reference_level == "first" else used[-1])
