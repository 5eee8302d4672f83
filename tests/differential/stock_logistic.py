"""Our LogisticRegression with scikit-learn's defaults, for scikit-learn's tests."""

import warnings

import numpy as np

from sklearn_textbook.linear_model import LogisticRegression as TextbookRegression

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
        given = {name: value for name, value in locals().items() if name in SHARED}
        super().__init__(**given, **OTHERS)

    def fit(self, X, y, sample_weight=None):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            tol = self.tol
            try:
                self.tol = 0.1 * tol  # it means the same only roughly
                super().fit(X, y, sample_weight)
            finally:
                self.tol = tol
        self._warn_as_stock_does(caught)
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


SHARED = LogisticRegression._get_param_names()
#: What scikit-learn's has no parameter for.
OTHERS = {
    "parametrization": "symmetric",
    "separation": "ignore",
    "handle_unknown": "error",
}
