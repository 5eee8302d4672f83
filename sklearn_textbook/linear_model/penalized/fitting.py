"""Fits of a path to all rows and to folds, and the choice of alpha."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace

import numpy as np
from sklearn.model_selection import KFold, StratifiedKFold, check_cv

from sklearn_textbook._contract.parameters import is_integer, show_value
from sklearn_textbook._contract.types import MatrixLike
from sklearn_textbook.linear_model.penalized.columns import make_columns
from sklearn_textbook.linear_model.penalized.losses import FamilyLoss, LogisticLoss
from sklearn_textbook.linear_model.penalized.moments import (
    Moments,
    add_moments,
    find_scales,
    measure_moments,
)
from sklearn_textbook.linear_model.penalized.path import (
    STEP,
    Path,
    RowPath,
    fit_products,
)
from sklearn_textbook.linear_model.penalized.penalty import Penalty

#: Number of columns up to which least squares use the products of all columns, and the
#: same if there are as many rows.
FEW_COLUMNS, MANY_COLUMNS = 500, 3000
EPSILON = np.finfo(np.float64).eps


@dataclass(frozen=True, eq=False)
class Settings:
    """What is fitted.

    Parameters
    ----------
    penalty : Penalty
        The penalty.
    make_loss : callable
        Makes the loss of some rows (an index, or a slice) with weights whose sum is 1.
    fit_intercept, standardize : bool
        Whether there is an intercept, and whether the penalty is in units of the
        standard deviations.
    tol : float
        Tolerance.
    max_iter : int
        Largest number of iterations for each alpha.
    n_threads : int
        Number of threads.
    """

    penalty: Penalty
    make_loss: Callable
    fit_intercept: bool
    standardize: bool
    tol: float
    max_iter: int
    n_threads: int


class ProductsFit:
    """Least squares by the products of all columns.

    Parameters
    ----------
    moments : Moments
        Means and products.
    settings : Settings
        The model.
    """

    def __init__(self, moments: Moments, settings: Settings) -> None:
        self.settings, penalty = settings, settings.penalty
        self.means, products = moments.centre(settings.fit_intercept)
        about_mean = products.diagonal()[:-1]
        if not settings.fit_intercept:
            about_mean = about_mean - np.square(moments.sums[:-1] / moments.total)
        real_means = (moments.origin + moments.sums / moments.total)[:-1]
        self.scales, is_constant = find_scales(
            real_means, about_mean, standardize=settings.standardize
        )
        units = np.append(self.scales, 1.0)
        self.products = products / np.outer(units, units)
        if settings.fit_intercept:
            zeros = np.flatnonzero(is_constant)
            self.products[zeros], self.products[:, zeros] = 0.0, 0.0
        slopes, free = self.products[:-1, -1].copy(), penalty.factors == 0.0
        self.first = np.zeros(len(slopes))
        if free.any():
            places = np.flatnonzero(penalty.spread(free))
            inside = np.append(places, len(slopes))
            part = self._fit(self.products[np.ix_(inside, inside)], places)
            self.first[places] = part.coef[0, 0]
            slopes -= self.products[:-1, :-1] @ self.first
        self.largest = penalty.find_largest_alpha(slopes)

    def _fit(self, products, places):
        penalty = self.settings.penalty.select(places)
        tol, max_iter = EPSILON**2, self.settings.max_iter
        return fit_products(products, penalty, np.zeros(1), tol, max_iter)

    def follow(self, alphas: np.ndarray, start=None) -> Path:
        """Fit descending alphas."""
        first = self.first if start is None else start[0][0] * self.scales
        found = fit_products(
            *(self.products, self.settings.penalty, alphas),
            *(self.settings.tol, self.settings.max_iter, first),
        )
        coef = found.coef / self.scales
        intercept = self.means[-1] - coef @ self.means[:-1]
        return replace(found, coef=coef, intercept=intercept)


class RowsFit:
    """A model that needs the rows in each iteration.

    Parameters
    ----------
    X : ndarray or csr_array
        The table.
    loss : FamilyLoss or LogisticLoss
        The loss of its rows.
    settings : Settings
        The model.
    """

    def __init__(
        self, X: MatrixLike, loss: FamilyLoss | LogisticLoss, settings: Settings
    ) -> None:
        self.columns = make_columns(
            *(X, loss.weight),
            fit_intercept=settings.fit_intercept,
            standardize=settings.standardize,
        )
        self.path = RowPath(
            *(self.columns, loss, settings.penalty),
            fit_intercept=settings.fit_intercept,
            tol=settings.tol,
            max_iter=settings.max_iter,
        )
        self.largest = self.path.largest

    def follow(self, alphas: np.ndarray, start=None) -> Path:
        """Fit descending alphas."""
        centre, scales = self.columns.centre, self.columns.scales
        n_first = 0
        if start is not None:
            coef, intercept = start
            self.path.start_from(coef * scales, intercept + coef @ centre)
        elif 0.0 < alphas[0] < STEP * self.largest and self.path.penalty.l1_ratio > 0.0:
            # The strong rule leaves out many columns only in small steps.
            n_first = int(np.log(self.largest / alphas[0]) / np.log(1.0 / STEP))
            before = self.largest * STEP ** np.arange(1, n_first + 1)
            before = before[before > alphas[0]]
            n_first, alphas = len(before), np.append(before, alphas)
        found = self.path.follow(alphas)
        coef = found.coef[n_first:] / scales
        return Path(
            coef,
            found.intercept[n_first:] - coef @ centre,
            found.n_iter[n_first:],
            found.gaps[n_first:],
            found.has_converged[n_first:],
            found.deviances[n_first:],
        )


class PathFit:
    """Fits of all rows and of folds with the same alphas.

    Parameters
    ----------
    X : ndarray or csr_array
        The table.
    y, weight : ndarray of shape (n_rows,)
        The target, or numbers of classes, and the weights.
    settings : Settings
        The model.
    """

    def __init__(
        self, X: MatrixLike, y: np.ndarray, weight: np.ndarray, settings: Settings
    ) -> None:
        self.X, self.y, self.weight, self.settings = X, y, weight, settings
        self.loss = settings.make_loss(slice(None))
        n_rows, n_columns = X.shape
        self.uses_products = self.loss.is_quadratic and (
            n_columns <= FEW_COLUMNS or n_columns <= min(n_rows, MANY_COLUMNS)
        )
        #: Products of the test rows of each fold.
        self.parts: list | None = None
        if self.uses_products:
            fraction = weight / weight.sum()
            means = np.asarray(fraction @ X).ravel()
            self.origin = np.append(means, fraction @ y)
            if not settings.fit_intercept:
                self.origin = np.zeros_like(self.origin)

    def fit_all(self, folds: list) -> ProductsFit | RowsFit:
        """Prepare the fit of all rows; folds share the products of their rows."""
        if not self.uses_products:
            return RowsFit(self.X, self.loss, self.settings)
        if folds and self._is_divided(folds):
            self.parts = [self._measure(test) for _, test in folds]
            return ProductsFit(add_moments(self.parts), self.settings)
        return ProductsFit(self._measure(slice(None)), self.settings)

    def _measure(self, rows) -> Moments:
        part = _take_slice(rows)
        return measure_moments(
            *(self.X[part], self.y[part], self.weight[part], self.origin),
            n_threads=self.settings.n_threads,
        )

    def _is_divided(self, folds) -> bool:
        """Whether each row is in one test set, and in all other training sets."""
        n_rows = len(self.y)
        counts = np.zeros(n_rows, dtype=np.int64)
        for fold in folds:
            both = np.concatenate(fold)
            if both.min() < 0 or (np.bincount(both, minlength=n_rows) != 1).any():
                return False
            counts += np.bincount(fold[1], minlength=n_rows)
        return bool((counts == 1).all())

    def validate(
        self, folds: list, alphas: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return the mean deviances of test rows and their weight for each fold."""
        tasks = range(len(folds))

        def run(fold):
            train, test = folds[fold]
            if self.parts is not None:
                others = (part for k, part in enumerate(self.parts) if k != fold)
                model = ProductsFit(add_moments(others), self.settings)
            elif self.uses_products:
                model = ProductsFit(self._measure(train), self.settings)
            else:
                loss = self.settings.make_loss(train)
                if not np.isfinite(loss.fit_constant()).all():
                    raise ValueError(
                        f"The training rows of fold {fold} lack a class, or all have "
                        "the same target 0, so that no alpha can be chosen: change cv."
                    )
                model = RowsFit(self.X[_take_slice(train)], loss, self.settings)
            path = model.follow(alphas)
            return self._measure_test(test, path), float(self.weight[test].sum())

        n_workers = min(self.settings.n_threads, len(folds))
        with ThreadPoolExecutor(n_workers) as pool:
            found = list(pool.map(run, tasks))
        losses, weights = zip(*found, strict=True)
        return np.array(losses), np.array(weights)

    def _measure_test(self, test, path: Path) -> np.ndarray:
        """Compute the mean deviances of test rows by a path."""
        return measure_deviances(
            self.X[_take_slice(test)], self.settings.make_loss(test), path
        )


def measure_deviances(
    X: MatrixLike, loss: FamilyLoss | LogisticLoss, path: Path
) -> np.ndarray:
    """Compute the mean deviances of rows for each alpha."""
    n_alphas, n_scores, n_columns = path.coef.shape
    used = np.flatnonzero(path.coef.any(axis=(0, 1)))
    by_column = path.coef[:, :, used].transpose(2, 1, 0)
    by_column = by_column.reshape(len(used), n_scores * n_alphas)
    part = X if len(used) == n_columns else X[:, used]
    scores = np.asarray(part @ by_column).reshape(-1, n_scores, n_alphas)
    return loss.measure(scores + path.intercept.T)


def _take_slice(rows):
    """Replace consecutive indices by a slice, which copies nothing."""
    if isinstance(rows, slice) or not len(rows):
        return rows
    if rows[-1] - rows[0] + 1 == len(rows) and (np.diff(rows) == 1).all():
        return slice(int(rows[0]), int(rows[-1]) + 1)
    return rows


def make_alphas(largest: float, n_alphas: int, eps: float) -> np.ndarray:
    """Make a descending geometric sequence from the largest alpha."""
    if not largest > np.finfo(np.float64).resolution:
        return np.full(n_alphas, np.finfo(np.float64).resolution)
    return np.geomspace(largest, largest * eps, n_alphas)


def check_folds(cv: object) -> None:
    """Raise ValueError for a ``cv`` parameter that cannot give folds."""
    is_plain = cv is None or (is_integer(cv) and cv >= 2)
    is_word = isinstance(cv, (str, bool, float, type)) or is_integer(cv)
    if is_plain or (not is_word and (hasattr(cv, "split") or isinstance(cv, Iterable))):
        return
    raise ValueError(
        "The 'cv' parameter must be an int in the range [2, inf), a splitter such as "
        f"KFold(5), an iterable of (train, test) indices, or None; got {show_value(cv)}"
        f" of type {type(cv).__name__}."
    )


def list_folds(
    cv,
    X,
    y: np.ndarray,
    is_present: np.ndarray | None,
    random_state,
    *,
    is_classifier: bool,
) -> list:
    """List the folds: (train, test) indices of the rows that count."""
    number = None
    if cv is None or is_integer(cv):
        n_folds = 5 if cv is None else int(cv)
        if n_folds > len(y):
            raise ValueError(
                f"Cannot have number of splits cv={n_folds} greater than the number "
                f"of samples: n_samples={len(y)}."
            )
        make = StratifiedKFold if is_classifier else KFold
        # Tables are often sorted, and consecutive rows then differ from the others.
        seed = 0 if random_state is None else random_state
        cv = make(n_folds, shuffle=True, random_state=seed)
    elif is_present is not None and not hasattr(cv, "split"):
        number = np.where(is_present, np.cumsum(is_present) - 1, -1)
    found = []
    for fold in check_cv(cv).split(X, y):
        train, test = map(_list_rows, fold)
        if number is not None:
            train, test = number[train], number[test]
            train, test = train[train >= 0], test[test >= 0]
        if not len(train) or not len(test):
            raise ValueError(
                f"cv={show_value(cv)} gives a fold without training rows or without "
                "test rows."
            )
        found.append((train, test))
    if not found:
        raise ValueError(
            f"cv={show_value(cv)} gives no folds. An iterator can be used only once: "
            "give a list."
        )
    return found


def _list_rows(rows) -> np.ndarray:
    """Return rows as indices, which may be given as a mask."""
    rows = np.asarray(rows)
    return np.flatnonzero(rows) if rows.dtype == bool else rows.astype(np.intp)


def choose_alpha(
    rule: str, losses: np.ndarray, weights: np.ndarray
) -> tuple[int, np.ndarray, np.ndarray]:
    """Choose an alpha by the deviances of test rows (n_folds, n_alphas).

    Returns its number, the weighted means over the folds and their standard errors.
    """
    fraction = weights / weights.sum()
    means = fraction @ losses
    errors = np.sqrt(fraction @ np.square(losses - means) / max(len(losses) - 1, 1))
    best = int(np.argmin(means))
    if rule == "1se":
        best = int(np.argmax(means <= means[best] + errors[best]))
    return best, means, errors
