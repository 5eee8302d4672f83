"""Source code of fitted models."""

from __future__ import annotations

import re
from typing import Any

from sklearn_textbook._contract.parameters import check_choice
from sklearn_textbook.exchange.c_source import write_c
from sklearn_textbook.exchange.javascript_source import write_javascript
from sklearn_textbook.exchange.model_steps import read_steps
from sklearn_textbook.exchange.python_source import write_python
from sklearn_textbook.exchange.sql_nodes import write_nodes
from sklearn_textbook.exchange.sql_source import write_sql

WRITERS = {"c": write_c, "javascript": write_javascript, "python": write_python}


def export_code(
    model: Any,
    language: str = "c",
    *,
    prefix: str = "",
    table: str = "data",
    form: str = "expression",
) -> str:
    r"""Export a fitted model as source code without dependencies.

    The code adds the values of the trees in the same order and precision as the model,
    so predicted classes, also at ties, and sums are equal. All tests and all treatments
    of missing values and unknown levels are supported: divided rows, surrogate splits,
    branches for missing values, oblique splits, votes, linear equations in leaves, the
    choice of classes by costs. Sums of linear models may be rounded differently in the
    last digits.

    Parameters
    ----------
    model : estimator
        A fitted tree, list of rules, forest, bagging or random subspace ensemble,
        output perturbation, AdaBoost, boosting tree, gradient boosting, output code,
        vote, average or stack, or linear model of this package; members may be these
        or linear and logistic regressions of scikit-learn. Or a scikit-learn
        ``Pipeline`` that ends in one of them, with scalers, imputers, encoders,
        ``ColumnTransformer``, ``FeatureUnion``, selectors of columns, PCA or truncated
        SVD before it. With ``form="nodes"``, trees and ensembles of trees.
    language : {"c", "javascript", "python", "sql"}, default="c"
        C99; a JavaScript module (ECMAScript 2020); a Python module that uses only the
        standard library; or SQL.
    prefix : str, default=""
        Prefix of the names of public functions and constants in C, so that several
        models can be linked into one program; of the tables and the view of
        ``form="nodes"``, where the empty string stands for ``"model_"``.
    table : str, default="data"
        Name of the table in SQL.
    form : {"expression", "nodes"}, default="expression"
        SQL as a query with trees as CASE expressions, for single trees and small
        ensembles; or as a script that creates tables of nodes and a view with a
        recursive query, whose length is proportional to the number of nodes.

    Returns
    -------
    source : str
        C: ``predict(row)`` returns the number of the class, or the value;
        ``predict_classes``, ``predict_values``, ``predict_proba`` and
        ``predict_scores`` write to an array. A row is an array of numbers, with NaN for
        missing values; ``encode_<column>(level)`` returns the code of a level, or -1 if
        it is unknown.

        JavaScript: ``predict(row)``, ``predictClasses``, ``predictProba``,
        ``predictScores`` and ``encodeRow``, where a row is an object with the names of
        the columns, or an array.

        Python: ``predict(row)``, ``predict_classes``, ``predict_proba``,
        ``predict_scores`` and ``encode_row``, where a row is a mapping or sequence.

        SQL: a SELECT that adds columns for the scores and ``prediction`` to a table, or
        statements that create the view ``<prefix>predictions``, which adds these and
        ``row_number``.

    Raises
    ------
    sklearn.exceptions.NotFittedError
        If the model is not fitted.
    TypeError
        If the model, a member or a step of a pipeline is of another kind.
    ValueError
        If a parameter is invalid, the language cannot represent a level or label, such
        as an integer beyond float64, or SQL cannot express the model: oblique splits
        and equations of dates, durations or times of day, with ``form="nodes"`` linear
        equations in leaves, and with ``form="expression"`` votes of trees that divide
        rows, or trees that need more than 64 MiB. If a parameter of the model cannot be
        exported, such as ``reject_label`` of votes, ``decoding="probability"`` of
        output codes, ``link="probit"`` or ``cost_matrix`` of boosting; the message
        names it.
    ImportError
        If Jinja2 is not installed; SQL with ``form="expression"`` does not require it.

    Warns
    -----
    UserWarning
        If a query of the form "expression" has more than a million characters.

    See Also
    --------
    sklearn_textbook.tree.export_rules : Exports the rules of a single tree, as nested
        Python code or an SQL expression.

    Notes
    -----
    Where the model raises an error, for an infinite number, a missing value with
    ``missing="error"`` or an unseen level with ``handle_unknown="error"``, C returns a
    status, JavaScript and Python raise an error that names the column, and predictions
    in SQL are NULL.

    A model that consists of models is written as the code of each of them, and what
    joins these. Programs compute in double precision, pipelines of scikit-learn in the
    precision of the table.

    Dates are seconds since 1970-01-01 UTC, durations are in seconds, times of day in
    seconds since midnight. C accepts these numbers; JavaScript accepts them, or a Date,
    which has millisecond precision; Python accepts objects of ``datetime`` and of
    NumPy; SQL compares columns of these types (dates and times with text in ISO 8601,
    durations with intervals).

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn_textbook.exchange import export_code
    >>> from sklearn_textbook.tree import CARTClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> model = CARTClassifier(max_depth=2).fit(X, y)
    >>> source = export_code(model, "python")
    >>> module = {}
    >>> exec(source, module)
    >>> module["predict"]([5.1, 3.5, 1.4, 0.2])
    0
    >>> lines = export_code(model, "c").splitlines()
    >>> start = lines.index("static const Node nodes[] = {")
    >>> print("\n".join(lines[start : start + 4]))
    static const Node nodes[] = {
        {{2, 2.45}, 1, 1, -1},  /* 0: 'x2' <= 2.45 */
        {{-1, 0.0}, 0, -1, 0},  /* 1 */
        {{3, 1.75}, 3, 0, -1},  /* 2: 'x3' <= 1.75 */
    """
    check_choice("language", language, (*WRITERS, "sql"))
    check_choice("form", form, ("expression", "nodes"))
    if form == "nodes" and language != "sql":
        raise ValueError(f"form must be 'expression' for {language!r}; got 'nodes'.")
    is_name = isinstance(prefix, str) and re.fullmatch(r"([A-Za-z_]\w*)?", prefix, re.A)
    if not is_name or (prefix and language != "c" and form != "nodes"):
        raise ValueError(
            "prefix must consist of letters, digits and _, not begin with a digit, and "
            "be empty unless language='c' or form='nodes'; got "
            f"{prefix!r} for {language!r}."
        )
    if not isinstance(table, str) or not table:
        raise ValueError(f"table must be the name of a table, got {table!r}.")
    steps = read_steps(model)
    if form == "nodes":
        steps.refuse_equations("form='nodes'")
        if not steps.is_trees:
            raise ValueError(
                "form='nodes' is for trees and ensembles of trees; got "
                f"{type(model).__name__}. Use form='expression'."
            )
        return write_nodes(steps.program, table, prefix or "model_")
    if language == "sql":
        return write_sql(steps, table)
    return WRITERS[language](steps, **({"prefix": prefix} if prefix else {}))
