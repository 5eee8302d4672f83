"""The command that counts instructions: its arguments, its table, its counts."""

import importlib
import json
import pickle
from functools import partial

import pytest

from benchmarks import callgrind, instructions
from benchmarks.__main__ import main
from benchmarks.callgrind import (
    CounterUnavailableError,
    Requests,
    count_instructions,
    find_valgrind,
)
from benchmarks.counted_works import COUNTED_WORKS, N_TREES
from benchmarks.instructions import Count, format_counts, read_counts, write_counts


def is_unavailable():
    try:
        find_valgrind()
    except CounterUnavailableError:
        return True
    return False


needs_counter = pytest.mark.skipif(is_unavailable(), reason="no valgrind")


@pytest.mark.parametrize("name", COUNTED_WORKS)
def test_works_run(name):
    # The counter makes calls in processes of their own.
    call = pickle.loads(pickle.dumps(COUNTED_WORKS[name].make_call(0.003)))
    call()
    estimator = call.estimator
    assert estimator.get_params().get("n_jobs", 1) == 1
    n_trees = COUNTED_WORKS[name].parameters.get("n_estimators", N_TREES)
    assert len(getattr(estimator, "estimators_", [None] * n_trees)) == n_trees
    limited = COUNTED_WORKS[name].parameters.get("max_leaf_nodes")
    trees = getattr(estimator, "estimators_", [estimator])
    assert limited is None or all(tree.get_n_leaves() == limited for tree in trees)


@needs_counter
def test_sums_of_more_numbers_take_more_instructions():
    sums = [partial(sum, range(n)) for n in (10_000, 20_000, 20_000)]
    one, two, again = count_instructions(sums)
    assert one > 10_000
    assert two == pytest.approx(2 * one, rel=0.05)
    assert again == pytest.approx(two, rel=1e-3)


@needs_counter
def test_calls_that_fail_are_told():
    with pytest.raises(RuntimeError, match="(?s)counting failed.*ZeroDivisionError"):
        count_instructions([partial(divmod, 1, 0)])


class Sum:
    """A work without imports, which take long under the counter."""

    def make_call(self, scale):
        return partial(sum, range(round(2_000_000 * scale)))


@needs_counter
def test_command(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(instructions, "MODULES", ("decimal",))
    monkeypatch.setattr(instructions, "COUNTED_WORKS", {"tree": Sum(), "sum": Sum()})
    before, after = (str(tmp_path / name) for name in ("before.json", "after.json"))
    write_counts(before, 0.005, [Count("tree", 1_000_000, 0.001)])
    arguments = ["instructions", "--only", "tree,sum", "--scale", "0.005"]
    arguments += ["--repeat", "1", "--baseline", before, "--save", after]
    assert main(arguments) == 0
    tree, other = read_counts(after, 0.005)
    assert (tree.work, other.work) == ("tree", "sum")
    assert min(tree.instructions, other.instructions) > 1e5
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].split()[:3] == ["work", "million", "instructions"]
    ratio = float(lines[2].split()[-3])
    assert ratio == pytest.approx(tree.instructions / 1e6, abs=1e-4)


@pytest.mark.parametrize("name", instructions.MODULES)
def test_modules_that_are_imported_for_all_calls_exist(name):
    importlib.import_module(name)


def test_without_valgrind(monkeypatch, capsys):
    monkeypatch.setattr(callgrind.shutil, "which", lambda name: None)
    if callgrind.platform.machine() == "x86_64":
        with pytest.raises(CounterUnavailableError, match="valgrind, which is not on"):
            find_valgrind()
    with pytest.raises(SystemExit):
        main(["instructions", "--only", "tree", "--scale", "0.001"])
    assert "instructions are counted" in capsys.readouterr().err


def test_other_processors_are_refused(monkeypatch):
    monkeypatch.setattr(callgrind.platform, "machine", lambda: "riscv64")
    with pytest.raises(CounterUnavailableError, match="with riscv64"):
        find_valgrind()


@needs_counter
def test_requests_do_nothing_without_valgrind():
    assert Requests().send(callgrind.RUNNING) == 0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--only", "tree,none"], "unknown work none"),
        (["--scale", "0"], "must be positive"),
        (["--repeat", "0"], "must be positive"),
        (["--baseline", "no-such-file"], "no-such-file"),
    ],
)
def test_arguments_are_checked(arguments, message, capsys):
    with pytest.raises(SystemExit):
        main(["instructions", *arguments])
    assert message in capsys.readouterr().err


def test_ratios_to_a_baseline(tmp_path):
    counts = [Count("tree", 3_000_000, 0.002), Count("forest", 5, 0.1)]
    assert format_counts(counts).splitlines() == [
        "work    million instructions    time",
        "------  --------------------  ------",
        "tree                    3.00    2 ms",
        "forest                  0.00  100 ms",
    ]
    path = tmp_path / "counts.json"
    write_counts(path, 0.2, [Count("tree", 2_000_000, 0.001)])
    tree, forest = format_counts(counts, read_counts(path, 0.2)).splitlines()[2:]
    assert tree.split()[1:] == ["3.00", "2", "ms", "2.00", "1.5000", "1", "ms"]
    assert forest.split()[-3:] == ["-", "-", "-"]
    with pytest.raises(ValueError, match=r"counted with --scale 0\.2"):
        read_counts(path, 1.0)
    assert json.loads(path.read_text())["machine"]["cores"] >= 1
