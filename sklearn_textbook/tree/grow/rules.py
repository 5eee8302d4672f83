"""The rules by which a tree grows."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

UNLIMITED = np.iinfo(np.int64).max // 4
J48_TOLERANCE = 1e-6  # differences of gains, ratios and weights that count as none
J48_RESOLUTION = 1e-5  # neighbouring values must lie further apart


@dataclass(frozen=True)
class GainRules:
    """How ID3 and C4.5 judge and choose tests; sizes are sums of weights.

    Parameters
    ----------
    choice : {"gain", "above_average", "plain"}
        Largest gain; largest gain ratio of the tests with at least average gain; or
        largest gain ratio.
    min_gain : float, default=0.0
        A node whose best test gains less stays a leaf.
    min_weight_split : float, default=0.0
        Lighter nodes stay leaves.
    min_divided_weight : float, default=0.0
        So do lighter nodes below a test that divided cases: fractions of cases could
        otherwise be split for ever.
    min_branch : float, default=0.0
        Weight of the known cases that branches must have.
    needs_all_branches : bool, default=False
        Whether all branches with cases must have it, or just two.
    adapts_minimum : bool, default=False
        Whether numeric tests ask for a tenth of the weight per class, but not for
        less than ``min_branch`` nor for more than 25.
    corrects_gain : bool, default=False
        Whether numeric tests pay log2(tries) / W for the choice of their threshold.
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
class GrowthRules:
    """How a tree is grown; the names and meanings are those of CARTClassifier.

    Limits are resolved: row counts as integers, the weight as a sum of weights. With
    ``top_splits`` above 1, a node takes one of so many best tests, the best ones of its
    columns, at random. ``max_leaf_nodes`` lets growth end as soon as it has made all
    splits that best-first growth with so many leaves could make;
    :func:`~sklearn_textbook.tree.prune.keep_best_first` takes the others back.
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
    handle_unknown: str = "parent"
    monotonic: tuple | None = None
    gain: GainRules | None = None
    top_splits: int = 1
