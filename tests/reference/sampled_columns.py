"""Which columns a node tries, in plain Python."""

from functools import reduce

from tests.reference.top_splits import child_state, next_random

WEYL = 0x9E3779B97F4A7C15


def sample_columns(settings, path, columns, rows):
    """Numbers of the columns to try; the path has the child numbers to the node."""
    n_columns = len(columns)
    if settings.max_features is None or settings.max_features >= n_columns:
        return list(range(n_columns))
    rest, found = list(range(n_columns)), []
    state = child_state(reduce(child_state, path, settings.seed), 7)
    for n_drawn in range(n_columns):
        if n_drawn >= settings.max_features and found:
            break
        place = next_random(state) % len(rest)
        state += WEYL
        # The first of the rest takes the place of the one that is drawn.
        number, rest[place] = rest[place], rest[0]
        rest = rest[1:]
        if len({columns[number].values[row] for row in rows}) > 1:
            found.append(number)
    return found
