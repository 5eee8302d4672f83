"""The samples of a node as a list: reading the codes of the columns that are tried, and
copying those of a subtree.

Only the list is partitioned at a node. The codes stay where they are, but a subtree of
few samples works on a copy that stays in the cache.
"""

from libc.math cimport INFINITY, log
from libc.stdlib cimport free, malloc
from libc.string cimport memcpy, memset

from sklearn_textbook.tree.grow._partition_list cimport list_permutations
from sklearn_textbook.tree.split._sort_keys cimport sort_by_digits
from sklearn_textbook.tree.split._steps cimport (
    HIGHEST_STEP,
    MISSING_STEP,
    N_STEPS,
    separates_all,
    step_of,
)
from sklearn_textbook.tree.split._sums cimport (
    BIN_GAP,
    FETCH_AHEAD,
    MAX_BINS,
    MAX_VALUE_BINS,
    PREFETCH,
    TILE_COLUMNS,
    BinaryCounts,
    class_of,
    number_of,
    ones_in,
    renumber,
    weight_in,
    whole_weight_of,
)
from sklearn_textbook.tree.split._types cimport POISSON


cdef enum:
    LOCAL_BYTES = 786432  # codes and bins that stay in the cache of one core
    MAX_LOCAL_ROWS = 16384
    BLOCK_ROWS = 16  # of any width they fill whole vector registers
    CROWDED = 8  # samples for each step, from which on a column gets smaller steps

ctypedef fused Cell:
    uint8_t  # bins
    int16_t  # steps

ctypedef fused Rank:
    uint8_t
    uint16_t
    uint32_t


# ---------------------------------------------------------------------------- buffers


cdef int start_sample_list(
    const Problem* problem, SampleList* samples, int64_t n_rows,
    const SampleList* lender
) noexcept nogil:
    """Allocate for nodes of up to n_rows samples, after the table has been set; the
    list itself may be that of another thread. Returns -1 without memory."""
    cdef:
        int64_t n_columns = problem.n_columns, n_slots = problem.max_features
        int64_t size = samples.table.code_size, width, n_outputs = problem.n_outputs
        int64_t n_tiles = (n_slots + 1) * TILE_COLUMNS, i
        Rows* rows = &samples.node_rows
    samples.n_outputs = n_outputs
    samples.n_samples = n_rows
    width = n_columns * (
        <int64_t>sizeof(int16_t) if problem.random_splitter else size + 1
    )
    # A copy of more than a third of the table saves nothing.
    samples.local_rows = min(
        samples.table.n_rows // 3, MAX_LOCAL_ROWS, LOCAL_BYTES // width
    )
    if lender != NULL:
        samples.is_lent = True
        samples.entries = lender.entries
        samples.logarithm = lender.logarithm
    else:
        samples.entries = <uint64_t*>malloc((n_rows + FETCH_AHEAD) * sizeof(uint64_t))
    samples.keys = <uint64_t*>malloc((n_rows + 1) * sizeof(uint64_t))
    # Or flags, which are read 64 at a time.
    samples.spare = <uint64_t*>malloc((n_rows + 64) * sizeof(uint64_t))
    samples.gathered = <uint32_t*>malloc(
        (n_slots + TILE_COLUMNS) * n_rows * sizeof(uint32_t)
    )
    samples.child = <uint8_t*>malloc(n_rows)
    samples.tile_bins = <uint8_t*>malloc(n_tiles * n_rows)
    samples.may_win = <uint8_t*>malloc(MAX_BINS)
    # Codes and bins, or steps.
    samples.local_codes = malloc(samples.local_rows * width + 1)
    samples.local_bins = <uint8_t*>samples.local_codes + (
        samples.local_rows * n_columns * size
    )
    samples.local_steps = <int16_t*>samples.local_codes
    samples.local_spans = <Span*>malloc(n_columns * sizeof(Span))
    samples.local_scales = <Scale*>malloc(n_columns * sizeof(Scale))
    samples.local_y = <double*>malloc((samples.local_rows + 1) * sizeof(double))
    samples.local_weight = <double*>malloc((samples.local_rows + 1) * sizeof(double))
    samples.local_logarithm = <double*>malloc(
        (samples.local_rows + 1) * sizeof(double)
    )
    samples.local_row = <uint32_t*>malloc(
        (samples.local_rows + 1) * sizeof(uint32_t)
    )
    samples.smallest = malloc(3 * BLOCK_ROWS * n_columns * sizeof(int16_t))
    samples.amounts = NULL
    if samples.kind == LIST_MOMENTS:
        samples.amounts = <Moments*>malloc(n_rows * sizeof(Moments))
    rows.label = <const int32_t*>malloc(n_rows * n_outputs * sizeof(int32_t))
    rows.y = <const double*>malloc(n_rows * n_outputs * sizeof(double))
    rows.weight = <const double*>malloc(n_rows * sizeof(double))
    if (
        samples.entries == NULL or samples.keys == NULL or samples.spare == NULL
        or samples.gathered == NULL or samples.child == NULL
        or samples.tile_bins == NULL or samples.may_win == NULL
        or samples.local_codes == NULL
        or samples.local_spans == NULL or samples.local_scales == NULL
        or samples.local_y == NULL or samples.local_weight == NULL
        or samples.local_logarithm == NULL
        or samples.local_row == NULL or samples.smallest == NULL
        or rows.label == NULL or rows.y == NULL
        or rows.weight == NULL
        or (samples.kind == LIST_MOMENTS and samples.amounts == NULL)
    ):
        return -1
    if problem.criterion == POISSON and n_outputs == 1 and lender == NULL:
        samples.logarithm = <double*>malloc(n_rows * sizeof(double))
        if samples.logarithm == NULL:
            return -1
        for i in range(n_rows):
            samples.logarithm[i] = log(samples.y[i]) if samples.y[i] > 0.0 else 0.0
    samples.largest = <int16_t*>samples.smallest + BLOCK_ROWS * n_columns
    set_value_limits(problem, samples)
    list_permutations(samples.permutations)
    if problem.random_splitter:
        return start_targets(samples, n_rows)
    return 0


cdef int start_targets(SampleList* samples, int64_t n_rows) noexcept nogil:
    """Allocate what random thresholds sum up; returns -1 without memory."""
    if samples.kind == LIST_MOMENTS:
        samples.fixed_first = <int64_t*>malloc(n_rows * sizeof(int64_t))
        samples.fixed_weight = <int64_t*>malloc(n_rows * sizeof(int64_t))
        if samples.fixed_first == NULL or samples.fixed_weight == NULL:
            return -1
    if samples.kind == LIST_BINARY:
        samples.whole_weights = <uint16_t*>malloc(n_rows * sizeof(uint16_t))
        samples.ones = <uint16_t*>malloc(n_rows * sizeof(uint16_t))
        if samples.whole_weights == NULL or samples.ones == NULL:
            return -1
    return 0


cdef void set_value_limits(const Problem* problem, SampleList* samples) noexcept nogil:
    """The largest bin of a value, block by block as the bins of a subtree are read."""
    cdef:
        const Span* spans = samples.table.spans
        int64_t i, n_columns = problem.n_columns
        bint any_missing = False
    samples.value_limit = <uint8_t*>(
        <int16_t*>samples.smallest + 2 * BLOCK_ROWS * n_columns
    )
    for i in range(BLOCK_ROWS * n_columns):
        samples.value_limit[i] = <uint8_t>(MAX_BINS - 1)
        if problem.has_missing[i % n_columns]:
            any_missing = True
            if spans != NULL:
                samples.value_limit[i] = <uint8_t>(spans[i % n_columns].missing_bin - 1)
    if not any_missing:
        samples.value_limit = NULL


cdef void free_sample_list(SampleList* samples) noexcept nogil:
    if not samples.is_lent:
        free(samples.entries)
        free(samples.logarithm)
    free(samples.keys)
    free(samples.spare)
    free(samples.gathered)
    free(samples.child)
    free(samples.tile_bins)
    free(samples.may_win)
    free(samples.local_codes)
    free(samples.local_spans)
    free(samples.local_scales)
    free(samples.local_y)
    free(samples.local_weight)
    free(samples.local_logarithm)
    free(samples.local_row)
    free(samples.smallest)
    free(samples.amounts)
    free(samples.whole_weights)
    free(samples.ones)
    free(samples.fixed_first)
    free(samples.fixed_weight)
    free(<void*>samples.node_rows.label)
    free(<void*>samples.node_rows.y)
    free(<void*>samples.node_rows.weight)
    memset(samples, 0, sizeof(SampleList))


include "_local_subtrees.pxi"


# ---------------------------------------------------------------------- reading codes


cdef const void* find_codes(
    const SampleList* samples, int64_t column, int64_t* step
) noexcept nogil:
    """Where the code of sample 0 stands, and how far on that of the next one."""
    cdef const CodedTable* table = &samples.table
    if not samples.is_local or samples.row_steps != NULL:
        step[0] = 1
        return <const char*>table.codes + column * table.n_rows * table.code_size
    step[0] = table.n_columns
    if table.row_codes == table.row_bins:
        return samples.local_bins + column
    return <const char*>samples.local_codes + column * table.code_size


cdef void read_codes(
    const Sums* kind, const uint64_t* entries, int64_t n, const Rank* codes,
    int64_t step, const uint32_t* rows, uint32_t* gathered
) noexcept nogil:
    cdef int64_t i, number
    for i in range(n):
        number = number_of(kind, entries[i])
        gathered[i] = codes[(number if rows == NULL else rows[number]) * step]


cdef void gather_codes(
    const SampleList* samples, const Sums* kind, const uint64_t* entries, int64_t n,
    int64_t column, uint32_t* gathered
) noexcept nogil:
    """Put the codes of the node's samples next to each other."""
    cdef:
        int64_t step
        const void* codes = find_codes(samples, column, &step)
        const uint32_t* rows = NULL
        int32_t size = samples.table.code_size
    if samples.is_local and samples.row_steps != NULL:
        rows = samples.local_row  # steps are copied, codes are not
    if size == 1:
        read_codes(kind, entries, n, <const uint8_t*>codes, step, rows, gathered)
    elif size == 2:
        read_codes(kind, entries, n, <const uint16_t*>codes, step, rows, gathered)
    else:
        read_codes(kind, entries, n, <const uint32_t*>codes, step, rows, gathered)


cdef void complete_keys(
    const Sums* kind, const uint64_t* entries, const Rank* codes, int64_t step,
    uint32_t smallest, uint64_t* keys, int64_t n
) noexcept nogil:
    cdef int64_t i
    for i in range(n):
        if i + FETCH_AHEAD < n:
            PREFETCH(codes + number_of(kind, entries[keys[i + FETCH_AHEAD]]) * step)
        keys[i] |= <uint64_t>(
            codes[number_of(kind, entries[keys[i]]) * step] - smallest
        ) << 32


cdef void add_codes(
    const SampleList* samples, const Sums* kind, const uint64_t* entries,
    int64_t column, uint32_t smallest, uint64_t* keys, int64_t n
) noexcept nogil:
    """Complete the keys of some of the node's samples, whose places stand in the lower
    half."""
    cdef:
        int64_t step
        const void* codes = find_codes(samples, column, &step)
        int32_t size = samples.table.code_size
    if size == 1:
        complete_keys(kind, entries, <const uint8_t*>codes, step, smallest, keys, n)
    elif size == 2:
        complete_keys(kind, entries, <const uint16_t*>codes, step, smallest, keys, n)
    else:
        complete_keys(kind, entries, <const uint32_t*>codes, step, smallest, keys, n)


cdef void describe_samples(
    const Problem* problem, SampleList* samples, const Frame* frame
) noexcept nogil:
    """Put the targets and weights of a node's samples side by side."""
    cdef:
        const uint64_t* entries = samples.entries + frame.start
        const Moments* listed = NULL
        const double* y = samples.local_y if samples.is_local else samples.y
        const double* weights = samples.weight
        int32_t* label = <int32_t*>samples.node_rows.label
        double* node_y = <double*>samples.node_rows.y
        double* node_weight = <double*>samples.node_rows.weight
        int64_t i, k, number, n = frame.n_rows, n_outputs = samples.n_outputs
    if samples.kind == LIST_BINARY:
        for i in range(n):
            node_weight[i] = <double>weight_in(entries[i])
            label[i] = ones_in(entries[i]) > 0
        return
    if weights != NULL and samples.is_local:
        weights = samples.local_weight
    for i in range(n):
        number = number_of(listed, entries[i])
        node_weight[i] = (
            <double>whole_weight_of(entries[i]) if weights == NULL else weights[number]
        )
        if n_outputs > 1:
            for k in range(n_outputs):
                if problem.is_classifier:
                    label[i * n_outputs + k] = samples.label[number * n_outputs + k]
                else:
                    node_y[i * n_outputs + k] = samples.y[number * n_outputs + k]
        elif problem.is_classifier:
            label[i] = <int32_t>class_of(entries[i])
        else:
            node_y[i] = y[number]


# --------------------------------------------------------------------------- sorting


cdef void sort_by_insertion(uint64_t* keys, int64_t n) noexcept nogil:
    cdef:
        int64_t i, j
        uint64_t key
    for i in range(1, n):
        key = keys[i]
        if keys[i - 1] <= key:
            continue
        j = i
        while j > 0 and keys[j - 1] > key:
            keys[j] = keys[j - 1]
            j -= 1
        keys[j] = key


cdef void sort_keys(
    uint64_t* keys, int64_t n, uint64_t* spare, int shift, uint32_t width
) noexcept nogil:
    """Sort by the bits from ``shift`` on, which do not exceed ``width``; the order of
    equal ones stays."""
    if n <= 64:
        sort_by_insertion(keys, n)
    else:
        sort_by_digits(keys, n, spare, shift, width)


cdef void sort_column(
    SampleList* samples, const uint64_t* entries, int64_t n, const uint32_t* codes,
    uint32_t missing_code, uint64_t* sorted_entries
) noexcept nogil:
    """Make the entries of a sorted column (see _types.pxd): rank, and place in the
    node."""
    cdef:
        int64_t i
        uint32_t largest = 0
    for i in range(n):
        largest = codes[i] if codes[i] > largest else largest
        sorted_entries[i] = <uint64_t>codes[i] << 32 | <uint64_t>i << 1
    sort_keys(sorted_entries, n, samples.spare, 32, largest)
    i = n
    while i > 0 and <uint32_t>(sorted_entries[i - 1] >> 32) == missing_code:
        i -= 1
        sorted_entries[i] |= <uint64_t>0xFFFFFFFF00000000
