# cython: language_level=3
"""Class probabilities and expected features, and the step of every weight;
:mod:`expectation` and :mod:`iterative_scaling` have the documents.

Rows are divided into blocks that do not depend on the number of threads, and every
block has sums of its own, which are added in the order of the blocks.
"""

from libc.math cimport exp, log
from libc.stdint cimport int32_t, int64_t, uint64_t
from libc.string cimport memcpy

from sklearn_textbook._contract._threads cimport run_in_threads
from sklearn_textbook.linear_model.maximum_entropy._step cimport Terms, solve

cdef uint64_t FIRST_MULTIPLIER = 0x9E3779B97F4A7C15
cdef uint64_t SECOND_MULTIPLIER = 0xC2B2AE3D27D4EB4F


cdef struct Rows:
    # Entries of all rows, one by one; columns is NULL if all are stored.
    const double* values
    const int32_t* columns
    const int64_t* starts
    bint is_joint  # a row for every class of a context, or one row for all classes
    int64_t n_classes


cdef Rows hold_rows(
    const double[::1] values, const int32_t[::1] columns, const int64_t[::1] starts,
    bint is_joint, int64_t n_classes,
) noexcept nogil:
    """Pointers to the entries, which the caller holds."""
    cdef Rows rows
    rows.values = &values[0] if values.shape[0] else NULL
    rows.columns = &columns[0] if columns.shape[0] else NULL
    rows.starts = &starts[0]
    rows.is_joint = is_joint
    rows.n_classes = n_classes
    return rows


cdef struct Blocks:
    # Blocks of contexts that threads share; NULL for arrays without entries.
    Rows rows
    int64_t n_contexts
    int64_t n_blocks
    const double* weights
    int64_t n_features
    const double* context_weight
    const double* counts
    const int32_t* bucket
    bint is_given
    double* probabilities
    double* block_loss
    double* block_sums
    int64_t n_sums


def sum_expectations(
    const double[::1] values,
    const int32_t[::1] columns,
    const int64_t[::1] starts,
    bint is_joint,
    const double[::1] weights,
    const double[::1] context_weight,
    const double[:, ::1] counts,
    const int32_t[::1] bucket,
    bint is_given,
    double[:, ::1] probabilities,
    double[::1] block_loss,
    double[:, ::1] block_sums,
    int n_threads,
):
    """Fill in probabilities, and the sums of each block of contexts.

    With ``is_given`` the probabilities are not changed. ``block_sums`` without columns:
    no sums. ``bucket`` without entries: all in the first.
    """
    cdef Blocks blocks = Blocks(
        hold_rows(values, columns, starts, is_joint, probabilities.shape[1]),
        probabilities.shape[0], block_loss.shape[0], NULL, weights.shape[0],
        &context_weight[0], NULL, NULL, is_given, &probabilities[0, 0], &block_loss[0],
        NULL, block_sums.shape[1],
    )
    if weights.shape[0]:
        blocks.weights = &weights[0]
    if counts.shape[0]:
        blocks.counts = &counts[0, 0]
    if bucket.shape[0]:
        blocks.bucket = &bucket[0]
    if block_sums.shape[1]:
        blocks.block_sums = &block_sums[0, 0]
    run_in_threads(n_threads, sum_block, &blocks, blocks.n_blocks)


cdef void sum_block(void* context, int64_t block, int thread) noexcept nogil:
    """Loss of a block of contexts; adds the expectations of their features."""
    cdef const Blocks* blocks = <Blocks*> context
    cdef const Rows* rows = &blocks.rows
    cdef int64_t i, k, n_classes = rows.n_classes
    cdef int64_t start = blocks.n_contexts * block // blocks.n_blocks
    cdef int64_t stop = blocks.n_contexts * (block + 1) // blocks.n_blocks
    cdef const double* counts = NULL
    cdef double* sums = blocks.block_sums + block * blocks.n_sums
    cdef double* fractions
    cdef double weight, loss = 0.0
    for i in range(start, stop):
        # Scores are written where the probabilities will be, so a context needs no
        # other memory.
        fractions = blocks.probabilities + i * n_classes
        weight = blocks.context_weight[i]
        if not blocks.is_given:
            if rows.is_joint:
                score_joint(rows, i, blocks.weights, fractions)
            else:
                score_shared(rows, i, blocks.weights, fractions)
            if blocks.counts != NULL:
                counts = blocks.counts + i * n_classes
            loss += take_fractions(fractions, n_classes, weight, counts)
        if blocks.block_sums == NULL:
            continue
        if rows.is_joint:
            add_joint(
                rows, i, weight, fractions, blocks.bucket, blocks.n_features, sums
            )
        else:
            # One size f# for all classes of a context, as every class has the same
            # entries.
            k = blocks.bucket[i] if blocks.bucket != NULL else 0
            add_shared(rows, i, weight, fractions, sums + k * blocks.n_features)
    blocks.block_loss[block] = loss


cdef inline void score_shared(
    const Rows* rows, int64_t i, const double* weights, double* scores
) noexcept nogil:
    """scores[k] = sum over columns c of z_c weights[c, k], of a context with one row of
    entries for all classes."""
    cdef int64_t entry, k, start = rows.starts[i], n_classes = rows.n_classes
    cdef const double* of_column
    cdef double value
    for k in range(n_classes):
        scores[k] = 0.0
    for entry in range(start, rows.starts[i + 1]):
        value = rows.values[entry]
        if rows.columns != NULL:
            of_column = weights + rows.columns[entry] * n_classes
        else:
            of_column = weights + (entry - start) * n_classes
        for k in range(n_classes):
            scores[k] += value * of_column[k]


cdef inline void score_joint(
    const Rows* rows, int64_t i, const double* weights, double* scores
) noexcept nogil:
    """scores[k] = sum over j of weights[j] f_j, of a context with a row of entries for
    each class."""
    cdef int64_t entry, k, row, start, n_classes = rows.n_classes
    cdef double score
    for k in range(n_classes):
        row = i * n_classes + k
        start = rows.starts[row]
        score = 0.0
        for entry in range(start, rows.starts[row + 1]):
            if rows.columns != NULL:
                score += rows.values[entry] * weights[rows.columns[entry]]
            else:
                score += rows.values[entry] * weights[entry - start]
        scores[k] = score


cdef inline double take_fractions(
    double* scores, int64_t n_classes, double context_weight, const double* counts
) noexcept nogil:
    """Convert scores to probabilities; return their loss for the class counts.

    Without counts the loss is the weight times the logarithm of the sum Z.
    """
    cdef int64_t k
    cdef double largest = scores[0], total = 0.0, picked = 0.0, counted = 0.0, log_total
    for k in range(1, n_classes):
        if scores[k] > largest:
            largest = scores[k]
    if counts != NULL:
        for k in range(n_classes):
            if counts[k] > 0.0:
                counted += counts[k]
                picked += counts[k] * (scores[k] - largest)
    for k in range(n_classes):
        # The largest score is taken out of exponentials and loss alike: nothing
        # overflows.
        scores[k] = exp(scores[k] - largest)
        total += scores[k]
    log_total = log(total)
    for k in range(n_classes):
        scores[k] /= total
    if counts == NULL:
        return context_weight * (largest + log_total)
    return counted * log_total - picked


cdef inline void add_shared(
    const Rows* rows, int64_t i, double context_weight, const double* fractions,
    double* sums,
) noexcept nogil:
    """sums[c, k] += context_weight P(k) z_c."""
    cdef int64_t entry, k, start = rows.starts[i], n_classes = rows.n_classes
    cdef double* of_column
    cdef double value
    for entry in range(start, rows.starts[i + 1]):
        value = rows.values[entry] * context_weight
        if rows.columns != NULL:
            of_column = sums + rows.columns[entry] * n_classes
        else:
            of_column = sums + (entry - start) * n_classes
        for k in range(n_classes):
            of_column[k] += value * fractions[k]


cdef inline void add_joint(
    const Rows* rows, int64_t i, double context_weight, const double* fractions,
    const int32_t* bucket, int64_t n_features, double* sums,
) noexcept nogil:
    """sums[b, j] += context_weight P(k) f_j for the row of every class k; b is the
    bucket of that row, 0 without buckets."""
    cdef int64_t entry, k, row, start, n_classes = rows.n_classes
    cdef double fraction
    cdef double* of_bucket
    for k in range(n_classes):
        row = i * n_classes + k
        start = rows.starts[row]
        fraction = context_weight * fractions[k]
        of_bucket = sums
        if bucket != NULL:
            of_bucket = sums + bucket[row] * n_features
        for entry in range(start, rows.starts[row + 1]):
            if rows.columns != NULL:
                of_bucket[rows.columns[entry]] += fraction * rows.values[entry]
            else:
                of_bucket[entry - start] += fraction * rows.values[entry]


def hash_contexts(
    const double[::1] values,
    const int32_t[::1] columns,
    const int64_t[::1] starts,
    int64_t n_rows_per_context,
    uint64_t[::1] hashes,
    int n_threads,
):
    """Compute a hash for every context; equal contexts have equal hashes."""
    cdef Hashing hashing = Hashing(
        hold_rows(values, columns, starts, False, 1), n_rows_per_context,
        hashes.shape[0], &hashes[0],
    )
    run_in_threads(
        n_threads, hash_block, &hashing, (hashes.shape[0] + N_HASHED - 1) // N_HASHED
    )


cdef enum:
    N_HASHED = 64  # contexts that a thread takes at a time


cdef struct Hashing:
    Rows rows
    int64_t n_rows_per_context
    int64_t n_contexts
    uint64_t* hashes


cdef void hash_block(void* context, int64_t block, int thread) noexcept nogil:
    """Hash a block of contexts."""
    cdef const Hashing* hashing = <Hashing*> context
    cdef int64_t i, first = block * N_HASHED
    for i in range(first, min(hashing.n_contexts, first + N_HASHED)):
        hashing.hashes[i] = hash_context(
            &hashing.rows, i, hashing.n_rows_per_context
        )


cdef uint64_t hash_context(
    const Rows* rows, int64_t i, int64_t n_rows_per_context
) noexcept nogil:
    """Hash numbers and columns of all rows of a context, and how many there are in
    each."""
    cdef int64_t row, entry, first = i * n_rows_per_context
    cdef uint64_t bits, state = 0
    cdef double value
    for row in range(first, first + n_rows_per_context):
        bits = <uint64_t>(rows.starts[row + 1] - rows.starts[row])
        state = mix(state, bits)
        for entry in range(rows.starts[row], rows.starts[row + 1]):
            value = rows.values[entry] + 0.0  # -0.0 equals 0.0
            memcpy(&bits, &value, sizeof(bits))
            state = mix(state, bits)
            if rows.columns != NULL:
                state = mix(state, <uint64_t>rows.columns[entry])
    return state


cdef inline uint64_t mix(uint64_t state, uint64_t bits) noexcept nogil:
    """Update a hash by 64 bits: products mix bits upwards, shifts downwards."""
    state = (state ^ bits) * FIRST_MULTIPLIER
    state ^= state >> 29
    state *= SECOND_MULTIPLIER
    return state ^ (state >> 32)


def are_equal_contexts(
    const double[::1] values,
    const int32_t[::1] columns,
    const int64_t[::1] starts,
    int64_t n_rows_per_context,
    const int64_t[::1] leader,
):
    """Whether every context has the same entries as the leader of its group."""
    cdef int64_t i, n_contexts = leader.shape[0]
    cdef Rows rows = hold_rows(values, columns, starts, False, 1)
    cdef bint is_equal = True
    with nogil:
        for i in range(n_contexts):
            if leader[i] != i and not equals(&rows, i, leader[i], n_rows_per_context):
                is_equal = False
                break
    return is_equal


cdef bint equals(
    const Rows* rows, int64_t one, int64_t other, int64_t n_rows_per_context
) noexcept nogil:
    """Whether two contexts have the same entries, row by row; -0.0 equals 0.0, as in
    hash_context."""
    cdef int64_t row, entry, place, n_entries
    for row in range(n_rows_per_context):
        entry = rows.starts[one * n_rows_per_context + row]
        n_entries = rows.starts[one * n_rows_per_context + row + 1] - entry
        place = rows.starts[other * n_rows_per_context + row]
        if rows.starts[other * n_rows_per_context + row + 1] - place != n_entries:
            return False
        while n_entries:
            if rows.values[entry] != rows.values[place]:
                return False
            if rows.columns != NULL and rows.columns[entry] != rows.columns[place]:
                return False
            entry += 1
            place += 1
            n_entries -= 1
    return True


# -------------------------------------------------------------------- iterative scaling
cdef struct Equations:
    # Features that threads share: arrays as the two functions below have them.
    const double* amounts
    const double* sizes
    int64_t n_sizes
    int64_t n_features
    # entries instead of buckets
    const int32_t* places
    const int64_t* starts
    const double* fractions
    int64_t n_blocks
    const double* empirical
    const double* penalty
    const double* weights
    double* steps
    double floor


cdef inline double solve_feature(
    const Equations* work, int64_t j, Terms* terms
) noexcept nogil:
    """The step of weight j, see `solve`."""
    return solve(
        terms, work.empirical[j], work.penalty[j], work.weights[j], work.floor
    )


def find_bucket_steps(
    const double[:, ::1] amounts,
    const double[::1] sizes,
    const double[::1] empirical,
    const double[::1] penalty,
    const double[::1] weights,
    double[::1] steps,
    double floor,
    int n_threads,
):
    """Fill in the steps from sums over all terms of each size."""
    cdef Equations work
    if steps.shape[0] == 0:
        return
    work = Equations(
        &amounts[0, 0], &sizes[0], sizes.shape[0], steps.shape[0], NULL, NULL, NULL, 0,
        &empirical[0], &penalty[0], &weights[0], &steps[0], floor,
    )
    run_in_threads(n_threads, find_bucket_step, &work, steps.shape[0])


cdef void find_bucket_step(void* context, int64_t j, int thread) noexcept nogil:
    """The step of weight j from its sums: column j of ``amounts``, a row for each
    size."""
    cdef const Equations* work = <Equations*> context
    cdef Terms terms
    terms.amounts = work.amounts + j
    terms.sizes = work.sizes
    terms.fractions = NULL
    terms.places = NULL
    terms.n_terms = work.n_sizes
    terms.stride = work.n_features
    terms.size_stride = 1
    terms.offset = 0
    work.steps[j] = solve_feature(work, j, &terms)


def find_entry_steps(
    const double[::1] values,
    const int32_t[::1] places,
    const int64_t[::1] starts,
    const double[::1] sizes,
    const double[::1] fractions,
    int64_t n_blocks,
    const double[::1] empirical,
    const double[::1] penalty,
    const double[::1] weights,
    double[::1] steps,
    double floor,
    int n_threads,
):
    """Fill in the steps from the entries of each column, with a size per row.

    Column j // n_blocks has feature j; the fraction of a row for it is entry
    ``row * n_blocks + j % n_blocks``.
    """
    cdef Equations work
    if steps.shape[0] == 0:
        return
    work = Equations(
        &values[0], &sizes[0], 0, 0, &places[0], &starts[0], &fractions[0], n_blocks,
        &empirical[0], &penalty[0], &weights[0], &steps[0], floor,
    )
    run_in_threads(n_threads, find_entry_step, &work, steps.shape[0])


cdef void find_entry_step(void* context, int64_t j, int thread) noexcept nogil:
    """The step of weight j from the entries of its column, in the order of the rows."""
    cdef const Equations* work = <Equations*> context
    cdef int64_t start = work.starts[j // work.n_blocks]
    cdef Terms terms
    terms.amounts = work.amounts + start
    terms.places = work.places + start
    terms.sizes = work.sizes
    terms.fractions = work.fractions
    terms.n_terms = work.starts[j // work.n_blocks + 1] - start
    terms.stride = 1
    terms.size_stride = work.n_blocks
    terms.offset = j % work.n_blocks
    work.steps[j] = solve_feature(work, j, &terms)
