"""One of the best tests at random, in plain Python; and how a node draws."""

from functools import reduce

BITS = 2**64 - 1


def next_random(state):
    """The number after a state of 64 bits."""
    number = (state + 0x9E3779B97F4A7C15) & BITS
    number = ((number ^ (number >> 30)) * 0xBF58476D1CE4E5B9) & BITS
    number = ((number ^ (number >> 27)) * 0x94D049BB133111EB) & BITS
    return number ^ (number >> 31)


def child_state(state, number):
    """The state of a child, or of something else that has a number."""
    return next_random(state ^ (((number + 1) * 0xD1342543DE82EF95) & BITS))


def draw_place(seed, path, n):
    """A number below n; the path has the child numbers on the way to the node."""
    own = child_state(reduce(child_state, path, seed), 2**40)
    return next_random(own) % n


def draw_top(candidates, top_splits, pick_best, seed, path):
    """One of the best: ``pick_best`` finds the best one of a list that is not empty."""
    remaining = list(candidates)
    for _ in range(draw_place(seed, path, min(len(remaining), top_splits))):
        remaining.remove(pick_best(remaining))
    return pick_best(remaining)
