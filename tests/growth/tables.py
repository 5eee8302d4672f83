"""Random tables, targets and weights that are the same on every machine.

Nothing here calls the C library's mathematics or BLAS: the last bits of these depend on
the machine.
"""

import numpy as np
import pandas as pd

#: Cells that are missing in one column, in tables that are large enough.
N_MISSING = 500
#: Largest weights of rows that are still single digits, and that are not.
SMALL_WEIGHT, LARGE_WEIGHT = 3, 60_000


def _draw_bell(random, n_rows):
    """Draw numbers between -6 and 6, most of them near 0."""
    total = random.random(n_rows)
    for _ in range(11):
        total = total + random.random(n_rows)
    return total - 6.0


def _draw_close(random, n_rows):
    """Draw neighbouring numbers, zeros of both signs, and tiny and huge numbers."""
    near_one = [np.nextafter(1.0, 0.0), 1.0, np.nextafter(1.0, 2.0)]
    tiny, huge = [-1e-300, -0.0, 0.0, 5e-324, 1e-300], [-1e300, 1e16, 1e16 + 2, 1e300]
    values = np.array([*near_one, *tiny, *huge])
    return values[random.integers(0, len(values), n_rows)]


NUMBERS = {
    "bell": _draw_bell,
    "uniform": lambda random, n_rows: random.random(n_rows),
    "few": lambda random, n_rows: random.integers(0, 5, n_rows).astype(float),
    "some": lambda random, n_rows: random.integers(-20, 20, n_rows).astype(float),
    "two": lambda random, n_rows: random.integers(0, 2, n_rows).astype(float),
    "rare": lambda random, n_rows: (random.random(n_rows) < 0.05).astype(float),
    "close": _draw_close,
    "constant": lambda random, n_rows: np.full(n_rows, 7.0),
}

#: The columns of every kind of table: a name of NUMBERS, or the number of levels and
#: whether they are in order.
NOMINAL, ORDINAL = "nominal", "ordinal"
TABLES = {
    "continuous": ("bell", "bell", "uniform", "bell", "uniform", "bell"),
    "ties": ("few", "some", "few", "some", "few"),
    "two-valued": ("two", "rare", "two", "two", "rare", "two"),
    "close": ("close", "bell", "close", "uniform"),
    "constants": ("constant", "bell", "constant", "few", "constant", "uniform"),
    "wide": ("bell", "few", "constant", "two", "uniform") * 14,
    "nominal": ((NOMINAL, 2), (NOMINAL, 4), (NOMINAL, 9), (NOMINAL, 25)),
    "many-levels": ((NOMINAL, 330), "bell", (NOMINAL, 60), "few"),
    "ordinal": ((ORDINAL, 3), (ORDINAL, 12), (ORDINAL, 70), "uniform"),
    "mixed": (
        *("bell", "some", "two", "constant", (NOMINAL, 5), (NOMINAL, 40)),
        *((NOMINAL, 310), (ORDINAL, 6)),
    ),
}
#: Tables of numbers alone.
NUMERIC_TABLES = tuple(
    name for name, forms in TABLES.items() if all(isinstance(f, str) for f in forms)
)


def _draw_cells(random, form, n_rows):
    """Draw the cells of a column, levels as codes from 0 on."""
    if isinstance(form, str):
        return NUMBERS[form](random, n_rows)
    n_levels = form[1]
    # Low levels are more frequent.
    share = random.random(n_rows)
    return np.minimum(share * share * n_levels, n_levels - 1).astype(np.int64)


def _mark_missing(random, cells, n_rows, n_columns):
    """Mark the cells that are missing."""
    is_missing = np.zeros((n_rows, n_columns), dtype=bool)
    if cells == "one-column":
        rows = random.permutation(n_rows)[: min(N_MISSING, n_rows // 2)]
        is_missing[rows, 0] = True
    elif cells == "whole-column":
        is_missing[:, 0] = True
    elif cells == "everywhere":
        is_missing[:] = random.random((n_rows, n_columns)) < 0.05
    return is_missing


def _make_column(form, cells, is_missing):
    if isinstance(form, str):
        return np.where(is_missing, np.nan, cells)
    kind, n_levels = form
    return pd.Categorical.from_codes(
        np.where(is_missing, -1, cells),
        categories=[f"level {code:03}" for code in range(n_levels)],
        ordered=kind == ORDINAL,
    )


def _make_scores(random, columns, n_rows, n_scores):
    """Draw what is to be predicted: it follows some columns, but not closely."""
    ranks = []
    for cells in columns[:6]:
        distinct, codes = np.unique(cells, return_inverse=True)
        ranks.append(codes / max(1, len(distinct) - 1))
    scores = []
    for _ in range(n_scores):
        score = 0.4 * random.random(n_rows)
        for rank in ranks:
            slope, bend = random.random(2)
            score = score + (slope - 0.4) * rank + (rank > bend) * (bend - 0.5)
        scores.append(score)
    return scores


def _make_classes(score, n_classes):
    """Cut scores into classes of about the same size."""
    rank = np.empty(len(score), dtype=np.int64)
    rank[np.argsort(score, kind="stable")] = np.arange(len(score))
    return rank * n_classes // len(score)


TARGETS = {
    # name: number of outputs, what is made of a score
    **{
        f"{n}-classes": (1, lambda score, n=n: _make_classes(score, n))
        for n in (2, 3, 10, 15, 70)
    },
    "two-class-outputs": (2, lambda score: _make_classes(score, 3)),
    "values": (1, lambda score: 10.0 * score),
    "distant-values": (1, lambda score: 1e6 + score),
    "counts": (1, lambda score: np.floor(np.abs(8.0 * score))),
    "two-value-outputs": (2, lambda score: np.abs(score)),
}


def make_table(kind, cells, target, n_rows, seed):
    """Make a table and its target.

    Parameters
    ----------
    kind : str
        One of TABLES.
    cells : {"none", "one-column", "whole-column", "everywhere"}
        Which cells are missing.
    target : str
        One of TARGETS.
    n_rows, seed : int
        Rows, and the seed of all.

    Returns
    -------
    X : ndarray of float64 or DataFrame
        A frame where columns have levels.
    y : ndarray
        Class numbers or values.
    """
    random = np.random.default_rng(seed)
    forms = TABLES[kind]
    columns = [_draw_cells(random, form, n_rows) for form in forms]
    n_outputs, finish = TARGETS[target]
    scores = _make_scores(random, columns, n_rows, n_outputs)
    y = np.stack([finish(score) for score in scores], axis=1)
    if y.dtype == np.float64:
        y[0] += 1.0  # no target is all zeros
    is_missing = _mark_missing(random, cells, n_rows, len(forms))
    X = [
        _make_column(form, column, is_missing[:, number])
        for number, (form, column) in enumerate(zip(forms, columns, strict=True))
    ]
    if kind in NUMERIC_TABLES:
        X = np.stack(X, axis=1)
    else:
        X = pd.DataFrame({f"x{number}": column for number, column in enumerate(X)})
    return X, y[:, 0] if n_outputs == 1 else y


def make_weights(kind, n_rows, seed):
    """Make the weights of the rows.

    Parameters
    ----------
    kind : {"none", "whole", "large", "floats", "zeros", "float-zeros"}
        Which; also "balanced" and "balanced_subsample", where classes have weights and
        rows have none.
    n_rows, seed : int
        Rows, and the seed.

    Returns
    -------
    weights : ndarray of float64, or None
        The first row always weighs something.
    """
    random = np.random.default_rng([seed, 1])
    if kind in ("none", "balanced", "balanced_subsample"):
        return None
    if kind in ("whole", "large"):
        largest = SMALL_WEIGHT if kind == "whole" else LARGE_WEIGHT
        return random.integers(1, largest, n_rows, endpoint=True).astype(float)
    if kind == "floats":
        return 0.05 + random.random(n_rows)
    weights = random.integers(0, 2, n_rows, endpoint=True).astype(float)
    if kind == "float-zeros":
        weights *= 0.05 + random.random(n_rows)
    weights[0] = 1.0
    return weights
