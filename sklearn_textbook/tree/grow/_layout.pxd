# C twins of the dtypes in layout.py; see there for what every field means.
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
