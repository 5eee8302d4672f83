"""Our LogisticRegression behind scikit-learn's parameters, for scikit-learn's tests."""

import math
import warnings

import numpy as np

from sklearn_textbook.linear_model import LogisticRegression as TextbookRegression

#: What stands in for scikit-learn's solvers. liblinear and the stochastic ones have no
#: counterpart: their tests ask where they arrive, which must not depend on the way.
SOLVERS = {
    "lbfgs": "lbfgs",
    "newton-cholesky": "newton",
    "newton-cg": "newton",
    "sag": "lbfgs",
    "saga": "newton",
    "liblinear": "newton",
}

#: How scikit-learn says that these did not converge; the others say it as ours do.
WORDS = {
    "newton-cg": "newton-cg failed to converge. Increase the number of iterations.",
    "liblinear": "Liblinear failed to converge, increase the number of iterations.",
    "sag": "The max_iter was reached which means the coef_ did not converge",
    "saga": "The max_iter was reached which means the coef_ did not converge",
    "newton-cholesky": "Newton solver did not converge after {} iterations",
}


class LogisticRegression(TextbookRegression):
    """Ours with the defaults of scikit-learn's."""

    # What scikit-learn's has no parameter for.
    parametrization = "symmetric"
    separation = "ignore"
    categorical_features = "from_dtype"
    reference_level = "first"
    handle_unknown, missing = "error", "error"

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
        if self.penalty is None and self.C != 1.0:
            warnings.warn(
                "Setting penalty=None will ignore the C", UserWarning, stacklevel=2
            )
        l1_ratio = {"l1": 1.0, "l2": 0.0}.get(self.penalty, self.l1_ratio)
        ours = TextbookRegression(
            C=math.inf if self.penalty is None else self.C,
            l1_ratio=0.0 if l1_ratio is None else l1_ratio,
            fit_intercept=self.fit_intercept,
            solver=SOLVERS.get(self.solver, self.solver),
            parametrization=self.parametrization,
            separation=self.separation,
            class_weight=self.class_weight,
            max_iter=self.max_iter,
            tol=0.1 * self.tol,  # it means the same only roughly
            warm_start=self.warm_start,
            n_jobs=self.n_jobs,
        )
        if hasattr(self, "_skl_callbacks"):
            ours.set_callbacks(*self._skl_callbacks)
        # What is fitted ends in an underscore, but for masks.
        vars(ours).update(self._list_fitted_attributes())
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            ours.fit(X, y, sample_weight)
        self._warn_as_stock_does(caught)
        for name in self._list_fitted_attributes():
            delattr(self, name)
        vars(self).update(
            {
                name: value
                for name, value in vars(ours).items()
                if name not in ours.get_params()
            }
        )
        is_single = getattr(X, "dtype", None) == np.float32
        if is_single and self.solver != "liblinear":
            # Ours computes and keeps double precision.
            self.coef_ = self.coef_.astype(np.float32)
            self.intercept_ = self.intercept_.astype(np.float32)
        return self

    def _warn_as_stock_does(self, caught):
        for each in caught:
            message = str(each.message)
            if "linearly dependent" in message:
                continue  # scikit-learn says nothing of it
            if "failed to converge" in message:
                steps = message.partition(" iteration")[0].rpartition(" ")[2]
                message = WORDS.get(self.solver, message).format(steps)
            warnings.warn(message, each.category, stacklevel=3)

    def _has_penalty(self):
        return self.penalty is not None and not math.isinf(self.C)

    def _list_fitted_attributes(self):
        names = self.get_params()
        return {name: value for name, value in vars(self).items() if name not in names}
