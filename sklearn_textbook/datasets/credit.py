"""The credit scoring table: real data with text, numbers and missing values."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sklearn_textbook.datasets._table import (
    BookTable,
    load_table,
    nominal_column,
    numeric_column,
)

if TYPE_CHECKING:
    from sklearn.utils import Bunch

_TABLE = BookTable(
    "credit.csv",
    (
        numeric_column("seniority"),
        nominal_column("home", "owner", "rent", "parents", "priv", "other", "ignore"),
        numeric_column("time"),
        numeric_column("age"),
        nominal_column(
            "marital", "single", "married", "separated", "divorced", "widow"
        ),
        nominal_column("records", "no", "yes"),
        nominal_column("job", "fixed", "partime", "freelance", "others"),
        *map(
            numeric_column, ("expenses", "income", "assets", "debt", "amount", "price")
        ),
    ),
    nominal_column("status", "good", "bad"),
    """\
Credit scoring

4,454 loans of a bank; the class is whether a loan was good or bad for the bank. The
columns are the years in the job, the home, the time of the loan, the age, the marital
status, whether there are records of earlier loans, the kind of job, expenses, income,
assets, debt, the amount of the loan and the price of what was bought. 455 cells are
missing, most of them incomes.

Source: the table credit_data of the R package modeldata (MIT licence), whose column
names are written in lower case here.
""",
)


def load_credit(*, return_X_y: bool = False, as_frame: bool = False) -> Bunch | Any:
    """Load the credit scoring data set (classification).

    A real table for examples, with text and missing values.

    ==============   ============================================
    Classes          2 (good 3,200, bad 1,254)
    Samples          4,454
    Features         13: 9 numeric, 4 nominal
    Missing values   455 cells, in 6 columns
    ==============   ============================================

    Parameters
    ----------
    return_X_y : bool, default=False
        Whether to return ``(data, target)`` instead of a Bunch.
    as_frame : bool, default=False
        Whether to return pandas objects. Nominal columns are then categoricals.

    Returns
    -------
    data : :class:`~sklearn.utils.Bunch`
        With the entries ``data`` (array of objects or DataFrame of shape (4454, 13)),
        ``target`` (the labels "good" and "bad"), ``feature_names``, ``target_names``,
        ``frame``, ``DESCR``, ``filename`` and ``data_module``.

    (data, target) : tuple
        With ``return_X_y=True``.

    Raises
    ------
    ImportError
        If ``as_frame=True`` and pandas is not installed.

    Examples
    --------
    >>> from sklearn_textbook.datasets import load_credit
    >>> credit = load_credit(as_frame=True)
    >>> credit.data[["seniority", "home", "income"]].head(3)
       seniority   home  income
    0        9.0   rent   129.0
    1       17.0   rent   131.0
    2       10.0  owner   200.0
    >>> credit.target.value_counts().to_dict()
    {'good': 3200, 'bad': 1254}
    """
    return load_table(
        _TABLE,
        language="en",
        return_X_y=return_X_y,
        as_frame=as_frame,
        function_name="load_credit",
    )
