from libc.stdint cimport int16_t, int64_t

from sklearn_textbook.tree.split._histogram cimport NodeSearch, SampledColumn
from sklearn_textbook.tree.split._samples cimport SampleList
from sklearn_textbook.tree.split._sums cimport Sums
from sklearn_textbook.tree.split._types cimport Problem

# The range of a column in a node.
# ``lowest`` and ``highest`` are steps; ``smallest`` and ``largest`` are values, which
# ``find_values`` reads of the samples on these steps.
cdef struct StepRange:
    int64_t n_missing
    int16_t lowest
    int16_t highest
    # a sample on each, and whether it is the only one
    int64_t at_lowest
    int64_t at_highest
    bint is_single_lowest
    bint is_single_highest
    double smallest
    double largest

cdef void describe_targets(
    const Problem* problem, SampleList* samples, NodeSearch* node, const Sums* kind
) noexcept nogil
cdef void read_steps(
    const SampleList* samples, const NodeSearch* node, SampledColumn** columns,
    int64_t n_columns, const Sums* kind
) noexcept nogil
cdef void locate_extremes(
    const SampleList* samples, const NodeSearch* node, const SampledColumn* column,
    StepRange* found, const Sums* kind
) noexcept nogil
cdef bint find_values(
    const SampleList* samples, const NodeSearch* node, SampledColumn* column,
    StepRange* found, const Sums* kind
) noexcept nogil
cdef void try_random_threshold(
    const SampleList* samples, NodeSearch* node, const SampledColumn* column,
    const StepRange* values, const Sums* kind
) noexcept nogil
