"""Base class of stacking of classifiers and of regressors: the secondary table."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

import narwhals as nw
import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse
from sklearn import get_config
from sklearn.base import clone
from sklearn.utils.metadata_routing import MethodMapping, process_routing
from sklearn.utils.validation import check_is_fitted, has_fit_parameter

from sklearn_textbook._contract.parameters import check_choice, check_truth
from sklearn_textbook._contract.types import MatrixLike
from sklearn_textbook.ensemble.combination.base_combination import BaseCombination
from sklearn_textbook.ensemble.combination.fitting import describe_member, pass_weight
from sklearn_textbook.ensemble.combination.held_out import predict_held_out, widen
from sklearn_textbook.ensemble.members.estimator_members import as_frame

METHODS = ("predict_proba", "decision_function", "predict")
PREFIT = "prefit"
#: The second learner where parameters are routed.
FINAL = "final_estimator_"


class BaseStacking(BaseCombination):
    """Members whose predictions are the input of the final estimator."""

    _title = "Stacking"
    _member_parameters = ("estimators", "final_estimator")

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_choice("stack_method", self.stack_method, ("auto", *METHODS))
        check_truth("passthrough", self.passthrough)
        final = self.final_estimator
        if final is not None and not hasattr(final, "fit"):
            raise ValueError(
                "The 'final_estimator' parameter must be None or an estimator with "
                f"fit; got {final!r}."
            )

    @abstractmethod
    def _make_default_final(self):
        """Make the second learner for ``final_estimator=None``."""

    def _fits_members(self) -> bool:
        return not (isinstance(self.cv, str) and self.cv == PREFIT)

    def _get_final(self):
        if self.final_estimator is None:
            return self._make_default_final()
        return self.final_estimator

    # --------------------------------------------------------------------- fitting
    def _finish_fit(self, X, target, tasks, sample_weight) -> None:
        """Make the secondary table, and fit the second learner to it."""
        final = clone(self._get_final())
        params = self._find_final_params(final, sample_weight)
        self.stack_method_ = [
            self._choose_method(name, member) for name, member in self._list_fitted()
        ]
        if self._fits_members():
            answers = predict_held_out(
                *(tasks, self.stack_method_, X, target),
                cv=self.cv,
                n_jobs=self.n_jobs,
                n_classes=self._count_classes(),
            )
        else:
            answers = self._call_members(self.stack_method_, X)
        self.secondary_table_ = self._join(answers, X)
        try:
            self.final_estimator_ = final.fit(self.secondary_table_, target, **params)
        except Exception as error:
            error.add_note(describe_member("final_estimator", final))
            raise

    def _find_final_params(self, final, sample_weight):
        if sample_weight is None:
            return {}
        routes = get_config()["enable_metadata_routing"]
        if routes and not has_fit_parameter(final, "sample_weight"):
            return {}
        return pass_weight("final_estimator", final, sample_weight)

    def _count_classes(self):
        return None

    def _choose_method(self, name, member):
        """Choose the method of a member that is called."""
        wanted = METHODS if self.stack_method == "auto" else (self.stack_method,)
        for method in wanted:
            if hasattr(member, method):
                return method
        raise ValueError(
            f"Underlying estimator {name} does not implement the method "
            f"{self.stack_method}."
        )

    def _join(self, answers, X):
        """Join the members' predictions, and the table itself for ``passthrough``."""
        parts = []
        for given, method in zip(answers, self.stack_method_, strict=True):
            given = given.reshape(-1, 1) if given.ndim == 1 else given
            # The second of two probabilities determines the first.
            is_pair = method == "predict_proba" and given.shape[1] == 2
            parts.append(given[:, 1:] if is_pair else given)
        self._n_answers = [part.shape[1] for part in parts]
        table = np.hstack(parts)
        if not self.passthrough:
            return table
        if sparse.issparse(X):
            return sparse.hstack([table, X], format=X.format)
        frame = as_frame(X)
        if frame is None or all(dtype.is_numeric() for dtype in frame.schema.values()):
            return np.hstack([table, X])
        backend = frame.implementation
        made = {
            name: nw.new_series(name, values, backend=backend)
            for name, values in zip(self._name_answers(), table.T, strict=True)
        }
        return frame.with_columns(**made).select(*made, *frame.columns).to_native()

    # ----------------------------------------------------------------- model files
    def _list_parts(self):
        return [*super()._list_parts(), (FINAL, self.final_estimator_)]

    def _restore(self, parts, kept) -> None:
        *members, (_, final) = parts
        if final is None:
            raise ValueError("the final estimator is missing")
        self.final_estimator = clone(final)
        super()._restore(members, kept)
        self.final_estimator_ = final
        self.stack_method_ = [
            self._choose_method(name, member) for name, member in self._list_fitted()
        ]
        n_classes = self._count_classes() or 1
        self._n_answers = [
            1 if method == "predict" or n_classes == 2 else n_classes
            for method in self.stack_method_
        ]
        n_columns = sum(self._n_answers) + self.passthrough * self.n_features_in_
        if final.n_features_in_ != n_columns:
            raise ValueError("the final estimator does not match the members")

    # ------------------------------------------------------------------ prediction
    def transform(self, X: MatrixLike) -> np.ndarray | Any:
        """Return the table passed to the final estimator: the outputs of the members.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        table : ndarray, data frame or sparse matrix of shape (n_samples, n_made)
            A column per member and class; for two classes, only the probability of the
            second. With ``passthrough=True``, followed by the columns of X.
        """
        check_is_fitted(self)
        answers = self._call_members(self.stack_method_, X)
        if self._fits_members():
            n_classes = self._count_classes()
            answers = [
                widen(given, member, method, n_classes)
                for given, member, method in zip(
                    answers, self.estimators_, self.stack_method_, strict=True
                )
            ]
        return self._join(answers, X)

    def _predict_final(self, method, X, params=None):
        """Predict with the final estimator."""
        check_is_fitted(self)
        if params and get_config()["enable_metadata_routing"]:
            params = process_routing(self, method, **params)[FINAL][method]
        return getattr(self.final_estimator_, method)(self.transform(X), **params or {})

    # --------------------------------------------------------------------- columns
    def _name_answers(self):
        """Name the columns of the members' predictions."""
        prefix = type(self).__name__.lower()
        names = []
        for (name, _), count in zip(self._list_fitted(), self._n_answers, strict=True):
            endings = [""] if count == 1 else range(count)
            names += [f"{prefix}_{name}{ending}" for ending in endings]
        return names

    def get_feature_names_out(
        self, input_features: ArrayLike | None = None
    ) -> np.ndarray:
        """Return the names of the columns of :meth:`transform`.

        Parameters
        ----------
        input_features : array-like of str or None, default=None
            Names of the columns of X, with ``passthrough=True``.

        Returns
        -------
        names : ndarray of object
            Names of the form ``stackingclassifier_<name><number of the class>``.
        """
        given = self._check_names(input_features)
        names = self._name_answers()
        if self.passthrough:
            if given is None:
                given = [f"x{number}" for number in range(self.n_features_in_)]
            names = [*names, *given]
        return np.array(names, dtype=object)

    # --------------------------------------------------------------------- routing
    def get_metadata_routing(self) -> Any:
        """Get the routing of metadata to the methods of the estimators.

        Returns
        -------
        router : MetadataRouter
            See scikit-learn's guide to metadata routing.
        """
        final = getattr(self, FINAL, None)
        if final is None:
            final = self._get_final()
        mapping = MethodMapping().add(caller="predict", callee="predict")
        return (
            super().get_metadata_routing().add(**{FINAL: final}, method_mapping=mapping)
        )
