"""Classes that the columns separate, so that the likelihood has no maximum."""

from __future__ import annotations

import numpy as np
from scipy import sparse
from scipy.optimize import linprog

from sklearn_textbook._contract.blocks import list_blocks
from sklearn_textbook.linear_model.logistic.curvature import factor_curvature
from sklearn_textbook.linear_model.logistic.likelihood import (
    Evaluation,
    LogisticLikelihood,
)
from sklearn_textbook.linear_model.solve.row_blocks import read_rows

#: Kinds of separation, and that the linear programme would be too large.
NONE, QUASI, COMPLETE, UNKNOWN = "none", "quasi_complete", "complete", "unknown"
#: A margin of the linear programme up to this is zero: ten times its tolerance.
SMALLEST_MARGIN = 1e-6
#: A margin below minus this violates a constraint: the tolerance of the programme.
VIOLATION = 1e-7
#: A change of scores above this at the end indicates possible separation.
LARGE_CHANGE = 0.05
#: So does a score above this: the probability of the other classes is negligible.
LARGE_SCORE = 25.0
#: A smallest margin above this proves complete separation.
SMALLEST_LEAD = 1e-8
#: Constraints that are added at a time, and more of them for each coefficient.
N_CONSTRAINTS, N_PER_COEFFICIENT = 200, 5
#: Maximum coefficients of a constraint times constraints of a linear programme that is
#: solved by default.
MOST_UNASKED = 1_000_000


def find_margins(scores: np.ndarray, codes: np.ndarray, n_classes: int) -> np.ndarray:
    """Compute the score of each row's class minus those of the other classes."""
    zeros = np.zeros((len(scores), 1))
    if n_classes == 2:
        scores = np.hstack([zeros, scores])
    elif scores.shape[1] < n_classes:
        scores = np.hstack([scores, zeros])
    rows = np.arange(len(scores))
    margins = scores[rows, codes][:, np.newaxis] - scores
    is_other = np.ones(margins.shape, dtype=bool)
    is_other[rows, codes] = False
    return margins[is_other].reshape(len(scores), n_classes - 1)


class _Margins:
    """Margins of all rows, for directions of the coefficients in units of columns.

    They are numbered row by row, n_classes - 1 for each.
    """

    def __init__(self, likelihood: LogisticLikelihood) -> None:
        self.likelihood = likelihood
        self.n_others = likelihood.n_classes - 1
        self.n_margins = likelihood.n_rows * self.n_others

    def read(self, theta: np.ndarray):
        """Yield the first number of a block of rows, and its margins."""
        likelihood = self.likelihood
        for rows, scores in likelihood.read_scores(theta):
            codes = read_rows(likelihood.codes, rows)
            margins = find_margins(scores, codes, likelihood.n_classes)
            yield rows.start * self.n_others, margins.ravel()

    def find_smallest(self, theta, n_wanted: int, sign: float = 1.0):
        """Find the numbers of the smallest margins, or largest, and the margins."""
        numbers, values = np.empty(0, dtype=np.int64), np.empty(0)
        for start, margins in self.read(theta):
            numbers = np.append(numbers, start + np.arange(len(margins)))
            values = np.append(values, sign * margins)
            if len(values) > n_wanted:
                kept = np.argpartition(values, n_wanted - 1)[:n_wanted]
                numbers, values = numbers[kept], values[kept]
        return numbers, sign * values

    def find_largest(self, theta) -> float:
        """Find the largest margin."""
        return max(float(margins.max()) for _, margins in self.read(theta))

    def write(self, numbers: np.ndarray) -> sparse.csr_array:
        """Write margins as a matrix that multiplies directions."""
        likelihood, parts = self.likelihood, []
        places, others = np.divmod(numbers, self.n_others)
        first = likelihood.fit_intercept
        for rows in list_blocks(likelihood.n_rows):
            here = slice(*np.searchsorted(places, (rows.start, rows.stop)))
            if here.start == here.stop:
                continue
            local = places[here] - rows.start
            X = read_rows(likelihood.X, rows)[local]
            X = X.toarray() if sparse.issparse(X) else X
            columns = np.ones((len(X), likelihood.n_parameters))
            columns[:, first:] = (X - likelihood.centre) / likelihood.units[first:]
            own = read_rows(likelihood.codes, rows)[local]
            other = others[here] + (others[here] >= own)
            part = np.zeros((len(X), *likelihood.shape))
            for codes, sign in ((own, 1.0), (other, -1.0)):
                # With two classes the first has the score 0, with more the last.
                scores = codes - (likelihood.n_classes == 2)
                has_score = (scores >= 0) & (scores < likelihood.n_scores)
                part[has_score, scores[has_score]] += sign * columns[has_score]
            parts.append(sparse.csr_array(part.reshape(len(X), -1)))
        return sparse.csr_array(sparse.vstack(parts))

    def sum_up(self) -> np.ndarray:
        """Sum the margins of all rows, as a vector that multiplies directions."""
        likelihood = self.likelihood
        first = likelihood.fit_intercept
        sums = np.zeros(likelihood.shape)
        for rows in list_blocks(likelihood.n_rows):
            X = read_rows(likelihood.X, rows)
            codes = read_rows(likelihood.codes, rows)
            for score in range(likelihood.n_scores):
                own = codes == score + (likelihood.n_classes == 2)
                times = likelihood.n_classes * own - 1.0
                sums[score, :first] += times.sum()
                sums[score, first:] += X.T @ times - times.sum() * likelihood.centre
        return (sums / likelihood.units).ravel()


def solve_programme(
    likelihood: LogisticLikelihood,
    theta: np.ndarray,
    step: np.ndarray | None = None,
    most_numbers: float = np.inf,
) -> str:
    r"""Find out by linear programmes whether the classes can be separated.

    They look for directions :math:`\delta_k` in :math:`[-1, 1]` whose margins are all
    at least 0, with the largest sum of margins. The maximum of the likelihood exists if
    and only if that sum is 0. A programme has only some of the margins as constraints,
    first the smallest ones of the coefficients ``theta``, which are those of rows that
    are not fitted well, and the largest ones of the last ``step``. Margins that the
    solution violates are added until there are none. If there are no solutions with
    some constraints, there are none with all.

    References
    ----------
    .. [1] A. Albert, J. A. Anderson (1984), On the existence of maximum likelihood
       estimates in logistic regression models. Biometrika 71.
    .. [2] K. Konis (2007), Linear programming algorithms for detecting separated data
       in binary logistic regression models. DPhil thesis, University of Oxford.
    """
    margins = _Margins(likelihood)
    n_new = N_CONSTRAINTS + N_PER_COEFFICIENT * theta.size
    chosen, _ = margins.find_smallest(theta, n_new)
    for sign in () if step is None else (1.0, -1.0):
        chosen = np.append(chosen, margins.find_smallest(step, n_new, sign)[0])
    chosen = np.unique(chosen)
    sums, kind, is_even = margins.sum_up() / margins.n_margins, NONE, False
    while len(chosen) * theta.size <= most_numbers:
        direction, least = _maximise(margins.write(chosen), sums, is_even)
        if direction is None:
            return kind
        direction = direction.reshape(theta.shape) / likelihood.units
        numbers, values = margins.find_smallest(direction, n_new)
        if values.min() > SMALLEST_MARGIN:
            return COMPLETE
        numbers = np.setdiff1d(numbers[values < least - VIOLATION], chosen)
        chosen = np.union1d(chosen, numbers)
        if len(numbers):
            continue
        if is_even or not margins.find_largest(direction) > SMALLEST_MARGIN:
            return kind
        # Can all margins be above 0? The next ones maximise the smallest.
        kind, is_even = QUASI, True
    return kind if is_even else UNKNOWN


def _maximise(margins, sums, is_even):
    """Find a direction whose given margins are at least 0, and the least of them.

    The direction is None if there is none but 0, or if the smallest margin, which is
    maximised if ``is_even``, can only be 0.
    """
    n_margins, n_coefficients = margins.shape
    # Few rows would be lost in the sum of all, and others in that of the given.
    goal, limited = sums + np.asarray(margins.mean(axis=0)).ravel(), -margins
    if is_even:
        goal = np.append(np.zeros(n_coefficients), 1.0)
        limited = sparse.hstack([limited, np.ones((n_margins, 1))], format="csr")
    found = linprog(
        -goal,
        A_ub=limited,
        b_ub=np.zeros(n_margins),
        bounds=(-1.0, 1.0),
        method="highs",
    )
    if found.x is None:
        return None, 0.0
    least = float(found.x[-1]) if is_even else 0.0
    direction = found.x[:n_coefficients]
    size = least if is_even else np.abs(direction).max()
    return (direction if size > SMALLEST_MARGIN else None), least


def find_separation(
    likelihood: LogisticLikelihood,
    theta: np.ndarray,
    at: Evaluation | None = None,
    is_exact: bool = False,
) -> str | None:
    """Find out whether the likelihood of a logistic regression has a maximum."""
    if is_exact:
        return solve_programme(likelihood, theta)
    margin = (at or likelihood.evaluate(theta, 0)).margin
    if margin > SMALLEST_LEAD:
        return COMPLETE
    if at is None:
        return None
    step = -factor_curvature(likelihood, theta, at).find_step(at.gradient)
    is_suspect = (
        _find_largest_score(likelihood, step) > LARGE_CHANGE
        or _find_largest_score(likelihood, theta) > LARGE_SCORE
    )
    if not is_suspect:
        return NONE
    return solve_programme(likelihood, theta, step, MOST_UNASKED)


def _find_largest_score(likelihood, theta):
    """Largest absolute score of a row."""
    return max(
        float(np.abs(scores).max()) for _, scores in likelihood.read_scores(theta)
    )
