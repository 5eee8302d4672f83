"""No change of a model file does harm: it is refused, or the model can be used.

SKLEARN_TEXTBOOK_TEST_TABLES=500 takes 10,000 changed files of each kind.
"""

import json
import re
import warnings
from contextlib import suppress

import numpy as np
import pytest
from sklearn.base import clone

from sklearn_textbook.ensemble import (
    AdaBoostClassifier,
    BaggingClassifier,
    BayesianModelAveragingRegressor,
    BoostingTreeRegressor,
    GradientBoostingClassifier,
    ObliqueRandomForestClassifier,
    OutputCodeClassifier,
    OutputFlippingClassifier,
    OutputSmearingClassifier,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn_textbook.inspection import explain, find_counterfactuals
from sklearn_textbook.io import ModelFileError, read_model
from sklearn_textbook.io.saved_model import save_document
from sklearn_textbook.tree import (
    C45Classifier,
    C45RulesClassifier,
    CARTClassifier,
    CARTRegressor,
    ObliqueTreeClassifier,
    ObliqueTreeRegressor,
    export_rules,
    export_text,
)
from tests.amount import FACTOR
from tests.io.mutations import mutate
from tests.io.test_composed_model_file import CASES as COMPOSED
from tests.io.test_ensemble_file import make_frame
from tests.io.test_fitted_model_file import CASES, NUMBERS, fit

N_FILES = 20 * FACTOR
#: What an error about a changed node names.
NAMED = "feature|level map|terms|weight|statistics|neighbours"
FRAME, LABELS, VALUES = (each[:40] for each in make_frame())
TWO_LABELS = np.column_stack([LABELS, np.where(VALUES > 1, "a", "b")])
TWO_VALUES = np.column_stack([VALUES, -VALUES])
FEW = {"n_estimators": 3, "random_state": 0}
TREES = {
    "cart": (CARTClassifier(max_depth=3, missing="surrogate"), LABELS),
    "cart, outputs": (CARTClassifier(max_depth=2), TWO_LABELS),
    "regression": (CARTRegressor(max_depth=3, categorical_split="multiway"), VALUES),
    "c4.5": (C45Classifier(), LABELS),
    "oblique": (ObliqueTreeClassifier(max_depth=4), LABELS),
    "oblique, values": (ObliqueTreeRegressor(prefer_axis=None, max_depth=4), VALUES),
    "rules": (C45RulesClassifier(), LABELS),
    "forest": (RandomForestClassifier(**FEW), LABELS),
    "oblique forest": (ObliqueRandomForestClassifier(**FEW), LABELS),
    "forest, outputs": (RandomForestClassifier(**FEW), TWO_LABELS),
    "forest, values": (RandomForestRegressor(**FEW), TWO_VALUES),
    "bagging": (BaggingClassifier(**FEW, max_features=3), LABELS),
    "bagging, oblique": (
        BaggingClassifier(ObliqueTreeClassifier(prefer_axis=None, max_depth=3), **FEW),
        LABELS,
    ),
    "adaboost": (AdaBoostClassifier(**FEW), LABELS),
    "output codes": (OutputCodeClassifier(CARTClassifier(max_depth=2)), LABELS),
    "flipped outputs": (OutputFlippingClassifier(**FEW, bootstrap=True), LABELS),
    "smeared outputs": (OutputSmearingClassifier(**FEW), LABELS),
    "boosting": (GradientBoostingClassifier(**FEW, max_depth=2), LABELS),
    "boosting tree": (BoostingTreeRegressor(3), VALUES),
}
MODELS = {
    **{name: (model, FRAME, y) for name, (model, y) in TREES.items()},
    **{name: CASES[name] for name in CASES if "," not in name},
    **{
        name: (clone(COMPOSED[name][0]), NUMBERS, COMPOSED[name][1])
        for name in (
            *("voting", "averaging", "stacking", "multi-response"),
            *("model averaging", "model averaging, values"),
        )
    },
}


def use(model, rows):
    """Ask a model all that a reader of the file might ask."""
    estimator = model.estimator
    for name in ("predict", "predict_proba", "transform", "summary"):
        is_lsqr = getattr(estimator, "solver", "") == "lsqr"
        if not hasattr(estimator, name) or (is_lsqr and name == "transform"):
            continue
        # A regression of a large sparse table keeps nothing to summarise.
        if name == "summary" and vars(estimator).get("_rows", ...) is None:
            continue
        said = getattr(estimator, name)(*(() if name == "summary" else (rows,)))
        if name == "summary":
            assert isinstance(said, str)
        else:
            for part in said if isinstance(said, list) else [said]:
                assert part.shape[0] == rows.shape[0]
    if hasattr(estimator, "tree_"):
        assert export_text(estimator)
        assert len(explain(estimator, rows)) == rows.shape[0]
        with suppress(ValueError):  # no other class, or a sum of columns
            find_counterfactuals(estimator, rows[:1])
    if hasattr(estimator, "tree_") or hasattr(estimator, "rule_list_"):
        assert isinstance(export_rules(estimator, "dict"), list)
    if isinstance(estimator, BayesianModelAveragingRegressor):
        values, deviations = estimator.predict(rows, return_std=True)
        assert values.shape == deviations.shape


@pytest.mark.parametrize("kind", ["cart", "c4.5", "regression", "oblique", "rules"])
def test_changed_nodes(tmp_path, kind):
    """Another column or number in a node is refused by its name, or can be used."""
    model, X, y = MODELS[kind]
    text = json.dumps(save_document(fit(model, X, y), "y", {}))
    document, path, n_refused = json.loads(text), tmp_path / "model.json", 0
    nodes = document["tree"]["nodes"]
    changes = [("feature", column) for column in range(X.shape[1])]
    changes += [("weight", number) for number in (0.0, 1.0, 1e300)]
    changes += [("statistics", number) for number in (0.0, 1.0, 1e300)]
    for name, entry in changes:
        for node in range(min(len(nodes["kind"]), 8)):
            document = json.loads(text)
            if name == "statistics":
                document["tree"][name][node][0][0] = entry
            else:
                document["tree"]["nodes"][name][node] = entry
            path.write_text(json.dumps(document), encoding="utf-8")
            reason, saved = None, None
            try:
                saved = read_model(path)
            except ModelFileError as error:
                reason = str(error)
            if reason is not None:
                assert re.search(
                    "feature|level map|terms|weight|statistics|neighbours", reason
                )
                n_refused += 1
                continue
            with suppress(ValueError):
                use(saved, X[:3])
    assert n_refused > len(changes)


def test_rules_that_no_row_satisfies(tmp_path):
    """Changed level maps, after which the conditions of a rule exclude each other."""
    model, X, y = MODELS["rules"]
    text = json.dumps(save_document(fit(model, X, y), "y", {}))
    path, reasons = tmp_path / "model.json", []
    for place in range(len(json.loads(text)["tree"]["level_branch"])):
        document = json.loads(text)
        document["tree"]["level_branch"][place] = -1
        path.write_text(json.dumps(document), encoding="utf-8")
        try:
            model = read_model(path)
        except ModelFileError as error:
            reasons.append(str(error))
        else:
            use(model, X[:3])
    assert any("nodes: no row satisfies all conditions" in reason for reason in reasons)


@pytest.mark.parametrize("kind", MODELS)
def test_changed_files(tmp_path, kind):
    model, X, y = MODELS[kind]
    model = fit(model, X, y)
    text = json.dumps(save_document(model, "y", {"n_rows": X.shape[0]}))
    rng = np.random.default_rng(0)
    path, n_read = tmp_path / "model.json", 0
    for _ in range(N_FILES):
        document = json.dumps(mutate(text, rng))
        path.write_text(document, encoding="utf-8")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                saved = read_model(path)
            except ModelFileError:
                continue
            n_read += 1
            # A level, or a column, that predict refuses by a ValueError of its own.
            with suppress(ValueError):
                use(saved, X[:3])
    assert n_read < N_FILES
