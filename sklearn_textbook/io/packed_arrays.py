"""Arrays of numbers in JSON: short ones as lists, others as base64 of their bytes."""

from __future__ import annotations

import base64

import numpy as np

from sklearn_textbook.tree.grow.serialise import read_array

#: Arrays of more entries are written as bytes, which are shorter and read at once.
MAX_LISTED = 16
#: Little-endian numbers on all machines.
DTYPES = ("|i1", "|u1", "<i2", "<u2", "<i4", "<u4", "<i8", "<u8", "<f4", "<f8")


def pack_array(array):
    """Write an array.

    Parameters
    ----------
    array : ndarray of int or float
        The numbers, of any shape.

    Returns
    -------
    packed : list or dict
        A list if the array is short, one-dimensional and finite; else ``dtype``,
        ``shape`` and ``base64``: the bytes in C order, little-endian.

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
    if array.ndim == 1 and len(array) <= MAX_LISTED and np.isfinite(array).all():
        return array.tolist()
    return _pack_bytes(np.ascontiguousarray(array, dtype=array.dtype.newbyteorder("<")))


def _pack_bytes(array):
    return {
        "dtype": array.dtype.str,
        "shape": list(array.shape),
        "base64": base64.b64encode(array.tobytes()).decode("ascii"),
    }


def pack_floats(array):
    """Write an array of floats with its precision and memory layout.

    Products of matrices may differ in the last bit between row-major and column-major
    arrays.

    Parameters
    ----------
    array : ndarray of float
        The numbers, of any shape but ().

    Returns
    -------
    packed : list or dict
        A list, or a list of rows, if it is small and of double precision; else as
        :func:`pack_array` writes it, with ``"order": "F"`` for column-major arrays.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_textbook.io.packed_arrays import pack_floats
    >>> pack_floats(np.eye(2))
    [[1.0, 0.0], [0.0, 1.0]]
    >>> pack_floats(np.float32([0.5]))
    {'dtype': '<f4', 'shape': [1], 'base64': 'AAAAPw=='}
    """
    array = np.asarray(array)
    if array.dtype != np.float32:
        array = array.astype(np.float64, copy=False)
    is_small = 0 < array.size <= MAX_LISTED and array.ndim <= 2
    by_columns = array.flags.f_contiguous and not array.flags.c_contiguous
    is_plain = array.dtype == np.float64 and not by_columns
    if is_small and is_plain and np.isfinite(array).all():
        return array.tolist()
    array = np.ascontiguousarray(array, dtype=array.dtype.newbyteorder("<"))
    packed = _pack_bytes(array)
    return {**packed, "order": "F"} if by_columns else packed


def unpack_array(packed, name):
    """Read an array.

    Parameters
    ----------
    packed : object
        Object as :func:`pack_array` or :func:`pack_floats` writes it.
    name : str
        Name of the array, for messages.

    Returns
    -------
    array : ndarray
        The numbers: int64 or float64 from a list, float64 from a list of lists.

    Raises
    ------
    ValueError
        If it is not an array.
    """
    if isinstance(packed, list):
        if packed and isinstance(packed[0], list):
            return read_array(packed, np.float64, name, 2)
        is_whole = all(isinstance(entry, int) for entry in packed)
        return read_array(packed, np.int64 if is_whole else np.float64, name)
    is_object = isinstance(packed, dict)
    if not is_object or packed.keys() - {"order"} != {"dtype", "shape", "base64"}:
        raise ValueError(
            f"{name} must be a list, or an object with dtype, shape and base64"
        )
    dtype, shape, text = packed["dtype"], packed["shape"], packed["base64"]
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
    if packed.get("order", "F") != "F":
        raise ValueError(f"{name}: order must be 'F', if there is one")
    array = np.frombuffer(content, dtype=dtype).reshape(shape)
    order = packed.get("order", "C")
    return array.astype(array.dtype.newbyteorder("="), order=order)
