"""The books' tables as the loaders give them."""

import csv
import importlib
import sys
from importlib import resources

import numpy as np
import pandas as pd
import pytest
from sklearn.utils import Bunch

from sklearn_textbook import datasets
from sklearn_textbook.criteria import entropy, information_gain
from tests.golden import get_example

# name, arguments, shape of data, number of target labels (None: regression)
TABLES = [
    ("load_watermelon", {}, (17, 6), 2),
    ("load_watermelon", {"version": "2.0alpha"}, (17, 6), 2),
    ("load_watermelon", {"version": "3.0"}, (17, 8), 2),
    ("load_watermelon", {"version": "3.0alpha"}, (17, 2), 2),
    ("load_loan", {}, (15, 4), 2),
    ("load_regression_tree_example", {}, (10, 1), None),
    ("load_adaboost_example", {}, (10, 1), 2),
    ("load_boosting_tree_example", {}, (10, 1), None),
    ("load_recruitment", {}, (10, 3), 2),
    ("load_play_tennis", {}, (14, 4), 2),
    ("load_play_tennis", {"version": "golf"}, (14, 4), 2),
    ("load_play_tennis", {"version": "weka"}, (14, 4), 2),
    ("load_credit", {}, (4454, 13), 2),
]
MATRICES = [
    ("load_svd_example", {}, (5, 4)),
    ("load_svd_example", {"number": "15.3"}, (5, 4)),
    ("load_svd_example", {"number": "15.4"}, (2, 2)),
    ("load_svd_example", {"number": "15.5"}, (3, 2)),
    ("load_svd_exercise", {"number": "15.1"}, (2, 3)),
    ("load_svd_exercise", {"number": "15.2"}, (4, 2)),
    ("load_svd_exercise", {"number": "15.5"}, (4, 5)),
    ("load_pca_correlation_example", {}, (4, 4)),
    ("load_pca_exercise", {}, (6, 2)),
]
WITH_LANGUAGE = {
    "load_watermelon",
    "load_loan",
    "load_recruitment",
    "load_pca_correlation_example",
}
LOADERS = [case[:3] for case in TABLES] + MATRICES


def read_file(bunch):
    path = resources.files(bunch.data_module) / bunch.filename
    with path.open(encoding="utf-8", newline="") as lines:
        return list(csv.DictReader(lines))


def is_same(value, text):
    if text == "":
        return value is None or value != value
    if isinstance(value, str):
        return value == text
    return float(value) == float(text)


def test_every_loader_is_tested():
    loaders = {name for name in datasets.__all__ if name.startswith("load_")}
    assert loaders == {case[0] for case in LOADERS}


@pytest.mark.parametrize(("name", "arguments", "shape", "n_labels"), TABLES)
@pytest.mark.parametrize("as_frame", [False, True])
def test_bunch(name, arguments, shape, n_labels, as_frame):
    load = getattr(datasets, name)
    bunch = load(**arguments, as_frame=as_frame)
    assert isinstance(bunch, Bunch)
    assert bunch.data.shape == shape
    assert bunch.target.shape == shape[:1]
    assert len(bunch.feature_names) == shape[1]
    assert bunch.DESCR.count("Source:") == 1
    assert "{" not in bunch.DESCR
    assert max(map(len, bunch.DESCR.splitlines())) <= 88
    if n_labels is None:
        assert bunch.target.dtype == np.float64
        assert "target_names" not in bunch
    else:
        assert len(bunch.target_names) == n_labels
        assert set(bunch.target) == set(bunch.target_names)
    if as_frame:
        assert list(bunch.data.columns) == bunch.feature_names
        assert bunch.frame.shape == (shape[0], shape[1] + 1)
        pd.testing.assert_frame_equal(bunch.frame[bunch.feature_names], bunch.data)
        pd.testing.assert_series_equal(bunch.frame.iloc[:, -1], bunch.target)
    else:
        assert bunch.frame is None


@pytest.mark.parametrize(("name", "arguments", "shape", "n_labels"), TABLES)
@pytest.mark.parametrize("as_frame", [False, True])
def test_every_cell_is_that_of_the_file(name, arguments, shape, n_labels, as_frame):
    bunch = getattr(datasets, name)(**arguments, as_frame=as_frame)
    rows = read_file(bunch)
    data = bunch.data.astype(object).to_numpy() if as_frame else bunch.data
    target_name = list(rows[0])[-1]
    for row, values, label in zip(rows, data, bunch.target, strict=True):
        for feature, value in zip(bunch.feature_names, values, strict=True):
            assert is_same(value, row[feature])
        assert is_same(label, row[target_name])
    if as_frame:
        assert bunch.target.name == target_name
    if "sample_ids" in bunch:
        ids = [int(next(iter(row.values()))) for row in rows]
        assert bunch.sample_ids.tolist() == ids
        assert next(iter(rows[0])) not in bunch.feature_names


@pytest.mark.parametrize(("name", "arguments", "shape", "n_labels"), TABLES)
@pytest.mark.parametrize("as_frame", [False, True])
def test_tuple_is_data_and_target(name, arguments, shape, n_labels, as_frame):
    load = getattr(datasets, name)
    bunch = load(**arguments, as_frame=as_frame)
    X, y = load(**arguments, as_frame=as_frame, return_X_y=True)
    assert type(X) is type(bunch.data)
    pd.testing.assert_frame_equal(pd.DataFrame(X), pd.DataFrame(bunch.data))
    pd.testing.assert_series_equal(pd.Series(y), pd.Series(bunch.target))


@pytest.mark.parametrize(("name", "arguments", "shape"), MATRICES)
@pytest.mark.parametrize("as_frame", [False, True])
def test_matrix(name, arguments, shape, as_frame):
    bunch = getattr(datasets, name)(**arguments, as_frame=as_frame)
    assert bunch.data.shape == shape
    values = np.asarray(bunch.data)
    assert values.dtype == np.float64
    rows = read_file(bunch)
    expected = [[float(row[name]) for name in bunch.feature_names] for row in rows]
    np.testing.assert_array_equal(values, expected)
    assert "target" not in bunch
    assert (bunch.frame is not None) is as_frame


def test_correlation_matrix_names_its_rows():
    frame = datasets.load_pca_correlation_example(language="en", as_frame=True).data
    assert list(frame.index) == list(frame.columns)
    np.testing.assert_array_equal(frame, frame.T)
    assert frame.loc["mathematics", "physics"] == 0.6


@pytest.mark.parametrize(("name", "arguments", "shape"), LOADERS)
def test_english(name, arguments, shape):
    load = getattr(datasets, name)
    if name not in WITH_LANGUAGE:
        with pytest.raises(TypeError, match="language"):
            load(**arguments, language="en")
        return
    chinese, english = load(**arguments), load(**arguments, language="en")
    assert all(text.isascii() for text in english.feature_names)
    assert not any(text.isascii() for text in chinese.feature_names)
    if "target" in chinese:  # renaming the levels changes no count
        pairs = zip(chinese.data.T, english.data.T, strict=True)
        for chinese_column, english_column in pairs:
            renamed = set(zip(chinese_column, english_column, strict=True))
            assert len(renamed) == len(set(chinese_column)) == len(set(english_column))
            assert all(str(b).isascii() for _, b in renamed)
        labels = set(zip(chinese.target.tolist(), english.target.tolist(), strict=True))
        assert len(labels) == 2
        assert all(str(b).isascii() for _, b in labels)


def test_english_frame_keeps_the_order_of_the_levels():
    chinese = datasets.load_watermelon("2.0alpha", as_frame=True).frame
    english = datasets.load_watermelon("2.0alpha", language="en", as_frame=True).frame
    assert english["texture"].cat.categories.tolist() == [
        "clear",
        "slightly_blurry",
        "blurry",
    ]
    assert chinese["纹理"].cat.categories.tolist() == ["清晰", "稍糊", "模糊"]
    for a, b in zip(chinese, english, strict=True):
        assert (chinese[a].cat.codes == english[b].cat.codes).all()
        assert not chinese[a].cat.ordered


def test_frames_declare_levels_without_rows():
    X, _ = datasets.load_play_tennis(as_frame=True, return_X_y=True)
    assert X["temperature"].cat.categories.tolist() == ["hot", "mild", "cool"]
    assert X["windy"].cat.categories.tolist() == ["true", "false"]


def test_ordered_levels():
    frame = datasets.load_loan(language="en", ordered=True, as_frame=True).frame
    ordered = [name for name in frame if frame[name].cat.ordered]
    assert ordered == ["age", "credit"]
    assert frame["credit"].cat.categories.tolist() == ["fair", "good", "excellent"]
    assert frame["age"].min() == "young"
    plain = datasets.load_loan(language="en", as_frame=True).frame
    assert (plain.astype(str) == frame.astype(str)).all(axis=None)
    people = datasets.load_recruitment(language="en", as_frame=True)
    assert all(people.data[name].cat.ordered for name in people.data)
    assert people.data["ability"].cat.categories.tolist() == [1, 2, 3]
    assert people.target.dtype == np.int64


def test_missing_values():
    bunch = datasets.load_watermelon("2.0alpha")
    missing = np.array([[value is None for value in row] for row in bunch.data])
    assert missing.sum() == 13
    complete = bunch.sample_ids[~missing.any(axis=1)].tolist()
    assert complete == get_example("zhou.4.4.2.complete_rows")["printed"]
    frame = datasets.load_watermelon("2.0alpha", as_frame=True).data
    np.testing.assert_array_equal(frame.isna().to_numpy(), missing)


def test_subset_of_table_4_2():
    bunch = datasets.load_watermelon()
    train = bunch.subset == "train"
    assert bunch.sample_ids[train].tolist() == [1, 2, 3, 6, 7, 10, 14, 15, 16, 17]
    assert set(bunch.subset[~train]) == {"validation"}
    assert entropy(bunch.target[train]) == 1.0
    expected = get_example("zhou.4.3.train_root_gain")["verified"]["value"]
    for name, column in zip(bunch.feature_names, bunch.data.T, strict=True):
        gain = information_gain(column[train], bunch.target[train])
        assert gain == pytest.approx(expected[name], abs=1e-9)
    assert "subset" not in datasets.load_watermelon("3.0")


def test_watermelon_tables_agree():
    nominal, mixed = datasets.load_watermelon(), datasets.load_watermelon("3.0")
    np.testing.assert_array_equal(mixed.data[:, :6], nominal.data)
    numeric = datasets.load_watermelon("3.0alpha")
    np.testing.assert_array_equal(mixed.data[:, 6:].astype(float), numeric.data)
    with_missing = datasets.load_watermelon("2.0alpha")
    known = with_missing.data != None  # noqa: E711 (element by element)
    np.testing.assert_array_equal(with_missing.data[known], nominal.data[known])
    for bunch in (mixed, numeric, with_missing):
        np.testing.assert_array_equal(bunch.target, nominal.target)


@pytest.mark.parametrize(
    ("load", "number", "example_id"),
    [
        (datasets.load_svd_example, "15.1", "lihang.ex15.1.singular_values"),
        (datasets.load_svd_example, "15.4", "lihang.ex15.4.svd"),
        (datasets.load_svd_example, "15.5", "lihang.ex15.5.svd"),
        (datasets.load_svd_exercise, "15.1", "lihang.exercise15.1.singular_values"),
        (datasets.load_svd_exercise, "15.2", "lihang.exercise15.2.singular_values"),
        (datasets.load_svd_exercise, "15.5", "lihang.exercise15.5.singular_values"),
    ],
)
def test_singular_values(load, number, example_id):
    expected = get_example(example_id)["verified"]["value"]
    if isinstance(expected, dict):
        expected = expected["sigma"]
    computed = np.linalg.svd(load(number).data, compute_uv=False)
    np.testing.assert_allclose(computed, expected, atol=1e-9)


def test_eigenvalues():
    matrix = datasets.load_pca_correlation_example().data
    expected = get_example("lihang.ex16.1.eigenvalues")["verified"]["value"]
    np.testing.assert_allclose(np.linalg.eigvalsh(matrix)[::-1], expected, atol=1e-9)
    covariance = np.cov(datasets.load_pca_exercise().data.T)
    expected = get_example("lihang.exercise16.1")["verified"]["value"]["covariance"]
    np.testing.assert_allclose(covariance, expected, atol=1e-9)


def test_squared_errors_of_the_boosting_tree_example():
    X, y = datasets.load_boosting_tree_example(return_X_y=True)
    losses = get_example("lihang.ex8.2.m_s")["verified"]["value"]
    for split, loss in losses.items():
        side = X[:, 0] < float(split)
        computed = sum(len(part) * part.var() for part in (y[side], y[~side]))
        assert computed == pytest.approx(loss, abs=1e-9)


def test_stump_errors():
    X, y = datasets.load_adaboost_example(return_X_y=True)
    rounds = get_example("lihang.ex8.1.rounds")["verified"]["value"]
    first = rounds[0]
    predicted = np.where(X[:, 0] < first["threshold"], 1, -1) * first["left_label"]
    assert np.mean(predicted != y) == pytest.approx(first["e"], abs=1e-9)
    people = datasets.load_recruitment()
    first = get_example("lihang.exercise8.1.first_round")["verified"]["value"]
    for stump, error in first["errors"].items():
        test, label = stump.split(":")
        name, threshold = test.split("<")
        values = people.data[:, people.feature_names.index(name)]
        predicted = np.where(values < float(threshold), int(label), -int(label))
        assert np.mean(predicted != people.target) == pytest.approx(error, abs=1e-9)


def test_golf_and_weka_differ_in_two_humidities():
    golf, weka = datasets.load_play_tennis("golf"), datasets.load_play_tennis("weka")
    differs = golf.data != weka.data
    rows, columns = np.nonzero(differs)
    assert golf.sample_ids[rows].tolist() == [3, 14]
    assert {golf.feature_names[i] for i in columns} == {"humidity"}


def test_loaders_return_fresh_data():
    first = datasets.load_loan()
    first.data[:] = "changed"
    first.feature_names.clear()
    second = datasets.load_loan()
    assert second.data[0, 0] == "青年"
    assert len(second.feature_names) == 4


@pytest.mark.parametrize(
    ("name", "arguments", "message"),
    [
        ("load_watermelon", {"version": "1.0"}, r"version .*'2\.0alpha'.*'1\.0'"),
        ("load_watermelon", {"language": "de"}, "language .*'zh', 'en'.*'de'"),
        ("load_play_tennis", {"version": "c45"}, "version .*'golf'.*'c45'"),
        ("load_svd_example", {"number": "15.7"}, r"number .*15\.6.*15\.7"),
        ("load_svd_example", {"number": 15.1}, "number"),
        ("load_svd_exercise", {"number": "15.4"}, r"number .*15\.5.*15\.4"),
        ("load_pca_correlation_example", {"language": "de"}, "language"),
        ("load_loan", {"ordered": True}, "ordered=True requires as_frame=True"),
    ],
)
def test_wrong_argument(name, arguments, message):
    with pytest.raises(ValueError, match=message):
        getattr(datasets, name)(**arguments)


@pytest.mark.parametrize(("name", "arguments", "shape"), LOADERS)
def test_pandas_is_needed_for_frames_only(name, arguments, shape, monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)
    load = getattr(datasets, name)
    assert load(**arguments).data.shape == shape
    with pytest.raises(ImportError, match=f"{name} with as_frame=True requires pandas"):
        load(**arguments, as_frame=True)


def test_data_module_describes_every_file():
    folder = resources.files("sklearn_textbook.datasets.data")
    text = (folder / "README.md").read_text("utf-8")
    files = {path.name for path in folder.iterdir() if path.name.endswith(".csv")}
    loaded = {getattr(datasets, n)(**a).filename for n, a, _ in LOADERS}
    assert files == loaded | {"watermelon_2.0_split.csv"}
    patterns = {"lihang_example15.*_svd.csv", "lihang_exercise15.*_svd.csv"}
    for name in files:
        if "_svd" in name:
            name = f"lihang_{name.split('_')[1].split('15')[0]}15.*_svd.csv"
            assert name in patterns
        assert f"`{name}`" in text
    assert importlib.import_module("sklearn_textbook.datasets.data").__doc__
