"""The matrices of Li's book (李航《统计学习方法》), chapters 15 and 16."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sklearn_textbook.datasets._table import (
    NUMERIC,
    BookColumn,
    BookTable,
    check_choice,
    load_matrix,
)
from sklearn_textbook.datasets.statistical_learning import SOURCE

if TYPE_CHECKING:
    from sklearn.utils import Bunch

_MATRIX_FILES = {
    "example": {
        "15.1": "15.1",
        "15.2": "15.1",
        "15.3": "15.1",
        "15.4": "15.4",
        "15.5": "15.5",
        "15.6": "15.1",
    },
    "exercise": {"15.1": "15.1", "15.2": "15.2", "15.5": "15.5"},
}


def _load_svd_matrix(kind, number, as_frame):
    files = _MATRIX_FILES[kind]
    check_choice("number", number, tuple(files))
    place = f"{kind} {number}"
    table = BookTable(
        f"lihang_{kind}{files[number]}_svd.csv",
        (),
        None,
        f"Matrix for the singular value decomposition (奇异值分解), {place}\n"
        + SOURCE.format(place=place),
    )
    name = f"load_svd_{kind}"
    return load_matrix(table, as_frame=as_frame, function_name=name)


def load_svd_example(number: str = "15.1", *, as_frame: bool = False) -> Bunch:
    """Load the matrix of an example of singular values (奇异值分解, 例15.1 to 15.6).

    Parameters
    ----------
    number : {"15.1", "15.2", "15.3", "15.4", "15.5", "15.6"}, default="15.1"
        Number of the example. 15.1, 15.2, 15.3 and 15.6 use the same matrix.
    as_frame : bool, default=False
        Whether to return the matrix as a pandas DataFrame.

    Returns
    -------
    :class:`~sklearn.utils.Bunch`
        With the entries ``data`` (float array or DataFrame), ``frame``,
        ``feature_names`` (c1, c2, ...), ``DESCR``, ``filename`` and ``data_module``.
        There is no target.

    Raises
    ------
    ValueError
        If ``number`` is not one of these.
    ImportError
        If ``as_frame=True`` and pandas is not installed.

    References
    ----------
    Li Hang (李航), Statistical Learning Methods (《统计学习方法》), 2nd edition,
    Tsinghua University Press, 2019, chapter 15.

    Examples
    --------
    >>> from sklearn_textbook.datasets import load_svd_example
    >>> load_svd_example("15.4").data.tolist()
    [[3.0, 1.0], [2.0, 1.0]]
    """
    return _load_svd_matrix("example", number, as_frame)


def load_svd_exercise(number: str = "15.1", *, as_frame: bool = False) -> Bunch:
    """Load the matrix of an exercise on singular values (习题15.1, 15.2, 15.5).

    Parameters
    ----------
    number : {"15.1", "15.2", "15.5"}, default="15.1"
        Number of the exercise.
    as_frame : bool, default=False
        Whether to return the matrix as a pandas DataFrame.

    Returns
    -------
    :class:`~sklearn.utils.Bunch`
        As returned by :func:`load_svd_example`.

    Raises
    ------
    ValueError
        If ``number`` is not one of these.
    ImportError
        If ``as_frame=True`` and pandas is not installed.

    References
    ----------
    Li Hang (李航), Statistical Learning Methods (《统计学习方法》), 2nd edition,
    Tsinghua University Press, 2019, exercises of chapter 15.

    Examples
    --------
    >>> from sklearn_textbook.datasets import load_svd_exercise
    >>> load_svd_exercise("15.1").data.tolist()
    [[1.0, 2.0, 0.0], [2.0, 0.0, 2.0]]
    """
    return _load_svd_matrix("exercise", number, as_frame)


_SUBJECTS = {
    "语文": "chinese",
    "外语": "foreign_language",
    "数学": "mathematics",
    "物理": "physics",
}
_CORRELATION = BookTable(
    "lihang_table16.1_pca_correlation.csv",
    tuple(BookColumn(name, english, NUMERIC) for name, english in _SUBJECTS.items()),
    None,
    "Correlation of school subjects (学科成绩相关矩阵)\n\n"
    "The correlation matrix of the marks in four subjects; the marks are not printed.\n"
    + SOURCE.format(place="table 16.1 (example 16.1)"),
    id_column="科目",
)
_PCA_EXERCISE = BookTable(
    "lihang_exercise16.1_pca.csv",
    (),
    None,
    "Data for the principal component analysis (主成分分析)\n\nSix samples with two "
    "numeric features; the book prints the transpose.\n"
    + SOURCE.format(place="exercise 16.1"),
)


def load_pca_correlation_example(
    *, language: str = "zh", as_frame: bool = False
) -> Bunch:
    """Load the correlation matrix of four school subjects (主成分分析, 例16.1).

    Parameters
    ----------
    language : {"zh", "en"}, default="zh"
        Language of the names of the subjects: Chinese, as printed, or English.
    as_frame : bool, default=False
        Whether to return the matrix as a pandas DataFrame, with the subjects also as
        index.

    Returns
    -------
    :class:`~sklearn.utils.Bunch`
        With the entries ``data`` (float array or DataFrame of shape (4, 4)),
        ``frame``, ``feature_names``, ``DESCR``, ``filename`` and ``data_module``.
        There is no target and there are no samples, since the textbook does not give
        the marks.

    Raises
    ------
    ValueError
        If ``language`` is not one of these.
    ImportError
        If ``as_frame=True`` and pandas is not installed.

    References
    ----------
    Li Hang (李航), Statistical Learning Methods (《统计学习方法》), 2nd edition,
    Tsinghua University Press, 2019, table 16.1.

    Examples
    --------
    >>> from sklearn_textbook.datasets import load_pca_correlation_example
    >>> load_pca_correlation_example().data[0].tolist()
    [1.0, 0.44, 0.29, 0.33]
    """
    matrix = load_matrix(
        _CORRELATION,
        language=language,
        as_frame=as_frame,
        function_name="load_pca_correlation_example",
    )
    if as_frame:
        matrix.frame.index = list(matrix.feature_names)
    return matrix


def load_pca_exercise(*, as_frame: bool = False) -> Bunch:
    """Load the six samples of the exercise on principal components (习题16.1).

    Parameters
    ----------
    as_frame : bool, default=False
        Whether to return the samples as a pandas DataFrame.

    Returns
    -------
    :class:`~sklearn.utils.Bunch`
        With the entries ``data`` (float array or DataFrame of shape (6, 2)),
        ``frame``, ``feature_names``, ``DESCR``, ``filename`` and ``data_module``.
        There is no target.

    Raises
    ------
    ImportError
        If ``as_frame=True`` and pandas is not installed.

    References
    ----------
    Li Hang (李航), Statistical Learning Methods (《统计学习方法》), 2nd edition,
    Tsinghua University Press, 2019, exercise 16.1.

    Examples
    --------
    >>> from sklearn_textbook.datasets import load_pca_exercise
    >>> load_pca_exercise().data[:2].tolist()
    [[2.0, 2.0], [3.0, 4.0]]
    """
    return load_matrix(
        _PCA_EXERCISE, as_frame=as_frame, function_name="load_pca_exercise"
    )
