"""Saved trees and rules, read for printing without making an estimator.

This does not import scikit-learn, which would take longer than all the rest.
"""

from __future__ import annotations

from sklearn_textbook._contract.registry import list_estimators
from sklearn_textbook._contract.saved_field import SavedField
from sklearn_textbook.io.saved_ensemble import load_members
from sklearn_textbook.io.saved_model import SavedModel, load_document
from sklearn_textbook.io.saved_values import load_declared, load_value
from sklearn_textbook.tree.grow.rules import J48_TOLERANCE

#: Ensembles that can be printed from their trees and out-of-bag score alone. Boosting
#: also weights its members for importances.
_ENSEMBLES = (
    *("RandomForest", "ObliqueRandomForest", "ExtraTrees"),
    *("Bagging", "RandomSubspace"),
)
_PRINTED = (
    *list_estimators("tree", "rules"),
    *(name for name in list_estimators("trees") if name.startswith(_ENSEMBLES)),
)
_OOB_SCORE = SavedField("oob_score_", is_optional=True, is_finite=False)


class PrintedModel:
    """A tree, a list of rules or an ensemble of trees, for printing.

    It has the fitted attributes that `export_text` and similar functions use, and its
    class has the name of the estimator's class. Parameters are not checked.
    """

    def __init__(self, parameters: object) -> None:
        if not isinstance(parameters, dict):
            raise TypeError("parameters must be an object")
        self.parameters = parameters
        self.oob_score = parameters.get("oob_score")
        is_c45 = type(self).__name__ == "C45Classifier"
        self.cost_matrix = load_value(parameters.get("cost_matrix"))
        self._class_tolerance = J48_TOLERANCE if is_c45 else 0.0

    def get_params(self, deep: bool = False):
        """Return the parameters."""
        return self.parameters

    def _get_reader(self):
        return self.reader

    def _list_members(self):
        return self.estimators_

    def _list_columns(self):
        return self.columns

    def _list_member_classes(self, classes):
        return classes


def _make_printed(name: str, parameters: object) -> PrintedModel:
    return type(name, (PrintedModel,), {})(parameters)


def _load_ensemble(model: PrintedModel, document: dict) -> None:
    """Set the trees and the out-of-bag score of an ensemble."""
    model.reader, model.estimators_, model.columns = load_members(
        model, document, _make_printed
    )
    saved = document["kept"]
    if _OOB_SCORE.name in saved:
        own = {_OOB_SCORE.name: saved[_OOB_SCORE.name]}
        vars(model).update(load_declared((_OOB_SCORE,), own, {}, type(model).__name__))


def load_printed(document: dict) -> SavedModel:
    """Read a model whose estimator is a PrintedModel, if that can be printed."""
    if document["estimator"] in _PRINTED:
        return load_document(document, _make_printed, _load_ensemble)
    return load_document(document)
