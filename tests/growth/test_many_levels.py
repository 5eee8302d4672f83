"""The warning of ID3 and C4.5 about a nominal column of many levels."""

import re
import warnings

import numpy as np
import pandas as pd
import pytest

from sklearn_textbook.tree import C45Classifier, C45RulesClassifier, ID3Classifier

pytestmark = pytest.mark.filterwarnings("error")
WARNING = "Column 'town' with 40 levels is split into 40 branches"


def draw_table(effect, n_rows=4000, n_levels=40, seed=0):
    """Towns that shift the log-odds, and a number without effect."""
    rng = np.random.default_rng(seed)
    towns = rng.integers(0, n_levels, n_rows)
    table = pd.DataFrame({"town": towns.astype(str), "x": rng.normal(size=n_rows)})
    shift = effect * rng.normal(size=n_levels)
    return table, rng.logistic(size=n_rows) < shift[towns]


@pytest.mark.parametrize(
    "tree", [ID3Classifier(max_depth=1), C45Classifier(pruning=None, max_depth=1)]
)
def test_a_column_without_effect_is_named(tree):
    table, y = draw_table(0.0)
    table = table[["town"]]
    with pytest.warns(UserWarning, match=WARNING) as caught:
        tree.fit(table, y)
    assert len(caught) == 1
    assert caught[0].filename == __file__
    share = float(
        re.search(r"would have (\d+)% of its gain", str(caught[0].message))[1]
    )
    assert share >= 50


def test_share_of_chance():
    """A column without effect gains what the warning says, on average."""
    shares = []
    for seed in range(20):
        table, y = draw_table(0.0, seed=seed)
        table = table[["town"]]
        with pytest.warns(UserWarning, match=WARNING) as caught:
            ID3Classifier(max_depth=1).fit(table, y)
        text = str(caught[0].message)
        shares.append(int(re.search(r"would have (\d+)% of its gain", text)[1]))
    assert 80 < np.mean(shares) <= 100


def test_a_column_with_effect_is_not():
    table, y = draw_table(1.0)
    assert ID3Classifier(max_depth=1).fit(table, y).tree_.n_leaves == 40
    C45Classifier().fit(table, y)


def test_few_levels_and_small_nodes_are_not():
    table, y = draw_table(0.0, n_levels=9)
    ID3Classifier(max_depth=1).fit(table, y)
    # Only below the root, in branches of less than a tenth of the rows.
    rng = np.random.default_rng(1)
    table, _ = draw_table(0.0)
    table["group"] = rng.integers(0, 30, len(table)).astype(str)
    y = (table["group"].astype(int) % 2 == 0) ^ (rng.uniform(size=len(table)) < 0.1)
    ID3Classifier(max_depth=2).fit(table, y)


def test_rules_warn_once():
    rng = np.random.default_rng(0)
    table = pd.DataFrame({"town": rng.integers(0, 40, 400).astype(str)})
    y = rng.uniform(size=400) < 0.5
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        C45RulesClassifier(min_samples_leaf=1).fit(table, y)
    messages = [str(one.message) for one in caught]
    assert sum(message.startswith("Column 'town'") for message in messages) <= 1
