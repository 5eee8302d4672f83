"""The one list of estimators under test, with the parameters to test them with.

A new estimator gets an entry in INSTANCES. A check of scikit-learn that cannot hold for
some parameters is declared in EXPECTED_FAILURES with the reason; it then has to fail.
"""

from dataclasses import dataclass

import numpy as np
from sklearn.covariance import OAS
from sklearn.linear_model import LinearRegression as StockLinearRegression
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from sklearn_textbook.decomposition import PCA, TruncatedSVD
from sklearn_textbook.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn_textbook.ensemble import (
    AdaBoostClassifier,
    AveragingRegressor,
    BaggingClassifier,
    BaggingRegressor,
    BayesianModelAveragingClassifier,
    BayesianModelAveragingRegressor,
    BoostingTreeRegressor,
    ExtraTreesClassifier,
    ExtraTreesRegressor,
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    MultiResponseLinearRegression,
    NegativeCorrelationRegressor,
    ObliqueRandomForestClassifier,
    ObliqueRandomForestRegressor,
    OutputCodeClassifier,
    OutputFlippingClassifier,
    OutputSmearingClassifier,
    RandomForestClassifier,
    RandomForestRegressor,
    RandomSubspaceClassifier,
    RandomSubspaceRegressor,
    StackingClassifier,
    StackingRegressor,
    VotingClassifier,
)
from sklearn_textbook.linear_model import (
    ElasticNet,
    ElasticNetClassifier,
    GeneralizedLinearRegressor,
    LinearRegression,
    MaxEntClassifier,
    OrdinalRegression,
)
from sklearn_textbook.linear_model import (
    LogisticRegression as TextbookLogisticRegression,
)
from sklearn_textbook.tree import (
    C45Classifier,
    C45RulesClassifier,
    CARTClassifier,
    CARTRegressor,
    CostComplexityPruning,
    ErrorBasedPruning,
    ID3Classifier,
    LossPruning,
    ObliqueTreeClassifier,
    ObliqueTreeRegressor,
    OptimalTreeClassifier,
    OptimalTreeRegressor,
    PrePruning,
    ReducedErrorPruning,
)
from sklearn_textbook.tree.prune import resolve_pruner

# A few steps are near enough to the maximum.
FAST_LOGISTIC = LogisticRegression(solver="newton-cholesky", max_iter=4)
#: Members of an ensemble whose other parameters are the defaults: more would only take
#: longer.
FEW = 5


#: Labels in scikit-learn's checks, each with the place of its features.
PLACES = {0: 0, 1: 1, 2: 2, -1: 0, "one": 0, "two": 1, "three": 2, "a": 0, "b": 1}


@dataclass(frozen=True)
class ColumnAtPlace:
    """A feature of maximum entropy: a column or 1, for the classes of one place."""

    column: int | None
    place: int

    def __call__(self, x, y):
        value = 1.0 if self.column is None else float(x[self.column])
        return value * (PLACES.get(y) == self.place)


@dataclass(frozen=True)
class PowersAtPlace:
    """Features of all rows: a constant, columns and powers, at the place of y."""

    power: int

    def __call__(self, X, y):
        X = X.astype(float)
        block = np.hstack((np.ones((len(X), 1)), X, X**self.power))
        place = PLACES.get(y, 3)
        return np.hstack([block if place == i else 0 * block for i in range(3)])


#: Members of ensembles that take any.
CLASS_MEMBERS = [
    ("c45", C45Classifier()),
    ("cart", CARTClassifier(max_depth=3)),
]
VALUE_MEMBERS = [
    ("tree", CARTRegressor(max_depth=3)),
    ("line", LinearRegression(alpha=0.1)),
]

INSTANCES = {
    "AdaBoostClassifier": [
        AdaBoostClassifier(),
        AdaBoostClassifier(
            sampling="resample", learning_rate=0.5, missing="error", random_state=0
        ),
        AdaBoostClassifier(missing="surrogate", n_estimators=FEW),
        AdaBoostClassifier(
            C45Classifier(pruning=None, collapse=False, mdl_correction=False),
            n_estimators=FEW,
            store_weights=True,
        ),
        AdaBoostClassifier(ID3Classifier(), n_estimators=3, sampling="resample"),
        AdaBoostClassifier(CARTClassifier(max_depth=2), n_estimators=FEW, n_jobs=2),
        AdaBoostClassifier(DecisionTreeClassifier(max_depth=2), n_estimators=FEW),
        AdaBoostClassifier(FAST_LOGISTIC, n_estimators=3),
        AdaBoostClassifier(
            KNeighborsClassifier(), n_estimators=3, sampling="resample", random_state=0
        ),
    ],
    "AveragingRegressor": [
        AveragingRegressor(VALUE_MEMBERS),
        AveragingRegressor(VALUE_MEMBERS, weights="optimal", cv=3),
        AveragingRegressor(VALUE_MEMBERS, weights="non_negative", cv=3),
        AveragingRegressor(
            [
                ("line", StockLinearRegression()),
                ("tree", DecisionTreeRegressor(random_state=0)),
            ],
            weights=[2, 1],
        ),
    ],
    "BaggingClassifier": [
        BaggingClassifier(n_estimators=FEW),
        BaggingClassifier(C45Classifier(), FEW, voting="hard", random_state=0),
        BaggingClassifier(ID3Classifier(), 3, bootstrap_features=True),
        BaggingClassifier(CARTClassifier(pruning="out_of_bag"), 3, max_features=0.7),
        BaggingClassifier(FAST_LOGISTIC, 3, random_state=0),
        BaggingClassifier(KNeighborsClassifier(), 3, n_jobs=1, random_state=0),
        BaggingClassifier(SVC(), 3, random_state=0),
        BaggingClassifier(
            make_pipeline(StandardScaler(), GaussianNB()), 3, random_state=0
        ),
    ],
    "BaggingRegressor": [
        BaggingRegressor(n_estimators=FEW),
        BaggingRegressor(CARTRegressor(max_depth=3), 5, max_features=0.7),
        BaggingRegressor(
            KNeighborsRegressor(), 3, bootstrap_features=True, random_state=0
        ),
        BaggingRegressor(
            make_pipeline(StandardScaler(), StockLinearRegression()), 3, random_state=0
        ),
    ],
    "BayesianModelAveragingClassifier": [
        BayesianModelAveragingClassifier(),
        BayesianModelAveragingClassifier(max_subset_size=2, occam_window=2.0),
        BayesianModelAveragingClassifier(CLASS_MEMBERS, cv=2, floor=0.01),
        BayesianModelAveragingClassifier(CLASS_MEMBERS, weighting="bic", prior=[1, 2]),
        BayesianModelAveragingClassifier(
            [("c45", C45Classifier()), ("line", FAST_LOGISTIC)],
            weighting="pseudo_bma_plus",
            cv=2,
            random_state=0,
        ),
    ],
    "BayesianModelAveragingRegressor": [
        BayesianModelAveragingRegressor(),
        BayesianModelAveragingRegressor(max_subset_size=2, occam_window=np.inf),
        BayesianModelAveragingRegressor(VALUE_MEMBERS, cv=2),
        BayesianModelAveragingRegressor(VALUE_MEMBERS, weighting="bic"),
        BayesianModelAveragingRegressor(
            [("a", LinearRegression(alpha=1.0)), ("b", LinearRegression(alpha=1.1))],
            weighting="pseudo_bma_plus",
            cv=3,
            random_state=0,
        ),
    ],
    "BoostingTreeRegressor": [
        BoostingTreeRegressor(n_estimators=20),
        BoostingTreeRegressor(n_estimators=FEW, learning_rate=0.5, max_depth=3),
        BoostingTreeRegressor(n_estimators=FEW, max_depth=None, max_leaf_nodes=4),
    ],
    "C45Classifier": [
        C45Classifier(),
        C45Classifier(pruning=None, laplace=True, missing="error"),
        C45Classifier(gain_ratio_rule="plain", mdl_correction=False, collapse=False),
        C45Classifier(categorical_split="one_vs_rest", min_samples_leaf=1),
        C45Classifier(categorical_split="subset", threshold="midpoint", max_depth=4),
        C45Classifier(pruning=ErrorBasedPruning(0.1, subtree_raising=False)),
        C45Classifier(max_features="sqrt", random_state=0, handle_unknown="fractional"),
        C45Classifier(pruning=CostComplexityPruning(cv=3)),
        C45Classifier(pruning="reduced_error"),
    ],
    "C45RulesClassifier": [
        C45RulesClassifier(),
        C45RulesClassifier(confidence=0.1, significance=0.05, n_jobs=1),
        C45RulesClassifier(categorical_split="one_vs_rest", min_samples_leaf=1),
        C45RulesClassifier(gain_ratio_rule="plain", max_depth=3, class_weight=None),
    ],
    "CARTClassifier": [
        CARTClassifier(),
        CARTClassifier(
            criterion="entropy", missing="branch", handle_unknown="fractional"
        ),
        CARTClassifier(criterion="error", missing="error"),
        CARTClassifier(criterion="log_loss", missing="surrogate"),
        CARTClassifier(categorical_split="one_vs_rest", max_leaf_nodes=5),
        CARTClassifier(categorical_split="multiway", handle_unknown="error"),
        CARTClassifier(max_features="sqrt", random_state=0, min_samples_leaf=2),
        CARTClassifier(splitter="random", random_state=0),
        CARTClassifier(ccp_alpha=0.01, tie_breaking="random", random_state=0),
        CARTClassifier(max_depth=3, min_impurity_decrease=0.01, n_jobs=1),
        CARTClassifier(pruning="cost_complexity"),
        CARTClassifier(pruning=CostComplexityPruning(cv=3, risk="error")),
        CARTClassifier(pruning=ReducedErrorPruning(0.4, random_state=0)),
        CARTClassifier(pruning=LossPruning(2.0, "entropy")),
        CARTClassifier(pruning="error_based", missing="branch"),
    ],
    "CARTRegressor": [
        CARTRegressor(),
        CARTRegressor(criterion="absolute_error", missing="branch"),
        CARTRegressor(missing="surrogate", handle_unknown="fractional"),
        CARTRegressor(missing="error", categorical_split="one_vs_rest"),
        CARTRegressor(categorical_split="multiway", max_leaf_nodes=5),
        CARTRegressor(max_features=0.5, random_state=0, min_samples_leaf=2),
        CARTRegressor(splitter="random", top_splits=2, random_state=0),
        CARTRegressor(leaf_model="linear"),
        CARTRegressor(ccp_alpha=0.01, tie_breaking="random", random_state=0),
        CARTRegressor(max_depth=3, min_weight_fraction_leaf=0.05, n_jobs=1),
        CARTRegressor(pruning=CostComplexityPruning(4, "1se", sequence="rpart")),
        CARTRegressor(pruning="loss"),
    ],
    "ExtraTreesClassifier": [
        ExtraTreesClassifier(FEW),
        ExtraTreesClassifier(2, class_weight="balanced", missing="branch", n_jobs=2),
        ExtraTreesClassifier(2, criterion="entropy", pruning="error_based"),
        ExtraTreesClassifier(FEW, max_bins=8, missing="error"),
    ],
    "ExtraTreesRegressor": [
        ExtraTreesRegressor(FEW),
        ExtraTreesRegressor(2, bootstrap=True, missing="surrogate", n_jobs=2),
        ExtraTreesRegressor(2, criterion="absolute_error", tie_breaking="random"),
    ],
    "GeneralizedLinearRegressor": [
        GeneralizedLinearRegressor(),
        GeneralizedLinearRegressor("poisson", alpha=0.1),
        GeneralizedLinearRegressor("gamma", "log", weight_type="variance"),
        GeneralizedLinearRegressor("tweedie", "log", dispersion="deviance"),
        GeneralizedLinearRegressor("inverse_gaussian", "log", n_jobs=1),
        GeneralizedLinearRegressor("negative_binomial", theta=1.5),
        GeneralizedLinearRegressor(transform_y="log", retransform="smearing"),
        GeneralizedLinearRegressor(fit_intercept=False, dependent_columns="drop"),
    ],
    "ElasticNet": [
        ElasticNet(),
        ElasticNet(0.01),
        ElasticNet("1se", l1_ratio=1.0, cv=3, standardize=True, alphas=20),
        ElasticNet(0.1, family="poisson", alphas=10, grouped_levels=True),
        ElasticNet(0.01, family="gamma", tol=1e-16, n_jobs=1),
        ElasticNet(0.1, l1_ratio=0.0, positive=True, reference_level=None),
        ElasticNet(0.01, fit_intercept=False, standardize=True),
    ],
    "ElasticNetClassifier": [
        ElasticNetClassifier(),
        ElasticNetClassifier("min", cv=2, alphas=8, eps=0.01, tol=1e-16),
        ElasticNetClassifier(0.01, l1_ratio=1.0, standardize=True, tol=1e-16, n_jobs=1),
        ElasticNetClassifier(0.01, grouped_levels=True, class_weight="balanced"),
    ],
    "GradientBoostingClassifier": [
        GradientBoostingClassifier(n_estimators=20),
        GradientBoostingClassifier(n_estimators=10, min_samples_leaf=1, max_bins=None),
        GradientBoostingClassifier(
            n_estimators=10,
            min_samples_leaf=1,
            subsample=0.7,
            max_features=0.5,
            learning_rate=0.5,
            random_state=0,
        ),
        GradientBoostingClassifier(
            n_estimators=10,
            min_samples_leaf=1,
            max_depth=2,
            max_leaf_nodes=None,
            l2_regularization=0.1,
            interaction_cst="no_interactions",
            init="zero",
        ),
        GradientBoostingClassifier(
            n_estimators=20, min_samples_leaf=1, n_iter_no_change=3, random_state=0
        ),
    ],
    "GradientBoostingRegressor": [
        GradientBoostingRegressor(n_estimators=20),
        GradientBoostingRegressor(n_estimators=10, leaf_model="linear"),
        GradientBoostingRegressor(
            n_estimators=10, min_samples_leaf=1, max_bins=None, loss="absolute_error"
        ),
        GradientBoostingRegressor(
            n_estimators=10, min_samples_leaf=1, loss="huber", subsample=0.7
        ),
        GradientBoostingRegressor(
            n_estimators=10, min_samples_leaf=1, init=StockLinearRegression()
        ),
        GradientBoostingRegressor(
            n_estimators=20, min_samples_leaf=1, n_iter_no_change=2, random_state=0
        ),
    ],
    "ID3Classifier": [
        ID3Classifier(),
        ID3Classifier(min_gain=0.05, missing="error", handle_unknown="error"),
        ID3Classifier(categorical_split="one_vs_rest", min_samples_leaf=3),
        ID3Classifier(min_samples_split=5, max_depth=4, handle_unknown="fractional"),
        ID3Classifier(max_leaf_nodes=6, min_impurity_decrease=0.01),
        ID3Classifier(max_features=0.5, random_state=0, tie_breaking="random"),
        ID3Classifier(top_splits=3, random_state=0),
        ID3Classifier(pruning=PrePruning(tie="keep")),
        ID3Classifier(pruning="loss"),
    ],
    "LinearDiscriminantAnalysis": [
        LinearDiscriminantAnalysis(),
        LinearDiscriminantAnalysis(store_covariance=True, n_components=1, tol=1e-6),
        LinearDiscriminantAnalysis("lsqr", shrinkage="auto"),
        LinearDiscriminantAnalysis("lsqr", covariance_estimator=OAS()),
        LinearDiscriminantAnalysis("eigen"),
        LinearDiscriminantAnalysis("eigen", shrinkage=0.3),
    ],
    "LinearRegression": [
        LinearRegression(),
        LinearRegression(fit_intercept=False, n_jobs=1),
        LinearRegression(alpha=2.0, weight_type="variance"),
        LinearRegression(positive=True, reference_level=None, handle_unknown="error"),
        LinearRegression(alpha=0.5, fit_intercept=False, categorical_features=None),
    ],
    # Strong penalties where a solver has to come as near as some checks look.
    "LogisticRegression": [
        TextbookLogisticRegression(),
        TextbookLogisticRegression(C=1e-3, solver="lbfgs", tol=1e-11),
        TextbookLogisticRegression(C=1.0, solver="newton-cg", n_jobs=1),
        TextbookLogisticRegression(
            C=1.0, solver="bfgs", class_weight="balanced", tol=1e-10
        ),
        TextbookLogisticRegression(C=0.1, solver="gradient", max_iter=300, tol=1e-4),
        TextbookLogisticRegression(C=0.1, l1_ratio=0.5),
        TextbookLogisticRegression(separation="ignore", warm_start=True),
    ],
    "MaxEntClassifier": [
        MaxEntClassifier(),
        MaxEntClassifier(solver="iis", alpha=1.0, tol=1e-2, n_jobs=1),
        MaxEntClassifier(solver="gis", tol=1e-2, reference_level="first"),
        MaxEntClassifier(
            [ColumnAtPlace(i, j) for i in (0, -1, None) for j in range(2)],
            solver="iis",
            max_iter=50,
        ),
        MaxEntClassifier(PowersAtPlace(3), solver="bfgs", handle_unknown="error"),
    ],
    "MultiResponseLinearRegression": [
        MultiResponseLinearRegression(),
        MultiResponseLinearRegression(alpha=0.1),
        MultiResponseLinearRegression(fit_intercept=False),
    ],
    "NegativeCorrelationRegressor": [
        NegativeCorrelationRegressor(),
        NegativeCorrelationRegressor(
            3, member="linear", correlation_penalty=1, tol=1e-9, random_state=0
        ),
        NegativeCorrelationRegressor(
            3, correlation_penalty=0, hidden_units=3, max_features=0.7, alpha=0.1
        ),
        NegativeCorrelationRegressor(3, hidden_units=3, early_stopping=True),
    ],
    "ObliqueRandomForestClassifier": [
        ObliqueRandomForestClassifier(FEW),
        ObliqueRandomForestClassifier(
            2, direction="lda", max_features="sqrt", oob_score=False, n_jobs=2
        ),
        ObliqueRandomForestClassifier(7, direction="logistic", voting="hard"),
        ObliqueRandomForestClassifier(
            2,
            n_directions=3,
            prefer_axis=0.0,
            bootstrap=False,
            class_weight="balanced",
            missing="error",
        ),
    ],
    "ObliqueRandomForestRegressor": [
        ObliqueRandomForestRegressor(FEW),
        ObliqueRandomForestRegressor(
            2, direction="ridge", max_features=0.5, prefer_axis=0.1, n_jobs=2
        ),
        ObliqueRandomForestRegressor(
            2, bootstrap=False, max_features_per_split=2, pruning="loss"
        ),
    ],
    "ObliqueTreeClassifier": [
        ObliqueTreeClassifier(),
        ObliqueTreeClassifier(
            direction="logistic", criterion="entropy", handle_unknown="fractional"
        ),
        ObliqueTreeClassifier(
            direction="ridge", ridge=1.0, prefer_axis=0.1, min_samples_leaf=2
        ),
        ObliqueTreeClassifier(direction="ols", lasso=0.1, missing="error", max_depth=3),
        ObliqueTreeClassifier(direction="oc1", n_directions=3, random_state=0),
        ObliqueTreeClassifier(
            direction="random", max_features_per_split=2, random_state=0
        ),
        ObliqueTreeClassifier(max_features=0.7, random_state=0),
        ObliqueTreeClassifier(pruning="cost_complexity", max_features_per_split=2),
        ObliqueTreeClassifier(max_leaf_nodes=5, ccp_alpha=0.01, n_jobs=1),
    ],
    "ObliqueTreeRegressor": [
        ObliqueTreeRegressor(),
        ObliqueTreeRegressor(direction="ols", lasso=0.1, missing="error", max_depth=3),
        ObliqueTreeRegressor(direction="oc1", n_directions=3, random_state=0),
        ObliqueTreeRegressor(
            direction="random", max_features_per_split=2, random_state=0
        ),
        ObliqueTreeRegressor(
            prefer_axis=None, max_features=0.7, min_samples_leaf=2, random_state=0
        ),
        ObliqueTreeRegressor(pruning="loss", handle_unknown="fractional"),
        ObliqueTreeRegressor(max_leaf_nodes=5, ridge=1.0, prefer_axis=0.1, n_jobs=1),
    ],
    "OptimalTreeClassifier": [
        OptimalTreeClassifier(),
        OptimalTreeClassifier(
            max_depth=2, criterion="gini", complexity=0.01, missing="error", n_jobs=1
        ),
        OptimalTreeClassifier(
            max_depth=2,
            complexity=0.005,
            handle_unknown="fractional",
        ),
    ],
    "OptimalTreeRegressor": [
        OptimalTreeRegressor(),
        OptimalTreeRegressor(max_depth=2, complexity=0.01, missing="error", n_jobs=1),
    ],
    "OrdinalRegression": [
        OrdinalRegression(),
        OrdinalRegression("probit", reference_level="last", n_jobs=1),
        # With "cloglog", a check has logarithms of probabilities that are 0 as floats.
        OrdinalRegression(handle_unknown="error", tol=1e-6),
    ],
    "OutputCodeClassifier": [
        OutputCodeClassifier(),
        OutputCodeClassifier(
            CARTClassifier(max_features="sqrt"),
            code="exhaustive",
            decoding="hamming",
            random_state=0,
        ),
        OutputCodeClassifier(
            C45Classifier(), code="one_vs_one", decoding="probability", n_jobs=2
        ),
        OutputCodeClassifier(FAST_LOGISTIC, code="one_vs_rest", loss="logistic"),
    ],
    "OutputFlippingClassifier": [
        OutputFlippingClassifier(n_estimators=25),
        OutputFlippingClassifier(
            C45Classifier(), FEW, voting="hard", bootstrap=True, random_state=0
        ),
        OutputFlippingClassifier(
            DecisionTreeClassifier(max_depth=4), 5, flip_rate=0.05, n_jobs=1
        ),
    ],
    "OutputSmearingClassifier": [
        OutputSmearingClassifier(n_estimators=FEW),
        OutputSmearingClassifier(
            CARTRegressor(min_samples_leaf=3), FEW, noise=0.5, bootstrap=True
        ),
        OutputSmearingClassifier(DecisionTreeRegressor(), 5, n_jobs=1),
    ],
    "PCA": [
        PCA(),
        PCA(n_components=2, standardize=True),
        PCA(n_components=0.8, svd_solver="full", whiten=True),
        PCA(n_components=1, svd_solver="covariance_eigh", whiten=True),
        PCA(svd_solver="covariance_eigh", standardize=True, copy=False),
        PCA(svd_solver="full", standardize=True),
        PCA(n_components=1, svd_solver="arpack", random_state=0),
        PCA(svd_solver="arpack", standardize=True, random_state=0),
        PCA(svd_solver="randomized", random_state=0),
        PCA(n_components=1, svd_solver="randomized", whiten=True, random_state=0),
    ],
    "RandomSubspaceClassifier": [
        RandomSubspaceClassifier(n_estimators=FEW),
        RandomSubspaceClassifier(C45Classifier(), 3, max_features=1.0, voting="hard"),
        RandomSubspaceClassifier(ID3Classifier(), 3, max_features=1),
        RandomSubspaceClassifier(DecisionTreeClassifier(), 3, max_features=1.0),
    ],
    "RandomSubspaceRegressor": [
        RandomSubspaceRegressor(n_estimators=FEW),
        RandomSubspaceRegressor(CARTRegressor(pruning="loss"), 3, random_state=0),
        RandomSubspaceRegressor(LinearRegression(), 3, max_features=1.0),
    ],
    "RandomForestClassifier": [
        RandomForestClassifier(FEW),
        RandomForestClassifier(3, criterion="gain_ratio", max_samples=40),
        RandomForestClassifier(2, criterion="gain_ratio", pruning="out_of_bag"),
        RandomForestClassifier(3, voting="hard", oob_score=True, n_jobs=2),
        RandomForestClassifier(2, class_weight="balanced_subsample", max_bins=4),
        RandomForestClassifier(2, class_weight="balanced", top_splits=2),
        RandomForestClassifier(2, pruning="out_of_bag", missing="surrogate"),
        RandomForestClassifier(2, bootstrap=False, criterion="log_loss"),
        RandomForestClassifier(9, max_samples=60, tie_breaking="random"),
    ],
    "RandomForestRegressor": [
        RandomForestRegressor(FEW),
        RandomForestRegressor(2, leaf_model="linear", leaf_shrinkage=2.0),
        RandomForestRegressor(2, criterion="absolute_error", max_features=0.5),
        RandomForestRegressor(2, pruning="out_of_bag", missing="branch", n_jobs=2),
        RandomForestRegressor(2, oob_score=True, max_bins=4, missing="error"),
        RandomForestRegressor(2, bootstrap=False, pruning="cost_complexity"),
    ],
    "TruncatedSVD": [
        TruncatedSVD(),
        TruncatedSVD(1, algorithm="arpack"),
        TruncatedSVD(2, algorithm="propack", random_state=0),
        TruncatedSVD(algorithm="lapack"),
        TruncatedSVD(algorithm="gram"),
        TruncatedSVD(1, algorithm="jacobi"),
        TruncatedSVD(1, n_iter=0, n_oversamples=1, random_state=0),
    ],
    "StackingClassifier": [
        StackingClassifier(CLASS_MEMBERS, cv=2),
        StackingClassifier(CLASS_MEMBERS, C45Classifier(), cv=2, passthrough=True),
        StackingClassifier(
            [("line", FAST_LOGISTIC), ("c45", C45Classifier())],
            MultiResponseLinearRegression(inputs="class", positive=True),
            cv=2,
        ),
    ],
    "StackingRegressor": [
        StackingRegressor(VALUE_MEMBERS, cv=2),
        StackingRegressor(VALUE_MEMBERS, LinearRegression(), cv=2, passthrough=True),
    ],
    "VotingClassifier": [
        VotingClassifier(CLASS_MEMBERS),
        VotingClassifier(CLASS_MEMBERS, voting="soft", rule="product", n_jobs=2),
        VotingClassifier(CLASS_MEMBERS, rule="majority", tie_breaking="confidence"),
        VotingClassifier(
            [("c45", C45Classifier()), ("line", FAST_LOGISTIC)],
            voting="soft",
            weights=[1, 2],
        ),
    ],
}


#: Their decisions are sums of votes or of losses, by which they classify.
SUMS_LOSSES = (AdaBoostClassifier, OutputCodeClassifier)


def has_free_leaves(estimator):
    """Whether an optimal tree may have leaves that save hardly any loss."""
    return isinstance(estimator, OptimalTreeClassifier) and not estimator.complexity


def counts_rows(estimator):
    """Whether a limit of the growth counts rows."""
    kinds = (CARTClassifier, CARTRegressor)
    kinds += (ObliqueTreeClassifier, ObliqueTreeRegressor)
    return isinstance(estimator, kinds) and estimator.min_samples_leaf != 1


def averages_decisions(estimator):
    """Whether a decision function is averaged, and class shares are as well."""
    members = getattr(estimator, "estimator", None)
    if isinstance(estimator, SUMS_LOSSES):
        return False
    return hasattr(estimator, "decision_function") and hasattr(members, "predict_proba")


def averages_decisions_of_voters(estimator):
    """Whether members vote, but have decision functions, too."""
    has_decisions = hasattr(estimator, "decision_function")
    has_members = hasattr(estimator, "estimator")
    has_members = has_members and not isinstance(estimator, SUMS_LOSSES)
    return has_members and has_decisions and not averages_decisions(estimator)


def deals_rows(estimator):
    """Whether rows are dealt to folds, or held out."""
    pruner = resolve_pruner(getattr(estimator, "pruning", None))
    stops_early = getattr(estimator, "n_iter_no_change", None) is not None
    stops_early = stops_early and getattr(estimator, "early_stopping", True)
    return stops_early or getattr(pruner, "uses_validation", "never") != "never"


def has_strong_penalty(estimator):
    """Whether the penalty leaves little of the coefficients."""
    return isinstance(estimator, ElasticNet) and estimator.alpha == 1.0


def explores_all_subsets(estimator):
    """Whether all subsets of the columns are averaged over."""
    is_averaging = getattr(estimator, "occam_window", None) is not None
    return is_averaging and estimator.estimators is None is estimator.max_subset_size


def perturbs_outputs(estimator):
    """Whether members learn outputs that are perturbed by chance."""
    return isinstance(estimator, (OutputFlippingClassifier, OutputSmearingClassifier))


def draws_by_weight(estimator):
    """Whether rows are drawn with probabilities in proportion to their weights."""
    sampling = getattr(estimator, "sampling", None)
    return getattr(estimator, "bootstrap", False) or sampling == "resample"


def learns_by_chance(estimator):
    """Whether chance does not treat a row of weight 2 as it treats two copies."""
    takes_some = getattr(estimator, "subsample", 1.0) < 1.0
    takes_some |= getattr(estimator, "weighting", None) == "pseudo_bma_plus"
    return takes_some or perturbs_outputs(estimator) or draws_by_weight(estimator)


def bins_rows(estimator):
    """Whether columns are divided into bins of about as many rows."""
    max_bins = getattr(estimator, "max_bins", None) or 255
    return max_bins < 255 and not getattr(estimator, "bootstrap", False)


def only_classifies(estimator):
    """Whether a discriminant analysis has no directions to project on."""
    return getattr(estimator, "solver", None) == "lsqr"


def needs_inverse(estimator):
    """Whether a discriminant analysis inverts a covariance matrix as it is."""
    return getattr(estimator, "solver", None) == "eigen" and not estimator.shrinkage


# (which estimators, which checks, why they cannot hold)
EXPECTED_FAILURES = [
    (
        has_strong_penalty,
        ("check_regressors_train",),
        "alpha=1.0, which the check replaces only where there are no alphas",
    ),
    (
        has_free_leaves,
        ("check_class_weight_classifiers",),
        # With a smallest weight of leaves, a subset of rows might lose more than all of
        # them, which the bounds of the search do not allow.
        "leaves of the class of weight 0.0001 save loss, and their weight has no limit",
    ),
    (
        counts_rows,
        (
            "check_sample_weight_equivalence_on_dense_data",
            "check_sample_weight_equivalence_on_sparse_data",
        ),
        "min_samples_leaf counts rows, as in scikit-learn, and not their weights",
    ),
    (
        averages_decisions,
        ("check_decision_proba_consistency",),
        "the mean of shares and the mean of decisions order rows differently",
    ),
    (
        averages_decisions_of_voters,
        ("check_classifiers_train",),
        "predict counts votes, decision_function is a mean",
    ),
    (
        deals_rows,
        (
            "check_sample_weight_equivalence_on_dense_data",
            "check_sample_weight_equivalence_on_sparse_data",
        ),
        "a row of weight 2 goes to one fold, its two copies may go to two",
    ),
    (
        bins_rows,
        (
            "check_sample_weight_equivalence_on_dense_data",
            "check_sample_weight_equivalence_on_sparse_data",
        ),
        "bins hold about as many rows, whatever these weigh",
    ),
    (
        learns_by_chance,
        (
            "check_sample_weight_equivalence_on_dense_data",
            "check_sample_weight_equivalence_on_sparse_data",
        ),
        "a row of weight 2 is drawn or perturbed otherwise than two copies of it",
    ),
    (
        only_classifies,
        (
            "check_array_api_input",
            "check_dict_unchanged",
            "check_dtype_object",
            "check_estimators_dtypes",
            "check_estimators_nan_inf",
            "check_estimators_pickle",
            "check_f_contiguous_array_estimator",
            "check_fit2d_predict1d",
            "check_fit_idempotent",
            "check_fit_score_takes_y",
            "check_methods_sample_order_invariance",
            "check_methods_subset_invariance",
            "check_n_features_in_after_fitting",
            "check_pipeline_consistency",
            "check_sample_weight_equivalence_on_dense_data",
            "check_transformer_data_not_an_array",
            "check_transformer_general",
            "check_transformer_preserve_dtypes",
        ),
        "transform is not implemented for solver='lsqr', as in scikit-learn",
    ),
    (
        explores_all_subsets,
        (
            "check_sample_weight_equivalence_on_dense_data",
            "check_sample_weight_equivalence_on_sparse_data",
        ),
        "30 columns have too many subsets; max_subset_size is tested with others",
    ),
    (
        needs_inverse,
        (
            "check_array_api_input",
            "check_sample_weight_equivalence_on_dense_data",
            "check_sample_weights_not_overwritten",
            "check_sample_weights_shape",
        ),
        "solver='eigen' refuses these tables, whose covariance has no inverse",
    ),
]


def all_instances():
    """Every instance of the registry, class by class."""
    return [instance for instances in INSTANCES.values() for instance in instances]


def expected_failed_checks(estimator):
    """The checks that are declared to fail for an estimator, with their reasons."""
    return {
        check: reason
        for concerns, checks, reason in EXPECTED_FAILURES
        if concerns(estimator)
        for check in checks
    }
