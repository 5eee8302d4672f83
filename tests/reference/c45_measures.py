"""What C4.5 measures and how it compares: counts, gain, gain ratio, majority.

A table is a list of branches, each a list of class weights. Numbers that differ by less
than EPSILON are equal, except where a plain comparison is written out.
"""

import math

EPSILON = 1e-6


def is_equal(one, other):
    return abs(one - other) < EPSILON


def is_greater(one, other):
    return one - other > EPSILON


def is_less(one, other):
    return other - one > EPSILON


def is_at_least(one, other):
    return other - one < EPSILON or one >= other


def is_at_most(one, other):
    return one - other < EPSILON or one <= other


def find_majority_class(class_weights):
    """The class of largest weight; the first of equals."""
    best, majority = 0, 0
    for label, weight in enumerate(class_weights):
        if is_greater(weight, best):
            best, majority = weight, label
    return majority


def find_largest_branch(branch_weights):
    """The branch of largest weight; the last of equals."""
    best, largest = 0, 0
    for branch, weight in enumerate(branch_weights):
        if is_at_least(weight, best):
            best, largest = weight, branch
    return largest


def count_errors(class_weights):
    """Weight of the cases that are not of the majority class."""
    majority = find_majority_class(class_weights)
    return math.fsum(class_weights) - class_weights[majority]


def times_log2(value):
    return value * math.log2(value) if value >= EPSILON else 0.0


def sum_times_log2(values):
    return math.fsum(map(times_log2, values))


def compute_entropy(class_weights):
    """Entropy of the class shares in bits."""
    weight = math.fsum(class_weights)
    return math.fsum(
        part / weight * math.log2(weight / part) for part in class_weights if part > 0
    )


def compute_gain(table, node_weight):
    """Information gain in bits; missing values (not in the table) discount it."""
    branch_weights = [math.fsum(branch) for branch in table]
    class_weights = [math.fsum(parts) for parts in zip(*table, strict=True)]
    known_weight = math.fsum(branch_weights)
    gained = (
        times_log2(known_weight)
        - sum_times_log2(class_weights)
        - sum_times_log2(branch_weights)
        + math.fsum(sum_times_log2(branch) for branch in table)
    )
    known_share = known_weight / node_weight
    if is_equal(known_share * gained, 0):
        return 0.0
    return known_share * gained / known_weight


def compute_gain_ratio(gain, table, node_weight):
    """Gain per bit of split information, the missing values being one more branch."""
    branch_weights = [math.fsum(branch) for branch in table]
    known_weight = math.fsum(branch_weights)
    split_information = (
        times_log2(node_weight)
        - sum_times_log2(branch_weights)
        - times_log2(node_weight - known_weight)
    )
    if not is_greater(known_weight, 0) or is_equal(split_information, 0):
        return 0.0
    return gain * node_weight / split_information
