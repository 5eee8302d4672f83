"""The types that skops must trust to read estimators of this package."""

from __future__ import annotations

from importlib import import_module

from sklearn.base import BaseEstimator

from sklearn_textbook._contract.registry import ESTIMATORS, PARTS, find_class
from sklearn_textbook._contract.table import Table
from sklearn_textbook.ensemble.bagging.bag_draw import BagDraw
from sklearn_textbook.io.saved_attributes import SAVED_ATTRIBUTES
from sklearn_textbook.linear_model.design.design import Design, Term
from sklearn_textbook.linear_model.design.terms import BASES, Factor, ModelTerm
from sklearn_textbook.linear_model.least_squares.inference import LeastSquaresInference
from sklearn_textbook.tree.encode import ColumnSchema, TableSchema
from sklearn_textbook.tree.grow.grown_tree import GrownTree
from sklearn_textbook.tree.prune.outcome import PruningTable
from sklearn_textbook.tree.route import RoutedTree
from sklearn_textbook.tree.rules import RuleList

# Types in fitted estimators in addition to arrays.
_HELD = (
    *(BagDraw, ColumnSchema, Design, GrownTree, LeastSquaresInference, PruningTable),
    *(RoutedTree, RuleList, Table, TableSchema, Term),
    *(Factor, ModelTerm, *BASES.values()),
)


def list_trusted_types() -> list[str]:
    """List the types of this package that a skops file may contain.

    skops can save what a model file cannot contain, such as a scikit-learn pipeline. It
    only builds objects of trusted types. Unlike `load_model`, it does not check their
    content: read only files whose origin you know.

    Returns
    -------
    types : list of str
        Names of the types with their modules, for ``skops.io.load(..., trusted=)``.

    Examples
    --------
    >>> from sklearn_textbook.io import list_trusted_types
    >>> "sklearn_textbook.decomposition.pca.PCA" in list_trusted_types()
    True
    """
    types = {*_HELD, *map(find_class, PARTS)}
    for module in map(import_module, {row.module for row in ESTIMATORS.values()}):
        types |= {each for each in vars(module).values() if _is_estimator(each)}
    for model in SAVED_ATTRIBUTES.values():
        for declared in model.declared:
            if isinstance(declared.kind, tuple):
                types |= {record.of for record in declared.kind}
    return sorted(f"{each.__module__}.{each.__qualname__}" for each in types)


def _is_estimator(member):
    return isinstance(member, type) and issubclass(member, BaseEstimator)
