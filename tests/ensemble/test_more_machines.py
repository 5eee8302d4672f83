"""Members of ensembles grow in other processes and on a cluster as they do here."""

import pickle
import sys
from concurrent.futures import ThreadPoolExecutor

import joblib
import numpy as np
import pytest
from joblib import ParallelBackendBase, register_parallel_backend
from sklearn.base import clone
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB

from sklearn_textbook.datasets import make_mixed_table
from sklearn_textbook.ensemble import (
    BaggingClassifier,
    BayesianModelAveragingClassifier,
    ExtraTreesClassifier,
    OutputCodeClassifier,
    OutputFlippingClassifier,
    RandomForestClassifier,
    RandomForestRegressor,
    StackingClassifier,
    VotingClassifier,
)
from sklearn_textbook.ensemble.output_codes.code_members import BinaryProblems
from sklearn_textbook.ensemble.resample import RowDraw
from sklearn_textbook.tree import C45Classifier
from sklearn_textbook.tree.members import MemberGrower
from tests.clusters import open_cluster

ENSEMBLES = {
    "forest": RandomForestClassifier(20, oob_score=True, random_state=0),
    "regression": RandomForestRegressor(8, random_state=0),
    "extra": ExtraTreesClassifier(8, bootstrap=True, random_state=0),
    "bagging": BaggingClassifier(C45Classifier(), 8, random_state=0),
}


@pytest.fixture(scope="module")
def table():
    return make_mixed_table(
        600, missing_fraction=0.1, label_noise=0.1, as_frame=True, random_state=0
    )


@pytest.fixture(scope="module")
def cluster():
    """A Dask cluster of two processes on this machine, and a client of it."""
    with open_cluster(2) as client:
        yield client


@pytest.fixture
def transfers(monkeypatch):
    """List that grows whenever a table is pickled to be sent somewhere."""
    sent = []
    get_state = MemberGrower.__getstate__

    def write_state(self):
        sent.append(self)
        return get_state(self)

    monkeypatch.setattr(MemberGrower, "__getstate__", write_state)
    return sent


def check_same_members(one, other, X):
    for ours, theirs in zip(one.estimators_, other.estimators_, strict=True):
        assert ours.tree_.nodes.tobytes() == theirs.tree_.nodes.tobytes()
        np.testing.assert_array_equal(ours.tree_.statistics, theirs.tree_.statistics)
    np.testing.assert_array_equal(one.predict(X), other.predict(X))


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", ENSEMBLES)
def test_cluster_grows_the_same_members_and_gets_the_table_once(
    name, table, cluster, transfers
):
    X, y = table
    y = (y == y[0]).to_numpy(float)
    here = clone(ENSEMBLES[name]).fit(X, y)
    assert not transfers
    with joblib.parallel_config(backend="dask"):
        far = clone(ENSEMBLES[name]).fit(X, y)
    assert len(transfers) == 1
    check_same_members(here, far, X)
    assert len(cluster.scheduler_info()["workers"]) == 2


@pytest.mark.filterwarnings("ignore")
def test_members_of_other_estimators_come_from_the_cluster_too(table, cluster):
    X = table[0].select_dtypes("number").fillna(0).to_numpy()
    y = table[1].to_numpy()
    bagging = BaggingClassifier(GaussianNB(), 6, random_state=0)
    here = bagging.fit(X, y).predict_proba(X)
    with joblib.parallel_config(backend="dask"):
        there = bagging.fit(X, y)
    np.testing.assert_allclose(there.predict_proba(X), here, rtol=1e-12)


@pytest.mark.filterwarnings("ignore")
def test_members_of_a_code_come_from_the_cluster_too(table, cluster, transfers):
    X, _ = table
    y = X.select_dtypes("number").iloc[:, 0].rank().fillna(0).to_numpy() // 150
    codes = OutputCodeClassifier(code="one_vs_one", random_state=0)
    here = clone(codes).fit(X, y)
    with joblib.parallel_config(backend="dask"):
        far = clone(codes).fit(X, y)
    assert len(transfers) == 1
    check_same_members(here, far, X)
    problems = BinaryProblems(here.code_book_, np.zeros(600, int), np.ones(600), [1])
    assert sys.getsizeof(problems) > 2 * 600 * 8


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("combination", [VotingClassifier, StackingClassifier])
def test_different_members_come_from_the_cluster(combination, table, cluster):
    X, y = table
    members = [
        ("c45", C45Classifier()),
        ("forest", RandomForestClassifier(4, random_state=0)),
        ("stock", HistGradientBoostingClassifier(max_iter=3)),
    ]
    here = combination(members).fit(X, y)
    with joblib.parallel_config(backend="dask"):
        far = combination(members).fit(X, y)
    check_same_members(here.estimators_[1], far.estimators_[1], X)
    np.testing.assert_array_equal(far.transform(X), here.transform(X))
    np.testing.assert_array_equal(far.predict(X), here.predict(X))


def test_other_processes_grow_the_same_members(table, transfers):
    X, y = table
    here = clone(ENSEMBLES["forest"]).fit(X, y)
    with joblib.parallel_config(backend="loky", n_jobs=2):
        far = clone(here).fit(X, y)
    assert transfers
    check_same_members(here, far, X)
    assert here.oob_score_ == far.oob_score_


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", ENSEMBLES)
def test_backends_that_tell_all_results_at_the_end(name, table, transfers):
    """The table goes to each worker once."""
    X, y = table
    y = (y == y[0]).to_numpy(float)
    here = clone(ENSEMBLES[name]).fit(X, y)
    with joblib.parallel_config(backend="multiprocessing", n_jobs=2):
        far = clone(here).fit(X, y)
    assert len(transfers) == 2
    check_same_members(here, far, X)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("estimator", [GaussianNB(), LogisticRegression()])
def test_other_members_by_such_backends(table, estimator):
    X = table[0].select_dtypes("number").fillna(0).to_numpy()
    y = (table[1] == table[1][0]).to_numpy(int)
    for ensemble in (
        BaggingClassifier(estimator, 4, random_state=0),
        OutputFlippingClassifier(estimator, 4, random_state=0),
    ):
        here = ensemble.fit(X, y).predict_proba(X)
        with joblib.parallel_config(backend="multiprocessing", n_jobs=2):
            there = ensemble.fit(X, y).predict_proba(X)
        np.testing.assert_allclose(there, here, rtol=1e-12)


class FarBackend(ParallelBackendBase):
    """A backend as users may register: calls and results are sent as bytes."""

    supports_retrieve_callback = False
    n_calls = 0

    def effective_n_jobs(self, n_jobs):
        return 1 if n_jobs == 1 else 3

    def submit(self, func, callback=None):
        type(self).n_calls += 1
        sent = pickle.dumps(func)
        future = self.pool.submit(lambda: pickle.dumps(pickle.loads(sent)()))
        if callback is not None:
            future.add_done_callback(callback)
        future.get = lambda timeout=None: self.retrieve_result_callback(future)
        return future

    apply_async = submit  # of joblib before 1.5

    def configure(self, n_jobs=1, parallel=None, **options):
        self.parallel = parallel
        self.pool = ThreadPoolExecutor(2)
        return self.effective_n_jobs(n_jobs)

    def terminate(self):
        self.pool.shutdown()

    def retrieve_result_callback(self, future):
        return pickle.loads(future.result())

    def abort_everything(self, ensure_ready=True):
        self.terminate()
        if ensure_ready:
            self.configure(parallel=self.parallel)


class OneByOneBackend(FarBackend):
    supports_retrieve_callback = True


register_parallel_backend("far", FarBackend)
register_parallel_backend("one by one", OneByOneBackend)
MEMBERS = [
    ("c45", C45Classifier()),
    ("forest", RandomForestClassifier(4, random_state=0)),
    ("stock", HistGradientBoostingClassifier(max_iter=3)),
]
NAMED = {
    "voting": VotingClassifier(MEMBERS),
    "stacking": StackingClassifier(MEMBERS, cv=2),
    "model averaging": BayesianModelAveragingClassifier(MEMBERS, cv=2),
    "codes": OutputCodeClassifier(code="one_vs_one", random_state=0),
    "stock codes": OutputCodeClassifier(
        HistGradientBoostingClassifier(max_iter=3), code="one_vs_one", random_state=0
    ),
    "forest": ENSEMBLES["forest"],
    "bagging": ENSEMBLES["bagging"],
}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("backend", [FarBackend, OneByOneBackend])
@pytest.mark.parametrize("name", NAMED)
def test_any_registered_backend(name, table, backend):
    X, label = table
    X = X.select_dtypes("number")
    y = X.iloc[:, 0].rank().fillna(0).to_numpy() // 150 if "codes" in name else label
    here = clone(NAMED[name]).fit(X, y)
    before = backend.n_calls
    registered = "far" if backend is FarBackend else "one by one"
    with joblib.parallel_config(backend=registered, n_jobs=3):
        far = clone(NAMED[name]).fit(X, y)
    assert backend.n_calls > before
    np.testing.assert_array_equal(far.predict(X), here.predict(X))
    for method in {"predict_proba", "transform"} & set(dir(here)):
        expected = getattr(here, method)(X)
        np.testing.assert_allclose(getattr(far, method)(X), expected, rtol=1e-12)


@pytest.mark.parametrize("backend", ["far", "one by one"])
def test_error_of_a_member_on_any_backend(table, backend):
    X, y = table
    voting = VotingClassifier([("tree", C45Classifier()), ("bayes", GaussianNB())])
    with (
        joblib.parallel_config(backend=backend, n_jobs=3),
        pytest.raises(ValueError, match="contains NaN") as caught,
    ):
        voting.fit(X, y)
    assert "This comes from the member 'bayes'" in caught.value.__notes__[0]


@pytest.mark.filterwarnings("ignore")
def test_ray_grows_the_same_members(table):
    ray = pytest.importorskip("ray")
    from ray.util.joblib import register_ray

    X, y = table
    here = clone(ENSEMBLES["forest"]).fit(X, y)
    ray.init(num_cpus=2, include_dashboard=False)
    try:
        register_ray()
        with joblib.parallel_config(backend="ray", n_jobs=2):
            far = clone(here).fit(X, y)
    finally:
        ray.shutdown()
    check_same_members(here, far, X)
    assert here.oob_score_ == far.oob_score_


def test_clusters_see_how_large_the_table_and_the_weights_are(table):
    X, y = table
    grower = MemberGrower(ENSEMBLES["forest"]._make_template(), X, y)
    assert sys.getsizeof(grower) > 600 * X.shape[1] * 8
    weight = np.ones(600)
    assert sys.getsizeof(RowDraw(600, 600, weight)) > weight.nbytes
    assert sys.getsizeof(RowDraw(600, 600)) < 1_000
