# Thresholds along a direction under the entropy, for whole weights of classes: sums of
# c log2 c come from a table of integers; part of _oblique.pyx.


cdef inline int64_t move_count(
    const int64_t* table, int64_t* counts, int64_t label, int64_t change
) noexcept nogil:
    """Change the count of a class; returns by how much the sum of c log2 c grows."""
    cdef int64_t before = table[counts[label]]
    counts[label] += change
    return table[counts[label]] - before


cdef void scan_counts(ObliqueSearch* search) noexcept nogil:
    """Replace the best split if a threshold of the sorted entries is better."""
    cdef:
        const Problem* problem = search.problem
        const int64_t* table = problem.entropy_table
        const uint64_t* keys = search.keys
        const int32_t* label = search.rows.label
        const double* weight = search.rows.weight
        int64_t* left = search.scratch.left_count
        int64_t* right = search.scratch.right_count
        int64_t n_classes = problem.n_statistics, i, c, w
        int64_t n_left = 0, n_right = <int64_t>search.view.totals.weight
        int64_t left_sum = 0, right_sum = 0, sums
        int64_t least = problem.min_samples_leaf, best = INT64_MIN // 4
        int64_t whole = table[n_right], margin
        double score
    for c in range(n_classes):
        left[c] = 0
        right[c] = <int64_t>search.view.totals.sums[c]
        right_sum += table[right[c]]
        whole -= table[right[c]]
    margin = ROUNDED_UNITS + 2 * n_classes + (
        <int64_t>(search.view.margin / problem.entropy_unit)
    )
    if search.split.column >= 0:
        best = <int64_t>(search.split.score / problem.entropy_unit) - whole + margin
    for i in range(search.n - least):
        c = label[row_of(keys[i])]
        w = <int64_t>weight[row_of(keys[i])]
        left_sum += move_count(table, left, c, w)
        right_sum += move_count(table, right, c, -w)
        n_left += w
        n_right -= w
        if i + 1 < least or (keys[i + 1] ^ keys[i]) >> 32 == 0:
            continue
        sums = left_sum - table[n_left] + right_sum - table[n_right]
        if sums > best:
            best = sums + margin
            score = <double>(sums + whole) * problem.entropy_unit
            take(&search.split, score, i + 1, -1)
