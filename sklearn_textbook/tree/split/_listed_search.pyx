"""The best threshold of a node of few rows, for any criterion: the rows of each column
are sorted, and the criterion walks through
them.
"""

from sklearn_textbook.tree.split._best cimport take
from sklearn_textbook.tree.split._counted cimport FEW_ROWS
from sklearn_textbook.tree.split._types cimport int32_t


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


cdef void search_list(
    Walk walk, ListContest* contest, ListedColumn* columns, int64_t n_columns,
    uint64_t* keys
) noexcept nogil:
    """The best division of up to FEW_ROWS rows, the earlier column where two are
    equal."""
    cdef int64_t i, n = contest.listed.n
    if contest.lowest > contest.highest:
        return
    for i in range(n_columns):
        rank_by_counting(&columns[i], n, keys)
        walk(contest, &columns[i], keys, n)
