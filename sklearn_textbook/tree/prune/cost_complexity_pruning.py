"""Cost-complexity pruning whose alpha is chosen, 代价复杂度剪枝."""

from __future__ import annotations

import numpy as np
from sklearn.metrics import get_scorer_names
from sklearn.utils.parallel import Parallel, delayed

from sklearn_textbook._contract.parameters import (
    check_choice,
    check_random_seed,
    is_checked,
)
from sklearn_textbook.tree.prune.base import BasePruner
from sklearn_textbook.tree.prune.cost_complexity import compute_weakest_link_sequence
from sklearn_textbook.tree.prune.folds import check_folds, make_folds
from sklearn_textbook.tree.prune.outcome import (
    PruningRecord,
    PruningTable,
    cut_and_report,
)
from sklearn_textbook.tree.prune.rpart_sequence import compute_rpart_sequence
from sklearn_textbook.tree.prune.subtree_scores import score_by_loss, score_by_scorer

SEQUENCES = {
    "weakest_link": compute_weakest_link_sequence,
    "rpart": compute_rpart_sequence,
}
# Risks that differ by no more than this share of the largest one are equal.
_SAME = 1e-12


class CostComplexityPruning(BasePruner):
    r"""Choose among the minimal cost-complexity subtrees, 代价复杂度剪枝.

    The subtree :math:`T_\alpha` minimises risk plus the price of its leaves,

    .. math:: R(T) + \alpha |T|,

    and the smallest such subtrees for all :math:`\alpha \ge 0` are a nested sequence
    :math:`T_0 \supset T_1 \supset \dots` that ends with the root, for critical values
    :math:`\alpha_1 < \alpha_2 < \dots` One of them is chosen by K-fold
    cross-validation, or by a validation set.

    For cross-validation a tree is grown from each K - 1 folds and its own sequence is
    scored on the fold left out. The subtree of :math:`\alpha_k` stands for all
    :math:`\alpha` from :math:`\alpha_k` to :math:`\alpha_{k+1}` and is judged by the
    trees of the folds at the geometric midpoint :math:`\sqrt{\alpha_k \alpha_{k+1}}`.

    Parameters
    ----------
    cv : int, splitter, iterable or None, default=10
        Number of folds (at most one per row), which have nearly the same classes or
        values each; a splitter of scikit-learn; or the folds as (train, test) indices.
        None: compute the sequence alone and leave the tree as it is. Not used if
        ``fit`` gets ``X_val``.
    rule : {"min", "1se"}, default="min"
        The subtree of the least risk, the smallest of equals; or the smallest whose
        risk is within one standard error of that.
    risk : {"impurity", "error"}, default="impurity"
        Risk of a leaf in the sequence: its weight times the impurity that grew the
        tree, as in scikit-learn, or the weight of its training errors, as in rpart.
    sequence : {"weakest_link", "rpart"}, default="weakest_link"
        The exact sequence, or the approximation that rpart computes.
    scoring : str, callable or None, default=None
        A scorer of scikit-learn, to be as great as possible. None: the share of
        errors for classes, the squared error for values (the absolute one, if that is
        the tree's ``criterion``), to be as small as possible. A callable gets each
        subtree as a fitted estimator, and the rows as a tree reads them: a matrix of
        numbers, level codes and NaN.
    random_state : int, RandomState instance or None, default=None
        Seed by which a number of folds is dealt. None: always the same folds.

    See Also
    --------
    CARTClassifier : ``ccp_alpha`` prunes with a given alpha.
    LossPruning : Alpha is given, and counts rows.
    sklearn.tree.DecisionTreeClassifier.cost_complexity_pruning_path : The sequence;
        to choose from it is left to the user.

    Notes
    -----
    Fitted estimators have ``pruning_path_``, a table of these subtrees, from
    :math:`T_0` to the root, one row for each alpha: ``alpha``, ``n_leaves``, ``risk``
    (of the training rows, per unit of weight) and, where one was chosen, ``cv_risk``
    and ``cv_risk_std`` (or ``validation_risk`` and ``validation_risk_std``) and
    ``selected``.

    Without ``scoring``, the risk is the mean over all rows, each judged by the tree
    that has not seen it, and its standard error is that of a mean of W rows,

    .. math:: \frac{1}{W} \sqrt{\sum w e^2 - \frac{(\sum w e)^2}{W}},

    as in rpart. With ``scoring`` it is minus the mean score of the folds, and the
    standard error is that of a mean of K scores. Sample weights count in growing and
    in scores; class weights in growing and in the risk, not in a given scorer. A row
    whose missing value divides it among branches counts in each leaf by its share, or,
    with ``scoring``, by the class it is predicted.

    The table is sorted once; folds are row weights over it (in ID3 and C4.5 they are
    sorted anew). Each fold's rows are routed once, through its full tree: the losses of
    every node tell those of all subtrees. So K-fold cross-validation takes about as
    long as growing K trees.

    rpart deals its folds at random, without strata; its ``xerror`` and ``xstd`` are
    ``cv_risk`` and ``cv_risk_std`` over the risk of the root, for the same folds, with
    ``sequence="rpart"``, ``missing="surrogate"`` and, for classes, ``risk="error"``.
    They differ where a left-out row has a value equal to a threshold (there it is
    a high one), a level that a node has not seen (there it is missing), or no value
    that a surrogate knows (there the row goes to the heavier child, here to the one
    with more rows).

    References
    ----------
    L. Breiman, J. Friedman, R. Olshen, C. Stone (1984), Classification and Regression
    Trees, chapters 3 and 11. 李航《统计学习方法》, section 5.5.2, algorithm 5.7.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn_textbook.tree import CARTClassifier
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> CARTClassifier().fit(X, y).get_n_leaves()
    22
    >>> pruned = CARTClassifier(pruning="cost_complexity").fit(X, y)
    >>> pruned.get_n_leaves()
    6
    """

    uses_validation = "optional"

    def __init__(
        self,
        cv=10,
        rule="min",
        risk="impurity",
        sequence="weakest_link",
        scoring=None,
        random_state=None,
    ):
        self.cv = cv
        self.rule = rule
        self.risk = risk
        self.sequence = sequence
        self.scoring = scoring
        self.random_state = random_state

    def check_parameters(self):
        """Require parameters that are allowed.

        Raises
        ------
        ValueError
            If one is not; the message says what is allowed.
        """
        check_choice("rule", self.rule, ("min", "1se"))
        check_choice("risk", self.risk, ("impurity", "error"))
        check_choice("sequence", self.sequence, tuple(SEQUENCES))
        check_random_seed("random_state", self.random_state)
        if not is_checked():
            return
        check_folds(self.cv)
        scoring = self.scoring
        is_name = isinstance(scoring, str) and scoring in get_scorer_names()
        if scoring is not None and not is_name and not callable(scoring):
            raise ValueError(
                "The 'scoring' parameter must be None, a callable, or one of "
                "sklearn.metrics.get_scorer_names(); got "
                f"{scoring!r} of type {type(scoring).__name__}."
            )

    def prune_grown(self, tree, data, n_threads=1):
        """Compute the sequence and choose a subtree.

        Parameters
        ----------
        tree : GrownTree
            The tree.
        data : TrainingData
            The rows that grew it, for cross-validation; or validation rows.
        n_threads : int, default=1
            Number of threads; folds are grown side by side.

        Returns
        -------
        PruningOutcome
            The subtree, a report, and the path.

        Raises
        ------
        ValueError
            If there are neither rows to grow folds from nor validation rows.
        """
        self.check_parameters()
        sequence = self._compute_sequence(tree)
        alphas, steps = list_subtrees(sequence)
        columns = {
            "alpha": alphas,
            "n_leaves": sequence.n_leaves[steps],
            "risk": sequence.impurities[steps],
        }
        step, alpha = 0, 0.0
        judged = self._judge(tree, sequence, alphas, steps, data, n_threads)
        if judged is not None:
            risk, error = judged
            # A tree that is one leaf leaves no choice.
            chosen = choose_subtree(risk, error, self.rule) if len(steps) > 1 else 0
            name = "cv_risk" if data.validation is None else "validation_risk"
            columns |= {name: risk, f"{name}_std": error}
            columns["selected"] = np.arange(len(steps)) == chosen
            step, alpha = steps[chosen], alphas[chosen]
        is_cut = np.zeros(tree.node_count, dtype=bool)
        is_cut[sequence.find_cut(step)] = True
        record = _record_steps(sequence, step, alpha)
        return cut_and_report(tree, is_cut, record, PruningTable(**columns))

    def _compute_sequence(self, tree):
        return SEQUENCES[self.sequence](tree, risk=self.risk)

    # ------------------------------------------------------------------- judging
    def _judge(self, tree, sequence, alphas, steps, data, n_threads):
        """Risk and standard error of each subtree; None if none is to be chosen."""
        if data.validation is None and self.cv is None:
            return None
        if len(steps) == 1:
            # It may have a single row, or rows of one class, which make no folds.
            return np.full((2, 1), np.nan)
        if data.validation is not None:
            return self._validate(tree, sequence, steps, data)
        return self._cross_validate(alphas, data, n_threads)

    def _validate(self, tree, sequence, steps, data):
        """Judge the subtrees by validation rows; risk and standard error of each."""
        rows = data.validation
        if self.scoring is None:
            return summarise_losses([score_by_loss(tree, sequence, steps, rows, data)])
        scores = score_by_scorer(tree, sequence, steps, rows, data, self.scoring)
        return -scores, np.zeros(len(scores))

    def _cross_validate(self, alphas, data, n_threads):
        """Judge the values of alpha by folds; risk and standard error of each."""
        if data.grow is None:
            raise ValueError(
                "Cross-validation grows trees from the training rows: give X and y, or "
                "X_val and y_val to choose by these, or set cv=None."
            )
        folds = make_folds(self.cv, data, self.random_state)
        tested = self._find_midpoints(alphas)
        n_jobs = min(n_threads, len(folds))
        judged = Parallel(n_jobs=n_jobs, prefer="threads")(
            delayed(self._judge_fold)(is_kept, test, tested, data, n_threads // n_jobs)
            for is_kept, test in folds
        )
        if self.scoring is None:
            return summarise_losses(judged)
        scores = np.array(judged)
        spread = (
            scores.std(axis=0, ddof=1) if len(scores) > 1 else np.zeros(len(tested))
        )
        return -scores.mean(axis=0), spread / np.sqrt(len(scores))

    def _find_midpoints(self, alphas):
        """Geometric midpoints of neighbouring alphas; for the root, any above."""
        last = 10.0 * alphas[-1] if self.sequence == "rpart" else np.inf
        return np.append(np.sqrt(alphas[:-1]) * np.sqrt(alphas[1:]), last)

    def _judge_fold(self, is_kept, test, alphas, data, n_threads):
        """Grow a tree from some rows and judge its subtrees by others."""
        tree = data.grow(is_kept, n_threads)
        sequence = self._compute_sequence(tree)
        reached = np.maximum.accumulate(sequence.ccp_alphas)
        steps = np.searchsorted(reached, alphas, side="right") - 1
        rows = data.rows.take(test)
        try:
            if self.scoring is None:
                return score_by_loss(tree, sequence, steps, rows, data)
            return score_by_scorer(tree, sequence, steps, rows, data, self.scoring)
        except ValueError as error:
            raise ValueError(f"In a fold of the cross-validation: {error}") from error


def list_subtrees(sequence):
    """List the subtrees that are best for some alpha, the smallest of equals.

    Parameters
    ----------
    sequence : PruningSequence
        The sequence, one step for every node that falls.

    Returns
    -------
    alphas : ndarray of float64, shape (n_subtrees,)
        The smallest alpha for which each is best; 0 first, and ascending. The subtree
        of 0 lacks the branches of the full tree that do not lower its risk.
    steps : ndarray of int64, shape (n_subtrees,)
        The step that makes it.
    """
    # Rounding may let a link be weaker than one before it by a hair.
    alphas = np.maximum(np.maximum.accumulate(sequence.ccp_alphas), 0.0)
    is_last = np.append(alphas[1:] != alphas[:-1], True)
    steps = np.flatnonzero(is_last)
    return alphas[steps], steps


def summarise_losses(judged):
    """Compute the mean loss of all folds' rows, and its standard error.

    Parameters
    ----------
    judged : list of (ndarray of shape (n_subtrees, 2), float)
        Loss and squared loss, added up over the rows of a fold, and their weight.

    Returns
    -------
    risk, error : ndarray of float64, shape (n_subtrees,)
        Per unit of weight.
    """
    total = sum(losses for losses, _ in judged)
    weight = sum(weight for _, weight in judged)
    # Divided first: squares of very small or large weights are out of range.
    spread = np.maximum(total[:, 1] - total[:, 0] * (total[:, 0] / weight), 0.0)
    return total[:, 0] / weight, np.sqrt(spread) / weight


def choose_subtree(risk, error, rule):
    """Choose a subtree.

    Parameters
    ----------
    risk, error : ndarray of float64, shape (n_subtrees,)
        Risk of each subtree and its standard error, from the full tree to the root.
    rule : {"min", "1se"}
        The least risk, or the smallest tree within one standard error of it.

    Returns
    -------
    int
        The chosen one; the smallest tree of equals.

    Raises
    ------
    ValueError
        If a risk is not a number.
    """
    if np.isnan(risk).any():
        raise ValueError(
            "The risk or score of a subtree is NaN, so that none can be chosen. Does "
            "the scorer need a class that a fold lacks, or are values so large that "
            "their squares exceed all numbers?"
        )
    slack = _SAME * np.abs(risk[np.isfinite(risk)]).max(initial=0.0)
    best = np.flatnonzero(risk <= risk.min() + slack)[-1]
    if rule == "min":
        return int(best)
    margin = error[best] if np.isfinite(error[best]) else 0.0
    return int(np.flatnonzero(risk <= risk[best] + margin + slack)[-1])


def _record_steps(sequence, step, alpha):
    """Tell of the nodes that fell, weakest first, and of the next that would."""
    stop = min(step + 2, len(sequence.cut_node))
    made = slice(1, stop)
    n_steps = stop - 1
    return PruningRecord(
        measure="training risk",
        node=sequence.cut_node[made],
        decision=np.where(np.arange(n_steps) < step, "pruned", "kept"),
        before=sequence.impurities[: stop - 1],
        after=sequence.impurities[made],
        extra={"alpha": sequence.ccp_alphas[made]},
    )
