"""Models as ONNX."""

from __future__ import annotations

from os import PathLike
from typing import Any

import numpy as np

from sklearn_textbook._contract.parameters import check_choice
from sklearn_textbook._contract.written_files import write_file
from sklearn_textbook.exchange.model_steps import read_steps
from sklearn_textbook.exchange.onnx_graph import IR_VERSION, ML, OPSETS, Graph
from sklearn_textbook.exchange.onnx_program import Predictions
from sklearn_textbook.exchange.onnx_trees import divides_rows
from sklearn_textbook.tree.encode.columns import TEMPORAL

MATRIX = "X"


def to_onnx(
    model: Any,
    path: str | PathLike[str] | None = None,
    *,
    inputs: str = "auto",
    missing_string: str = "",
) -> Any:
    """Convert a fitted model to ONNX.

    The result makes the same predictions as the model, in double precision, also for
    missing values and levels not seen in training. It requires version 5 of the
    operators ``ai.onnx.ml``, which onnxruntime supports since version 1.20.

    Parameters
    ----------
    model : estimator
        A fitted model, as for :func:`export_code`.
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
        ``label_0``, ``probabilities_0``, ``label_1`` and so on; those without
        ``predict_proba`` (hard votes, output codes) have ``scores``, the largest of
        which is the prediction, instead of probabilities. Regressors have the output
        ``variable``, shape (n_rows, n_outputs). Where the model raises an error
        (an infinite number; a missing value with ``missing="error"``; an unseen level
        with ``handle_unknown="error"``), numbers are NaN, and labels are "" or -1.

    Raises
    ------
    ImportError
        If onnx is not installed.
    sklearn.exceptions.NotFittedError
        If the model is not fitted.
    TypeError
        If the model, a member or a step of a pipeline is of another kind.
    ValueError
        If ONNX cannot represent the model: trees of several outputs that vote and
        divide rows, columns that mix strings and numbers, or class labels other than
        strings, numbers and booleans; or if a parameter cannot be exported, as in
        :func:`export_code`.

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
    steps = read_steps(model, splits_votes=True)
    steps.refuse_equations("ONNX")
    _require_supported(steps)
    has_strings = [_has_strings(column) for column in steps.schema.columns]
    if inputs == "matrix" and any(has_strings):
        name = steps.schema.names[has_strings.index(True)]
        raise ValueError(
            f"inputs='matrix' requires numeric columns, but column {name!r} has "
            "strings. Use inputs='columns'."
        )
    is_matrix = inputs == "matrix" or (inputs == "auto" and not any(has_strings))
    onnx_model = _Converter(steps, is_matrix, missing_string).run()
    if path is not None:
        write_file(path, onnx_model.SerializeToString())
    return onnx_model


def _has_strings(column) -> bool:
    return any(isinstance(level, str) for level in column.levels or ())


def _require_supported(steps) -> None:
    """Raise ValueError for a model that ONNX cannot represent."""
    for column in steps.schema.columns:
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
    for step in steps.steps:
        if step.program.votes:
            _require_whole_rows(step.program)


def _require_whole_rows(program) -> None:
    """Raise ValueError for trees of several outputs that vote and divide rows."""
    for number, part in enumerate(program.parts):
        node = divides_rows(part.tree, not program.refuses_missing)
        if node is not None:
            name = program.total.feature_names[part.tree.nodes["feature"][node]]
            raise ValueError(
                f"Node {node} of member {number} divides rows with a missing value or "
                f"an unseen level of column {name!r}. Members of several outputs that "
                "vote cannot be converted to ONNX then. Fit the members with "
                "missing='learned' and handle_unknown='parent', or the ensemble with "
                "voting='soft'."
            )


class _Converter:
    """One conversion."""

    def __init__(self, steps, is_matrix: bool, missing_string: str) -> None:
        self.steps, self.is_matrix = steps, is_matrix
        self.columns = steps.schema.columns
        # Columns that are not used have no inputs of their own.
        unused = () if is_matrix else steps.unused
        self.used = [i for i in range(len(self.columns)) if i not in unused]
        self.missing_string = missing_string
        self.outputs = []
        total = steps.program.total
        suffixes = [f"_{i}" for i in range(total.n_outputs)]
        self.suffixes = suffixes if total.n_outputs > 1 else [""]
        reserved = {"variable"}
        if total.is_classifier:
            names = ("label", "probabilities", "scores")
            reserved = {name + end for name in names for end in self.suffixes}
        names = [str(self.columns[number].name) for number in self.used]
        inputs = [MATRIX] if is_matrix else names
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
        inputs, values, refused = self._add_inputs()
        for step in self.steps.steps:
            matrix = self._take(values, step)
            own = Predictions(self.graph, step.program, matrix)
            refused = self.graph.add("Or", refused, own.refused)
            parts = [own.give(kind) for kind in step.gives]
            values = self.graph.join([values, *parts]) if parts else values
        if step.program.total.is_classifier:
            self._add_classes(own, refused)
        else:
            self._add_values(own, refused)
        graph = helper.make_graph(
            self.graph.nodes,
            type(self.steps.model).__name__,
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

    def _take(self, values, step):
        """Take the columns of a step, with its codes of levels."""
        graph, n_table = self.graph, len(self.columns)
        places = list(step.places)
        if self.steps.is_single:
            return values
        maps = {}
        for number, place in enumerate(places):
            column = step.program.total.schema.columns[number]
            if place >= n_table or column.levels is None:
                continue
            levels = self.columns[place].levels
            if levels != column.levels:
                maps[number] = [column.codes.get(level, -1) for level in levels]
        kept = {place: index for index, place in enumerate(self.used)}
        n_unused = n_table - len(self.used)
        taken = graph.take(values, [kept.get(p, p - n_unused) for p in places])
        if not maps:
            return taken
        parts = []
        for number in range(len(places)):
            part = graph.take(taken, [number])
            if number in maps:
                part = self._map_codes(part, maps[number])
            parts.append(part)
        return graph.join(parts)

    def _map_codes(self, codes, table):
        """Replace codes; that of an unseen level, -1, is the last one of the table."""
        graph = self.graph
        absent = graph.add("IsNaN", codes)
        known = graph.add("Where", absent, graph.constant([0.0]), codes)
        table = graph.constant([*table, -1])
        found = graph.add("Gather", table, graph.cast(known, np.int64), axis=0)
        return graph.add("Where", absent, codes, found)

    # -------------------------------------------------------------------- inputs
    def _add_inputs(self):
        """Add the inputs; return them, the columns, and which rows are wrong."""
        graph = self.graph
        make = graph.onnx.helper.make_tensor_value_info
        types = graph.onnx.TensorProto
        columns = self.columns
        inputs, parts, numbers = [], [], []
        if self.is_matrix:
            text = "; ".join(map(self._describe, columns))
            inputs.append(make(MATRIX, types.DOUBLE, [None, len(columns)], text))
            numbers = [MATRIX]
        for i in self.used:
            column = columns[i]
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
        if self.is_matrix and not any(self.steps.schema.n_levels):
            matrix = MATRIX
        wrong = graph.add("IsInf", graph.join(numbers) if numbers else matrix)
        return inputs, matrix, graph.any_of(wrong)

    def _describe(self, column) -> str:
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

    # ------------------------------------------------------------------- outputs
    def _finish(self, operator, *inputs, name, dtype, shape) -> None:
        """Add an operator whose result is an output."""
        helper = self.graph.onnx.helper
        self.graph.add(operator, *inputs, output=name)
        kind = helper.np_dtype_to_tensor_dtype(np.dtype(dtype))
        self.outputs.append(helper.make_tensor_value_info(name, kind, shape))

    def _add_values(self, own, refused) -> None:
        self._finish(
            "Where",
            refused,
            self.graph.constant([np.nan]),
            own.give("values"),
            name="variable",
            dtype=np.float64,
            shape=[None, own.total.n_scores],
        )

    def _add_classes(self, own, refused) -> None:
        """Add labels and probabilities of every output."""
        graph, total = self.graph, own.total
        nan = graph.constant([np.nan])
        what = "scores" if total.link == "scores" else "probabilities"
        for i, (classes, end) in enumerate(
            zip(total.classes, self.suffixes, strict=True)
        ):
            wrong = graph.constant([len(classes)], np.int64)
            axis = graph.constant([1], np.int64)
            is_wrong = graph.add("Squeeze", refused, axis)
            chosen = graph.add("Where", is_wrong, wrong, own.choose(i))
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
                own.to_probabilities(i),
                name=f"{what}{end}",
                dtype=np.float64,
                shape=[None, len(classes)],
            )


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
