"""The page "From scikit-learn" lists every difference of signatures and attributes.

They are those of the installed scikit-learn; rows of the page say which versions have a
parameter.
"""

import ast
import csv
import inspect
import re
import warnings
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest
import sklearn
from sklearn.base import is_classifier
from sklearn.linear_model import LinearRegression as StockLinearRegression
from sklearn.linear_model import LogisticRegression as StockLogisticRegression
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor
from sklearn.utils import all_estimators

from tests.public_api import public_estimators

PAGE = Path(__file__).parents[1] / "doc" / "user_guide" / "scikit_learn.rst"
VERSION = tuple(map(int, re.findall(r"\d+", sklearn.__version__)[:2]))


# ------------------------------------------------------------------------- the page
def read_sections(text):
    """The text under each heading, by heading; that before the first under ""."""
    parts = re.split(r"\n([^\n]+)\n-{3,}\n", f"\n{text}")
    return {"": parts[0]} | dict(zip(parts[1::2], parts[2::2], strict=True))


def read_rows(text):
    """The rows of three cells of all tables."""
    lines = re.findall(r'^   (".*")$', text, flags=re.M)
    rows = csv.reader(lines, skipinitialspace=True)
    return [row for row in rows if len(row) == 3 and row[0].startswith("``")]


def list_literals(text):
    return re.findall(r"``([^`]+)``", text)


def read_page():
    """Pairs of classes, and by name of ours: its rows, and its additional parameters.

    A row is by its name: what scikit-learn has, and what is here.
    """
    sections = read_sections(PAGE.read_text("utf-8"))
    pairs = []
    for stock, ours, _ in read_rows(sections.pop("")):
        (stock,), (ours,) = list_literals(stock), list_literals(ours)
        module, _, name = stock.rpartition(".")
        our_module, _, our_name = ours.rpartition(".")
        pairs.append(
            (
                getattr(import_module(f"sklearn.{module}"), name),
                getattr(import_module(f"sklearn_textbook.{our_module}"), our_name),
            )
        )
    declared = {}
    for text in sections.values():
        intro = re.match(r"\s*(``[^:.]*?)(:| has no exceptions)", text).group(1)
        rows = {list_literals(name)[0]: tuple(rest) for name, *rest in read_rows(text)}
        found = re.search(r"Additional parameters: (.*?)\n\n", f"{text}\n\n", re.S)
        added = set()
        if found:
            added = set(list_literals(re.sub(r"\.\s+The .*", "", found.group(1))))
        for name in list_literals(intro):
            declared[name] = rows, added
    return pairs, declared


PAIRS, DECLARED = read_page()
ALL_PAIRS = pytest.mark.parametrize(
    ("stock", "ours"), PAIRS, ids=[stock.__name__ for stock, _ in PAIRS]
)


def is_there(stock_cell):
    """Whether the installed scikit-learn has what a cell is about."""
    (until,) = re.findall(r"^until 1\.(\d+)", stock_cell) or [None]
    (since,) = re.findall(r"(?:^|, )from 1\.(\d+)", stock_cell) or [None]
    is_gone = until is not None and (1, int(until)) < VERSION
    return not is_gone and not (since is not None and (1, int(since)) > VERSION)


def read_values(cell):
    """The values of a cell: what is set as code and can be a default."""
    values = []
    for literal in list_literals(cell):
        try:
            values.append(ast.literal_eval(literal))
        except (SyntaxError, ValueError):
            continue
    return values


# ------------------------------------------------------------------------ signatures
def read_signature(function):
    parameters = inspect.signature(function).parameters
    return {name: each for name, each in parameters.items() if name != "self"}


def list_methods(cls):
    names = [name for name in dir(cls) if not name.startswith("_")]
    return {name for name in names if callable(getattr(cls, name))}


def is_same(one, other):
    return type(one) is type(other) and one == other


@ALL_PAIRS
def test_parameters_are_taken_or_declared(stock, ours):
    rows, added = DECLARED[ours.__name__]
    theirs, own = read_signature(stock), read_signature(ours)
    unknown = {}
    for name, parameter in theirs.items():
        here = rows.get(name, ("", ""))[1]
        if name not in own:
            if not here.startswith("not taken"):
                unknown[name] = "neither taken nor declared"
        elif here.startswith("not taken"):
            unknown[name] = "declared as not taken, but it is"
        elif not here and not is_same(parameter.default, own[name].default):
            unknown[name] = f"{parameter.default!r} there, {own[name].default!r} here"
    assert unknown == {}
    more = {name for name in own if name not in theirs and name not in rows}
    of_all = set().union(
        *(read_signature(other) for other, our in PAIRS if our is ours)
    )
    assert more - of_all <= added, "additional parameters that the page does not list"


@pytest.mark.parametrize("ours", sorted({ours.__name__ for _, ours in PAIRS}))
def test_additional_parameters_exist(ours):
    """Those of classifiers or regressors alone are parameters of one of them."""
    _, added = DECLARED[ours]
    family = [our for _, our in PAIRS if DECLARED[our.__name__][1] is added]
    known = set().union(*map(read_signature, family))
    theirs = [stock for stock, our in PAIRS if our in family]
    assert added <= known - set().union(*map(read_signature, theirs))


SECTIONS = read_sections(PAGE.read_text("utf-8"))


@pytest.mark.parametrize("heading", list(filter(None, SECTIONS)))
def test_declared_defaults_are_those_of_both(heading):
    """Rows about parameters; what is declared without need is an error, too."""
    text = SECTIONS[heading]
    wrong = {}
    names = [name for name, (rows, _) in DECLARED.items() if name in text]
    pairs = [pair for pair in PAIRS if pair[1].__name__ in names]
    for name, there, here in read_rows(text):
        name = list_literals(name)[0]
        if not re.fullmatch(r"[A-Za-z_]\w*[A-Za-z0-9]", name):
            continue
        theirs = [read_signature(stock).get(name) for stock, _ in pairs]
        own = [read_signature(ours).get(name) for _, ours in pairs]
        if not any(theirs) and is_there(there):
            wrong[name] = "is no parameter of scikit-learn's"
        if any(theirs) and not is_there(there):
            wrong[name] = "is a parameter of this version of scikit-learn"
        values, own_values = read_values(there), read_values(here)
        for parameter in filter(None, theirs):
            if values and not any(is_same(parameter.default, v) for v in values):
                wrong[name] = f"is {parameter.default!r} there"
        for parameter in filter(None, own):
            if own_values and not any(
                is_same(parameter.default, value) for value in own_values
            ):
                wrong[name] = f"is {parameter.default!r} here"
        says_more = re.sub(r"``[^`]+``|\W", "", there + here)
        if not says_more and values == own_values:
            wrong[name] = "is the same"
    assert wrong == {}


@ALL_PAIRS
def test_positions_are_the_same(stock, ours):
    positional = [
        [
            name
            for name, parameter in read_signature(cls).items()
            if parameter.kind is parameter.POSITIONAL_OR_KEYWORD
        ]
        for cls in (stock, ours)
    ]
    assert positional[1][: len(positional[0])] == positional[0]


@ALL_PAIRS
def test_methods_take_the_same_or_it_is_declared(stock, ours):
    rows, _ = DECLARED[ours.__name__]
    unknown = []
    for method in list_methods(stock):
        if not hasattr(ours, method):
            if not rows.get(f"{method}()", ("", ""))[1].startswith("not there"):
                unknown.append(f"{method}()")
            continue
        if rows.get(f"{method}()", ("", ""))[1].startswith("not there"):
            unknown.append(f"{method}() is there")
        if method.startswith("set_"):
            continue
        own = read_signature(getattr(ours, method))
        takes_all = any(each.kind is each.VAR_KEYWORD for each in own.values())
        for name, parameter in read_signature(getattr(stock, method)).items():
            if parameter.kind in (parameter.VAR_KEYWORD, parameter.VAR_POSITIONAL):
                continue
            key = f"{method}({name})"
            is_taken = name in own or takes_all
            if is_taken == rows.get(key, ("", ""))[1].startswith("not taken"):
                unknown.append(key)
    assert unknown == []


def test_every_namesake_is_on_the_page():
    stock = dict(all_estimators())
    ours = {cls for _, cls in PAIRS}
    namesakes = [cls for name, cls in public_estimators().items() if name in stock]
    assert [cls for cls in namesakes if cls not in ours] == []
    assert len(namesakes) > 10
    assert {cls.__name__ for cls in ours} <= set(DECLARED)


# ------------------------------------------------------------------------ attributes
FAMILIES = {
    "PoissonRegressor": "poisson",
    "GammaRegressor": "gamma",
    "TweedieRegressor": "tweedie",
}
#: With all that makes an attribute appear.
SETTINGS = {
    "n_estimators": 30,
    "bootstrap": True,
    "oob_score": True,
    "subsample": 0.5,
    "n_iter_no_change": 30,
    "store_covariance": True,
    "random_state": 0,
}


def make_members(stock):
    if stock.__name__ == "OutputCodeClassifier":
        return {"estimator": DecisionTreeClassifier(random_state=0)}
    if "estimators" not in read_signature(stock):
        return {}
    if "Classifier" in stock.__name__:
        trees = DecisionTreeClassifier(max_depth=2), StockLogisticRegression()
    else:
        trees = DecisionTreeRegressor(max_depth=2), StockLinearRegression()
    return {"estimators": list(zip("ab", trees, strict=True))}


def fit_both(stock, ours):
    random = np.random.default_rng(0)
    X = random.uniform(size=(60, 5))
    y = X[:, 0] + 0.1 * random.normal(size=60) + 1.0
    fitted = []
    for cls in (stock, ours):
        names = read_signature(cls)
        settings = {name: SETTINGS[name] for name in names if name in SETTINGS}
        settings |= make_members(stock)
        if "family" in names and stock.__name__ in FAMILIES:
            settings["family"] = FAMILIES[stock.__name__]
        model = cls(**settings)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model.fit(X, np.digitize(y, [1.3, 1.6]) if is_classifier(model) else y)
        fitted.append(model)
    return fitted


def find_shape(value):
    is_array = isinstance(value, (list, tuple, np.ndarray, int, float, np.generic))
    return np.shape(value) if is_array else None


@ALL_PAIRS
def test_fitted_attributes_are_there_or_declared(stock, ours):
    rows, _ = DECLARED[ours.__name__]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        their_model, model = fit_both(stock, ours)
        names = [
            name
            for name in dir(their_model)
            if re.fullmatch(r"[A-Za-z]\w*[^_]_", name) and hasattr(their_model, name)
        ]
        assert "n_features_in_" in names
        wrong = {}
        for name in names:
            here = rows.get(name, ("", ""))[1]
            if hasattr(model, name) == here.startswith("not there"):
                wrong[name] = "neither there nor declared, or both"
            elif hasattr(model, name) and not here:
                there = find_shape(getattr(their_model, name))
                here = find_shape(getattr(model, name))
                if there != here:
                    wrong[name] = f"shape {there} there, {here} here"
    assert wrong == {}
