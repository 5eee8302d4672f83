from libc.stdint cimport int64_t, uint8_t

from sklearn_textbook._contract._threads cimport ThreadTeam
from sklearn_textbook.tree.grow._buffers cimport Frame
from sklearn_textbook.tree.grow._layout cimport Node
from sklearn_textbook.tree.grow._children cimport Children
from sklearn_textbook.tree.grow._workers cimport Arena, Worker
from sklearn_textbook.tree.split._types cimport Entry, Problem, Split

cdef inline bint must_be_leaf(
    const Problem* problem, int64_t n_rows, double weight, int64_t depth, bint pure
) noexcept nogil:
    # All of it is compared: nobody guesses which nodes are pure.
    return (
        pure
        | (depth >= problem.max_depth)
        | (n_rows < problem.min_samples_split)
        | (n_rows < 2 * problem.min_samples_leaf)
        | (weight < 2 * problem.min_weight_leaf)
    )

cdef double improvement_of(
    const Problem* problem, const Node* node, const Children* children,
    const Split* split
) noexcept nogil
cdef int create_children(
    const Problem* problem, Worker* worker, const Frame* frame
) noexcept nogil
cdef int push_children(
    const Problem* problem, Worker* worker, const Frame* frame, const Split* split,
    int first, const uint8_t* is_leaf
) noexcept nogil
cdef int expand_node(
    const Problem* problem, Arena* arena, Worker* worker, Worker* all_workers,
    ThreadTeam* team, Frame* frame, Entry* entries
) noexcept nogil
