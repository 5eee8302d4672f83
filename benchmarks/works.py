"""The workloads: what is fitted, and how many times faster we have to be.

``needed`` gives, for a peer, the ratio (peer's time / ours) that is needed with
one thread and with several; None where no figure is set.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

from benchmarks.same_work import EXACT, Tolerance
from benchmarks.tasks import Task
from benchmarks.work_tables import (
    make_adaboost,
    make_adaboost_mixed,
    make_alpha_choice,
    make_alpha_choice_large,
    make_alpha_choice_numbers,
    make_binary,
    make_c45_missing,
    make_c45_nominal,
    make_c45_numeric,
    make_discriminant,
    make_discriminant_close,
    make_discriminant_dependent,
    make_discriminant_wide,
    make_entropy,
    make_extra_trees,
    make_extra_trees_classes,
    make_forest,
    make_forest_bins,
    make_forest_classes,
    make_forest_numbers,
    make_forest_numbers_all,
    make_forest_small,
    make_gain_ratio,
    make_gradient_boosting,
    make_gradient_boosting_classes,
    make_gradient_boosting_exact,
    make_gradient_boosting_mixed,
    make_id3_nominal,
    make_iris,
    make_low_cardinality,
    make_numbers,
    make_oblique_forest,
    make_oblique_tree,
    make_small,
    make_tall_low_rank,
    make_ten_classes,
    make_unsmoothed,
    make_weighted,
    make_wide,
    make_wide_low_rank,
)


@dataclass(frozen=True)
class Work:
    """A named workload: a task, what to do with it, and the figures needed."""

    name: str
    title: str
    #: scale -> Task
    make_task: Callable[[float], Task]
    #: peer -> ratio needed with (one thread, several threads)
    needed: Mapping[str, tuple[float | None, float | None]] = field(
        default_factory=dict
    )
    #: what is timed or measured: "fit", "predict", "path", "memory", "scaling",
    #: "multiple" (of the time of a plain CART fit), or "footprint" (memory and
    #: size of the pickle over a peer's)
    measure: str = "fit"
    tolerance: Tolerance = field(default_factory=Tolerance)
    #: peer -> its own tolerance
    tolerances: Mapping[str, Tolerance] = field(default_factory=dict)
    #: most that a figure may be (memory: times X; scaling: exponent; multiple)
    limit: float | None = None
    #: peer -> number of rows from which it takes so long that it has to be asked for
    patient_rows: Mapping[str, int] = field(default_factory=dict)
    #: whether only the largest number of threads is of interest
    is_for_threads: bool = False

    def needed_ratio(self, peer, n_threads):
        """Ratio needed against a peer at a number of threads, or None."""
        one, several = self.needed.get(peer, (None, None))
        return one if n_threads == 1 else several

    def find_tolerance(self, peer):
        """How far the trees of a peer, given by name, may differ from ours."""
        return self.tolerances.get(peer, self.tolerance)


#: Two tests make so many branches that their nodes are small.
MANY_WAY_TOLERANCE = Tolerance(top_depth=2)
#: Other folds, other alphas: the trees differ in size, not in what they are worth.
ALPHA_TOLERANCE = Tolerance(leaves=1.0, score=0.005, chance=1.0)
#: Other samples and other columns drawn: the trees are as large, the forests as good.
FOREST_TOLERANCE = Tolerance(leaves=0.05, score=0.005, chance=1.0)
#: Of stumps chosen by the Gini index and by the error, neither is always better.
ADABOOST_TOLERANCE = Tolerance(leaves=0.0, slack=0, score=0.03, chance=1.0)
#: The log loss on rows held out; a small table is learned by heart, in several ways.
BOOSTING_TOLERANCE = Tolerance(leaves=0.0, slack=0, score=0.01, chance=10.0)
#: Equal trees, but for ties and rounding.
EXACT_BOOSTING = Tolerance(leaves=0.0, slack=0, score=1e-3)
#: 256 bins make other leaves.
BINS_TOLERANCE = replace(FOREST_TOLERANCE, leaves=0.15)
FOREST_TOLERANCES = {
    "scikit-learn-intelex": BINS_TOLERANCE,
    # Its trees have some 8 % fewer leaves than ours by entropy, and score the same.
    "ydf-forest": replace(FOREST_TOLERANCE, leaves=0.12),
}
#: C5.0 has rules of its own: it prunes more.
C50_TOLERANCE = {"c5.0": Tolerance(leaves=1.0, score=0.05)}


def _make_forest_work(name, title, make_task, needed, **options):
    """A work of forests; a peer's name -> ratio needed with several threads."""
    options = {
        "tolerance": FOREST_TOLERANCE,
        "tolerances": FOREST_TOLERANCES,
        "is_for_threads": True,
    } | options
    needed = {peer: (None, ratio) for peer, ratio in needed.items()}
    return Work(name, title, make_task, needed, **options)


def _make_boosting_work(name, title, make_task, **options):
    return Work(name, title, make_task, **{"tolerance": BOOSTING_TOLERANCE} | options)


def _against_scikit_learn(one, several):
    return {"scikit-learn": (one, several)}


WORKS = {
    work.name: work
    for work in (
        Work(
            "cart-binary",
            "two classes, 100,000 x 20, fully grown, Gini",
            make_binary,
            {"scikit-learn": (40, 60), "ydf": (10, 15)},
        ),
        Work(
            "cart-entropy",
            "the same by entropy",
            make_entropy,
            _against_scikit_learn(None, 40),
        ),
        Work(
            "cart-regression",
            "regression, 100,000 x 20, fully grown",
            make_numbers,
            _against_scikit_learn(None, 25),
        ),
        Work(
            "cart-ten-classes",
            "ten classes, 100,000 x 20, fully grown, Gini",
            make_ten_classes,
            _against_scikit_learn(None, 25),
        ),
        Work(
            "cart-weighted",
            "two classes with random weights, 100,000 x 20, Gini",
            make_weighted,
            _against_scikit_learn(None, 20),
        ),
        Work(
            "cart-small",
            "two classes, 1,000 x 20: not slower",
            make_small,
            _against_scikit_learn(1, 1),
        ),
        Work(
            "cart-iris",
            "iris, 150 x 4: not slower",
            make_iris,
            _against_scikit_learn(1, 1),
        ),
        Work(
            "cart-wide",
            "two classes, 1,000 x 5,000",
            make_wide,
            _against_scikit_learn(None, 10),
            tolerance=Tolerance(leaves=0.1),
        ),
        Work(
            "cart-low-cardinality",
            "two classes, 100,000 x 20, ten levels a column",
            make_low_cardinality,
            _against_scikit_learn(None, 10),
        ),
        Work(
            "cart-nominal",
            "two classes, 100,000 rows, ten numeric and six nominal columns, entropy",
            make_unsmoothed,
        ),
        Work(
            "cart-predict",
            "predict_proba of one fully grown tree on its 100,000 rows",
            make_binary,
            _against_scikit_learn(2, 2),
            measure="predict",
        ),
        Work(
            "cart-ccp-path",
            "cost-complexity path, 100,000 x 20, growing included",
            make_binary,
            _against_scikit_learn(40, 40),
            measure="path",
        ),
        Work(
            "cart-alpha-choice",
            "alpha chosen by ten folds, two classes, 20,000 x 20",
            make_alpha_choice,
            {"grid-search": (200, 200), "rpart": (5, 5)},
            tolerance=ALPHA_TOLERANCE,
        ),
        Work(
            "cart-alpha-choice-regression",
            "alpha chosen by ten folds, regression with noise, 20,000 x 20",
            make_alpha_choice_numbers,
            tolerance=replace(ALPHA_TOLERANCE, chance=3.0),
        ),
        Work(
            "cart-alpha-choice-large",
            "alpha chosen by ten folds, 100,000 x 20: times one fit without pruning",
            make_alpha_choice_large,
            tolerance=ALPHA_TOLERANCE,
            measure="multiple",
            limit=15.0,
        ),
        Work(
            "cart-scaling",
            "two classes, 10,000 to 1,000,000 rows: exponent of the time",
            make_binary,
            measure="scaling",
            limit=1.25,
        ),
        Work(
            "cart-memory",
            "two classes, 1,000,000 x 20: peak memory of fit over X in float64",
            make_binary,
            measure="memory",
            limit=3.0,
        ),
        Work(
            "c45-numeric",
            "C4.5 with its pruning, two classes, 100,000 x 20",
            make_c45_numeric,
            {"j48": (50, 50), "c5.0": (15, 15)},
            tolerance=EXACT,
            tolerances=C50_TOLERANCE,
        ),
        Work(
            "c45-missing",
            "the same with a tenth of the cells missing",
            make_c45_missing,
            {"j48": (20, 20)},
            tolerance=EXACT,
            tolerances=C50_TOLERANCE,
        ),
        Work(
            "c45-nominal",
            "C4.5, five classes, 100,000 x 30 nominal columns with 2 to 50 levels",
            make_c45_nominal,
            {"j48": (20, 20)},
            tolerance=EXACT,
            tolerances=C50_TOLERANCE,
        ),
        Work(
            "id3-nominal",
            "ID3 on the same nominal table",
            make_id3_nominal,
            {"p-decision-tree": (50, 50), "orange": (50, 50)},
            tolerance=MANY_WAY_TOLERANCE,
        ),
        Work(
            "c45-gain-ratio",
            "many-way trees by gain ratio alone on the same nominal table",
            make_gain_ratio,
            # Equal ratios are many, and of columns with few levels and with many.
            tolerance=replace(MANY_WAY_TOLERANCE, leaves=0.05),
        ),
        _make_forest_work(
            "forest",
            "random forest, 100 trees, two classes, 100,000 x 20, sqrt of columns",
            make_forest,
            {"scikit-learn-forest": 18, "ydf-forest": 10, "scikit-learn-intelex": 2},
        ),
        _make_forest_work(
            "forest-bins",
            "the same with columns in 255 bins",
            make_forest_bins,
            {"scikit-learn-intelex": 2.8},
            tolerance=BINS_TOLERANCE,
        ),
        _make_forest_work(
            "forest-small",
            "the same, exact, on 10,000 x 20",
            make_forest_small,
            {"scikit-learn-forest": 10},
        ),
        _make_forest_work(
            "forest-regression",
            "random forest, 100 regression trees, 100,000 x 20, sqrt of columns",
            make_forest_numbers,
            {"scikit-learn-forest": 12},
        ),
        _make_forest_work(
            "forest-regression-all",
            "the same, all columns in every node",
            make_forest_numbers_all,
            {"scikit-learn-forest": 12},
            patient_rows={"scikit-learn-forest": 20_000, "ranger": 20_000},
        ),
        _make_forest_work(
            "extra-trees",
            "extremely randomised trees, 100, two classes, 100,000 x 20",
            make_extra_trees,
            {"scikit-learn-forest": 4},
        ),
        _make_forest_work(
            "forest-classes",
            "random forest, 100 trees, five classes, 100,000 x 20, exact",
            make_forest_classes,
            {"scikit-learn-forest": None},
        ),
        _make_forest_work(
            "extra-trees-classes",
            "extremely randomised trees, 100, five classes, 100,000 x 20",
            make_extra_trees_classes,
            {"scikit-learn-forest": None},
        ),
        _make_forest_work(
            "forest-predict",
            "predict_proba of the forest of 100 trees on its 100,000 rows",
            make_forest,
            {"scikit-learn-forest": 2.5},
            measure="predict",
        ),
        _make_forest_work(
            "forest-memory",
            "the forest: peak memory of fit, size of the pickle, over scikit-learn's",
            make_forest,
            {"scikit-learn-forest": None},
            measure="footprint",
            limit=1.0,
        ),
        _make_forest_work(
            "oblique-forest",
            "oblique random forest, 100 trees, 100,000 x 20, five directions in a node",
            make_oblique_forest,
            {"ydf-forest": None, "treeple": None},
            tolerance=replace(FOREST_TOLERANCE, leaves=0.15),
            patient_rows={"treeple": 20_000},
        ),
        Work(
            "oblique-tree",
            "oblique tree of discriminants, 100,000 x 20, over one CART fit",
            make_oblique_tree,
            measure="multiple",
        ),
        Work(
            "svd-tall",
            "truncated singular value decomposition, 100,000 x 100, ten components",
            make_tall_low_rank,
            {"scikit-learn-svd": (1, 1)},
        ),
        Work(
            "svd-wide",
            "the same, 1,000 x 5,000",
            make_wide_low_rank,
            {"scikit-learn-svd": (1, 1)},
        ),
        Work(
            "adaboost",
            "AdaBoost, 50 stumps, two classes, 100,000 x 20",
            make_adaboost,
            {"scikit-learn-adaboost": (None, 100)},
            tolerance=ADABOOST_TOLERANCE,
        ),
        Work(
            "adaboost-mixed",
            "the same, ten numeric and six nominal columns, 5 % missing",
            make_adaboost_mixed,
            {"scikit-learn-adaboost": (None, 100)},
            # Their stumps take levels for numbers.
            tolerance=replace(ADABOOST_TOLERANCE, score=0.3, agreement=0.5),
        ),
        _make_boosting_work(
            "gradient-boosting",
            "gradient boosting, 100 rounds, 31 leaves, two classes, 100,000 x 20",
            make_gradient_boosting,
        ),
        _make_boosting_work(
            "gradient-boosting-mixed",
            "the same, ten numeric and six nominal columns, 5 % missing",
            make_gradient_boosting_mixed,
        ),
        _make_boosting_work(
            "gradient-boosting-classes",
            "the same, ten classes, 100,000 x 20",
            make_gradient_boosting_classes,
        ),
        _make_boosting_work(
            "gradient-boosting-exact",
            "gradient boosting of values, 100 rounds, depth 3, 20,000 x 20, exact",
            make_gradient_boosting_exact,
            tolerance=EXACT_BOOSTING,
        ),
        _make_boosting_work(
            "gradient-boosting-predict",
            "predict_proba of gradient boosting on its 100,000 rows",
            make_gradient_boosting,
            measure="predict",
        ),
        Work(
            "discriminant",
            "linear discriminant analysis, three classes, 100,000 x 100",
            make_discriminant,
            {"scikit-learn-discriminant": (5, 5)},
        ),
        Work(
            "discriminant-dependent",
            "the same, a fifth of the columns sums of others",
            make_discriminant_dependent,
            {"scikit-learn-discriminant": (5, 5)},
        ),
        Work(
            "discriminant-close",
            "the same, a tenth of the columns nearly equal to others",
            make_discriminant_close,
            {"scikit-learn-discriminant": (3, 3)},
        ),
        Work(
            "discriminant-wide",
            "linear discriminant analysis, two classes, 1,000 x 5,000",
            make_discriminant_wide,
            {"scikit-learn-discriminant": (5, 5)},
        ),
    )
}
