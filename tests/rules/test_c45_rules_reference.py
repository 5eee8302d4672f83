"""Rules from a C4.5 tree are those that the plain-Python reference makes of it."""

import numpy as np
import pytest

from sklearn_textbook.tree import C45RulesClassifier
from tests.loops import loop_over
from tests.rules.tables import (
    draw_parameters,
    list_rules,
    make_numeric_table,
    make_reference,
    make_table,
)


def assert_same_as_reference(model, frame, y, weights):
    reference = make_reference(model, frame, y, weights)
    rules, default = reference.make_list()
    assert list_rules(model) == [(rule.rule_class, rule.nodes) for rule in rules]
    found = model.rule_list_
    assert found.rule_class[-1] == default
    assert found.rate[:-1] == pytest.approx([rule.rate for rule in rules])
    assert found.shares == pytest.approx(
        np.array(reference.list_shares(rules, default))
    )
    assert found.weight.sum() == pytest.approx(weights.sum())


# 145 and 293: rules are polished away
@loop_over("seed", [*range(100), 145, 293])
def test_rules_are_those_of_the_reference(seed):
    frame, y, weights = make_table(seed)
    model = C45RulesClassifier(**draw_parameters(seed), n_jobs=1)
    model.fit(frame, y, sample_weight=weights)
    assert_same_as_reference(model, frame, y, weights)


@loop_over("seed", range(30))
def test_rules_with_a_test_of_significance_are_those_of_the_reference(seed):
    frame, y, _ = make_table(seed)
    parameters = draw_parameters(seed) | {"significance": [0.5, 0.05, 0.001][seed % 3]}
    model = C45RulesClassifier(**parameters).fit(frame, y)
    assert_same_as_reference(model, frame, y, np.ones(len(y)))


def test_greedy_search_is_that_of_the_reference():
    X, y = make_numeric_table(0, 500)
    model = C45RulesClassifier(min_samples_leaf=1).fit(X, y)
    weights = np.ones(len(y))
    general = make_reference(model, X, y, weights).list_general_rules()
    assert sum(rule.rule_class == 0 for rule in general) > 10
    assert_same_as_reference(model, X, y, weights)
