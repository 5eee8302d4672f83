"""Rules: conversion of a grown tree to a shorter, ordered list of general rules."""

from sklearn_textbook.tree.rules.build_list import build_rule_list
from sklearn_textbook.tree.rules.evaluate import (
    RuleEvaluation,
    evaluate_rules,
    tabulate_rules,
    write_weight,
)
from sklearn_textbook.tree.rules.predict import find_deciding_rules
from sklearn_textbook.tree.rules.rule_list import RuleList

__all__ = [
    "RuleEvaluation",
    "RuleList",
    "build_rule_list",
    "evaluate_rules",
    "find_deciding_rules",
    "tabulate_rules",
    "write_weight",
]
