"""Classes: the rows of a node, counted in bins of the columns that are tried.

The weights of a class stand bin by bin, so that bins are added up and judged several at
a time (``_class_division``).
"""

from libc.stdlib cimport free, malloc
from libc.string cimport memcpy, memset

from sklearn_textbook.tree.split._best cimport score_to_beat
from sklearn_textbook.tree.split._counted cimport (
    FETCH_AHEAD,
    FETCH_EARLY,
    MOST_BINS,
    TILE_COLUMNS,
)
from sklearn_textbook.tree.split._listed cimport class_of, number_of
from sklearn_textbook.tree.split._types cimport GINI
from sklearn_textbook.tree.split._wide_units cimport wide_void


cdef enum:
    MOST_COUNTS = 8192  # of one column
    FEWEST_BINS = 16
    GAP = 4  # between the bins of one class and those of the next
    SUM_ARRAYS = 5  # weight, value, area, left and right


# ------------------------------------------------------------------------------ room


cdef int start_class_bins(
    const Problem* problem, ClassBins* room, int64_t n_rows, uint32_t* gathered
) noexcept nogil:
    """Room for nodes of up to n_rows rows. Returns -1 without memory."""
    cdef:
        int64_t n_slots = problem.max_features, planes = problem.n_statistics + 1
        int64_t i, stride, size, n_sums
        ClassColumn* column
    room.coarseness = 0
    while (
        (MOST_BINS >> room.coarseness) * planes > MOST_COUNTS
        and MOST_BINS >> room.coarseness > FEWEST_BINS
    ):
        room.coarseness += 1
    stride = (MOST_BINS >> room.coarseness) + GAP
    size = planes * stride
    n_sums = SUM_ARRAYS * stride
    room.columns = <ClassColumn*>malloc(n_slots * sizeof(ClassColumn))
    room.counts = <uint32_t*>malloc((n_slots + 1) * size * sizeof(uint32_t))
    # One for each bin is scratch.
    room.sums = <double*>malloc((n_slots * n_sums + stride) * sizeof(double))
    room.tile_bins = <uint8_t*>malloc(TILE_COLUMNS * n_slots * n_rows)
    if (
        room.columns == NULL or room.counts == NULL or room.sums == NULL
        or room.tile_bins == NULL
    ):
        return -1
    room.spare_counts = room.counts + n_slots * size
    for i in range(n_slots):
        column = &room.columns[i]
        column.codes = gathered + i * n_rows
        column.below = room.counts + i * size
        column.weight = room.sums + stride + i * n_sums
        column.value = column.weight + stride
        column.area = column.value + stride
        column.left = column.area + stride
        column.right = column.left + stride
    return 0


cdef void free_class_bins(ClassBins* room) noexcept nogil:
    free(room.columns)
    free(room.counts)
    free(room.sums)
    free(room.tile_bins)
    memset(room, 0, sizeof(ClassBins))


cdef void start_class_contest(
    const Problem* problem, const NodeView* view, Division* division,
    const ClassBins* room, int32_t coarseness, ClassContest* contest
) noexcept nogil:
    """No candidate yet."""
    cdef:
        const int64_t* table = problem.entropy_table
        int64_t c, base = 0
        double beat = score_to_beat(problem, &division.best, view.margin)
    contest.problem = problem
    contest.division = division
    contest.n_classes = problem.n_statistics
    contest.totals = view.totals.sums
    contest.n = view.totals.weight
    contest.margin = view.margin
    contest.lowest = max(problem.min_samples_leaf, 1)
    contest.highest = view.totals.rows - contest.lowest
    contest.counts_rows = contest.lowest > 1
    contest.n_planes = contest.n_classes + contest.counts_rows
    contest.stride = (MOST_BINS >> coarseness) + GAP
    contest.scratch = room.sums
    contest.base = 0.0
    contest.whole_base = 0
    contest.worth = 1.0
    if problem.criterion == GINI:
        contest.base = view.totals.goodness
        contest.bound = beat + contest.base
        contest.slack = 4.0 * contest.margin
        return
    for c in range(contest.n_classes):
        base += table[<int64_t>view.totals.sums[c]]
    contest.whole_base = base - table[<int64_t>contest.n]
    contest.worth = problem.entropy_unit
    contest.bound = beat / contest.worth
    contest.slack = 4.0 * (contest.margin / contest.worth + TABLE_ROUNDING)


# -------------------------------------------------------------------------- counting


cdef inline void count_four(
    const uint8_t* row_bins, int64_t width, const uint64_t* rows, int64_t n,
    ClassColumn** columns, uint32_t** slots, int32_t coarseness, bint is_far,
    bint counts_rows, int64_t stride, int64_t n_classes, uint8_t* tile_bins
) noexcept nogil:
    """Four columns in one pass: their bins stand in the same line of the cache. They
    are kept, as some will be asked for again."""
    cdef:
        const uint8_t* first = row_bins + columns[0].number
        const uint8_t* second = row_bins + columns[1].number
        const uint8_t* third = row_bins + columns[2].number
        const uint8_t* fourth = row_bins + columns[3].number
        uint32_t* first_slots = slots[0]
        uint32_t* second_slots = slots[1]
        uint32_t* third_slots = slots[2]
        uint32_t* fourth_slots = slots[3]
        int64_t i, place, a, b, c, d, start, last = n_classes * stride
        uint64_t row
        uint32_t weight
        uint8_t[TILE_COLUMNS] four
    for i in range(n):
        row = rows[i]
        place = number_of(row) * width
        start = class_of(row) * stride
        weight = <uint32_t>(row >> 48)
        if is_far:
            FETCH_EARLY(row_bins + number_of(rows[i + FETCH_AHEAD]) * width)
        a = first[place] >> coarseness
        b = second[place] >> coarseness
        c = third[place] >> coarseness
        d = fourth[place] >> coarseness
        # In one step.
        four[0] = <uint8_t>a
        four[1] = <uint8_t>b
        four[2] = <uint8_t>c
        four[3] = <uint8_t>d
        memcpy(tile_bins + TILE_COLUMNS * i, four, TILE_COLUMNS)
        first_slots[start + a] += weight
        second_slots[start + b] += weight
        third_slots[start + c] += weight
        fourth_slots[start + d] += weight
        if counts_rows:
            first_slots[last + a] += 1
            second_slots[last + b] += 1
            third_slots[last + c] += 1
            fourth_slots[last + d] += 1


cdef void count_columns(
    const ClassContest* contest, const uint8_t* row_bins, int64_t width,
    const uint64_t* rows, int64_t n, ClassColumn** columns, int64_t n_columns,
    int32_t coarseness, bint is_far, uint8_t* tile_bins, uint32_t* spare_counts
) noexcept nogil:
    """Count the rows of up to four columns."""
    cdef:
        ClassColumn* all_columns[TILE_COLUMNS]
        uint32_t* slots[TILE_COLUMNS]
        int64_t i, stride = contest.stride, n_classes = contest.n_classes
    # A column that is counted twice costs less than a loop for every number.
    for i in range(TILE_COLUMNS):
        all_columns[i] = columns[min(i, n_columns - 1)]
        slots[i] = spare_counts + 1
    for i in range(n_columns):
        memset(columns[i].below, 0, contest.n_planes * stride * sizeof(uint32_t))
        slots[i] = columns[i].below + 1
        columns[i].row_bins = tile_bins + i
    # Numbers that the compiler knows make loops of their own.
    if contest.counts_rows:
        count_four(
            row_bins, width, rows, n, all_columns, slots, coarseness, is_far, True,
            stride, n_classes, tile_bins
        )
    elif coarseness > 0:
        count_four(
            row_bins, width, rows, n, all_columns, slots, coarseness, False, False,
            stride, n_classes, tile_bins
        )
    elif is_far:
        count_four(
            row_bins, width, rows, n, all_columns, slots, 0, True, False, stride,
            n_classes, tile_bins
        )
    else:
        count_four(
            row_bins, width, rows, n, all_columns, slots, 0, False, False, stride,
            n_classes, tile_bins
        )


cdef void count_codes(
    const ClassContest* contest, ClassColumn* column, const uint64_t* rows, int64_t n
) noexcept nogil:
    """Count the rows of a column whose codes are gathered."""
    cdef:
        int64_t i, b, stride = contest.stride
        uint32_t* slots = column.below + 1
    memset(column.below, 0, contest.n_planes * stride * sizeof(uint32_t))
    for i in range(n):
        b = (column.codes[i] - column.smallest) >> column.shift
        slots[class_of(rows[i]) * stride + b] += <uint32_t>(rows[i] >> 48)
        if contest.counts_rows:
            slots[contest.n_classes * stride + b] += 1


cdef wide_void convert(
    const uint32_t* whole, int64_t n, double* real
) noexcept nogil:
    cdef int64_t b
    for b in range(n):
        real[b] = <double><int32_t>whole[b]


cdef int64_t add_up_bins(
    const ClassContest* contest, ClassColumn* column
) noexcept nogil:
    """Turn weights in bins into weights below them; returns the bins that hold rows."""
    cdef:
        int64_t b, c, n_used = 0
        uint32_t first, second
        uint32_t* one
        uint32_t* other
        uint32_t* sums = <uint32_t*>contest.scratch
    memset(sums, 0, (column.n_bins + 1) * sizeof(uint32_t))
    for c in range(0, contest.n_planes - 1, 2):
        # Two at a time, as one sum waits for the one before.
        one = column.below + c * contest.stride
        other = one + contest.stride
        first = second = 0
        for b in range(1, column.n_bins + 1):
            first += one[b]
            second += other[b]
            one[b] = first
            other[b] = second
    if contest.n_planes % 2:
        one = column.below + (contest.n_planes - 1) * contest.stride
        first = 0
        for b in range(1, column.n_bins + 1):
            first += one[b]
            one[b] = first
    for c in range(contest.n_classes):
        one = column.below + c * contest.stride
        for b in range(column.n_bins + 1):
            sums[b] += one[b]
    convert(sums, column.n_bins + 1, column.weight)
    for b in range(column.n_bins):
        n_used += sums[b + 1] != sums[b]
    return n_used
