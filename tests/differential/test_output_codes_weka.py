"""OutputCodeClassifier and Weka's MultiClassClassifier, over the same C4.5 trees."""

import random

import numpy as np
import pytest
from numpy.testing import assert_allclose

from sklearn_textbook.ensemble import OutputCodeClassifier
from sklearn_textbook.tree import C45Classifier
from tests.differential.j48 import require_weka, run_oracle, write_table
from tests.reference.cart_tree import Column

#: Weka's numbers of its codes, and our names.
METHODS = {"0": "one_vs_rest", "2": "exhaustive"}


def make_table(path, n_classes):
    """Numbers, some missing, around one centre for each class."""
    generator = random.Random(n_classes)
    centres = [[generator.gauss(0, 1) for _ in range(3)] for _ in range(n_classes)]
    y = [generator.randrange(n_classes) for _ in range(150)]
    columns = [
        Column(
            [
                None
                if generator.random() < 0.05
                else round(centres[label][number] + generator.gauss(0, 0.7), 2)
                for label in y
            ]
        )
        for number in range(3)
    ]
    return write_table(path, columns, y, n_classes)


def ask_weka(table, n_classes, directory):
    """The class distributions of all rows for each of the methods."""
    runs, answers = directory / "runs.txt", directory / "answers.txt"
    lines = [f"-M {method} -W weka.classifiers.trees.J48" for method in METHODS]
    runs.write_text("".join(f"{line}\n" for line in lines))
    run_oracle("OutputCodeOracle", table.path, runs, answers)
    lines = answers.read_text().splitlines()
    return [np.array(line.split(), float).reshape(-1, n_classes) for line in lines]


@pytest.mark.slow
@pytest.mark.parametrize("n_classes", [3, 4, 6])
def test_same_scores_of_the_classes(tmp_path, n_classes):
    require_weka()
    table = make_table(tmp_path / "table.arff", n_classes)
    all_theirs = ask_weka(table, n_classes, tmp_path)
    for name, theirs in zip(METHODS.values(), all_theirs, strict=True):
        model = OutputCodeClassifier(C45Classifier(), code=name)
        model.fit(table.frame, table.y)
        # Weka adds up the shares of the sides on which a class is, and scales the sums
        # to a total of 1.
        shares = model.decision_function(table.frame) + model.code_book_.shape[1]
        ours = shares / shares.sum(axis=1, keepdims=True)
        assert_allclose(ours, theirs, rtol=1e-9, atol=1e-12)
