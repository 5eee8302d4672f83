"""Classes that the columns separate, so that the likelihood has no maximum."""

from __future__ import annotations

import numpy as np
from scipy import sparse
from scipy.optimize import linprog

from sklearn_textbook._contract.blocks import list_blocks
from sklearn_textbook.linear_model.logistic.curvature import factor_curvature
from sklearn_textbook.linear_model.logistic.likelihood import LogisticLikelihood
from sklearn_textbook.linear_model.solve.row_blocks import is_sparse, take_rows

#: Kinds of separation.
NONE, QUASI, COMPLETE = "none", "quasi_complete", "complete"
#: A margin up to this fraction of the largest score counts as zero.
ZERO_MARGIN = 1e-9
#: A margin of the linear programme up to this is zero: ten times its tolerance.
SMALLEST_MARGIN = 1e-6
#: A change of scores above this at the end indicates possible separation.
LARGE_CHANGE = 0.05
#: So does a score above this: the probability of the other classes is negligible.
LARGE_SCORE = 25.0
#: Maximum cells of a linear programme that is solved by default.
CELLS_UNASKED = 200_000
#: A smallest margin above this proves complete separation.
SMALLEST_LEAD = 1e-8
#: Of the last step's margins, those up to this fraction of the largest count as zero.
LAST_STEP_MARGIN = 1e-3


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


def judge_direction(blocks, n_classes, tolerance: float = ZERO_MARGIN) -> str:
    """Return the kind of separation that a direction of the coefficients proves.

    Blocks are pairs of the scores of rows and the numbers of their classes.
    """
    largest, smallest = 0.0, np.inf
    for scores, codes in blocks:
        margins = find_margins(scores, codes, n_classes)
        largest = max(largest, float(np.abs(margins).max()))
        smallest = min(smallest, float(margins.min()))
    if not largest > 0.0:
        return NONE
    if smallest > tolerance * largest:
        return COMPLETE
    return QUASI if smallest >= -tolerance * largest else NONE


def solve_programme(
    X: np.ndarray | sparse.csr_array,
    codes: np.ndarray,
    n_classes: int,
    fit_intercept: bool,
) -> str:
    r"""Find out by a linear programme whether the classes can be separated.

    It looks for directions :math:`\delta_k` in :math:`[-1, 1]` whose margins are all
    at least 0, with the largest sum of margins. The maximum of the likelihood exists if
    and only if that sum is 0.

    References
    ----------
    .. [1] A. Albert, J. A. Anderson (1984), On the existence of maximum likelihood
       estimates in logistic regression models. Biometrika 71.
    .. [2] K. Konis (2007), Linear programming algorithms for detecting separated data
       in binary logistic regression models. DPhil thesis, University of Oxford.
    """
    margins = list_margins(X, codes, n_classes, fit_intercept)
    n_margins, n_parameters = margins.shape
    sums = np.asarray(margins.sum(axis=0)).ravel() / n_margins
    largest = linprog(
        -sums,
        A_ub=-margins,
        b_ub=np.zeros(n_margins),
        bounds=(-1.0, 1.0),
        method="highs",
    )
    if largest.x is None or not (margins @ largest.x).max() > SMALLEST_MARGIN:
        return NONE
    # The same for the smallest margin t, above 0 if all margins can be positive.
    even = linprog(
        np.append(np.zeros(n_parameters), -1.0),
        A_ub=sparse.hstack([-margins, np.ones((n_margins, 1))], format="csr"),
        b_ub=np.zeros(n_margins),
        bounds=(-1.0, 1.0),
        method="highs",
    )
    is_complete = even.x is not None and even.x[-1] > SMALLEST_MARGIN
    return COMPLETE if is_complete else QUASI


def list_margins(X, codes, n_classes, fit_intercept):
    """Write the margins of all rows as a matrix that multiplies directions."""
    X = scale_columns(X, fit_intercept)
    if fit_intercept:
        X = sparse.hstack([np.ones((X.shape[0], 1)), X], format="csr")
    blocks = []
    for code in range(n_classes):
        rows = X[np.flatnonzero(codes == code)]
        for other in range(n_classes):
            if other == code:
                continue
            # The first class has the score 0; the choice changes no margin.
            parts = [sparse.csr_array(rows.shape) for _ in range(n_classes - 1)]
            if code > 0:
                parts[code - 1] = rows
            if other > 0:
                parts[other - 1] = -rows
            blocks.append(sparse.hstack(parts))
    return sparse.csr_array(sparse.vstack(blocks))


def scale_columns(X, is_centred):
    """Divide columns by their root mean square; make a csr_array of them.

    Dense columns are centred first if ``is_centred``.
    """
    if sparse.issparse(X):
        squares = np.asarray(X.multiply(X).mean(axis=0)).ravel()
    else:
        X = X - X.mean(axis=0) if is_centred else X
        squares = (X**2).mean(axis=0)
    units = np.sqrt(squares)
    units[units == 0.0] = 1.0
    return sparse.csr_array(sparse.csr_array(X) @ sparse.diags_array(1.0 / units))


def find_separation(
    likelihood: LogisticLikelihood, theta: np.ndarray, at=None, is_exact: bool = False
) -> str | None:
    """Find out whether the likelihood of a logistic regression has a maximum."""
    n_classes = likelihood.n_classes
    if is_exact:
        return _solve_programme(likelihood)
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
    if _count_cells(likelihood.X) * (n_classes - 1) ** 2 <= CELLS_UNASKED:
        return _solve_programme(likelihood)
    changes = (
        (scores, likelihood.codes[rows])
        for rows, scores in likelihood.read_scores(step)
    )
    return judge_direction(changes, n_classes, LAST_STEP_MARGIN)


def _solve_programme(likelihood):
    """Solve the linear programme of all rows."""
    return solve_programme(
        *(likelihood.X[:], likelihood.codes[:], likelihood.n_classes),
        bool(likelihood.fit_intercept),
    )


def _find_largest_score(likelihood, theta):
    """Largest absolute score of a row."""
    return max(
        float(np.abs(scores).max()) for _, scores in likelihood.read_scores(theta)
    )


def _count_cells(X):
    """Count the numbers of a table; of a sparse one, those that are stored."""
    if not is_sparse(X):
        return X.shape[0] * X.shape[1]
    return sum(take_rows(X, rows).nnz for rows in list_blocks(X.shape[0]))
