"""What tables the estimators take, found by fitting them; a page of the guide has it.

``python -m tests.supported`` writes the tables of that page anew.
"""

import csv
import io
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
from scipy import sparse
from sklearn.base import clone, is_classifier, is_regressor

from tests.registry import INSTANCES

PAGE = Path(__file__).parents[1] / "doc" / "user_guide" / "supported_tables.rst"
N_ROWS = 60
#: Parameters that let an estimator take a table; the first that do are named.
WAYS = (
    {},
    {"categorical_features": "from_dtype"},
    {"missing": "mean"},
    {"categorical_features": "from_dtype", "missing": "mean"},
)
FAMILIES = {
    "Trees": "tree",
    "Ensembles": "ensemble",
    "Linear models, discriminants, components": "",
}


def make_numbers():
    rng = np.random.default_rng(0)
    return pd.DataFrame(rng.normal(size=(N_ROWS, 3)), columns=["a", "b", "c"])


def make_text():
    X = make_numbers()
    X["c"] = np.array(["low", "middle", "high"] * (N_ROWS // 3), dtype=object)
    return X


def make_missing():
    X = make_numbers()
    X.iloc[::7, 1] = np.nan
    return X


def _make_missing_text():
    X = make_text()
    X.iloc[::7, 2] = None
    return X


def _make_dates():
    X = make_numbers()
    X["c"] = pd.date_range("2024-01-01", periods=N_ROWS, freq="D")
    return X


def _make_sparse():
    return sparse.csr_array(make_numbers().clip(lower=0).to_numpy())


TABLES = {
    "text": make_text,
    "missing numbers": make_missing,
    "missing text": _make_missing_text,
    "dates": _make_dates,
    "sparse": _make_sparse,
}


def make_target(estimator, n_classes=2):
    rows = np.arange(N_ROWS)
    if is_regressor(estimator):
        return 1.0 + rows % 5 + 0.1 * (rows % 7)
    if is_classifier(estimator):
        return np.array(["x", "y", "z"])[(rows * rows // 3) % n_classes]
    return None


def fits(estimator, X, y, **fit_parameters):
    """Whether a fit, and what the estimator is for, go through."""
    estimator = clone(estimator)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            estimator.fit(X, y, **fit_parameters)
            getattr(estimator, "predict" if y is not None else "transform")(X)
        except (TypeError, ValueError, NotImplementedError):
            return False
    return True


def _describe(parameters):
    return ", ".join(f"``{name}={value!r}``" for name, value in parameters.items())


def find_way(estimator, X):
    """Find by which parameters an estimator takes a table: text of a cell."""
    names = estimator.get_params(deep=False)
    y = make_target(estimator)
    for parameters in WAYS:
        if parameters.keys() <= names.keys():
            changed = clone(estimator).set_params(**parameters)
            if fits(changed, X, y):
                return _describe(parameters).replace("'", '"') or "yes"
    return "no"


def _yes(answer):
    return "yes" if answer else "no"


def describe_estimator(estimator):
    """What one estimator takes: the cells of a row."""
    X, y = make_numbers(), make_target(estimator)
    cells = [find_way(estimator, make()) for make in TABLES.values()]
    cells.append(_yes(fits(estimator, X, y, sample_weight=np.arange(N_ROWS) % 3)))
    if is_classifier(estimator):
        several = make_target(estimator, 3)
        cells.append(_yes(fits(estimator, X, several)))
    else:
        cells.append("—")
    if y is None:
        return [*cells, "—"]
    return [*cells, _yes(fits(estimator, X, np.column_stack([y, y[::-1]])))]


def list_family(family):
    """The first instances of the classes of a family, by name."""
    for _, instances in sorted(INSTANCES.items()):
        package = type(instances[0]).__module__.split(".")[1]
        if package == family or (not family and package not in FAMILIES.values()):
            yield instances[0]


def name_class(estimator):
    """Name a class with a link to its page."""
    kind = type(estimator)
    return f":class:`~{'.'.join(kind.__module__.split('.')[:2])}.{kind.__name__}`"


def format_rows(columns, rows):
    """Write a table of the guide; the first cell of a row names the estimator."""
    text = io.StringIO()
    csv.writer(text, lineterminator="\n", quoting=csv.QUOTE_ALL).writerows(
        [["estimator", *columns], *rows]
    )
    header, *lines = text.getvalue().splitlines()
    body = "".join(f"   {line}\n" for line in lines)
    return f".. csv-table::\n   :header: {header}\n   :width: 100%\n\n{body}"


def format_family(family):
    """Write the table of a family."""
    columns = [*TABLES, "weights", "3 classes", "2 outputs"]
    rows = [
        [name_class(estimator), *describe_estimator(estimator)]
        for estimator in list_family(family)
    ]
    return format_rows(columns, rows)


def write_page(text):
    """Put the tables between the headings of the families into the page."""
    for title, family in FAMILIES.items():
        start = text.index(f"\n{title}\n")
        begin = text.index(".. csv-table::", start)
        end = text.find("\n\n", text.index("\n\n", begin) + 2)
        rest = text[end + 1 :] if end >= 0 else ""
        text = text[:begin] + format_family(family) + rest
    return text


if __name__ == "__main__":
    PAGE.write_text(write_page(PAGE.read_text("utf-8")), "utf-8")
