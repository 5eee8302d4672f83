"""scikit-learn's three GLM regressors as special cases of ours, for its own tests.

Their parameters and defaults are scikit-learn's; the solver and verbosity mean nothing.
``_get_loss`` and ``_base_loss`` are what its tests look at.
"""

from sklearn._loss import (
    HalfBinomialLoss,
    HalfGammaLoss,
    HalfPoissonLoss,
    HalfSquaredError,
    HalfTweedieLoss,
    HalfTweedieLossIdentity,
)

from sklearn_textbook.linear_model import GeneralizedLinearRegressor

FAMILIES = {
    HalfBinomialLoss: ("binomial", "logit"),
    HalfGammaLoss: ("gamma", "log"),
    HalfPoissonLoss: ("poisson", "log"),
    HalfSquaredError: ("gaussian", "identity"),
    HalfTweedieLoss: ("tweedie", "log"),
    HalfTweedieLossIdentity: ("tweedie", "identity"),
}


class StandIn(GeneralizedLinearRegressor):
    """The base of the others: least squares."""

    # What scikit-learn's classes have no parameters for.
    power, link_power, transform_y, retransform = 1.5, None, None, "median"
    weight_type, dispersion, dependent_columns = "frequency", "auto", "minimum_norm"
    categorical_features, reference_level, handle_unknown = (
        "from_dtype",
        "first",
        "error",
    )
    missing, n_jobs = "error", 1
    theta, formula, interactions = "estimate", None, None
    covariance_type = "nonrobust"

    def __init__(
        self,
        *,
        alpha=1.0,
        fit_intercept=True,
        solver="lbfgs",
        max_iter=100,
        tol=1e-4,
        warm_start=False,
        verbose=0,
    ):
        self.alpha = alpha
        self.fit_intercept = fit_intercept
        self.solver = solver
        self.max_iter = max_iter
        self.tol = tol
        self.warm_start = warm_start
        self.verbose = verbose

    def fit(self, X, y, sample_weight=None):
        # The limit there is of the gradient, ours of the deviance, which falls as the
        # square of the gradient does.
        tol, self.tol = self.tol, self.tol**2
        try:
            super().fit(X, y, sample_weight)
        finally:
            self.tol = tol
        self._base_loss = self._get_loss()
        return self

    @property
    def family(self):
        return FAMILIES[type(self._get_loss())][0]

    @property
    def link(self):
        return FAMILIES[type(self._get_loss())][1]

    def _get_loss(self, xp=None, device=None):
        return HalfSquaredError()


class PoissonRegressor(StandIn):
    def _get_loss(self, xp=None, device=None):
        return HalfPoissonLoss()


class GammaRegressor(StandIn):
    def _get_loss(self, xp=None, device=None):
        return HalfGammaLoss()


class TweedieRegressor(StandIn):
    def __init__(
        self,
        *,
        power=0.0,
        alpha=1.0,
        fit_intercept=True,
        link="auto",
        solver="lbfgs",
        max_iter=100,
        tol=1e-4,
        warm_start=False,
        verbose=0,
    ):
        self.power = power
        self.their_link = link
        super().__init__(
            alpha=alpha,
            fit_intercept=fit_intercept,
            solver=solver,
            max_iter=max_iter,
            tol=tol,
            warm_start=warm_start,
            verbose=verbose,
        )

    @property
    def link(self):
        if self.their_link != "auto":
            return self.their_link
        return "identity" if self.power <= 0 else "log"

    @link.setter
    def link(self, link):
        self.their_link = link

    @property
    def family(self):
        return "tweedie"

    def _get_loss(self, xp=None, device=None):
        loss = HalfTweedieLoss if self.link == "log" else HalfTweedieLossIdentity
        return loss(power=self.power)
