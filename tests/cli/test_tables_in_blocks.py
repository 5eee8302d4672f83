"""The commands fit and predict with tables that are read in blocks of rows."""

import re

import numpy as np
import pyarrow as pa
import pyarrow.csv as csv
import pyarrow.parquet as parquet
import pytest
from sklearn.metrics import (
    accuracy_score,
    cohen_kappa_score,
    mean_absolute_error,
    mean_absolute_percentage_error,
    r2_score,
    root_mean_squared_error,
)

from sklearn_textbook.cli import main
from sklearn_textbook.cli.block_scores import BlockScores
from sklearn_textbook.cli.metrics import measure
from sklearn_textbook.ensemble import (
    GradientBoostingClassifier,
)
from sklearn_textbook.io import load_model
from tests.blocks.tables import draw_frame

FEATURES = ["x2", "x3", "text", "size"]
FRAME = draw_frame(3000)[[*FEATURES, "value", "answer", "class", "w"]]
FRAME["digit"] = np.arange(3000) % 3 * 1.0
FRAME.loc[::50, "answer"] = None
OTHERS = {"value", "answer", "class", "w", "digit"}


@pytest.fixture
def folder(tmp_path):
    """A folder of Parquet files, in which the commands run."""
    below = tmp_path / "x"
    below.mkdir()
    for part in range(3):
        rows = FRAME[1000 * part : 1000 * part + 1000]
        table = pa.Table.from_pandas(rows, preserve_index=False)
        parquet.write_table(table, below / f"{part}.parquet", row_group_size=300)
    csv.write_csv(pa.Table.from_pandas(FRAME, preserve_index=False), tmp_path / "t.csv")
    return tmp_path


def leave_out(*kept):
    return ("--drop", ",".join(sorted(OTHERS - {*kept})))


@pytest.mark.parametrize("table", ["x/*.parquet", "x", "t.csv"])
def test_fit_gives_the_model_of_memory(command, folder, table):
    output = command(
        *("fit", table, "--target", "answer", "--weight", "w", "--memory", "1GiB"),
        *(*leave_out("answer", "w"), "--trees", 3, "--save", "m.json"),
    )
    files = 1 if table == "t.csv" else 3
    noun = "file" if files == 1 else "files"
    start = f"{table}: {files} {noun}, 3,000 rows, 9 columns (read in blocks)"
    assert output.startswith(start)
    assert "left out: 60 rows without a value of 'answer'" in output
    rows = FRAME.dropna(subset="answer")
    X = rows[FEATURES].copy()
    if table == "t.csv":
        X["size"] = X["size"].astype(str)
    model = GradientBoostingClassifier(n_estimators=3, random_state=0)
    model.fit(X, rows["answer"], rows["w"])
    found = load_model("m.json").predict_proba(X)
    np.testing.assert_array_equal(found, model.predict_proba(X))
    accuracy = accuracy_score(rows["answer"], model.predict(X), sample_weight=rows["w"])
    assert re.search(rf"training +{accuracy:.3f} .* 2,940 rows, weighted", output)
    assert "note: no cross-validation; --cv FOLDS" in output


def test_fit_numbers_with_folds_and_a_test_table(command, folder):
    output = command(
        *("fit", "x", "--target", "value", *leave_out("value"), "--trees", 3),
        *("--cv", 3, "--test", "t.csv", "--scoring", "r2,mape,rmse"),
        *("--set", "max_depth=3"),
    )
    assert "target value: numbers from" in output
    assert re.search(r"\n +R2 +MAPE +RMSE", output)
    assert re.search(r"\nmean +0.000 +- +", output)
    assert re.search(r"\ncross-validated +0\.\d+ ± 0.*3 folds", output)
    training, test = re.findall(r"\n(?:training|test) +([0-9.]+ +[0-9.]+)", output)
    assert training == test


def test_folds_of_classes(command, folder):
    output = command(
        *("fit", "x", "--target", "class", *leave_out("class"), "--trees", 2),
        *("--cv", 2),
    )
    _, confusions, classes = re.split(r"\n(?:confusion matrix|classes)  ", output)
    counts = [int(n.replace(",", "")) for n in re.findall(r" ([\d,]+)", confusions)]
    assert sum(counts) == 3000
    assert "middle" in classes


def test_whole_numbers_are_classes(command, folder):
    options = ("fit", "x", *leave_out("digit"), "--target", "digit", "--trees", 2)
    output = command(*options, "--save", "m.json")
    assert "target digit: 3 classes (0 1,000, 1 1,000, 2 1,000)" in output
    assert "the 3 whole numbers of 'digit' are treated as classes" in output
    assert load_model("m.json").classes_.tolist() == [0, 1, 2]
    output = command(*options, "--algorithm", "gradient-boosting-regressor")
    assert "target digit: numbers from 0 to 2 (regression)" in output


def test_other_algorithms_give_what_they_give_in_memory(command, folder):
    """Trees are pruned as in memory."""
    for algorithm in ("cart", "random-forest"):
        for more in (("--memory", "1GiB"), ()):
            command(
                *("fit", "t.csv", "--target", "value", *leave_out("value"), *more),
                *("--algorithm", algorithm, "--cv", 0, "--set", "max_depth=4"),
                *("--save", "m.json" if more else "whole.json"),
            )
        found, expected = map(load_model, ("m.json", "whole.json"))
        X = FRAME[FEATURES].assign(size=FRAME["size"].astype(str))
        np.testing.assert_array_equal(found.predict(X), expected.predict(X))


def test_predict_gives_what_it_gives_in_memory(command, folder):
    command(
        *("fit", "x", "--target", "class", *leave_out("class", "w"), "--id", "w"),
        *("--trees", 3, "--save", "m.json"),
    )
    expected = command("predict", "m.json", "t.csv", "--proba")
    found = command("predict", "m.json", "t.csv", "--proba", "--memory", "1GB")
    assert found == expected
    command("predict", "m.json", "x", "--proba", "-o", "p.parquet")
    command("predict", "m.json", "t.csv", "--memory", 1, "--proba", "-o", "p.csv")
    table = parquet.read_table("p.parquet")
    names = ["w", "prediction", "probability_high", "probability_low"]
    assert table.column_names == [*names, "probability_middle"]
    assert (folder / "p.csv").read_text() == expected
    assert table.num_rows == 3000
    command("predict", "m.json", "x", "--all-columns", "-o", "p.parquet")
    assert parquet.read_table("p.parquet").column_names == [*FRAME, "prediction"]
    assert sorted(path.name for path in folder.glob("*p.*")) == ["p.csv", "p.parquet"]


def test_scores_of_predictions(command, folder, capsys):
    command(
        *("fit", "x", "--target", "answer", *leave_out("answer", "w")),
        *("--weight", "w", "--trees", 3, "--save", "m.json"),
    )
    model = load_model("m.json")
    rows = FRAME.dropna(subset="answer")
    accuracy = accuracy_score(
        rows["answer"], model.predict(rows[FEATURES]), sample_weight=rows["w"]
    )
    for table, more in (("x", ()), ("t.csv", ("--memory", "1GiB"))):
        assert main(["predict", "m.json", table, "-o", "p.csv", *more]) == 0
        # Rows of weight 0 are not counted.
        n_rows = int((rows["w"] > 0).sum())
        start = f"{table}: accuracy {accuracy:.4g}, kappa "
        errors = capsys.readouterr().err
        assert errors.startswith(start), errors
        assert f"({n_rows:,} rows, weighted)" in errors


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (("x", "--target", "valu"), 3, "x: no column 'valu' to predict; did you mean"),
        (("x",), 2, "Missing option '--target', the column to predict: x has 'x2',"),
        (("y/*.csv", "--target", "value"), 3, "no file has a name like this"),
        (
            ("x", "--target", "value", "--memory", "much"),
            2,
            "'much' is not a size such",
        ),
        (
            ("x", "--target", "value", "--memory", "1MB"),
            5,
            "x: memory_limit is 1.0 MiB",
        ),
        (
            ("x", "--target", "value", "--algorithm", "voting"),
            2,
            "voting is not fitted",
        ),
        (("x", "--target", "value", "--algorithm", "pca"), 2, "pca is not fitted to a"),
        (("x", "--target", "value", "--no-header"), 2, "--no-header is not possible"),
        (("x", "--target", "value", "--keep", "x2"), 2, "--keep is not possible for a"),
        (("x", "--target", "value", "--drop", "value"), 2, "'value' is also in --drop"),
        (("x", "--target", "value", "--drop", "z"), 3, "no column 'z' to leave out"),
        (("x", "--target", "value", "--weight", "z"), 3, "no column 'z' of weights"),
        (("x", "--target", "value", "--weight", "value"), 2, "is also the --target"),
        (("x", "--target", "answer", "--scoring", "auc"), 2, "auc needs all rows at"),
        (("x", "--target", "value", "--scoring", "auc"), 2, "auc is for classes"),
        (
            ("x", "--target", "value", "--save", "x/0.parquet"),
            2,
            "this is also the file",
        ),
        (
            ("x", "--target", "value", "--weight", "text"),
            5,
            "sample_weight",
        ),
        (("x", "--target", "value", "--test", "none.csv"), 3, "none.csv"),
    ],
)
def test_wrong_fits(command, folder, arguments, code, message):
    assert message in command("fit", *arguments, code=code)


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (("x", "--explain"), 2, "--explain is not possible for a table that is read"),
        (("x", "-o", "p.json"), 3, "p.json: a table that is read in blocks is written"),
        (("x", "-o", "x/0.parquet"), 2, "this is also the file of TABLE"),
        (("x", "--id", "z"), 3, "x: no column 'z' to copy"),
        (("y", "--id", "w"), 3, "y: no column 'x2' of the model"),
        (("x", "--proba"), 2, "predicts numbers, which have no probabilities"),
    ],
)
def test_wrong_predictions(command, folder, arguments, code, message):
    command(
        *("fit", "t.csv", "--target", "value", *leave_out("value"), "--cv", 0),
        *("--algorithm", "gradient-boosting", "--trees", 2, "--save", "m.json"),
    )
    (folder / "y").mkdir()
    parquet.write_table(pa.table({"x3": [1.0]}), "y/a.parquet")
    assert message in command("predict", "m.json", *arguments, code=code)
    assert not (folder / "p.json").exists()


def test_targets_that_cannot_be_predicted(command, folder):
    for name, values, message in (
        (
            "one",
            [1] * 5,
            "the target is 1 in all 5 rows, so there is nothing",
        ),
        ("none", pa.nulls(5, pa.int64()), "the target has no values"),
    ):
        below = folder / name
        below.mkdir()
        parquet.write_table(pa.table({"y": values, "x": range(5)}), below / "a.parquet")
        assert message in command("fit", below, "--target", "y", code=5)


def test_a_damaged_file_is_named(command, folder):
    path = folder / "x/1.parquet"
    path.write_bytes(path.read_bytes()[:2000])
    message = command("fit", "x", "--target", "value", code=3)
    assert "x/1.parquet: cannot be read (" in message


def test_sums_give_the_scores_of_all_rows():
    rng = np.random.default_rng(0)
    true, weights = rng.normal(5, 2, 1000), rng.random(1000)
    predicted = true + rng.normal(0, 1, 1000)
    scores = BlockScores(("r2", "rmse", "mae", "mape"), is_classes=False)
    for rows in np.split(np.arange(1000), [100, 150, 700]):
        scores.add(true[rows], predicted[rows], weights[rows])
    expected = [
        metric(true, predicted, sample_weight=weights)
        for metric in (
            *(r2_score, root_mean_squared_error, mean_absolute_error),
            mean_absolute_percentage_error,
        )
    ]
    np.testing.assert_allclose([*scores.finish("").means.values()], expected)
    baseline = np.full(1000, np.average(true, weights=weights))
    expected = [
        metric(true, baseline, sample_weight=weights)
        for metric in (r2_score, root_mean_squared_error)
    ]
    found = [*scores.score_baseline().means.values()]
    np.testing.assert_allclose(found[:2], expected, atol=1e-12)
    assert np.isnan(found[2:]).all()


def test_sums_give_the_scores_of_all_classes():
    rng = np.random.default_rng(0)
    true, predicted = (
        rng.choice(["a", "b", "c"], 1000, p=p) for p in ([0.2, 0.5, 0.3],) * 2
    )
    metrics = (
        "accuracy",
        "kappa",
        "f1_macro",
        "balanced_accuracy",
        "matthews_corrcoef",
    )
    scores = BlockScores(metrics, is_classes=True)
    for rows in np.split(np.arange(1000), [100, 150, 700]):
        scores.add(true[rows], predicted[rows])
    found = scores.finish("")
    expected = [measure(name, true, predicted, None, None) for name in metrics]
    np.testing.assert_allclose([*found.means.values()], expected)
    assert found.means["kappa"] == pytest.approx(cohen_kappa_score(true, predicted))
    assert found.note == "1,000 rows"
    assert scores.count_confusions(["a", "b", "c"]).sum() == 1000
    share = np.mean(true == "b")
    assert scores.score_baseline().means["accuracy"] == pytest.approx(share)


def test_output_at_80_columns(terminal, folder):
    code, text = terminal(
        *("fit", "x/*.parquet", "--target", "class", *leave_out("class")),
        *("--trees", 2, "--cv", 2, "--memory", "1GiB"),
    )
    assert code == 0
    assert max(map(len, text.splitlines())) <= 80
    assert "class: 3 classes (" in text
