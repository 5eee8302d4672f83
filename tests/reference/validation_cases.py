"""Random fitted trees of every kind with random rows that did not grow them."""

import random
from dataclasses import dataclass, replace

import numpy as np

from sklearn_textbook import tree
from tests.reference import c45_cases, cases, id3_cases
from tests.reference.compare import read_grown_tree
from tests.reference.validation import NodeLosses

KINDS = ["CARTClassifier", "CARTRegressor", "ID3Classifier", "C45Classifier"]


@dataclass
class ValidationCase:
    """An unpruned estimator and validation rows, in its form and in the reference's."""

    estimator: object
    X: object
    y: np.ndarray
    weights: list
    X_val: object
    rows: list
    y_val: list
    weights_val: list

    @property
    def nodes(self):
        return read_grown_tree(self.estimator.tree_)

    @property
    def loss(self):
        if hasattr(self.estimator, "classes_"):
            return "error"
        absolute = self.estimator.criterion == "absolute_error"
        return "absolute_error" if absolute else "squared_error"

    def measure_reference(self):
        """Losses in plain Python."""
        rule = "first" if self.loss == "error" else "value"
        if type(self.estimator).__name__ == "C45Classifier":
            rule = "tolerant"
        return NodeLosses(
            self.nodes,
            self.rows,
            self.y_val,
            self.weights_val,
            self.loss,
            rule,
            self.estimator.handle_unknown,
        )

    @property
    def validation(self):
        """What ``prune`` and, by name, ``fit`` take."""
        y_val = np.array(self.y_val)
        y_val = y_val[:, 0] if y_val.shape[1] == 1 else y_val
        return {
            "X_val": self.X_val,
            "y_val": y_val,
            "sample_weight_val": np.array(self.weights_val),
        }


def make_case(kind, seed, **settings):
    """A case of an estimator's kind; some levels were never seen in training."""
    generator = random.Random(seed)
    if kind == "C45Classifier":
        case = c45_cases.make_case(generator, n_rows=generator.randint(5, 60))
        case = replace(case, y=[(label,) for label in case.y])
    elif kind == "ID3Classifier":
        case = id3_cases.make_id3_case(generator)
    else:
        case = cases.make_case(generator, kind[4:].lower())
    drawn = dict(case.settings)
    if drawn.get("handle_unknown", "error") == "error":
        drawn["handle_unknown"] = generator.choice(["parent", "fractional"])
    if kind == "C45Classifier":
        drawn["pruning"] = None
    # One class for all forms of columns, targets and rows.
    case = cases.Case(
        "", case.columns, case.y, case.weights, {"missing": "", **drawn, **settings}
    )
    X, y = case.make_frame(), case.make_target()
    parameters = case.settings | {}
    if kind == "C45Classifier":
        del parameters["missing"]
        estimator = c45_cases.make_classifier(parameters)
    else:
        estimator = getattr(tree, kind)(**parameters)
    estimator.fit(X, y, sample_weight=case.weights)
    columns = case.make_new_columns(generator, generator.randint(1, 25))
    X_val = cases.make_frame(columns)
    n_val = len(X_val)
    y_val = [generator.choice(case.y) for _ in range(n_val)]
    weights_val = generator.choice(
        [[1.0] * n_val, [generator.choice([0.0, 0.5, 1.0, 2.0]) for _ in range(n_val)]]
    )
    weights_val[0] = weights_val[0] or 1.0
    matrix = estimator.schema_.read(X_val).tolist()
    rows = [[None if v != v else v for v in row] for row in matrix]
    return ValidationCase(
        estimator, X, y, case.weights, X_val, rows, y_val, weights_val
    )
