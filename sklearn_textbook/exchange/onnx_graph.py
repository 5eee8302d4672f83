"""Writing ONNX graphs: operators, constants and ensembles of tests."""

from __future__ import annotations

import numpy as np

ML = "ai.onnx.ml"
#: Versions of the operator sets, and of the format that has them.
OPSETS = {"": 21, ML: 5}
IR_VERSION = 10
#: Modes of the nodes of a TreeEnsemble.
LEQ, MEMBER = 0, 6
LOWEST = np.finfo(np.float64).min


def import_onnx():
    """Import onnx, or raise ImportError with the command to install it."""
    try:
        import onnx
    except ImportError as error:
        raise ImportError("to_onnx requires onnx: pip install onnx.") from error
    return onnx


class Graph:
    """Operators and constants of a graph under construction."""

    def __init__(self, reserved) -> None:
        self.onnx = import_onnx()
        self.reserved = set(reserved)
        self.nodes, self.constants = [], []
        self.n_names = 0

    def make_name(self):
        """Make a new name of a tensor."""
        while True:
            self.n_names += 1
            name = f"t{self.n_names}"
            if name not in self.reserved:
                return name

    def constant(self, value, dtype=np.float64):
        """Add a constant and return its name."""
        name = self.make_name()
        value = np.asarray(value, dtype=dtype)
        self.constants.append(self.onnx.numpy_helper.from_array(value, name))
        return name

    def list_constants(self):
        """List the constants that operators use."""
        used = {name for node in self.nodes for name in node.input}
        return [value for value in self.constants if value.name in used]

    def add(self, operator, *inputs, domain: str = "", output=None, **attributes):
        """Add an operator with one output and return the name of that."""
        output = self.make_name() if output is None else output
        node = self.onnx.helper.make_node(
            operator, list(inputs), [output], domain=domain, **attributes
        )
        self.nodes.append(node)
        return output

    def join(self, parts):
        """Put columns side by side."""
        return parts[0] if len(parts) == 1 else self.add("Concat", *parts, axis=1)

    def cast(self, name, dtype):
        """Convert a tensor to another type of numbers."""
        to = self.onnx.helper.np_dtype_to_tensor_dtype(np.dtype(dtype))
        return self.add("Cast", name, to=to)

    def take(self, name, indices):
        """Take columns."""
        indices = self.constant(indices, np.int64)
        return self.add("Gather", name, indices, axis=1)

    def any_of(self, name):
        """Compute for each row of a boolean matrix whether any value is true."""
        axis = self.constant([1], np.int64)
        numbers = self.cast(name, np.float32)
        largest = self.add("ReduceMax", numbers, axis, keepdims=1)
        return self.cast(largest, bool)


class EnsembleWriter:
    """The trees of a TreeEnsemble of ai.onnx.ml 5, each of which writes one column.

    A place is where a test or a leaf has to be written: a test and one of its sides.
    """

    def __init__(self) -> None:
        self.tests, self.leaves, self.roots = [], [], []

    def start(self) -> None:
        """Begin a tree, whose root has the place None."""
        self.roots.append(None)

    def test(
        self,
        place: tuple | None,
        mode: int,
        column: int,
        operand,
        missing_true: bool = False,
    ):
        """Write a test and return the places of its true and its false branch."""
        number = len(self.tests)
        self.tests.append([mode, column, operand, missing_true, None, None])
        if place is None:
            self.roots[-1] = number
        else:
            self.tests[place[0]][place[1]] = (number, False)
        return (number, 4), (number, 5)

    def leaf(self, place, weight):
        """Write a leaf."""
        if place is None:
            # A root must be a test.
            for side in self.test(place, LEQ, 0, 0.0):
                self.leaf(side, weight)
            return
        self.tests[place[0]][place[1]] = (len(self.leaves), True)
        self.leaves.append((len(self.roots) - 1, float(weight)))

    def write(self, graph, matrix):
        """Add the operator to a graph; return the name of its columns."""
        modes, columns, operands, missing, true, false = zip(*self.tests, strict=True)
        members = []
        for mode, operand in zip(modes, operands, strict=True):
            if mode == MEMBER:
                members += [*operand, np.nan]
        targets, weights = zip(*self.leaves, strict=True)
        make = graph.onnx.numpy_helper.from_array
        splits = [
            0.0 if mode == MEMBER else operand
            for mode, operand in zip(modes, operands, strict=True)
        ]
        attributes = {
            "nodes_modes": make(np.array(modes, dtype=np.uint8), "modes"),
            "nodes_splits": make(np.array(splits, dtype=np.float64), "splits"),
            "leaf_weights": make(np.array(weights, dtype=np.float64), "weights"),
        }
        if members:
            array = np.array(members, dtype=np.float64)
            attributes["membership_values"] = make(array, "members")
        return graph.add(
            "TreeEnsemble",
            matrix,
            domain=ML,
            nodes_featureids=[int(column) for column in columns],
            nodes_missing_value_tracks_true=[int(value) for value in missing],
            nodes_truenodeids=[number for number, _ in true],
            nodes_trueleafs=[int(is_leaf) for _, is_leaf in true],
            nodes_falsenodeids=[number for number, _ in false],
            nodes_falseleafs=[int(is_leaf) for _, is_leaf in false],
            tree_roots=self.roots,
            leaf_targetids=list(targets),
            n_targets=len(self.roots),
            aggregate_function=1,
            post_transform=0,
            **attributes,
        )
