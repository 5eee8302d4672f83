"""Ensembles of named estimators: their parameters, checks and tags."""

from __future__ import annotations

from typing import Any, Self

from sklearn.base import is_classifier, is_regressor
from sklearn.utils import Bunch, get_tags
from sklearn.utils.metadata_routing import MetadataRouter, MethodMapping

DROPPED = "drop"


class NamedMembersMixin:
    """Parameters ``name`` and ``name__parameter`` of the estimators in a list.

    The list is the parameter ``estimators``, of pairs of a name and an estimator, or
    of a name and ``"drop"``.
    """

    @property
    def named_estimators(self) -> Bunch:
        """The estimators of the list by name."""
        return Bunch(**dict(self.estimators or ()))

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Get the parameters of the ensemble and of its estimators.

        Parameters
        ----------
        deep : bool, default=True
            Whether to include the estimators and their parameters, as ``name`` and
            ``name__parameter``.

        Returns
        -------
        params : dict of str to object
            The parameters.
        """
        params = super().get_params(deep=deep)
        if deep and _is_list_of_pairs(self.estimators):
            params.update(self.estimators)
            for name, estimator in self.estimators:
                if hasattr(estimator, "get_params"):
                    for key, value in estimator.get_params(deep=True).items():
                        params[f"{name}__{key}"] = value
        return params

    def set_params(self, **params: Any) -> Self:
        """Set parameters of the ensemble or of its estimators.

        Parameters
        ----------
        **params : dict
            Parameters by name. ``name=estimator`` replaces an estimator,
            ``name="drop"`` leaves it out, and ``name__parameter`` sets one of its
            parameters.

        Returns
        -------
        self : estimator
            The ensemble.
        """
        if "estimators" in params:
            self.estimators = params.pop("estimators")
        if _is_list_of_pairs(self.estimators):
            replaced = [
                (name, params.pop(name, estimator))
                for name, estimator in self.estimators
            ]
            pairs = zip(replaced, self.estimators, strict=True)
            if any(new[1] is not old[1] for new, old in pairs):
                self.estimators = replaced
        super().set_params(**params)
        return self

    def _list_given(self):
        """List the names and estimators that are not dropped."""
        return [(name, one) for name, one in self.estimators if not is_dropped(one)]

    def _check_estimators(self) -> None:
        """Raise ValueError for a list that is not allowed."""
        if not _is_list_of_pairs(self.estimators):
            raise ValueError(
                "Invalid 'estimators' attribute, 'estimators' should be a non-empty "
                f"list of (string, estimator) tuples; got {self.estimators!r}."
            )
        names = [name for name, _ in self.estimators]
        if len(set(names)) < len(names):
            raise ValueError(f"Names provided are not unique: {names}")
        for name in names:
            if name in super().get_params(deep=False):
                raise ValueError(
                    f"Estimator names conflict with constructor arguments: [{name!r}]"
                )
            if "__" in name:
                raise ValueError(f"Estimator names must not contain __: got [{name!r}]")
        if not self._list_given():
            raise ValueError(
                "All estimators are dropped. At least one is required to be an "
                "estimator."
            )
        kind = "classifier" if is_classifier(self) else "regressor"
        for name, estimator in self._list_given():
            if isinstance(estimator, type):
                raise TypeError(
                    f"Expected an estimator instance ({estimator.__name__}()), got "
                    f"estimator class instead ({estimator.__name__}) for {name!r}."
                )
            is_estimator = hasattr(estimator, "fit") and hasattr(
                estimator, "__sklearn_tags__"
            )
            if not is_estimator or not self._is_fit_kind(estimator):
                raise ValueError(
                    f"The estimator {type(estimator).__name__} should be a "
                    f"{kind}. (It is named {name!r}.)"
                )

    def _is_fit_kind(self, estimator):
        """Return whether an estimator predicts the same as the ensemble."""
        return is_classifier(estimator) == is_classifier(self) and (
            is_classifier(self) or is_regressor(estimator)
        )

    def get_metadata_routing(self) -> Any:
        """Get the routing of metadata to ``fit`` of the estimators.

        Returns
        -------
        router : MetadataRouter
            See scikit-learn's guide to metadata routing.
        """
        router = MetadataRouter(owner=self)
        for name, estimator in self._list_given():
            mapping = MethodMapping().add(callee="fit", caller="fit")
            router.add(**{name: estimator}, method_mapping=mapping)
        return router

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        if not _is_list_of_pairs(self.estimators):
            return tags  # fit raises the error
        members = [one for _, one in self._list_given()]
        if not all(hasattr(one, "__sklearn_tags__") for one in members):
            return tags
        members = [get_tags(one).input_tags for one in members]
        for name in ("allow_nan", "categorical", "sparse", "string"):
            value = all(getattr(of_member, name) for of_member in members)
            setattr(tags.input_tags, name, value)
        return tags


def is_dropped(estimator):
    """Return whether an entry of the list means "no estimator"."""
    return isinstance(estimator, str) and estimator == DROPPED


def _is_list_of_pairs(estimators):
    return (
        isinstance(estimators, (list, tuple))
        and len(estimators) > 0
        and all(
            isinstance(pair, (list, tuple))
            and len(pair) == 2
            and isinstance(pair[0], str)
            for pair in estimators
        )
    )
