"""Arrays of numbers in JSON: short ones as lists, others as base64 of their bytes."""

from __future__ import annotations

import base64

import numpy as np

from sklearn_textbook.tree.grow.serialise import read_array

#: Arrays of more entries are written as bytes, which are shorter and read at once.
MAX_LISTED = 16
#: Little-endian numbers on all machines.
DTYPES = ("|i1", "|u1", "<i2", "<u2", "<i4", "<u4", "<i8", "<u8", "<f4", "<f8")


def save_array(array: np.ndarray) -> list | dict:
    """Write numbers of any shape; a few finite ones of one dimension as a list."""
    array = np.asarray(array)
    if array.ndim == 1 and len(array) <= MAX_LISTED and np.isfinite(array).all():
        return array.tolist()
    return _save_bytes(array)


def save_floats(array: np.ndarray) -> list | dict:
    """Write floats of any shape but (), with their precision and memory layout.

    Products of matrices may differ in the last bit between row-major and column-major
    arrays.
    """
    array = np.asarray(array)
    if array.dtype != np.float32:
        array = array.astype(np.float64, copy=False)
    is_small = 0 < array.size <= MAX_LISTED and array.ndim <= 2
    by_columns = array.flags.f_contiguous and not array.flags.c_contiguous
    is_plain = array.dtype == np.float64 and not by_columns
    if is_small and is_plain and np.isfinite(array).all():
        return array.tolist()
    return {**_save_bytes(array), **({"order": "F"} if by_columns else {})}


def _save_bytes(array: np.ndarray) -> dict:
    array = np.ascontiguousarray(array, dtype=array.dtype.newbyteorder("<"))
    return {
        "dtype": array.dtype.str,
        "shape": list(array.shape),
        "base64": base64.b64encode(array.tobytes()).decode("ascii"),
    }


def load_array(saved: object, name: str) -> np.ndarray:
    """Read an array; a list has int64 or float64, a list of lists float64."""
    if isinstance(saved, list):
        if saved and isinstance(saved[0], list):
            return read_array(saved, np.float64, name, 2)
        is_whole = all(isinstance(entry, int) for entry in saved)
        return read_array(saved, np.int64 if is_whole else np.float64, name)
    is_object = isinstance(saved, dict)
    if not is_object or saved.keys() - {"order"} != {"dtype", "shape", "base64"}:
        raise ValueError(
            f"{name} must be a list, or an object with dtype, shape and base64"
        )
    dtype, shape, text = saved["dtype"], saved["shape"], saved["base64"]
    if not isinstance(dtype, str) or dtype not in DTYPES:
        raise ValueError(f"{name}: dtype must be one of {', '.join(DTYPES)}")
    is_list = isinstance(shape, list) and 0 < len(shape) <= 3
    if not is_list or not all(type(length) is int and length >= 0 for length in shape):
        raise ValueError(f"{name}: shape must be one to three lengths")
    try:
        content = base64.b64decode(text, validate=True)
    except (TypeError, ValueError):
        raise ValueError(f"{name}: base64 must be text in base64") from None
    size = np.dtype(dtype).itemsize
    for length in shape:
        size *= length
    if len(content) != size:
        raise ValueError(
            f"{name} has {len(content)} bytes, but its shape asks for {size}"
        )
    if saved.get("order", "F") != "F":
        raise ValueError(f"{name}: order must be 'F', if there is one")
    array = np.frombuffer(content, dtype=dtype).reshape(shape)
    order = saved.get("order", "C")
    return array.astype(array.dtype.newbyteorder("="), order=order)
