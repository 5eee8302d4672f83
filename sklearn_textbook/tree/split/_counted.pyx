"""Best threshold of a column whose rows are not sorted: what is common to nodes of
few rows, which are sorted, and of many, which are counted in bins.

The comparisons, and so the splits, are those of ``scan_binary`` and
``scan_weighted_binary``.
"""

from libc.stdint cimport int16_t
from libc.string cimport memcpy, memset

from sklearn_textbook.tree.split._best cimport score_to_beat, take


cdef inline double raise_bound(
    const Problem* problem, const Contest* contest
) noexcept nogil:
    return score_to_beat(problem, &contest.best, contest.margin) * contest.n * 0.5


cdef void start_contest(
    const Problem* problem, const NodeView* view, Contest* contest
) noexcept nogil:
    """No candidate yet."""
    memset(&contest.best, 0, sizeof(Split))
    contest.best.column = -1
    contest.best.score = -1.0
    contest.best.missing_child = -1
    contest.best.n_children = 2
    contest.n = view.totals.weight
    contest.t = view.totals.sums[1]
    contest.margin = view.margin
    contest.lowest = max(problem.min_samples_leaf, 1)
    contest.highest = view.totals.rows - contest.lowest
    contest.bound = raise_bound(problem, contest)
    contest.place = -1


cdef void try_division(
    const Problem* problem, Contest* contest, int32_t place, uint64_t counts,
    uint32_t cut, uint32_t above, bint is_between
) noexcept nogil:
    """Take the division with these counts on the left if it is better."""
    cdef:
        double n = contest.n
        double k = <double>weight_in(counts)
        double d = <double>ones_in(counts) * n - contest.t * k
        double score
    if not d * d > contest.bound * (k * (n - k)):
        return
    if not contest.lowest <= rows_in(counts) <= contest.highest:
        return
    score = 2.0 * (d * d / (k * (n - k))) / n
    take(&contest.best, score, rows_in(counts), -1)
    contest.place = place
    contest.cut = cut
    contest.above = above
    contest.is_between = is_between
    contest.counts = counts
    contest.bound = raise_bound(problem, contest)


cdef void walk_up(
    const Problem* problem, Contest* contest, int32_t place, uint32_t smallest,
    const uint64_t* keys, int64_t n, const uint64_t* rows, uint64_t counts
) noexcept nogil:
    """Try the divisions between sorted rows; ``counts`` is what lies below them."""
    cdef:
        int64_t i
        double weight = contest.n, t = contest.t, bound = contest.bound, d, k
        uint32_t code = <uint32_t>(keys[0] >> 32), above
    for i in range(1, n):
        counts += counts_of(rows[<uint32_t>keys[i - 1]])
        above = <uint32_t>(keys[i] >> 32)
        # 21 bits each.
        k = <double><int32_t>weight_in(counts)
        d = <double><int32_t>ones_in(counts) * weight - t * k
        if d * d > bound * (k * (weight - k)) and above != code:
            try_division(
                problem, contest, place, counts, smallest + code, smallest + above, True
            )
            bound = contest.bound
        code = above


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
    uint64_t* keys, int64_t n, uint64_t* spare, uint32_t width
) noexcept nogil:
    """Sort by the upper 32 bits, none of which exceeds ``width``."""
    cdef:
        int64_t[257] start
        int64_t i
        int digit = 32
        uint64_t* source = keys
        uint64_t* target = spare
    if n <= 64:
        sort_by_insertion(keys, n)
        return
    while width > 0:
        memset(start, 0, sizeof(start))
        for i in range(n):
            start[((source[i] >> digit) & 0xFF) + 1] += 1
        for i in range(256):
            start[i + 1] += start[i]
        for i in range(n):
            target[start[(source[i] >> digit) & 0xFF]] = source[i]
            start[(source[i] >> digit) & 0xFF] += 1
        source, target = target, source
        digit += 8
        width >>= 8
    if source != keys:
        memcpy(keys, source, n * sizeof(uint64_t))


cdef inline void count_smaller(
    const int16_t* keys, int64_t n, int64_t size, int16_t* places
) noexcept nogil:
    """How many of the first n keys are smaller than each of ``size`` keys."""
    cdef int64_t i, j
    for i in range(size):
        places[i] = 0
    for j in range(n):
        for i in range(size):
            places[i] += keys[j] < keys[i]


cdef void rank_by_counting(
    const CountedColumn* column, int64_t n, uint64_t* keys
) noexcept nogil:
    """A row's place is the number of smaller keys: no branch depends on the data.

    The keys are short, so that eight are compared at once: ten bits of the code, six of
    the row. Rows that ten bits do not tell apart are put in order afterwards.
    """
    cdef:
        int16_t[FEW_ROWS] short_keys, places
        int64_t i, size
        uint32_t width = column.highest - column.lowest
        int32_t shift = 0
    while width >> shift > 0x3FF:
        shift += 1
    for i in range(n):
        short_keys[i] = <int16_t>(
            (((column.codes[i] - column.lowest) >> shift) << 6 | <uint32_t>i) - 0x8000
        )
    size = 8 if n <= 8 else (n + 15) // 16 * 16
    for i in range(n, size):
        short_keys[i] = 0x7FFF
    # Numbers that the compiler knows, so that all places stay in registers.
    if size == 8:
        count_smaller(short_keys, n, 8, places)
    elif size == 16:
        count_smaller(short_keys, n, 16, places)
    elif size == 32:
        count_smaller(short_keys, n, 32, places)
    elif size == 48:
        count_smaller(short_keys, n, 48, places)
    else:
        count_smaller(short_keys, n, FEW_ROWS, places)
    for i in range(n):
        keys[places[i]] = (
            <uint64_t>(column.codes[i] - column.lowest) << 32 | <uint64_t>i
        )
    if shift > 0:
        sort_by_insertion(keys, n)


cdef void search_few_rows(
    const Problem* problem, Contest* contest, const CountedColumn* column,
    int32_t place, const uint64_t* rows, int64_t n, uint64_t* keys
) noexcept nogil:
    """All divisions of a node of at most FEW_ROWS rows."""
    rank_by_counting(column, n, keys)
    walk_up(problem, contest, place, column.lowest, keys, n, rows, 0)
