"""The samples of a node as a list: reading the codes of the columns that are tried, and
copying those of a subtree.

Only the list is partitioned at a node. The codes stay where they are, but a subtree of
few samples works on a copy that stays in the cache.

A local subtree: ``make_local`` copies codes and bins (or steps) of its samples row by
row, renumbers the samples from 0 on in the list itself, and remembers their rows in
``local_row``. Bins and steps are made finer where its values have a narrower range.
Samples outside of it keep their numbers; ``is_local`` tells which numbers the node at
hand has.

A table in files that is much larger than the memory would be read as a whole at every
node, as the samples of each are all over it. There a node with at most half the rows
gets a table of its own (``copy_table``), until one fits into the memory. The order of
the samples stays, and so does every sum.
"""

from libc.math cimport INFINITY, log
from libc.stdint cimport int16_t, int32_t, uint16_t, uint8_t
from libc.stdlib cimport calloc, free
from libc.string cimport memcpy, memset

from sklearn_textbook.tree.grow._partition_list cimport list_permutations
from sklearn_textbook.tree.split._memory cimport (
    Memory,
    free_memory,
    take_doubles,
    take_memory,
)
from sklearn_textbook.tree.split._samples cimport (
    LIST_BINARY,
    LIST_MOMENTS,
    CodedTable,
    Span,
    TableCopy,
)
from sklearn_textbook.tree.split._sort_keys cimport sort_by_digits
from sklearn_textbook.tree.split._steps cimport (
    HIGHEST_STEP,
    MISSING_STEP,
    N_STEPS,
    Scale,
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
    Moments,
    class_of,
    number_of,
    ones_in,
    renumber,
    weight_in,
    whole_weight_of,
)
from sklearn_textbook.tree.split._types cimport POISSON, Rows


cdef enum:
    LOCAL_BYTES = 786432  # codes and bins that stay in the cache of one core
    MAX_LOCAL_ROWS = 16384
    BLOCK_ROWS = 16  # of any width they fill whole vector registers
    CROWDED = 8  # samples for each step, from which on a column gets smaller steps
    MEMORY_FRACTION = 8  # of the memory is for the cells and targets of a copy
    TARGET_BYTES = 24  # of a sample: value, logarithm and weight

ctypedef fused Number:
    double
    int32_t

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
        int64_t n_tiles = (n_slots + 1) * TILE_COLUMNS, n_local, i
        Rows* rows = &samples.node_rows
        Memory* memory = &samples.memory
    samples.n_outputs = n_outputs
    samples.n_samples = n_rows
    memory.in_files = problem.in_files
    width = n_columns * (
        <int64_t>sizeof(int16_t) if problem.random_splitter else size + 1
    )
    # A copy of more than a third of the table saves nothing.
    samples.local_rows = min(
        samples.table.n_rows // 3, MAX_LOCAL_ROWS, LOCAL_BYTES // width
    )
    n_local = samples.local_rows + 1
    # Random thresholds read more than codes, and best-first growth turns from one
    # subtree to another.
    if problem.in_files and not problem.random_splitter and (
        problem.max_leaf_nodes == 0
    ):
        samples.memory_rows = max(
            problem.memory_limit // MEMORY_FRACTION // (width + TARGET_BYTES),
            4 * MAX_LOCAL_ROWS
        )
    if lender != NULL:
        samples.entries = lender.entries
        samples.logarithm = lender.logarithm
    else:
        samples.entries = <uint64_t*>take_memory(
            memory, n_rows + FETCH_AHEAD, sizeof(uint64_t)
        )
    samples.keys = <uint64_t*>take_memory(memory, n_rows + 1, sizeof(uint64_t))
    # Or flags, which are read 64 at a time.
    samples.spare = <uint64_t*>take_memory(memory, n_rows + 64, sizeof(uint64_t))
    samples.gathered = <uint32_t*>take_memory(
        memory, (n_slots + TILE_COLUMNS) * n_rows, sizeof(uint32_t)
    )
    samples.child = <uint8_t*>take_memory(memory, n_rows, 1)
    samples.tile_bins = <uint8_t*>take_memory(memory, n_tiles * n_rows, 1)
    samples.may_win = <uint8_t*>take_memory(memory, MAX_BINS, 1)
    # Codes and bins, or steps.
    samples.local_codes = take_memory(memory, samples.local_rows * width + 1, 1)
    samples.local_bins = <uint8_t*>samples.local_codes + (
        samples.local_rows * n_columns * size
    )
    samples.local_steps = <int16_t*>samples.local_codes
    samples.local_spans = <Span*>take_memory(memory, n_columns, sizeof(Span))
    samples.local_scales = <Scale*>take_memory(memory, n_columns, sizeof(Scale))
    samples.local_y = take_doubles(memory, n_local)
    samples.local_weight = take_doubles(memory, n_local)
    samples.local_logarithm = take_doubles(memory, n_local)
    samples.local_row = <uint32_t*>take_memory(memory, n_local, sizeof(uint32_t))
    # Smallest, largest and limit: one number of up to 16 bits for each cell of a block.
    samples.smallest = take_memory(
        memory, 3 * BLOCK_ROWS * n_columns, sizeof(int16_t)
    )
    if samples.kind == LIST_MOMENTS:
        samples.amounts = <Moments*>take_memory(memory, n_rows, sizeof(Moments))
    rows.label = <const int32_t*>take_memory(
        memory, n_rows * n_outputs, sizeof(int32_t)
    )
    rows.y = take_doubles(memory, n_rows * n_outputs)
    rows.weight = take_doubles(memory, n_rows)
    if problem.criterion == POISSON and n_outputs == 1 and lender == NULL:
        samples.logarithm = take_doubles(memory, n_rows)
    if problem.random_splitter:
        take_targets(samples, n_rows)
    if memory.is_short:
        return -1
    if problem.criterion == POISSON and n_outputs == 1 and lender == NULL:
        for i in range(n_rows):
            samples.logarithm[i] = log(samples.y[i]) if samples.y[i] > 0.0 else 0.0
    samples.largest = <int16_t*>samples.smallest + BLOCK_ROWS * n_columns
    set_value_limits(problem, samples)
    list_permutations(samples.permutations)
    return 0


cdef void take_targets(SampleList* samples, int64_t n_rows) noexcept nogil:
    """Allocate what random thresholds sum up."""
    cdef Memory* memory = &samples.memory
    if samples.kind == LIST_MOMENTS:
        samples.fixed_first = <int64_t*>take_memory(memory, n_rows, sizeof(int64_t))
        samples.fixed_weight = <int64_t*>take_memory(memory, n_rows, sizeof(int64_t))
    if samples.kind == LIST_BINARY:
        samples.whole_weights = <uint16_t*>take_memory(
            memory, n_rows, sizeof(uint16_t)
        )
        samples.ones = <uint16_t*>take_memory(memory, n_rows, sizeof(uint16_t))


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
    """Free all but what was lent by another thread."""
    while samples.copies != NULL:
        leave_copy(samples)
    free_memory(&samples.memory)
    memset(samples, 0, sizeof(SampleList))


# ------------------------------------------------------------------------------------
# Copying the codes of a subtree of few samples, with bins or steps of its own.
# ------------------------------------------------------------------------------------


cdef void copy_rows(
    const Sums* kind, const uint64_t* entries, int64_t n, int64_t width,
    const Rank* source, Rank* target
) noexcept nogil:
    """Copy the codes or bins of some samples."""
    cdef:
        int64_t i
        const Rank* early
    for i in range(n):
        if i + FETCH_AHEAD < n:
            early = source + number_of(kind, entries[i + FETCH_AHEAD]) * width
            PREFETCH(early)
            PREFETCH(early + width - 1)
        memcpy(
            target, source + number_of(kind, entries[i]) * width, width * sizeof(Rank)
        )
        target += width


cdef void widen(
    const Cell* low, const Cell* high, int64_t n, Cell* smallest, Cell* largest
) noexcept nogil:
    """Widen n ranges by others."""
    cdef:
        int64_t j
        Cell value
    # Two loops over cells of one width, each of which the compiler vectorises.
    for j in range(n):
        value = low[j]
        if Cell is int16_t:
            value = <int16_t>HIGHEST_STEP if value == MISSING_STEP else value
        smallest[j] = value if value < smallest[j] else smallest[j]
    for j in range(n):
        largest[j] = high[j] if high[j] > largest[j] else largest[j]


cdef void widen_by_values(
    const uint8_t* bins, const uint8_t* limit, int64_t n, uint8_t* smallest,
    uint8_t* largest
) noexcept nogil:
    """The same, leaving out the bin of missing values."""
    cdef:
        int64_t j
        uint8_t value
    for j in range(n):
        smallest[j] = bins[j] if bins[j] < smallest[j] else smallest[j]
    for j in range(n):
        value = bins[j] if bins[j] <= limit[j] else <uint8_t>0
        largest[j] = value if value > largest[j] else largest[j]


cdef void find_extremes(
    const SampleList* samples, const Cell* cells, int64_t n
) noexcept nogil:
    """Find the smallest and largest of the copied bins, or steps, of each column."""
    cdef:
        int64_t i, width = samples.table.n_columns, block = BLOCK_ROWS * width
        int64_t n_blocks = n // BLOCK_ROWS
        Cell* smallest = <Cell*>samples.smallest
        Cell* largest = <Cell*>samples.largest
        const uint8_t* limit = samples.value_limit
    # One range for every place of a block of BLOCK_ROWS rows, in loops without
    # remainder.
    for i in range(block):
        smallest[i] = <Cell>(HIGHEST_STEP if Cell is int16_t else 0xFF)
        largest[i] = <Cell>(MISSING_STEP if Cell is int16_t else 0)
    for i in range(n_blocks):
        if Cell is uint8_t:
            if limit != NULL:
                widen_by_values(cells + i * block, limit, block, smallest, largest)
                continue
        widen(cells + i * block, cells + i * block, block, smallest, largest)
    for i in range(n_blocks * BLOCK_ROWS, n):
        if Cell is uint8_t:
            if limit != NULL:
                widen_by_values(cells + i * width, limit, width, smallest, largest)
                continue
        widen(cells + i * width, cells + i * width, width, smallest, largest)
    # Those of the first row of the blocks stand for all.
    for i in range(1, BLOCK_ROWS):
        widen(smallest + i * width, largest + i * width, width, smallest, largest)


cdef void refine_bins(
    const Problem* problem, SampleList* samples, const Rank* codes, int64_t n
) noexcept nogil:
    """Make finer bins of the copied codes of those columns that have become narrow;
    most have not, as the tests above the subtree were of few columns."""
    cdef:
        int64_t i, j, width = samples.table.n_columns, most
        const uint8_t* least_bin = <const uint8_t*>samples.smallest
        const uint8_t* most_bin = <const uint8_t*>samples.largest
        uint8_t* bins = samples.local_bins
        Span* span
        uint32_t smallest, largest, code
        int32_t shift
    for j in range(width):
        span = &samples.local_spans[j]
        span[0] = samples.table.spans[j]
        if most_bin[j] < least_bin[j]:
            continue  # all are missing
        shift = span.shift
        most = MAX_VALUE_BINS if problem.has_missing[j] else MAX_BINS
        # Halve the bins as long as the range of values fits into the bins of one byte.
        while shift > 0 and (
            <int64_t>(most_bin[j] - least_bin[j] + 1) << span.shift
        ) <= most << (shift - 1):
            shift -= 1
        if shift == span.shift:
            continue
        # The range is that of whole old bins, so the codes need not be searched.
        smallest = <uint32_t>least_bin[j] << span.shift
        largest = min(
            span.largest, ((<uint32_t>most_bin[j] + 1) << span.shift) - 1
        )
        span.largest = largest
        span.smallest = smallest
        span.shift = shift
        if problem.has_missing[j]:
            span.missing_bin = <int32_t>(
                (((largest - smallest) >> shift) // BIN_GAP + 1) * BIN_GAP
            )
        for i in range(n):
            code = codes[i * width + j]
            bins[i * width + j] = (
                <uint8_t>((code - smallest) >> shift) if code <= largest
                else <uint8_t>span.missing_bin
            )


cdef void copy_cells(
    const Problem* problem, SampleList* samples, const Sums* kind,
    const uint64_t* entries, int64_t n
) noexcept nogil:
    """Copy the codes and bins, or the steps, of some samples."""
    cdef:
        const CodedTable* table = &samples.table
        int64_t width = table.n_columns
    if samples.row_steps != NULL:
        copy_rows(
            kind, entries, n, width, <const uint16_t*>samples.row_steps,
            <uint16_t*>samples.local_steps
        )
        return
    copy_rows(kind, entries, n, width, table.row_bins, samples.local_bins)
    find_extremes(samples, samples.local_bins, n)
    if table.row_codes == table.row_bins:
        memcpy(samples.local_spans, table.spans, width * sizeof(Span))
    elif table.code_size == 1:
        copy_rows(
            kind, entries, n, width, <const uint8_t*>table.row_codes,
            <uint8_t*>samples.local_codes
        )
        refine_bins(problem, samples, <const uint8_t*>samples.local_codes, n)
    elif table.code_size == 2:
        copy_rows(
            kind, entries, n, width, <const uint16_t*>table.row_codes,
            <uint16_t*>samples.local_codes
        )
        refine_bins(problem, samples, <const uint16_t*>samples.local_codes, n)
    else:
        copy_rows(
            kind, entries, n, width, <const uint32_t*>table.row_codes,
            <uint32_t*>samples.local_codes
        )
        refine_bins(problem, samples, <const uint32_t*>samples.local_codes, n)


cdef void refine_column(
    SampleList* samples, int64_t n, int64_t column
) noexcept nogil:
    """Make smaller steps of a column that has become narrow."""
    cdef:
        Scale* scale = &samples.local_scales[column]
        const double* values = samples.row_values + column
        int16_t* steps = samples.local_steps + column
        int64_t i, width = samples.table.n_columns
        double value, low = INFINITY, high = -INFINITY, factor
    for i in range(n):
        value = values[samples.local_row[i] * width]
        low = value if value < low else low
        high = value if value > high else high
    factor = N_STEPS / (high - low) if high > low else 0.0
    # Beyond this, the factor of the smallest range would overflow.
    if not scale.factor < factor < 1e300:
        return
    scale.low = low
    scale.factor = factor
    for i in range(n):
        value = values[samples.local_row[i] * width]
        steps[i * width] = step_of(value, scale) if value == value else MISSING_STEP


cdef void refine_steps(SampleList* samples, int64_t n) noexcept nogil:
    """Make smaller steps of the columns that are crowded on few."""
    cdef:
        const int16_t* lowest
        const int16_t* highest
        int64_t j, width = samples.table.n_columns
    find_extremes(samples, samples.local_steps, n)
    lowest = <const int16_t*>samples.smallest
    highest = <const int16_t*>samples.largest
    memcpy(samples.local_scales, samples.scales, width * sizeof(Scale))
    for j in range(width):
        if CROWDED * (<int64_t>highest[j] - lowest[j]) < n and not (
            separates_all(&samples.local_scales[j])
        ):
            refine_column(samples, n, j)


cdef void make_local(
    const Problem* problem, SampleList* samples, const Frame* frame
) noexcept nogil:
    """Copy the codes of a node's samples, and number these 0, 1, ... for all below."""
    cdef:
        uint64_t* entries = samples.entries + frame.start
        const BinaryCounts* counted = NULL
        const Moments* listed = NULL
        int64_t i, n = frame.n_rows
    # Copied before renumbering, as the old numbers tell where a sample's cells are.
    if samples.kind == LIST_BINARY:
        copy_cells(problem, samples, counted, entries, n)
        for i in range(n):
            samples.local_row[i] = <uint32_t>number_of(counted, entries[i])
            entries[i] = renumber(counted, entries[i], i)
    else:
        copy_cells(problem, samples, listed, entries, n)
        if samples.y != NULL:
            for i in range(n):
                samples.local_y[i] = samples.y[number_of(listed, entries[i])]
        if samples.logarithm != NULL:
            for i in range(n):
                samples.local_logarithm[i] = samples.logarithm[
                    number_of(listed, entries[i])
                ]
        if samples.weight != NULL:
            for i in range(n):
                samples.local_weight[i] = samples.weight[number_of(listed, entries[i])]
        for i in range(n):
            samples.local_row[i] = <uint32_t>number_of(listed, entries[i])
            entries[i] = renumber(listed, entries[i], i)
    if samples.row_steps != NULL:
        refine_steps(samples, n)
    samples.is_local = True


# ------------------------------------------------------------------------------------
# Copying the rows of a large subtree, where the table is in files.
# ------------------------------------------------------------------------------------


cdef bint needs_copy(const SampleList* samples, int64_t n) noexcept nogil:
    """Whether a node of n samples gets a table of its own."""
    return 0 < samples.memory_rows < samples.table.n_rows and (
        2 * n <= samples.table.n_rows
    )


cdef void copy_column(
    const Sums* kind, const uint64_t* entries, int64_t n, const Rank* source,
    Rank* target, int64_t step
) noexcept nogil:
    """Copy one column of codes; those of the copy are ``step`` apart."""
    cdef int64_t i
    for i in range(n):
        target[i * step] = source[number_of(kind, entries[i])]


cdef void copy_codes(
    SampleList* samples, const Sums* kind, const uint64_t* entries, int64_t n,
    void* target, bint by_rows, const Rank* type_of_codes
) noexcept nogil:
    """Copy the codes of some samples, row by row or column by column."""
    cdef:
        const CodedTable* table = &samples.table
        const Rank* source = <const Rank*>table.codes
        Rank* codes = <Rank*>target
        int64_t width = table.n_columns, j
    if by_rows and table.row_codes != NULL:
        copy_rows(kind, entries, n, width, <const Rank*>table.row_codes, codes)
        return
    for j in range(width):
        copy_column(
            kind, entries, n, source + j * table.n_rows,
            codes + (j if by_rows else j * n), width if by_rows else 1
        )


cdef void copy_numbers(
    const Sums* kind, const uint64_t* entries, int64_t n, int64_t width,
    const Number* source, Number* target
) noexcept nogil:
    """Copy ``width`` numbers of every sample."""
    cdef:
        int64_t i, k
        const Number* numbers
    for i in range(n):
        numbers = source + number_of(kind, entries[i]) * width
        for k in range(width):
            target[i * width + k] = numbers[k]


cdef int fill_copy(
    SampleList* samples, TableCopy* copy, uint64_t* entries, int64_t n,
    const Sums* kind
) noexcept nogil:
    """Copy the samples, renumber them, and use the copy. Returns -1 without memory."""
    cdef:
        CodedTable* table = &samples.table
        Memory* memory = &copy.memory
        int64_t i, width = table.n_columns, n_outputs = samples.n_outputs
        bint are_bins = table.row_codes == table.row_bins
        bint by_rows = are_bins or n <= samples.memory_rows
        uint8_t* bins = <uint8_t*>take_memory(memory, n * width, 1)
        void* codes = bins
        double* y = NULL
        double* logarithm = NULL
        double* weight = NULL
        int32_t* label = NULL
        const uint8_t* one_byte = NULL
        const uint16_t* two_bytes = NULL
        const uint32_t* four_bytes = NULL
    if not are_bins:
        codes = take_memory(memory, n * width, table.code_size)
    if samples.y != NULL:
        y = take_doubles(memory, n * n_outputs)
    if samples.logarithm != NULL:
        logarithm = take_doubles(memory, n)
    if samples.weight != NULL:
        weight = take_doubles(memory, n)
    if samples.label != NULL:
        label = <int32_t*>take_memory(memory, n * n_outputs, sizeof(int32_t))
    if memory.is_short:
        return -1
    copy_rows(kind, entries, n, width, table.row_bins, bins)
    if are_bins:
        pass
    elif table.code_size == 1:
        copy_codes(samples, kind, entries, n, codes, by_rows, one_byte)
    elif table.code_size == 2:
        copy_codes(samples, kind, entries, n, codes, by_rows, two_bytes)
    else:
        copy_codes(samples, kind, entries, n, codes, by_rows, four_bytes)
    if y != NULL:
        copy_numbers(kind, entries, n, n_outputs, samples.y, y)
    if logarithm != NULL:
        copy_numbers(kind, entries, n, 1, samples.logarithm, logarithm)
    if weight != NULL:
        copy_numbers(kind, entries, n, 1, samples.weight, weight)
    if label != NULL:
        copy_numbers(kind, entries, n, n_outputs, samples.label, label)
    for i in range(n):
        entries[i] = renumber(kind, entries[i], i)
    table.n_rows = n
    table.row_bins = bins
    table.row_codes = codes if by_rows else NULL
    table.codes = NULL if by_rows else codes
    samples.y, samples.logarithm = y, logarithm
    samples.weight, samples.label = weight, label
    return 0


cdef int copy_table(
    const Problem* problem, SampleList* samples, const Frame* frame, int64_t n_outside
) noexcept nogil:
    """Give the subtree of a node a table of its own. Returns -1 without memory."""
    cdef:
        TableCopy* copy = <TableCopy*>calloc(1, sizeof(TableCopy))
        uint64_t* entries = samples.entries + frame.start
        const BinaryCounts* counted = NULL
        const Moments* listed = NULL
        int outcome
    if copy == NULL:
        return -1
    copy.outer, copy.n_outside = samples.copies, n_outside
    copy.table = samples.table
    copy.y, copy.logarithm = samples.y, samples.logarithm
    copy.weight, copy.label = samples.weight, samples.label
    copy.memory.in_files = True
    samples.copies = copy
    if samples.kind == LIST_BINARY:
        outcome = fill_copy(samples, copy, entries, frame.n_rows, counted)
    else:
        outcome = fill_copy(samples, copy, entries, frame.n_rows, listed)
    return outcome


cdef void leave_copy(SampleList* samples) noexcept nogil:
    """Return to the table outside of the subtree."""
    cdef TableCopy* copy = samples.copies
    samples.copies = copy.outer
    samples.table = copy.table
    samples.y, samples.logarithm = copy.y, copy.logarithm
    samples.weight, samples.label = copy.weight, copy.label
    free_memory(&copy.memory)
    free(copy)


# ---------------------------------------------------------------------- reading codes


cdef const void* find_codes(
    const SampleList* samples, int64_t column, int64_t* step
) noexcept nogil:
    """Where the code of sample 0 stands, and how far on that of the next one."""
    cdef const CodedTable* table = &samples.table
    if not samples.is_local or samples.row_steps != NULL:
        if table.codes == NULL:
            step[0] = table.n_columns
            return <const char*>table.row_codes + column * table.code_size
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
    """Codes of the samples, ``step`` apart; ``rows`` leads to those of the table."""
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
    """Put codes less the smallest above the places, which the keys hold already."""
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
        # Targets of several outputs are in the table alone; a local copy has one.
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
    """Sort few whole keys: they differ, so the order of equal codes is that of places.
    """
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
    # Missing ones are last; ``is_missing`` knows them by a rank of all ones.
    while i > 0 and <uint32_t>(sorted_entries[i - 1] >> 32) == missing_code:
        i -= 1
        sorted_entries[i] |= <uint64_t>0xFFFFFFFF00000000
