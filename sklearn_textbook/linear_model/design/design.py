"""The design matrix of a table, with the same encoding of new tables."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
from scipy import sparse

from sklearn_textbook._contract.caller import warn_caller
from sklearn_textbook.linear_model.design.levels import (
    choose_reference,
    find_declared,
    find_declared_levels,
    find_used,
    list_references,
    order_levels,
    read_value,
    read_values,
    take_column,
)
from sklearn_textbook.tree.encode import (
    NOMINAL,
    NUMERIC,
    ORDINAL,
    TableSchema,
    read_training_table,
)

#: Choices of the level of a nominal column that has no indicator.
REFERENCE_LEVELS = ("first", "last", "most_frequent")
#: What is done with levels not seen in training.
UNKNOWN_LEVELS = ("mean", "error")
#: Levels that a message lists.
MAX_LISTED = 10
#: The same of a warning, for each column.
MAX_WARNED = 3
#: Cells of a dense matrix up to which indicators are not worth a sparse one.
DENSE_CELLS = 2**22
#: Fraction of cells that are not zero up to which a sparse matrix is worth it.
SPARSE_SHARE = 0.2


@dataclass(frozen=True)
class Term:
    """Encoding of one column of the table.

    Parameters
    ----------
    name : str
        Name of the column.
    kind : {"numeric", "ordinal", "nominal"}
        Not changed, mapped to [0, 1], or converted to indicators.
    codes : tuple of int
        For a nominal column, the codes of the levels that have an indicator.
    reference : int or None
        For a nominal column, the code of the level without indicator.
    names : tuple of str
        Names of the resulting columns.
    means : tuple of float
        Weighted means of the resulting columns over the training rows, which stand for
        a level that these do not have. Not of numeric columns.
    """

    name: str
    kind: str
    codes: tuple = ()
    reference: int | None = None
    names: tuple = ()
    means: tuple = field(default=(), compare=False)


@dataclass(frozen=True)
class Design:
    """Encoding of the columns of a training table.

    Parameters
    ----------
    schema : TableSchema
        The columns of the table.
    terms : tuple of Term
        The encoding of each column.
    total_weight : float
        Weight of the rows of the means.

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

    @cached_property
    def names(self):
        """Names of the resulting columns."""
        return tuple(name for term in self.terms for name in term.names)

    @cached_property
    def is_plain(self):
        """Whether the table is the matrix."""
        return self.schema.is_plain

    def to_dict(self):
        """Convert the design to a dictionary for JSON.

        Returns
        -------
        design : dict
            ``columns``, as written by `TableSchema.to_dict`, and ``terms``: for each
            column None or, if it has levels, the ``means`` of what it is converted to;
            if it is nominal, also the codes of the levels with an indicator and that of
            the reference level.
        """
        return {
            "columns": self.schema.to_dict(),
            "terms": [_write_term(term) for term in self.terms],
        }

    def add_rows(self, matrix, weight):
        """Add training rows to the means of the columns with levels.

        Parameters
        ----------
        matrix : ndarray or csr_array of shape (n_rows, n_made)
            Their design matrix.
        weight : ndarray of shape (n_rows,), or None
            Their weights; None: 1.

        Returns
        -------
        design : Design
            The same encoding, with other means.
        """
        if self.is_plain:
            return self
        total = float(matrix.shape[0] if weight is None else weight.sum())
        weight = np.ones(matrix.shape[0]) if weight is None else weight
        return self._combine(weight @ matrix / total, total)

    def merge(self, other):
        """Combine the means with those of the rows of an equal design."""
        if self.is_plain:
            return self
        means = [
            other.terms[position].means or [0.0] * len(term.names)
            for position, term in enumerate(self.terms)
        ]
        return self._combine(np.concatenate(means), other.total_weight)

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
    def from_dict(cls, design):
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
        read = tuple(map(_read_term, schema.columns, terms))
        return cls(schema, read, 0.0 if schema.is_plain else 1.0)

    def find_columns(self, position):
        """Find the design matrix columns of a column of the table.

        Parameters
        ----------
        position : int
            Number of the column of the table.

        Returns
        -------
        columns : slice
            Numbers of the columns in which it is encoded.
        """
        start = sum(len(term.names) for term in self.terms[:position])
        return slice(start, start + len(self.terms[position].names))

    def read(self, X, handle_unknown="error"):
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
            If the table does not match, or has an unseen or missing level.
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
        self, matrix, handle_unknown="error", *, table=None, first_row=0, unseen=None
    ):
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
            If a row has an unseen or missing level.
        """
        if self.is_plain:
            return matrix
        places = {}
        try:
            made = self._expand(matrix, handle_unknown, places)
        except _LevelError as error:
            place = error.position, error.row + first_row
            raise self._explain(error, place, table) from None
        if unseen is not None:
            for position, rows in places.items():
                unseen.setdefault(position, []).append(rows + first_row)
        return made

    def _expand(self, matrix, handle_unknown, unseen):
        n_rows, n_made = len(matrix), len(self.names)
        n_filled = sum(1 for term in self.terms if term.names)
        is_small = n_rows * n_made <= DENSE_CELLS
        if is_small or n_filled > SPARSE_SHARE * n_made:
            return self._expand_dense(matrix, handle_unknown, unseen)
        return self._expand_sparse(matrix, handle_unknown, unseen)

    def _expand_dense(self, matrix, handle_unknown, unseen):
        made = np.zeros((len(matrix), len(self.names)))
        start = 0
        for position, term in enumerate(self.terms):
            column = matrix[:, position]
            if term.kind == NUMERIC:
                made[:, start] = column
            elif term.kind == ORDINAL:
                made[:, start] = self._spread(column, position, handle_unknown, unseen)
            else:
                places = self._find_places(column, position, handle_unknown, unseen)
                rows = np.flatnonzero(places >= 0)
                made[rows, start + places[rows]] = 1.0
                if position in unseen:
                    stop = start + len(term.names)
                    made[unseen[position], start:stop] = term.means
            start += len(term.names)
        return made

    def _expand_sparse(self, matrix, handle_unknown, unseen):
        n_rows = len(matrix)
        rows, columns, values = [], [], []
        start = 0
        for position, term in enumerate(self.terms):
            column = matrix[:, position]
            if term.kind == NOMINAL:
                places = self._find_places(column, position, handle_unknown, unseen)
                filled = np.flatnonzero(places >= 0)
                columns.append(start + places[filled])
                values.append(np.ones(len(filled)))
                if position in unseen:
                    n_levels, n_unseen = len(term.names), len(unseen[position])
                    rows.append(np.repeat(unseen[position], n_levels))
                    columns.append(start + np.tile(np.arange(n_levels), n_unseen))
                    values.append(np.tile(term.means, n_unseen))
            else:
                if term.kind == ORDINAL:
                    column = self._spread(column, position, handle_unknown, unseen)
                filled = np.flatnonzero(column != 0)
                columns.append(np.full(len(filled), start))
                values.append(column[filled])
            rows.append(filled)
            start += len(term.names)
        entries = (np.concatenate(rows), np.concatenate(columns))
        shape = (n_rows, len(self.names))
        return sparse.csr_array(
            sparse.coo_array((np.concatenate(values), entries), shape=shape)
        )

    def _spread(self, codes, position, handle_unknown, unseen):
        """Map the codes of an ordinal column to [0, 1]."""
        is_unseen = self._find_unseen(codes, position, handle_unknown, codes < 0)
        made = codes / max(1, len(self.schema.columns[position].levels) - 1)
        if is_unseen.any():
            unseen[position] = np.flatnonzero(is_unseen)
            made[is_unseen] = self.terms[position].means[0]
        return made

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
        is_unseen = self._find_unseen(codes, position, handle_unknown, found == -2)
        if is_unseen.any():
            unseen[position] = np.flatnonzero(is_unseen)
        return np.maximum(found, -1)

    def _find_unseen(self, codes, position, handle_unknown, is_unseen):
        """Raise _LevelError if a level is missing, or unseen unless that is handled."""
        is_missing = np.isnan(codes)
        if is_missing.any():
            raise _LevelError(position, int(np.argmax(is_missing)), is_missing=True)
        # While the training rows are read there are no means yet.
        if is_unseen.any() and (
            handle_unknown == "error" or not self.total_weight > 0.0
        ):
            raise _LevelError(position, int(np.argmax(is_unseen)))
        return is_unseen

    def _warn_of_unseen(self, unseen, table):
        """Warn about levels that take the mean effect."""
        parts = []
        for position, rows in unseen.items():
            rows, name = np.concatenate(rows), self.terms[position].name
            levels = read_values(table, position, rows)
            listed = ", ".join(map(repr, levels[:MAX_WARNED]))
            listed += ", ..." if len(levels) > MAX_WARNED else ""
            n_rows = f"{len(rows)} row{'s' * (len(rows) > 1)}"
            parts.append(f"{name!r} in {n_rows} ({listed})")
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
            return ValueError(
                f"Input X contains NaN: column {term.name!r}, row {row}. Linear models "
                "do not accept missing values: impute them first, or declare a level "
                "for them."
            )
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

    def __init__(self, position, row, *, is_missing=False):
        super().__init__(position, row)
        self.position, self.row, self.is_missing = position, row, is_missing


def make_term(column, codes, reference_level, is_kept=None):
    """Choose the encoding of one column.

    Parameters
    ----------
    column : ColumnSchema
        The column.
    codes : ndarray
        Its numbers or codes in the training rows.
    reference_level : {"first", "last", "most_frequent"}, dict or None
        The level of a nominal column without indicator; a dict has it by column.
    is_kept : ndarray of bool, shape (n_levels,), default=None
        Levels that get an indicator; None: those of the rows.

    Returns
    -------
    term : Term
        The encoding.
    """
    if column.kind != NOMINAL:
        return Term(column.name, column.kind, names=(column.name,))
    present = codes[~np.isnan(codes)]
    is_used = find_used(present, len(column.levels)) if is_kept is None else is_kept
    if not is_used.any():
        return Term(column.name, NOMINAL)
    reference = choose_reference(column, present, is_used, reference_level)
    used = [code for code in np.flatnonzero(is_used).tolist() if code != reference]
    return _name_levels(column, used, reference)


def _name_levels(column, codes, reference):
    """Make the term of a nominal column from its chosen levels."""
    names = tuple(f"{column.name}={column.format_value(code)}" for code in codes)
    return Term(column.name, NOMINAL, tuple(codes), reference, names)


def _write_term(term):
    """Write one term for `Design.to_dict`."""
    if term.kind == NUMERIC:
        return None
    means = {"means": list(term.means)}
    if term.kind == ORDINAL:
        return means
    return {"codes": list(term.codes), "reference": term.reference} | means


def _read_term(column, entry):
    """Read one term that `Design.to_dict` wrote."""
    if (entry is None) != (column.kind == NUMERIC):
        raise ValueError(
            f"column {column.name!r} is {column.kind}: columns with levels must have "
            "an entry, others null"
        )
    if entry is None:
        return make_term(column, None, None)
    means = tuple(map(float, entry["means"]))
    if column.kind == ORDINAL:
        term = make_term(column, None, None)
    else:
        term = _read_levels(column, entry)
    if len(means) != len(term.names) or not np.isfinite(means).all():
        raise ValueError(
            f"means of {column.name!r} must be {len(term.names)} finite numbers"
        )
    return replace(term, means=means)


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
    X,
    categorical_features="from_dtype",
    reference_level="first",
    is_present=None,
    *,
    keeps_all_levels=False,
):
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
    reference_level : {"first", "last", "most_frequent"} or None, default="first"
        The level of a nominal column without indicator, with which the others are
        compared. None: all levels have an indicator.
    is_present : ndarray of bool, shape (n_rows,), default=None
        Rows to use; the others are ignored. None: all.
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
        If the table or a parameter is invalid, or if a level is missing.

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
    """
    declared, orders = find_declared(categorical_features)
    matrix, schema = read_training_table(X, declared)
    if is_present is not None:
        matrix = matrix.tocsr() if sparse.issparse(matrix) else matrix
        matrix = matrix[is_present]
    if orders:
        matrix, schema = order_levels(matrix, schema, orders)
    if schema.is_plain:
        list_references(schema, reference_level)
        terms = tuple(make_term(column, None, None) for column in schema.columns)
        return matrix, Design(schema, terms)
    kept = {}
    if keeps_all_levels:
        kept = find_declared_levels(X, schema, orders, reference_level)
    terms = []
    references = list_references(schema, reference_level)
    for position, column in enumerate(schema.columns):
        codes = take_column(matrix, position) if column.kind == NOMINAL else None
        terms.append(make_term(column, codes, references[position], kept.get(position)))
    design = Design(schema, tuple(terms))
    if not sparse.issparse(matrix):
        return design.expand(matrix), design
    matrix = matrix.tocsr()
    step = max(1, DENSE_CELLS // max(1, matrix.shape[1]))
    blocks = [
        sparse.csr_array(design.expand(matrix[start : start + step].toarray()))
        for start in range(0, matrix.shape[0], step)
    ]
    return sparse.csr_array(sparse.vstack(blocks)), design
