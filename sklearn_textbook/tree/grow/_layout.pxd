# C structs of the dtypes in layout.py; see there for what every field means.
# align=True on the numpy side gives C's own padding, so the structs are plain.

from libc.stdint cimport int32_t, int64_t

cdef enum NodeKind:
    LEAF = 0
    NUMERIC = 1
    ORDINAL = 2
    NOMINAL = 3
    OBLIQUE = 4

cdef enum MissingBranch:
    STAY = -1
    FRACTIONAL = -2

cdef enum:
    DENSE_MAP = -1

cdef struct Node:
    int32_t first_child
    int32_t n_children
    int32_t feature
    int32_t missing_branch
    int32_t kind
    int32_t parent
    int64_t map_start
    double threshold
    double impurity
    double improvement
    int64_t n_samples
    double weight

cdef struct Surrogate:
    int32_t node
    int32_t feature
    int32_t kind
    int32_t low_branch
    int64_t map_start
    double threshold
    double agreement
    double adjusted_agreement
    int64_t n_used


cdef struct Term:
    int32_t node
    int32_t feature
    int32_t level
    float fraction
    double weight
    double fill


cdef inline int32_t find_level_child(
    const int32_t* level_map, int64_t level
) noexcept nogil:
    """Child number of a level, or -1; ``level`` must be one of the column's codes.
    The two forms of a map stand in level_map.py."""
    cdef int64_t n_pairs = level_map[0], low = 0, high = n_pairs, middle
    cdef const int32_t* codes = level_map + 1
    if n_pairs == DENSE_MAP:
        return codes[level]
    while low < high:
        middle = (low + high) // 2
        if codes[middle] < level:
            low = middle + 1
        else:
            high = middle
    if low < n_pairs and codes[low] == level:
        return codes[n_pairs + low]
    return -1
