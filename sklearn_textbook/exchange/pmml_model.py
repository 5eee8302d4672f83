"""Models as PMML."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ElementTree
from os import PathLike
from typing import Any

import numpy as np

from sklearn_textbook._contract.caller import warn_caller
from sklearn_textbook._contract.costs import refuse_costs
from sklearn_textbook._contract.written_files import write_file
from sklearn_textbook.exchange.onnx_trees import divides_rows as find_divided
from sklearn_textbook.exchange.pmml_fractions import FractionWriter
from sklearn_textbook.exchange.pmml_tree import (
    MAX_DEPTH,
    TreeWriter,
    format_label,
    write_number,
)
from sklearn_textbook.exchange.source_parts import MAX_COMMENTED
from sklearn_textbook.exchange.tree_sum import read_trees, read_values
from sklearn_textbook.tree.encode.columns import TEMPORAL
from sklearn_textbook.tree.grow.layout import OBLIQUE
from sklearn_textbook.tree.members import get_shown_tree

NAMESPACE = "http://www.dmg.org/PMML-4_4"
#: Length of a text from which a warning is issued.
LONG = 10**7
#: Characters that XML 1.0 does not allow.
FORBIDDEN = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")


def to_pmml(
    model: Any, path: str | PathLike[str] | None = None, *, target: str = "target"
) -> str:
    """Convert a fitted tree or ensemble of trees to PMML 4.4.

    The result makes the same predictions as the model, also for missing values and
    levels not seen in training.

    Parameters
    ----------
    model : estimator
        A fitted tree, forest, bagging or random subspace ensemble of trees, output
        flipping, AdaBoost of trees, boosting tree or gradient boosting model of this
        package.
    path : str, path-like or None, default=None
        File to which the text is written in UTF-8, if given.
    target : str, default="target"
        Name of the predicted column.

    Returns
    -------
    str
        The PMML text. The outputs are named ``predicted_`` plus the name of the target
        and, for classifiers, ``probability_`` plus the name of each class.

    Raises
    ------
    sklearn.exceptions.NotFittedError
        If the model is not fitted.
    TypeError
        If the model is of another kind.
    ValueError
        If PMML cannot represent the model: oblique tests; ``voting="hard"``; output
        smearing; several outputs; rows that are divided in trees with surrogate splits,
        with ``laplace=True`` or ``handle_unknown="error"``, or by members of AdaBoost;
        levels that mix strings and numbers; characters that XML does not allow. The
        message names the node and column, or the parameter.

    Warns
    -----
    UserWarning
        If the text has more than ten million characters.

    Notes
    -----
    Trees become ``TreeModel`` elements, ensembles ``MiningModel`` elements. A model
    that divides rows becomes a ``RegressionModel`` whose fields are the fractions of a
    row at the nodes, since few programs support
    ``missingValueStrategy="weightedConfidence"``. If the probabilities of classes are
    equal up to rounding (in C4.5, differ by less than 1e-6), it may predict a different
    class than the model. If they are equal in forests and bagging, programs choose one
    of the classes; PMML4S does not choose the first if there are more than four.

    Scores are written for nodes in which rows can end. Texts of more than 2,000 nodes
    have no line breaks.

    Rows for which the model raises an error have no prediction (a missing value with
    ``missing="error"``), or no prediction from the trees that meet an unseen level
    (``handle_unknown="error"``). Booleans are 0 and 1; dates are seconds since
    1970-01-01 UTC, and durations and times of day are in seconds.

    Examples
    --------
    >>> from sklearn_textbook.datasets import load_play_tennis
    >>> from sklearn_textbook.exchange import to_pmml
    >>> from sklearn_textbook.tree import ID3Classifier
    >>> X, y = load_play_tennis(return_X_y=True, as_frame=True)
    >>> print(to_pmml(ID3Classifier().fit(X, y), target="play")[:38])
    <?xml version="1.0" encoding="UTF-8"?>
    """
    if not isinstance(target, str) or not target:
        raise TypeError(f"target must be a non-empty string, got {target!r}.")
    total = read_trees(model)
    refuse_costs(model)
    text = _Converter(total, target).run()
    if len(text) > LONG:
        warn_caller(
            f"The PMML text has {len(text) / 1e6:.1f} million characters, which "
            "programs take long to read. ONNX and source code are shorter."
        )
    if path is not None:
        write_file(path, text)
    return text


def _require_supported(total, target) -> None:
    """Raise ValueError for a model that PMML cannot represent."""
    if total.n_outputs > 1:
        raise ValueError(
            f"PMML models have a single output; got a model with {total.n_outputs}. "
            "Fit one model for each output, or use to_onnx."
        )
    if total.link == "positive_fractions":
        raise ValueError(
            "The probabilities of OutputSmearingClassifier are fractions of positive "
            "scores, which PMML cannot compute. Use to_onnx."
        )
    if total.is_vote and total.link == "identity":
        raise ValueError(
            "With voting='hard', ties between classes are broken by the largest mean "
            "probability, which PMML cannot do. Use to_onnx, or fit the model with "
            "voting='soft'."
        )
    names = total.feature_names
    texts = [target, *names, *map(str, total.classes[0] if total.classes else ())]
    for column in total.schema.columns:
        texts += map(str, column.levels or ())
        if len({isinstance(level, str) for level in column.levels or ()}) > 1:
            raise ValueError(
                f"The levels of column {column.name!r} mix strings and numbers, which "
                "a PMML field cannot represent. Use strings as levels."
            )
    for text in texts:
        if FORBIDDEN.search(text):
            raise ValueError(
                f"{text!r} has a character that XML does not allow. Rename the column, "
                "level or class."
            )
    for number, name in enumerate(names):
        if name in names[:number] or name == target:
            raise ValueError(
                f"The name of column {number}, {name!r}, is also that of the target or "
                "of another column. Rename it, or use another target."
            )


def _require_tests(total, allows_missing: bool) -> bool:
    """Raise ValueError for a test that PMML has no equivalent of.

    Return whether a tree divides rows.
    """
    divides = False
    for number, tree in enumerate(total.trees):
        where = f" of member {number}" if len(total.trees) > 1 else ""
        nodes = tree.nodes
        if tree.max_depth > MAX_DEPTH:
            raise ValueError(
                f"The tree{where} has a depth of {tree.max_depth}, but at most "
                f"{MAX_DEPTH} can be converted to PMML. Fit the model with a max_depth."
            )
        node, reason = None, None
        if (nodes["kind"] == OBLIQUE).any():
            node = int(np.argmax(nodes["kind"] == OBLIQUE))
            reason = "tests a sum of columns, of which {} is the first"
        elif (divided := find_divided(tree, allows_missing)) is not None:
            divides = True
            node, reason = divided, _find_conflict(total, tree)
        if reason is not None:
            name = total.feature_names[nodes["feature"][node]]
            raise ValueError(
                f"Node {node}{where} {reason.format(repr(name))}, which cannot be "
                "converted to PMML. Use to_onnx."
            )
    return divides


def _find_conflict(total, tree):
    """Describe features that PMML does not support together with divided rows."""
    divides = "divides rows with a missing value or an unseen level of column {}"
    if total.is_vote:
        return f"{divides}, and members vote"
    if tree.handle_unknown == "error":
        return f"{divides}, and other unseen levels are errors"
    if len(tree.surrogates):
        return f"{divides}, and the tree has surrogate splits"
    if total._is_one_tree and chooses_by_others(total):
        return f"{divides}, and other values than the probabilities choose the class"
    return None


def chooses_by_others(total) -> bool:
    """Whether a tree predicts not the class of its largest probability.

    So do trees with ``laplace=True``, whose correction depends on the size of a leaf.
    """
    if not total.is_classifier:
        return False
    values = total.trees[0].statistics[:, :, 0]
    return not np.array_equal(total.model.tree_.value.reshape(values.shape), values)


class _Converter:
    """One conversion."""

    def __init__(self, total, target: str) -> None:
        _require_supported(total, target)
        self.total, self.target = total, target
        self.columns = total.schema.columns
        self.allows_missing = total.reader.missing != "error"
        self.labels = []
        if total.is_classifier:
            self.labels = [format_label(label) for label in total.classes[0]]
        #: Whether trees predict classes, not scores.
        self.is_classification = total.is_classifier and total.link == "identity"
        self.divides = _require_tests(total, self.allows_missing)

    def run(self) -> str:
        """Convert the model."""
        root = ElementTree.Element("PMML", {"xmlns": NAMESPACE, "version": "4.4"})
        header = ElementTree.SubElement(root, "Header")
        ElementTree.SubElement(header, "Application", {"name": "sklearn_textbook"})
        self._write_dictionary(root)
        total = self.total
        if self.divides:
            model = self._write_fractions(root)
        elif total.link != "identity":
            model = self._write_chain(root)
        elif total._is_one_tree:
            model = self._write_tree(root, *self._list_trees()[0])
        else:
            model = self._write_ensemble(root)
        model.set("modelName", type(total.model).__name__)
        # The last model of a chain knows the probabilities.
        last = root.find(".//RegressionModel")
        self._write_outputs(model if last is None else last)
        if sum(tree.node_count for tree in total.trees) <= MAX_COMMENTED:
            ElementTree.indent(root)
        text = ElementTree.tostring(root, encoding="unicode")
        return f'<?xml version="1.0" encoding="UTF-8"?>\n{text}\n'

    # -------------------------------------------------------------------- fields
    def _write_dictionary(self, root) -> None:
        """Write the data dictionary."""
        dictionary = ElementTree.SubElement(root, "DataDictionary")
        for column in self.columns:
            attributes = {"name": column.name}
            if column.source in TEMPORAL:
                attributes["displayName"] = f"{column.name}: {TEMPORAL[column.source]}"
            levels = column.levels
            kind = "double"
            if levels is not None and isinstance(levels[0], str):
                kind = "string"
            attributes["optype"] = "continuous" if levels is None else "categorical"
            attributes["dataType"] = kind
            ElementTree.SubElement(dictionary, "DataField", attributes)
        attributes = {"name": self.target, "optype": "continuous", "dataType": "double"}
        if self.labels:
            attributes["optype"] = "categorical"
            attributes["dataType"] = _find_type(self.total.classes[0])
        field = ElementTree.SubElement(dictionary, "DataField", attributes)
        for label in self.labels:
            ElementTree.SubElement(field, "Value", {"value": label})

    def _write_schema(self, model, used=None, has_target: bool = False) -> None:
        """Write the mining schema, with the target unless columns are given."""
        schema = ElementTree.SubElement(model, "MiningSchema")
        if used is None or has_target:
            target = {"name": self.target, "usageType": "target"}
            ElementTree.SubElement(schema, "MiningField", target)
        for number in range(len(self.columns)) if used is None else used:
            column = self.columns[number]
            attributes = {"name": column.name}
            if column.levels is not None:
                attributes["invalidValueTreatment"] = "asIs"
            if not self.allows_missing:
                attributes["missingValueTreatment"] = "returnInvalid"
            ElementTree.SubElement(schema, "MiningField", attributes)

    def _write_outputs(self, model) -> None:
        """Write the outputs after the mining schema."""
        outputs = ElementTree.Element("Output")
        fields = [(f"predicted_{self.target}", {"feature": "predictedValue"})]
        kind = {"optype": "continuous", "dataType": "double"}
        if self.labels:
            labels = _find_type(self.total.classes[0])
            fields[0][1].update(optype="categorical", dataType=labels)
        else:
            fields[0][1].update(kind)
        for label in self.labels:
            feature = {"feature": "probability", "value": label}
            fields.append((f"probability_{label}", feature | kind))
        for name, attributes in fields:
            attributes = {"name": name} | attributes
            ElementTree.SubElement(outputs, "OutputField", attributes)
        model.insert(1, outputs)

    # --------------------------------------------------------------------- trees
    def _list_trees(self):
        """List trees with the values of their nodes, those of members not divided."""
        trees, described = self.total.trees, self.total.model._describe_sum()
        if described.is_mean:
            shown = map(get_shown_tree, described.members)
            return list(zip(trees, map(read_values, shown), strict=True))
        return [(tree, tree.statistics[:, :, 0]) for tree in trees]

    def _write_tree(self, parent, tree, values, used=None):
        """Write one tree; ``used`` is "own" if it is part of a model."""
        if self.is_classification:
            best = self._choose(values)
            scores = [self.labels[number] for number in best]
            function = "classification"
        else:
            scores = [write_number(value) for value in values[:, 0]]
            values, function = None, "regression"
        writer = TreeWriter(
            tree, self.columns, self.allows_missing, scores, values, self.labels
        )

        def write_schema(model, columns):
            self._write_schema(model, None if used is None else columns)

        return writer.write(parent, function, write_schema)

    def _choose(self, values):
        """Choose the class of every node."""
        model = self.total.model
        if self.total._is_one_tree:
            own = model.tree_.value.reshape(values.shape)
            return model._choose_classes(own[:, np.newaxis])[:, 0]
        return values.argmax(axis=1)

    # ----------------------------------------------------------------- ensembles
    def _write_ensemble(self, parent):
        """Write the mean of the members, or the sum of trees."""
        trees = self._list_trees()
        is_mean = self.total.model._describe_sum().is_mean
        model = self._write_mining_model(
            parent, "classification" if self.is_classification else "regression"
        )
        start = float(self.total.start[0])
        if start and not self.is_classification:
            targets = ElementTree.SubElement(model, "Targets")
            attributes = {"field": self.target, "rescaleConstant": write_number(start)}
            ElementTree.SubElement(targets, "Target", attributes)
        self._write_segments(model, "average" if is_mean else "sum", trees)
        return model

    def _write_mining_model(self, parent, function, used=None):
        """Write a MiningModel without segments."""
        attributes = {"functionName": function}
        model = ElementTree.SubElement(parent, "MiningModel", attributes)
        self._write_schema(model, used)
        return model

    def _write_segments(self, model, method, trees) -> None:
        """Write trees as segments."""
        attributes = {"multipleModelMethod": method}
        segments = ElementTree.SubElement(model, "Segmentation", attributes)
        for number, (tree, values) in enumerate(trees):
            segment = self._write_segment(segments, number)
            self._write_tree(segment, tree, values, "own")

    def _write_segment(self, segments, number):
        """Write a segment without a model."""
        attributes = {"id": str(number + 1)}
        segment = ElementTree.SubElement(segments, "Segment", attributes)
        ElementTree.SubElement(segment, "True")
        return segment

    def _write_chain(self, parent):
        """Write sums of trees, and a model that turns them into predictions."""
        total = self.total
        function = "classification" if self.labels else "regression"
        chain = self._write_mining_model(parent, function)
        attributes = {"multipleModelMethod": "modelChain"}
        segments = ElementTree.SubElement(chain, "Segmentation", attributes)
        names = set(total.feature_names)
        scores = []
        for number in range(total.n_scores):
            name = f"score_{number}"
            while name in names or name == self.target:
                name += "_"
            scores.append(name)
            trees = []
            for tree, first in zip(total.trees, total.first, strict=True):
                if first <= number < first + tree.n_outputs:
                    values = tree.statistics[:, number - first]
                    trees.append((tree, values))
            segment = self._write_segment(segments, number)
            every = range(len(self.columns))
            model = self._write_mining_model(segment, "regression", every)
            output = ElementTree.SubElement(model, "Output")
            attributes = {"name": name, "feature": "predictedValue"}
            attributes |= {"optype": "continuous", "dataType": "double"}
            ElementTree.SubElement(output, "OutputField", attributes)
            self._write_segments(model, "sum", trees)
        segment = self._write_segment(segments, total.n_scores)
        self._write_link(segment, function, scores)
        return chain

    def _write_regression(self, parent, function):
        """Write a RegressionModel, which turns scores into predictions."""
        methods = {"expit": "logit", "identity": "none"}
        method = methods.get(self.total.link, self.total.link)
        attributes = {"functionName": function, "normalizationMethod": method}
        return ElementTree.SubElement(parent, "RegressionModel", attributes)

    def _write_link(self, parent, function, names) -> None:
        """Write what turns the scores of a chain into predictions."""
        model = self._write_regression(parent, function)
        self._write_schema(model, [], has_target=True)
        for name in names:
            ElementTree.SubElement(model[0], "MiningField", {"name": name})
        self._write_tables(model, [[(name, 1.0)] for name in names])

    def _write_tables(self, model, scores) -> None:
        """Write the scores as sums of fields: (name, coefficient)."""
        total = self.total
        categories = self.labels or [None]
        if total.link == "expit":
            # The first table is that of the class whose score there is.
            categories = categories[::-1]
        for number, category in enumerate(categories):
            attributes = {"intercept": "0.0"}
            fields = scores[number] if number < len(scores) else []
            if fields:
                start = total.scale * float(total.start[number])
                attributes["intercept"] = write_number(start)
            if category is not None:
                attributes["targetCategory"] = category
            table = ElementTree.SubElement(model, "RegressionTable", attributes)
            for name, weight in fields:
                attributes = {"name": name}
                attributes["coefficient"] = write_number(total.scale * weight)
                ElementTree.SubElement(table, "NumericPredictor", attributes)

    # ------------------------------------------------------ trees that divide rows
    def _write_fractions(self, parent):
        """Write scores as sums over the fractions of a row at the nodes."""
        total = self.total
        function = "classification" if self.labels else "regression"
        model = self._write_regression(parent, function)
        self._write_schema(model)
        names = [self.target, *total.feature_names]
        prefix = "share_"
        while any(name.startswith(prefix) for name in names):
            prefix += "_"
        local = ElementTree.SubElement(model, "LocalTransformations")
        writer = FractionWriter(local, self.columns, self.allows_missing, prefix)
        scores = [[] for _ in total.start]
        for number, (tree, first) in enumerate(
            zip(total.trees, total.first, strict=True)
        ):
            for node, name in writer.write(number, tree):
                for i, value in enumerate(tree.statistics[node, :, 0], start=first):
                    scores[i].append((name, float(value)))
        self._write_tables(model, scores)
        return model


def _find_type(classes):
    """Find the data type of class labels."""
    values = classes.tolist()
    for types, name in (
        (str, "string"),
        (bool, "boolean"),
        (int, "integer"),
        (int | float, "double"),
    ):
        if all(isinstance(value, types) for value in values):
            return name
    raise ValueError(
        "Class labels must be strings, numbers or booleans to be converted to PMML; "
        f"got {values[:5]}."
    )
