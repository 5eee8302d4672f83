"""The watermelon tables (西瓜数据集) of Zhou's book."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from sklearn_textbook.datasets._table import (
    NUMERIC,
    BookColumn,
    BookTable,
    check_choice,
    load_table,
    read_columns,
)

if TYPE_CHECKING:
    from sklearn.utils import Bunch

_NOMINAL_COLUMNS = (
    BookColumn(
        "色泽", "color", levels={"青绿": "green", "乌黑": "black", "浅白": "white"}
    ),
    BookColumn(
        "根蒂",
        "root",
        levels={"蜷缩": "curly", "稍蜷": "slightly_curly", "硬挺": "straight"},
    ),
    BookColumn(
        "敲声", "sound", levels={"浊响": "muffled", "沉闷": "dull", "清脆": "crisp"}
    ),
    BookColumn(
        "纹理",
        "texture",
        levels={"清晰": "clear", "稍糊": "slightly_blurry", "模糊": "blurry"},
    ),
    BookColumn(
        "脐部",
        "umbilicus",
        levels={"凹陷": "hollow", "稍凹": "slightly_hollow", "平坦": "flat"},
    ),
    BookColumn(
        "触感", "surface", levels={"硬滑": "hard_smooth", "软粘": "soft_sticky"}
    ),
)
_NUMERIC_COLUMNS = (
    BookColumn("密度", "density", NUMERIC),
    BookColumn("含糖率", "sugar", NUMERIC),
)
_TARGET = BookColumn("好瓜", "ripe", levels={"是": "yes", "否": "no"})

_DESCRIPTION = """\
Watermelon data set {version} (西瓜数据集 {version})

Seventeen watermelons, described by {content}.
The class 好瓜 (ripe) says whether the melon is a good one. Eight are, nine are not.

Source: Zhou Zhihua (周志华), Machine Learning (《机器学习》), Tsinghua University
Press, 2016, table {table}.
"""


def _describe_table(version, filename, columns, content, table):
    description = _DESCRIPTION.format(version=version, content=content, table=table)
    return BookTable(filename, columns, _TARGET, description, id_column="编号")


_TABLES = {
    "2.0": _describe_table(
        "2.0",
        "watermelon_2.0.csv",
        _NOMINAL_COLUMNS,
        "six nominal attributes",
        "4.1 (subset: table 4.2)",
    ),
    "2.0alpha": _describe_table(
        "2.0α",
        "watermelon_2.0_alpha.csv",
        _NOMINAL_COLUMNS,
        "six nominal attributes with 13 missing values",
        "4.4",
    ),
    "3.0": _describe_table(
        "3.0",
        "watermelon_3.0.csv",
        _NOMINAL_COLUMNS + _NUMERIC_COLUMNS,
        "six nominal attributes, density and sugar content",
        "4.3",
    ),
    "3.0alpha": _describe_table(
        "3.0α",
        "watermelon_3.0_alpha.csv",
        _NUMERIC_COLUMNS,
        "density and sugar content",
        "4.5",
    ),
}


def load_watermelon(
    version: str = "2.0",
    *,
    language: str = "zh",
    return_X_y: bool = False,
    as_frame: bool = False,
) -> Bunch | Any:
    """Load a watermelon data set (西瓜数据集, classification).

    ==============   ==========================================
    Classes          2 (是, 否)
    Samples          17
    Features         6 (2.0, 2.0alpha), 8 (3.0) or 2 (3.0alpha)
    Missing values   13 in 2.0alpha, none elsewhere
    ==============   ==========================================

    Parameters
    ----------
    version : {"2.0", "2.0alpha", "3.0", "3.0alpha"}, default="2.0"
        The table: 2.0 has six nominal columns (table 4.1), 2.0alpha the same with
        missing values (table 4.4); 3.0 has two additional numeric columns (table 4.3),
        and 3.0alpha only these two (table 4.5).
    language : {"zh", "en"}, default="zh"
        Language of column names and levels: Chinese, as printed, or English.
    return_X_y : bool, default=False
        Whether to return ``(data, target)`` instead of a Bunch.
    as_frame : bool, default=False
        Whether to return pandas objects. Nominal columns are then categoricals, with
        the levels in the order of the textbook.

    Returns
    -------
    data : :class:`~sklearn.utils.Bunch`
        With the entries

        data : ndarray or DataFrame of shape (17, n_features)
            Without ``as_frame``, an array of objects (for 3.0alpha, of floats) in which
            None represents missing values. The number of the melon is not a feature.
        target : ndarray or Series of shape (17,)
            The labels as printed (not codes).
        feature_names : list of str
            The names of the columns.
        target_names : ndarray of shape (2,)
            The labels; that of good melons comes first.
        frame : DataFrame or None
            Data and target, with ``as_frame=True``.
        sample_ids : ndarray of shape (17,)
            The printed number of each melon (编号).
        subset : ndarray of shape (17,)
            Only for version 2.0: "train" or "validation", the split of table 4.2.
        DESCR, filename, data_module : str
            The description, the csv file and the package that contains it.

    (data, target) : tuple
        With ``return_X_y=True``.

    Raises
    ------
    ValueError
        If ``version`` or ``language`` is not one of these.
    ImportError
        If ``as_frame=True`` and pandas is not installed.

    References
    ----------
    Zhou Zhihua (周志华), Machine Learning (《机器学习》), Tsinghua University Press,
    2016, chapter 4, tables 4.1 to 4.5.

    Examples
    --------
    >>> from sklearn_textbook.datasets import load_watermelon
    >>> melons = load_watermelon(language="en")
    >>> melons.feature_names
    ['color', 'root', 'sound', 'texture', 'umbilicus', 'surface']
    >>> melons.data[0].tolist(), str(melons.target[0])
    (['green', 'curly', 'muffled', 'clear', 'hollow', 'hard_smooth'], 'yes')
    >>> X, y = load_watermelon("3.0alpha", return_X_y=True)
    >>> X[:2].tolist()
    [[0.697, 0.46], [0.774, 0.376]]
    """
    check_choice("version", version, tuple(_TABLES))
    extra = {}
    if version == "2.0":
        extra["subset"] = np.array(read_columns("watermelon_2.0_split.csv")["subset"])
    return load_table(
        _TABLES[version],
        language=language,
        return_X_y=return_X_y,
        as_frame=as_frame,
        function_name="load_watermelon",
        **extra,
    )
