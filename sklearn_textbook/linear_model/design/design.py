"""The design matrix of a table, with the same encoding of new tables."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse

from sklearn_textbook._contract.blocks import StoredTable, add_up, list_blocks
from sklearn_textbook._contract.cached_property import cached_property
from sklearn_textbook._contract.caller import warn_caller
from sklearn_textbook._contract.types import MatrixLike
from sklearn_textbook.linear_model.design.levels import (
    choose_reference,
    declare_nominal,
    find_declared,
    find_declared_levels,
    list_references,
    order_levels,
    read_value,
    read_values,
    take_column,
)
from sklearn_textbook.linear_model.design.terms import (
    EncodedRows,
    ModelTerm,
    count_filled,
    fit_terms,
    name_term,
    read_model_terms,
    write_model_terms,
)
from sklearn_textbook.tree.encode import (
    NOMINAL,
    NUMERIC,
    ORDINAL,
    TableSchema,
    read_training_table,
)
from sklearn_textbook.tree.encode.read import numeric_schema

#: Choices of the level of a nominal column that has no indicator.
REFERENCE_LEVELS = ("first", "last", "most_frequent")
#: What is done with levels not seen in training.
UNKNOWN_LEVELS = ("mean", "error")
#: What is done with missing values.
MISSING = ("error", "drop", "mean")
#: What an error message says about missing values where ``missing`` is a parameter.
MISSING_REMEDY = (
    "set missing='mean' to fill in the mean and add an indicator of missing values, or "
    "missing='drop' to leave these rows out of the fit"
)
#: Levels that a message lists.
MAX_LISTED = 10
#: The same of a warning, for each column.
MAX_WARNED = 3
#: Cells of a dense matrix up to which indicators are not worth a sparse one.
DENSE_CELLS = 2**22
#: Fraction of cells that are not zero up to which a sparse matrix is worth it.
SPARSE_FRACTION = 0.2


@dataclass(frozen=True)
class Term:
    """Encoding of one column of the table."""

    #: Name of the column.
    name: str
    #: Not changed, mapped to [0, 1], or converted to indicators.
    kind: str
    #: For a nominal column, the codes of the levels that have an indicator.
    codes: tuple = ()
    #: For a nominal column, the code of the level without indicator.
    reference: int | None = None
    #: Names of the resulting columns.
    names: tuple = ()
    #: Weighted means of the resulting columns over the training rows with a value,
    #: which stand for a level that these do not have and for a missing value. Not of
    #: numeric columns, unless missing values are filled in.
    means: tuple = field(default=(), compare=False)
    #: Whether the last resulting column is 1 for missing values and 0 otherwise.
    has_indicator: bool = False

    def fill(self):
        """Values of the resulting columns where the value is missing."""
        return [*self.means[:-1], 1.0] if self.has_indicator else list(self.means)


@dataclass(frozen=True)
class Design:
    """Encoding of the columns of a training table, and the terms made of them.

    Parameters
    ----------
    schema : TableSchema
        The columns of the table.
    terms : tuple of Term
        The encoding of each column.
    total_weight : float
        Weight of the rows of the means.
    missing : {"error", "drop", "mean"}
        Rows with missing values raise a ValueError if a level is missing, become NaN
        there, or have the mean and an indicator.
    n_dropped : int
        Number of training rows that were left out because of missing values.
    model_terms : tuple of ModelTerm
        Products of columns and functions of columns, as of a formula, which replace the
        encoded columns in the design matrix. Empty: the encoded columns themselves.

    Examples
    --------
    >>> from sklearn_textbook.linear_model.design import read_design
    >>> _, design = read_design([["red", 1.5], ["green", 2.0], ["blue", 0.5]])
    >>> design.names
    ('x0=green', 'x0=red', 'x1')
    >>> design.read([["red", 7.0]])
    array([[0., 1., 7.]])
    >>> design.find_columns(0)
    slice(0, 2, None)
    """

    schema: TableSchema
    terms: tuple
    total_weight: float = field(default=0.0, compare=False)
    missing: str = "error"
    n_dropped: int = field(default=0, compare=False)
    model_terms: tuple[ModelTerm, ...] = ()

    @cached_property
    def names(self) -> tuple[str, ...]:
        """Names of the columns of the design matrix."""
        return tuple(name for names in self._names_of_terms for name in names)

    @cached_property
    def _names_of_terms(self) -> list[tuple[str, ...]]:
        if not self.model_terms:
            return [term.names for term in self.terms]
        return [name_term(term, self) for term in self.model_terms]

    @cached_property
    def is_plain(self) -> bool:
        """Whether the table is the matrix."""
        return self._is_encoded and not self.model_terms

    @cached_property
    def _is_encoded(self) -> bool:
        """Whether the table is the matrix of encoded columns."""
        return self.schema.is_plain and self.missing != "mean"

    @cached_property
    def _n_encoded(self) -> int:
        return sum(len(term.names) for term in self.terms)

    def list_terms(self) -> list[tuple[str, slice, frozenset]]:
        """List the terms, and their columns of the design matrix.

        Returns
        -------
        terms : list of (str, slice, frozenset)
            Name, numbers of the columns, and what the term is a product of: a subset of
            that of the products of the term with others.
        """
        if self.model_terms:
            labels = [(term.name, term.parts) for term in self.model_terms]
        else:
            labels = [(term.name, frozenset([term.name])) for term in self.terms]
        found, start = [], 0
        for (name, parts), names in zip(labels, self._names_of_terms, strict=True):
            found.append((name, slice(start, start + len(names)), parts))
            start += len(names)
        return found

    def add_terms(self, terms: tuple, matrix: Any, weight: Any) -> Self:
        """Use terms in place of the encoded columns.

        Parameters
        ----------
        terms : tuple of ModelTerm
            The terms, not yet fitted.
        matrix : ndarray, csr_array or StoredRows of shape (n_rows, n_encoded)
            The encoded training rows.
        weight : ndarray or FileArray of shape (n_rows,), or None
            How often each row counts in means, polynomials and knots.

        Returns
        -------
        design : Design
            The design of these terms.
        """

        def read_blocks():
            for rows in list_blocks(matrix.shape[0]):
                block = matrix[rows]
                each = np.ones(block.shape[0]) if weight is None else weight[rows]
                yield block, each

        return replace(self, model_terms=fit_terms(terms, self, read_blocks))

    def combine(self, encoded: np.ndarray | Any) -> np.ndarray | Any:
        """Compute the columns of the terms from the encoded columns.

        Parameters
        ----------
        encoded : ndarray or csr_array of shape (n_rows, n_encoded)
            The encoded columns.

        Returns
        -------
        matrix : ndarray or csr_array of shape (n_rows, n_made)
            The design matrix; without terms, the encoded columns.
        """
        if not self.model_terms:
            return encoded
        if not sparse.issparse(encoded) and self._prefers_sparse(len(encoded)):
            encoded = sparse.csr_array(encoded)
        return EncodedRows(self, encoded).read_terms(self.model_terms)

    def to_dict(self) -> dict[str, Any]:
        """Convert the design to a dictionary for JSON.

        Returns
        -------
        design : dict
            ``columns``, as written by `TableSchema.to_dict`, ``missing``,
            ``n_dropped``, and ``terms``: for each column None or, if it has levels or
            its missing values are filled in, the ``means`` of what it is converted to
            and whether it has an indicator of missing values; if it is nominal, also
            the codes of the levels with an indicator and that of the reference level.
            ``model_terms``, if there are any.
        """
        written = {
            "columns": self.schema.to_dict(),
            "missing": self.missing,
            "n_dropped": self.n_dropped,
            "terms": [_write_term(term) for term in self.terms],
        }
        if self.model_terms:
            written["model_terms"] = write_model_terms(self.model_terms)
        return written

    def add_rows(self, matrix: np.ndarray | Any, weight: np.ndarray | None) -> Self:
        """Add training rows to the means of the columns with levels.

        Parameters
        ----------
        matrix : ndarray, csr_array or StoredRows of shape (n_rows, n_encoded)
            Their encoded columns.
        weight : ndarray or FileArray of shape (n_rows,), or None
            Their weights; None: 1.

        Returns
        -------
        design : Design
            The same encoding, with other means.
        """
        if self._is_encoded:
            return self
        n_rows = matrix.shape[0]
        total = float(n_rows if weight is None else add_up(weight))
        sums = np.zeros(self._n_encoded)
        for rows in list_blocks(n_rows):
            block = matrix[rows]
            each = np.ones(block.shape[0]) if weight is None else weight[rows]
            sums += each @ block
        return self._combine(sums / total, total)

    def merge(self, other: Design) -> Self:
        """Combine the means with those of the rows of an equal design.

        Parameters
        ----------
        other : Design
            The other design.

        Returns
        -------
        design : Design
            The same encoding, with the means over the rows of both.
        """
        n_dropped = self.n_dropped + other.n_dropped
        if self._is_encoded:
            return replace(self, n_dropped=n_dropped)
        means = [
            other.terms[position].means or [0.0] * len(term.names)
            for position, term in enumerate(self.terms)
        ]
        made = self._combine(np.concatenate(means), other.total_weight)
        return replace(made, n_dropped=n_dropped)

    def _combine(self, means, weight):
        total, terms, start = self.total_weight + weight, [], 0
        for term in self.terms:
            new = means[start : start + len(term.names)]
            start += len(term.names)
            if term.kind != NUMERIC:
                old = np.array(term.means) if term.means else np.zeros(len(new))
                new = old + (new - old) * (weight / total)
                term = replace(term, means=tuple(new.tolist()))
            terms.append(term)
        return replace(self, terms=tuple(terms), total_weight=total)

    @classmethod
    def from_dict(cls, design: dict[str, Any]) -> Self:
        """Read a design written by `to_dict`.

        Parameters
        ----------
        design : dict
            The return value of `to_dict`, also after conversion to and from JSON.

        Returns
        -------
        design : Design
            A design equal to the one written.

        Raises
        ------
        ValueError, TypeError, KeyError
            If an entry is missing or invalid.
        """
        schema, terms = TableSchema.from_dict(design["columns"]), design["terms"]
        if not isinstance(terms, list) or len(terms) != len(schema.columns):
            raise ValueError(f"terms must be a list of {len(schema.columns)} entries")
        missing = design.get("missing", "error")
        if missing not in MISSING:
            raise ValueError(f"missing must be one of {MISSING}; got {missing!r}")
        n_dropped = design.get("n_dropped", 0)
        if type(n_dropped) is not int or n_dropped < 0:
            raise ValueError(f"n_dropped must be a count; got {n_dropped!r}")
        read = tuple(
            _read_term(column, entry, missing == "mean")
            for column, entry in zip(schema.columns, terms, strict=True)
        )
        total_weight = 0.0 if schema.is_plain and missing != "mean" else 1.0
        has_indicator = {term.name: term.has_indicator for term in read}
        model_terms = read_model_terms(
            design.get("model_terms", []), schema.names, has_indicator
        )
        return cls(schema, read, total_weight, missing, n_dropped, model_terms)

    def find_columns(self, position: int) -> slice:
        """Find the encoded columns of a column of the table.

        Parameters
        ----------
        position : int
            Number of the column of the table.

        Returns
        -------
        columns : slice
            Numbers of the columns in which it is encoded; without ``model_terms``, of
            the design matrix.
        """
        start = sum(len(term.names) for term in self.terms[:position])
        return slice(start, start + len(self.terms[position].names))

    def read(self, X: MatrixLike, handle_unknown: str = "error") -> np.ndarray | Any:
        """Read a new table.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n_rows, n_features)
            The table.
        handle_unknown : {"error", "mean"}, default="error"
            How levels not seen in training are treated: raise a ValueError, or give the
            indicators of the column their means over the training rows, with a warning.
            The level then has the mean of the effects of the levels of these rows.

        Returns
        -------
        matrix : ndarray or csr_array of shape (n_rows, n_made)
            The design matrix, not checked for missing values in numeric columns.

        Raises
        ------
        ValueError
            If the table does not match, has an unseen level, or has a missing one with
            ``missing="error"``.
        """
        blocks, unseen = [], {}
        for rows, block in self.schema.read_blocks(X):
            made = self.expand(
                block, handle_unknown, table=X, first_row=rows.start, unseen=unseen
            )
            blocks.append(sparse.csr_array(made) if sparse.issparse(X) else made)
        if unseen:
            self._warn_of_unseen(unseen, X)
        if not sparse.issparse(X):
            return blocks[0]
        return sparse.csr_array(sparse.vstack(blocks))

    def expand(
        self,
        matrix: np.ndarray,
        handle_unknown: str = "error",
        *,
        table: MatrixLike | None = None,
        first_row: int = 0,
        unseen: dict[Any, Any] | None = None,
    ) -> np.ndarray | Any:
        """Make the design matrix from numbers and level codes.

        Parameters
        ----------
        matrix : ndarray of shape (n_rows, n_features)
            Numbers and level codes, as read by the schema.
        handle_unknown : {"error", "mean"}, default="error"
            As in `read`.
        table : array-like, data frame or sparse matrix, default=None
            The table from which they were read, to show an invalid level.
        first_row : int, default=0
            Number of the first row in that table.
        unseen : dict, default=None
            Takes the rows with unseen levels, as a list of arrays by column number.

        Returns
        -------
        matrix : ndarray or csr_array of shape (n_rows, n_made)
            The design matrix columns.

        Raises
        ------
        ValueError
            If a row has an unseen level, or a missing one with ``missing="error"``.
        """
        places = {}
        try:
            made = self._expand(
                matrix, self._prefers_sparse(len(matrix)), handle_unknown, places
            )
        except _LevelError as error:
            place = error.position, error.row + first_row
            raise self._explain(error, place, table) from None
        if unseen is not None:
            for position, rows in places.items():
                unseen.setdefault(position, []).append(rows + first_row)
        return made

    def _prefers_sparse(self, n_rows: int) -> bool:
        """Whether the matrix of so many rows is large and has many zeros."""
        n_made = max(len(self.names), self._n_encoded)
        if self.model_terms:
            n_filled = count_filled(self.model_terms)
        else:
            n_filled = sum(1 for term in self.terms if term.names)
        is_small = n_rows * n_made <= DENSE_CELLS
        return not (self.is_plain or is_small or n_filled > SPARSE_FRACTION * n_made)

    def _expand(self, matrix, is_sparse, handle_unknown, unseen):
        """Make a dense or sparse matrix; the rows with unseen levels are noted."""
        return self.combine(self._encode(matrix, is_sparse, handle_unknown, unseen))

    def _encode(self, matrix, is_sparse, handle_unknown, unseen):
        """Make the encoded columns."""
        if self._is_encoded:
            return sparse.csr_array(matrix) if is_sparse else matrix
        encode = self._encode_sparse if is_sparse else self._encode_dense
        return encode(matrix, handle_unknown, unseen)

    def _encode_dense(self, matrix, handle_unknown, unseen):
        made = np.zeros((len(matrix), self._n_encoded))
        stop = 0
        for position, term in enumerate(self.terms):
            start, stop = stop, stop + len(term.names)
            column = matrix[:, position]
            if term.kind == NOMINAL:
                places = self._find_places(column, position, handle_unknown, unseen)
                rows = np.flatnonzero(places >= 0)
                made[rows, start + places[rows]] = 1.0
            elif term.kind == ORDINAL:
                self._find_unseen(column, position, handle_unknown, column < 0, unseen)
                spread = self._spread(column, position)
                made[:, start : stop - term.has_indicator] = spread[:, np.newaxis]
            else:
                made[:, start : stop - term.has_indicator] = column[:, np.newaxis]
            for rows, values in self._list_filled(column, position, unseen):
                made[rows, start:stop] = values
        return made

    def _encode_sparse(self, matrix, handle_unknown, unseen):
        n_rows = len(matrix)
        rows, columns, values = [], [], []
        stop = 0
        for position, term in enumerate(self.terms):
            start, stop = stop, stop + len(term.names)
            column = matrix[:, position]
            if term.kind == NOMINAL:
                places = self._find_places(column, position, handle_unknown, unseen)
                found = np.flatnonzero(places >= 0)
                columns.append(start + places[found])
                values.append(np.ones(len(found)))
            else:
                is_there = ~np.isnan(column)
                if term.kind == ORDINAL:
                    is_there &= column >= 0
                    self._find_unseen(
                        column, position, handle_unknown, column < 0, unseen
                    )
                    column = self._spread(column, position)
                found = np.flatnonzero(is_there & (column != 0) & bool(term.names))
                columns.append(np.full(len(found), start))
                values.append(column[found])
            rows.append(found)
            for filled, fill in self._list_filled(column, position, unseen):
                rows.append(np.repeat(filled, len(fill)))
                columns.append(np.tile(np.arange(start, stop), len(filled)))
                values.append(np.tile(fill, len(filled)))
        entries = (np.concatenate(rows), np.concatenate(columns))
        shape = (n_rows, self._n_encoded)
        return sparse.csr_array(
            sparse.coo_array((np.concatenate(values), entries), shape=shape)
        )

    def _list_filled(self, column, position, unseen):
        """List rows whose value is unseen or missing, and what they have instead."""
        term = self.terms[position]
        if not term.names:
            return
        if position in unseen:
            yield unseen[position], term.means
        is_missing = np.isnan(column)
        if is_missing.any():
            fill = term.fill() if self.missing == "mean" else [np.nan] * len(term.names)
            yield np.flatnonzero(is_missing), fill

    def _spread(self, codes, position):
        """Map the codes of an ordinal column to [0, 1]."""
        return codes / max(1, len(self.schema.columns[position].levels) - 1)

    def _find_places(self, codes, position, handle_unknown, unseen):
        """Which indicator of its column each row has; -1: none."""
        term = self.terms[position]
        n_levels = len(self.schema.columns[position].levels)
        places = np.full(n_levels + 1, -2, dtype=np.intp)  # the last one: unseen
        places[list(term.codes)] = np.arange(len(term.codes))
        if term.reference is not None:
            places[term.reference] = -1
        known = np.where(np.isnan(codes), -1, codes).astype(np.intp)
        found = places[known]
        self._find_unseen(codes, position, handle_unknown, found == -2, unseen)
        return np.maximum(found, -1)

    def _find_unseen(self, codes, position, handle_unknown, is_unseen, unseen):
        """Keep the rows with unseen levels, or raise _LevelError if they may not be."""
        is_missing = np.isnan(codes)
        if is_missing.any():
            if self.missing == "error":
                raise _LevelError(position, int(np.argmax(is_missing)), is_missing=True)
            is_unseen = is_unseen & ~is_missing
        if not is_unseen.any():
            return
        # While the training rows are read there are no means yet.
        if handle_unknown == "error" or not self.total_weight > 0.0:
            raise _LevelError(position, int(np.argmax(is_unseen)))
        unseen[position] = np.flatnonzero(is_unseen)

    def _warn_of_unseen(self, unseen, table) -> None:
        """Warn about levels that take the mean effect."""
        parts = []
        for position, rows in unseen.items():
            rows, name = np.concatenate(rows), self.terms[position].name
            n_rows = f"{len(rows)} row{'s' * (len(rows) > 1)}"
            parts.append(f"{name!r} in {n_rows}")
            if table is not None:
                levels = read_values(table, position, rows)
                listed = ", ".join(map(repr, levels[:MAX_WARNED]))
                listed += ", ..." if len(levels) > MAX_WARNED else ""
                parts[-1] += f" ({listed})"
        warn_caller(
            "Levels not seen in training: " + "; ".join(parts) + ". They take the mean "
            "of the effects of the levels in the training rows; handle_unknown='error' "
            "refuses them."
        )

    def _explain(self, error, place, table):
        """Make the error message."""
        position, row = place
        term = self.terms[position]
        if error.is_missing:
            return make_missing_error(term.name, row)
        known = self.schema.columns[position].levels
        if term.kind == NOMINAL:
            kept = {*term.codes, term.reference}
            known = [level for code, level in enumerate(known) if code in kept]
        listed = ", ".join(map(repr, known[:MAX_LISTED]))
        listed += ", ..." if len(known) > MAX_LISTED else ""
        level = "a level"
        if table is not None:
            level = f"the level {read_value(table, position, row)!r}"
        hint = "" if self.total_weight == 0.0 else " Or set handle_unknown='mean'."
        return ValueError(
            f"Column {term.name!r}, row {row}, has {level} that was not seen in "
            f"training; the levels were {listed}.{hint}"
        )


class _LevelError(Exception):
    """A row has a level that cannot be distinguished from others; see `expand`."""

    def __init__(self, position, row, *, is_missing: bool = False) -> None:
        super().__init__(position, row)
        self.position, self.row, self.is_missing = position, row, is_missing


def make_missing_error(name: str, row: int) -> ValueError:
    """Make the error for a level that is missing with ``missing="error"``."""
    return ValueError(
        f"Input X contains NaN: column {name!r}, row {row}. With missing='error' this "
        f"is not allowed: {MISSING_REMEDY}, or declare a level for missing values."
    )


def make_term(
    column,
    counts: np.ndarray | None,
    reference_level: str | dict | None,
    is_kept: np.ndarray | None = None,
) -> Term:
    """Choose the encoding of one column, from the number of rows of each level."""
    if column.kind != NOMINAL:
        return Term(column.name, column.kind, names=(column.name,))
    is_used = counts > 0 if is_kept is None else is_kept
    if not is_used.any():
        return Term(column.name, NOMINAL)
    reference = choose_reference(column, counts, is_used, reference_level)
    used = [code for code in np.flatnonzero(is_used).tolist() if code != reference]
    return _name_levels(column, used, reference)


@lru_cache(maxsize=2)  # of wide tables each has many megabytes
def make_plain_design(names: tuple, has_names: bool) -> Design:
    """Make the design of a table of numbers; cached."""
    schema = numeric_schema(names, has_names, "number")
    return Design(
        schema, tuple(make_term(column, None, None) for column in schema.columns)
    )


def _name_levels(column, codes, reference):
    """Make the term of a nominal column from its chosen levels."""
    names = tuple(f"{column.name}={column.format_value(code)}" for code in codes)
    return Term(column.name, NOMINAL, tuple(codes), reference, names)


def _write_term(term):
    """Write one term for `Design.to_dict`."""
    entry = {"means": list(term.means), "has_indicator": term.has_indicator}
    if term.kind == NOMINAL:
        entry |= {"codes": list(term.codes), "reference": term.reference}
    return entry if term.means or term.kind != NUMERIC else None


def _read_term(column, entry, is_filled):
    """Read one term that `Design.to_dict` wrote."""
    if (entry is None) == (column.kind != NUMERIC or is_filled):
        raise ValueError(
            f"column {column.name!r} is {column.kind}: columns with levels must have "
            "an entry, others null unless missing values are filled in"
        )
    if entry is None:
        return make_term(column, None, None)
    means = tuple(map(float, entry["means"]))
    if column.kind == NOMINAL:
        term = _read_levels(column, entry)
    else:
        term = make_term(column, None, None)
        term = term if means else replace(term, names=())
    if entry.get("has_indicator", False):
        term = _add_indicator(term)
    if len(means) != len(term.names) or not np.isfinite(means).all():
        raise ValueError(
            f"means of {column.name!r} must be {len(term.names)} finite numbers"
        )
    return replace(term, means=means)


def _add_indicator(term):
    """Add the indicator of missing values to a term."""
    names = (*term.names, f"missing({term.name})")
    return replace(term, names=names, has_indicator=True)


def _read_levels(column, entry):
    """Read the levels of the term of a nominal column."""
    codes, reference = entry["codes"], entry["reference"]
    listed = [*codes, *([] if reference is None else [reference])]
    n_levels = len(column.levels)
    if not all(type(code) is int and 0 <= code < n_levels for code in listed):
        raise ValueError(f"codes of {column.name!r} must be from 0 to {n_levels - 1}")
    if len(set(listed)) < len(listed):
        raise ValueError(f"column {column.name!r} has duplicate codes")
    return _name_levels(column, codes, reference)


def read_design(
    X: MatrixLike,
    categorical_features: ArrayLike | dict[str, Any] | None = "from_dtype",
    reference_level: str | dict[Any, Any] | None = "first",
    is_present: np.ndarray | None = None,
    *,
    missing: str = "error",
    keeps_all_levels: bool = False,
) -> tuple[Any, Design]:
    r"""Read a training table as a matrix of numbers.

    Numeric columns are not changed. An ordinal column (有序属性) with k levels is
    mapped to equally spaced numbers in [0, 1]: level j, counted from 0, becomes
    :math:`j / (k - 1)`. A nominal column (无序属性) becomes one indicator column for
    each level that occurs, except the reference level.

    Parameters
    ----------
    X : array-like, data frame or sparse matrix of shape (n_rows, n_features)
        The table.
    categorical_features : "from_dtype", None, array-like or dict, default="from_dtype"
        The columns with levels. "from_dtype": strings and categorical dtypes, with the
        order of ordered categories. A mask, indices or names: these columns, without
        order. A dict from names or indices to "nominal", a set of levels (without
        order) or the list of levels in ascending order.
    reference_level : {"first", "last", "most_frequent"}, dict or None, default="first"
        The level of a nominal column without indicator, with which the others are
        compared; a dict has levels by name or number of the column. None: all levels
        have an indicator.
    is_present : ndarray of bool, shape (n_rows,), default=None
        Rows to use; the others are ignored. None: all.
    missing : {"error", "drop", "mean"}, default="error"
        What is done with missing values. "error": a missing level raises a ValueError,
        and missing numbers remain NaN. "drop": rows with one are left out. "mean": the
        resulting columns have their means over the other rows, and an indicator column
        marks the missing values, unless an earlier column has them in the same rows.
    keeps_all_levels : bool, default=False
        Whether every declared level of a nominal column has an indicator, even if it
        occurs in no row.

    Returns
    -------
    matrix : ndarray or csr_array of shape (n_present, n_made)
        The design matrix of the used rows.
    design : Design
        The encoding of the columns, for later tables.

    Raises
    ------
    ValueError
        If the table or a parameter is invalid, if a level is missing with
        ``missing="error"``, or if all rows have missing values with ``missing="drop"``.

    Notes
    -----
    Reference: 周志华《机器学习》, section 3.2, where 高, 中, 低 become 1, 0.5, 0.

    Examples
    --------
    >>> from sklearn_textbook.linear_model.design import read_design
    >>> X = [["tall", "melon"], ["short", "pumpkin"], ["middle", "cucumber"]]
    >>> orders = {0: ["short", "middle", "tall"], 1: "nominal"}
    >>> matrix, design = read_design(X, orders)
    >>> design.names
    ('x0', 'x1=melon', 'x1=pumpkin')
    >>> matrix
    array([[1. , 1. , 0. ],
           [0. , 0. , 1. ],
           [0.5, 0. , 0. ]])
    >>> read_design([[1.0], [float("nan")], [2.0]], missing="mean")[0]
    array([[1. , 0. ],
           [1.5, 1. ],
           [2. , 0. ]])
    """
    matrix, design, _ = read_rows(
        X,
        categorical_features,
        reference_level,
        missing,
        is_present=is_present,
        keeps_all_levels=keeps_all_levels,
    )
    return matrix, design


def read_rows(
    X,
    categorical_features,
    reference_level,
    missing,
    weight: np.ndarray | None = None,
    is_present=None,
    *,
    keeps_all_levels: bool = False,
    levels: dict[str, Any] | None = None,
) -> tuple[np.ndarray | sparse.csr_array, Design, np.ndarray | None]:
    """Read the training rows as `read_design` does; the means are weighted.

    ``levels`` are those of a formula: further nominal columns, and their reference
    levels or None.

    Returns (matrix, design, is_present).
    """
    declared, orders = find_declared(declare_nominal(categorical_features, levels))
    matrix, schema = read_training_table(X, declared)
    if isinstance(matrix, StoredTable):
        matrix = matrix.matrix
    matrix = matrix.tocsr() if sparse.issparse(matrix) else matrix
    if is_present is not None:
        matrix = matrix[is_present]
    n_dropped = 0
    if missing == "drop":
        is_complete = _find_complete(matrix, schema)
        if not is_complete.all():
            matrix = matrix[is_complete]
            n_dropped = int(np.count_nonzero(~is_complete))
            if is_present is None:
                is_present = is_complete
            else:
                is_present = is_present.copy()
                is_present[is_present] = is_complete
    if orders:
        matrix, schema = order_levels(matrix, schema, orders)
    references = list_references(schema, reference_level, levels)
    if schema.is_plain and missing != "mean":
        terms = tuple(make_term(column, None, None) for column in schema.columns)
        design = Design(schema, terms, missing=missing, n_dropped=n_dropped)
        return matrix, design, is_present
    kept = {}
    if keeps_all_levels:
        kept = find_declared_levels(X, schema, orders, reference_level)
    by_columns = matrix.tocsc() if sparse.issparse(matrix) else matrix
    design = make_design(
        lambda position: take_column(by_columns, position),
        *(matrix.shape[0], schema, references, missing, weight, n_dropped, kept),
    )
    if not sparse.issparse(matrix):
        return design.expand(matrix), design, is_present
    step = max(1, DENSE_CELLS // max(1, matrix.shape[1]))
    blocks = [
        sparse.csr_array(design.expand(matrix[start : start + step].toarray()))
        for start in range(0, matrix.shape[0], step)
    ]
    return sparse.csr_array(sparse.vstack(blocks)), design, is_present


def make_design(
    read_column: Callable,
    n_rows: int,
    schema: TableSchema,
    references: list,
    missing: str,
    weight,
    n_dropped: int,
    kept: dict | None = None,
) -> Design:
    """Choose the encoding of every column.

    ``read_column`` returns the values of a column by its number, of which blocks of
    rows are read, as of the weights.
    """
    terms, seen = [], set()
    for position, column in enumerate(schema.columns):
        measured = None
        if column.kind == NOMINAL or missing == "mean":
            values = read_column(position)
            has_means = missing == "mean"
            measured = _measure_column(column, values, n_rows, weight, has_means)
        is_kept = (kept or {}).get(position)
        counts = None if measured is None else measured.counts
        term = make_term(column, counts, references[position], is_kept)
        if missing == "mean":
            term = _set_means(term, measured, seen)
        terms.append(term)
    total_weight = 0.0
    if missing == "mean":
        total_weight = float(n_rows if weight is None else add_up(weight))
    return Design(schema, tuple(terms), total_weight, missing, n_dropped)


@dataclass
class _MeasuredColumn:
    """What the rows of a column add up to."""

    #: Number of rows of each level; None of a numeric column.
    counts: np.ndarray | None
    #: Weight of each level, or weighted sum of the values.
    sums: Any = 0.0
    #: Weight of the rows with a value.
    total: float = 0.0
    #: Number of rows without a value, and a hash of which these are.
    n_missing: int = 0
    missing_rows: bytes = b""
    #: Whether no row has a value.
    is_empty: bool = False


def _measure_column(column, values, n_rows, weight, has_means):
    """Add up a column, block by block."""
    n_levels = 0 if column.kind == NUMERIC else len(column.levels)
    measured = _MeasuredColumn(None)
    if column.kind == NOMINAL:
        measured.counts = np.zeros(n_levels, dtype=np.int64)
    found = hashlib.blake2b()
    scale = max(1, n_levels - 1) if column.kind == ORDINAL else 1
    for rows in list_blocks(n_rows):
        block = values[rows]
        is_missing = np.isnan(block)
        measured.n_missing += int(np.count_nonzero(is_missing))
        # An infinite value is reported when the matrix is checked.
        is_used = np.isfinite(block)
        used = block[is_used]
        if column.kind == NOMINAL:
            used = used.astype(np.intp)
            measured.counts += np.bincount(used, minlength=n_levels)
        if not has_means:
            continue
        found.update(is_missing.tobytes())
        each = np.ones(len(block)) if weight is None else weight[rows]
        each = each[is_used]
        measured.total += float(each.sum())
        with np.errstate(over="ignore"):
            if column.kind == NOMINAL:
                measured.sums += np.bincount(used, each, n_levels)
            elif len(used):
                measured.sums += float(each @ (used / scale))
    measured.missing_rows = found.digest()
    measured.is_empty = measured.n_missing == n_rows
    return measured


def _find_complete(matrix, schema):
    """Find the rows without missing values."""
    if sparse.issparse(matrix):
        gaps = sparse.csr_array(
            (np.isnan(matrix.data), matrix.indices, matrix.indptr), matrix.shape
        )
        n_missing = gaps.sum(axis=0)
        is_complete = np.ones(matrix.shape[0], dtype=bool)
        is_complete[gaps.tocoo().row[gaps.data]] = False
    else:
        is_missing = np.isnan(matrix)
        n_missing = is_missing.sum(axis=0)
        is_complete = ~is_missing.any(axis=1)
    if len(is_complete) and not is_complete.any():
        raise make_all_missing_error(schema, n_missing)
    return is_complete


def make_all_missing_error(schema: TableSchema, n_missing: np.ndarray) -> ValueError:
    """Make the error for a table without a complete row."""
    worst = schema.names[int(np.argmax(n_missing))]
    return ValueError(
        "Every row has a missing value, so missing='drop' leaves none; column "
        f"{worst!r} has the most. Leave out columns, or set missing='mean'."
    )


def _set_means(term, measured, seen):
    """Set the means of a term, and give it an indicator of missing values.

    ``seen`` has the sets of missing rows of earlier columns, and gets this one.
    """
    if measured.is_empty:
        return replace(term, names=(), codes=(), reference=None)
    if term.kind == NOMINAL:
        means = measured.sums[list(term.codes)] / measured.total
    else:
        mean = measured.sums / measured.total if measured.total else 0.0
        means = [mean if np.isfinite(mean) else 0.0]
    # Indicators of the same rows would be equal columns.
    if measured.n_missing and term.names and measured.missing_rows not in seen:
        seen.add(measured.missing_rows)
        term, means = _add_indicator(term), [*means, 0.0]
    return replace(term, means=tuple(map(float, means)))
