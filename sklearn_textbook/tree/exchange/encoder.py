"""Encoders of scikit-learn that read a table as the codes of training."""

from __future__ import annotations

from importlib.util import find_spec
from itertools import groupby

import numpy as np

from sklearn_textbook.tree.encode.columns import NUMERIC


def add_pandas_mark(levels):
    """Add the missing value of pandas' strings, which only fitted encoders take."""
    if levels.dtype != object or find_spec("pandas") is None:
        return levels
    import pandas as pd

    # After NaN, whose place the encoder knows.
    return np.append(levels, np.array([pd.NA], dtype=object))


def list_categories(column):
    """List the levels of a column, and the missing values where they may be mixed."""
    levels = list(column.levels)
    are_texts = {isinstance(level, str) for level in levels}
    if are_texts == {True, False} or (
        are_texts == {False} and levels != sorted(levels)
    ):
        raise ValueError(
            f"The levels of column {column.name!r}, {levels}, mix strings and numbers, "
            "or are numbers that are not in increasing order, which scikit-learn's "
            "encoders do not support. Use strings as levels."
        )
    if are_texts == {False}:
        return np.array([*levels, np.nan], dtype=float)
    return np.array([*levels, None, np.nan], dtype=object)


def make_encoder(model: object, schema):
    """Make a fitted ColumnTransformer that keeps the order of the columns.

    Levels become codes, unknown ones -1 and missing values NaN.
    """
    from sklearn.compose import ColumnTransformer
    from sklearn.preprocessing import OrdinalEncoder

    unknown = {"handle_unknown": "use_encoded_value", "unknown_value": -1}
    if model.get_params(deep=False).get("handle_unknown") == "error":
        unknown = {}
    steps = []
    row = np.zeros((1, len(schema.columns)), dtype=object)
    numbered = enumerate(schema.columns)
    for is_number, group in groupby(numbered, lambda item: item[1].kind == NUMERIC):
        positions, columns = zip(*group, strict=True)
        step = "passthrough"
        if not is_number:
            categories = [list_categories(column) for column in columns]
            step = OrdinalEncoder(categories=categories, **unknown)
            row[0, list(positions)] = [levels[0] for levels in categories]
        name = f"{'numbers' if is_number else 'levels'}_{positions[0]}"
        steps.append((name, step, list(positions)))
    encoder = ColumnTransformer(steps, verbose_feature_names_out=False)
    encoder.fit(row)
    # Fitted to a row of objects, encoders would not know numbers of another type.
    for _, step, _ in encoder.transformers_:
        if isinstance(step, OrdinalEncoder):
            step.categories_ = [add_pandas_mark(levels) for levels in step.categories]
    if hasattr(model, "feature_names_in_"):
        names = model.feature_names_in_
        encoder.feature_names_in_ = names.copy()
        for _, step, positions in encoder.transformers_:
            step.feature_names_in_ = names[positions]
    return encoder


def add_columns(model: object, estimator, schema):
    """Add what a fitted estimator needs to read the tables of a model.

    With nominal or ordinal columns, it becomes a Pipeline that encodes them.
    """
    if all(column.kind == NUMERIC for column in schema.columns):
        if hasattr(model, "feature_names_in_"):
            estimator.feature_names_in_ = model.feature_names_in_.copy()
        return estimator
    from sklearn.pipeline import Pipeline

    encoder = make_encoder(model, schema)
    return Pipeline([("encoder", encoder), ("model", estimator)])
