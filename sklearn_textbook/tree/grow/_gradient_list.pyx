"""Growth from gradient pairs, as boosting needs it: the samples are a list, and what a
node has is summed up for all columns at once.

The histograms of one child are counted, those of the other are what is left of their
parent's. A node that waits keeps its histograms and its best split, and its samples are
partitioned only if the split is made. All sums are integers: see _gradients.pxd.
"""

from libc.math cimport INFINITY, fabs, floor
from libc.stdint cimport uint16_t
from libc.stdlib cimport free, qsort, realloc
from libc.string cimport memcpy, memmove, memset

from sklearn_textbook._contract._threads cimport run_tasks
from sklearn_textbook.tree.grow._buffers cimport reserve
from sklearn_textbook.tree.grow._children cimport Children, write_level_map
from sklearn_textbook.tree.grow._column_sampler cimport (
    ColumnSampler,
    sample_column,
    start_sampling,
)
from sklearn_textbook.tree.split._best cimport breaks_constraint
from sklearn_textbook.tree.split._column cimport midpoint
from sklearn_textbook.tree.split._gradients cimport (
    ADD_PAIR,
    LOAD_PAIR,
    PairVector,
    add_pair,
    decrease_by,
    decrease_of,
    gradient_of,
    hessian_of,
    samples_of,
    step_of_leaf,
    subtract_pair,
)
from sklearn_textbook.tree.split._memory cimport (
    Memory,
    free_memory,
    take_doubles,
    take_memory,
    take_zeros,
)
from sklearn_textbook.tree.split._sums cimport FETCH_AHEAD, PREFETCH
from sklearn_textbook.tree.split._smoothing cimport added_weight
from sklearn_textbook.tree.split._types cimport (
    NOMINAL_COLUMN,
    ORDERED_ROWS,
    SHARED_CELLS,
    smooths_levels,
)

cdef enum:
    UNROLLED = 4  # columns
    BLOCK_ROWS = 8192  # that a thread partitions
    SLOT_CELLS = 8  # cells that take as long to count as a sum to be searched

ctypedef fused SmallCode:
    uint8_t
    uint16_t

# By how much the decrease must be larger to be better; it is about the rounding of a
# sum of squares.
cdef double TIE = 1e-12


# ---------------------------------------------------------------------------- buffers


cdef int start_gradient_list(
    const Problem* problem, GradientList* samples
) noexcept nogil:
    """Allocate for trees over a table that has been set. Returns -1 without memory."""
    cdef:
        int64_t n = samples.n_rows, i, most = samples.most_codes + 1
        GradientScratch* scratch
        Memory* memory = &samples.memory
    samples.rows = <uint32_t*>take_memory(memory, n + FETCH_AHEAD, sizeof(uint32_t))
    samples.spare = <uint32_t*>take_memory(memory, n, sizeof(uint32_t))
    samples.parts = <int64_t*>take_memory(
        memory, n // BLOCK_ROWS + 2, sizeof(int64_t)
    )
    samples.found = <GradientSplit*>take_zeros(
        memory, 2 * samples.n_columns, sizeof(GradientSplit)
    )
    samples.columns = <int32_t*>take_memory(
        memory, 2 * samples.n_columns, sizeof(int32_t)
    )
    samples.scratch = <GradientScratch*>take_zeros(
        memory, samples.n_threads, sizeof(GradientScratch)
    )
    if memory.is_short:
        return -1
    memset(samples.rows + n, 0, FETCH_AHEAD * sizeof(uint32_t))
    for i in range(samples.n_threads):
        scratch = &samples.scratch[i]
        scratch.gradients = take_doubles(memory, most)
        scratch.hessians = take_doubles(memory, most)
        scratch.scores = take_doubles(memory, most)
        if problem.any_nominal:
            scratch.levels = <Keyed*>take_memory(memory, most, sizeof(Keyed))
    return -1 if memory.is_short else 0


cdef void free_gradient_list(GradientList* samples) noexcept nogil:
    free_memory(&samples.memory)
    free(samples.place)
    free(samples.waiting)
    free(samples.unused)
    memset(samples, 0, sizeof(GradientList))


cdef void forget_waiting(GradientList* samples) noexcept nogil:
    """Take back all histograms, for the next tree."""
    if samples.n_waiting > 0:
        memcpy(
            samples.unused, samples.waiting, samples.n_waiting * sizeof(WaitingNode*)
        )
    samples.n_unused = samples.n_waiting


cdef void release_waiting(GradientList* samples, void* waiting) noexcept nogil:
    """Take the histograms of a node back."""
    if waiting != NULL:
        samples.unused[samples.n_unused] = <WaitingNode*>waiting
        samples.n_unused += 1


cdef WaitingNode* take_waiting(GradientList* samples) noexcept nogil:
    """Take histograms that are not in use; NULL when memory runs out."""
    cdef:
        WaitingNode* node
        int64_t n = samples.n_waiting, size = samples.start[samples.n_columns]
        void* longer
    if samples.n_unused > 0:
        samples.n_unused -= 1
        return samples.unused[samples.n_unused]
    longer = realloc(samples.waiting, (n + 1) * sizeof(WaitingNode*))
    if longer == NULL:
        return NULL
    samples.waiting = <WaitingNode**>longer
    longer = realloc(samples.unused, (n + 1) * sizeof(WaitingNode*))
    if longer == NULL:
        return NULL
    samples.unused = <WaitingNode**>longer
    node = <WaitingNode*>take_memory(&samples.memory, 1, sizeof(WaitingNode))
    if node == NULL:
        return NULL
    node.histogram = <GradientPair*>take_memory(
        &samples.memory, size * sizeof(GradientPair) + samples.most_codes, 1
    )
    if node.histogram == NULL:
        return NULL
    node.child_of_code = <uint8_t*>(node.histogram + size)
    samples.waiting[n] = node
    samples.n_waiting += 1
    return node


# ------------------------------------------------------------------------- the parts


include "_gradient_histograms.pxi"
include "_gradient_search.pxi"
include "_gradient_children.pxi"
