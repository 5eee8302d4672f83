"""Tiny runs of every workload: it runs, and its check of the work can fail."""

import json
from dataclasses import replace

import pytest

from benchmarks.__main__ import DIFFERENT_WORK, main
from benchmarks.measure import Timing, fit_exponent, time_alternately
from benchmarks.peers import OWN, PEERS, ScikitLearnTree, sort_out_missing
from benchmarks.report import format_ratio, format_seconds
from benchmarks.run import Comparison, Figure, find_path_differences, find_waiting
from benchmarks.same_work import Comparer, Tolerance
from benchmarks.works import WORKS

SCALE = "0.003"


def run_tiny(*arguments):
    return main(["run", *arguments, "--scale", SCALE, "--repeat", "1"])


@pytest.mark.parametrize("name", WORKS)
def test_workload_runs(name, capsys):
    assert run_tiny(name) == 0
    printed = capsys.readouterr().out
    assert name in printed
    assert "DIFFERENT" not in printed


class StumpTree(ScikitLearnTree):
    """A peer that does less than it was asked for."""

    name = "stump"

    def make_estimator(self, task, n_threads, max_depth):
        return super().make_estimator(task, n_threads, 1)


class CoinTree(ScikitLearnTree):
    """A peer that grows a tree as large, but another one."""

    name = "coin"

    def make_estimator(self, task, n_threads, max_depth):
        estimator = super().make_estimator(task, n_threads, max_depth)
        return estimator.set_params(splitter="random")


@pytest.mark.parametrize(
    ("name", "peer"),
    [(name, StumpTree()) for name in WORKS if name != "cart-nominal"]
    + [("cart-binary", CoinTree()), ("cart-regression", CoinTree())],
)
def test_check_of_the_work_can_fail(name, peer):
    work = WORKS[name]
    comparer = Comparer(OWN, work.make_task(float(SCALE)), 1, work.tolerance)
    _, _, differences = comparer.compare(peer)
    assert differences


def test_different_work_is_reported(monkeypatch, capsys, tmp_path):
    monkeypatch.setitem(PEERS, "stump", StumpTree())
    file = tmp_path / "times.json"
    arguments = ["cart-binary", "--against", "stump", "--json", str(file)]
    assert run_tiny(*arguments) == DIFFERENT_WORK
    printed = capsys.readouterr().out
    assert "DIFFERENT WORK" in printed
    assert "leaves against 2" in printed
    written = json.loads(file.read_text())
    assert written["comparisons"][0]["verdict"] == "DIFFERENT WORK"
    assert len(written["comparisons"][0]["ours"]["seconds"]) == 1
    assert written["machine"]["cores"] >= 1
    assert "node" not in written["machine"]


def test_missing_peer_is_named(monkeypatch, capsys):
    class AbsentTree(ScikitLearnTree):
        name = "absent"
        package = "surely-not-installed-here"

    monkeypatch.setitem(PEERS, "absent", AbsentTree())
    assert run_tiny("cart-iris", "--against", "absent", "scikit-learn") == 0
    assert "not installed, left out: absent" in capsys.readouterr().out
    assert run_tiny("cart-iris", "--against", "absent") == 0
    assert "seconds" in capsys.readouterr().out


def test_peer_that_cannot_do_the_work_is_named(capsys):
    run_tiny("cart-nominal", "--against", "scikit-learn")
    assert "scikit-learn left out: no nominal columns" in capsys.readouterr().out


def test_list(capsys):
    assert main(["list"]) == 0
    printed = capsys.readouterr().out
    assert all(name in printed for name in [*WORKS, *PEERS])


@pytest.mark.parametrize(
    "arguments",
    [
        ["cart-unknown"],
        ["cart-iris", "--against", "nobody"],
        ["cart-iris", "--repeat", "0"],
        ["cart-iris", "--threads", "0"],
        ["cart-iris", "--scale", "0"],
    ],
)
def test_wrong_arguments_are_refused(arguments, capsys):
    with pytest.raises(SystemExit) as stop:
        main(["run", *arguments])
    assert stop.value.code == 2
    assert "error" in capsys.readouterr().err


def test_calls_alternate_and_short_ones_are_repeated():
    order = []
    calls = {"a": lambda: order.append("a"), "b": lambda: order.append("b")}
    times = time_alternately(calls, 3)
    assert [len(t.seconds) for t in times.values()] == [3, 3]
    changes = [
        name
        for name, last in zip(order, [None, *order[:-1]], strict=True)
        if name != last
    ]
    assert changes == ["a", "b"] * 4
    assert len(order) > 2 * 4


def test_busy_machine_is_noted():
    work = WORKS["cart-binary"]
    quiet, busy = Timing([1.0], [1.0]), Timing([2.0], [1.0])
    assert find_waiting(work, {(OWN, 1): quiet, (OWN, 2): busy}) == []
    assert "2.00 times" in find_waiting(work, {(OWN, 1): busy})[0]


def test_fit_exponent():
    assert fit_exponent([10, 100, 1000], [2e-3, 2e-2, 2e-1]) == pytest.approx(1)
    assert fit_exponent([10, 100, 1000], [1, 100, 10_000]) == pytest.approx(2)


def make_comparison(**changes):
    ours, theirs = Timing([1.0, 2.0, 3.0]), Timing([80.0, 90.0, 10.0])
    comparison = Comparison("w", 1, "p", ours, theirs, 40, 5, 5, 1.0, 1.0)
    return replace(comparison, **changes)


def test_verdicts():
    assert make_comparison().ratio == 40
    assert make_comparison().verdict == "pass"
    assert make_comparison(needed=41).verdict == "short"
    assert make_comparison(needed=None).verdict == "-"
    assert make_comparison(differences=["x"]).verdict == "DIFFERENT WORK"
    figure = Figure("w", "t", 1, "exponent", 1.2, 1.25, {})
    assert figure.verdict == "pass"
    assert replace(figure, value=1.3).verdict == "short"
    assert replace(figure, limit=None).verdict == "-"


def test_paths_that_differ_are_found():
    task = WORKS["cart-ccp-path"].make_task(float(SCALE))
    path = ScikitLearnTree().make_path(task, 1)()
    stump = StumpTree().make_path(task, 1)()
    assert find_path_differences(path, path) == []
    assert find_path_differences(path, stump)


def test_formats():
    assert [format_seconds(s) for s in (12.345, 0.0123, 1.5e-5, 250)] == [
        "12.3 s",
        "12.3 ms",
        "15 us",
        "250 s",
    ]
    assert [format_ratio(r) for r in (None, 1.234, 56.78, 123.4)] == [
        "-",
        "1.23",
        "56.8",
        "123",
    ]


def test_needed_ratios_of_the_main_workload():
    work = WORKS["cart-binary"]
    assert work.needed_ratio("scikit-learn", 1) == 40
    assert work.needed_ratio("scikit-learn", 2) == 60
    assert work.needed_ratio("ydf", 1) == 10
    assert work.needed_ratio("ydf", 8) == 15
    assert work.needed_ratio("another", 1) is None


def test_unknown_peer():
    with pytest.raises(ValueError, match=r"unknown peer nobody; known are .*ydf"):
        sort_out_missing(["nobody"])
    assert Tolerance().leaves < 0.05
