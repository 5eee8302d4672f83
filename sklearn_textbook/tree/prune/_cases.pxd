# Cases, and how a test divides them among its branches; _cases.pyx has the rest.

from libc.stdint cimport int32_t, int64_t

from sklearn_textbook.tree.grow._layout cimport FRACTIONAL, Node, Surrogate
from sklearn_textbook.tree.split._types cimport Codes


# A row, or the part of a row that reaches a node.
cdef struct Case:
    double weight
    int32_t row
    int32_t label


# What a child of the node that was divided gets.
cdef struct Branch:
    # its cases whose value is present: where they start, and how many
    int64_t start
    int64_t n_known
    # the part of every case whose value is missing; no meaning without such cases
    double share


# The training table and what tests need to read it; strides are in bytes.
cdef struct Table:
    const char* start
    Py_ssize_t row_stride
    Py_ssize_t column_stride
    # whether entries are float32 instead of float64
    bint is_single
    const int32_t* level_branch
    const int64_t* n_levels
    # level codes of nominal columns; start is NULL where there are none
    Codes codes
    # the nodes of the grown tree, to which tests belong
    const Node* nodes
    # stand-in tests; those of node i are surrogate_start[i] to surrogate_start[i + 1];
    # NULL if the tree has none
    const Surrogate* surrogates
    const int64_t* surrogate_start
    # where levels without a branch go, STAY or FRACTIONAL, unless missing values are
    # divided: then they are, too
    int32_t unseen_branch


# A stack of cases, and a buffer to sort them in.
cdef struct Stack:
    Case* cases
    int64_t top
    int64_t capacity
    # as many cases as there are rows
    Case* scratch
    int32_t* branch_of


cdef int push_cases(
    Stack* stack, const Stack* source, int64_t start, int64_t n, double share
) noexcept nogil
cdef int64_t count_missing(
    const Table* table, const Node* test, const Case* cases, int64_t n
) noexcept nogil
cdef int64_t divide_cases(
    const Table* table, const Node* test, Stack* stack, int64_t start, int64_t n,
    Branch* branches, int64_t* n_staying, int32_t* last
) noexcept nogil


cdef inline bint divides_missing(const Table* table, const Node* test) noexcept nogil:
    """Whether all cases that the test cannot place go to all branches, as in C4.5."""
    return test.missing_branch == FRACTIONAL and table.surrogate_start == NULL


cdef inline bint is_sent(const Branch* branch, int64_t n_missing) noexcept nogil:
    """Whether the branch gets a part of the cases whose value is missing."""
    return n_missing > 0 and branch.share > 1e-6
