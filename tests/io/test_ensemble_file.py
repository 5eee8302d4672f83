"""Ensembles in model files: the same to the last bit, and nothing else is accepted."""

import copy
import json
import pickle
import re

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin, clone
from sklearn.linear_model import LogisticRegression
from sklearn.tree import DecisionTreeClassifier

from sklearn_textbook._contract.parameters import check_real
from sklearn_textbook._contract.registry import ESTIMATORS, Row, list_estimators
from sklearn_textbook._contract.saved_field import SavedField
from sklearn_textbook.ensemble import (
    AdaBoostClassifier,
    BaggingClassifier,
    BaggingRegressor,
    BoostingTreeRegressor,
    ExtraTreesClassifier,
    ExtraTreesRegressor,
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    ObliqueRandomForestClassifier,
    ObliqueRandomForestRegressor,
    OutputCodeClassifier,
    OutputFlippingClassifier,
    OutputSmearingClassifier,
    RandomForestClassifier,
    RandomForestRegressor,
    RandomSubspaceClassifier,
    RandomSubspaceRegressor,
)
from sklearn_textbook.ensemble.boosting.losses import QuantileLoss
from sklearn_textbook.ensemble.members.member_list import MemberList
from sklearn_textbook.io import (
    ModelFileError,
    load_model,
    read_model,
    save_model,
)
from sklearn_textbook.io.saved_arrays import MAX_LISTED, load_array, save_array
from sklearn_textbook.io.saved_model import load_document, save_document
from sklearn_textbook.tree import (
    C45Classifier,
    CARTClassifier,
    CARTRegressor,
    ErrorBasedPruning,
    ID3Classifier,
    ObliqueTreeClassifier,
    ObliqueTreeRegressor,
    OutOfBagPruning,
    export_text,
)
from tests.growth.test_tree_storage import assert_same_bits

TREES = list_estimators("tree")
FEW = {"n_estimators": 4, "random_state": 0}
MANY = {"oob_score": True, "n_estimators": 30, "random_state": 1}


def make_frame(seed=0, n_rows=120):
    """Numbers, texts and ordered levels, all with missing values."""
    rng = np.random.default_rng(seed)
    size = pd.Categorical(rng.choice(["S", "M", "L"], n_rows), ["S", "M", "L"], True)
    frame = pd.DataFrame(
        {
            "x": rng.normal(size=n_rows),
            "count": rng.integers(0, 6, n_rows).astype(float),
            "colour": rng.choice(["red", "green", "蓝"], n_rows),
            "size": size,
            "flag": rng.random(n_rows) < 0.5,
        }
    )
    score = frame["x"].to_numpy() + 2 * (frame["colour"] == "red") + size.codes
    values = score.to_numpy() + rng.normal(size=n_rows)
    for name in ("x", "colour", "size"):
        frame.loc[rng.random(n_rows) < 0.1, name] = None
    labels = np.array(["low", "middle", "高"])[np.digitize(values, [0.5, 2.0])]
    return frame, labels, values


FRAME, LABELS, VALUES = make_frame()
CLASSIFIERS = [
    RandomForestClassifier(**MANY),
    RandomForestClassifier(**FEW, voting="hard", class_weight="balanced_subsample"),
    RandomForestClassifier(**FEW, criterion="gain_ratio", max_samples=0.5),
    RandomForestClassifier(**FEW, missing="surrogate", max_bins=8),
    RandomForestClassifier(**FEW, pruning="out_of_bag", handle_unknown="fractional"),
    RandomForestClassifier(**FEW, pruning=OutOfBagPruning(tie="keep")),
    RandomForestClassifier(**FEW, pruning="cost_complexity", max_depth=3),
    ExtraTreesClassifier(**FEW, categorical_split="multiway", missing="branch"),
    ExtraTreesClassifier(**FEW, bootstrap=True, top_splits=3, max_leaf_nodes=5),
    BaggingClassifier(**MANY),
    BaggingClassifier(C45Classifier(laplace=True), **FEW, voting="hard"),
    BaggingClassifier(ID3Classifier(), **FEW, out_of_bag_posterior=True),
    BaggingClassifier(**FEW, max_features=2, bootstrap_features=True),
    BaggingClassifier(
        CARTClassifier(pruning="reduced_error", max_features=0.5), **FEW, max_features=3
    ),
    BaggingClassifier(
        CARTClassifier(categorical_features=["colour", "size"], max_depth=4),
        **FEW,
        max_features=3,
    ),
    RandomSubspaceClassifier(**FEW),
    RandomSubspaceClassifier(C45Classifier(pruning=ErrorBasedPruning(0.1)), **FEW),
    RandomSubspaceClassifier(**FEW, max_features=1.0),
    GradientBoostingClassifier(**FEW, subsample=0.5, max_features=2),
    GradientBoostingClassifier(**FEW, n_iter_no_change=2),
    AdaBoostClassifier(**FEW),
    AdaBoostClassifier(CARTClassifier(max_depth=2), **FEW, sampling="resample"),
    OutputCodeClassifier(random_state=0),
    OutputCodeClassifier(
        C45Classifier(laplace=True), code="one_vs_one", decoding="probability"
    ),
    OutputCodeClassifier(
        ID3Classifier(), code=[[1, 0], [-1, 1], [0, -1]], decoding="hamming"
    ),
    OutputFlippingClassifier(**FEW),
    OutputFlippingClassifier(C45Classifier(laplace=True), **FEW, flip_rate=0.1),
    OutputFlippingClassifier(**FEW, voting="hard", bootstrap=True, max_samples=0.5),
    OutputSmearingClassifier(**FEW),
    OutputSmearingClassifier(CARTRegressor(max_depth=3), **FEW, bootstrap=True),
]
REGRESSORS = [
    RandomForestRegressor(**MANY),
    RandomForestRegressor(**FEW, criterion="absolute_error", ccp_alpha=0.01),
    ExtraTreesRegressor(**FEW, monotonic_cst=[1, 0, 0, 0, -1]),
    BaggingRegressor(**MANY),
    BaggingRegressor(CARTRegressor(monotonic_cst=[1, 0, 0, 0, 0]), 9, max_features=0.6),
    RandomSubspaceRegressor(**FEW),
    BoostingTreeRegressor(6, max_leaf_nodes=3, max_depth=2),
    GradientBoostingRegressor(**FEW, loss="huber", monotonic_cst=[1, 0, 0, 0, 0]),
    GradientBoostingRegressor(**FEW, loss=QuantileLoss(0.2), max_bins=None),
    GradientBoostingRegressor(**FEW, init="zero", interaction_cst=[[0, 1], [2, 3]]),
]
# Of every training row, and such as scikit-learn has.
NOT_KEPT = {"oob_decision_function_", "oob_prediction_", "_max_samples"}
NOT_KEPT |= {"_max_features"}
MEMBER_NOT_KEPT = {"pruning_report_", "pruning_path_"}


def reload(estimator, path):
    save_model(estimator, path, target="y")
    return load_model(path)


def assert_same(loaded, model, frame):
    """Both say the same of rows with missing and unknown values, and of themselves."""
    unknown = frame.assign(colour="never seen", x=np.nan)
    methods = [m for m in ("predict", "predict_proba") if hasattr(model, m)]
    for table in (frame, frame[::-1].iloc[:7], unknown):
        for method in methods:
            np.testing.assert_array_equal(
                getattr(loaded, method)(table), getattr(model, method)(table)
            )
    assert vars(model).keys() - vars(loaded).keys() <= NOT_KEPT
    assert vars(loaded).keys() <= vars(model).keys()
    assert repr(loaded) == repr(model)
    for name in ("estimator_", "loss_"):
        ours, theirs = getattr(loaded, name, None), getattr(model, name, None)
        assert repr(ours) == repr(theirs)
    for name in ("n_features_in_", "n_outputs_", "_n_outputs", "n_classes_"):
        assert getattr(loaded, name, None) == getattr(model, name, None)
    for name in ("feature_names_in_", "classes_", "oob_score_", "oob_curve_"):
        ours, theirs = getattr(loaded, name, None), getattr(model, name, None)
        np.testing.assert_array_equal(ours, theirs)
    assert len(loaded) == len(model)
    members = zip(loaded._list_members(), model._list_members(), strict=True)
    for ours, theirs in members:
        assert_same_bits(ours.tree_, theirs.tree_)
        # Arrays among the parameters come back as lists.
        shown = [re.sub(r"array|[()\s]", "", repr(each)) for each in (ours, theirs)]
        assert shown[0] == shown[1]
        assert vars(ours).keys() == vars(theirs).keys() - MEMBER_NOT_KEPT
        assert ours.schema_ == theirs.schema_
        assert vars(ours).get("max_features_") == vars(theirs).get("max_features_")
        np.testing.assert_array_equal(ours.n_missing_, theirs.n_missing_)
        np.testing.assert_array_equal(ours.feature_names_in_, theirs.feature_names_in_)
        assert export_text(ours) == export_text(theirs)


# ------------------------------------------------------------------ round trips
@pytest.mark.filterwarnings("ignore:Some inputs do not have OOB")
@pytest.mark.parametrize("estimator", CLASSIFIERS + REGRESSORS, ids=repr)
def test_ensembles_are_the_same(tmp_path, estimator):
    y = VALUES if estimator in REGRESSORS else LABELS
    model = clone(estimator).fit(FRAME, y)
    loaded = reload(model, tmp_path / "first.json")
    assert_same(loaded, model, make_frame(1)[0])
    save_model(loaded, tmp_path / "second.json", target="y")
    first, second = ((tmp_path / f"{n}.json").read_bytes() for n in ("first", "second"))
    assert first == second
    again = pickle.loads(pickle.dumps(loaded))
    np.testing.assert_array_equal(again.predict(FRAME), model.predict(FRAME))


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize(
    "estimator",
    [RandomForestClassifier(**FEW), ExtraTreesClassifier(**FEW, bootstrap=True)],
    ids=repr,
)
def test_what_forests_tell_beside_predictions(tmp_path, estimator, weighted):
    weight = np.random.default_rng(0).random(len(LABELS)) if weighted else None
    model = estimator.fit(FRAME, LABELS, sample_weight=weight)
    loaded = reload(model, tmp_path / "model.json")
    np.testing.assert_array_equal(
        loaded.feature_importances_, model.feature_importances_
    )
    np.testing.assert_array_equal(loaded.apply(FRAME), model.apply(FRAME))
    assert (loaded.decision_path(FRAME)[0] != model.decision_path(FRAME)[0]).nnz == 0
    for ours, theirs in zip(
        loaded.estimators_samples_, model.estimators_samples_, strict=True
    ):
        np.testing.assert_array_equal(ours, theirs)
    np.testing.assert_array_equal(
        loaded.proximities(FRAME, out_of_bag=True),
        model.proximities(FRAME, out_of_bag=True),
    )
    one, other = (
        forest.permutation_importances(FRAME, LABELS, random_state=0)
        for forest in (loaded, model)
    )
    np.testing.assert_array_equal(one.importances, other.importances)


@pytest.mark.parametrize(
    "estimator",
    [
        RandomForestClassifier(**FEW, warm_start=True),
        BaggingClassifier(**FEW, warm_start=True, max_features=3),
        GradientBoostingClassifier(**FEW, warm_start=True, subsample=0.7),
        AdaBoostClassifier(**FEW, warm_start=True),
        OutputFlippingClassifier(**FEW, warm_start=True, bootstrap=True),
    ],
    ids=repr,
)
def test_loaded_ensembles_go_on_from_a_warm_start(tmp_path, estimator):
    model = estimator.fit(FRAME, LABELS)
    loaded = reload(model, tmp_path / "model.json")
    for ensemble in (model, loaded):
        ensemble.set_params(n_estimators=7).fit(FRAME, LABELS)
    assert len(loaded) == 7
    assert_same(loaded, model, FRAME)
    assert_same(reload(loaded, tmp_path / "more.json"), model, FRAME)


@pytest.mark.parametrize("kind", ["classifier", "regressor"])
def test_several_outputs(tmp_path, kind):
    if kind == "classifier":
        y = np.column_stack([LABELS, np.where(VALUES > 1, "a", "b")])
        model = RandomForestClassifier(**FEW).fit(FRAME, y)
    else:
        y = np.column_stack([VALUES, -VALUES])
        model = BaggingRegressor(**FEW).fit(FRAME, y)
    loaded = reload(model, tmp_path / "model.json")
    np.testing.assert_array_equal(loaded.predict(FRAME), model.predict(FRAME))
    assert loaded.predict(FRAME).shape == (len(FRAME), 2)
    if kind == "classifier":
        assert loaded.n_classes_ == model.n_classes_ == [3, 2]
        shares = zip(
            loaded.predict_proba(FRAME), model.predict_proba(FRAME), strict=True
        )
        for ours, theirs in shares:
            np.testing.assert_array_equal(ours, theirs)


@pytest.mark.parametrize(
    "estimator",
    [
        BaggingClassifier(ObliqueTreeClassifier(prefer_axis=None), **FEW),
        ObliqueRandomForestClassifier(**FEW),
        ObliqueRandomForestRegressor(**FEW, direction="ridge", prefer_axis=0.1),
        RandomSubspaceRegressor(ObliqueTreeRegressor(direction="random"), **FEW),
    ],
    ids=repr,
)
def test_members_with_oblique_tests(tmp_path, estimator):
    y = VALUES if isinstance(estimator, RegressorMixin) else LABELS
    model = clone(estimator).fit(FRAME, y)
    loaded = reload(model, tmp_path / "model.json")
    unknown = FRAME.assign(colour="never seen", x=np.nan)
    for table in (FRAME, unknown):
        np.testing.assert_array_equal(loaded.predict(table), model.predict(table))
    assert any(len(member.tree_.terms) for member in model._list_members())
    for ours, theirs in zip(loaded._list_members(), model._list_members(), strict=True):
        assert_same_bits(ours.tree_, theirs.tree_)
        assert vars(ours).keys() == vars(theirs).keys()
        assert ours.n_directions_ == theirs.n_directions_


def test_large_trees_come_back_compact(tmp_path):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(4000, 3)), rng.normal(size=4000)
    model = RandomForestRegressor(2, random_state=0).fit(X, y)
    loaded = reload(model, tmp_path / "model.json")
    assert all(member.tree_.is_compact for member in loaded)
    assert not hasattr(loaded, "feature_names_in_")
    np.testing.assert_array_equal(loaded.predict(X), model.predict(X))
    nodes = sum(member.tree_.node_count for member in model)
    assert (tmp_path / "model.json").stat().st_size < 40 * nodes


def test_members_share_what_they_share(tmp_path):
    loaded = reload(RandomForestClassifier(**FEW).fit(FRAME, LABELS), tmp_path / "m")
    first = loaded[0]
    assert all(member.schema_ is first.schema_ for member in loaded)
    assert all(member.classes_ is first.classes_ for member in loaded)


# ------------------------------------------------------------- what is not saved
def refuse_to_save(model, path):
    with pytest.raises(ModelFileError) as caught:
        save_model(model, path)
    assert not path.exists()
    return caught.value.problem


def test_what_cannot_be_saved(tmp_path):
    path = tmp_path / "model.json"
    linear = BaggingClassifier(LogisticRegression(), n_estimators=2)
    foreign = BaggingClassifier(DecisionTreeClassifier(), n_estimators=2)
    X = FRAME[["count"]]
    trees = f"only {', '.join(TREES)} can be saved"
    for model, name in ((linear, "LogisticRegression"), (foreign, "DecisionTree")):
        problem = refuse_to_save(model.fit(X, LABELS), path)
        assert f"its members are of class {name}" in problem
        assert trees in problem

    class Mine(CARTClassifier):
        pass

    mine = BaggingClassifier(Mine(), n_estimators=2).fit(X, LABELS)
    assert "its members are of class Mine" in refuse_to_save(mine, path)
    flipping = OutputFlippingClassifier(DecisionTreeClassifier(), 2).fit(X, LABELS)
    assert "members are of class DecisionTree" in refuse_to_save(flipping, path)
    forest = RandomForestClassifier(**FEW).fit(X, LABELS)
    forest.set_params(random_state=np.random.RandomState(0))
    assert "give random_state an integer" in refuse_to_save(forest, path)
    forest.set_params(random_state=0, oob_score=max)
    assert "parameter oob_score has type builtin_function" in refuse_to_save(
        forest, path
    )


def test_boosting_that_cannot_be_saved(tmp_path):
    path = tmp_path / "model.json"
    model = GradientBoostingRegressor(**FEW, init=CARTRegressor()).fit(FRAME, VALUES)
    problem = refuse_to_save(model, path)
    assert problem == (
        "it starts from the predictions of a CARTRegressor (init), which a model file "
        "cannot contain; init may be None or 'zero'"
    )

    class Mine(QuantileLoss):
        pass

    model = GradientBoostingRegressor(**FEW, loss=Mine()).fit(FRAME, VALUES)
    assert "has type Mine, which a model file cannot contain" in refuse_to_save(
        model, path
    )


def test_members_of_several_fits(tmp_path):
    path = tmp_path / "model.json"
    model = BaggingClassifier(n_estimators=2, warm_start=True, random_state=0)
    model.fit(FRAME, LABELS).set_params(n_estimators=3)
    mixed = copy.deepcopy(model)
    model.fit(FRAME[:60], LABELS[:60])
    assert "its members come from several fits" in refuse_to_save(model, path)
    mixed.set_params(estimator=C45Classifier()).fit(FRAME, LABELS)
    problem = refuse_to_save(mixed, path)
    assert problem.startswith("its members are of several classes, C45Classifier and")


# ---------------------------------------------------------- what classes declare
class AddedTrees(MemberList, BaseEstimator):
    """Trees that are added up, as boosting does: weights, a start value, a name."""

    _saved_fields = (
        SavedField("estimator_weights_", shape=("members",)),
        SavedField("start_", "number"),
        SavedField("loss_name_", "text"),
        SavedField("n_rounds_", "integer", least=1),
        SavedField("is_exact_", "truth"),
        SavedField(
            "losses_", shape=("n_rounds_", None), is_finite=False, is_optional=True
        ),
        SavedField("centre_", shape=("columns",), is_optional=True),
    )

    def __init__(self, learning_rate=0.5):
        self.learning_rate = learning_rate

    def _check_parameters(self):
        check_real("learning_rate", self.learning_rate, 0.0)

    def fit(self, X, y):
        self._check_parameters()
        rounds = [
            CARTRegressor(max_depth=2).fit(X, part) for part in (y, -y, 2 * y, y**2)
        ]
        self.estimators_ = np.array(rounds, dtype=object).reshape(2, 2)
        for name in ("n_features_in_", "feature_names_in_"):
            setattr(self, name, getattr(rounds[0], name))
        self.estimator_weights_ = np.array([0.1, 1.0, -2.5, 1 / 3])
        self.start_, self.loss_name_, self.n_rounds_ = 1.5, "huber", 2
        self.is_exact_ = True
        self.losses_ = np.array([[np.nan, 1.0, 2.0], [0.5, np.inf, 0.0]])
        return self

    def predict(self, X):
        said = [member.predict(X) for member in self.estimators_.ravel()]
        return self.start_ + self.learning_rate * self.estimator_weights_ @ said

    def _list_members(self):
        return self.estimators_.ravel().tolist()

    def _restore(self, reader, members, columns, kept):
        members = np.array(members, dtype=object).reshape(kept["n_rounds_"], -1)
        super()._restore(reader, members, columns, kept)


@pytest.fixture
def added_document(monkeypatch):
    row = Row("AddedTrees", __name__, "numbers", "trees")
    monkeypatch.setitem(ESTIMATORS, row.name, row)
    model = AddedTrees().fit(FRAME, VALUES)
    text = json.dumps(save_document(model, None, None), allow_nan=False)
    return model, json.loads(text)


class AddedTreesClassifier(ClassifierMixin, AddedTrees):
    """Trees of values that decide on classes."""

    def fit(self, X, y):
        self.classes_, codes = np.unique(y, return_inverse=True)
        self.n_classes_ = len(self.classes_)
        return super().fit(X, codes.astype(float))

    def predict_proba(self, X):
        share = 1 / (1 + np.exp(-super().predict(X)))
        return np.column_stack([1 - share, share])


def test_declared_values_come_back(added_document):
    model, document = added_document
    loaded = load_document(document).estimator
    np.testing.assert_array_equal(loaded.predict(FRAME), model.predict(FRAME))
    assert loaded.estimators_.shape == (2, 2)
    for name in ("start_", "loss_name_", "n_rounds_", "is_exact_", "learning_rate"):
        ours, theirs = getattr(loaded, name), getattr(model, name)
        assert (type(ours), ours) == (type(theirs), theirs)
    np.testing.assert_array_equal(loaded.losses_, model.losses_)
    assert not hasattr(loaded, "centre_")


def test_classes_over_trees_of_values(monkeypatch):
    row = Row("AddedTreesClassifier", __name__, "classes", "trees")
    monkeypatch.setitem(ESTIMATORS, row.name, row)
    model = AddedTreesClassifier().fit(FRAME, LABELS == "low")
    document = json.loads(json.dumps(save_document(model, "y", None)))
    loaded = load_document(document).estimator
    np.testing.assert_array_equal(
        loaded.predict_proba(FRAME), model.predict_proba(FRAME)
    )
    assert loaded.classes_.tolist() == [False, True]
    assert loaded.n_classes_ == 2


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"estimator_weights_": [1.0]}, "must be numbers of shape (4,), got"),
        ({"estimator_weights_": ["NaN"] * 4}, "estimator_weights_ must be finite"),
        ({"estimator_weights_": None}, "must be a list, or an object with dtype"),
        (
            {"losses_": [[1.0], 2.0]},
            "losses_ must be lists of 2 levels, of equal length",
        ),
        ({"losses_": save_array(np.ones((3, 3)))}, "losses_ must be numbers of shape"),
        ({"centre_": [1.0, 2.0]}, "centre_ must be numbers of shape (5,), got"),
        ({"start_": "1.5"}, "start_ must be a single number, got 1.5"),
        ({"start_": {"number": "inf"}}, "start_ must be finite"),
        ({"start_": True}, "start_ must be a single number, got True"),
        ({"loss_name_": 3}, "loss_name_ must be a single text, got 3"),
        ({"n_rounds_": 0}, "n_rounds_ must be at least 1, got 0"),
        ({"n_rounds_": 2.0}, "n_rounds_ must be a single integer"),
        ({"n_rounds_": 3, "losses_": None}, "cannot reshape"),
        ({"is_exact_": 1}, "is_exact_ must be a single truth"),
        ({"other_": 1}, "AddedTrees has no 'other_'"),
    ],
)
def test_declared_values_are_checked(added_document, changes, message):
    _, document = added_document
    document["kept"] |= changes
    with pytest.raises((ValueError, TypeError)) as caught:
        load_document(document)
    assert message in str(caught.value)
    del document["kept"]["start_"]
    with pytest.raises((ValueError, KeyError)):
        load_document(document)


# ----------------------------------------------------------------------- arrays
@given(
    dtype=st.sampled_from(["b", "B", "h", "H", "i", "I", "q", "Q", "f", "d", ">f8"]),
    shape=st.lists(st.integers(0, 5), min_size=1, max_size=3),
    seed=st.integers(0, 2**32 - 1),
)
def test_arrays_come_back(dtype, shape, seed):
    rng = np.random.default_rng(seed)
    array = (rng.random(shape) * 200 - 60 * (np.dtype(dtype).kind != "u")).astype(dtype)
    if array.size > 2 and array.dtype.kind == "f":
        array.flat[:2] = np.nan, -0.0
    again = load_array(json.loads(json.dumps(save_array(array))), "a")
    assert again.shape == array.shape
    kind = array.dtype.kind
    again = again.astype(array.dtype) if array.size or kind == "f" else again
    assert again.astype(array.dtype).tobytes() == array.tobytes()


def test_short_arrays_are_lists():
    assert save_array(np.arange(MAX_LISTED)) == list(range(MAX_LISTED))
    packed = save_array(np.arange(MAX_LISTED + 1, dtype=">i2"))
    assert packed["dtype"] == "<i2"
    assert packed["base64"].startswith("AAABAAIAAwAE")


@pytest.mark.parametrize(
    ("packed", "message"),
    [
        ("AAAA", "a must be a list, or an object with dtype, shape and base64"),
        ([1, "x"], "a has 'x' in place 1, where a number"),
        ([True], "a has 'True' in place 0"),
        ({"dtype": "O", "shape": [1], "base64": ""}, "a: dtype must be one of |i1"),
        ({"dtype": [], "shape": [1], "base64": ""}, "a: dtype must be one of |i1"),
        ({"dtype": "|u1", "shape": [-1], "base64": ""}, "a: shape must be one to"),
        ({"dtype": "|u1", "shape": [], "base64": ""}, "a: shape must be one to three"),
        ({"dtype": "|u1", "shape": [True], "base64": "AA=="}, "a: shape must be one"),
        ({"dtype": "|u1", "shape": [2], "base64": "AA=="}, "a has 1 bytes, but its"),
        ({"dtype": "<f8", "shape": [10**30], "base64": ""}, "a has 0 bytes, but its"),
        ({"dtype": "|u1", "shape": [1], "base64": "A?"}, "a: base64 must be text in"),
        ({"dtype": "|u1", "shape": [1], "base64": "é"}, "a: base64 must be text in"),
        ({"dtype": "|u1", "shape": [1], "base64": 3}, "a: base64 must be text in"),
    ],
)
def test_damaged_arrays(packed, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        load_array(packed, "a")


# ------------------------------------------------------------- what is not read
@pytest.fixture(scope="module")
def texts():
    """The texts of good files of small ensembles of every kind."""
    rows = slice(0, 40)
    models = {
        "forest": RandomForestClassifier(3, missing="surrogate", random_state=0),
        "bagging": BaggingClassifier(n_estimators=3, random_state=0),
        "subspace": RandomSubspaceClassifier(n_estimators=3, random_state=0),
        "adaboost": AdaBoostClassifier(n_estimators=3, random_state=0),
        "boosting": GradientBoostingClassifier(n_estimators=2, random_state=0),
        "values": BaggingRegressor(n_estimators=2, max_features=3, random_state=0),
        "flipping": OutputFlippingClassifier(n_estimators=2, random_state=0),
        "smearing": OutputSmearingClassifier(n_estimators=2, random_state=0),
    }
    written = {}
    for name, model in models.items():
        y = VALUES if name == "values" else LABELS
        model.fit(FRAME[rows], y[rows])
        written[name] = json.dumps(save_document(model, "y", {"n_rows": 40}))
    return written


def refusal(document, tmp_path):
    path = tmp_path / "model.json"
    path.write_text(json.dumps(document))
    with pytest.raises(ModelFileError) as caught:
        read_model(path)
    message = str(caught.value)
    assert "\n" not in message
    return message.removeprefix(f"{tmp_path}/")


def change_tree(**changes):
    """A change of entries of the second tree, or of its nodes if they are theirs."""

    def change(document):
        tree = document["trees"][1]
        for name, value in changes.items():
            entries = tree["nodes"] if name in tree["nodes"] else tree
            entries[name] = value(entries[name]) if callable(value) else value

    return change


def change_entry(*place, value):
    def change(document):
        for key in place[:-1]:
            document = document[key]
        document[place[-1]] = value

    return change


DAMAGES = [
    ("forest", change_entry("trees", value=[]), "trees must be a non-empty list"),
    ("forest", change_entry("trees", 1, value=7), "trees must be objects"),
    ("forest", change_entry("trees", 1, value={}), "tree 1 lacks 'nodes'"),
    ("forest", change_entry("classes", value=None), "do not match a RandomForest"),
    ("forest", change_entry("member", "class", value="os.system"), "members may be CA"),
    ("forest", change_entry("member", "class", value="CARTRegressor"), "is damaged"),
    ("forest", change_entry("member", "class", value=["x"]), "members may be CART"),
    (
        "forest",
        change_entry("member", "n_outputs", value=2),
        "n_outputs does not match",
    ),
    (
        "forest",
        change_entry("member", "n_outputs", value=0),
        "n_outputs does not match",
    ),
    ("forest", change_entry("member", "n_outputs", value=True), "n_outputs must be at"),
    (
        "values",
        change_entry("member", "n_outputs", value=2**60),
        "n_outputs does not match",
    ),
    ("forest", change_entry("member", "max_features", value=9), "must be from 1 to 5"),
    (
        "forest",
        change_entry("member", "handle_unknown", value="x"),
        "tree 0: handle_unknown is 'x'",
    ),
    ("forest", change_entry("kept", value=[]), "kept must be an object"),
    ("forest", change_entry("kept", "_n_samples", value=0), "must be at least 1"),
    ("forest", change_entry("kept", "x", value=0), "has no 'x'"),
    (
        "forest",
        change_entry("kept", "_sample_weight", value=[1.0]),
        "_sample_weight must be numbers of shape (40,), got float64 of shape (1,)",
    ),
    (
        "forest",
        change_entry("kept", "_sample_weight", value=save_array(np.zeros(40))),
        "_sample_weight must have an entry above 0",
    ),
    (
        "bagging",
        change_entry("parameters", "estimator", value=-7),
        "The 'estimator' parameter must be None or an estimator with the methods",
    ),
    ("forest", change_tree(parameters={"x": 1}), "CARTClassifier has no parameter 'x'"),
    ("forest", change_tree(max_features=0), "max_features must be from 1 to 5"),
    ("forest", change_tree(n_missing=[1]), "n_missing must be a list of 5 counts"),
    ("forest", change_tree(columns=[5]), "columns must be numbers from 0 to 4"),
    ("forest", change_tree(columns=[-1]), "columns must be numbers from 0 to 4"),
    ("forest", change_tree(columns=[]), "columns must be numbers from 0 to 4"),
    ("forest", change_tree(columns=[0.5]), "columns must be numbers from 0 to 4"),
    (
        "forest",
        change_tree(n_children=[]),
        "tree 1: n_children must be a non-empty list of int",
    ),
    (
        "forest",
        change_tree(n_children=[0.0]),
        "tree 1: n_children must be a non-empty list",
    ),
    ("forest", change_tree(n_children=[2, 0]), "tree 1: n_children must be those of"),
    ("forest", change_tree(n_children=[2**40]), "tree 1: n_children must be those of"),
    ("forest", change_tree(n_children=[0, 2, 0]), "tree 1: n_children must be those"),
    ("forest", change_tree(n_children=[2, -2, 0]), "tree 1: n_children must be those"),
    ("forest", change_tree(n_children=[0]), "tree 1: "),
    ("forest", change_tree(feature=["inner", [9]]), "feature must be 0 to 4"),
    ("forest", change_tree(feature=["inner", [-2]]), "feature must be 0 to 4"),
    ("forest", change_tree(feature=["else", [1]]), "feature must be a list that begi"),
    ("forest", change_tree(feature=[1]), "feature must be a list that begins with how"),
    ("forest", change_tree(feature={}), "feature must be a list that begins with how"),
    ("forest", change_tree(kind=["inner", [8]]), "kind must be one of"),
    ("forest", change_tree(map_start=["inner", [10**6]]), "must lie within level_bra"),
    ("forest", change_tree(level_branch=[1.5]), "level_branch must hold integers"),
    ("forest", change_tree(level_branch=[2**40]), "level_branch must be a list of in"),
    ("forest", change_tree(missing_branch=["inner", [2]]), "missing_branch must be a"),
    ("forest", change_tree(statistics=["leaves", [1]]), "tree 1: "),
    ("forest", change_tree(surrogates=[]), "surrogates must have exactly node, fea"),
    (
        "bagging",
        change_entry("kept", "seeds", value=[1, 2]),
        "seeds must be integers of shape (3,)",
    ),
    ("bagging", change_entry("kept", "weight", value=[1.0]), "weight must be numbers"),
    (
        "bagging",
        change_entry("kept", "features", value=None),
        "columns or weights of the members are not those drawn",
    ),
    (
        "bagging",
        change_entry("kept", "features", value=save_array(np.full((3, 5), 5))),
        "columns or weights of the members are not those drawn",
    ),
    (
        "subspace",
        change_entry("kept", "n_drawn_columns", value=3),
        "columns or weights of the members are not those drawn",
    ),
    ("subspace", change_tree(columns=[0]), "is damaged"),
    ("adaboost", change_tree(columns=[0, 1, 2, 3, 4]), "AdaBoost must use all columns"),
    ("flipping", change_entry("kept", "seeds", value=[1]), "seeds must be integers of"),
    (
        "flipping",
        change_entry("kept", "weight", value=[0.0] * 40),
        "weights of the me",
    ),
    (
        "flipping",
        change_tree(columns=[0, 1, 2, 3, 4]),
        "columns or weights of",
    ),
    ("flipping", change_entry("member", "class", value="CARTRegressor"), "is damaged"),
    ("smearing", change_entry("kept", "noise_", value=[1.0]), "noise_ must be numbers"),
    ("smearing", lambda document: document["classes"][0]["values"].pop(), "is damaged"),
    ("boosting", change_tree(columns=[0, 1, 2, 3, 4]), "the trees do not match"),
    (
        "boosting",
        change_entry("kept", "n_estimators_", value=3),
        "must be numbers of sh",
    ),
    (
        "boosting",
        change_entry("kept", "n_estimators_", value=6),
        "must be numbers of sh",
    ),
    ("boosting", change_entry("kept", "_start_score", value=[1.0]), "do not match"),
    (
        "boosting",
        change_entry("kept", "loss_", value=None),
        "loss_ must be a single part",
    ),
    (
        "boosting",
        change_entry("kept", "loss_", value={"part": "LogLoss", "parameters": {}}),
        "the loss, the initial scores and the trees do not match",
    ),
    (
        "boosting",
        change_entry(
            "kept", "loss_", value={"part": "CARTRegressor", "parameters": {}}
        ),
        "is damaged",
    ),
]


@pytest.mark.parametrize(("kind", "change", "message"), DAMAGES)
def test_damaged_files(tmp_path, texts, kind, change, message):
    document = json.loads(texts[kind])
    change(document)
    problem = refusal(document, tmp_path)
    assert problem.startswith("model.json: is damaged: ")
    assert message in problem


@pytest.mark.parametrize(
    "change",
    [
        lambda classes: classes.reverse(),
        lambda classes: classes[0]["values"].pop(),
        lambda classes: classes[0]["values"].append("more"),
        lambda classes: classes.pop(),
        lambda classes: classes.clear(),
        lambda classes: classes[1]["values"].reverse() or classes.__setitem__(0, 1),
        lambda classes: classes[1].update(values=["a", "a"]),
    ],
)
def test_labels_that_do_not_fit_the_trees(tmp_path, change):
    y = np.column_stack([LABELS, np.where(VALUES > 1, "a", "b")])
    for model in (RandomForestClassifier(**FEW), CARTClassifier()):
        document = json.loads(json.dumps(save_document(model.fit(FRAME, y), "y", {})))
        change(document["classes"])
        if "tree" in document and len(document["classes"]) == 2:
            document["tree"]["n_classes"] = [
                len(entry["values"]) if isinstance(entry, dict) else 3
                for entry in document["classes"]
            ]
        assert "is damaged" in refusal(document, tmp_path)


@pytest.mark.parametrize("name", ["columns", "classes", "member", "kept", "trees"])
def test_missing_entries(tmp_path, texts, name):
    document = json.loads(texts["forest"])
    del document[name]
    assert refusal(document, tmp_path) == f"model.json: is damaged: '{name}' is missing"


def list_places(value, path=()):
    """All places of a document but for single entries of long lists."""
    yield path
    if isinstance(value, dict):
        for key, item in value.items():
            yield from list_places(item, (*path, key))
    elif isinstance(value, list):
        for position, item in enumerate(value):
            yield from list_places(item, (*path, position))


HOSTILE = [None, -7, 2**40, 10**30, 1.5, "x", [], {}, [[1]], True, "AAAA", ["all", [1]]]


@pytest.mark.parametrize(
    "kind", ["forest", "bagging", "subspace", "boosting", "values"]
)
@settings(max_examples=150)
@given(data=st.data())
def test_no_change_of_a_file_does_harm(folder, texts, kind, data):
    """A changed file is refused, or still gives a model that can be used."""
    damaged = json.loads(texts[kind])
    places = [place for place in list_places(damaged) if place]
    place = data.draw(st.sampled_from(places))
    inner = damaged
    for key in place[:-1]:
        inner = inner[key]
    inner[place[-1]] = data.draw(st.sampled_from(HOSTILE))
    path = folder / "model.json"
    path.write_text(json.dumps(damaged))
    try:
        model = read_model(path)
    except ModelFileError:
        return
    names = model.schema.names
    rows = pd.DataFrame({name: [1.0, np.nan] for name in names})
    is_values = kind == "values"
    try:
        said = getattr(model.estimator, "predict" if is_values else "predict_proba")(
            rows
        )
    except (ValueError, TypeError):
        return  # a parameter, or a level, that the estimator itself refuses
    assert said.shape == ((2,) if is_values else (2, len(model.estimator.classes_)))
    assert all(export_text(member) for member in model.estimator._list_members())


@pytest.mark.parametrize("column", ["feature", "threshold", "statistics", "n_samples"])
@settings(max_examples=60)
@given(data=st.data())
def test_no_number_of_a_tree_does_harm(folder, texts, column, data):
    """The same for numbers within the packed arrays."""
    damaged = json.loads(texts["forest"])
    how, *packed = damaged["trees"][0]["nodes"][column]
    array = load_array(packed[0], column)
    number = data.draw(st.sampled_from([-3, -1, 0, 4, 127]))
    array.flat[data.draw(st.integers(0, array.size - 1))] = np.array(number).astype(
        array.dtype
    )
    damaged["trees"][0]["nodes"][column] = [how, save_array(array)]
    try:
        model = load_document(damaged)
    except ValueError:
        return
    shares = model.estimator.predict_proba(FRAME)
    assert shares.shape == (len(FRAME), len(model.estimator.classes_))


class Unrelated(RegressorMixin, BaseEstimator):
    """Not in the list of classes, whatever it is called."""


def test_class_of_the_same_name(tmp_path):
    Unrelated.__name__ = "RandomForestClassifier"
    problem = refuse_to_save(Unrelated(), tmp_path / "model.json")
    assert "RandomForestClassifier cannot be saved" in problem
