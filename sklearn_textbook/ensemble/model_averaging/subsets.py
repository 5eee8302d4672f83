"""All subsets of the terms of a linear model, and those within Occam's window."""

from __future__ import annotations

from dataclasses import dataclass
from math import comb

import numpy as np

from sklearn_textbook._contract.table import Table
from sklearn_textbook.ensemble.model_averaging.evidence_weights import (
    normalise_log_weights,
    read_numbers,
)

#: Maximum number of subsets that are visited.
MOST_SUBSETS = 2**20
#: Maximum number of values of subsets in memory at a time.
MOST_CELLS = 2**22
#: Bound of the rounding error of a logarithm.
ROUNDING = 1e-9


@dataclass(frozen=True, eq=False)
class SubsetRules:
    """Which subsets of the terms count, and their prior probabilities.

    Parameters
    ----------
    names : tuple of str
        Names of the terms.
    inclusion : ndarray of shape (n_terms,)
        Prior probability of each to be in the model; 0 and 1 decide it.
    max_size : int
        Most terms of a subset.
    window : float
        How many times as probable the best subset may be.
    """

    names: tuple
    inclusion: np.ndarray
    max_size: int
    window: float

    @classmethod
    def read(cls, averaging):
        """Read the parameters of an averaging whose table is read."""
        names = tuple(term.name for term in averaging.design_.terms)
        inclusion = np.full(len(names), 0.5)
        if averaging.prior is not None:
            inclusion = read_numbers("prior", averaging.prior, len(names), "columns")
            if ((inclusion < 0) | (inclusion > 1)).any():
                raise ValueError(
                    "The 'prior' parameter must be one probability from 0 to 1 per "
                    f"column with estimators=None; got {averaging.prior!r}."
                )
        max_size = averaging.max_subset_size
        max_size = len(names) if max_size is None else int(max_size)
        rules = cls(names, inclusion, max_size, float(averaging.occam_window))
        rules._check_size()
        return rules

    @property
    def is_forced(self):
        """Terms that are in every subset."""
        return self.inclusion == 1

    @property
    def is_free(self):
        """Terms that may be in or not."""
        return (self.inclusion > 0) & (self.inclusion < 1)

    def count(self, max_size=None):
        """Count the subsets."""
        max_size = self.max_size if max_size is None else max_size
        n_free, left = int(self.is_free.sum()), max_size - int(self.is_forced.sum())
        return sum(comb(n_free, size) for size in range(min(n_free, left) + 1))

    def _check_size(self):
        n_forced, n_subsets = int(self.is_forced.sum()), self.count()
        if n_forced > self.max_size:
            raise ValueError(
                f"The 'max_subset_size' parameter must be at least {n_forced}, since "
                f"the 'prior' parameter is 1 for {n_forced} columns; got "
                f"{self.max_size}."
            )
        if n_subsets <= MOST_SUBSETS:
            return
        size = n_forced
        while self.count(size + 1) <= MOST_SUBSETS:
            size += 1
        raise ValueError(
            f"{int(self.is_free.sum())} columns have {n_subsets} subsets, but at most "
            f"{MOST_SUBSETS} can be averaged. Set the 'max_subset_size' parameter to "
            f"at most {size}, set the 'prior' parameter to 0 or 1 for some columns, or "
            "use fewer columns."
        )

    def compute_log_prior(self, is_in):
        """Compute log prior probabilities of subsets, up to a constant."""
        inclusion = np.where(self.is_free, self.inclusion, 0.5)
        return is_in @ (np.log(inclusion) - np.log1p(-inclusion))

    def select(self, log_posterior: np.ndarray, factor: float = 1.0) -> np.ndarray:
        """Find the subsets within the window, the most probable first."""
        least = log_posterior.max() - factor * np.log(self.window) - ROUNDING
        numbers = np.flatnonzero(log_posterior >= least)
        return numbers[np.argsort(-log_posterior[numbers], kind="stable")]

    def weigh(self, is_in, bic):
        """Compute posterior probabilities of models from their BIC."""
        return normalise_log_weights(self.compute_log_prior(is_in) - 0.5 * bic)


@dataclass(frozen=True, eq=False)
class AveragedSubsets:
    """Models of subsets of the terms within the window, the most probable first.

    Parameters
    ----------
    is_in : ndarray of bool, shape (n_models, n_terms)
        Terms of each model.
    weights : ndarray of shape (n_models,)
        Posterior probabilities.
    n_parameters : ndarray of int, shape (n_models,)
        Number of parameters.
    log_likelihood, bic : ndarray of shape (n_models,)
        Logarithms of the likelihoods, and BIC.
    n_subsets : int
        How many subsets were looked at.
    """

    is_in: np.ndarray
    weights: np.ndarray
    n_parameters: np.ndarray
    log_likelihood: np.ndarray
    bic: np.ndarray
    n_subsets: int

    #: Columns of the table of the models that are fields.
    _measures = ("n_parameters", "log_likelihood", "bic")

    def make_table(self, names):
        """Make the table of the models; the terms have these names."""
        terms = np.empty(len(self.is_in), dtype=object)
        for number, row in enumerate(self.is_in):
            terms[number] = tuple(
                name for name, has in zip(names, row, strict=True) if has
            )
        return Table(
            terms=terms,
            n_terms=self.is_in.sum(axis=1),
            **{name: getattr(self, name) for name in self._measures},
            log_evidence=-0.5 * self.bic,
            weight=self.weights,
        )


@dataclass(frozen=True, eq=False)
class _Batch:
    """Subsets of the terms so far, and what is left of the other columns.

    Parameters
    ----------
    rows : ndarray of shape (n_subsets, n_left, n_left + 1)
        Triangle of the columns that are still to come, without what the included ones
        explain, and the target in the last column.
    residual : ndarray of shape (n_subsets,)
        Squares of the target that no column to come explains.
    rank : ndarray of int, shape (n_subsets,)
        Rank of the included columns.
    is_in : ndarray of bool, shape (n_subsets, n_terms)
        Included terms.
    """

    rows: np.ndarray
    residual: np.ndarray
    rank: np.ndarray
    is_in: np.ndarray

    def __getitem__(self, places):
        return _Batch(*(values[places] for values in vars(self).values()))

    def join(self, other):
        """Concatenate two batches."""
        pairs = zip(vars(self).values(), vars(other).values(), strict=True)
        return _Batch(*(np.concatenate(pair) for pair in pairs))

    def drop_columns(self, n_dropped):
        """Go on without the first columns to come."""
        if not n_dropped:
            return self
        rows = self.rows[:, :, n_dropped:]
        if rows.shape[2] == 1:
            return self.finish()
        rows = np.linalg.qr(rows, mode="r")
        residual = self.residual + rows[:, -1, -1] ** 2
        return _Batch(rows[:, :-1], residual, self.rank, self.is_in)

    def include_column(self, tol):
        """Include the first column to come, if it adds to the rank."""
        has_rank = np.abs(self.rows[:, 0, 0]) > tol
        rows, residual = self.rows[:, 1:, 1:], self.residual
        if not has_rank.all():
            dropped = self[~has_rank].drop_columns(1)
            rows, residual = rows.copy(), residual.copy()
            rows[~has_rank], residual[~has_rank] = dropped.rows, dropped.residual
        return _Batch(rows, residual, self.rank + has_rank, self.is_in)

    def include_term(self, term):
        """Note that a term is included."""
        is_in = self.is_in.copy()
        is_in[:, term] = True
        return _Batch(self.rows, self.residual, self.rank, is_in)

    def finish(self):
        """Go on without all columns to come."""
        left = (self.rows[:, :, -1] ** 2).sum(axis=1)
        rows = np.empty((len(left), 0, 1))
        return _Batch(rows, self.residual + left, self.rank, self.is_in)


def explore_subsets(
    columns: np.ndarray,
    target: np.ndarray,
    groups: list[np.ndarray],
    rules: SubsetRules,
    tol: float,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    r"""Find the residual sum of squares and the rank of every subset of the terms.

    The first term that is not decided yet is included or dropped: to include a column
    is to drop its row from the triangle, to drop it is to turn what remains into a
    triangle again. Every step is orthogonal, so that nothing is squared, and all
    subsets together cost little more than the triangles of two columns each.

    Source: C. Gatu and E. J. Kontoghiorghes, "Parallel algorithms for computing all
    possible subset regression models using the QR decomposition", Parallel Computing
    29(4), 2003.
    """
    # Terms that are decided come first, then those of many columns, while subsets are
    # few.
    order = sorted(
        range(len(groups)), key=lambda term: (rules.is_free[term], -len(groups[term]))
    )
    places = np.concatenate([groups[term] for term in order]).astype(np.intp)
    stack = [(_start(columns[:, places], target, len(groups)), 0)]
    finished = []
    while stack:
        batch, position = stack.pop()
        is_full = batch.is_in.sum(axis=1) == rules.max_size
        is_full &= position >= (~rules.is_free).sum()
        if position == len(order) or is_full.all():
            finished.append(batch.finish())
            continue
        if is_full.any():
            finished.append(batch[is_full].finish())
            batch = batch[~is_full]
        n_subsets = len(batch.rank)
        if batch.rows.size > MOST_CELLS and n_subsets > 1:
            middle = n_subsets // 2
            stack += [(batch[middle:], position), (batch[:middle], position)]
            continue
        term = order[position]
        batch = _decide(batch, term, len(groups[term]), rules, tol)
        stack.append((batch, position + 1))
    is_in = np.concatenate([batch.is_in for batch in finished])
    # Small subsets first, then by the order of the columns.
    by = np.lexsort((*(~is_in).T[::-1], is_in.sum(axis=1)))
    rank = np.concatenate([batch.rank for batch in finished])
    residual = np.concatenate([batch.residual for batch in finished])
    return is_in[by], rank[by], residual[by]


def _start(columns, target, n_terms):
    """Make the batch of the empty subset."""
    n_columns = columns.shape[1]
    rows = np.zeros((max(len(columns), n_columns + 1), n_columns + 1))
    rows[: len(columns)] = np.column_stack([columns, target])
    rows = np.linalg.qr(rows, mode="r")
    return _Batch(
        rows[np.newaxis, :n_columns],
        rows[-1:, -1] ** 2,
        np.zeros(1, dtype=np.intp),
        np.zeros((1, n_terms), dtype=bool),
    )


def _decide(batch, term, n_columns, rules, tol):
    """Include a term, and drop it."""
    if not rules.inclusion[term]:
        return batch.drop_columns(n_columns)
    included = batch
    for _ in range(n_columns):
        included = included.include_column(tol)
    included = included.include_term(term)
    if rules.is_forced[term]:
        return included
    return batch.drop_columns(n_columns).join(included)
