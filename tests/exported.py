"""What can be made of fitted models, found by making it; a page of the guide has it.

``python -m tests.exported`` writes the table of that page anew.
"""

import tempfile
import warnings
from pathlib import Path

import numpy as np
from sklearn.base import clone, is_classifier

from sklearn_textbook import exchange, inspection, io, tree
from sklearn_textbook.ensemble import (
    AdaBoostClassifier,
    BaggingClassifier,
    GradientBoostingRegressor,
    OutputCodeClassifier,
    OutputSmearingClassifier,
    RandomForestRegressor,
    RandomSubspaceClassifier,
)
from tests.registry import INSTANCES
from tests.supported import (
    find_way,
    format_rows,
    make_missing,
    make_numbers,
    make_target,
    make_text,
    name_class,
)

PAGE = Path(__file__).parents[1] / "doc" / "user_guide" / "supported_exports.rst"
C45 = tree.C45Classifier()
#: Members that are not the defaults, where that matters.
OTHERS = {
    "with C4.5": [
        AdaBoostClassifier(C45, n_estimators=3),
        BaggingClassifier(C45, n_estimators=3, random_state=0),
        OutputCodeClassifier(C45, random_state=0),
        RandomSubspaceClassifier(C45, n_estimators=3, random_state=0),
    ],
    "with linear leaves": [
        tree.CARTRegressor(leaf_model="linear"),
        RandomForestRegressor(3, leaf_model="linear", random_state=0),
        GradientBoostingRegressor(n_estimators=3, leaf_model="linear"),
    ],
    "with oblique trees": [
        OutputSmearingClassifier(
            tree.ObliqueTreeRegressor(), n_estimators=3, random_state=0
        ),
    ],
}


def _save(model, X, folder):
    path = folder / "model.json"
    io.save_model(model, path)
    method = "predict" if hasattr(model, "predict") else "transform"
    values = [getattr(each, method)(X) for each in (model, io.load_model(path))]
    np.testing.assert_array_equal(*values)


def _convert(model, X, folder):
    exchange.to_sklearn(model)


def _write_code(model, X, folder):
    for language in ("c", "javascript", "python"):
        exchange.export_code(model, language)
    program = {}
    exec(exchange.export_code(model, "python"), program)
    row = [None if value != value else value for value in X.iloc[0]]
    found, expected = program["predict"](row), model.predict(X.iloc[:1])[0]
    assert found == expected or np.isclose(found, expected, rtol=1e-12)


def _write_query(model, X, folder):
    try:
        exchange.export_code(model, "sql")
    except ValueError:
        exchange.export_code(model, "sql", form="nodes")


def _find_changes(model, X, folder):
    target = None if is_classifier(model) else (3.0, None)
    inspection.find_counterfactuals(model, X.iloc[:1], target=target)


#: What is made, by functions of a model, a table and a folder.
EXPORTS = {
    "JSON": _save,
    "scikit-learn": _convert,
    "ONNX": lambda model, X, folder: exchange.to_onnx(model),
    "PMML": lambda model, X, folder: exchange.to_pmml(model),
    "C, JS, Python": _write_code,
    "SQL": _write_query,
    "rules": lambda model, X, folder: tree.export_rules(model),
    "page": lambda model, X, folder: tree.to_html(model),
    "explain": lambda model, X, folder: inspection.explain(model, X.iloc[:2]),
    "Shapley": lambda model, X, folder: inspection.shap_values(model, X.iloc[:2]),
    "changes": _find_changes,
}


def fit_model(estimator):
    """Fit an estimator to text and missing values if it takes them."""
    y = make_target(estimator)
    X = make_text() if find_way(estimator, make_text()) == "yes" else make_numbers()
    if find_way(estimator, make_missing()) == "yes":
        X.iloc[::7, 1] = np.nan
    return clone(estimator).fit(X, y), X


def describe_exports(estimator):
    """What can be made of one estimator: the cells of a row."""
    with warnings.catch_warnings(), tempfile.TemporaryDirectory() as folder:
        warnings.simplefilter("ignore")
        model, X = fit_model(estimator)
        cells = []
        for make in EXPORTS.values():
            try:
                make(model, X, Path(folder))
            except (TypeError, ValueError, NotImplementedError):
                cells.append("—")
            else:
                cells.append("yes")
    return cells


def list_models():
    """The first instances of all classes, and further ones: label, estimator."""
    for name, instances in sorted(INSTANCES.items()):
        yield name_class(instances[0]), instances[0]
        for words, others in OTHERS.items():
            for other in others:
                if type(other).__name__ == name:
                    yield f"{name_class(other)} {words}", other


def write_page(text):
    """Put the table into the page, in the place of the one that is there."""
    rows = [[label, *describe_exports(model)] for label, model in list_models()]
    begin = text.index(".. csv-table::")  # the last part of the page
    return text[:begin] + format_rows(list(EXPORTS), rows)


if __name__ == "__main__":
    PAGE.write_text(write_page(PAGE.read_text("utf-8")), "utf-8")
