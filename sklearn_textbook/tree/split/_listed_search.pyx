"""The best threshold of columns whose rows are not sorted, for any criterion.

The way is that of ``_histogram``: few rows are sorted; many are counted in bins, whose
ends are candidates, and only the rows of bins that may hold something better are
sorted. What is counted, and how much better the inside of a bin may be, a kernel tells.
"""

from libc.math cimport INFINITY
from libc.string cimport memset

from sklearn_textbook.tree.split._best cimport take
from sklearn_textbook.tree.split._counted cimport FEW_ROWS, sort_keys
from sklearn_textbook.tree.split._types cimport int32_t

cdef enum:
    FEWEST_BINS = 16


cdef void take_division(
    ListContest* contest, ListedColumn* column, double score, uint64_t counts,
    uint32_t code
) noexcept nogil:
    """Take a division that is better than the best one so far."""
    take(&contest.division.best, score, rows_of(counts), -1)
    contest.division.column = column
    contest.division.cut = code
    contest.division.counts = counts


cdef void rank_by_counting(
    const ListedColumn* column, int64_t n, uint64_t* keys
) noexcept nogil:
    """A row's place is the number of smaller keys: no branch depends on the data."""
    cdef:
        int32_t[FEW_ROWS] short_keys
        int32_t i, j, place, key, size = <int32_t>n
    for i in range(size):
        short_keys[i] = <int32_t>((column.codes[i] - column.smallest) << 6) | i
    for i in range(size):
        key = short_keys[i]
        place = 0
        for j in range(size):
            place += short_keys[j] < key
        keys[place] = <uint64_t>(column.codes[i] - column.smallest) << 32 | <uint32_t>i


cdef void choose_bins(ListedColumn* column, int64_t n, int64_t most) noexcept nogil:
    """A bin for eight rows or so, and a power of two of codes in each."""
    cdef:
        uint32_t width = column.largest - column.smallest
        uint32_t n_bins = <uint32_t>min(max(n // 8, FEWEST_BINS), most)
    column.shift = 0
    while width >> column.shift >= n_bins:
        column.shift += 1
    column.n_bins = (width >> column.shift) + 1


cdef void collect_rows(
    const ListedColumn* column, int64_t n, const uint8_t* is_open, uint64_t* keys
) noexcept nogil:
    """The rows of the open bins, with their codes."""
    cdef:
        int64_t i, n_collected = 0
        uint32_t code
    for i in range(n):
        code = column.codes[i] - column.smallest
        keys[n_collected] = <uint64_t>code << 32 | <uint32_t>i
        n_collected += is_open[code >> column.shift]


cdef int64_t open_bins(
    const Kernel* kernel, const ListContest* contest, const ListedColumn* column,
    double bound, uint8_t* is_open
) noexcept nogil:
    """Mark the bins that may hold something better; returns how many rows they have."""
    cdef:
        int64_t b, inside, n_rows = 0
        bint all_open = bound == -INFINITY
    for b in range(column.n_bins):
        inside = rows_of(
            bin_of(contest, column, b + 1)[0] - bin_of(contest, column, b)[0]
        )
        is_open[b] = inside > 1 and (
            all_open or kernel.may_hold_better(contest, column, b, bound)
        )
        n_rows += inside if is_open[b] else 0
    return n_rows


cdef void try_column(
    const Kernel* kernel, ListContest* contest, ListedColumn* column,
    const uint8_t* is_open, const uint64_t* keys
) noexcept nogil:
    """All candidates in ascending order: those inside open bins, and the ends."""
    cdef int64_t b, first = 0, inside
    for b in range(column.n_bins):
        if is_open[b]:
            inside = rows_of(
                bin_of(contest, column, b + 1)[0] - bin_of(contest, column, b)[0]
            )
            kernel.walk(contest, column, keys + first, inside, b)
            first += inside
        kernel.try_end(contest, column, b)


cdef void search_list(
    const Kernel* kernel, ListContest* contest, ListedColumn* columns,
    int64_t n_columns, uint64_t* keys, uint64_t* spare, uint8_t* is_open
) noexcept nogil:
    """The best division of all columns, the earlier column where two are equal."""
    cdef:
        int64_t i, n = contest.listed.n, n_open
        double top = -INFINITY
        ListedColumn* column
    if contest.lowest > contest.highest:
        return
    if n <= FEW_ROWS:
        for i in range(n_columns):
            rank_by_counting(&columns[i], n, keys)
            kernel.walk(contest, &columns[i], keys, n, -1)
        return
    for i in range(n_columns):
        column = &columns[i]
        choose_bins(column, n, contest.most_bins)
        memset(
            column.bins, 0,
            (column.n_bins + 1) * contest.bin_words * sizeof(uint64_t)
        )
        kernel.count(contest, column)
        kernel.add_up(contest, column)
        top = max(top, column.edge)
    # Candidates so near the best that the order decides are all looked at.
    top -= contest.slack
    for i in range(n_columns):
        column = &columns[i]
        n_open = 0
        if column.shift > 0:
            n_open = open_bins(
                kernel, contest, column, max(top, contest.bound), is_open
            )
        else:
            memset(is_open, 0, column.n_bins)
        if n_open == 0 and not column.edge > contest.bound:
            continue
        if n_open > 0:
            collect_rows(column, n, is_open, keys)
            sort_keys(keys, n_open, spare, column.largest - column.smallest)
        try_column(kernel, contest, column, is_open, keys)
