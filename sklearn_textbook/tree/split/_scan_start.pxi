# The sums with which a pass begins; part of _scan.pyx.


cdef void start_classes(
    const Problem* problem, Scratch* scratch, const Pass* scan, Side* side
) noexcept nogil:
    """Classes or outputs, and the squares of classes."""
    cdef int64_t c
    side.left = scratch.left
    side.right = scratch.right
    side.left_squares = side.right_squares = 0.0
    for c in range(problem.n_statistics):
        side.left[c] = scan.left_sums[c]
        side.right[c] = scan.totals.sums[c] - side.left[c]
        side.left_squares += side.left[c] * side.left[c]
        side.right_squares += side.right[c] * side.right[c]


cdef void start_counts(
    const Problem* problem, const Rows* rows, Scratch* scratch, const Entry* entries,
    const Pass* scan, Side* side
) noexcept nogil:
    """Counts of the classes on the left and of all, and their squares; of fewer rows
    than classes those of the classes of the rows."""
    cdef:
        const Totals* totals = scan.totals
        int64_t c, i
    side.left_count = scratch.left_count
    side.right_count = scratch.right_count
    if scan.n_present == totals.rows < problem.n_statistics and scan.left_rows == 0:
        side.whole_squares = side.whole_sum = 0
        for i in range(scan.n_present):
            c = rows.label[row_of(entries[i])]
            side.left_count[c] = 0
            side.right_count[c] = <int64_t>totals.sums[c]
            side.whole_sum += side.right_count[c]
        return
    start_classes(problem, scratch, scan, side)
    side.whole_squares = <int64_t>side.left_squares
    side.whole_sum = <int64_t>side.right_squares
    for c in range(problem.n_statistics):
        side.left_count[c] = <int64_t>side.left[c]
        side.right_count[c] = <int64_t>totals.sums[c]


cdef void start_entropy(
    const Problem* problem, Scratch* scratch, const Pass* scan, double beat, Side* side
) noexcept nogil:
    cdef:
        const int64_t* table = problem.entropy_table
        const double* total = scan.totals.sums
        int64_t c, size = problem.n_statistics
    side.table = table
    side.unit = problem.entropy_unit
    side.n_rows = scan.totals.rows
    side.k_rows = scan.left_rows
    side.whole_sum = 0
    side.whole_base = -table[side.n_rows]
    side.left_count = scratch.left_count
    side.right_count = scratch.right_count
    for c in range(size):
        side.left_count[c] = <int64_t>scan.left_sums[c]
        side.right_count[c] = <int64_t>total[c] - side.left_count[c]
        side.whole_sum += table[side.left_count[c]] + table[side.right_count[c]]
        side.whole_base += table[<int64_t>total[c]]
    if size == 2:
        side.whole_sum = <int64_t>scan.left_sums[1]
        side.whole_total = <int64_t>total[1]
    side.whole_bound = INT64_MIN
    if beat >= -1e300:
        side.whole_bound = side.whole_base + <int64_t>floor(beat / side.unit)
