"""Trees are those of the frozen digests, bit by bit, for any number of threads.

What to do where one differs: ``python -m tests.growth.freeze_digests --help``.
"""

from dataclasses import fields

import numpy as np
import pytest

from tests.amount import FACTOR
from tests.growth.blocks import AXES, BLOCKS, LONG_BLOCKS, RULES, list_cases
from tests.growth.cases import DEFAULTS, fit_case, list_trees, name_case
from tests.growth.covering import cover_pairs, keeps_rules
from tests.growth.digests import (
    FILES,
    FOLDER,
    NODE_FIELDS,
    PARTS,
    STRUCTURE,
    SURROGATE_FIELDS,
    VALUES,
    compare_cases,
    describe_machine,
    digest_fields,
    grow_cases,
    list_comparable,
    list_fields,
    make_key,
    read_digests,
)
from tests.growth.freeze_digests import find_difference, freeze, main

ALL_BLOCKS = [*BLOCKS, *(LONG_BLOCKS if FACTOR > 1 else ())]
#: In the short run, one of so many cases of a block is grown with two threads, too.
ONE_OF = 4


@pytest.fixture(scope="module")
def frozen():
    """The frozen digests of all blocks, each with the machine of its file."""
    blocks = {}
    for name in FILES:
        content = read_digests(FOLDER / name)
        for block, digests in content["blocks"].items():
            blocks[block] = digests, content["signature"]
    return blocks


def select_cases(block, n_jobs):
    cases = list_cases(block)
    # Starting threads for the members of small ensembles takes longer than growing.
    is_long = n_jobs == 1 or FACTOR > 1 or block == "large"
    return cases if is_long else cases[::ONE_OF]


@pytest.mark.parametrize("n_jobs", [1, 2])
@pytest.mark.parametrize("block", ALL_BLOCKS)
def test_trees_are_those_frozen(block, n_jobs, frozen):
    cases = select_cases(block, n_jobs)
    lines = compare_cases(cases, grow_cases(cases, n_jobs), *frozen[block])
    assert not lines, f"{len(lines)} of {len(cases)} cases:\n" + "\n".join(lines)


@pytest.mark.parametrize("block", ALL_BLOCKS)
def test_files_hold_the_cases_and_no_others(block, frozen):
    cases = list_cases(block)
    assert {make_key(case) for case in cases} == frozen[block][0].keys()
    assert len(cases) == len(frozen[block][0])


@pytest.mark.parametrize("block", BLOCKS)
def test_cases_keep_the_rules(block):
    for case in list_cases(block):
        assert case.keys() == DEFAULTS.keys()
        assert keeps_rules(case, RULES), name_case(case)


def test_pairs_are_covered():
    """All pairs of values that no rule forbids are in a case of a few hundred rows."""
    for name, axes in AXES.items():
        cases = [c for c in list_cases(name) if c["size"] >= 300]
        met = {
            (one, case[one], other, case[other])
            for case in cases
            for one in axes
            for other in axes
        }
        allowed = [
            {one: a, other: b}
            for one in axes
            for other in axes
            if one != other
            for a in axes[one]
            for b in axes[other]
            if (one, a, other, b) not in met
        ]
        # What is left over needs a third value that another rule forbids.
        left = [case for case in allowed if keeps_rules(case, RULES)]
        assert len(left) <= 0.01 * len(met), left


def test_covering_of_small_axes():
    axes = {"a": (0, 1, 2), "b": (0, 1, 2), "c": (0, 1)}
    rules = [(("a", "b"), lambda a, b: a != b)]
    cases = cover_pairs(axes, rules)
    assert cases == cover_pairs(axes, rules)
    assert cases != cover_pairs(axes, rules, seed=1)
    assert all(case["a"] != case["b"] for case in cases)
    met = {(case["a"], case["b"]) for case in cases}
    assert met == {(a, b) for a in range(3) for b in range(3) if a != b}
    assert len({(case["b"], case["c"]) for case in cases}) == 6
    assert len(cases) < 9


# --------------------------------------------------------------- what the digests see
MIXED = {"table": "mixed", "missing": "everywhere/surrogate", "limit": "depth"}


def change_record(records, field):
    records = records.copy()
    records[field][0] += 1
    return records


@pytest.fixture(scope="module")
def mixed_tree():
    (tree,) = list_trees(fit_case(MIXED))
    assert len(tree.surrogates)
    return tree


def digest_parts(tree):
    return dict(zip(PARTS, digest_fields([list_fields(tree)]).split(), strict=True))


@pytest.mark.parametrize("part", PARTS)
def test_digests_see_every_field(part, mixed_tree):
    before = digest_parts(mixed_tree)
    # A numeric test at the root would have a threshold; here it may be NaN.
    numbers = np.nan_to_num(mixed_tree.nodes["threshold"])
    nodes = mixed_tree.nodes.copy()
    nodes["threshold"] = numbers
    tree = mixed_tree.replace(nodes=nodes)
    plain = digest_parts(tree)
    assert plain[VALUES] == before[VALUES]
    for field in NODE_FIELDS[part]:
        if field in ("feature", "kind"):
            continue  # these say how to read the level maps
        changed = digest_parts(tree.replace(nodes=change_record(tree.nodes, field)))
        assert [p for p in PARTS if changed[p] != plain[p]] == [part], field
    for field in SURROGATE_FIELDS[part]:
        if field in ("feature", "kind", "threshold"):
            continue
        surrogates = change_record(tree.surrogates, field)
        changed = digest_parts(tree.replace(surrogates=surrogates))
        assert [p for p in PARTS if changed[p] != plain[p]] == [part], field


def test_digests_cover_all_fields_that_mean_something(mixed_tree):
    of_nodes = {name for names in NODE_FIELDS.values() for name in names}
    of_surrogates = {name for names in SURROGATE_FIELDS.values() for name in names}
    # Where a map stands tells nothing; what it says is in the digest.
    assert set(mixed_tree.nodes.dtype.names) - of_nodes == {"map_start"}
    assert set(mixed_tree.surrogates.dtype.names) - of_surrogates == {"map_start"}
    others = {f.name for f in fields(mixed_tree)} - {"nodes", "surrogates"}
    assert others == {
        *("statistics", "n_levels", "n_classes", "level_branch"),
        # Of oblique trees, linear leaves and optimal trees, which have their own tests.
        *("terms", "slopes", "bounds"),
        # These come from the parameters and the table, not from growing.
        *("n_features", "is_classifier", "handle_unknown", "schema_version"),
    }


def test_digests_see_level_maps_and_signs_of_zero(mixed_tree):
    before = digest_parts(mixed_tree)
    level_branch = mixed_tree.level_branch.copy()
    is_child = level_branch >= 0
    last = np.flatnonzero(is_child)[-1]
    level_branch[last] = 1 - level_branch[last]
    after = digest_parts(mixed_tree.replace(level_branch=level_branch))
    assert [p for p in PARTS if after[p] != before[p]] == [STRUCTURE]
    zero, minus_zero = (
        digest_parts(mixed_tree.replace(statistics=sign * mixed_tree.statistics))
        for sign in (0.0, -0.0)
    )
    assert [p for p in PARTS if zero[p] != minus_zero[p]] == [VALUES]


def test_values_are_compared_where_the_machine_computes_the_same():
    here = describe_machine()
    other_library = {**here, "logarithms": "another"}
    other_machine = {**here, "machine": "another"}
    by_gini, by_entropy = {"target": "2-classes"}, {"criterion": "entropy"}
    assert list_comparable(by_entropy, here, here) == PARTS
    assert list_comparable(by_gini, other_library, here) == PARTS
    for case in (by_entropy, {"estimator": "c45"}, {"estimator": "bagging+id3"}):
        assert list_comparable(case, other_library, here) == (STRUCTURE,)
    assert list_comparable(by_gini, other_machine, here) == (STRUCTURE,)


def test_differences_are_named():
    cases = [MIXED, {"size": 8}]
    grown, here = grow_cases(cases), describe_machine()
    assert compare_cases(cases, grown, grown, here) == []
    key = make_key(MIXED)
    structure, values = grown[key].split()
    frozen = {key: f"{structure} {values[::-1]}"}
    assert compare_cases(cases, grown, frozen, here) == [
        f"values differ: {name_case(MIXED)}",
        "not frozen: size=8",
    ]
    frozen[key] = "0 0"
    line = compare_cases(cases, grown, frozen, here)[0]
    assert line.startswith("structure and values differ: table=mixed")


# ------------------------------------------------------------------------ the command
def test_freezing_again(tmp_path, monkeypatch, capsys):
    monkeypatch.setitem(BLOCKS, "tiny", lambda: [{"size": 64}, {"size": 65}])
    files = {"tiny.json": ("tiny",)}
    freeze(tmp_path, files)
    assert capsys.readouterr().out == "tiny.json: 2 cases in 1 blocks\n"
    path = tmp_path / "tiny.json"
    assert main(["--compare", str(path)]) == 0
    key = make_key({"size": 65})
    path.write_text(path.read_text().replace(key, "0123456789"))
    capsys.readouterr()
    assert main(["--compare", str(path)]) == 1
    printed = capsys.readouterr().out.splitlines()
    assert printed == [
        "tiny: not frozen: size=65",
        "tiny: 1 frozen cases are no longer listed",
        "1 cases differ",
    ]
    freeze(tmp_path, files)
    assert main(["--compare", str(path)]) == 0


def test_first_node_that_differs_is_named(tmp_path, monkeypatch, capsys):
    path = tmp_path / "trees.pickle"
    monkeypatch.setattr("tests.growth.freeze_digests.LONG_BLOCKS", {})
    only = ["--only", "sizes/size=6"]
    assert main(["--save-trees", str(path), *only]) == 0
    assert main(["--compare", str(path), *only]) == 0
    assert "0 cases differ" in capsys.readouterr().out
    monkeypatch.setattr(
        "tests.growth.freeze_digests.fit_case",
        lambda case: fit_case({**case, "limit": "leaf"}),
    )
    assert main(["--compare", str(path), *only]) == 1
    lines = capsys.readouterr().out.splitlines()
    assert lines[-1] == "3 cases differ"
    assert lines[0].startswith("sizes/size=63: tree 0, structure, ")
    assert " was saved, " in lines[0]


def test_place_of_a_difference():
    (tree,) = list_trees(fit_case({"size": 64}))
    nodes = tree.nodes.copy()
    nodes["impurity"][2] /= 2
    nodes["feature"][4] += 1
    old, new = list_fields(tree), list_fields(tree.replace(nodes=nodes))
    assert find_difference([old], [old]) is None
    message = find_difference([old], [new])
    assert message.startswith("tree 0, values, impurity at 2: ")
    assert find_difference([old, old], [old]) == "1 trees were saved, 0 are grown"
