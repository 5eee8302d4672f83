"""What must hold for the rows of any table, whatever grows the tree."""

import random
from dataclasses import replace

import pytest
from hypothesis import given

from tests.property.test_cart_properties import (
    any_seed,
    assert_same_nodes,
    grow,
    some_examples,
)
from tests.reference import c45_cases, cases, id3_cases

MAKERS = {
    "cart": cases.make_seeded_case,
    "id3": id3_cases.make_seeded_id3_case,
    "c45": c45_cases.make_seeded_case,
}
of_every_algorithm = pytest.mark.parametrize("make_case", MAKERS.values(), ids=MAKERS)


@of_every_algorithm
@some_examples
@given(seed=any_seed)
def test_rows_of_weight_0_are_no_rows(make_case, seed):
    case = make_case(seed)
    n_rows = len(case.y)
    case = replace(case, weights=[1.0 + row % 2 for row in range(n_rows)])
    # The same rows once more, without weight: their levels and classes are known.
    doubled = case.take([*range(n_rows), *range(n_rows)])
    doubled.weights[n_rows:] = [0.0] * n_rows
    # New numbers in rows without weight make no thresholds.
    for column in doubled.columns:
        if column.kind == "numeric":
            column.values[n_rows:] = [
                None if value is None else value + 0.017
                for value in column.values[n_rows:]
            ]
    assert_same_nodes(grow(case), grow(doubled), case)


@of_every_algorithm
@some_examples
@given(seed=any_seed)
def test_the_order_of_the_rows_does_not_matter(make_case, seed):
    case = make_case(seed)
    rows = list(range(len(case.y)))
    random.Random(seed).shuffle(rows)
    assert_same_nodes(grow(case), grow(case.take(rows)), case)
