"""Declared fitted attributes as JSON and back, checked against `Kept`."""

from __future__ import annotations

import math

import numpy as np

from sklearn_textbook.io.packed_arrays import pack_array, pack_floats, unpack_array
from sklearn_textbook.io.saved_parameters import pack_value, unpack_value
from sklearn_textbook.io.saved_target import is_integer
from sklearn_textbook.tree.grow.narrow import narrow

#: Kinds of dtypes that the entries of an array may have.
ARRAY_KINDS = {"integer": "iu", "truth": "iu", "number": "iuf", "float": "iuf"}
#: Types of numbers that a model may compute in.
PRECISIONS = ("float32", "float64")
#: Largest size of a single integer; floats represent these exactly.
LARGEST_WHOLE = 2**53


# ------------------------------------------------------------------------- writing
def pack_kept(declared, values):
    """Write the declared values.

    Parameters
    ----------
    declared : tuple of Kept
        The declarations.
    values : dict of str to object
        The values by name; absent ones are left out.

    Returns
    -------
    packed : dict
        JSON values by name.

    Raises
    ------
    ValueError
        If a value cannot be kept.
    """
    return {
        kept.name: _pack_one(kept, values[kept.name])
        for kept in declared
        if kept.name in values
    }


def _pack_one(kept, value):
    if value is None:
        return None
    if isinstance(kept.kind, tuple):
        for record in kept.kind:
            if type(value) is record.of:
                fields = pack_kept(record.kept, _list_fields(record, value))
                return {"record": record.of.__name__, **fields}
        raise ValueError(
            f"{kept.name} is a {type(value).__name__}, which a model file cannot "
            "contain"
        )
    if kept.kind == "precision":
        return np.dtype(value).name
    if () in kept.shapes and np.ndim(value) == 0:
        return pack_value(value, kept.name)
    if kept.kind == "float":
        return pack_floats(value)
    array = np.asarray(value, dtype=np.uint8 if kept.kind == "truth" else None)
    return pack_array(narrow(array))


def _list_fields(record, value):
    return {kept.name: getattr(value, kept.name) for kept in record.kept}


# ------------------------------------------------------------------------- reading
def unpack_kept(declared, packed, sizes, owner):
    """Read the declared values, and refuse all others.

    Parameters
    ----------
    declared : tuple of Kept
        The declarations.
    packed : object
        Object as `pack_kept` writes it.
    sizes : dict of str to int or None
        Known lengths of arrays; None: any. Others are added as they are found.
    owner : str
        Name of the class, for messages.

    Returns
    -------
    values : dict of str to object
        The values by name.

    Raises
    ------
    ValueError, TypeError, KeyError
        If a value is missing, or not as declared.
    """
    if not isinstance(packed, dict):
        raise TypeError("kept must be an object")
    unknown = packed.keys() - {kept.name for kept in declared}
    if unknown:
        raise ValueError(f"{owner} has no {sorted(unknown)[0]!r}")
    values = {}
    for kept in declared:
        if kept.name not in packed and kept.is_optional:
            continue
        value = _unpack_one(kept, packed[kept.name], sizes)
        values[kept.name] = value
        if isinstance(value, int):
            sizes.setdefault(kept.name, value)
    return values


def _unpack_one(kept, packed, sizes):
    """Read one number, text, array or object according to its declaration."""
    if packed is None and kept.is_optional:
        return None
    if isinstance(kept.kind, tuple):
        return _unpack_record(kept, packed, sizes)
    is_array = isinstance(packed, list) or (
        isinstance(packed, dict) and "base64" in packed
    )
    if () in kept.shapes and not (is_array and len(kept.shapes) > 1):
        return _unpack_single(kept, packed)
    return _unpack_entries(kept, packed, sizes)


def _unpack_record(kept, packed, sizes):
    """Read an object of one of the declared classes."""
    names = [record.of.__name__ for record in kept.kind]
    name = packed.get("record") if isinstance(packed, dict) else None
    if name not in names:
        raise ValueError(
            f"{kept.name} must be an object with record {' or '.join(names)}"
        )
    record = kept.kind[names.index(name)]
    fields = {field: value for field, value in packed.items() if field != "record"}
    return record.of(**unpack_kept(record.kept, fields, sizes, name))


def _unpack_single(kept, packed):
    """Read a single value."""
    name, kind = kept.name, kept.kind
    value = unpack_value(packed)
    is_number = isinstance(value, float) or is_integer(value)
    is_right = {
        "truth": isinstance(value, bool),
        "text": isinstance(value, str),
        "precision": isinstance(value, str) and value in PRECISIONS,
        "part": hasattr(value, "get_params"),
        "integer": is_integer(value),
        "number": is_number,
        "float": is_number,
    }[kind]
    if not is_right:
        raise ValueError(f"{name} must be a single {kind}, got {str(packed)[:40]}")
    if kind == "precision":
        return np.dtype(value)
    if not is_number:
        return value
    if not is_integer(value) or abs(value) > LARGEST_WHOLE:
        if kind == "integer":
            raise ValueError(f"{name} must be at most {LARGEST_WHOLE}, got {value}")
        value = float(value)
    _require_range(kept, value)
    return value


def _unpack_entries(kept, packed, sizes):
    """Read an array."""
    name, kind = kept.name, kept.kind
    array = unpack_array(packed, name)
    shapes = [shape for shape in kept.shapes if shape]
    fits = any(_match_shape(shape, array.shape, sizes) for shape in shapes)
    if not fits or (array.size and array.dtype.kind not in ARRAY_KINDS[kind]):
        known = [tuple(_fill_length(n, sizes) for n in shape) for shape in shapes]
        wanted = " or ".join(map(str, known))
        raise ValueError(
            f"{name} must be {kind}s of shape {wanted}, got {array.dtype} of shape "
            f"{array.shape}"
        )
    if array.size:
        _require_range(kept, array)
    if kind == "truth":
        if not np.isin(array, (0, 1)).all():
            raise ValueError(f"{name} must consist of 0 and 1")
        return array.astype(bool)
    if kind == "integer":
        return array.astype(np.int64)
    is_single = kind == "float" and array.dtype == np.float32
    return array if is_single else array.astype(np.float64)


def _fill_length(length, sizes):
    """Replace a length by its value if it is known; None: any."""
    if isinstance(length, tuple):
        parts = [_fill_length(part, sizes) for part in length]
        return sum(parts) if all(isinstance(part, int) for part in parts) else None
    return sizes.get(length, length) if isinstance(length, str) else length


def _match_shape(shape, found, sizes):
    """Whether an array has the declared shape; lengths not yet known are recorded."""
    if len(shape) != len(found):
        return False
    noted = dict(sizes)
    for wanted, length in zip(shape, found, strict=True):
        if isinstance(wanted, str) and noted.get(wanted) is None:
            noted[wanted] = length
        if _fill_length(wanted, noted) not in (None, length):
            return False
    sizes.update(noted)
    return True


def _require_range(kept, value):
    """Require finite and not too small numbers, if so declared."""
    lowest = np.min(value)
    if kept.is_finite and not np.all(np.isfinite(value)):
        raise ValueError(f"{kept.name} must be finite")
    if kept.least is not None and not math.isnan(lowest) and lowest < kept.least:
        raise ValueError(f"{kept.name} must be at least {kept.least}, got {lowest}")
