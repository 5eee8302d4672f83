"""The estimators of the package, and the objects that are parameters of them.

Model files, the command line and tests take from here what they need; a new estimator
has one row. Only names stand here: to import all estimators takes longer than most
commands do.
"""

from __future__ import annotations

from importlib import import_module
from typing import NamedTuple


class Row(NamedTuple):
    """A class, and how model files and the command line treat it."""

    name: str
    module: str
    #: "classes", "numbers" or "nothing".
    predicts: str
    #: What a model file has of it: one "tree"; "rules" and their tree; the "trees" of
    #: an ensemble; the "values" that io/saved_attributes.py declares; its "members",
    #: each as a model file; "either" of the last two. A "part" is only a parameter.
    saved: str
    #: Its name on the command line.
    algorithm: str | None = None
    #: The class of its trees, if a model file or the command line is to make them.
    made_of: str | None = None


# Messages list names in this order, within each way to save.
_TABLE = """
tree.CARTClassifier                       classes tree    cart
tree.CARTRegressor                        numbers tree    cart
tree.ID3Classifier                        classes tree    id3
tree.C45Classifier                        classes tree    c45
tree.C45RulesClassifier                   classes rules   c45-rules       C45Classifier
tree.ObliqueTreeClassifier                classes tree    oblique-tree
tree.ObliqueTreeRegressor                 numbers tree    oblique-tree
tree.OptimalTreeClassifier                classes tree    optimal-tree
tree.OptimalTreeRegressor                 numbers tree    optimal-tree
ensemble.RandomForestClassifier           classes trees   random-forest
ensemble.RandomForestRegressor            numbers trees   random-forest
ensemble.ObliqueRandomForestClassifier    classes trees   oblique-forest
ensemble.ObliqueRandomForestRegressor     numbers trees   oblique-forest
ensemble.ExtraTreesClassifier             classes trees   extra-trees
ensemble.ExtraTreesRegressor              numbers trees   extra-trees
ensemble.BaggingClassifier                classes trees   bagging         CARTClassifier
ensemble.BaggingRegressor                 numbers trees   bagging         CARTRegressor
ensemble.RandomSubspaceClassifier         classes trees   random-subspace CARTClassifier
ensemble.RandomSubspaceRegressor          numbers trees   random-subspace CARTRegressor
ensemble.AdaBoostClassifier               classes trees   adaboost
ensemble.OutputCodeClassifier             classes trees   output-codes    CARTClassifier
ensemble.OutputFlippingClassifier         classes trees   output-flipping CARTClassifier
ensemble.OutputSmearingClassifier         classes trees   output-smearing CARTRegressor
ensemble.BoostingTreeRegressor            numbers trees   boosting-tree
ensemble.GradientBoostingClassifier       classes trees   gradient-boosting
ensemble.GradientBoostingRegressor        numbers trees   gradient-boosting
linear_model.LinearRegression             numbers values  linear
linear_model.LogisticRegression           classes values  logistic
linear_model.GeneralizedLinearRegressor   numbers values  generalized-linear
linear_model.OrdinalRegression            classes values  ordinal
linear_model.ElasticNet                   numbers values  elastic-net
linear_model.ElasticNetClassifier         classes values  elastic-net
linear_model.MaxEntClassifier             classes values  maximum-entropy
decomposition.PCA                         nothing values  pca
decomposition.TruncatedSVD                nothing values
ensemble.NegativeCorrelationRegressor     numbers values  negative-correlation
discriminant_analysis.LinearDiscriminantAnalysis classes values lda
ensemble.VotingClassifier                 classes members voting
ensemble.AveragingRegressor               numbers members averaging
ensemble.StackingClassifier               classes members stacking
ensemble.StackingRegressor                numbers members stacking
ensemble.MultiResponseLinearRegression    classes members
ensemble.BayesianModelAveragingClassifier classes either  bayesian-model-averaging
ensemble.BayesianModelAveragingRegressor  numbers either  bayesian-model-averaging
tree.CostComplexityPruning                nothing part
tree.ErrorBasedPruning                    nothing part
tree.LossPruning                          nothing part
tree.OutOfBagPruning                      nothing part
tree.PrePruning                           nothing part
tree.ReducedErrorPruning                  nothing part
ensemble.boosting.losses.AbsoluteError    nothing part
ensemble.boosting.losses.ExponentialLoss  nothing part
ensemble.boosting.losses.GammaLoss        nothing part
ensemble.boosting.losses.HuberLoss        nothing part
ensemble.boosting.losses.LogLoss          nothing part
ensemble.boosting.losses.MultinomialLoss  nothing part
ensemble.boosting.losses.PoissonLoss      nothing part
ensemble.boosting.losses.QuantileLoss     nothing part
ensemble.boosting.losses.SquaredError     nothing part
ensemble.boosting.losses.TweedieLoss      nothing part
"""


def _read_row(line: str) -> Row:
    path, *cells = line.split()
    module, _, name = f"{__name__.partition('.')[0]}.{path}".rpartition(".")
    return Row(name, module, *cells)


_ROWS = [_read_row(line) for line in _TABLE.split("\n") if line]
#: Every estimator by its name.
ESTIMATORS = {row.name: row for row in _ROWS if row.saved != "part"}
#: The classes of objects that a parameter may be; any kind of tree is one, too.
PARTS = {row.name: row for row in _ROWS if row.saved in ("tree", "part")}


def list_estimators(*ways: str) -> list[str]:
    """List the estimators that are saved in some ways, or all in the order of ways."""
    ways = ways or ("tree", "rules", "trees", "values", "members", "either")
    return [row.name for way in ways for row in ESTIMATORS.values() if row.saved == way]


def find_class(name: str) -> type:
    """Import a class of the registry."""
    row = ESTIMATORS.get(name) or PARTS[name]
    return getattr(import_module(row.module), name)
