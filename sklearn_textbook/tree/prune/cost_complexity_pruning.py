"""Cost-complexity pruning with a validated alpha, 代价复杂度剪枝."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.metrics import get_scorer_names
from sklearn.utils.parallel import Parallel, delayed

from sklearn_textbook._contract.caller import warn_caller
from sklearn_textbook._contract.parameters import (
    check_choice,
    check_random_seed,
    is_checked,
)
from sklearn_textbook._contract.threads import Call
from sklearn_textbook.tree.prune.base import BasePruner
from sklearn_textbook.tree.prune.cost_complexity import compute_weakest_link_sequence
from sklearn_textbook.tree.prune.folds import check_folds, make_folds
from sklearn_textbook.tree.prune.node_losses import choose_loss
from sklearn_textbook.tree.prune.outcome import (
    PruningRecord,
    PruningTable,
    cut_and_report,
)
from sklearn_textbook.tree.prune.rpart_sequence import compute_rpart_sequence
from sklearn_textbook.tree.prune.subtree_scores import score_by_loss, score_by_scorer

if TYPE_CHECKING:
    from sklearn_textbook.tree.grow.grown_tree import GrownTree
    from sklearn_textbook.tree.prune.outcome import PruningOutcome
    from sklearn_textbook.tree.prune.training_data import TrainingData

SEQUENCES = {
    "weakest_link": compute_weakest_link_sequence,
    "rpart": compute_rpart_sequence,
}
# Risks that differ by at most this fraction of the largest one are equal.
_SAME = 1e-12


class CostComplexityPruning(BasePruner):
    r"""Prune to a minimal cost-complexity subtree, 代价复杂度剪枝.

    The subtree :math:`T_\alpha` minimises the risk plus the cost of its leaves,

    .. math:: R(T) + \alpha |T|,

    and the smallest such subtrees for all :math:`\alpha \ge 0` form a nested sequence
    :math:`T_0 \supset T_1 \supset \dots` that ends with the root, with critical values
    :math:`\alpha_1 < \alpha_2 < \dots`. One of them is chosen by K-fold
    cross-validation or on a validation set.

    In cross-validation, a tree is grown from each set of K - 1 folds, and its own
    sequence is scored on the remaining fold. The subtree of :math:`\alpha_k` is optimal
    for all :math:`\alpha` from :math:`\alpha_k` to :math:`\alpha_{k+1}`; its score is
    that of the trees of the folds at the geometric mean :math:`\sqrt{\alpha_k
    \alpha_{k+1}}`.

    Parameters
    ----------
    cv : int, splitter, iterable or None, default=10
        Number of folds (at most one per row), stratified by class or value; a
        scikit-learn splitter; or the folds as (train, test) indices. None: only the
        sequence is computed, and the tree is not pruned. Ignored if ``X_val`` is passed
        to ``fit``.
    rule : {"min", "1se"}, default="min"
        Which subtree is chosen: "min", the one with the minimum risk (the smallest if
        there are ties); "1se", the smallest whose risk is within one standard error of
        the minimum.
    risk : {"impurity", "error"}, default="impurity"
        Risk of a leaf in the sequence: "impurity" is its weight times its impurity by
        the criterion of the tree, as in scikit-learn; "error" is the weight of its
        training errors, as in rpart, or with ``cost_matrix`` their cost.
    sequence : {"weakest_link", "rpart"}, default="weakest_link"
        Whether to compute the exact sequence, or the approximation of rpart.
    scoring : "gini", str, callable or None, default=None
        None: minimise the error rate in classification (with ``cost_matrix`` the mean
        cost), and in regression the squared error (the absolute error if that is the
        ``criterion``). "gini": minimise the
        squared error of the class probabilities, :math:`\sum_k (1[y = k] - p_k)^2`,
        which prefers probabilities that are right to classes that are; for a rare class
        the error rate often prefers a single leaf. Otherwise a scikit-learn scorer to
        be maximised, such as "roc_auc" or "neg_log_loss". A callable receives each
        subtree as a fitted estimator, and the rows as encoded for the tree: a matrix of
        numbers, level codes and NaN.
    random_state : int, RandomState instance or None, default=None
        Seed for the assignment of rows to folds if ``cv`` is an integer. None: always
        the same folds.

    See Also
    --------
    CARTClassifier : ``ccp_alpha`` prunes with a given alpha.
    LossPruning : Prunes with a given alpha, relative to counts of rows.
    sklearn.tree.DecisionTreeClassifier.cost_complexity_pruning_path : Computes
        only the sequence.

    Notes
    -----
    Fitted estimators have an attribute ``pruning_path_``, a table of the subtrees from
    :math:`T_0` to the root with one row for each alpha. Its columns are ``alpha``,
    ``n_leaves``, ``risk`` (on the training rows, per unit of weight) and, if a subtree
    was chosen, ``cv_risk`` and ``cv_risk_std`` (or ``validation_risk`` and
    ``validation_risk_std``) and ``selected``.

    Without a scorer, the risk is the mean loss over all rows, each predicted by the
    tree grown without it, and its standard error is that of the mean of W rows,

    .. math:: \frac{1}{W} \sqrt{\sum w e^2 - \frac{(\sum w e)^2}{W}},

    as in rpart. With a scorer, the risk is minus the mean score of the folds, and
    its standard error is that of the mean of K scores. Sample weights are used in
    growing and in scores; class weights in growing and in the risk, but not in a given
    scorer. A row that is divided among branches because of a missing value counts in
    each leaf with its fraction or, with a scorer, by its predicted class.

    A UserWarning says so if the error rate chooses a single leaf of a classifier
    although another subtree has a smaller Gini risk, by more than its standard error.

    The table is sorted once; folds are weights of its rows (ID3 and C4.5 sort the table
    again for each fold). The rows of each fold are routed once, through its full tree,
    since the losses of all subtrees follow from the losses of the nodes. K-fold
    cross-validation thus takes about as long as growing K trees.

    rpart assigns rows to folds at random, without stratification. Its ``xerror`` and
    ``xstd`` equal ``cv_risk`` and ``cv_risk_std`` divided by the risk of the root for
    the same folds, with ``sequence="rpart"``, ``missing="surrogate"`` and, in
    classification, ``risk="error"``. They differ if a left-out row has a value equal to
    a threshold (rpart sends it to the upper child), a level not seen in a node (rpart
    treats it as missing), or no value that a surrogate can use (rpart sends the row to
    the child with more weight, this package to the child with more rows).

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
        cv: Any = 10,
        rule: str = "min",
        risk: str = "impurity",
        sequence: str = "weakest_link",
        scoring: str | Callable[..., Any] | None = None,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.cv = cv
        self.rule = rule
        self.risk = risk
        self.sequence = sequence
        self.scoring = scoring
        self.random_state = random_state

    def check_parameters(self) -> None:
        """Check the parameters.

        Raises
        ------
        ValueError
            If a parameter is invalid.
        """
        check_choice("rule", self.rule, ("min", "1se"))
        check_choice("risk", self.risk, ("impurity", "error"))
        check_choice("sequence", self.sequence, tuple(SEQUENCES))
        check_random_seed("random_state", self.random_state)
        if not is_checked():
            return
        check_folds(self.cv)
        scoring = self.scoring
        names = ("gini", *get_scorer_names())
        is_name = isinstance(scoring, str) and scoring in names
        if scoring is not None and not is_name and not callable(scoring):
            raise ValueError(
                "The 'scoring' parameter must be None, 'gini', a callable, or one of "
                "sklearn.metrics.get_scorer_names(); got "
                f"{scoring!r} of type {type(scoring).__name__}."
            )

    def prune_grown(
        self, tree: GrownTree, data: TrainingData, n_threads: int = 1
    ) -> PruningOutcome:
        """Compute the sequence and choose a subtree.

        Parameters
        ----------
        tree : GrownTree
            The tree.
        data : TrainingData
            Its training rows, for cross-validation, or validation rows.
        n_threads : int, default=1
            Number of threads, which grow the trees of the folds in parallel.

        Returns
        -------
        PruningOutcome
            The subtree, a report, and the path.

        Raises
        ------
        ValueError
            If there are neither training rows nor validation rows.
        """
        self.check_parameters()
        if self._is("gini") and not tree.is_classifier:
            raise ValueError(
                "The 'scoring' parameter 'gini' is a risk of class probabilities, but "
                "the tree predicts numbers; use None or a scorer of numbers."
            )
        sequence = self._compute_sequence(tree, data)
        alphas, steps = list_subtrees(sequence)
        columns = {
            "alpha": alphas,
            "n_leaves": sequence.n_leaves[steps],
            "risk": sequence.impurities[steps],
        }
        step, alpha = 0, 0.0
        risks = self._score_subtrees(tree, sequence, alphas, steps, data, n_threads)
        if risks is not None:
            (risk, error), *others = risks
            # For a tree that is a single leaf there is nothing to choose.
            chosen = choose_subtree(risk, error, self.rule) if len(steps) > 1 else 0
            if others and 0 < chosen == len(steps) - 1:
                self._warn_of_single_leaf(*others[0], data.costs is not None)
            name = "cv_risk" if data.validation is None else "validation_risk"
            columns |= {name: risk, f"{name}_std": error}
            columns["selected"] = np.arange(len(steps)) == chosen
            step, alpha = steps[chosen], alphas[chosen]
        is_cut = np.zeros(tree.node_count, dtype=bool)
        is_cut[sequence.find_cut(step)] = True
        record = _record_steps(sequence, step, alpha)
        return cut_and_report(tree, is_cut, record, PruningTable(**columns))

    def _compute_sequence(self, tree, data):
        return SEQUENCES[self.sequence](tree, self.risk, data.costs)

    # ------------------------------------------------------------------- scoring
    def _score_subtrees(self, tree, sequence, alphas, steps, data, n_threads):
        """Return pairs of the risk of each subtree and its standard error, or None.

        The first pair decides; a second one is the Gini risk.
        """
        if data.validation is None and self.cv is None:
            return None
        if len(steps) == 1:
            # There may be a single row, or one class only, so that folds are
            # impossible.
            return np.full((1, 2, 1), np.nan)
        if data.validation is not None:
            return self._validate(tree, sequence, steps, data)
        return self._cross_validate(alphas, data, n_threads)

    def _validate(self, tree, sequence, steps, data):
        """Compute the validation risk of each subtree and its standard error."""
        rows = data.validation
        losses = self._list_losses(tree, data)
        if losses:
            made = score_by_loss(tree, sequence, steps, rows, data, losses)
            return summarise_losses([made])
        scores = score_by_scorer(tree, sequence, steps, rows, data, self.scoring)
        return [(-scores, np.zeros(len(scores)))]

    def _is(self, name):
        return isinstance(self.scoring, str) and self.scoring == name

    def _list_losses(self, tree, data):
        """List the losses that are measured; none if a scorer is given."""
        if self._is("gini"):
            return ("gini",)
        if self.scoring is not None:
            return ()
        loss = choose_loss(data.criterion)
        return (loss, "gini") if tree.is_classifier else (loss,)

    def _warn_of_single_leaf(self, risk, error, has_costs):
        """Warn if the Gini risk tells that a single leaf misses something."""
        best = int(np.argmin(risk))
        if not risk[best] + error[best] < risk[-1]:
            return
        remedy = "" if self.rule == "min" else "rule='min' prunes less; "
        warn_caller(
            "The pruned tree is a single leaf, as no subtree "
            f"{'costs less' if has_costs else 'makes fewer errors'}, but there are "
            "subtrees with better class probabilities: their Gini risk on "
            f"rows left out is {risk[best]:.4g}, that of the leaf {risk[-1]:.4g}. "
            f"{remedy}CostComplexityPruning(scoring='gini') or scoring='roc_auc' "
            "chooses by probabilities; class_weight='balanced' gives rare classes more "
            "weight."
        )

    def _cross_validate(self, alphas, data, n_threads):
        """Compute the cross-validated risk of each alpha and its standard error."""
        if data.grow is None:
            raise ValueError(
                "CostComplexityPruning requires the training rows for "
                "cross-validation: give X and y, or give X_val and y_val to choose by "
                "validation rows, or set cv=None."
            )
        folds = make_folds(self.cv, data, self.random_state)
        tested = self._find_midpoints(alphas)
        n_jobs = min(n_threads, len(folds))
        with Call() as call:
            scores = Parallel(n_jobs=n_jobs, prefer="threads")(
                delayed(call.run)(
                    self._score_fold, is_kept, test, tested, data, n_threads // n_jobs
                )
                for is_kept, test in folds
            )
        if self._is("gini") or self.scoring is None:
            return summarise_losses(scores)
        scores = np.array(scores)
        spread = (
            scores.std(axis=0, ddof=1) if len(scores) > 1 else np.zeros(len(tested))
        )
        return [(-scores.mean(axis=0), spread / np.sqrt(len(scores)))]

    def _find_midpoints(self, alphas):
        """Return the geometric means of neighbouring alphas, then a larger one."""
        last = 10.0 * alphas[-1] if self.sequence == "rpart" else np.inf
        return np.append(np.sqrt(alphas[:-1]) * np.sqrt(alphas[1:]), last)

    def _score_fold(self, is_kept, test, alphas, data, n_threads):
        """Grow the tree of a fold and score its subtrees on the rows left out."""
        tree = data.grow(is_kept, n_threads)
        sequence = self._compute_sequence(tree, data)
        reached = np.maximum.accumulate(sequence.ccp_alphas)
        steps = np.searchsorted(reached, alphas, side="right") - 1
        rows = data.rows.take(test)
        try:
            losses = self._list_losses(tree, data)
            if losses:
                return score_by_loss(tree, sequence, steps, rows, data, losses)
            return score_by_scorer(tree, sequence, steps, rows, data, self.scoring)
        except ValueError as error:
            raise ValueError(f"In a fold of the cross-validation: {error}") from error


def list_subtrees(sequence) -> tuple[np.ndarray, np.ndarray]:
    """List the subtrees that are optimal for some alpha, the smallest ones of ties."""
    # Because of rounding, an alpha may be slightly smaller than the one before it.
    alphas = np.maximum(np.maximum.accumulate(sequence.ccp_alphas), 0.0)
    is_last = np.append(alphas[1:] != alphas[:-1], True)
    steps = np.flatnonzero(is_last)
    return alphas[steps], steps


def summarise_losses(folds):
    """Compute the mean loss over the rows of all folds, and its standard error."""
    total = sum(losses for losses, _ in folds)
    weight = sum(weight for _, weight in folds)
    # Divide first, since squares of very small or large weights are out of range.
    spread = np.maximum(total[..., 1] - total[..., 0] * (total[..., 0] / weight), 0.0)
    return list(zip(total[..., 0] / weight, np.sqrt(spread) / weight, strict=True))


def choose_subtree(risk: np.ndarray, error: np.ndarray, rule: str) -> int:
    """Choose a subtree by its risk."""
    if np.isnan(risk).any():
        raise ValueError(
            "The risk or score of a subtree is NaN, so no subtree can be chosen. "
            "Possible reasons are a scorer that needs a class that is missing from a "
            "fold, and values so large that their squares overflow."
        )
    slack = _SAME * np.abs(risk[np.isfinite(risk)]).max(initial=0.0)
    best = np.flatnonzero(risk <= risk.min() + slack)[-1]
    if rule == "min":
        return int(best)
    margin = error[best] if np.isfinite(error[best]) else 0.0
    return int(np.flatnonzero(risk <= risk[best] + margin + slack)[-1])


def _record_steps(sequence, step, alpha):
    """Report the pruned nodes, weakest link first, and the next one in the sequence."""
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
