"""Rules: conversion of a grown tree to a shorter, ordered list of general rules."""

from typing import TYPE_CHECKING

from sklearn_textbook._contract.lazy_names import make_lazy

if TYPE_CHECKING:
    from sklearn_textbook.tree.rules.build_list import build_rule_list
    from sklearn_textbook.tree.rules.evaluate import (
        RuleEvaluation,
        evaluate_rules,
        tabulate_rules,
        write_weight,
    )
    from sklearn_textbook.tree.rules.predict import find_deciding_rules
    from sklearn_textbook.tree.rules.rule_list import RuleList

# Loaded on first use: a list of rules is read without what makes one.
_HOMES = {
    "RuleEvaluation": "evaluate",
    "RuleList": "rule_list",
    "build_rule_list": "build_list",
    "evaluate_rules": "evaluate",
    "find_deciding_rules": "predict",
    "tabulate_rules": "evaluate",
    "write_weight": "evaluate",
}

__all__ = [
    "RuleEvaluation",
    "RuleList",
    "build_rule_list",
    "evaluate_rules",
    "find_deciding_rules",
    "tabulate_rules",
    "write_weight",
]

__getattr__, __dir__ = make_lazy(__name__, _HOMES)
