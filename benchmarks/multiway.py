"""Python packages that grow many-way trees on nominal columns.

Of the packages that grow ID3's trees, p-decision-tree is the fastest, and Orange's
``TreeLearner`` the other one that gets through 100,000 rows with today's
scikit-learn. Orange's ``SimpleTreeLearner`` is compiled and far faster than both; it
splits by gain ratio and has nothing else, so it is compared with C4.5's gain ratio
alone.
"""

from __future__ import annotations

import numpy as np

from benchmarks.measure import installed_version
from benchmarks.tasks import GAIN_RATIO, ID3


def find_codes(task):
    """Level numbers, one column per column of the table."""
    return np.column_stack([task.X[name].cat.codes for name in task.X.columns])


def refuse_other_than_nominal(task):
    """Why a tool for nominal columns alone cannot do the task, or None."""
    if not task.has_nominal or any(task.X[n].dtype != "category" for n in task.X):
        return "nominal columns only"
    return "no missing values" if task.X.isna().to_numpy().any() else None


class PythonTree:
    """What these tools have in common: they run in this process, in one thread."""

    is_threaded = False
    limits_depth = True
    package: str

    def find_version(self):
        return installed_version(self.package)

    def refusal(self, task):
        return refuse_other_than_nominal(task)

    def criterion(self, task):
        return task.criterion


class PDecisionTree(PythonTree):
    """ID3 in plain Python: lists of lists.

    It cannot stop at a depth, so a tree that is to be looked at down to a depth only is
    grown as a whole, and its nodes there answer with the classes of their rows.
    """

    name = "p-decision-tree"
    package = "p-decision-tree"
    algorithms = (ID3,)

    def make_fit(self, task, n_threads, max_depth=None):
        from p_decision_tree.DecisionTree import DecisionTree

        columns = [task.X[name].astype(object).tolist() for name in task.X.columns]
        rows = [list(row) for row in zip(*columns, strict=True)]
        labels, names = task.y.tolist(), task.X.columns.tolist()
        levels = {name: task.X[name].cat.categories for name in names}

        def fit():
            tree = DecisionTree(rows, names, labels, "entropy")
            tree.id3(0, 0)
            return tree.root, levels, max_depth

        return fit

    def make_predict(self, model, task, n_threads):
        root, levels, max_depth = model
        codes = dict(zip(task.X.columns, find_codes(task).T, strict=True))

        def answer(node, rows, depth, shares):
            if depth == max_depth or (not node.childs and max_depth is not None):
                counts = np.bincount(task.y[rows], minlength=task.n_classes)
                shares[rows] = counts / len(rows)
            elif not node.childs:
                shares[rows, node.value] = 1.0
            else:
                found = codes[node.value][rows]
                below = depth + (len(node.childs) > 1)
                for child in node.childs:
                    level = levels[node.value].get_loc(child.value)
                    answer(child.next, rows[found == level], below, shares)

        def predict():
            shares = np.zeros((task.n_rows, task.n_classes))
            answer(root, np.arange(task.n_rows), 0, shares)
            return shares

        return predict

    def count_leaves(self, model):
        """Leaves, with the empty ones of levels without rows, as the others count.

        A node with one child only is none: its column has one value there.
        """
        root, levels, _ = model

        def count(node):
            if not node.childs:
                return 1
            below = sum(count(child.next) for child in node.childs)
            if len(node.childs) == 1:
                return below
            return below + len(levels[node.value]) - len(node.childs)

        return count(root)


class OrangeTable:
    """A task in Orange's own container."""

    def __init__(self, task):
        from Orange.data import DiscreteVariable, Domain, Table

        columns = [
            DiscreteVariable(name, task.X[name].cat.categories.tolist())
            for name in task.X.columns
        ]
        classes = [str(label) for label in range(task.n_classes)]
        domain = Domain(columns, DiscreteVariable("target", classes))
        codes = find_codes(task).astype(np.float64)
        self.table = Table.from_numpy(domain, codes, task.y.astype(np.float64))


class OrangeTree(PythonTree):
    """ID3 as Orange's own tree learner grows it if no majority is enough."""

    name = "orange"
    package = "Orange3"
    algorithms = (ID3,)
    patient_rows = 20_000

    def make_fit(self, task, n_threads, max_depth=None):
        from Orange.classification import TreeLearner

        learner = TreeLearner(sufficient_majority=1.0, max_depth=max_depth)
        table = OrangeTable(task).table
        return lambda: learner(table)

    def make_predict(self, model, task, n_threads):
        codes = find_codes(task).astype(np.float64)
        return lambda: model.predict(codes)

    def count_leaves(self, model):
        return int(model.leaf_count())


class OrangeSimpleTree(PythonTree):
    """Orange's compiled learner: many-way trees by gain ratio."""

    name = "orange-simple"
    package = "Orange3"
    algorithms = (GAIN_RATIO,)

    #: More than any tree is deep.
    no_limit = 1024

    def make_fit(self, task, n_threads, max_depth=None):
        from Orange.classification import SimpleTreeLearner

        learner = SimpleTreeLearner(
            min_instances=1,
            max_depth=self.no_limit if max_depth is None else max_depth,
            max_majority=1.0,
        )
        table = OrangeTable(task).table
        return lambda: learner(table)

    def make_predict(self, model, task, n_threads):
        codes = find_codes(task).astype(np.float64)

        def predict():
            _, shares = model.predict(codes)
            return shares / shares.sum(axis=1, keepdims=True)

        return predict

    def count_leaves(self, model):
        def count(node):
            children = node.contents.children
            n_children = node.contents.children_size
            return sum(count(children[k]) for k in range(n_children)) or 1

        return count(model.node)
