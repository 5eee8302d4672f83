"""CART: the compiled trees equal those of the reference, node by node."""

import random
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.amount import count_chunks
from tests.reference.cart_route import UnseenLevelError, predict_row
from tests.reference.cases import CRITERIA, make_case, make_frame, make_seeded_case
from tests.reference.compare import find_difference, read_grown_tree

N_CHUNKS = count_chunks(4)
CASES_PER_CHUNK = 200  # 800 tables
KINDS = ("numeric", "ordinal", "nominal")


def check_case(case, source):
    """Fit the case with the kernel and with the reference, and compare every node."""
    estimator = case.fit_kernel()
    difference = find_difference(
        case.grow_reference(), read_grown_tree(estimator.tree_)
    )
    assert difference is None, f"{source}: {difference}\n{case}"


@pytest.mark.parametrize("chunk", range(N_CHUNKS))
def test_random_tables(chunk):
    for seed in range(chunk * CASES_PER_CHUNK, (chunk + 1) * CASES_PER_CHUNK):
        check_case(make_seeded_case(seed), f"make_seeded_case({seed})")


@pytest.mark.parametrize(
    ("task", "criterion"),
    [
        (task, criterion)
        for task, criteria in CRITERIA.items()
        for criterion in criteria
    ],
)
@given(seed=st.integers(0, 2**32))
def test_any_table(task, criterion, seed):
    case = make_case(random.Random(seed), task=task, criterion=criterion)
    check_case(case, f"make_case(random.Random({seed}), {task!r}, {criterion!r})")


def predict_with_kernel(case, estimator, frame):
    """Class shares or values; [row][output][class]."""
    if case.task == "regressor":
        return estimator.predict(frame).reshape(len(frame), -1, 1)
    predicted = estimator.predict_proba(frame)
    outputs = predicted if isinstance(predicted, list) else [predicted]
    return list(zip(*outputs, strict=True))


def list_refused_rows(case, nodes, rows):
    """Numbers of the rows with a level at which handle_unknown="error" raises."""
    refused = []
    for number, row in enumerate(rows):
        try:
            predict_row(nodes, row, case.task, case.settings["handle_unknown"])
        except UnseenLevelError:
            refused.append(number)
    return refused


@pytest.mark.parametrize("chunk", range(4))
def test_new_rows_take_the_same_way(chunk):
    """Values missing, levels never seen: each goes where the reference sends it."""
    n_refused = 0
    for seed in range(chunk * 100, (chunk + 1) * 100):
        case = make_seeded_case(seed)
        columns = case.make_new_columns(random.Random(seed))
        frame = make_frame(columns)
        estimator = case.fit_kernel()
        nodes = read_grown_tree(estimator.tree_)
        rows = list(zip(*(column.values for column in columns), strict=True))
        refused = list_refused_rows(case, nodes, rows)
        if refused:
            n_refused += 1
            with pytest.raises(ValueError, match=r"c\d"):
                predict_with_kernel(case, estimator, frame.iloc[refused[:1]])
        kept = [number for number in range(len(rows)) if number not in refused]
        if not kept:
            continue
        predicted = predict_with_kernel(case, estimator, frame.iloc[kept])
        for number, got in zip(kept, predicted, strict=True):
            row = rows[number]
            expected = predict_row(
                nodes, row, case.task, case.settings["handle_unknown"]
            )
            for output, other in zip(expected, got, strict=True):
                assert list(other) == pytest.approx(output, abs=1e-9), (seed, row)
    assert n_refused > 0


def test_the_tables_cover_every_kind_of_split():
    """The random tables are no use if what they are for never happens."""
    wanted = {
        *product(("learned", "branch", "surrogate"), KINDS, [False]),
        *product(("learned", "branch", "surrogate"), ["nominal"], [True]),
        ("branch", "numeric", True),
        ("threshold", float("inf")),
        *product(["surrogates"], (0, 1, 2, 3)),
        *product(["missing_branch"], (-2, -1, 0, 1, 2)),
    }
    seen = set()
    for seed in range(600):
        case = make_seeded_case(seed)
        for node in case.grow_reference():
            seen.add(
                (case.settings["missing"], node["kind"], len(node["children"]) > 2)
            )
            seen.add(("surrogates", len(node["surrogates"])))
            seen.add(("missing_branch", node["missing_branch"]))
            seen.add(("threshold", node["threshold"]))
        if wanted <= seen:
            return
    assert wanted <= seen, wanted - seen
