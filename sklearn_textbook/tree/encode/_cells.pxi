# The cells of a table for growing many trees: ranks, values and steps of all rows; part
# of _rank.pyx. Columns, or blocks of rows, are shared among the threads. A block of few
# rows stays in the cache while its cells are written row by row.

ctypedef fused floating_t:
    float
    double

cdef enum:
    BLOCK_ROWS = 64  # that a thread takes at a time
    MISSING_STEP = -32768  # as in split/_steps.pxd
    LOWEST_STEP = -32767

cdef void write_column(
    const uint32_t* order, int64_t n_present, int64_t n_rows, uint32_t missing_code,
    code_t* codes
) noexcept nogil:
    """Write the ranks of a column, and the code of its missing values."""
    cdef int64_t i, rank = -1
    for i in range(n_present):
        rank += order[i] >> 31
        codes[order[i] & ROW_MASK] = <code_t>rank
    for i in range(n_present, n_rows):
        codes[order[i] & ROW_MASK] = <code_t>missing_code


def write_codes(
    const uint32_t[::1] order, Py_ssize_t n_present, uint32_t missing_code,
    code_t[::1] codes,
):
    """Write the rank of every row's value, counted from 0, and the missing code.

    Parameters
    ----------
    order : memoryview of uint32, shape (n_rows,)
        One row of the order that `rank_columns` writes.
    n_present : int
        Number of rows whose value is present.
    missing_code : int
        Code of the other rows.
    codes : memoryview of uint8, uint16 or uint32, shape (n_rows,)
        Out: the codes.
    """
    with nogil:
        write_column(&order[0], n_present, order.shape[0], missing_code, &codes[0])


cdef struct Ranking:
    # Columns that threads share; ranks have 1, 2 or 4 bytes.
    const uint32_t* order
    const int64_t* n_distinct
    const int64_t* n_missing
    int64_t n_rows
    char* ranks
    int rank_size


cdef void write_rank_column(void* context, int64_t c, int thread) noexcept nogil:
    """Write the ranks of one column."""
    cdef:
        const Ranking* work = <Ranking*>context
        const uint32_t* order = work.order + c * work.n_rows
        int64_t n_present = work.n_rows - work.n_missing[c]
        uint32_t missing_code = <uint32_t>work.n_distinct[c]
        char* ranks = work.ranks + c * work.n_rows * work.rank_size
    if work.rank_size == 1:
        write_column(order, n_present, work.n_rows, missing_code, <uint8_t*>ranks)
    elif work.rank_size == 2:
        write_column(order, n_present, work.n_rows, missing_code, <uint16_t*>ranks)
    else:
        write_column(order, n_present, work.n_rows, missing_code, <uint32_t*>ranks)


def write_ranks(
    const uint32_t[:, ::1] order, const int64_t[::1] n_distinct,
    const int64_t[::1] n_missing, code_t[:, ::1] ranks, int n_threads,
):
    """Write the ranks of all columns.

    Parameters
    ----------
    order : memoryview of uint32, shape (n_columns, n_rows)
        As `rank_columns` writes it.
    n_distinct, n_missing : memoryview of int64, shape (n_columns,)
        Number of distinct values, and of missing ones.
    ranks : memoryview of uint8, uint16 or uint32, shape (n_columns, n_rows)
        Out: the ranks; ``n_distinct`` for missing values.
    n_threads : int
        Number of threads.
    """
    cdef Ranking work = Ranking(
        &order[0, 0], &n_distinct[0], &n_missing[0], order.shape[1],
        <char*>&ranks[0, 0], sizeof(code_t)
    )
    run_in_threads(n_threads, write_rank_column, &work, order.shape[0])


cdef struct Turning:
    # Blocks of rows that threads share; ranks have 1, 2 or 4 bytes.
    void* ranks
    int rank_size
    int64_t n_rows
    int64_t n_columns
    const int32_t* shift
    const int64_t* n_values
    const int32_t* missing_bin
    void* row_ranks
    uint8_t* row_bins


cdef void turn_rows(
    const Turning* work, int64_t start, const code_t* ranks, code_t* row_ranks
) noexcept nogil:
    """Write the ranks and bins of some rows."""
    cdef:
        int64_t i, c, n_columns = work.n_columns
        code_t rank
    for c in range(n_columns):
        for i in range(start, min(work.n_rows, start + BLOCK_ROWS)):
            rank = ranks[c * work.n_rows + i]
            row_ranks[i * n_columns + c] = rank
            work.row_bins[i * n_columns + c] = (
                <uint8_t>(rank >> work.shift[c]) if rank < work.n_values[c]
                else <uint8_t>work.missing_bin[c]
            )


cdef void turn_block(void* context, int64_t block, int thread) noexcept nogil:
    cdef:
        const Turning* work = <Turning*>context
        int64_t start = block * BLOCK_ROWS
    if work.rank_size == 1:
        turn_rows(work, start, <uint8_t*>work.ranks, <uint8_t*>work.row_ranks)
    elif work.rank_size == 2:
        turn_rows(work, start, <uint16_t*>work.ranks, <uint16_t*>work.row_ranks)
    else:
        turn_rows(work, start, <uint32_t*>work.ranks, <uint32_t*>work.row_ranks)


cdef inline int64_t count_blocks(int64_t n_rows) noexcept nogil:
    return (n_rows + BLOCK_ROWS - 1) // BLOCK_ROWS


def write_row_ranks(
    const code_t[:, ::1] ranks, const int32_t[::1] shift, const int64_t[::1] n_values,
    const int32_t[::1] missing_bin, code_t[:, ::1] row_ranks,
    uint8_t[:, ::1] row_bins, int n_threads,
):
    """Write the ranks row by row, and bins of them.

    Parameters
    ----------
    ranks : memoryview of uint8, uint16 or uint32, shape (n_columns, n_rows)
        The ranks.
    shift : memoryview of int32, shape (n_columns,)
        By how many bits those of a column are shortened.
    n_values : memoryview of int64, shape (n_columns,)
        Number of distinct values; a rank that is not below is that of missing values.
    missing_bin : memoryview of int32, shape (n_columns,)
        The bin of missing values.
    row_ranks : memoryview of the same type, shape (n_rows, n_columns)
        Out: the ranks.
    row_bins : memoryview of uint8, shape (n_rows, n_columns)
        Out: ``row_ranks >> shift``; may be the same memory if no value is missing.
    n_threads : int
        Number of threads.
    """
    cdef Turning work = Turning(
        <void*>&ranks[0, 0], sizeof(code_t), ranks.shape[1], ranks.shape[0], &shift[0],
        &n_values[0], &missing_bin[0], &row_ranks[0, 0], &row_bins[0, 0]
    )
    run_in_threads(n_threads, turn_block, &work, count_blocks(ranks.shape[1]))


cdef struct Gaps:
    # Columns that threads share.
    const double* values
    int64_t stride
    const int64_t* n_distinct
    double* gap


cdef void find_gap(void* context, int64_t c, int thread) noexcept nogil:
    """The smallest difference of two ascending values next to each other."""
    cdef:
        const Gaps* gaps = <Gaps*>context
        const double* values = gaps.values + c * gaps.stride
        double gap = INFINITY, difference
        int64_t i
    for i in range(1, gaps.n_distinct[c]):
        difference = values[i] - values[i - 1]
        gap = difference if difference < gap else gap
    gaps.gap[c] = gap


def find_gaps(
    const double[:, ::1] values, const int64_t[::1] n_distinct, double[::1] gap,
    int n_threads,
):
    """Find the smallest difference of two distinct values of each column.

    Parameters
    ----------
    values : memoryview of float64, shape (n_columns, n_values)
        The distinct values, ascending.
    n_distinct : memoryview of int64, shape (n_columns,)
        How many there are.
    gap : memoryview of float64, shape (n_columns,)
        Out: the differences; infinity where there are no two values.
    n_threads : int
        Number of threads.
    """
    cdef Gaps gaps = Gaps(&values[0, 0], values.shape[1], &n_distinct[0], &gap[0])
    run_in_threads(n_threads, find_gap, &gaps, values.shape[0])


cdef struct Copying:
    # Blocks of rows that threads share; the matrix has float32 or float64.
    const char* matrix
    bint is_single
    int64_t row_stride
    int64_t column_stride
    int64_t n_rows
    int64_t n_columns
    double* target
    int64_t row_step
    int64_t column_step


cdef void copy_block(void* context, int64_t block, int thread) noexcept nogil:
    """Copy some rows."""
    cdef:
        const Copying* work = <Copying*>context
        int64_t i, c, first = block * BLOCK_ROWS
        int64_t n_rows = min(<int64_t>BLOCK_ROWS, work.n_rows - first)
        int64_t row_stride = work.row_stride, row_step = work.row_step
        const char* numbers
        double* target
    for c in range(work.n_columns):
        numbers = work.matrix + first * row_stride + c * work.column_stride
        target = work.target + first * row_step + c * work.column_step
        if work.is_single:
            for i in range(n_rows):
                target[i * row_step] = (<const float*>(numbers + i * row_stride))[0]
        else:
            for i in range(n_rows):
                target[i * row_step] = (<const double*>(numbers + i * row_stride))[0]


def copy_matrix(const floating_t[:, :] matrix, double[:, :] target, int n_threads):
    """Copy the numbers of a matrix.

    Parameters
    ----------
    matrix : memoryview of float32 or float64, shape (n_rows, n_columns)
        Any strides.
    target : memoryview of float64, shape (n_rows, n_columns)
        Out: the same, with any strides.
    n_threads : int
        Number of threads.
    """
    cdef Copying work = Copying(
        <const char*>&matrix[0, 0], floating_t is float, matrix.strides[0],
        matrix.strides[1], matrix.shape[0], matrix.shape[1], &target[0, 0],
        target.strides[0] // <Py_ssize_t>sizeof(double),
        target.strides[1] // <Py_ssize_t>sizeof(double)
    )
    run_in_threads(n_threads, copy_block, &work, count_blocks(matrix.shape[0]))


cdef struct Rounding:
    # Blocks of rows that threads share.
    const double* values
    int64_t n_rows
    int64_t n_columns
    const double* low
    const double* factor
    int16_t* steps
    int16_t* row_steps


cdef void round_block(void* context, int64_t block, int thread) noexcept nogil:
    """Write the steps of some rows."""
    cdef:
        const Rounding* work = <Rounding*>context
        int64_t i, c, n_columns = work.n_columns, start = block * BLOCK_ROWS
        int64_t stop = min(work.n_rows, start + BLOCK_ROWS)
        const double* values = work.values
        const double* low = work.low
        const double* factor = work.factor
        int16_t* row_steps = work.row_steps
        double value, height
    for i in range(start, stop):
        for c in range(n_columns):
            value = values[i * n_columns + c]
            # 0 where ranges overflow: their factor and their lowest value are 0.
            height = (value - low[c]) * factor[c]
            height = height if height == height else MISSING_STEP - LOWEST_STEP
            row_steps[i * n_columns + c] = <int16_t>(<int32_t>height + LOWEST_STEP)
    for c in range(n_columns):
        for i in range(start, stop):
            work.steps[c * work.n_rows + i] = row_steps[i * n_columns + c]


def write_steps(
    const double[:, ::1] values, const double[::1] low, const double[::1] factor,
    int16_t[:, ::1] steps, int16_t[:, ::1] row_steps, int n_threads,
):
    """Write the steps that the values of all rows stand on.

    Parameters
    ----------
    values : memoryview of float64, shape (n_rows, n_columns)
        The values.
    low, factor : memoryview of float64, shape (n_columns,)
        See ``EncodedTable.steps``.
    steps : memoryview of int16, shape (n_columns, n_rows)
        Out: the steps; -32768 for what is not a number.
    row_steps : memoryview of int16, shape (n_rows, n_columns)
        Out: the same, row by row.
    n_threads : int
        Number of threads.
    """
    cdef Rounding work = Rounding(
        &values[0, 0], values.shape[0], values.shape[1], &low[0], &factor[0],
        &steps[0, 0], &row_steps[0, 0]
    )
    run_in_threads(n_threads, round_block, &work, count_blocks(values.shape[0]))
