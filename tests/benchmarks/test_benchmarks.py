"""Tiny runs of every workload: it runs, and its check of the work can fail."""

import gc
import json
import os
import sys
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from benchmarks.__main__ import DIFFERENT_WORK, STUDIES, main
from benchmarks.boosting import ScikitLearnAdaBoost
from benchmarks.decompositions import ScikitLearnTruncatedSVD
from benchmarks.forests import ScikitLearnForest, YdfForest
from benchmarks.gradient_boosting import HistogramBoosting
from benchmarks.measure import Timing, fit_exponent, time_alternately
from benchmarks.multiway import PDecisionTree
from benchmarks.peers import (
    OWN,
    PEERS,
    GridSearch,
    OwnTree,
    ScikitLearnTree,
    sort_out_missing,
)
from benchmarks.programs import ProgramRun, read_number, run_program
from benchmarks.ranger import RangerForest, find_ranger_version
from benchmarks.report import (
    format_document_table,
    format_ratio,
    format_seconds,
    read_comparisons,
    write_json,
)
from benchmarks.rpart import RpartTree, find_rpart_version
from benchmarks.run import Comparison, Figure, find_path_differences, find_waiting
from benchmarks.same_work import (
    Comparer,
    Outcome,
    Tolerance,
    add_chance,
    find_differences,
    observe,
)
from benchmarks.tasks import (
    C45,
    CART,
    CART_ALPHA,
    EXTRA_TREES,
    FOREST,
    FORESTS,
    ID3,
    OBLIQUE_FOREST,
    OBLIQUE_TREE,
    REGRESSION,
    Task,
    make_frame,
)
from benchmarks.treeple import TreepleForest, find_treeple_version
from benchmarks.weka import WekaId3Tree
from benchmarks.works import WORKS

SCALE = "0.003"


#: Programs take a while to start: here with some of the peers only.
FEW_PEERS = {
    "c45-numeric": ("c5.0",),  # J48 gets the same with missing cells
    "cart-alpha-choice": ("grid-search", "rpart"),
    "cart-alpha-choice-regression": ("grid-search", "rpart-default"),
}
FEW_FORESTS = ("scikit-learn-forest", "ydf-forest", "scikit-learn-intelex")
FEW_PEERS["oblique-forest"] = ("ydf-forest", "treeple")


def choose_peers(name):
    if name in FEW_PEERS:
        return FEW_PEERS[name]
    if WORKS[name].make_task(float(SCALE)).algorithm in FORESTS:
        return FEW_FORESTS
    return PEERS


def run_tiny(*arguments):
    return main(["run", *arguments, "--scale", SCALE, "--repeat", "1"])


@pytest.fixture
def quick_search(monkeypatch):
    """Few alphas and folds, and no processes to start."""
    monkeypatch.setattr(GridSearch, "n_folds", 3)
    monkeypatch.setattr(GridSearch, "n_alphas", 6)
    monkeypatch.setattr(GridSearch, "n_processes", 1)


@pytest.fixture
def few_objects_to_collect():
    """Garbage is collected before each timed call: not among all that was imported."""
    gc.freeze()


@pytest.mark.parametrize("name", [name for name in WORKS if name != "forest-memory"])
# The tables of some discriminant analyses have sums of others as columns.
@pytest.mark.filterwarnings("ignore:Columns are linearly dependent within classes")
@pytest.mark.usefixtures("quick_search", "few_objects_to_collect")
def test_workload_runs(name, capsys):
    # Threads of linear algebra wait for each other, spinning, on busy cores.
    n_threads = "1" if name.startswith("discriminant-") else "2"
    threads = () if name in ("cart-binary", "forest") else ("--threads", n_threads)
    assert run_tiny(name, "--against", *choose_peers(name), *threads) == 0
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


class OwnStump(OwnTree):
    """Our tree with one test, as a peer that cannot be asked for a depth."""

    name = "own stump"
    limits_depth = False

    def make_estimator(self, task, n_threads, max_depth):
        return super().make_estimator(task, n_threads, 1)


class FewComponents(ScikitLearnTruncatedSVD):
    """A decomposition with fewer components than it was asked for."""

    name = "few components"

    def make_fit(self, task, n_threads, max_depth=None):
        return super().make_fit(replace(task, n_components=9), n_threads)


class FewRounds(ScikitLearnAdaBoost):
    """Fewer stumps than it was asked for."""

    name = "few rounds"

    def make_fit(self, task, n_threads, max_depth=None):
        fit = super().make_fit(task, n_threads)

        def fit_few():
            model = fit()
            del model.estimators_[5:]
            return model

        return fit_few


class FewGradientRounds(HistogramBoosting):
    """Fewer rounds than it was asked for."""

    name = "few gradient rounds"

    def make_fit(self, task, n_threads, max_depth=None):
        return super().make_fit(replace(task, n_trees=2, max_bins=255), n_threads)


def choose_lazy_peer(name):
    """A peer that does too little of a work."""
    if name.startswith("gradient-boosting"):
        return FewGradientRounds()
    if name.startswith("adaboost"):
        return FewRounds()
    if name.startswith("svd-"):
        return FewComponents()
    return OwnStump() if name.startswith(("c45-", "id3-")) else StumpTree()


@pytest.mark.parametrize(
    ("name", "peer"),
    [(name, choose_lazy_peer(name)) for name in WORKS if name != "cart-nominal"]
    + [("cart-binary", CoinTree()), ("cart-regression", CoinTree())],
)
@pytest.mark.filterwarnings("ignore:Columns are linearly dependent within classes")
def test_check_of_the_work_can_fail(name, peer):
    work = WORKS[name]
    comparer = Comparer(OWN, work.make_task(float(SCALE)), 1, work.find_tolerance)
    _, _, differences = comparer.compare(peer)
    assert differences


def test_what_a_peer_does_not_tell_is_not_compared():
    ours = Outcome(5, 9, 0.9, np.array([0, 1]))
    theirs = Outcome(5, None, 0.9, None)
    assert find_differences(ours, theirs, Tolerance(slack=0)) == []
    fewer = replace(theirs, n_nodes=7, answers=np.array([0, 0]))
    assert find_differences(ours, fewer, Tolerance(slack=0)) == [
        "9 nodes against 7",
        "the trees agree on 50.0% of the rows only",
    ]


def test_peers_are_asked_for_their_trees_only():
    for work in WORKS.values():
        task = work.make_task(float(SCALE))
        assert task.algorithm in OWN.algorithms
        is_alone = task.algorithm == OBLIQUE_TREE
        peers = [peer for peer in PEERS.values() if task.algorithm in peer.algorithms]
        assert bool(peers) != is_alone
        assert set(work.needed) <= {
            name for name, peer in PEERS.items() if task.algorithm in peer.algorithms
        }
    assert PEERS["scikit-learn"].algorithms == (CART,)
    assert PEERS["j48"].algorithms == (C45,)
    for name in ("grid-search", "rpart", "rpart-default"):
        assert PEERS[name].algorithms == (CART_ALPHA,)
    assert PEERS["ranger"].algorithms == (FOREST, EXTRA_TREES)
    assert PEERS["treeple"].algorithms == (OBLIQUE_FOREST,)


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
    assert "not at hand, left out: absent" in capsys.readouterr().out
    assert run_tiny("cart-iris", "--against", "absent") == 0
    assert "seconds" in capsys.readouterr().out


def test_peer_that_cannot_do_the_work_is_named(capsys):
    run_tiny("cart-nominal", "--against", "scikit-learn")
    assert "scikit-learn left out: no nominal columns" in capsys.readouterr().out


def test_peer_that_takes_long_has_to_be_asked_for(monkeypatch, capsys):
    class PatientTree(ScikitLearnTree):
        name = "patient"
        patient_rows = 100

    monkeypatch.setitem(PEERS, "patient", PatientTree())
    run_tiny("cart-binary", "--against", "patient")
    assert "patient left out: slow from 100 rows on" in capsys.readouterr().out
    run_tiny("cart-binary", "--against", "patient", "--large")
    assert "left out" not in capsys.readouterr().out


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
    search = GridSearch()
    search.n_processes = 1
    assert find_waiting(work, {(search, 1): busy})
    search.n_processes = 2
    assert find_waiting(work, {(search, 1): busy}) == []


def test_call_that_states_its_time_is_believed():
    calls = {"a": lambda: ProgramRun("", own_seconds=8.0, waiting=2.0)}
    times = time_alternately(calls, 2)["a"]
    assert times.seconds == [8.0, 8.0]
    assert times.cpu_seconds == [4.0, 4.0]


def test_programs_that_fail_or_keep_silent(tmp_path):
    with pytest.raises(RuntimeError, match="nothing like"):
        read_number(r"Time: (\d+)", "no time")
    with pytest.raises(RuntimeError, match="failed"):
        run_program(["python3", str(tmp_path / "none.py")], "x")


@pytest.mark.skipif(os.name == "nt", reason="the stand-in is a shell script")
def test_summary_of_c50_is_read(monkeypatch, tmp_path):
    program = tmp_path / "c5.0"
    program.write_text(
        """#!/bin/sh
echo 'C5.0 [Release 2.07 GPL Edition]'
[ "$1" = -h ] && exit 1
[ -s "$2.names" ] && [ -s "$2.data" ] || exit 2
printf 'Decision tree:\\n\\nEvaluation on training data (200 cases):\\n\\n'
printf '\\t    Decision Tree   \\n\\t  ----------------  \\n'
printf '\\t  Size      Errors  \\n\\n\\t    14   24(12.0%%)   <<\\n\\n'
printf '\\nTime: 3.9 secs\\n'
"""
    )
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=os.pathsep)
    peer = PEERS["c5.0"]
    assert peer.find_version() == "2.07"
    task = WORKS["c45-missing"].make_task(0.002)
    model = peer.make_fit(task, 1)()
    assert model.own_seconds == 3.9
    assert peer.count_leaves(model) == 14
    assert peer.training_score(model, task) == pytest.approx(0.88)


@pytest.mark.skipif(os.name == "nt", reason="the stand-in is a shell script")
def test_answers_of_rpart_are_read(monkeypatch, tmp_path):
    """A stand-in that answers with the classes of as many training rows."""
    program = tmp_path / "Rscript"
    program.write_text(
        """#!/bin/sh
[ "$1" = -e ] && { printf 4.1.19; exit 0; }
[ -s "$1" ] && [ -s "$2/X" ] && [ -s "$2/X_test" ] || exit 2
[ "$3 $4 $5 $6 $7 $8" = "classification 6 4 2 2 1" ] || exit 3
head -c 32 "$2/y" > "$2/answers"
printf 'Leaves: 7 \\nTime taken: 0.125 seconds\\n'
"""
    )
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=os.pathsep)
    find_rpart_version.cache_clear()
    peer = RpartTree()
    assert peer.find_version() == "4.1.19"
    find_rpart_version.cache_clear()
    X, y = np.zeros((6, 2)), np.array([0, 1, 1, 0, 1, 1])
    task = Task(X, y, X_test=X[:4], y_test=y[2:], algorithm=CART_ALPHA)
    outcome = observe(peer, task, 1, None)
    assert outcome == Outcome(7, None, 0.25, None)
    with pytest.raises(RuntimeError, match="4 rows only"):
        peer.make_predict(peer.make_fit(task, 1)(), task, 1)
    assert peer.make_fit(task, 1)().own_seconds == 0.125


@pytest.mark.skipif(os.name == "nt", reason="the stand-in is a shell script")
def test_answers_of_ranger_are_read(monkeypatch, tmp_path):
    """A stand-in whose shares of the second class are the classes of training rows."""
    program = tmp_path / "Rscript"
    program.write_text(
        """#!/bin/sh
[ "$1" = -e ] && { printf 0.14.1; exit 0; }
[ -s "$1" ] && [ -s "$2/X" ] && [ -s "$2/X_test" ] || exit 2
[ "$3 $4 $5 $6 $7 $8 $9 ${10}" = "classification extra 6 4 9 50 3 2" ] || exit 3
head -c 32 "$2/y" > "$2/answers"
head -c 32 "$2/y" >> "$2/answers"
printf 'Leaves: 7.26 \\nTime taken: 0.125 seconds\\n'
"""
    )
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=os.pathsep)
    find_ranger_version.cache_clear()
    peer = RangerForest()
    assert peer.find_version() == "0.14.1"
    find_ranger_version.cache_clear()
    X, y = np.zeros((6, 9)), np.array([0, 1, 1, 0, 1, 1])
    task = Task(X, y, X_test=X[:4], y_test=y[2:], algorithm=EXTRA_TREES)
    task = replace(task, n_trees=50, max_features="sqrt")
    model = peer.make_fit(task, 2)()
    held_out = replace(task, X=task.X_test, y=task.y_test)
    shares = peer.make_predict(model, held_out, 2)()
    assert shares.tolist() == [[0, 0], [1, 1], [1, 1], [0, 0]]
    assert peer.count_leaves(model) == 7
    with pytest.raises(RuntimeError, match="4 rows only"):
        peer.make_predict(model, task, 2)
    assert peer.refusal(task) is None
    assert peer.refusal(replace(task, max_bins=255)) == "no bins"


@pytest.mark.parametrize("name", ["forest", "forest-regression"])
def test_forests_of_r_are_as_good(name):
    ranger = PEERS["ranger"]
    if ranger.find_version() is None:
        pytest.skip("R's ranger is not at hand")
    work = WORKS[name]
    task = work.make_task(float(SCALE))
    comparer = Comparer(OWN, task, 1, work.find_tolerance)
    assert comparer.compare(ranger)[2] == []


def test_columns_that_a_forest_draws():
    task = Task(np.zeros((2, 20)), np.arange(2))
    assert replace(task, max_features="sqrt").n_drawn_columns == 4
    assert replace(task, max_features=0.1).n_drawn_columns == 2
    assert replace(task, max_features=0.01).n_drawn_columns == 1


def test_ydf_takes_forests_of_numbers_only():
    task = WORKS["cart-nominal"].make_task(float(SCALE))
    assert YdfForest().refusal(task)
    assert ScikitLearnForest().refusal(task)
    task = WORKS["forest-regression"].make_task(float(SCALE))
    assert task.kind == REGRESSION
    assert YdfForest().refusal(task) is None


def test_memory_and_pickle_are_over_those_of_the_peer(capsys):
    arguments = ("--against", "scikit-learn-forest")
    assert run_tiny("forest-memory", *arguments) == 0
    printed = capsys.readouterr().out
    for what in ("peak memory", "pickle"):
        (line,) = [line for line in printed.splitlines() if f"  {what} over" in line]
        assert line.split()[-2] == "1"


def test_slow_peers_of_a_work_have_to_be_asked_for(monkeypatch, capsys):
    work = replace(WORKS["forest"], patient_rows={"scikit-learn-forest": 100})
    monkeypatch.setitem(WORKS, "forest", work)
    run_tiny("forest", "--against", "scikit-learn-forest")
    assert "scikit-learn-forest left out: slow from 100" in capsys.readouterr().out


def test_rpart_refuses_what_would_take_minutes():
    rpart, default = PEERS["rpart"], PEERS["rpart-default"]
    for name, is_refused in (
        ("cart-alpha-choice", False),
        ("cart-alpha-choice-regression", True),
    ):
        task = WORKS[name].make_task(1.0)
        assert (rpart.refusal(task) is not None) == is_refused
        assert default.refusal(task) is None


def test_chance_counts_less_with_more_rows():
    tolerance = Tolerance(score=0.005, chance=1.0)
    assert add_chance(tolerance, 100).score == pytest.approx(0.105)
    assert add_chance(tolerance, 1_000_000).score == pytest.approx(0.006)
    assert add_chance(Tolerance(), 100) == Tolerance()


@pytest.mark.usefixtures("quick_search")
def test_alpha_is_searched_for():
    task = WORKS["cart-alpha-choice"].make_task(float(SCALE))
    search = GridSearch()
    chosen = search.make_fit(task, 1)()
    full = ScikitLearnTree().make_fit(task, 1)()
    assert chosen.ccp_alpha > 0
    assert 1 < search.count_leaves(chosen) < search.count_leaves(full)


@pytest.mark.parametrize(
    ("name", "limit"), [("cart-alpha-choice-large", "15"), ("oblique-tree", "-")]
)
def test_multiple_of_one_fit(name, limit, capsys):
    assert run_tiny(name, "--threads", "1") == 0
    line = capsys.readouterr().out.splitlines()[2].split()
    assert line[:3] == [name, "1", "sklearn_textbook"]
    assert 1 < float(line[-3]) < 1_000
    assert line[-2] == limit


def test_answers_of_treeple_are_read(monkeypatch, tmp_path):
    """A package of the same name whose forests answer with the means of the rows."""
    package = tmp_path / "treeple"
    package.mkdir()
    (tmp_path / "treeple-0.10.dist-info").mkdir()
    (tmp_path / "treeple-0.10.dist-info" / "METADATA").write_text(
        "Metadata-Version: 2.1\nName: treeple\nVersion: 0.10\n"
    )
    (package / "__init__.py").write_text("")
    (package / "ensemble.py").write_text(
        """
class Tree:
    def get_n_leaves(self):
        return 7

class ObliqueRandomForestClassifier:
    def __init__(self, n_estimators, **options):
        assert options == {
            "max_features": 5, "n_jobs": 2, "feature_combinations": 2.0,
            "random_state": 0,
        }
        self.estimators_ = [Tree()] * n_estimators

    def fit(self, X, y):
        assert X.shape == (6, 9) and y.shape == (6,)

    def predict_proba(self, X):
        return X[:, :2]
"""
    )
    monkeypatch.setenv("TREEPLE_PYTHON", sys.executable)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    find_treeple_version.cache_clear()
    peer = TreepleForest()
    assert peer.find_version() == "0.10"
    find_treeple_version.cache_clear()
    X, y = np.arange(54.0).reshape(6, 9), np.array([0, 1, 1, 0, 1, 1])
    task = Task(X, y, X_test=X[:4], y_test=y[2:], algorithm=OBLIQUE_FOREST)
    model = peer.make_fit(replace(task, n_trees=50), 2)()
    assert 0 <= model.own_seconds < 1
    held_out = replace(task, X=task.X_test, y=task.y_test)
    assert np.array_equal(peer.make_predict(model, held_out, 2)(), X[:4, :2])
    assert peer.count_leaves(model) == 7
    with pytest.raises(RuntimeError, match="4 rows only"):
        peer.make_predict(model, task, 2)
    assert peer.refusal(task) is None
    assert peer.refusal(replace(task, has_nominal=True))
    with pytest.raises(ValueError, match="not asked for a depth"):
        peer.make_fit(task, 2, max_depth=3)


def test_an_interpreter_without_treeple(monkeypatch, tmp_path):
    monkeypatch.setenv("TREEPLE_PYTHON", str(tmp_path / "none"))
    find_treeple_version.cache_clear()
    assert find_treeple_version() is None
    find_treeple_version.cache_clear()


def test_leaves_of_weka_id3_are_counted():
    output = """Id3

outlook = sunny
|  humidity = high: no
|  humidity = normal: null
outlook = overcast: yes

Time taken to build model: 0 seconds
Correctly Classified Instances = 3: yes
"""
    assert WekaId3Tree().count_leaves(SimpleNamespace(output=output)) == 3
    alone = SimpleNamespace(output="Id3\n\n: yes\n\nTime taken")
    assert WekaId3Tree().count_leaves(alone) == 1


def make_node(value, **children):
    return SimpleNamespace(
        value=value,
        childs=[SimpleNamespace(value=v, next=n) for v, n in children.items()] or None,
    )


def test_tree_of_p_decision_tree_is_read():
    X = pd.DataFrame({"x": list("aabb"), "one": list("cccc")}, dtype="category")
    X["x"] = X["x"].cat.add_categories("never")
    task = Task(X, np.array([0, 1, 1, 1]), has_nominal=True, algorithm=ID3)
    root = make_node("x", a=make_node("one", c=make_node(0)), b=make_node(1))
    levels = {name: X[name].cat.categories for name in X}
    peer = PDecisionTree()
    assert peer.count_leaves((root, levels, None)) == 3
    shares = peer.make_predict((root, levels, None), task, 1)()
    assert shares.tolist() == [[1, 0], [1, 0], [0, 1], [0, 1]]
    shares = peer.make_predict((root, levels, 1), task, 1)()
    assert shares.tolist() == [[0.5, 0.5], [0.5, 0.5], [0, 1], [0, 1]]


def test_frame_for_programs():
    frame = make_frame(Task(np.array([[1.0], [np.nan]]), np.array([1, 0])))
    assert frame.columns.tolist() == ["x0", "target"]
    assert frame["target"].tolist() == ["class_1", "class_0"]


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


def test_table_for_the_documentation(tmp_path):
    slower = make_comparison(n_threads=2, theirs=Timing([0.1, 0.12, 0.2]))
    other = make_comparison(peer="q", theirs=Timing([4.0]))
    wrong = make_comparison(peer="r", differences=["x"])
    file = tmp_path / "times.json"
    write_json(file, {}, [], [make_comparison(), slower, other, wrong], [], [])
    assert format_document_table(read_comparisons(file)).splitlines() == [
        "===== =================== ================ ============",
        "work  ours, 1 / 2 threads against          ratio, 1 / 2",
        "===== =================== ================ ============",
        "``w`` 2 s                 p, 80 s / 120 ms 40 / 0.06",
        "``w`` the same            q, 4 s           2",
        "===== =================== ================ ============",
    ]


@pytest.mark.parametrize("name", STUDIES)
def test_every_study_is_a_command(name, capsys):
    with pytest.raises(SystemExit) as stop:
        main(["study", name, "--help"])
    assert stop.value.code == 0
    assert f"python -m benchmarks study {name}" in capsys.readouterr().out
