"""AdaBoostClassifier and Weka's AdaBoostM1, over the same C4.5 trees.

Their weights of members are twice the book's. Drawn rows depend on the random numbers:
there the weights of the first rounds have to be distributed alike.
"""

import random

import numpy as np
import pytest
from numpy.testing import assert_allclose

from sklearn_textbook.ensemble import AdaBoostClassifier
from sklearn_textbook.tree import C45Classifier
from tests.differential.j48 import require_weka, run_oracle, write_table
from tests.reference.cart_tree import Column

N_RUNS = 300


def make_table(path):
    """Numbers that say something of the class, and labels of which some are wrong."""
    generator = random.Random(0)
    columns = [
        Column([round(generator.gauss(0, 1), 2) for _ in range(120)]) for _ in range(3)
    ]
    y = [
        int(a + b * b + generator.gauss(0, 1) > 1)
        for a, b in zip(columns[0].values, columns[1].values, strict=True)
    ]
    return write_table(path, columns, y, 2)


def boost_with_weka(table, options, directory):
    """The members' weights for every line of options."""
    runs, answers = directory / "runs.txt", directory / "answers.txt"
    runs.write_text("".join(f"{line}\n" for line in options))
    run_oracle("AdaBoostOracle", table.path, runs, answers)
    return [np.array(line.split(), float) for line in answers.read_text().splitlines()]


@pytest.mark.slow
def test_same_first_members_from_weights(tmp_path):
    require_weka()
    table = make_table(tmp_path / "table.arff")
    (theirs,) = boost_with_weka(
        table, ["-I 2 -W weka.classifiers.trees.J48 -- -M 15"], tmp_path
    )
    ours = AdaBoostClassifier(C45Classifier(min_samples_leaf=15), n_estimators=2)
    ours.fit(table.frame, table.y)
    assert_allclose(2 * ours.estimator_weights_, theirs, rtol=1e-9)


@pytest.mark.slow
def test_drawn_rows_give_weights_distributed_alike(tmp_path):
    require_weka()
    table = make_table(tmp_path / "table.arff")
    theirs = boost_with_weka(
        table,
        [
            f"-Q -S {seed} -I 3 -W weka.classifiers.trees.J48 -- -M 15"
            for seed in range(1, N_RUNS + 1)
        ],
        tmp_path,
    )
    model = AdaBoostClassifier(
        C45Classifier(min_samples_leaf=15),
        n_estimators=3,
        sampling="resample",
        max_restarts=0,
        n_jobs=1,
    )
    ours = []
    for seed in range(N_RUNS):
        model.set_params(random_state=seed).fit(table.frame, table.y)
        ours.append(2 * model.estimator_weights_)
    for number in range(3):
        samples = [
            np.array([weights[number] for weights in runs if len(weights) > number])
            for runs in (ours, theirs)
        ]
        # Boosting may end early, rarely.
        assert min(map(len, samples)) > 0.9 * N_RUNS
        means = [sample.mean() for sample in samples]
        spread = sum(sample.var() / len(sample) for sample in samples)
        assert abs(means[0] - means[1]) < 4 * np.sqrt(spread), (number, means)
        ratio = samples[0].std() / samples[1].std()
        assert 0.75 < ratio < 1.33, (number, ratio)
