"""Programs of trees or of linear terms as operators of ONNX."""

from __future__ import annotations

import numpy as np

from sklearn_textbook._contract.cached_property import cached_property
from sklearn_textbook.exchange.onnx_trees import TreeOperators
from sklearn_textbook.linear_model.generalized.links import EPSILON

#: Largest number of products of a row that are added one after the other, as the model
#: does; more are added by a product of matrices.
MAX_PRODUCTS = 4096


def list_node_values(program):
    """List the values of the nodes of each tree, times its weight.

    Votes are 1 for one class. Values that choose the class, if others than the scores,
    follow the scores.
    """
    n_scores, found = program.total.n_scores, []
    for part in program.parts:
        values, others = part.values, None
        if program.votes:
            if program.breaks_ties:
                others = values[:, program.second :][:, :n_scores]
            values = program.count_votes(values)
        elif program.deciding:
            values, others = values[:, :n_scores], values[:, program.deciding :]
        wide = np.zeros((len(values), program.n_sums))
        wide[:, part.score : part.score + values.shape[1]] = part.weight * values
        if others is not None:
            wide[:, n_scores:] = others
        found.append(wide)
    return found


class Predictions:
    """What a program predicts, as tensors.

    Attributes
    ----------
    refused : str
        The rows for which the model raises an error, of shape (n_rows, 1).
    """

    def __init__(self, graph, program, matrix: str) -> None:
        self.graph, self.program, self.total = graph, program, program.total
        if program.parts:
            trees = [part.tree for part in program.parts]
            operators = TreeOperators(graph, trees, not program.refuses_missing)
            sums = operators.add(matrix, list_node_values(program))
        else:
            sums = self._add_terms(matrix)
        n_scores, n_sums = self.total.n_scores, program.n_sums
        refused = graph.add("Greater", graph.take(sums, [n_sums]), self._zero)
        if program.refuses_missing:
            missing = graph.any_of(graph.add("IsNaN", matrix))
            refused = graph.add("Or", refused, missing)
        self.refused = refused
        scores = graph.take(sums, range(n_scores))
        if self.total.start.any():
            scores = graph.add("Add", graph.constant([self.total.start]), scores)
        self.deciding = scores
        if program.divisor != 1.0:
            scores = graph.add("Div", scores, graph.constant([program.divisor]))
        if program.divides_first:
            self.deciding = scores
        self.scores, self.second = scores, None
        if program.breaks_ties:
            self.second = graph.take(sums, range(n_scores, n_sums))
        elif program.deciding:
            self.deciding = graph.take(sums, range(n_scores, n_sums))

    @cached_property
    def _zero(self):
        return self.graph.constant([0.0])

    # -------------------------------------------------------------- linear programs
    def _add_terms(self, matrix):
        """Add the sums of linear terms, and as one more column what is refused."""
        graph, terms = self.graph, self.program.linear
        width = self.program.n_sums + 1
        places = [place for place, t in enumerate(terms) if t.is_number]
        others = [place for place, t in enumerate(terms) if not t.is_number]
        numbers = [terms[place] for place in places]
        parts = []
        in_order = len(terms) * width <= MAX_PRODUCTS
        if numbers:
            parts.append(self._add_numbers(matrix, numbers, width, in_order))
        if others:
            levels = [terms[place] for place in others]
            parts.append(self._add_levels(matrix, levels, width))
            if not in_order:
                parts[-1] = self._sum(parts[-1])
        if not in_order:
            return parts[0] if len(parts) == 1 else graph.add("Add", *parts)
        products = graph.join(parts)
        if len(parts) > 1:
            products = graph.take(products, np.argsort([*places, *others]))
        # In the order of the columns, so that equal sums stay equal.
        axis, last = graph.constant(1, np.int64), graph.constant(-1, np.int64)
        running = graph.add("CumSum", products, axis)
        return graph.add("Gather", running, last, axis=1)

    def _sum(self, products):
        """Add products of all columns."""
        axis = self.graph.constant([1], np.int64)
        return self.graph.add("ReduceSum", products, axis, keepdims=0)

    def _add_numbers(self, matrix, terms, width, in_order):
        """Add the products of numbers, of shape (n_rows, n_terms, width), or sums."""
        graph = self.graph
        weights, missing = np.zeros((2, len(terms), width))
        for place, term in enumerate(terms):
            weights[place, :-1] = term.rows[0]
            missing[place, :-1] = np.nan if term.missing is None else term.missing
        values = graph.take(matrix, [term.feature for term in terms])
        if any(term.centre for term in terms):
            centres = graph.constant([[term.centre for term in terms]])
            values = graph.add("Sub", values, centres)
        absent = graph.add("IsNaN", values)
        if in_order:
            last = graph.constant([2], np.int64)
            values, absent = (graph.add("Unsqueeze", v, last) for v in (values, absent))
            products = graph.add("Mul", values, graph.constant([weights]))
            return graph.add("Where", absent, graph.constant([missing]), products)
        values = graph.add("Where", absent, self._zero, values)
        sums = graph.add("MatMul", values, graph.constant(weights))
        absent = graph.cast(absent, np.float64)
        filled = graph.constant(np.nan_to_num(missing))
        sums = graph.add("Add", sums, graph.add("MatMul", absent, filled))
        lacks = np.isnan(missing)
        if lacks.any():
            lacking = graph.add("MatMul", absent, graph.constant(lacks.astype(float)))
            is_lacking = graph.add("Greater", lacking, self._zero)
            nan = graph.constant([np.nan])
            sums = graph.add("Where", is_lacking, nan, sums)
        return sums

    def _add_levels(self, matrix, terms, width):
        """Add the rows of levels, of shape (n_rows, n_terms, width)."""
        graph = self.graph
        table, starts, absent_rows = [], [], []
        for term in terms:
            rows = [term.unseen, *term.rows, term.missing]
            starts.append(len(table) + 1)  # the code of an unseen level is -1
            for row in rows:
                wide = np.zeros(width)
                wide[:-1], wide[-1] = (0.0, 1.0) if row is None else (row, 0.0)
                table.append(wide)
            absent_rows.append(len(term.rows))
        codes = graph.take(matrix, [term.feature for term in terms])
        absent = graph.add("IsNaN", codes)
        last = graph.constant([np.array(absent_rows, dtype=np.float64)])
        codes = graph.cast(graph.add("Where", absent, last, codes), np.int64)
        codes = graph.add("Add", codes, graph.constant([starts], np.int64))
        return graph.add("Gather", graph.constant(table), codes, axis=0)

    # ------------------------------------------------------------------- results
    def give(self, kind):
        """Return a tensor of the results of one kind; see ``RESULTS``."""
        if kind == "scores":
            return self.scores
        if kind == "probabilities":
            return self.to_probabilities(0)
        if kind == "values":
            return self._to_values()
        graph = self.graph
        axis = graph.constant([1], np.int64)
        chosen = graph.add("Unsqueeze", self.choose(0), axis)
        numbers = graph.constant([range(len(self.total.classes[0]))], np.int64)
        return graph.cast(graph.add("Equal", chosen, numbers), np.float64)

    def _to_values(self):
        """Turn scores into predicted values."""
        graph, link, scores = self.graph, self.total.link, self.scores
        if link == "identity":
            return scores
        if link == "exp":
            return graph.add("Exp", scores)
        if link == "inverse":
            return graph.add("Reciprocal", scores)
        if link == "power":
            return graph.add("Pow", scores, graph.constant([self.total.scale]))
        if link == "logit":
            fractions = graph.add("Sigmoid", scores)
        else:
            scores = graph.add("Min", scores, graph.constant([700.0]))
            grown = graph.add("Neg", graph.add("Exp", scores))
            one = graph.constant([1.0])
            fractions = graph.add("Sub", one, graph.add("Exp", grown))
        fractions = graph.add("Max", fractions, graph.constant([EPSILON]))
        return graph.add("Min", fractions, graph.constant([1.0 - EPSILON]))

    def _take_output(self, tensor, output):
        """Take the scores of one output."""
        total = self.total
        if total.n_outputs == 1:
            return tensor
        width = total.n_scores // total.n_outputs
        first = output * width
        return self.graph.take(tensor, range(first, first + len(total.classes[output])))

    def choose(self, output):
        """Choose a class number for every row."""
        graph, total = self.graph, self.total
        axis = graph.constant([1], np.int64)
        scores = self._take_output(self.deciding, output)
        if total.link == "expit":
            above = graph.add("Greater", scores, self._zero)
            return graph.add("Squeeze", graph.cast(above, np.int64), axis)
        if self.second is not None:
            # Of the classes with most votes the one with the largest probability.
            second = self._take_output(self.second, output)
            most = graph.add("ReduceMax", scores, axis, keepdims=1)
            is_top = graph.add("Equal", scores, most)
            scores = graph.add("Where", is_top, second, graph.constant([-1.0]))
        tolerance = 0.0 if self.program.votes else self.program.tolerance
        if tolerance == 0.0:
            return graph.add("ArgMax", scores, axis=1, keepdims=0)
        best, largest = graph.constant([[0]], np.int64), graph.take(scores, [0])
        for number in range(1, len(total.classes[output])):
            score = graph.take(scores, [number])
            bound = graph.constant([tolerance])
            is_larger = graph.add("Greater", score, graph.add("Add", largest, bound))
            index = graph.constant([[number]], np.int64)
            best = graph.add("Where", is_larger, index, best)
            largest = graph.add("Where", is_larger, score, largest)
        shape = graph.add("Shape", scores, end=1)
        return graph.add("Expand", graph.add("Squeeze", best, axis), shape)

    def to_probabilities(self, output):
        """Turn scores into probabilities; scores without any are as they are."""
        graph, total = self.graph, self.total
        scores = self._take_output(self.scores, output)
        if total.link in ("identity", "scores"):
            return scores
        if total.link in ("positive_fractions", "clipped_fractions"):
            return self._to_fractions(scores, len(total.classes[output]))
        if total.scale != 1.0:
            scores = graph.add("Mul", scores, graph.constant([total.scale]))
        if total.link == "softmax":
            return graph.add("Softmax", scores, axis=1)
        both = graph.join([graph.add("Neg", scores), scores])
        return graph.add("Sigmoid", both)

    def _to_fractions(self, scores, n_classes):
        """Divide positive scores by their sum."""
        graph = self.graph
        axis = graph.constant([1], np.int64)
        kept = graph.add("Max", scores, self._zero)
        if self.total.link == "clipped_fractions":
            kept = graph.add("Min", kept, graph.constant([1.0]))
        sums = graph.add("ReduceSum", kept, axis, keepdims=1)
        best = graph.add("ArgMax", scores, axis=1, keepdims=1)
        numbers = graph.constant([range(n_classes)], np.int64)
        alone = graph.cast(graph.add("Equal", best, numbers), np.float64)
        is_high = graph.add("Greater", sums, self._zero)
        kept = graph.add("Where", is_high, kept, alone)
        sums = graph.add("Where", is_high, sums, graph.constant([1.0]))
        return graph.add("Div", kept, sums)
