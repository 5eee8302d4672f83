"""Models as ONNX."""

from __future__ import annotations

import numpy as np

from sklearn_textbook._contract.parameters import check_choice
from sklearn_textbook._contract.written_files import write_file
from sklearn_textbook.ensemble.boosting.base_adaboost import BaseAdaBoost
from sklearn_textbook.ensemble.boosting.base_gradient_boosting import (
    BaseGradientBoosting,
)
from sklearn_textbook.ensemble.boosting.boosting_tree import BoostingTreeRegressor
from sklearn_textbook.ensemble.forest.base_forest import BaseForest
from sklearn_textbook.exchange.onnx_graph import IR_VERSION, ML, OPSETS, Graph
from sklearn_textbook.exchange.onnx_trees import TreeOperators, divides_rows
from sklearn_textbook.exchange.tree_sum import add_members, read_trees
from sklearn_textbook.tree.encode.columns import TEMPORAL
from sklearn_textbook.tree.members import is_tree

MATRIX = "X"


def to_onnx(model, path=None, *, inputs="auto", missing_string=""):
    """Convert a fitted tree or ensemble of trees to ONNX.

    The result makes the same predictions as the model, in double precision, also for
    missing values and levels not seen in training. It requires version 5 of the
    operators ``ai.onnx.ml``, which onnxruntime supports since version 1.20.

    Parameters
    ----------
    model : estimator
        A fitted tree, forest, bagging or random subspace ensemble of trees, output
        perturbation, AdaBoost of trees, boosting tree or gradient boosting model of
        this package.
    path : str, path-like or None, default=None
        File to which the model is written, if given.
    inputs : {"auto", "columns", "matrix"}, default="auto"
        Inputs of the ONNX model. "columns": an input of shape (n_rows, 1) for each
        column, with the name of the column; columns of strings have string inputs, all
        others double precision. "matrix": a single input ``X`` in double precision,
        shape (n_rows, n_features). "auto": "matrix" if there are no columns of strings,
        otherwise "columns".
    missing_string : str, default=""
        The string that represents missing values in string inputs. In all other inputs,
        missing values are NaN.

    Returns
    -------
    onnx.ModelProto
        The ONNX model. Classifiers have the outputs ``label``, shape (n_rows,), and
        ``probabilities``, shape (n_rows, n_classes), or for several outputs
        ``label_0``, ``probabilities_0``, ``label_1`` and so on; regressors have the
        output ``variable``, shape (n_rows, n_outputs). Where the model raises an error
        (an infinite number; a missing value with ``missing="error"``; an unseen level
        with ``handle_unknown="error"``), numbers are NaN, and labels are "" or -1.

    Raises
    ------
    ImportError
        If onnx is not installed.
    sklearn.exceptions.NotFittedError
        If the model is not fitted.
    TypeError
        If the model is of another kind.
    ValueError
        If ONNX cannot represent the model: members that vote and divide rows, columns
        that mix strings and numbers, or class labels other than strings, numbers and
        booleans.

    Notes
    -----
    Booleans are 0 and 1; dates are seconds since 1970-01-01 UTC, and durations and
    times of day are in seconds. The description of each input states this.

    Examples
    --------
    >>> from sklearn_textbook.datasets import load_play_tennis
    >>> from sklearn_textbook.exchange import to_onnx
    >>> from sklearn_textbook.tree import CARTClassifier
    >>> X, y = load_play_tennis(return_X_y=True)
    >>> tree = CARTClassifier(random_state=0).fit(X, y)
    >>> onnx_model = to_onnx(tree)  # doctest: +SKIP
    >>> [output.name for output in onnx_model.graph.output]  # doctest: +SKIP
    ['label', 'probabilities']
    """
    check_choice("inputs", inputs, ("auto", "columns", "matrix"))
    if not isinstance(missing_string, str):
        raise TypeError(f"missing_string must be a string, got {missing_string!r}.")
    total = read_trees(model)
    _require_supported(total)
    has_strings = [_has_strings(column) for column in total.schema.columns]
    if inputs == "matrix" and any(has_strings):
        name = total.feature_names[has_strings.index(True)]
        raise ValueError(
            f"inputs='matrix' requires numeric columns, but column {name!r} has "
            "strings. Use inputs='columns'."
        )
    is_matrix = inputs == "matrix" or (inputs == "auto" and not any(has_strings))
    onnx_model = _Converter(total, is_matrix, missing_string).run()
    if path is not None:
        write_file(path, onnx_model.SerializeToString())
    return onnx_model


def _allows_missing(total):
    return total.reader.missing != "error"


def _has_strings(column):
    return any(isinstance(level, str) for level in column.levels or ())


def _require_supported(total):
    """Raise ValueError for a model that ONNX cannot represent."""
    for column in total.schema.columns:
        are_strings = {isinstance(level, str) for level in column.levels or ()}
        if len(are_strings) > 1:
            raise ValueError(
                f"The levels of column {column.name!r} mix strings and numbers, which "
                "an ONNX input cannot represent. Use strings as levels."
            )
        for level in column.levels or ():
            if not isinstance(level, str) and float(level) != level:
                raise ValueError(
                    f"The level {level} of column {column.name!r} is an integer that "
                    "double precision cannot represent. Use strings as levels."
                )
    if not total.is_vote:
        return
    for number, tree in enumerate(total.trees):
        node = divides_rows(tree, _allows_missing(total))
        if node is not None:
            name = total.feature_names[tree.nodes["feature"][node]]
            raise ValueError(
                f"Node {node} of member {number} divides rows with a missing value or "
                f"an unseen level of column {name!r}. Members that vote then vote for "
                "the class with the largest mean, which cannot be converted to ONNX. "
                "Fit the members with missing='learned' and handle_unknown='parent', "
                "or the ensemble with voting='soft' if it has this parameter."
            )


class _Converter:
    """One conversion.

    Parameters
    ----------
    total : TreeSum
        The model.
    is_matrix : bool
        Whether there is one input.
    missing_string : str
        The string that represents a missing value.
    """

    def __init__(self, total, is_matrix, missing_string):
        self.total, self.is_matrix = total, is_matrix
        self.missing_string = missing_string
        self.outputs = []
        suffixes = [f"_{i}" for i in range(total.n_outputs)]
        self.suffixes = suffixes if total.n_outputs > 1 else [""]
        reserved = {"variable"}
        if total.is_classifier:
            names = ("label", "probabilities")
            reserved = {name + end for name in names for end in self.suffixes}
        inputs = [MATRIX] if is_matrix else total.feature_names
        for number, name in enumerate(inputs):
            if name in reserved or name in inputs[:number] or not name:
                raise ValueError(
                    f"The name of column {number}, {name!r}, cannot be used for an "
                    "input: it is empty, or the name of another column or of an "
                    "output. Rename it, or use inputs='matrix' if no column has "
                    "strings."
                )
        self.inputs = inputs
        self.graph = Graph([*inputs, *reserved])

    def run(self):
        """Convert the model."""
        helper = self.graph.onnx.helper
        inputs, matrix, refused = self._add_inputs()
        scores, deciding, sums_refused = self._add_scores(matrix)
        refused = self.graph.add("Or", refused, sums_refused)
        if self.total.is_classifier:
            self._add_classes(scores, deciding, refused)
        else:
            self._add_values(scores, refused)
        graph = helper.make_graph(
            self.graph.nodes,
            type(self.total.model).__name__,
            inputs,
            self.outputs,
            self.graph.list_constants(),
        )
        opsets = [helper.make_opsetid(name, n) for name, n in OPSETS.items()]
        model = helper.make_model(
            graph,
            opset_imports=opsets,
            ir_version=IR_VERSION,
            producer_name="sklearn_textbook",
        )
        self.graph.onnx.checker.check_model(model)
        return model

    # -------------------------------------------------------------------- inputs
    def _add_inputs(self):
        """Add the inputs; return them, the columns, and which rows are wrong."""
        graph = self.graph
        make = graph.onnx.helper.make_tensor_value_info
        types = graph.onnx.TensorProto
        columns = self.total.schema.columns
        inputs, parts, numbers = [], [], []
        if self.is_matrix:
            text = "; ".join(map(self._describe, columns))
            inputs.append(make(MATRIX, types.DOUBLE, [None, len(columns)], text))
            numbers = [MATRIX]
        for i, column in enumerate(columns):
            if _has_strings(column):
                info = make(
                    column.name, types.STRING, [None, 1], self._describe(column)
                )
                parts.append(self._look_up_strings(column))
            else:
                name = graph.take(MATRIX, [i]) if self.is_matrix else column.name
                info = make(name, types.DOUBLE, [None, 1], self._describe(column))
                parts.append(self._look_up_numbers(column, name))
                if not self.is_matrix:
                    numbers.append(name)
            if not self.is_matrix:
                inputs.append(info)
        matrix = graph.join(parts)
        if self.is_matrix and not any(self.total.schema.n_levels):
            matrix = MATRIX
        return inputs, matrix, self._find_wrong(matrix, numbers)

    def _find_wrong(self, matrix, numbers):
        """Find the rows that the model refuses to read."""
        graph = self.graph
        if not numbers:
            wrong = graph.add("IsInf", matrix)
        else:
            wrong = graph.add("IsInf", graph.join(numbers))
        wrong = graph.any_of(wrong)
        if not _allows_missing(self.total):
            missing = graph.any_of(graph.add("IsNaN", matrix))
            wrong = graph.add("Or", wrong, missing)
        return wrong

    def _describe(self, column):
        """Describe a column for people."""
        if column.source in TEMPORAL:
            what = TEMPORAL[column.source]
        elif _has_strings(column):
            what = f"strings; {self.missing_string!r} is a missing value"
            return f"{column.name}: {what}"
        elif column.levels is not None:
            what = f"one of {', '.join(str(float(level)) for level in column.levels)}"
        else:
            what = "numbers"
        return f"{column.name}: {what}; NaN is a missing value"

    def _look_up_strings(self, column):
        """Turn strings into codes."""
        if self.missing_string in column.levels:
            raise ValueError(
                f"missing_string must not be a level of column {column.name!r}; got "
                f"{self.missing_string!r}."
            )
        codes = np.arange(len(column.levels), dtype=np.float32).tolist()
        codes = self.graph.add(
            "LabelEncoder",
            column.name,
            domain=ML,
            keys_strings=[*column.levels, self.missing_string],
            values_floats=[*codes, np.nan],
            default_float=-1.0,
        )
        return self.graph.cast(codes, np.float64)

    def _look_up_numbers(self, column, name):
        """Turn the numbers of levels into codes."""
        if column.levels is None:
            return name
        graph = self.graph
        levels = graph.constant([[float(level) for level in column.levels]])
        equal = graph.cast(graph.add("Equal", name, levels), np.float64)
        one = np.arange(1.0, 1.0 + len(column.levels))[:, np.newaxis]
        codes = graph.add("MatMul", equal, graph.constant(one))
        codes = graph.add("Sub", codes, graph.constant([1.0]))
        absent = graph.add("IsNaN", name)
        return graph.add("Where", absent, graph.constant([np.nan]), codes)

    # -------------------------------------------------------------------- scores
    def _add_scores(self, matrix):
        """Add scores, those by which a class is chosen, and the rows refused."""
        graph, total = self.graph, self.total
        trees, values, divisor = _list_values(total)
        n_scores = total.n_scores
        operators = TreeOperators(graph, trees, _allows_missing(total))
        sums = operators.add(matrix, values)
        width = values[0].shape[1]
        refused = graph.add("Greater", graph.take(sums, [width]), graph.constant([0.0]))
        scores = graph.take(sums, range(n_scores))
        if total.start.any():
            scores = graph.add("Add", graph.constant([total.start]), scores)
        deciding = scores
        if divisor != 1.0:
            scores = graph.add("Div", scores, graph.constant([divisor]))
        if isinstance(total.model, BaseForest):
            deciding = scores
        if width > n_scores:
            other = graph.take(sums, range(n_scores, width))
            if total.is_vote:
                return scores, (deciding, other), refused
            deciding = other
        return scores, (deciding, None), refused

    # ------------------------------------------------------------------- outputs
    def _finish(self, operator, *inputs, name, dtype, shape):
        """Add an operator whose result is an output."""
        helper = self.graph.onnx.helper
        self.graph.add(operator, *inputs, output=name)
        kind = helper.np_dtype_to_tensor_dtype(np.dtype(dtype))
        self.outputs.append(helper.make_tensor_value_info(name, kind, shape))

    def _add_values(self, scores, refused):
        if self.total.link == "exp":
            scores = self.graph.add("Exp", scores)
        self._finish(
            "Where",
            refused,
            self.graph.constant([np.nan]),
            scores,
            name="variable",
            dtype=np.float64,
            shape=[None, self.total.n_scores],
        )

    def _add_classes(self, scores, deciding, refused):
        """Add labels and probabilities of every output."""
        graph, total = self.graph, self.total
        width = total.n_scores // total.n_outputs
        nan = graph.constant([np.nan])
        for i, (classes, end) in enumerate(
            zip(total.classes, self.suffixes, strict=True)
        ):
            part = range(i * width, i * width + (len(classes) if width > 1 else 1))
            own = scores if total.n_outputs == 1 else graph.take(scores, part)
            first, second = (
                name if name is None else graph.take(name, part) for name in deciding
            )
            chosen = self._choose(first, second, len(classes))
            wrong = graph.constant([len(classes)], np.int64)
            axis = graph.constant([1], np.int64)
            is_wrong = graph.add("Squeeze", refused, axis)
            chosen = graph.add("Where", is_wrong, wrong, chosen)
            labels = _list_labels(classes)
            self._finish(
                "Gather",
                graph.constant(labels, labels.dtype),
                chosen,
                name=f"label{end}",
                dtype=labels.dtype,
                shape=[None],
            )
            self._finish(
                "Where",
                refused,
                nan,
                self._to_probabilities(own, len(classes)),
                name=f"probabilities{end}",
                dtype=np.float64,
                shape=[None, len(classes)],
            )

    def _choose(self, scores, second, n_classes):
        """Choose a class number for every row."""
        graph, total = self.graph, self.total
        axis = graph.constant([1], np.int64)
        if total.n_scores == 1:
            above = graph.add("Greater", scores, graph.constant([0.0]))
            return graph.add("Squeeze", graph.cast(above, np.int64), axis)
        if second is not None:
            # Of the classes with most votes the one with the largest probability.
            most = graph.add("ReduceMax", scores, axis, keepdims=1)
            least = graph.add("Sub", most, graph.constant([0.5 / len(total.trees)]))
            is_top = graph.add("Greater", scores, least)
            scores = graph.add("Where", is_top, second, graph.constant([-1.0]))
        if total.class_tolerance == 0.0:
            return graph.add("ArgMax", scores, axis=1, keepdims=0)
        best, largest = graph.constant([[0]], np.int64), graph.take(scores, [0])
        for number in range(1, n_classes):
            score = graph.take(scores, [number])
            bound = graph.constant([total.class_tolerance])
            is_larger = graph.add("Greater", score, graph.add("Add", largest, bound))
            index = graph.constant([[number]], np.int64)
            best = graph.add("Where", is_larger, index, best)
            largest = graph.add("Where", is_larger, score, largest)
        shape = graph.add("Shape", scores, end=1)
        return graph.add("Expand", graph.add("Squeeze", best, axis), shape)

    def _to_probabilities(self, scores, n_classes):
        """Turn scores into probabilities."""
        graph, total = self.graph, self.total
        if total.link == "identity":
            return scores
        if total.link == "positive_shares":
            return self._to_shares(scores, n_classes)
        if total.scale != 1.0:
            scores = graph.add("Mul", scores, graph.constant([total.scale]))
        if total.link == "softmax":
            return graph.add("Softmax", scores, axis=1)
        both = graph.join([graph.add("Neg", scores), scores])
        return graph.add("Sigmoid", both)

    def _to_shares(self, scores, n_classes):
        """Divide positive scores by their sum."""
        graph = self.graph
        zero, axis = graph.constant([0.0]), graph.constant([1], np.int64)
        kept = graph.add("Max", scores, zero)
        sums = graph.add("ReduceSum", kept, axis, keepdims=1)
        best = graph.add("ArgMax", scores, axis=1, keepdims=1)
        numbers = graph.constant([range(n_classes)], np.int64)
        alone = graph.cast(graph.add("Equal", best, numbers), np.float64)
        is_high = graph.add("Greater", sums, zero)
        kept = graph.add("Where", is_high, kept, alone)
        sums = graph.add("Where", is_high, sums, graph.constant([1.0]))
        return graph.add("Div", kept, sums)


def _list_values(total):
    """List trees, values of their nodes, and what the sums are divided by.

    Means are sums that are divided at the end, as the models compute them. Values that
    choose the class, if others than the scores, follow the scores.
    """
    model = total.model
    if is_tree(model):
        (tree,) = total.trees
        values = tree.statistics[:, :, 0]
        if total.is_classifier:
            own = model.tree_.value.reshape(values.shape)
            if not np.array_equal(own, values):
                values = np.concatenate([values, own], axis=1)
        return total.trees, [values], 1.0
    if isinstance(model, BaseGradientBoosting):
        values = []
        for tree, first in zip(total.trees, total.first, strict=True):
            table = np.zeros((tree.node_count, total.n_scores))
            table[:, first : first + tree.n_outputs] = tree.statistics[:, :, 0]
            values.append(table)
        return total.trees, values, 1.0
    if isinstance(model, BoostingTreeRegressor | BaseAdaBoost):
        return total.trees, [tree.statistics[:, :, 0] for tree in total.trees], 1.0
    weights = np.ones(len(total.trees))
    trees = add_members(model, weights, total.is_vote)
    values = [tree.statistics[:, :, 0] for tree in trees]
    if total.is_vote:
        others = [tree.statistics[:, :, 0] for tree in add_members(model, weights)]
        values = [np.concatenate(p, 1) for p in zip(values, others, strict=True)]
    divisor = 1.0 if total.link == "positive_shares" else float(len(trees))
    return trees, values, divisor


def _list_labels(classes):
    """List labels as a tensor, and after them the one of rows without a class."""
    values = classes.tolist()
    if all(isinstance(value, str) for value in values):
        return np.array([*values, ""], dtype=object)
    if all(isinstance(value, int) for value in values):  # also booleans
        return np.array([*values, -1], dtype=np.int64)
    if all(isinstance(value, int | float) for value in values):
        return np.array([*values, np.nan], dtype=np.float64)
    raise ValueError(
        "Class labels must be strings, numbers or booleans to be converted to ONNX; "
        f"got {values[:5]}."
    )
