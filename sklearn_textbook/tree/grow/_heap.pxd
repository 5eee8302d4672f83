# A binary heap with the smallest entry on top: header-only.

from libc.math cimport floor
from libc.stdint cimport int64_t

from sklearn_textbook.tree.grow._layout cimport Node


# Entries are ordered by key, equal keys by rank.
cdef struct Entry:
    double key
    int64_t rank


cdef inline bint precedes(const Entry* first, const Entry* second) noexcept nogil:
    # Keys that are equal but for rounding are made equal by ``split_key``.
    if first.key != second.key:
        return first.key < second.key
    return first.rank < second.rank


cdef inline void push_entry(
    Entry* heap, Py_ssize_t* size, double key, int64_t rank
) noexcept nogil:
    """Add an entry; the caller has allocated the memory."""
    cdef Py_ssize_t place = size[0], above
    cdef Entry entry
    entry.key = key
    entry.rank = rank
    size[0] += 1
    # The entry rises over larger ones.
    while place > 0:
        above = (place - 1) // 2
        if not precedes(&entry, &heap[above]):
            break
        heap[place] = heap[above]
        place = above
    heap[place] = entry


cdef inline void replace_top(
    Entry* heap, Py_ssize_t size, double key, int64_t rank
) noexcept nogil:
    """Put another entry in the place of the smallest, heap[0]."""
    cdef Py_ssize_t place = 0, below
    cdef Entry entry
    entry.key = key
    entry.rank = rank
    # The entry sinks below smaller ones.
    while True:
        below = 2 * place + 1
        if below >= size:
            break
        if below + 1 < size and precedes(&heap[below + 1], &heap[below]):
            below += 1
        if not precedes(&heap[below], &entry):
            break
        heap[place] = heap[below]
        place = below
    heap[place] = entry


cdef inline void pop_entry(Entry* heap, Py_ssize_t* size) noexcept nogil:
    """Take the smallest entry, heap[0], away."""
    size[0] -= 1
    if size[0] > 0:
        replace_top(heap, size[0], heap[size[0]].key, heap[size[0]].rank)


# Best-first growth. Gains that are equal but for rounding shall be equal: they are
# counted in steps that are small against the whole.
cdef inline double gain_step(const Node* root) noexcept nogil:
    cdef double step = 1e-12 * root.impurity * root.weight
    return step if step > 0.0 else 1.0


cdef inline double split_key(const Node* node, double step) noexcept nogil:
    """The smaller, the more the split of a node gains."""
    return -floor(node.improvement * node.weight / step + 0.5)
