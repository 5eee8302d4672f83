from libc.stdint cimport int64_t

from sklearn_textbook.tree.split._types cimport Problem

cdef inline bint must_be_leaf(
    const Problem* problem, int64_t n_rows, double weight, int64_t depth, bint pure
) noexcept nogil:
    # All of it is compared, since branches on purity are mispredicted.
    return (
        pure
        | (depth >= problem.max_depth)
        | (n_rows < problem.min_samples_split)
        | (n_rows < 2 * problem.min_samples_leaf)
        | (weight < 2 * problem.min_weight_leaf)
    )
