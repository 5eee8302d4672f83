# Adding up the votes of many stumps, column by column: part of _stumps.pyx.


ctypedef fused cell_t:
    float
    double


# For each tested column, the steps of the sum of its stumps.
cdef struct Steps:
    int64_t n_rows
    int64_t n_classes
    int64_t n_steps
    const int64_t* column
    const uint8_t* kind  # NUMBERS, or a kind of levels, whose codes may be negative
    const int64_t* first_threshold  # of each column, and the end of the last
    const double* thresholds
    const int64_t* first_vote  # of each column, and the end of the last
    const double* votes
    double* out
    const char* cells
    int64_t row_stride
    int64_t column_stride
    bint is_double

cdef enum:
    NUMBERS = 0
    ORDERED_LEVELS = 1
    LEVELS = 2


cdef inline int64_t count_below(
    const double* thresholds, int64_t n, double value
) noexcept nogil:
    """Number of thresholds below a value; thresholds ascend."""
    cdef int64_t below = 0, half
    while n > 0:
        half = n >> 1
        if thresholds[below + half] < value:
            below += half + 1
            n -= half + 1
        else:
            n = half
    return below


cdef void add_row_votes(const Steps* steps, int64_t row) noexcept nogil:
    cdef:
        int64_t i, k, place, first
        double value
        const char* cell
        const double* votes
        double* out = steps.out + row * steps.n_classes
    for i in range(steps.n_steps):
        cell = (
            steps.cells + row * steps.row_stride
            + steps.column[i] * steps.column_stride
        )
        value = (<double*>cell)[0] if steps.is_double else (<float*>cell)[0]
        first = steps.first_threshold[i]
        # The last two places are those of unseen levels and of missing values.
        if value != value:
            place = steps.first_vote[i + 1] - 1
        elif value < 0.0 and steps.kind[i] != NUMBERS:
            place = steps.first_vote[i + 1] - 2
        elif steps.kind[i] == LEVELS:
            place = steps.first_vote[i] + <int64_t>value
        else:
            place = steps.first_vote[i] + count_below(
                steps.thresholds + first, steps.first_threshold[i + 1] - first, value
            )
        votes = steps.votes + place * steps.n_classes
        for k in range(steps.n_classes):
            out[k] += votes[k]


cdef void add_block_votes(void* context, int64_t block, int thread) noexcept nogil:
    cdef:
        const Steps* steps = <Steps*>context
        int64_t row, first = block * TURNED_ROWS
        int64_t last = min(first + TURNED_ROWS, steps.n_rows)
    for row in range(first, last):
        add_row_votes(steps, row)


def add_steps(
    const cell_t[:, :] matrix, const int64_t[::1] columns, const uint8_t[::1] kinds,
    const int64_t[::1] first_threshold, const double[::1] thresholds,
    const int64_t[::1] first_vote, const double[:, ::1] votes, double[:, ::1] out,
    int n_threads,
):
    """Add the votes of the columns for each row.

    Parameters
    ----------
    matrix : memoryview of float64 or float32, shape (n_rows, n_columns)
        Numbers and level codes; -1 is an unseen level, and NaN a missing value.
    columns : memoryview of int64, shape (n,)
        Columns that stumps test.
    kinds : memoryview of uint8, shape (n,)
        0: numbers; 1: ordered levels; 2: levels.
    first_threshold : memoryview of int64, shape (n + 1,)
        First threshold of each column, and behind the last.
    thresholds : memoryview of float64
        Those of each column ascending.
    first_vote : memoryview of int64, shape (n + 1,)
        First row of ``votes`` of each column, and behind the last.
    votes : memoryview of float64, shape (n_places, n_classes)
        What is added: of numbers, for each count of thresholds below the value; of
        levels, for each code; then for an unseen level, and for a missing value.
    out : memoryview of float64, shape (n_rows, n_classes)
        Out: the sums.
    n_threads : int
        Number of threads.
    """
    cdef Steps steps
    steps.n_rows, steps.n_classes = out.shape[0], out.shape[1]
    steps.n_steps = columns.shape[0]
    if steps.n_rows == 0 or steps.n_steps == 0:
        return
    steps.column, steps.kind = &columns[0], &kinds[0]
    steps.first_threshold, steps.first_vote = &first_threshold[0], &first_vote[0]
    steps.thresholds, steps.votes = &thresholds[0], &votes[0, 0]
    steps.out, steps.cells = &out[0, 0], <const char*>&matrix[0, 0]
    steps.row_stride, steps.column_stride = matrix.strides[0], matrix.strides[1]
    steps.is_double = cell_t is double
    run_in_threads(
        n_threads, add_block_votes, &steps, 1 + (steps.n_rows - 1) // TURNED_ROWS
    )
