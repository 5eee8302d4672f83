"""Combination rules for arrays of predictions of the members."""

from __future__ import annotations

from functools import reduce

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import logsumexp
from sklearn.utils import check_array, check_random_state

from sklearn_textbook._contract.parameters import check_choice

#: Relative difference below which two sums of weights count as equal.
TOLERANCE = 1e-12
VOTE_RULES = ("plurality", "majority", "unanimity")
PROBABILITY_RULES = ("mean", "product", "min", "max", "median")
#: Rules of probabilities in which members can have weights.
WEIGHTED_RULES = ("mean", "product")
TIE_BREAKING = ("first", "random", "confidence")
#: Rows whose largest product is below that are computed from logarithms.
LEAST_PRODUCT = 1e-200
#: Numbers of a member that are combined at a time: they stay in the cache.
BLOCK = 2**14
#: Up to this many members are sorted pair by pair.
FEW_MEMBERS = 12
#: Code of no class.
REJECTED = -1


def check_member_weights(weights, n_members, *, name="weights"):
    """Require one finite weight of at least 0 per member, not all of them 0."""
    if weights is None:
        return np.ones(n_members)
    weights = check_array(weights, ensure_2d=False, dtype=np.float64, input_name=name)
    if weights.shape != (n_members,):
        raise ValueError(
            f"{name} must have shape ({n_members},), one entry per member, got "
            f"{weights.shape}."
        )
    if (weights < 0).any():
        place = int(np.argmax(weights < 0))
        raise ValueError(
            f"{name} must not be negative, got {weights[place]} for member {place}."
        )
    if not weights.any():
        raise ValueError(f"{name} must not be all zero.")
    return weights


def count_votes(
    votes: ArrayLike, n_classes: int | None = None, weights: ArrayLike | None = None
) -> np.ndarray:
    r"""Count the votes for each class, 投票法.

    .. math:: v_j(x) = \sum_{i=1}^{T} w_i \mathbb{I}(h_i(x) = j)

    Parameters
    ----------
    votes : array-like of int, shape (n_samples, n_members)
        The class number that each member predicts, starting from 0.
    n_classes : int, default=None
        Number of classes. None: one more than the largest class number.
    weights : array-like of shape (n_members,), default=None
        Weight of each member's vote. None: 1.

    Returns
    -------
    counts : ndarray of float64, shape (n_samples, n_classes)
        Number of votes, or their weight, for each class.

    Examples
    --------
    >>> from sklearn_textbook.ensemble.combination import count_votes
    >>> count_votes([[0, 1, 1], [2, 1, 0]], weights=[3, 1, 1])
    array([[3., 2., 0.],
           [1., 1., 3.]])
    """
    votes = check_array(votes, dtype=None, input_name="votes")
    if votes.dtype.kind not in "iu" or votes.min() < 0:
        raise ValueError("votes must be class numbers, integers of at least 0.")
    n_samples, n_members = votes.shape
    largest = int(votes.max())
    n_classes = largest + 1 if n_classes is None else n_classes
    if largest >= n_classes:
        raise ValueError(
            f"votes must be below n_classes={n_classes}, got the class number "
            f"{largest}."
        )
    # Class after class in memory, which makes sums and largest counts of rows faster.
    counts = np.zeros(n_classes * n_samples)
    rows = np.arange(n_samples)
    for member, weight in enumerate(check_member_weights(weights, n_members)):
        counts[votes[:, member] * n_samples + rows] += weight
    return counts.reshape(n_classes, n_samples).T


def choose_by_votes(
    counts: ArrayLike,
    rule: str = "plurality",
    *,
    tie_breaking: str = "first",
    confidence: ArrayLike | None = None,
    random_state: int | np.random.RandomState | None = None,
) -> np.ndarray:
    r"""Choose the class of each row by the votes, or reject it.

    Parameters
    ----------
    counts : array-like of shape (n_samples, n_classes)
        Votes for each class, as returned by :func:`count_votes`.
    rule : {"plurality", "majority", "unanimity"}, default="plurality"
        "plurality" (相对多数投票法): the class with the most votes. "majority"
        (绝对多数投票法): the class with more than half of all votes, otherwise none.
        "unanimity" (一致同意): the class with all votes, otherwise none.
    tie_breaking : {"first", "random", "confidence"}, default="first"
        How ties between classes are broken.
    confidence : array-like of shape (n_samples, n_classes), default=None
        Values such as mean probabilities for ``tie_breaking="confidence"``: the class
        with the largest value is chosen; further ties go to the first.
    random_state : int, RandomState instance or None, default=None
        Seed for ``tie_breaking="random"``.

    Returns
    -------
    classes : ndarray of int, shape (n_samples,)
        Class numbers; -1 where the rule chooses none.

    Notes
    -----
    Weka's ``Vote`` breaks ties at random, and a member with several most probable
    classes votes for all of them.

    Reference: 周志华《机器学习》, section 8.4.2, (8.24) to (8.26).

    Examples
    --------
    >>> from sklearn_textbook.ensemble.combination import choose_by_votes
    >>> counts = [[2, 1, 2], [0, 4, 1], [0, 0, 5]]
    >>> choose_by_votes(counts)
    array([0, 1, 2])
    >>> choose_by_votes(counts, "majority")
    array([-1,  1,  2])
    >>> choose_by_votes(counts, "unanimity")
    array([-1, -1,  2])
    """
    check_choice("rule", rule, VOTE_RULES)
    check_choice("tie_breaking", tie_breaking, TIE_BREAKING)
    counts = check_array(counts, dtype=np.float64, input_name="counts")
    total = counts.sum(axis=1)
    margin = TOLERANCE * total
    top = counts.max(axis=1)
    is_top = counts >= (top - margin)[:, np.newaxis]
    choices = is_top.argmax(axis=1)
    if tie_breaking == "confidence":
        if confidence is None:
            raise ValueError('tie_breaking="confidence" requires confidence.')
        confidence = check_array(confidence, dtype=np.float64, input_name="confidence")
        choices = np.where(is_top, confidence, -np.inf).argmax(axis=1)
    elif tie_breaking == "random":
        drawn = check_random_state(random_state).random_sample(counts.shape)
        choices = np.where(is_top, drawn, -1.0).argmax(axis=1)
    if rule == "majority":
        choices[2.0 * top <= total + margin] = REJECTED
    elif rule == "unanimity":
        choices[top < total - margin] = REJECTED
    return choices


def combine_probabilities(
    probabilities: ArrayLike, rule: str = "mean", weights: ArrayLike | None = None
) -> np.ndarray:
    r"""Combine the class probabilities of several members.

    .. math:: p_j(x) \propto \sum_i w_i p_{ij}(x), \quad
        \prod_i p_{ij}(x)^{w_i}, \quad \min_i p_{ij}(x), \quad \max_i p_{ij}(x), \quad
        \operatorname{median}_i p_{ij}(x)

    Parameters
    ----------
    probabilities : array-like of shape (n_members, n_samples, n_classes)
        Probabilities of each member.
    rule : {"mean", "product", "min", "max", "median"}, default="mean"
        The rule. If "product", "min" or "median" gives 0 for every class, as it does if
        members are certain of different classes, the mean is used for the row.
    weights : array-like of shape (n_members,), default=None
        Weights of the members for "mean" and "product". None: 1.

    Returns
    -------
    combined : ndarray of float64, shape (n_samples, n_classes)
        Probabilities; each row sums to 1.

    Notes
    -----
    With weights of 1, the product is that of Kittler, Hatef, Duin and Matas (1998) for
    equal priors and members that err independently. Its weights are not normalised.

    With equal weights, Weka's ``Vote`` gives the same result, except that it predicts
    no class if the product or the minimum is 0 for every class.

    Source: 周志华《机器学习》, section 8.4; Kittler et al., "On combining classifiers",
    IEEE Transactions on Pattern Analysis and Machine Intelligence 20(3), 1998.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_textbook.ensemble.combination import combine_probabilities
    >>> members = [[[0.8, 0.2]], [[0.5, 0.5]], [[0.4, 0.6]]]
    >>> combine_probabilities(members, "max").round(3)
    array([[0.571, 0.429]])
    >>> combine_probabilities(members, "product").round(3)
    array([[0.727, 0.273]])
    """
    check_choice("rule", rule, PROBABILITY_RULES)
    members = _read_members(probabilities)
    if weights is not None and rule not in WEIGHTED_RULES:
        raise ValueError(
            f"weights are allowed only with rule in {WEIGHTED_RULES}, got "
            f"rule={rule!r}."
        )
    weights = check_member_weights(weights, len(members))
    n_rows, n_classes = members[0].shape
    combined = np.empty((n_rows, n_classes))
    step = max(1, BLOCK // n_classes)
    for start in range(0, n_rows, step):
        rows = slice(start, start + step)
        combined[rows] = _combine_rows([one[rows] for one in members], rule, weights)
    return combined


def _read_members(probabilities):
    """Read the probabilities of each member, without copying them into one array."""
    given = list(probabilities) if np.iterable(probabilities) else []
    shapes = {np.shape(one) for one in given}
    if len(shapes) == 1 and len(*shapes) == 2:
        of_all = {"dtype": np.float64, "input_name": "probabilities"}
        given = [check_array(one, **of_all) for one in given]
        if all(one.min() >= 0 for one in given):
            return given
    raise ValueError(
        "probabilities must be non-negative numbers of shape (n_members, n_samples, "
        f"n_classes), got {len(given)} members of shapes {sorted(shapes)}."
    )


def _combine_rows(members, rule, weights):
    """Combine probabilities of some rows; each row of the result sums to 1."""
    if rule == "mean":
        combined = _average(members, weights)
    elif rule == "product":
        combined = _multiply(members, weights)
    elif rule == "median":
        combined = _find_median(members)
    else:
        function = {"min": np.minimum, "max": np.maximum}[rule]
        combined = reduce(function, members[1:], members[0].copy())
    total = _sum_rows(combined)
    is_none = total == 0
    if is_none.any():
        combined[is_none] = _average([one[is_none] for one in members], weights)
        total = _sum_rows(combined)
    combined /= total[:, np.newaxis]
    return combined


def _sum_rows(numbers):
    """Sum each row; sum(axis=1) takes several times as long for few columns."""
    return np.einsum("ij->i", numbers)


def _average(members, weights):
    """Weighted mean."""
    total = np.zeros(members[0].shape)
    for fraction, one in zip(weights / weights.sum(), members, strict=True):
        total += fraction * one
    return total


def _find_median(members):
    """Median; np.median takes several times as long for few members."""
    n_members = len(members)
    if n_members > FEW_MEMBERS:
        ordered = np.moveaxis(np.sort(np.stack(members, axis=2), axis=2), 2, 0)
    else:  # odd-even transposition sort of whole arrays
        ordered = [*np.array(members)]
        spare = np.empty_like(ordered[0])
        for turn in range(n_members):
            for place in range(turn % 2, n_members - 1, 2):
                pair = ordered[place : place + 2]
                ordered[place] = np.minimum(*pair, out=spare)
                ordered[place + 1] = np.maximum(*pair, out=pair[1])
                spare = pair[0]
    return (ordered[(n_members - 1) // 2] + ordered[n_members // 2]) / 2


def _multiply(members, weights):
    """Products of powers, in a scale of its own for each row; 0 where all are 0."""
    product = np.ones(members[0].shape)
    with np.errstate(over="ignore", under="ignore", invalid="ignore"):
        for weight, factors in zip(weights, members, strict=True):
            if weight > 0:
                product *= factors if weight == 1 else factors**weight
        total = _sum_rows(product)
    # Others of the row, or all, may be too small or large for a floating-point number.
    is_extreme = ~((total > LEAST_PRODUCT) & (total < 1 / LEAST_PRODUCT))
    if is_extreme.any():
        rows = np.stack([one[is_extreme] for one in members])
        product[is_extreme] = _multiply_logarithms(rows, weights)
    return product


def _multiply_logarithms(probabilities, weights):
    """Products of powers, scaled so that each row sums to 1; 0 where all are 0."""
    is_used = weights > 0
    with np.errstate(divide="ignore"):
        logarithms = np.log(probabilities[is_used])
    total = np.tensordot(weights[is_used], logarithms, axes=1)
    largest = total.max(axis=1, keepdims=True)
    is_possible = np.isfinite(largest)
    total = np.where(is_possible, total, 0.0)
    scaled = np.exp(total - logsumexp(total, axis=1, keepdims=True))
    return np.where(is_possible, scaled, 0.0)
