"""The rules of a fitted tree, built on first use."""

from __future__ import annotations

from collections.abc import Sequence

from sklearn_textbook.tree.explain.listed_rules import build_listed_rules
from sklearn_textbook.tree.explain.rules import build_rules
from sklearn_textbook.tree.rules import RuleList


class LazyRules(Sequence):
    """A list of rules that is built on first use.

    scikit-learn's HTML view reads every fitted attribute; a tree of a hundred
    thousand leaves should not be written out for that.

    Parameters
    ----------
    tree : GrownTree or RuleList
        The tree, or the list.
    schema : TableSchema
        The columns of its table.
    classes : ndarray, list of ndarray or None
        Class labels, None for regression.
    **options : object
        Further parameters of
        :func:`~sklearn_textbook.tree.explain.build_rules`.
    """

    def __init__(self, tree, schema, classes, **options) -> None:
        self._source = (tree, schema, classes)
        self._options = options
        self._rules = None

    def _read(self):
        if self._rules is None:
            is_list = isinstance(self._source[0], RuleList)
            build = build_listed_rules if is_list else build_rules
            self._rules = build(*self._source, **self._options)
        return self._rules

    def __len__(self) -> int:
        return len(self._read())

    def __getitem__(self, index):
        return self._read()[index]

    def __eq__(self, other):
        return self._read() == list(other)

    def __repr__(self) -> str:
        source = self._source[0]
        if isinstance(source, RuleList):
            return f"<list of {len(source)} rules and a default>"
        return f"<rules of a tree with {source.n_leaves} leaves>"
