"""Changed model files: one entry, or one number of an array, is another."""

import json
from copy import deepcopy

import numpy as np

from sklearn_textbook.io.saved_arrays import load_array, save_array

VALUES = (
    *(None, True, False, 0, 1, -1, -7, 3, 2**31, 2**40, 2**63, 10**30, 10**400),
    *(0.5, -0.0, 1e-320, 1e308, -1e308, {"number": "nan"}, {"number": "inf"}),
    *("x", "", "AAAA", "svd", "x0", "蓝", [], [[]], {}, [1], [0.5], [[1]], [None]),
    *(["all", [1]], {"record": "x"}, {"part": "LogLoss", "parameters": {}}),
)
NUMBERS = (np.nan, np.inf, -np.inf, 1e308, -1e308, 1e-320, 0.0, -1.0, 3.0, 127.0)


def list_places(value, path=()):
    """All places of a document but that of itself, with what stands there."""
    entries = ()
    if isinstance(value, dict):
        entries = value.items()
    elif isinstance(value, list):
        entries = enumerate(value)
    for key, item in entries:
        yield (*path, key), item
        yield from list_places(item, (*path, key))


def mutate(text, rng):
    """Make a document of a text, with one to three changes."""
    document = json.loads(text)
    for _ in range(int(rng.integers(1, 4))):
        places = list(list_places(document))
        if not places:
            break
        # As often near the root as in long lists.
        depth = rng.choice(sorted({len(path) for path, _ in places}))
        places = [place for place in places if len(place[0]) == depth]
        path, item = places[rng.integers(len(places))]
        holder = document
        for key in path[:-1]:
            holder = holder[key]
        _change(holder, path[-1], item, rng)
    return document


def _change(holder, key, item, rng):
    is_array = isinstance(item, dict) and "base64" in item
    way = rng.integers(6)
    if way == 0:
        del holder[key]
    elif way == 1 and isinstance(holder, list):
        holder.insert(key, deepcopy(item))
    elif way == 2 and isinstance(holder, dict):
        others = list(holder)
        holder[key] = deepcopy(holder[others[rng.integers(len(others))]])
    elif way <= 4 and is_array:
        holder[key] = _change_array(item, rng)
    elif way <= 4 and isinstance(item, str):
        holder[key] = item[: len(item) // 2]
    elif way <= 4 and isinstance(item, int | float):
        number = NUMBERS[rng.integers(len(NUMBERS))]
        whole = np.isfinite(number) and isinstance(item, int)
        holder[key] = int(number) if whole else 1e999 if number != number else number
    else:
        holder[key] = deepcopy(VALUES[rng.integers(len(VALUES))])


def _change_array(packed, rng):
    try:
        array = load_array(packed, "array")
    except ValueError:
        return deepcopy(VALUES[rng.integers(len(VALUES))])
    way = rng.integers(3)
    if way == 0:
        return {**packed, "shape": packed["shape"][::-1]}
    if way == 1 and len(array):
        return save_array(array[:-1])
    if array.size:
        number = NUMBERS[rng.integers(len(NUMBERS))]
        with np.errstate(invalid="ignore", over="ignore"):
            array.flat[rng.integers(array.size)] = np.array(number).astype(array.dtype)
    return save_array(array)
