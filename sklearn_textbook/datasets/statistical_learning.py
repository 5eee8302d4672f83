"""The tables of Li's book (李航《统计学习方法》) that have a target."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from sklearn_textbook.datasets._table import (
    NUMERIC,
    ORDINAL,
    BookColumn,
    BookTable,
    load_table,
)

if TYPE_CHECKING:
    from sklearn.utils import Bunch

SOURCE = """
Source: Li Hang (李航), Statistical Learning Methods (《统计学习方法》), 2nd edition,
Tsinghua University Press, 2019, {place}.
"""

_YES_NO = {"是": "yes", "否": "no"}
_AGE = BookColumn(
    "年龄", "age", levels={"青年": "young", "中年": "middle_aged", "老年": "old"}
)
_CREDIT = BookColumn(
    "信贷情况", "credit", levels={"非常好": "excellent", "好": "good", "一般": "fair"}
)
_LOAN = BookTable(
    "lihang_table5.1_loan.csv",
    (
        _AGE,
        BookColumn("有工作", "has_job", levels=_YES_NO),
        BookColumn("有自己的房子", "owns_house", levels=_YES_NO),
        _CREDIT,
    ),
    BookColumn("类别", "class", levels=_YES_NO),
    "Loan applications (贷款申请样本)\n\n"
    "Fifteen applicants described by age, job, house and credit standing (A1 to A4 in\n"
    "the textbook); the class is whether the loan is granted. Nine are, six are not.\n"
    + SOURCE.format(place="table 5.1"),
    id_column="ID",
)
_X, _Y = BookColumn("x", "x", NUMERIC), BookColumn("y", "y", NUMERIC)
_REGRESSION_TREE = BookTable(
    "lihang_table5.2_regression.csv",
    (_X,),
    _Y,
    "Least squares regression tree (最小二乘回归树)\n\nTen points (x, y).\n"
    + SOURCE.format(place="table 5.2 (exercise 5.2)"),
)
_ADABOOST = BookTable(
    "lihang_table8.1_adaboost.csv",
    (_X,),
    BookColumn("y", "y", levels={-1: -1, 1: 1}, parse=int),
    "AdaBoost example (AdaBoost 例子)\n\n"
    "Ten points x = 0, ..., 9 with labels 1 and -1.\n"
    + SOURCE.format(place="table 8.1 (example 8.1)"),
)
_BOOSTING_TREE = BookTable(
    "lihang_table8.2_boosting_tree.csv",
    (_X,),
    _Y,
    "Boosting tree example (提升树例子)\n\nTen points (x, y).\n"
    + SOURCE.format(place="table 8.2 (example 8.2)"),
)
_THREE_GRADES = {1: 1, 2: 2, 3: 3}
_RECRUITMENT = BookTable(
    "lihang_exercise8.1_recruitment.csv",
    (
        BookColumn("身体", "body", ORDINAL, {0: 0, 1: 1}, int),
        BookColumn("业务能力", "ability", ORDINAL, _THREE_GRADES, int),
        BookColumn("发展潜力", "potential", ORDINAL, _THREE_GRADES, int),
    ),
    BookColumn("分类", "class", levels={-1: -1, 1: 1}, parse=int),
    "Recruitment (招聘人员)\n\n"
    "Ten applicants: physical condition (1 qualified, 0 not), ability and potential\n"
    "(1 upper, 2 middle, 3 lower); class 1 qualified, -1 not.\n"
    + SOURCE.format(place="exercise 8.1"),
    id_column="ID",
)


def load_loan(
    *,
    language: str = "zh",
    ordered: bool = False,
    return_X_y: bool = False,
    as_frame: bool = False,
) -> Bunch | Any:
    """Load the loan application table (贷款申请样本, classification).

    ==============   ==================
    Classes          2 (是, 否)
    Samples          15
    Features         4, all nominal
    Missing values   none
    ==============   ==================

    Parameters
    ----------
    language : {"zh", "en"}, default="zh"
        Language of column names and levels: Chinese, as printed, or English.
    ordered : bool, default=False
        Whether age (年龄) and credit standing (信贷情况) are ordered categoricals, with
        young before old and fair before excellent. The textbook treats them as nominal.
        Requires ``as_frame=True``, since an array cannot represent the order.
    return_X_y : bool, default=False
        Whether to return ``(data, target)`` instead of a Bunch.
    as_frame : bool, default=False
        Whether to return pandas objects; the columns are categoricals.

    Returns
    -------
    data : :class:`~sklearn.utils.Bunch`
        With the entries ``data`` (array of objects or DataFrame of shape (15, 4)),
        ``target`` (the labels as printed), ``feature_names``, ``target_names``,
        ``frame``, ``sample_ids`` (the printed ID), ``DESCR``, ``filename`` and
        ``data_module``.

    (data, target) : tuple
        With ``return_X_y=True``.

    Raises
    ------
    ValueError
        If ``language`` is not one of these, or ``ordered=True`` without
        ``as_frame=True``.
    ImportError
        If ``as_frame=True`` and pandas is not installed.

    References
    ----------
    Li Hang (李航), Statistical Learning Methods (《统计学习方法》), 2nd edition,
    Tsinghua University Press, 2019, table 5.1.

    Examples
    --------
    >>> from sklearn_textbook.datasets import load_loan
    >>> X, y = load_loan(language="en", return_X_y=True)
    >>> X[3].tolist(), str(y[3])
    (['young', 'yes', 'yes', 'fair'], 'yes')
    """
    table = _LOAN
    if ordered:
        if not as_frame:
            raise ValueError("ordered=True requires as_frame=True")
        from_fair = dict(reversed(_CREDIT.levels.items()))
        age = replace(_AGE, kind=ORDINAL)
        credit = replace(_CREDIT, kind=ORDINAL, levels=from_fair)
        table = replace(_LOAN, columns=(age, *_LOAN.columns[1:3], credit))
    return load_table(
        table,
        language=language,
        return_X_y=return_X_y,
        as_frame=as_frame,
        function_name="load_loan",
    )


def load_regression_tree_example(
    *, return_X_y: bool = False, as_frame: bool = False
) -> Bunch | Any:
    """Load the table for the least-squares regression tree (最小二乘回归树, 习题5.2).

    Ten points: one numeric feature x = 1, ..., 10 and a numeric target y.

    Parameters
    ----------
    return_X_y : bool, default=False
        Whether to return ``(data, target)`` instead of a Bunch.
    as_frame : bool, default=False
        Whether to return pandas objects.

    Returns
    -------
    data : :class:`~sklearn.utils.Bunch`
        With the entries ``data`` (float array or DataFrame of shape (10, 1)),
        ``target``, ``feature_names``, ``frame``, ``DESCR``, ``filename`` and
        ``data_module``.

    (data, target) : tuple
        With ``return_X_y=True``.

    Raises
    ------
    ImportError
        If ``as_frame=True`` and pandas is not installed.

    References
    ----------
    Li Hang (李航), Statistical Learning Methods (《统计学习方法》), 2nd edition,
    Tsinghua University Press, 2019, table 5.2.

    Examples
    --------
    >>> from sklearn_textbook.datasets import load_regression_tree_example
    >>> X, y = load_regression_tree_example(return_X_y=True)
    >>> X.shape, y[:3].tolist()
    ((10, 1), [4.5, 4.75, 4.91])
    """
    return load_table(
        _REGRESSION_TREE,
        language="en",
        return_X_y=return_X_y,
        as_frame=as_frame,
        function_name="load_regression_tree_example",
    )


def load_adaboost_example(
    *, return_X_y: bool = False, as_frame: bool = False
) -> Bunch | Any:
    """Load the AdaBoost example (例8.1, classification).

    Ten points: one numeric feature x = 0, ..., 9 and labels 1 and -1.

    Parameters
    ----------
    return_X_y : bool, default=False
        Whether to return ``(data, target)`` instead of a Bunch.
    as_frame : bool, default=False
        Whether to return pandas objects.

    Returns
    -------
    data : :class:`~sklearn.utils.Bunch`
        With the entries ``data`` (float array or DataFrame of shape (10, 1)),
        ``target`` (integers 1 and -1), ``feature_names``, ``target_names``,
        ``frame``, ``DESCR``, ``filename`` and ``data_module``.

    (data, target) : tuple
        With ``return_X_y=True``.

    Raises
    ------
    ImportError
        If ``as_frame=True`` and pandas is not installed.

    References
    ----------
    Li Hang (李航), Statistical Learning Methods (《统计学习方法》), 2nd edition,
    Tsinghua University Press, 2019, table 8.1.

    Examples
    --------
    >>> from sklearn_textbook.datasets import load_adaboost_example
    >>> X, y = load_adaboost_example(return_X_y=True)
    >>> y.tolist()
    [1, 1, 1, -1, -1, -1, 1, 1, 1, -1]
    """
    return load_table(
        _ADABOOST,
        language="en",
        return_X_y=return_X_y,
        as_frame=as_frame,
        function_name="load_adaboost_example",
    )


def load_boosting_tree_example(
    *, return_X_y: bool = False, as_frame: bool = False
) -> Bunch | Any:
    """Load the boosting tree example (提升树, 例8.2, regression).

    Ten points: one numeric feature x = 1, ..., 10 and a numeric target y.

    Parameters
    ----------
    return_X_y : bool, default=False
        Whether to return ``(data, target)`` instead of a Bunch.
    as_frame : bool, default=False
        Whether to return pandas objects.

    Returns
    -------
    data : :class:`~sklearn.utils.Bunch`
        With the entries ``data`` (float array or DataFrame of shape (10, 1)),
        ``target``, ``feature_names``, ``frame``, ``DESCR``, ``filename`` and
        ``data_module``.

    (data, target) : tuple
        With ``return_X_y=True``.

    Raises
    ------
    ImportError
        If ``as_frame=True`` and pandas is not installed.

    References
    ----------
    Li Hang (李航), Statistical Learning Methods (《统计学习方法》), 2nd edition,
    Tsinghua University Press, 2019, table 8.2.

    Examples
    --------
    >>> from sklearn_textbook.datasets import load_boosting_tree_example
    >>> X, y = load_boosting_tree_example(return_X_y=True)
    >>> y[:3].tolist()
    [5.56, 5.7, 5.91]
    """
    return load_table(
        _BOOSTING_TREE,
        language="en",
        return_X_y=return_X_y,
        as_frame=as_frame,
        function_name="load_boosting_tree_example",
    )


def load_recruitment(
    *, language: str = "zh", return_X_y: bool = False, as_frame: bool = False
) -> Bunch | Any:
    """Load the recruitment table (招聘人员, 习题8.1, classification).

    ==============   ======================================
    Classes          2 (1 qualified, -1 not)
    Samples          10
    Features         3, ordinal, coded 0, 1 or 1, 2, 3
    Missing values   none
    ==============   ======================================

    Parameters
    ----------
    language : {"zh", "en"}, default="zh"
        Language of the column names: Chinese, as printed, or English.
    return_X_y : bool, default=False
        Whether to return ``(data, target)`` instead of a Bunch.
    as_frame : bool, default=False
        Whether to return pandas objects. The features are then ordered categoricals
        with integer levels; otherwise they are numbers.

    Returns
    -------
    data : :class:`~sklearn.utils.Bunch`
        With the entries ``data`` (float array or DataFrame of shape (10, 3)),
        ``target`` (integers 1 and -1), ``feature_names``, ``target_names``,
        ``frame``, ``sample_ids`` (the printed ID), ``DESCR``, ``filename`` and
        ``data_module``.

    (data, target) : tuple
        With ``return_X_y=True``.

    Raises
    ------
    ValueError
        If ``language`` is not one of these.
    ImportError
        If ``as_frame=True`` and pandas is not installed.

    References
    ----------
    Li Hang (李航), Statistical Learning Methods (《统计学习方法》), 2nd edition,
    Tsinghua University Press, 2019, exercise 8.1.

    Examples
    --------
    >>> from sklearn_textbook.datasets import load_recruitment
    >>> people = load_recruitment(language="en")
    >>> people.feature_names, people.data[0].tolist(), int(people.target[0])
    (['body', 'ability', 'potential'], [0.0, 1.0, 3.0], -1)
    """
    return load_table(
        _RECRUITMENT,
        language=language,
        return_X_y=return_X_y,
        as_frame=as_frame,
        function_name="load_recruitment",
    )
