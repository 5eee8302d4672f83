"""Our LogisticRegression behind scikit-learn's parameters, for scikit-learn's tests."""

import math

from sklearn_textbook.linear_model import LogisticRegression as TextbookRegression

#: What stands in for scikit-learn's solvers. liblinear and the stochastic ones have no
#: counterpart: their tests ask where they arrive, which must not depend on the way.
SOLVERS = {
    "lbfgs": "lbfgs",
    "newton-cholesky": "newton",
    "newton-cg": "newton",
    "sag": "gradient",
    "saga": "bfgs",
    "liblinear": "newton",
}


class LogisticRegression(TextbookRegression):
    """Ours with the defaults of scikit-learn's."""

    # What scikit-learn's has no parameter for.
    parametrization = "symmetric"
    separation = "ignore"
    categorical_features = "from_dtype"
    reference_level = "first"
    handle_unknown = "error"

    def __init__(
        self,
        penalty="deprecated",
        *,
        C=1.0,
        l1_ratio=0.0,
        dual=False,
        tol=1e-4,
        fit_intercept=True,
        intercept_scaling=1,
        class_weight=None,
        random_state=None,
        solver="lbfgs",
        max_iter=100,
        verbose=0,
        warm_start=False,
        n_jobs=None,
    ):
        self.penalty = penalty
        self.C = C
        self.l1_ratio = l1_ratio
        self.dual = dual
        self.tol = tol
        self.fit_intercept = fit_intercept
        self.intercept_scaling = intercept_scaling
        self.class_weight = class_weight
        self.random_state = random_state
        self.solver = solver
        self.max_iter = max_iter
        self.verbose = verbose
        self.warm_start = warm_start
        self.n_jobs = n_jobs

    def fit(self, X, y, sample_weight=None):
        ours = TextbookRegression(
            penalty=None if self.penalty is None else "l2",
            C=self.C,
            fit_intercept=self.fit_intercept,
            solver=SOLVERS.get(self.solver, self.solver),
            parametrization=self.parametrization,
            separation=self.separation,
            class_weight=self.class_weight,
            # Gradient descent on all rows takes more steps than a stochastic one.
            max_iter=self.max_iter * (100 if self.solver == "sag" else 1),
            tol=self.tol,
            warm_start=self.warm_start,
            n_jobs=self.n_jobs,
        )
        # What is fitted ends in an underscore, but for masks.
        vars(ours).update(self._list_fitted())
        ours.fit(X, y, sample_weight)
        for name in self._list_fitted():
            delattr(self, name)
        vars(self).update(
            {
                name: value
                for name, value in vars(ours).items()
                if name not in ours.get_params()
            }
        )
        return self

    def _has_penalty(self):
        return self.penalty is not None and not math.isinf(self.C)

    def _list_fitted(self):
        names = self.get_params()
        return {name: value for name, value in vars(self).items() if name not in names}
