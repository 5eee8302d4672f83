# The columns that a node tries: all that are not constant, or some sampled without
# replacement. Constant columns count as sampled, but sampling goes on until one column
# varies.

from libc.stdint cimport int32_t, int64_t, uint16_t, uint64_t, uint8_t
from libc.string cimport memset

from sklearn_textbook.tree.grow._buffers cimport Frame
from sklearn_textbook.tree.grow._workers cimport Worker
from sklearn_textbook.tree.split._random cimport (
    child_state,
    random_below,
    random_below_known,
)
from sklearn_textbook.tree.split._types cimport Problem

cdef struct ColumnSampler:
    uint64_t random_state
    int64_t place  # of the next column
    int64_t n_found  # that are not constant
    int64_t n_waiting  # sampled, but not known yet to be constant or not
    bint any_constant

# A bit for every column that is not known to be constant, of tables of few columns.
cdef enum:
    COLUMN_WORDS = 16

cdef struct ColumnSet:
    uint64_t[COLUMN_WORDS] words

ctypedef fused ActiveColumns:
    uint8_t  # of each column
    ColumnSet

ctypedef fused ColumnNumber:
    int32_t
    uint16_t

cdef inline void start_sampler(
    uint64_t random_state, ColumnSampler* sampler
) noexcept nogil:
    # Columns are drawn from a seed of their own, so that thresholds do not depend on
    # how many are drawn.
    memset(sampler, 0, sizeof(ColumnSampler))
    sampler.random_state = child_state(random_state, 7)

cdef inline int32_t draw_column(
    const Problem* problem, const ActiveColumns* active, ColumnNumber* order,
    const uint64_t* reciprocals, ColumnSampler* sampler
) noexcept nogil:
    # The next column that is not known to be constant, or -1 when there are enough.
    # Reciprocals of the numbers from 0 on save divisions.
    cdef:
        int64_t j, n_left
        int32_t number
    while sampler.place < problem.n_columns:
        number = order[sampler.place]
        # Fisher-Yates: the next place takes one of the columns left, which are in
        # order[place:] afterwards.
        if problem.shuffle_columns:
            # Enough were drawn, and one of them varies, or may.
            if sampler.place >= problem.max_features and (
                sampler.n_found + sampler.n_waiting >= 1
            ):
                return -1
            n_left = problem.n_columns - sampler.place
            if ColumnNumber is uint16_t:
                j = sampler.place + random_below_known(
                    &sampler.random_state, n_left, reciprocals[n_left]
                )
            else:
                j = sampler.place + random_below(&sampler.random_state, n_left)
            number = order[j]
            order[j] = order[sampler.place]
        sampler.place += 1
        if ActiveColumns is ColumnSet:
            if active.words[number >> 6] >> (number & 63) & 1:
                return number
        elif active[number]:
            return number
    return -1

cdef inline void start_sampling(
    const Problem* problem, Worker* worker, const Frame* frame, ColumnSampler* sampler
) noexcept nogil:
    # Mark the columns of the node, and put all columns into order.
    cdef int64_t i
    start_sampler(frame.random_state, sampler)
    memset(worker.is_active, 0, problem.n_columns)
    for i in range(frame.n_active):
        worker.is_active[worker.active[i]] = 1
    for i in range(problem.n_columns):
        worker.order[i] = <int32_t>i

cdef inline int32_t sample_column(
    const Problem* problem, Worker* worker, ColumnSampler* sampler
) noexcept nogil:
    # The next column of the node, or -1.
    return draw_column(problem, worker.is_active, worker.order, NULL, sampler)

cdef inline void note_constant(
    Worker* worker, int32_t number, ColumnSampler* sampler
) noexcept nogil:
    # The column that was drawn turned out to be constant in the node.
    worker.is_active[number] = 0
    sampler.any_constant = True

cdef inline void finish_sampling(
    Worker* worker, Frame* frame, const ColumnSampler* sampler
) noexcept nogil:
    # Columns found to be constant are left out in all nodes below.
    cdef:
        int32_t* active = worker.active
        int32_t n_active = 0
        int64_t i
    if not sampler.any_constant:
        return
    for i in range(frame.n_active):
        active[n_active] = active[i]
        n_active += worker.is_active[active[i]]
    frame.n_active = n_active
