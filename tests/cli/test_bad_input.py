"""Input that the command refuses."""

import json
import os
from pathlib import Path

import pytest

from tests.cli.files import write

DATA = Path(__file__).parents[1] / "data"


GOOD_CSV = "size,colour,y\n1,red,a\n2,green,b\n3,red,b\n"


@pytest.fixture
def bad_files(command):
    """Files with one fault each, beside a good table and a good model."""
    write("good.csv", GOOD_CSV)
    command("fit", "good.csv", "--target", "y", "--cv", 0, "--save", "good.json")
    write("ragged.csv", "size,y\n1,a\n2,b,c\n")
    write("empty.csv", "")
    write("header.csv", "size,y\n")
    write("twice.csv", "size,y,size\n1,2,3\n")
    write("one_class.csv", "size,y\n1,a\n2,a\n")
    write("constant.csv", "size,y\n1,2.5\n2,2.5\n")
    write("word.csv", "size,y\n1,a\nbig,b\n")
    write("infinite.csv", "size,y\n1,a\ninf,b\n")
    write("halves.csv", "size,y\n1,0.5\n2,1.5\n")
    write("no_target.csv", "size,y\n1,?\n2,\n")
    write("only.csv", "y\na\nb\n")
    write("few.csv", "size,colur\n1,red\n")
    write("narrow.csv", "size,y\n1,a\n")
    write("numbers.csv", "size,colour\n1,red\nlarge,red\n")
    write("dates.csv", "size,y\n1,2024-01-01\n2,2024-01-02\n")
    Path("western.csv").write_bytes("size,y\n1,é\n2,b\n".encode("latin-1"))
    good = json.loads(Path("good.json").read_text("utf-8"))
    write("newer.json", json.dumps({**good, "schema_version": 99}))
    write("damaged.json", json.dumps({**good, "tree": {}}))
    write("cut.json", Path("good.json").read_text("utf-8")[:200])
    write("foreign.json", '{"learner": {}}')
    write("words.names", "a, b.\nx: u, v.\nsize: continuous.\n")
    write("words.data", "u,1,a\nw,2,b\n")
    write("formula.names", "a, b.\nx: continuous.\ndouble := x * 2.\n")
    write("formula.data", "1,a\n")
    write("weather.arff", "@relation w\n@attribute a {x,y}\n@data\nx\nz\n")


BAD = {
    # ---- tables: 3
    "fit none.csv --target y": (
        3,
        "none.csv: no such file",
    ),
    "fit god.csv --target y": (3, "god.csv: no such file; did you mean 'good.csv'?"),
    "fit western.csv --target y": (
        3,
        (
            "western.csv, line 2: byte 0xE9 is not UTF-8; set the encoding of the "
            "file, e.g. --encoding gb18030 or latin-1"
        ),
    ),
    "fit good.csv --target y --encoding punycode": (
        3,
        "good.csv: is not punycode; set the encoding of the file with --encoding",
    ),
    "fit good.csv --target colr": (
        3,
        "good.csv: no column 'colr' to predict; did you mean 'colour'?",
    ),
    "fit good.csv --target weight": (
        3,
        "good.csv: no column 'weight' to predict; there are: 'size', 'colour', 'y'",
    ),
    "fit ragged.csv --target y": (
        3,
        (
            "ragged.csv, line 3: the row has 3 values, but there are 2 columns; "
            "unexpected 'c'; quote values that contain the comma"
        ),
    ),
    "fit empty.csv --target y": (
        3,
        "empty.csv: is empty; a table has a header and rows",
    ),
    "fit header.csv --target y": (
        3,
        (
            "header.csv: has a header ('size', 'y') but no rows; add rows, or use "
            "--no-header if the first line is a row"
        ),
    ),
    "fit twice.csv --target y": (
        3,
        (
            "twice.csv, line 1, column 'size': duplicate name of columns 1 and 3; "
            "column names must be unique"
        ),
    ),
    "fit word.csv --target y --numeric size": (
        3,
        (
            "word.csv, line 3, column 'size': 'big' is not a number; correct it, "
            "or leave it empty if it is missing"
        ),
    ),
    "fit infinite.csv --target y": (
        3,
        (
            "infinite.csv, line 3, column 'size': the value inf is infinite; give a "
            "finite number, or leave it empty if it is missing"
        ),
    ),
    "fit weather.arff --target a": (
        3,
        (
            "weather.arff, line 5, column 'a': 'z' is not a declared level; the "
            "declared levels are 'x', 'y'"
        ),
    ),
    "fit words.data": (
        3,
        (
            "words.data, line 2, column 'x': 'w' is not a declared level; the declared "
            "levels are 'u', 'v'"
        ),
    ),
    "fit formula": (
        3,
        (
            "formula.names, line 3, column 'double': is defined by the formula 'x * "
            "2', which is not supported; compute it, and write its values into the data"
        ),
    ),
    "fit good.csv --target y --drop colours": (
        3,
        "good.csv: no column 'colours'; did you mean 'colour'?",
    ),
    "fit good.csv --target y --test few.csv": (
        3,
        "few.csv: no column 'colour', which the model needs; did you mean 'colur'?",
    ),
    "predict good.json few.csv": (
        3,
        "few.csv: no column 'colour', which the model needs; did you mean 'colur'?",
    ),
    "predict good.json numbers.csv": (
        3,
        (
            "numbers.csv, line 3, column 'size': 'large' is not a number; correct it, "
            "or leave it empty if it is missing"
        ),
    ),
    "predict good.json good.csv -o none/out.csv": (
        3,
        "none/out.csv: cannot be written (No such file or directory)",
    ),
    # ---- models: 4
    "show none.json": (4, "none.json: no such file"),
    "show cut.json": (4, "cut.json: is not valid JSON: line 1, column..."),
    "show foreign.json": (
        4,
        (
            "foreign.json: is JSON, but not a sklearn-textbook model; give a file "
            "written by sklearn-textbook fit --save or by save_model"
        ),
    ),
    "predict newer.json good.csv": (
        4,
        (
            "newer.json: has schema version 99, but this version of sklearn-textbook "
            "reads up to 1; install a newer one"
        ),
    ),
    "predict damaged.json good.csv": (
        4,
        "damaged.json: is damaged: This is not a grown...",
    ),
    "predict good.csv good.csv": (
        4,
        (
            "good.csv: is not a model file; give a file written by sklearn-textbook "
            "fit --save or by save_model"
        ),
    ),
    "fit good.csv --target y --save none/m.json": (
        4,
        "none/m.json: the folder 'none' does not exist",
    ),
    "fit good.csv --target y --save .": (4, ".: is a folder; give the path of a file"),
    "fit good.csv --target y --cv many": (
        2,
        "Invalid value for '--cv': 'many' is not a valid integer; ...",
    ),
    # ---- the algorithm: 5
    "fit one_class.csv --target y": (
        5,
        (
            "one_class.csv, column 'y': the target is 'a' in all 2 rows, so there is "
            "nothing to predict; choose another target"
        ),
    ),
    "fit constant.csv --target y": (
        5,
        (
            "constant.csv, column 'y': the target is 2.5 in all 2 rows, so there is "
            "nothing to predict; choose another target"
        ),
    ),
    "fit no_target.csv --target y": (
        5,
        "no_target.csv, column 'y': the target has no values",
    ),
    "fit only.csv --target y": (
        5,
        (
            "only.csv, column 'y': the target is the only column, so there is nothing "
            "to predict it from"
        ),
    ),
    "fit dates.csv --target y": (
        5,
        (
            "dates.csv, column 'y': dates and times cannot be predicted; choose "
            "another target"
        ),
    ),
    "fit good.csv --target y --algorithm cart-regressor": (
        5,
        (
            "good.csv, column 'y': cart-regressor predicts numbers, but the target "
            "is not numeric; cart predicts classes"
        ),
    ),
    "fit halves.csv --target y --algorithm c45": (
        5,
        (
            "halves.csv, column 'y': c45 predicts classes, but the target has numbers "
            "that are not whole; cart predicts numbers, --categorical treats "
            "them as classes"
        ),
    ),
    "fit halves.csv --target y --algorithm c45-rules": (
        5,
        (
            "halves.csv, column 'y': c45-rules predicts classes, but the target has "
            "numbers that are not whole; cart predicts numbers, --categorical treats "
            "them as classes"
        ),
    ),
    "fit good.csv --target size --algorithm cart-classifier --missing-marks 1.5": (
        0,
        "",
    ),
    # ---- wrong use: 2
    "fit good.csv --target y --set max_dept=3": (
        2,
        (
            "--set: CARTClassifier has no parameter 'max_dept'; did you mean "
            "'max_depth'? It has categorical_features, categorical_smoothing, ..."
        ),
    ),
    "fit good.csv --target y --set max_depth=abc": (
        2,
        "--set max_depth=abc: The 'max_depth' parameter ...",
    ),
    "fit good.csv --target y --set max_depth": (
        2,
        (
            "Invalid value for '--set': 'max_depth' is not of the form name=value, as "
            "in max_depth=3; see sklearn-textbook fit --help"
        ),
    ),
    "fit good.csv": (
        2,
        (
            "Missing option '--target', the column to predict: good.csv has 'size', "
            "'colour', 'y'; see sklearn-textbook fit --help"
        ),
    ),
    "compare .": (3, ".: is a folder; give the path of a file"),
    "fit . --target y": (
        3,
        (
            "dates.csv, column 'y': '2024-01-01' in row 1 is not of the type double, "
            "that of the first rows of the table; correct it, or write the table as "
            "Parquet, which has types"
        ),
    ),
    "show good.json --as pdf": (
        2,
        "Invalid value for '--as': 'pdf' is unknown. Choose from text, ...",
    ),
    "show good.json --as rule": (
        2,
        "Invalid value for '--as': 'rule' is unknown; did you mean 'rules'? ...",
    ),
    "prdict good.json good.csv": (
        2,
        (
            "No such command 'prdict'. Did you mean 'predict'? See sklearn-textbook "
            "--help"
        ),
    ),
    "predict good.json narrow.csv": (
        3,
        (
            "narrow.csv: no column 'colour', which the model needs; there are: 'size', "
            "'y'"
        ),
    ),
    "fit good.csv --target y --cv 1": (
        2,
        "--cv must be 0 (none) or at least 2; see sklearn-textbook fit --help",
    ),
    "fit good.csv --target y --algorithm c5": (
        2,
        (
            "Invalid value for '--algorithm': 'c5' is unknown; did you mean 'c45'? "
            "Choose from cart, ..."
        ),
    ),
    "fit good.csv --target y --delimiter ;;": (
        2,
        (
            "Invalid value for '--delimiter': ';;' is neither an ASCII character "
            "(except quotes and line breaks) nor one of comma, semicolon, tab, pipe, "
            "space; see sklearn-textbook fit --help"
        ),
    ),
    "fit good.csv --target y --delimiter 中": (
        2,
        (
            "Invalid value for '--delimiter': '中' is neither an ASCII character "
            "(except quotes and line breaks) nor one of comma, semicolon, tab, pipe, "
            "space; see sklearn-textbook fit --help"
        ),
    ),
    "fit good.csv --target y --drop y": (
        2,
        "--target 'y' is also in --drop or --id; see sklearn-textbook fit --help",
    ),
    "fit good.csv --target y --numeric size --categorical size": (
        2,
        (
            "'size' is in --numeric and also declared in another way; see "
            "sklearn-textbook fit --help"
        ),
    ),
    "fit good.csv --target y --numeric size --drop size": (
        2,
        (
            "'size' is left out, but listed in --categorical, --numeric, --ordinal, "
            "--date, --keep or --weight; see sklearn-textbook fit --help"
        ),
    ),
    "sohw good.json": (2, "No such command 'sohw'..."),
}


@pytest.mark.parametrize("arguments", BAD)
def test_bad_input(command, bad_files, arguments):
    code, message = BAD[arguments]
    text = command(*arguments.split(), code=code)
    if code == 0:
        return
    assert text.count("\n") == 1
    expected = f"sklearn-textbook: {message}"
    if message.endswith("..."):  # where a list, or the words of another module follow
        assert text.startswith(expected.removesuffix("..."))
    else:
        assert text == f"{expected}\n"


def test_probabilities_of_numbers(command):
    write("train.csv", "x,y\n1,1.5\n2,2.5\n3,4.5\n")
    command("fit", "train.csv", "--target", "y", "--cv", 0, "--save", "m.json")
    assert command("predict", "m.json", "train.csv", "--proba", code=2) == (
        "sklearn-textbook: --proba: m.json predicts numbers, which have no "
        "probabilities; see sklearn-textbook predict --help\n"
    )


def test_notes_of_a_model_are_checked(command, iris_model):
    document = json.loads(Path(iris_model).read_text("utf-8"))
    document["table"]["names"] = {"a": 1}
    write("bad.json", json.dumps(document))
    assert command("predict", "bad.json", DATA / "iris.csv", code=4) == (
        "sklearn-textbook: bad.json: is damaged: table.names is not a list of names\n"
    )


def test_refused_level_in_cross_validation(command):
    rows = "".join(f"c{i},{'ab'[i % 2]}\n" for i in range(6))
    write("table.csv", f"x,y\n{rows}")
    arguments = ["fit", "table.csv", "--target", "y", "--set", "handle_unknown=error"]
    arguments += ["--keep", "x"]
    text = command(*arguments, code=5)
    assert text.startswith("sklearn-textbook: cross-validation: ")
    assert text.endswith("; --cv 0 leaves it out\n")
    assert text.count("\n") == 1
    command(*arguments, "--cv", 0)


def test_model_is_not_left_behind_by_a_failed_fit(command, bad_files):
    command("fit", "one_class.csv", "--target", "y", "--save", "m.json", code=5)
    assert not Path("m.json").exists()


def test_advice_of_a_memory_error_is_printed(command, monkeypatch):
    write("good.csv", GOOD_CSV)
    monkeypatch.setattr(os, "sysconf", lambda name: 4)  # 16 bytes
    monkeypatch.setattr("sklearn_textbook._contract.memory.NEGLIGIBLE", 0)
    arguments = ("fit", "good.csv", "--target", "y", "--cv", 0)
    message = command(*arguments, code=1)
    assert "of memory for a table of 3 rows and 2 columns" in message
    assert "Use fewer columns" in message
