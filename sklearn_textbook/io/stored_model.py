"""Trees and rules of a model file, read without making an estimator.

This suffices for printing them, and does not import scikit-learn, which would take
longer than all the rest.
"""

from __future__ import annotations

from sklearn_textbook._contract.kept import Kept
from sklearn_textbook._contract.registry import list_names
from sklearn_textbook.io.ensemble_document import read_members
from sklearn_textbook.io.kept_values import unpack_kept
from sklearn_textbook.io.model_document import read_document
from sklearn_textbook.tree.grow.rules import J48_TOLERANCE

#: Estimators that can be printed from their trees, rules and out-of-bag score alone.
#: Boosting also weights its members for importances.
_PRINTED = (
    *("RandomForest", "ObliqueRandomForest", "ExtraTrees"),
    *("Bagging", "RandomSubspace"),
)
_STORED = (
    *list_names("tree", "rules"),
    *(name for name in list_names("trees") if name.startswith(_PRINTED)),
)
_OOB_SCORE = Kept("oob_score_", is_optional=True, is_finite=False)


class StoredModel:
    """A tree, a list of rules or an ensemble of trees, for printing.

    It has the fitted attributes that `export_text` and similar functions use, and its
    class has the name of the estimator's class.

    Parameters
    ----------
    parameters : dict
        Parameters of the estimator in the file; they are not checked.
    """

    def __init__(self, parameters):
        if not isinstance(parameters, dict):
            raise TypeError("parameters must be an object")
        self.parameters = parameters
        self.oob_score = parameters.get("oob_score")
        is_c45 = type(self).__name__ == "C45Classifier"
        self._class_tolerance = J48_TOLERANCE if is_c45 else 0.0

    def get_params(self, deep=False):
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


def _make_stored(name, parameters):
    return type(name, (StoredModel,), {})(parameters)


def _fit_stored(stored, document):
    """Set the trees and the out-of-bag score of an ensemble."""
    stored.reader, stored.estimators_, stored.columns = read_members(
        stored, document, _make_stored
    )
    packed = document["kept"]
    if _OOB_SCORE.name in packed:
        own = {_OOB_SCORE.name: packed[_OOB_SCORE.name]}
        name = type(stored).__name__
        vars(stored).update(unpack_kept((_OOB_SCORE,), own, {}, name))


def read_stored(document):
    """Read a SavedModel whose estimator is a StoredModel, if that can be printed.

    Parameters
    ----------
    document : dict
        Dictionary as `write_document` writes it.

    Returns
    -------
    model : SavedModel
        With the estimator itself if it is of another class.
    """
    if document["estimator"] in _STORED:
        return read_document(document, _make_stored, _fit_stored)
    return read_document(document)
