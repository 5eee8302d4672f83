"""scikit-learn's ElasticNet and Lasso as special cases of ours, for its own tests.

Their parameters and defaults are scikit-learn's; those that say how to compute mean
nothing.
"""

from sklearn_textbook.linear_model import ElasticNet as TextbookElasticNet


class ElasticNet(TextbookElasticNet):
    """Ours with the parameters of scikit-learn's."""

    # What scikit-learn's classes have no parameters for.
    family, power, alphas, eps, cv, standardize = (
        "gaussian",
        1.5,
        None,
        1e-3,
        None,
        False,
    )
    grouped_levels, penalty_factors, n_jobs = False, None, 1
    categorical_features, reference_level = "from_dtype", "first"
    handle_unknown, missing = "error", "error"

    def __init__(
        self,
        alpha=1.0,
        *,
        l1_ratio=0.5,
        fit_intercept=True,
        precompute=False,
        max_iter=1000,
        copy_X=True,
        tol=1e-4,
        warm_start=False,
        positive=False,
        random_state=None,
        selection="cyclic",
    ):
        self.alpha = alpha
        self.l1_ratio = l1_ratio
        self.fit_intercept = fit_intercept
        self.precompute = precompute
        self.max_iter = max_iter
        self.copy_X = copy_X
        self.tol = tol
        self.warm_start = warm_start
        self.positive = positive
        self.random_state = random_state
        self.selection = selection


class Lasso(ElasticNet):
    """The same with the L1 norm alone."""

    l1_ratio = 1.0

    def __init__(
        self,
        alpha=1.0,
        *,
        fit_intercept=True,
        precompute=False,
        copy_X=True,
        max_iter=1000,
        tol=1e-4,
        warm_start=False,
        positive=False,
        random_state=None,
        selection="cyclic",
    ):
        self.alpha = alpha
        self.fit_intercept = fit_intercept
        self.precompute = precompute
        self.copy_X = copy_X
        self.max_iter = max_iter
        self.tol = tol
        self.warm_start = warm_start
        self.positive = positive
        self.random_state = random_state
        self.selection = selection
