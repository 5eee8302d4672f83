"""The coefficients for a descending sequence of penalties."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import linalg

from sklearn_textbook.linear_model.penalized.columns import (
    DenseColumns,
    SparseColumns,
)
from sklearn_textbook.linear_model.penalized.losses import (
    Evaluation,
    FamilyLoss,
    LogisticLoss,
)
from sklearn_textbook.linear_model.penalized.penalty import Penalty, measure_gap
from sklearn_textbook.linear_model.penalized.quadratic import (
    minimise_quadratic,
    solve_equations,
)

#: Changes of a sweep, as a fraction of the root of the tolerance, that end it first,
#: and the factor by which they become smaller.
FIRST_SWEEP, NEXT_SWEEP = 0.3, 0.1
#: No smaller changes are tried: they are rounding.
LEAST_SWEEP = 1e-15
#: Fraction of the expected decrease that must be reached, number of halvings.
SUFFICIENT, MAX_HALVINGS = 1e-4, 40
#: Fraction of the expected decrease that may remain before second derivatives are
#: computed anew.
SLOW = 0.5
#: Rounding of a loss, and decreases that may be rounding, as a fraction of it.
ROUNDING, NOISE = 1e-14, 1e-14
EPSILON = np.finfo(np.float64).eps
#: Number of coefficients from which second derivatives are not computed, and the same
#: as a multiple of the rows.
WIDE, WIDE_FACTOR = 4096, 4
#: Number of columns up to which they are computed whatever the number of rows.
FEW = 256
#: Maximum fraction of the previous alpha of a sequence that leads to a single one.
STEP = 0.75


@dataclass(frozen=True, eq=False)
class Path:
    """Coefficients in the units of the columns for each alpha.

    Parameters
    ----------
    coef : ndarray of shape (n_alphas, n_scores, n_columns)
        The coefficients.
    intercept : ndarray of shape (n_alphas, n_scores)
        The intercepts.
    n_iter : ndarray of int, shape (n_alphas,)
        Number of sweeps of least squares, or of Newton steps.
    gaps : ndarray of shape (n_alphas,)
        A bound of the objective above the minimum; of other models than least squares
        an estimate.
    has_converged : ndarray of bool, shape (n_alphas,)
        Whether it is within the tolerance.
    deviances : ndarray of shape (n_alphas,)
        Mean deviance of the rows.
    """

    coef: np.ndarray
    intercept: np.ndarray
    n_iter: np.ndarray
    gaps: np.ndarray
    has_converged: np.ndarray
    deviances: np.ndarray


def fit_products(
    products: np.ndarray,
    penalty: Penalty,
    alphas: np.ndarray,
    tol: float,
    max_iter: int,
    start: np.ndarray | None = None,
) -> Path:
    """Fit least squares to mean products of the columns and the target, the last."""
    hessian = np.ascontiguousarray(products[:-1, :-1])
    with_target, square = products[:-1, -1].copy(), float(products[-1, -1])
    n_columns, n_alphas = len(hessian), len(alphas)
    coef = np.zeros((n_alphas, 1, n_columns))
    n_iter, gaps = np.zeros(n_alphas, dtype=np.int64), np.zeros(n_alphas)
    deviances = np.zeros(n_alphas)
    has_converged = np.zeros(n_alphas, dtype=bool)
    theta = np.zeros(n_columns) if start is None else start.copy()
    size = np.sqrt(max(square, np.finfo(float).tiny))

    def measure(alpha, theta):
        """Return the duality gap and the mean squared residual."""
        slope, explained = hessian @ theta - with_target, float(theta @ with_target)
        residual = max(square - explained + float(theta @ slope), 0.0)
        cross = square - explained
        gap = measure_gap(penalty, alpha, theta, -slope, residual, cross)
        return gap, residual

    for place, alpha in enumerate(alphas.tolist()):
        step = FIRST_SWEEP * np.sqrt(tol) * size
        while True:
            slope = hessian @ theta - with_target
            room = max_iter - int(n_iter[place])
            n_sweeps, _ = minimise_quadratic(
                penalty, alpha, hessian, slope, theta, step, room
            )
            n_iter[place] += n_sweeps
            gaps[place], residual = measure(alpha, theta)
            solved = solve_equations(penalty, alpha, hessian, with_target, theta)
            is_solved = solved is not None and alpha == 0.0
            if solved is not None:
                # The same to more digits, unless the equations are nearly singular.
                # There is no gap without a penalty.
                found = measure(alpha, solved)
                if found[0] <= gaps[place] or is_solved:
                    theta, (gaps[place], residual) = solved, found
            is_rounding = is_solved or step < LEAST_SWEEP * size
            has_converged[place] = is_rounding or gaps[place] <= 0.5 * tol * square
            if has_converged[place] or n_iter[place] >= max_iter:
                break
            step *= NEXT_SWEEP
        coef[place, 0], deviances[place] = theta, residual
    intercept = np.zeros((n_alphas, 1))
    return Path(coef, intercept, n_iter, gaps, has_converged, deviances)


class SecondDerivatives:
    """Second derivatives of a loss by the coefficients of the columns used so far.

    They are those at some earlier coefficients until they are computed anew; new
    columns are added to them with the same curvatures of the rows.
    """

    def __init__(self, columns: DenseColumns | SparseColumns, n_scores: int) -> None:
        self.columns, self.n_scores = columns, n_scores
        self.curvatures: np.ndarray | None = None
        self.forget()

    def forget(self) -> None:
        """Remove all columns."""
        n = self.n_scores
        self.position = np.full(self.columns.shape[1], -1)
        self.known = np.zeros(0, dtype=np.intp)
        self.products = np.zeros((n, n, 0, 0))
        self.sums = np.zeros((n, n, 0))

    def compute(self, places: np.ndarray, at: Evaluation) -> None:
        """Compute them anew at some coefficients."""
        self.forget()
        self.curvatures = at.curvatures
        n, self.totals = self.n_scores, np.zeros((self.n_scores, self.n_scores))
        for (k, other), weight in zip(_list_pairs(n), self.curvatures, strict=True):
            self.totals[k, other] = self.totals[other, k] = weight.sum()
        self.extend(places)

    def extend(self, places: np.ndarray) -> None:
        """Add the columns that are new."""
        new = places[self.position[places] < 0]
        if not len(new):
            return
        old, n = len(self.known), self.n_scores
        width = old + len(new)
        products = np.zeros((n, n, width, width))
        products[:, :, :old, :old] = self.products
        sums = np.zeros((n, n, width))
        sums[:, :, :old] = self.sums
        for (k, other), weight in zip(_list_pairs(n), self.curvatures, strict=True):
            inner = self.columns.weigh_products(new, new, weight)
            across = self.columns.weigh_products(self.known, new, weight)
            total = self.columns.find_products(weight[:, np.newaxis], new)[0]
            for i, j in {(k, other), (other, k)}:
                products[i, j, old:, old:] = inner
                products[i, j, :old, old:] = across
                products[i, j, old:, :old] = across.T
                sums[i, j, old:] = total
        self.products, self.sums = products, sums
        self.position[new] = np.arange(old, width)
        self.known = np.append(self.known, new)

    def select(self, places: np.ndarray):
        """Return those of some columns, of them and intercepts, and of intercepts."""
        n, inside = self.n_scores, self.position[places]
        width = n * len(places)
        products = self.products[:, :, inside[:, np.newaxis], inside]
        products = products.transpose(0, 2, 1, 3).reshape(width, width)
        return products, self.sums[:, :, inside].reshape(n, width), self.totals


def _list_pairs(n_scores):
    """List the pairs of scores in the order of their curvatures."""
    return [(k, other) for k in range(n_scores) for other in range(k, n_scores)]


class RowPath:
    """Follows the coefficients of a model of rows along a path.

    Newton's method with a working set of columns: those that the sequential strong rule
    expects to be in the model, and then all whose derivatives exceed the penalty
    (Tibshirani et al. 2012). Steps of a quadratic loss are exact.

    Parameters
    ----------
    columns : DenseColumns or SparseColumns
        The columns.
    loss : FamilyLoss or LogisticLoss
        The loss of scores.
    penalty : Penalty
        The penalty, in the units of the columns.
    fit_intercept : bool
        Whether there is an intercept.
    tol : float
        Largest expected decrease, as a fraction of the loss of the model without
        penalised columns; of least squares the largest gap.
    max_iter : int
        Largest number of steps for each alpha, and of sweeps for each step.
    """

    def __init__(
        self,
        columns: DenseColumns | SparseColumns,
        loss: FamilyLoss | LogisticLoss,
        penalty: Penalty,
        *,
        fit_intercept: bool,
        tol: float,
        max_iter: int,
    ) -> None:
        self.columns, self.loss, self.penalty = columns, loss, penalty
        self.fit_intercept, self.max_iter = fit_intercept, max_iter
        n = loss.n_scores
        self.theta = np.zeros((n, columns.shape[1]))
        self.intercept = loss.fit_constant() if fit_intercept else np.zeros(n)
        self.known = SecondDerivatives(columns, n)
        self.scores = np.tile(self.intercept, (columns.shape[0], 1))
        self.at = loss.evaluate(self.scores)
        self.tol, self.size = tol, max(self.at.loss, np.finfo(float).tiny)
        self.gap, self.has_converged = 0.0, True
        #: Minus the derivatives of the mean loss, where they were computed last.
        self.slopes: np.ndarray | None = None
        free = penalty.spread(penalty.factors == 0.0)
        if free.any():
            accuracy = EPSILON * self.size
            self.minimise(0.0, np.flatnonzero(free), accuracy, max_iter)
        self.slopes = columns.find_products(self.at.residuals)
        self.largest = penalty.find_largest_alpha(self.slopes)

    def start_from(self, theta: np.ndarray, intercept: np.ndarray) -> None:
        """Continue from other coefficients."""
        self.theta = theta.copy()
        if self.fit_intercept:
            self.intercept = intercept.copy()
        self._evaluate()
        self.slopes = self.columns.find_products(self.at.residuals)

    def _evaluate(self) -> None:
        places = np.flatnonzero(self.theta.any(axis=0))
        self.scores = self.columns.add_products(places, self.theta[:, places])
        self.scores += self.intercept
        self.at = self.loss.evaluate(self.scores)

    def follow(self, alphas: np.ndarray) -> Path:
        """Fit all alphas, in descending order."""
        found, last = [], max(self.largest, float(alphas[0]))
        for alpha in alphas.tolist():
            n_iter = max(self.fit(alpha, last), 1)
            last = alpha
            found.append(
                (
                    *(self.theta, self.intercept, n_iter, self.gap),
                    *(self.has_converged, 2.0 * self.at.loss),
                )
            )
        return Path(*map(np.array, zip(*found, strict=True)))

    def fit(self, alpha: float, last: float) -> int:
        """Fit one alpha after another; the number of steps."""
        # The strong rule: derivatives change no faster than the penalty.
        is_inside = self.penalty.find_excess(self.slopes, max(2.0 * alpha - last, 0.0))
        is_nonzero = self.penalty.measure_norms(self.theta).any(axis=0)
        is_inside |= self.penalty.spread(is_nonzero)
        n_iter, accuracy = 0, self.tol * self.size
        while True:
            room = self.max_iter - n_iter
            n_iter += self.minimise(alpha, np.flatnonzero(is_inside), accuracy, room)
            self.slopes = self.columns.find_products(self.at.residuals)
            is_over = self.penalty.find_excess(self.slopes, alpha) & ~is_inside
            if self.loss.is_quadratic:
                self.gap = self._measure_gap(alpha)
            is_rounding = accuracy < LEAST_SWEEP**2 * self.size
            is_near = self.gap <= self.tol * self.size or is_rounding
            self.has_converged = is_near and not is_over.any()
            if self.has_converged or n_iter >= self.max_iter:
                return n_iter
            if not is_over.any():
                accuracy *= NEXT_SWEEP**2
            is_inside |= is_over

    def _measure_gap(self, alpha) -> float:
        """Find the duality gap of least squares."""
        cross = self.at.residuals[:, 0] @ (self.loss.y - self.intercept[0])
        return measure_gap(
            *(self.penalty, alpha, self.theta[0], self.slopes[0]),
            *(2.0 * self.at.loss, float(cross)),
        )

    def minimise(
        self, alpha: float, places: np.ndarray, accuracy: float, max_iter: int
    ) -> int:
        """Minimise by the coefficients of some columns and the intercepts."""
        self.gap = 0.0
        if not len(places) and not self.fit_intercept:
            return 0
        penalty, n_scores = self.penalty.select(places), self.loss.n_scores
        is_wide = n_scores * len(places) > WIDE
        is_wide |= len(places) > max(WIDE_FACTOR * self.columns.shape[0], FEW)
        find_step = self._find_wide_step if is_wide else self._find_step
        is_new, last = is_wide or self.loss.is_quadratic, np.inf
        smallest, fraction = np.inf, 1.0
        if not is_wide and self.known.curvatures is None:
            self.known.compute(places, self.at)
            is_new = True
        elif not is_wide:
            self.known.extend(places)
        for n_iter in range(1, max_iter + 1):
            if n_iter == 1 and self.slopes is not None:
                slope = -self.slopes[:, places]
            else:
                slope = -self.columns.find_products(self.at.residuals, places)
            change, shift = find_step(
                *(alpha, penalty, places, slope, fraction * accuracy)
            )
            moved = self.theta[:, places] + change
            rise = penalty.measure(moved, alpha)
            rise -= penalty.measure(self.theta[:, places], alpha)
            decrease = -float((slope * change).sum()) - rise
            decrease += float(self.at.residuals.sum(axis=0) @ shift)
            length = self._search(alpha, penalty, places, change, shift, decrease)
            self.gap = max(decrease, 0.0)
            is_rounding = decrease < NOISE * self.size and decrease > 0.5 * smallest
            if is_rounding or not decrease > accuracy:
                self.gap = min(self.gap, accuracy)
                return n_iter
            smallest = min(smallest, decrease)
            is_slow = decrease > SLOW * last or length < 1.0
            if is_slow and is_new:
                fraction *= NEXT_SWEEP  # sweeps ended too soon
            if is_slow and not is_new:
                self.known.compute(places, self.at)
                is_new, last = True, np.inf
            elif length == 0.0:
                # Rounding prevents further progress.
                self.gap = min(self.gap, accuracy)
                return n_iter
            else:
                is_new, last = is_wide or self.loss.is_quadratic, decrease
        return max_iter

    def _search(self, alpha, penalty, places, change, shift, decrease) -> float:
        """Shorten a step until the objective decreases; the length taken, or 0."""
        old = self.theta[:, places]
        by_row = self.columns.add_products(places, change) + shift
        before = self.at.loss + penalty.measure(old, alpha)
        length = 1.0
        for _ in range(MAX_HALVINGS):
            found = self.loss.evaluate(self.scores + length * by_row)
            after = found.loss + penalty.measure(old + length * change, alpha)
            limit = before - SUFFICIENT * length * decrease + ROUNDING * abs(before)
            if after <= limit or self.loss.is_quadratic:
                break
            length /= 2.0
        else:
            return 0.0
        self.theta = self.theta.copy()
        self.theta[:, places] = old + length * change
        self.intercept = self.intercept + length * shift
        self.scores += length * by_row
        self.at = found
        return length

    def _find_step(self, alpha, penalty, places, slope, accuracy):
        """Find the step to the minimum of the quadratic model, and of intercepts."""
        hessian, across, totals = self.known.select(places)
        of_intercepts = -self.at.residuals.sum(axis=0)
        slope = slope.ravel()
        if self.fit_intercept:
            # The intercepts are those that are best for the other coefficients.
            inverse = linalg.pinvh(totals)
            fraction = inverse @ across
            hessian = hessian - across.T @ fraction
            slope = slope - fraction.T @ of_intercepts
        theta = self.theta[:, places].ravel()
        if len(theta):
            minimise_quadratic(
                *(penalty.repeat(self.loss.n_scores), alpha, hessian, slope.copy()),
                *(theta, FIRST_SWEEP * np.sqrt(accuracy), self.max_iter),
            )
        change = theta - self.theta[:, places].ravel()
        shift = np.zeros(self.loss.n_scores)
        if self.fit_intercept:
            shift = -inverse @ (of_intercepts + across @ change)
        return change.reshape(len(shift), -1), shift

    def _find_wide_step(self, alpha, penalty, places, slope, accuracy):
        """Find the same step from the columns, class by class.

        Of several classes, a bound of the quadratic model without products of different
        classes: its second derivatives are twice as large.
        """
        columns = self.columns.take(places)
        n_scores = self.loss.n_scores
        factor = 1.0 if n_scores == 1 else 2.0
        of_intercepts = -self.at.residuals.sum(axis=0)
        change, shift = np.zeros_like(slope), np.zeros(n_scores)
        own = (
            pair for pair, (k, other) in enumerate(_list_pairs(n_scores)) if k == other
        )
        for k, pair in enumerate(own):
            weight = factor * self.at.curvatures[pair]
            sums, total = weight @ columns, float(weight.sum())
            means = sums / total if self.fit_intercept else np.zeros(len(places))
            scaled = (columns - means).T * np.sqrt(weight)
            theta = self.theta[k, places].copy()
            minimise_quadratic(
                *(penalty, alpha, np.square(scaled).sum(axis=1)[np.newaxis]),
                *(slope[k] - means * of_intercepts[k], theta),
                *(FIRST_SWEEP * np.sqrt(accuracy), self.max_iter),
                columns=np.ascontiguousarray(scaled),
            )
            change[k] = theta - self.theta[k, places]
            if self.fit_intercept:
                shift[k] = -(of_intercepts[k] + sums @ change[k]) / total
        return change, shift
