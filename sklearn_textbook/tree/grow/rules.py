"""The rules by which a tree grows."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

UNLIMITED = np.iinfo(np.int64).max // 4
J48_TOLERANCE = 1e-6  # differences of gains, ratios and weights that count as none
J48_RESOLUTION = 1e-5  # neighbouring values that differ by less count as equal


@dataclass(frozen=True)
class GainRules:
    """How ID3 and C4.5 score and choose tests; sizes are sums of weights.

    Parameters
    ----------
    choice : {"gain", "above_average", "plain"}
        The test with the largest gain, with the largest gain ratio of those with at
        least average gain, or with the largest gain ratio.
    min_gain : float, default=0.0
        Minimum gain of a split.
    min_weight_split : float, default=0.0
        Minimum weight of a node that is split.
    min_divided_weight : float, default=0.0
        Minimum weight of a node that is split below a test that divided cases; it
        bounds the splitting of fractional cases.
    min_branch : float, default=0.0
        Minimum weight of the known cases in branches.
    needs_all_branches : bool, default=False
        Whether it applies to all branches with cases, or only to two.
    adapts_minimum : bool, default=False
        Whether numeric tests need a tenth of the weight per class, but not less than
        ``min_branch`` and not more than 25.
    corrects_gain : bool, default=False
        Whether the gain of numeric tests is reduced by log2(candidates) / W.
    keeps_observed : bool, default=False
        Whether thresholds are values of the table instead of midpoints.
    exact : bool, default=True
        Whether gains and values are compared up to rounding only; otherwise with the
        tolerances of J48. Weights are always compared with its tolerance.
    """

    choice: str
    min_gain: float = 0.0
    min_weight_split: float = 0.0
    min_divided_weight: float = 0.0
    min_branch: float = 0.0
    needs_all_branches: bool = False
    adapts_minimum: bool = False
    corrects_gain: bool = False
    keeps_observed: bool = False
    exact: bool = True


@dataclass(frozen=True)
class ObliqueRules:
    """How the oblique tests of a node are found.

    Parameters
    ----------
    direction : {"random", "lda", "ridge", "logistic", "oc1"}
        Where directions come from.
    n_directions : int, default=1
        Number of directions tried in a node.
    max_columns : int, default=None
        Number of columns sampled for a direction that is computed. None: all.
    max_terms : int, default=None
        Maximum number of columns in a test. None: all.
    searches_axis : bool, default=True
        Whether tests of one column are tried, too.
    column_penalty : float, default=0.0
        An oblique test of k columns is chosen if it decreases the impurity more than
        the best test of one column by this fraction of that decrease times k - 1.
    ridge : float, default=0.0
        Ridge penalty of standardized columns.
    lasso : float, default=0.0
        Lasso penalty, as a fraction of the smallest one for which all weights are 0.
    """

    direction: str
    n_directions: int = 1
    max_columns: int | None = None
    max_terms: int | None = None
    searches_axis: bool = True
    column_penalty: float = 0.0
    ridge: float = 0.0
    lasso: float = 0.0


@dataclass(frozen=True)
class GrowthRules:
    """How a tree is grown; the names and meanings are those of CARTClassifier.

    Limits are resolved: row counts as integers, weights as sums of weights. With
    ``top_splits`` above 1, a node is split by one of that many best tests of different
    columns, at random. ``max_leaf_nodes`` ends growth once all splits that best-first
    growth with this limit could make have been made;
    :func:`~sklearn_textbook.tree.prune.keep_best_first` removes the others.
    ``categorical_smoothing`` is "auto", or the rows added to each level; 0: none.
    ``design_effect`` is the variance of a mean of rows times their weight, in units of
    that of a row: 1 for weights that count copies, and about 2 for the counts of
    bootstrap samples. Plans for many trees take it anew for each tree.
    ``class_factors`` are what costs of errors have multiplied the weights of the
    classes by, up to a common factor; as in rpart, surrogates are judged by the weights
    without them.
    """

    criterion: str
    max_depth: int = UNLIMITED
    min_samples_split: int = 2
    min_samples_leaf: int = 1
    min_weight_leaf: float = 0.0
    min_impurity_decrease: float = 0.0
    max_leaf_nodes: int | None = None
    max_features: int | None = None
    random_splitter: bool = False
    shuffles_columns: bool = False
    missing: str = "learned"
    categorical_split: str = "subset"
    categorical_smoothing: str | float = 0.0
    handle_unknown: str = "parent"
    monotonic: tuple | None = None
    class_factors: tuple | None = None
    gain: GainRules | None = None
    top_splits: int = 1
    oblique: ObliqueRules | None = None
    design_effect: float = field(default=1.0, compare=False)
