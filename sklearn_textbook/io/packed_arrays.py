"""Arrays of numbers in JSON: short ones as lists, others as base64 of their bytes."""

from __future__ import annotations

import base64

import numpy as np

from sklearn_textbook.tree.grow.serialise import read_array

#: Arrays of more entries are written as bytes, which are shorter and read at once.
MOST_LISTED = 16
# Little-endian numbers, whatever the machine.
_DTYPES = ("|i1", "|u1", "<i2", "<u2", "<i4", "<u4", "<i8", "<u8", "<f4", "<f8")


def pack_array(array):
    """Write an array.

    Parameters
    ----------
    array : ndarray of int or float
        The numbers, of any shape.

    Returns
    -------
    packed : list or dict
        A list if it is short and flat and all is finite; else ``dtype``, ``shape`` and
        ``base64``: the bytes in C order, little-endian.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_textbook.io.packed_arrays import pack_array
    >>> pack_array(np.array([1.0, 0.5]))
    [1.0, 0.5]
    >>> pack_array(np.array([[1, 2]], dtype=np.uint8))
    {'dtype': '|u1', 'shape': [1, 2], 'base64': 'AQI='}
    """
    array = np.asarray(array)
    if array.ndim == 1 and len(array) <= MOST_LISTED and np.isfinite(array).all():
        return array.tolist()
    array = np.ascontiguousarray(array, dtype=array.dtype.newbyteorder("<"))
    return {
        "dtype": array.dtype.str,
        "shape": list(array.shape),
        "base64": base64.b64encode(array.tobytes()).decode("ascii"),
    }


def unpack_array(packed, name):
    """Read an array.

    Parameters
    ----------
    packed : object
        What :func:`pack_array` should have written.
    name : str
        Name of the array, for messages.

    Returns
    -------
    array : ndarray
        The numbers: int64 or float64 from a list.

    Raises
    ------
    ValueError
        If it is none.
    """
    if isinstance(packed, list):
        is_whole = all(isinstance(entry, int) for entry in packed)
        return read_array(packed, np.int64 if is_whole else np.float64, name)
    if not isinstance(packed, dict) or packed.keys() != {"dtype", "shape", "base64"}:
        raise ValueError(
            f"{name} must be a list, or an object with dtype, shape and base64"
        )
    dtype, shape, text = packed["dtype"], packed["shape"], packed["base64"]
    if not isinstance(dtype, str) or dtype not in _DTYPES:
        raise ValueError(f"{name}: dtype must be one of {', '.join(_DTYPES)}")
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
    array = np.frombuffer(content, dtype=dtype).reshape(shape)
    return array.astype(array.dtype.newbyteorder("="))
