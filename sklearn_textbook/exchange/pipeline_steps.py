"""Transformers of pipelines as steps of linear terms, and columns that they choose."""

from __future__ import annotations

from functools import singledispatch
from itertools import pairwise

import numpy as np
from sklearn import decomposition, preprocessing
from sklearn.compose import ColumnTransformer
from sklearn.feature_selection import SelectorMixin
from sklearn.impute import SimpleImputer
from sklearn.pipeline import FeatureUnion, Pipeline

from sklearn_textbook.exchange.linear_program import (
    make_linear,
    make_number_schema,
    make_number_terms,
    read_projection,
)
from sklearn_textbook.exchange.score_program import LinearTerm
from sklearn_textbook.tree.encode import NOMINAL, ColumnSchema, TableSchema
from sklearn_textbook.tree.encode.columns import NUMBER, STRING

KNOWN = (
    "StandardScaler, MinMaxScaler, MaxAbsScaler, RobustScaler, SimpleImputer, "
    "OneHotEncoder, OrdinalEncoder, TargetEncoder, ColumnTransformer, FeatureUnion, "
    "selectors of columns, PCA, TruncatedSVD and LinearDiscriminantAnalysis"
)


@singledispatch
def transform(step, reader, places) -> list[int]:
    """Add the steps of a fitted transformer, and list the places of its results.

    A pair of a place and a level is a column of text in which missing values are this
    level.
    """
    program = read_projection(step)
    if program is None:
        raise TypeError(
            f"{type(step).__name__} cannot be exported; of transformers {KNOWN} can."
        )
    return reader.add(program, places, ("values",))[0]


@transform.register(type(None))
@transform.register(str)
def _keep(step, reader, places):
    return [] if step == "drop" else list(places)


@transform.register
def _transform_in_turn(step: Pipeline, reader, places):
    for _, each in step.steps:
        places = transform(each, reader, places)
    return places


@transform.register
def _transform_all(step: FeatureUnion, reader, places):
    _refuse(step, "transformer_weights", None)
    found = [transform(each, reader, places) for _, each in step.transformer_list]
    return [place for part in found for place in part]


@transform.register
def _transform_columns(step: ColumnTransformer, reader, places):
    _refuse(step, "transformer_weights", None)
    names = getattr(step, "feature_names_in_", None)
    found = []
    for name, each, columns in step.transformers_:
        own = [places[i] for i in _list_columns(columns, names, len(places))]
        if own:
            try:
                found += transform(each, reader, own)
            except (TypeError, ValueError) as error:
                raise type(error)(f"{name!r}: {error}") from None
    return found


def _list_columns(columns, names, n_columns):
    """List the numbers of the columns that a ColumnTransformer gives to a part."""
    numbers = list(range(n_columns))
    names = [] if names is None else list(names)
    if isinstance(columns, slice):
        start, stop = (
            names.index(end) + is_stop if isinstance(end, str) else end
            for is_stop, end in enumerate((columns.start, columns.stop))
        )
        return numbers[start : stop : columns.step]
    columns = [columns] if isinstance(columns, str | int) else list(columns)
    if columns and all(isinstance(c, bool | np.bool_) for c in columns):
        return np.flatnonzero(columns).tolist()
    return [names.index(c) if isinstance(c, str) else numbers[c] for c in columns]


@transform.register
def _select(step: SelectorMixin, reader, places):
    return [places[i] for i in step.get_support(indices=True)]


@transform.register
def _keep_function(step: preprocessing.FunctionTransformer, reader, places) -> list:
    if step.func is not None:
        raise TypeError("FunctionTransformer with a function cannot be exported.")
    return list(places)


def _refuse(step, name, allowed) -> None:
    """Raise ValueError for another value of a parameter than the one that is known."""
    value = getattr(step, name)
    if value is not allowed and value != allowed:
        raise ValueError(
            f"{name}={value!r} of {type(step).__name__} cannot be exported."
        )


# --------------------------------------------------------------------------- numbers
def _add_affine(step, reader, places, coef, centre=None, start=None):
    """Add ``start + coef @ (x - centre)`` of columns of numbers."""
    coef = np.asarray(coef, dtype=np.float64)
    n_scores, n_columns = coef.shape
    start = np.zeros(n_scores) if start is None else start
    # What is missing makes the results that depend on it missing.
    missing = np.where(coef.T == 0.0, 0.0, np.nan)
    program = make_linear(
        step,
        make_number_schema(step, n_columns),
        make_number_terms(coef, missing, centre),
        start,
        refuses_missing=False,
        classes=[],
    )
    return reader.add(program, places, ("values",))[0]


@transform.register(preprocessing.StandardScaler)
@transform.register(preprocessing.RobustScaler)
@transform.register(preprocessing.MaxAbsScaler)
def _scale(step, reader, places):
    if hasattr(step, "clip"):  # MaxAbsScaler, in newer versions of scikit-learn
        _refuse(step, "clip", False)
    centre = getattr(step, "mean_", getattr(step, "center_", None))
    if not getattr(step, "with_mean", getattr(step, "with_centering", True)):
        centre = None
    scale = step.scale_ if step.scale_ is not None else np.ones(len(places))
    return _add_affine(step, reader, places, np.diag(1.0 / scale), centre)


@transform.register
def _scale_range(step: preprocessing.MinMaxScaler, reader, places):
    _refuse(step, "clip", False)
    return _add_affine(step, reader, places, np.diag(step.scale_), start=step.min_)


@transform.register
def _project(step: decomposition.PCA, reader, places):
    coef = step.components_
    if step.whiten:
        smallest = np.finfo(step.explained_variance_.dtype).eps
        scale = np.maximum(np.sqrt(step.explained_variance_), smallest)
        coef = coef / scale[:, np.newaxis]
    return _add_affine(step, reader, places, coef, step.mean_)


@transform.register
def _project_svd(step: decomposition.TruncatedSVD, reader, places):
    return _add_affine(step, reader, places, step.components_)


@transform.register
def _impute(step: SimpleImputer, reader, places):
    if not isinstance(step.missing_values, float) or step.missing_values == (
        step.missing_values
    ):
        raise ValueError(
            f"missing_values={step.missing_values!r} of SimpleImputer cannot be "
            "exported; NaN can."
        )
    fills = step.statistics_
    if fills.dtype == object and any(isinstance(fill, str) for fill in fills):
        _refuse(step, "add_indicator", False)
        return [(place, fill) for place, fill in zip(places, fills, strict=True)]
    fills = fills.astype(np.float64)
    has_fill = ~np.isnan(fills)
    if step.keep_empty_features:
        has_fill[:] = True
    kept = np.flatnonzero(has_fill)
    marked = step.indicator_.features_ if step.add_indicator else []
    n_scores, terms = len(kept) + len(marked), []
    for number, fill in enumerate(np.nan_to_num(fills)):
        row, missing = np.zeros(n_scores), np.zeros(n_scores)
        for score in np.flatnonzero(kept == number):
            row[score], missing[score] = 1.0, fill
        for score in np.flatnonzero(np.equal(marked, number)):
            missing[len(kept) + score] = 1.0
        terms.append(LinearTerm(number, (row,), missing, None))
    program = make_linear(
        *(step, make_number_schema(step, len(fills)), tuple(terms), np.zeros(n_scores)),
        refuses_missing=False,
        classes=[],
    )
    return reader.add(program, places, ("values",))[0]


# ---------------------------------------------------------------------------- levels
@transform.register
def _encode_one_hot(step: preprocessing.OneHotEncoder, reader, places):
    _refuse_infrequent(step)
    dropped = step.drop_idx_
    dropped = [None] * len(places) if dropped is None else dropped
    tables = []
    for categories, drop in zip(step.categories_, dropped, strict=True):
        rows = np.eye(len(categories))
        rows = rows if drop is None else np.delete(rows, int(drop), axis=1)
        unknown = None if step.handle_unknown == "error" else np.zeros(rows.shape[1])
        tables.append((rows, unknown))
    return _add_levels(step, reader, places, tables)


@transform.register
def _encode_ordinal(step: preprocessing.OrdinalEncoder, reader, places):
    _refuse_infrequent(step)
    tables = []
    for categories in step.categories_:
        rows = np.arange(len(categories), dtype=np.float64)[:, np.newaxis]
        if _is_missing(categories[-1]):
            rows[-1] = step.encoded_missing_value
        unknown = None
        if step.handle_unknown != "error":
            unknown = np.array([step.unknown_value], dtype=np.float64)
        tables.append((rows, unknown))
    return _add_levels(step, reader, places, tables)


@transform.register
def _encode_target(step: preprocessing.TargetEncoder, reader, places):
    means = np.atleast_1d(np.asarray(step.target_mean_, dtype=np.float64))
    tables = []
    for first in range(0, len(step.encodings_), len(means)):
        rows = np.stack(step.encodings_[first : first + len(means)], axis=1)
        tables.append((rows, means))
    return _add_levels(step, reader, places, tables)


def _refuse_infrequent(step) -> None:
    """Raise ValueError for categories that are taken together."""
    for name in ("min_frequency", "max_categories"):
        _refuse(step, name, None)


def _is_missing(value):
    return value is None or value != value


def _add_levels(step, reader, places, tables: list[tuple]):
    """Add what the levels of columns become."""
    ends = np.cumsum([0, *(rows.shape[1] for rows, _ in tables)]).tolist()
    names = make_number_schema(step, len(tables)).names
    plain, terms, columns = [], [], []
    for number, (place, (rows, unknown), (start, stop)) in enumerate(
        zip(places, tables, pairwise(ends), strict=True)
    ):
        place, fill = place if isinstance(place, tuple) else (place, None)
        if place >= len(reader.columns):
            raise ValueError(
                f"{type(step).__name__} reads numbers that an earlier step made, which "
                "cannot be exported. Encode the columns first."
            )
        wide = np.zeros((len(rows), ends[-1]))
        wide[:, start:stop] = rows
        other = None
        if unknown is not None:
            other = np.zeros(ends[-1])
            other[start:stop] = unknown
        known, missing = {}, other
        for level, row in zip(step.categories_[number], wide, strict=True):
            if _is_missing(level):
                missing = row
            else:
                level = level.item() if isinstance(level, np.generic) else level
                known[level] = row
        if fill is not None:
            missing = known.get(fill, other)
        source = STRING if any(isinstance(v, str) for v in known) else NUMBER
        columns.append(ColumnSchema(names[number], NOMINAL, tuple(known), source))
        terms.append(
            LinearTerm(number, tuple(known.values()), missing, other, is_number=False)
        )
        plain.append(place)
    schema = TableSchema(tuple(columns), False)
    refuses = all(term.missing is None for term in terms)
    program = make_linear(
        *(step, schema, tuple(terms), np.zeros(ends[-1])),
        refuses_missing=refuses,
        classes=[],
    )
    return reader.add(program, plain, ("values",))[0]
