"""Our gradient boosting behind scikit-learn's parameters, for scikit-learn's tests."""

from sklearn_textbook import ensemble


class StandIn:
    """What stands in for scikit-learn's older estimators: exact trees of depth 3."""

    # What scikit-learn's have no parameter for.
    power = 1.5
    l2_regularization = 0.0
    max_bins = None
    categorical_features = None
    categorical_smoothing = "auto"
    missing = "learned"
    monotonic_cst = None
    interaction_cst = None
    n_jobs = 1
    cost_matrix = None
    leaf_model = "constant"
    leaf_shrinkage = 3.0
    store_distribution = False

    def fit(self, X, y, sample_weight=None, monitor=None):
        if monitor is not None:
            raise TypeError("ours has callbacks instead of monitor")
        return super().fit(X, y, sample_weight)


class GradientBoostingRegressor(StandIn, ensemble.GradientBoostingRegressor):
    """Ours with the defaults of scikit-learn's."""

    def __init__(
        self,
        *,
        loss="squared_error",
        learning_rate=0.1,
        n_estimators=100,
        subsample=1.0,
        criterion="deprecated",
        min_samples_split=2,
        min_samples_leaf=1,
        min_weight_fraction_leaf=0.0,
        max_depth=3,
        min_impurity_decrease=0.0,
        init=None,
        random_state=None,
        max_features=None,
        alpha=0.9,
        verbose=0,
        max_leaf_nodes=None,
        warm_start=False,
        validation_fraction=0.1,
        n_iter_no_change=None,
        tol=1e-4,
        ccp_alpha=0.0,
    ):
        vars(self).update({k: v for k, v in locals().items() if k != "self"})


class GradientBoostingClassifier(StandIn, ensemble.GradientBoostingClassifier):
    """Ours with the defaults of scikit-learn's."""

    class_weight = None

    def __init__(
        self,
        *,
        loss="log_loss",
        learning_rate=0.1,
        n_estimators=100,
        subsample=1.0,
        criterion="deprecated",
        min_samples_split=2,
        min_samples_leaf=1,
        min_weight_fraction_leaf=0.0,
        max_depth=3,
        min_impurity_decrease=0.0,
        init=None,
        random_state=None,
        max_features=None,
        verbose=0,
        max_leaf_nodes=None,
        warm_start=False,
        validation_fraction=0.1,
        n_iter_no_change=None,
        tol=1e-4,
        ccp_alpha=0.0,
    ):
        vars(self).update({k: v for k, v in locals().items() if k != "self"})


class HistogramStandIn:
    """What stands in for scikit-learn's estimators with histograms."""

    # What scikit-learn's have no parameter for.
    min_samples_split = 2
    min_weight_fraction_leaf = 0.0
    min_impurity_decrease = 0.0
    ccp_alpha = 0.0
    criterion = "deprecated"
    missing = "learned"
    init = None
    n_jobs = 1
    categorical_smoothing = "auto"
    leaf_model = "constant"
    leaf_shrinkage = 3.0

    def _list_own(self):
        """Our parameters, of theirs."""
        raise NotImplementedError

    def _list_fitted(self):
        names = self.get_params()
        return {name: value for name, value in vars(self).items() if name not in names}

    def fit(self, X, y, sample_weight=None, **validation):
        stops = self.early_stopping
        if stops == "auto":
            stops = len(y) > 10_000
        if stops and self.validation_fraction is None:
            # The training rows judge the rounds; ours has no such choice.
            validation = {"X_val": X, "y_val": y}
        ours = self.own_class(
            learning_rate=self.learning_rate,
            n_estimators=self.max_iter,
            max_leaf_nodes=self.max_leaf_nodes,
            max_depth=self.max_depth,
            min_samples_leaf=self.min_samples_leaf,
            l2_regularization=self.l2_regularization,
            max_features=self.max_features,
            max_bins=self.max_bins,
            categorical_features=self.categorical_features,
            monotonic_cst=self.monotonic_cst,
            interaction_cst=self.interaction_cst,
            warm_start=self.warm_start,
            n_iter_no_change=self.n_iter_no_change if stops else None,
            validation_fraction=self.validation_fraction or 0.1,
            tol=self.tol,
            verbose=self.verbose,
            random_state=self.random_state,
            n_jobs=1,
            **self._list_own(),
        )
        # What is fitted is in no parameter's name.
        vars(ours).update(self._list_fitted())
        ours.fit(X, y, sample_weight, **validation)
        for name in self._list_fitted():
            delattr(self, name)
        fitted = set(vars(ours)) - set(ours.get_params())
        vars(self).update({name: vars(ours)[name] for name in fitted})
        vars(self).setdefault("validation_score_", [])
        return self

    @property
    def n_iter_(self):
        return self.n_estimators_

    @property
    def is_categorical_(self):
        kinds = [kind == "nominal" for kind in self._template.schema_.kinds]
        return kinds if any(kinds) else None

    @property
    def _predictors(self):
        """The trees, of which ``nodes`` are compared."""
        return [[member.tree_ for member in row] for row in self.estimators_]

    def _raw_predict(self, X):
        return self._compute_raw(X).T


class HistGradientBoostingRegressor(
    HistogramStandIn, ensemble.GradientBoostingRegressor
):
    """Ours with the parameters of scikit-learn's."""

    own_class = ensemble.GradientBoostingRegressor

    def __init__(
        self,
        loss="squared_error",
        *,
        quantile=None,
        learning_rate=0.1,
        max_iter=100,
        max_leaf_nodes=31,
        max_depth=None,
        min_samples_leaf=20,
        l2_regularization=0.0,
        max_features=1.0,
        max_bins=255,
        categorical_features="from_dtype",
        monotonic_cst=None,
        interaction_cst=None,
        warm_start=False,
        early_stopping="auto",
        scoring="loss",
        validation_fraction=0.1,
        n_iter_no_change=10,
        tol=1e-7,
        verbose=0,
        random_state=None,
    ):
        vars(self).update({k: v for k, v in locals().items() if k != "self"})

    def _list_own(self):
        alpha = 0.9 if self.quantile is None else self.quantile
        return {"loss": self.loss, "alpha": alpha}


class HistGradientBoostingClassifier(
    HistogramStandIn, ensemble.GradientBoostingClassifier
):
    """Ours with the parameters of scikit-learn's."""

    own_class = ensemble.GradientBoostingClassifier

    def __init__(
        self,
        loss="log_loss",
        *,
        learning_rate=0.1,
        max_iter=100,
        max_leaf_nodes=31,
        max_depth=None,
        min_samples_leaf=20,
        l2_regularization=0.0,
        max_features=1.0,
        max_bins=255,
        categorical_features="from_dtype",
        monotonic_cst=None,
        interaction_cst=None,
        warm_start=False,
        early_stopping="auto",
        scoring="loss",
        validation_fraction=0.1,
        n_iter_no_change=10,
        tol=1e-7,
        verbose=0,
        random_state=None,
        class_weight=None,
    ):
        vars(self).update({k: v for k, v in locals().items() if k != "self"})

    def _list_own(self):
        return {"loss": self.loss, "class_weight": self.class_weight}
