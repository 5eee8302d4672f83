"""Filling the sorted columns that growing works on."""

from libc.math cimport fabs, floor, log2

from sklearn_textbook.tree.grow._workers cimport Arena
from sklearn_textbook.tree.split._column cimport (
    count_missing,
    upper_value_of_rank,
    value_of_rank,
)
from sklearn_textbook.tree.split._types cimport (
    GLOBAL_MISSING,
    LOCAL_MISSING,
    NOMINAL_COLUMN,
    Code,
    Codes,
    Entry,
    Problem,
    Spacing,
    int32_t,
    int64_t,
    rank_of,
    row_of,
    uint8_t,
    uint16_t,
    uint32_t,
    uint64_t,
)


cdef void fill_column(
    const uint32_t* order, int64_t n_rows, int64_t n_missing,
    const uint32_t* row_number, const uint8_t* second_class, Entry* entries
) noexcept nogil:
    """Entries of one column from its sorted row numbers, whose highest bit marks
    a new value. Rows of weight 0 have no number and are left out."""
    cdef:
        int64_t i, n = 0
        uint32_t rank = <uint32_t>-1, row, shown
    for i in range(n_rows):
        rank += order[i] >> 31
        row = order[i] & <uint32_t>0x7FFFFFFF
        if row_number != NULL:
            row = row_number[row]
            if row == <uint32_t>-1:
                continue
        if Entry is uint32_t:
            shown = rank if i < n_rows - n_missing else <uint32_t>LOCAL_MISSING
            entries[n] = shown << 16 | row << 1 | second_class[row]
        else:
            shown = rank if i < n_rows - n_missing else <uint32_t>GLOBAL_MISSING
            entries[n] = <uint64_t>shown << 32 | <uint64_t>row << 1 | second_class[row]
        n += 1


cdef void list_rows(
    int64_t n_rows, const int32_t* label, const uint8_t* second_class, Entry* entries
) noexcept nogil:
    """All rows, in their order. Classes stand in place of ranks."""
    cdef int64_t i
    cdef int shift = 16 if Entry is uint32_t else 32
    for i in range(n_rows):
        entries[i] = <Entry>(
            <uint64_t>label[i] << shift | <uint64_t>i << 1 | second_class[i]
        )


cdef void copy_list(
    const uint64_t* cells, int64_t n, uint32_t* entries
) noexcept nogil:
    """The list of a task's rows, by their local numbers."""
    cdef int64_t i
    for i in range(n):
        entries[i] = <uint32_t>(
            rank_of(cells[i]) << 16 | <uint32_t>(i << 1) | <uint32_t>(cells[i] & 1)
        )


cdef void gather_codes(
    const Code* codes, const uint64_t* cells, int64_t n, Code* local
) noexcept nogil:
    cdef int64_t i
    for i in range(n):
        local[i] = codes[row_of(cells[i])]


cdef void copy_codes(
    const Codes* codes, int64_t column, const uint64_t* cells, int64_t n, Arena* arena
) noexcept nogil:
    """The level codes of a task's rows, by their local numbers."""
    if codes.is_wide:
        gather_codes(
            <const uint32_t*>codes.start + column * codes.stride, cells, n,
            <uint32_t*>arena.codes.start + column * arena.codes.stride
        )
    else:
        gather_codes(
            <const uint16_t*>codes.start + column * codes.stride, cells, n,
            <uint16_t*>arena.codes.start + column * arena.codes.stride
        )


cdef void quantise(
    const double* y, int64_t n, int64_t* fixed, double* unit
) noexcept nogil:
    """y in fixed point about its mean: whole numbers whose sums are exact."""
    cdef:
        int64_t i
        double mean = 0.0, largest = 0.0, bits, scale
    for i in range(n):
        mean += y[i]
    mean /= n
    for i in range(n):
        largest = max(largest, fabs(y[i] - mean))
    bits = floor(min(52.0, 60.0 - log2(<double>n)))
    unit[0] = largest / 2.0 ** bits if largest > 0.0 else 1.0
    scale = 1.0 / unit[0]
    for i in range(n):
        fixed[i] = <int64_t>floor((y[i] - mean) * scale + 0.5)


cdef void copy_rows(
    const Problem* problem, const Arena* table, const Entry* cells, int64_t n,
    const double* row_weight, uint32_t* local_number, Arena* arena
) noexcept nogil:
    """Number a task's rows 0, 1, ... and copy what is known of them."""
    cdef:
        int64_t i, output, n_outputs = problem.n_outputs
        int64_t row
        int32_t* label = <int32_t*>arena.rows.label
        double* y = <double*>arena.rows.y
        double* weight = <double*>arena.rows.weight
    for i in range(n):
        row = row_of(cells[i])
        local_number[row] = <uint32_t>i
        for output in range(n_outputs):
            if problem.is_classifier:
                label[i * n_outputs + output] = (
                    table.rows.label[row * n_outputs + output]
                )
            else:
                y[i * n_outputs + output] = table.rows.y[row * n_outputs + output]
        if row_weight != NULL:
            weight[i] = row_weight[i]
        elif problem.weighted:
            weight[i] = table.rows.weight[row]


cdef void measure_spacing(
    const Problem* problem, Arena* arena, int64_t column, const uint32_t* ranks,
    int64_t n_ranks, int64_t n_present
) noexcept nogil:
    """Find out whether a value occurs twice, and which ranks lie too close together
    for a threshold; ``ranks`` as in ``value_of_rank``."""
    cdef:
        Spacing* spacing = &arena.spacing[column]
        uint32_t* next_apart = arena.next_apart + column * arena.spacing_stride
        int64_t rank, above = 0
        double limit
        bint any_close = False
    spacing.is_all_distinct = n_ranks == n_present
    spacing.next_apart = NULL
    if arena.next_apart == NULL or problem.kind[column] == NOMINAL_COLUMN:
        return
    for rank in range(n_ranks):
        limit = upper_value_of_rank(problem, column, ranks, <uint32_t>rank)
        limit += problem.gain.resolution
        above = max(above, rank + 1)
        while above < n_ranks and value_of_rank(
            problem, column, ranks, <uint32_t>above
        ) <= limit:
            above += 1
        next_apart[rank] = <uint32_t>above
        any_close = any_close or above > rank + 1
    if any_close:
        spacing.next_apart = next_apart


cdef int64_t copy_column(
    const uint64_t* cells, int64_t n, const uint32_t* local_number,
    uint32_t* entries, uint32_t* ranks
) noexcept nogil:
    """One column of a task: dense ranks, local row numbers. Returns the number of
    ranks."""
    cdef:
        int64_t i, n_present = n - count_missing(cells, n)
        uint32_t rank = <uint32_t>-1, previous = <uint32_t>-1, shown
    for i in range(n):
        shown = rank_of(cells[i])
        if i < n_present:
            rank += shown != previous
            previous = shown
            ranks[rank] = shown
            shown = rank
        else:
            shown = LOCAL_MISSING
        entries[i] = (
            shown << 16 | local_number[row_of(cells[i])] << 1
            | <uint32_t>(cells[i] & 1)
        )
    return <int64_t>rank + 1 if n_present > 0 else 0
