"""The classes of every level of a nominal column, counted from the rows' level codes.

No sorting: the rows of the node are listed once for all columns.
"""

from libc.stdint cimport int32_t, uint16_t, uint32_t
from libc.string cimport memmove, memset

from sklearn_textbook.tree.split._types cimport Code, missing_code, rank_of, row_of


cdef bint has_one_code(
    const Code* codes, const Entry* rows_of_node, int64_t n
) noexcept nogil:
    cdef int64_t i
    for i in range(1, n):
        if codes[row_of(rows_of_node[i])] != codes[row_of(rows_of_node[0])]:
            return False
    return True


cdef bint is_one_level(
    const Codes* codes, int64_t column, const Entry* rows_of_node, int64_t n
) noexcept nogil:
    """Whether all rows of the node have one level, or all miss it."""
    if codes.is_wide:
        return has_one_code(
            <const uint32_t*>codes.start + column * codes.stride, rows_of_node, n
        )
    return has_one_code(
        <const uint16_t*>codes.start + column * codes.stride, rows_of_node, n
    )


cdef void view_known_levels(
    const Problem* problem, const NodeView* node, int64_t n_missing, Totals* known
) noexcept nogil:
    """Turn the classes of the missing rows, in known.sums, into those of the known."""
    cdef:
        int64_t c
        double weight
    known.rows = node.totals.rows - n_missing
    known.weight = 0.0
    for c in range(problem.n_statistics):
        weight = node.totals.sums[c] - known.sums[c]
        # A class without known rows leaves a rounding residue.
        known.sums[c] = weight if weight > 1e-12 * node.totals.sums[c] else 0.0
        known.weight += known.sums[c]


cdef inline int64_t label_of(
    Entry entry, const Rows* rows, bint holds_label
) noexcept nogil:
    """A row's class; the list of rows holds it in place of a rank."""
    return rank_of(entry) if holds_label else rows.label[row_of(entry)]


cdef int64_t fill_counts(
    const Problem* problem, const Rows* rows, Scratch* scratch, const Code* codes,
    const Entry* rows_of_node, int64_t n, int64_t n_levels
) noexcept nogil:
    """Unit weights; nothing is missing."""
    cdef:
        int64_t i, size = problem.n_statistics, n_runs = 0
        int32_t* counts = scratch.level_counts
        int32_t* n_rows = scratch.level_rows
        int32_t* listed = scratch.run_level
        bint holds_label = size <= MOST_LISTED_CLASSES
        Code level
    if n >= 4 * n_levels:
        # Most levels are present: all of them are looked at afterwards.
        for i in range(n):
            counts[
                codes[row_of(rows_of_node[i])] * size
                + label_of(rows_of_node[i], rows, holds_label)
            ] += 1
        return ALL_LEVELS
    for i in range(n):
        level = codes[row_of(rows_of_node[i])]
        # Written always, kept only if the level is new.
        listed[n_runs] = level
        n_runs += n_rows[level] == 0
        n_rows[level] += 1
        counts[level * size + label_of(rows_of_node[i], rows, holds_label)] += 1
    return n_runs


cdef int64_t fill_sums(
    const Problem* problem, const Rows* rows, Scratch* scratch, const Code* codes,
    const Entry* rows_of_node, int64_t n, double* missing
) noexcept nogil:
    """Any weights; returns the number of rows without a level."""
    cdef:
        int64_t i, size = problem.n_statistics, n_missing = 0
        double* sums = scratch.run_sums
        double weight
        uint32_t row
    for i in range(n):
        row = row_of(rows_of_node[i])
        weight = 1.0 if rows.weight == NULL else rows.weight[row]
        if <int64_t>codes[row] == missing_code(codes[row]):
            missing[rows.label[row]] += weight
            n_missing += 1
        else:
            sums[codes[row] * size + rows.label[row]] += weight
    return n_missing


cdef int64_t count_levels(
    const Problem* problem, const Rows* rows, Scratch* scratch, const Codes* codes,
    int64_t column, const Entry* rows_of_node, int64_t n
) noexcept nogil:
    """Fill scratch.level_counts, which holds zeros before, where every row weighs 1 and
    none misses the column. Returns the number of levels that are present, which
    scratch.run_level lists and scratch.level_rows counts; or ALL_LEVELS in a large
    node, where nothing more is written."""
    cdef int64_t n_levels = problem.n_levels[column]
    if codes.is_wide:
        return fill_counts(
            problem, rows, scratch,
            <const uint32_t*>codes.start + column * codes.stride, rows_of_node, n,
            n_levels
        )
    return fill_counts(
        problem, rows, scratch,
        <const uint16_t*>codes.start + column * codes.stride, rows_of_node, n, n_levels
    )


cdef int64_t sum_levels(
    const Problem* problem, const Rows* rows, Scratch* scratch, const Codes* codes,
    int64_t column, const Entry* rows_of_node, const NodeView* node, Totals* known
) noexcept nogil:
    """Fill scratch.run_sums for the levels that are present, one after the other, and
    scratch.run_level with what they are. Returns their number."""
    cdef:
        int64_t n_levels = problem.n_levels[column], n = node.totals.rows
        int64_t size = problem.n_statistics, level, c, run = 0, n_missing
        double* sums = scratch.run_sums
        bint is_present
    memset(sums, 0, n_levels * size * sizeof(double))
    memset(scratch.present, 0, size * sizeof(double))
    if codes.is_wide:
        n_missing = fill_sums(
            problem, rows, scratch,
            <const uint32_t*>codes.start + column * codes.stride, rows_of_node, n,
            scratch.present
        )
    else:
        n_missing = fill_sums(
            problem, rows, scratch,
            <const uint16_t*>codes.start + column * codes.stride, rows_of_node, n,
            scratch.present
        )
    known[0] = node.totals
    if n_missing:
        known.sums = scratch.present
        view_known_levels(problem, node, n_missing, known)
    for level in range(n_levels):
        is_present = False
        for c in range(size):
            is_present = is_present or sums[level * size + c] > 0.0
        if not is_present:
            continue
        scratch.run_level[run] = <int32_t>level
        if run < level:
            memmove(sums + run * size, sums + level * size, size * sizeof(double))
        run += 1
    return run
