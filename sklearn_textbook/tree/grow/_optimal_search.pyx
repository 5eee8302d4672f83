"""Search for trees of limited depth with the smallest loss, by branch and bound.

The smallest loss of a set of rows is not larger than that of any set that contains it.
So the left side of a threshold, which grows with it, and the right side bound the loss
of all thresholds between two that were solved. With costs, a row that is added to a set
raises its smallest loss by its largest cost at most, which bounds the thresholds on
both sides of each one that was solved.

Trees of depth two are solved by moving rows from one child to the other, in the order
of a column: what the best test of either child loses is kept up to date for every other
column, with costs by a segment tree of prefix sums, otherwise by sums of the runs of
equal values.
"""

from libc.math cimport INFINITY
from libc.stdint cimport int32_t, int64_t, int8_t, uint32_t, uint8_t
from libc.stdlib cimport calloc, free, malloc, realloc
from libc.string cimport memset

from sklearn_textbook._contract._interrupt cimport (
    Interrupt,
    must_stop,
    raise_failure,
    read_milliseconds,
    start_interrupt,
)
from sklearn_textbook._contract._threads cimport (
    ThreadTeam,
    run_tasks,
    start_team,
    stop_team,
)

cdef extern from * nogil:
    """
    /* Nodes of a segment tree have four sums, and the largest sums of their prefixes.
       A leaf is changed, and then the nodes above it: of the current node and its
       sibling, the left one comes first.

       Without a tree: the runs in four parts, of which one number each lies side by
       side; the largest and smallest sums of a prefix, and of the rest of all rows. */
    #define JOIN_PARTS(T)                                                           \\
        T before = 0, rest = 0;                                                     \\
        for (int k = 0; k < 4; k++) most[k] = 0;                                    \\
        for (int k = 0; k < 4; k++) {                                               \\
            T each[4] = {before + ends[0][k], -before - ends[1][k],                 \\
                         rest + ends[2][k], -rest - ends[3][k]};                    \\
            for (int j = 0; j < 4; j++)                                             \\
                most[j] = most[j] > each[j] ? most[j] : each[j];                    \\
            before += ends[4][k];                                                   \\
            if (part > 0) rest += all[4 * (part - 1) + k] - ends[4][k];             \\
        }
    #if defined(__SSE2__) || defined(_M_X64)
    #include <emmintrin.h>
    #define LOAD(p) _mm_loadu_ps(p)
    static inline void join_floats(float* tree, long long i)
    {
        const float* l = tree + 16 * i;
        __m128 m = _mm_max_ps(LOAD(l + 4), _mm_add_ps(LOAD(l), LOAD(l + 12)));
        _mm_storeu_ps(tree + 8 * i + 4, m);
        _mm_storeu_ps(tree + 8 * i, _mm_add_ps(LOAD(l), LOAD(l + 8)));
    }
    static inline void climb_floats(float* tree, long long i)
    {
        __m128 s = LOAD(tree + 8 * i), m = LOAD(tree + 8 * i + 4), first, b;
        while (i > 1) {
            const float* other = tree + 8 * (i ^ 1);
            __m128 is_left = _mm_castsi128_ps(_mm_set1_epi32((int)(i & 1) - 1));
            __m128 os = LOAD(other), om = LOAD(other + 4);
            /* max(om, os + m) or max(m, s + om), without waiting for m. */
            first = _mm_or_ps(_mm_and_ps(is_left, _mm_add_ps(s, om)),
                              _mm_andnot_ps(is_left, om));
            b = _mm_andnot_ps(is_left, os);
            m = _mm_max_ps(first, _mm_add_ps(b, m));
            s = _mm_add_ps(s, os);
            i >>= 1;
            _mm_storeu_ps(tree + 8 * i, s);
            _mm_storeu_ps(tree + 8 * i + 4, m);
        }
    }
    static inline void scan_floats(const float* left, const float* all, long long part,
                                   float* most)
    {
        __m128 s = _mm_setzero_ps(), high = s, low = s, rest_high = s, rest_low = s, u;
        float ends[5][4];
        u = s;
        for (long long i = 0; i < part; i++) {
            s = _mm_add_ps(s, LOAD(left + 4 * i));
            u = _mm_sub_ps(LOAD(all + 4 * i), s);
            high = _mm_max_ps(high, s);
            low = _mm_min_ps(low, s);
            rest_high = _mm_max_ps(rest_high, u);
            rest_low = _mm_min_ps(rest_low, u);
        }
        _mm_storeu_ps(ends[0], high);
        _mm_storeu_ps(ends[1], low);
        _mm_storeu_ps(ends[2], rest_high);
        _mm_storeu_ps(ends[3], rest_low);
        _mm_storeu_ps(ends[4], s);
        JOIN_PARTS(float)
    }
    #else
    #define PLAIN_FLOATS
    #endif
    #define JOIN(T)                                                                 \\
        for (int k = 0; k < 4; k++) {                                               \\
            const T* l = tree + 16 * i + k;                                         \\
            T a = l[4], b = l[0] + l[12];                                           \\
            tree[8 * i + 4 + k] = a > b ? a : b;                                    \\
            tree[8 * i + k] = l[0] + l[8];                                          \\
        }
    #define SCAN(T)                                                                 \\
        T ends[5][4] = {{0}}, u;                                                    \\
        for (long long i = 0; i < part; i++)                                        \\
            for (int k = 0; k < 4; k++) {                                           \\
                T s = ends[4][k] += left[4 * i + k];                                \\
                u = all[4 * i + k] - s;                                             \\
                ends[0][k] = ends[0][k] > s ? ends[0][k] : s;                       \\
                ends[1][k] = ends[1][k] < s ? ends[1][k] : s;                       \\
                ends[2][k] = ends[2][k] > u ? ends[2][k] : u;                       \\
                ends[3][k] = ends[3][k] < u ? ends[3][k] : u;                       \\
            }                                                                       \\
        JOIN_PARTS(T)
    static inline void join_doubles(double* tree, long long i) { JOIN(double) }
    static inline void climb_doubles(double* tree, long long i)
    {
        while (i >>= 1) join_doubles(tree, i);
    }
    static inline void scan_doubles(const double* left, const double* all,
                                    long long part, double* most)
    {
        SCAN(double)
    }
    #ifdef PLAIN_FLOATS
    static inline void join_floats(float* tree, long long i) { JOIN(float) }
    static inline void climb_floats(float* tree, long long i)
    {
        while (i >>= 1) join_floats(tree, i);
    }
    static inline void scan_floats(const float* left, const float* all, long long part,
                                   float* most)
    {
        SCAN(float)
    }
    #endif
    """
    void join_floats(float* tree, int64_t i)
    void join_doubles(double* tree, int64_t i)
    void climb_floats(float* tree, int64_t i)
    void climb_doubles(double* tree, int64_t i)
    void scan_floats(const float* left, const float* all, int64_t part, float* most)
    void scan_doubles(const double* left, const double* all, int64_t part, double* most)

# Numbers of segment trees: sums of whole weights are exact in either.
ctypedef fused Number:
    float
    double

cdef enum Loss:
    COSTS
    GINI
    SQUARES

# Kinds of tests: a prefix of the order of the values, one level against the rest, a set
# of levels.
cdef enum Kind:
    CUT
    LEVEL
    SUBSET

cdef enum:
    LEAF = -1
    MOST_SUBSET_LEVELS = 5  # with more levels, not all sets of them are tests
    ROUND = 16  # tests of the root that are solved before the bound is lowered
    PARTS = 8  # into which thresholds between two that were solved are divided
    SCANS_PER_LEVEL = 6  # scans that take as long as a level of a segment tree
    CLIMB_COST = 6  # of a node of a segment tree, in runs that are scanned
    LANES = 8  # numbers in a node of a segment tree
    LARGEST_TREES = 1 << 22  # numbers in the segment trees of a column
    MOST_CLASSES = 10  # for which there are prefix sums of all pairs

# States of queries.
cdef enum:
    OPEN
    WANTED
    SOLVED
    DROPPED

cdef uint32_t MISSING = 0xFFFFFFFF

cdef struct Entry:
    uint32_t row
    uint32_t rank

cdef struct Test:
    int32_t column
    int32_t kind
    int32_t missing_left
    uint32_t low  # the last rank on the left; the level; the set of levels
    uint32_t high  # the next rank, or MISSING

# Bounds of the smallest loss; the upper one is that of a tree that was found.
cdef struct Result:
    double lower
    double upper

cdef struct Problem:
    int64_t n_rows
    int32_t n_columns
    int32_t n_sums
    Loss loss
    const double* sums  # by row
    const double* weight  # largest cost of each row; NULL: unbounded
    double leaf_cost
    double slack  # smallest difference of two losses that counts
    const int32_t* n_levels
    Interrupt* interrupt
    int64_t deadline
    bint is_stopped
    bint lacks_memory
    bint uses_floats  # whether sums of costs are exact as such

# The rows of a node, sorted by every column, missing values last.
cdef struct Node:
    const Entry* entries
    int64_t stride
    int64_t n

# The best test of a column.
cdef struct Found:
    double loss
    int64_t place
    int32_t kind
    int32_t missing_left

# Thresholds lo..hi between two (a and b) whose sides have known bounds; or one test.
cdef struct Interval:
    int32_t column
    int32_t kind
    int32_t missing_left
    int64_t low
    int64_t high
    int64_t a
    int64_t b
    double left_a
    double right_a
    double left_b
    double right_b
    double bound

cdef struct Job:
    Interval interval
    int64_t at
    double limit
    Test test
    Result left
    Result right
    double loss

# Memory for the children of a node that is searched, and for what is left to do there.
cdef struct Level:
    Entry* entries
    int64_t* run_end  # by column: one past the last entry of each run
    double* cumulated  # largest costs of the rows up to the end of each run
    int32_t* n_runs
    Interval* open
    int64_t n_open
    int64_t n_allocated
    Test* tests  # of both children

cdef struct Workspace:
    Level* levels  # by depth
    uint8_t* side
    int32_t* local  # number of each row within a node
    int32_t* run  # by column, of the rows of a node
    int32_t* n_runs
    double* column_loss  # of the best test
    int32_t* order  # of columns, by that
    double* sums  # of the rows of a node
    double* row_weight
    double* gains  # by row and pair of classes: of the second one's loss
    float* float_gains
    int32_t* place
    double* query_sums  # of the rows on the left
    double* query_total
    int32_t* moved
    int8_t* sign
    int64_t n_moves
    int64_t n_moves_allocated
    int64_t* query_at
    Test* query_test
    double* query_left
    double* query_right
    uint8_t* query_state
    int64_t n_queries
    int64_t all_left  # number of the query after which the order is reversed
    int64_t n_ordered  # queries of thresholds, in order; then those of levels
    double* query_weight  # largest costs of the rows moved so far
    double* left_runs
    double* right_runs
    double* totals  # a few vectors of sums
    double* trees
    Test* pair  # tests of a tree of depth two
    Entry* pair_entries


cdef inline bint is_over(Problem* problem, int64_t n_units) noexcept nogil:
    """Whether the time is over, or a signal was received."""
    if problem.is_stopped:
        return True
    if must_stop(problem.interrupt, n_units):
        problem.is_stopped = True
    elif read_milliseconds() >= problem.deadline:
        problem.is_stopped = True
    return problem.is_stopped


cdef inline double measure(const Problem* problem, const double* sums) noexcept nogil:
    """The loss of a leaf."""
    cdef:
        double total = 0.0, squares = 0.0, least
        int32_t k
    if problem.loss == COSTS:
        least = sums[0]
        for k in range(1, problem.n_sums):
            if sums[k] < least:
                least = sums[k]
        return least
    if problem.loss == SQUARES:
        if sums[0] <= 0.0:
            return 0.0
        return max(sums[2] - sums[1] * sums[1] / sums[0], 0.0)
    for k in range(problem.n_sums):
        total += sums[k]
        squares += sums[k] * sums[k]
    return max(total - squares / total, 0.0) if total > 0.0 else 0.0


# -------------------------------------------------------------- the tests of a column
cdef inline void try_side(
    const Problem* problem, const double* left, const double* total, double* right,
    Found* best, int64_t place, int32_t kind, int32_t missing_left
) noexcept nogil:
    """Take a test if it loses less than the best so far."""
    cdef:
        int32_t k
        double loss
    for k in range(problem.n_sums):
        right[k] = total[k] - left[k]
    loss = measure(problem, left) + measure(problem, right)
    if loss < best.loss - problem.slack:
        best.loss = loss
        best.place = place
        best.kind = kind
        best.missing_left = missing_left


cdef void scan_costs(
    const Problem* problem, const double* runs, int64_t n_runs, const double* missing,
    const double* total, Found* best
) noexcept nogil:
    """Cuts of a column with two classes, the most frequent case."""
    cdef:
        double left0 = 0.0, left1 = 0.0, all0 = total[0], all1 = total[1], loss
        int64_t i, last = n_runs - 1 if missing == NULL else n_runs
        double start0 = 0.0, start1 = 0.0
        int32_t turn
    for turn in range(1 if missing == NULL else 2):
        left0, left1 = start0, start1
        for i in range(last):
            left0 += runs[2 * i]
            left1 += runs[2 * i + 1]
            loss = min(left0, left1) + min(all0 - left0, all1 - left1)
            if loss < best.loss - problem.slack:
                best.loss, best.place, best.kind = loss, i, CUT
                best.missing_left = turn
        if missing != NULL:
            start0, start1 = missing[0], missing[1]
            last = n_runs - 1


cdef void scan_runs(
    const Problem* problem, int32_t column, const double* runs, int64_t n_runs,
    const double* missing, const double* total, double* scratch, Found* best
) noexcept nogil:
    """Try the tests of a column, whose runs of equal values have these sums; missing
    may be NULL."""
    cdef:
        int32_t n = problem.n_sums, k, missing_left
        int32_t n_turns = 1 if missing == NULL else 2
        double* left = scratch
        double* right = scratch + n
        int64_t i, last, mask
        bint is_nominal = problem.n_levels[column] > 0
    if problem.loss == COSTS and n == 2:
        scan_costs(problem, runs, n_runs, missing, total, best)
    else:
        for missing_left in range(n_turns):
            # Missing rows alone are the right side of the last cut.
            last = n_runs - 1 if missing == NULL or missing_left else n_runs
            for k in range(n):
                left[k] = missing[k] if missing_left else 0.0
            for i in range(last):
                for k in range(n):
                    left[k] += runs[i * n + k]
                try_side(problem, left, total, right, best, i, CUT, missing_left)
    if not is_nominal:
        return
    for missing_left in range(n_turns):
        if problem.n_levels[column] <= MOST_SUBSET_LEVELS:
            for mask in range(0 if missing_left else 1, <int64_t>1 << (n_runs - 1)):
                for k in range(n):
                    left[k] = missing[k] if missing_left else 0.0
                for i in range(n_runs):
                    if mask >> i & 1:
                        for k in range(n):
                            left[k] += runs[i * n + k]
                try_side(problem, left, total, right, best, mask, SUBSET, missing_left)
            continue
        for i in range(n_runs):
            for k in range(n):
                left[k] = runs[i * n + k] + (missing[k] if missing_left else 0.0)
            try_side(problem, left, total, right, best, i, LEVEL, missing_left)
    if missing != NULL and problem.n_levels[column] > MOST_SUBSET_LEVELS:
        try_side(problem, missing, total, right, best, -1, LEVEL, 1)


cdef Test name_test(
    const Node* node, int32_t column, int32_t kind, int64_t place, int32_t missing_left
) noexcept nogil:
    """Describe a test by ranks instead of runs."""
    cdef:
        Test test
        const Entry* entries = node.entries + column * node.stride
        int64_t i, run = -1
        uint32_t rank, previous = MISSING
    test.column, test.kind, test.missing_left = column, kind, missing_left
    test.low, test.high = 0, MISSING
    if kind == LEVEL:
        test.low = MISSING  # no level: missing values alone
    for i in range(node.n):
        rank = entries[i].rank
        if rank == MISSING:
            break
        if i == 0 or rank != previous:
            run += 1
            previous = rank
            if kind == SUBSET and place >> run & 1:
                test.low |= <uint32_t>1 << rank
            elif kind != SUBSET and run == place:
                test.low = rank
                if kind == LEVEL:
                    break
            elif kind == CUT and run == place + 1:
                test.high = rank
                break
    return test


cdef inline bint goes_left(const Test* test, uint32_t rank) noexcept nogil:
    """Whether a test sends a value to the left."""
    if rank == MISSING:
        return test.missing_left
    if test.kind == CUT:
        return rank <= test.low
    if test.kind == LEVEL:
        return rank == test.low
    return test.low >> rank & 1


cdef void divide(
    const Problem* problem, const Node* node, const Test* test, uint8_t* side,
    Entry* target, Node* left, Node* right
) noexcept nogil:
    """Sort the rows of both children by every column."""
    cdef:
        int64_t i, n_left = 0, l, r
        int32_t c
        const Entry* source = node.entries + test.column * node.stride
        Entry* written
    for i in range(node.n):
        side[source[i].row] = goes_left(test, source[i].rank)
        n_left += side[source[i].row]
    for c in range(problem.n_columns):
        source = node.entries + c * node.stride
        written = target + c * node.n
        l, r = 0, n_left
        for i in range(node.n):
            if side[source[i].row]:
                written[l] = source[i]
                l += 1
            else:
                written[r] = source[i]
                r += 1
    left.entries, left.stride, left.n = target, node.n, n_left
    right.entries, right.stride, right.n = target + n_left, node.n, node.n - n_left


cdef double sum_node(
    const Problem* problem, const Node* node, double* total
) noexcept nogil:
    """Add up the rows of a node; returns the loss of a leaf."""
    cdef:
        int64_t i
        int32_t k, n = problem.n_sums
        const double* row
    for k in range(n):
        total[k] = 0.0
    for i in range(node.n):
        row = problem.sums + node.entries[i].row * n
        for k in range(n):
            total[k] += row[k]
    return measure(problem, total)


cdef Result solve_one(
    Problem* problem, Workspace* work, const Node* node, Test* out
) noexcept nogil:
    """The best tree of depth one."""
    cdef:
        int32_t n = problem.n_sums, c, k, column = LEAF
        double* total = work.totals
        double* missing = total + n
        double* scratch = total + 2 * n
        const Entry* entries
        const double* row
        int64_t i, n_runs
        Found best, each
        double leaf = sum_node(problem, node, total)
        Result result
    out[0].column = LEAF
    result.lower = result.upper = leaf + problem.leaf_cost
    # A split costs one leaf more.
    best.loss = leaf - problem.leaf_cost
    if best.loss < problem.slack:
        return result
    for c in range(problem.n_columns):
        entries = node.entries + c * node.stride
        n_runs = 0
        for k in range(n):
            missing[k] = 0.0
        for i in range(node.n):
            row = problem.sums + entries[i].row * n
            if entries[i].rank == MISSING:
                for k in range(n):
                    missing[k] += row[k]
                continue
            if i == 0 or entries[i].rank != entries[i - 1].rank:
                for k in range(n):
                    work.left_runs[n_runs * n + k] = 0.0
                n_runs += 1
            for k in range(n):
                work.left_runs[(n_runs - 1) * n + k] += row[k]
        work.column_loss[c] = leaf
        if n_runs == 0:
            continue
        each.loss = leaf
        scan_runs(
            problem, c, work.left_runs, n_runs,
            missing if entries[node.n - 1].rank == MISSING else NULL, total, scratch,
            &each
        )
        work.column_loss[c] = each.loss
        if each.loss < best.loss - problem.slack:
            best = each
            column = c
    if column >= 0:
        out[0] = name_test(node, column, best.kind, best.place, best.missing_left)
        result.lower = result.upper = best.loss + 2 * problem.leaf_cost
    return result


# ----------------------------------------------------------------- trees of depth two
cdef void move_run(
    Problem* problem, Workspace* work, const Entry* entries, int64_t first,
    int64_t last, int8_t sign
) noexcept nogil:
    """Append moves of some entries: to the left (1) or back (-1)."""
    cdef:
        int64_t i, size = work.n_moves + last - first
        void* larger
    if size > work.n_moves_allocated:
        size *= 2
        larger = realloc(work.moved, size * sizeof(int32_t))
        if larger != NULL:
            work.moved = <int32_t*>larger
            larger = realloc(work.sign, size)
        if larger == NULL:
            problem.lacks_memory = problem.is_stopped = True
            return
        work.sign = <int8_t*>larger
        work.n_moves_allocated = size
    for i in range(first, last):
        work.moved[work.n_moves] = work.local[entries[i].row]
        work.sign[work.n_moves] = sign
        work.n_moves += 1


cdef inline void ask(
    Workspace* work, int32_t column, int32_t kind, int32_t missing_left, uint32_t low,
    uint32_t high
) noexcept nogil:
    """Note that the rows are now divided as by a test."""
    cdef Test* test = &work.query_test[work.n_queries]
    test.column, test.kind, test.missing_left = column, kind, missing_left
    test.low, test.high = low, high
    work.query_at[work.n_queries] = work.n_moves
    work.n_queries += 1


cdef void list_moves(
    Problem* problem, Workspace* work, const Node* node, int32_t column
) noexcept nogil:
    """List all tests of a column, and the moves of rows from each to the next one."""
    cdef:
        const Entry* entries = node.entries + column * node.stride
        int64_t* end = work.levels[0].run_end
        int64_t i, n_runs = 0, n_present = node.n, mask, change
        int32_t turn
        bint has_missing
    while n_present > 0 and entries[n_present - 1].rank == MISSING:
        n_present -= 1
    has_missing = n_present < node.n
    end[0] = 0
    for i in range(1, n_present + 1):
        if i == n_present or entries[i].rank != entries[i - 1].rank:
            n_runs += 1
            end[n_runs] = i
    work.n_moves = work.n_queries = 0
    work.n_ordered = 0
    if n_runs == 0:
        return
    ask(work, LEAF, CUT, False, 0, 0)
    for i in range(n_runs):
        move_run(problem, work, entries, end[i], end[i + 1], 1)
        if i + 1 < n_runs:
            ask(work, column, CUT, False, entries[end[i]].rank,
                entries[end[i + 1]].rank)
        elif has_missing:
            ask(work, column, CUT, False, entries[end[i]].rank, MISSING)
    move_run(problem, work, entries, n_present, node.n, 1)
    work.all_left = work.n_queries
    ask(work, LEAF, CUT, True, 0, 0)
    for i in range(n_runs - 1, 0, -1):
        if not has_missing and problem.n_levels[column] == 0:
            break
        move_run(problem, work, entries, end[i], end[i + 1], -1)
        if has_missing:
            ask(work, column, CUT, True, entries[end[i - 1]].rank,
                entries[end[i]].rank)
    work.n_ordered = work.n_queries
    if problem.n_levels[column] > 0:
        move_run(problem, work, entries, end[0], end[1], -1)
        move_run(problem, work, entries, n_present, node.n, -1)
    if problem.n_levels[column] == 0:
        return
    for turn in range(1 + has_missing):
        if turn:
            move_run(problem, work, entries, n_present, node.n, 1)
        if problem.n_levels[column] > MOST_SUBSET_LEVELS:
            if turn:
                ask(work, column, LEVEL, True, MISSING, MISSING)
            if n_runs == 1 and (turn or not has_missing):
                continue
            for i in range(n_runs):
                move_run(problem, work, entries, end[i], end[i + 1], 1)
                ask(work, column, LEVEL, turn, entries[end[i]].rank, MISSING)
                move_run(problem, work, entries, end[i], end[i + 1], -1)
            continue
        for mask in range(0 if turn else 1, <int64_t>1 << (n_runs - 1)):
            change = mask ^ (mask - 1) if mask > 0 else 0
            for i in range(n_runs):
                if change >> i & 1:
                    move_run(
                        problem, work, entries, end[i], end[i + 1],
                        1 if mask >> i & 1 else -1
                    )
            ask(work, column, SUBSET, turn, 0, MISSING)
            for i in range(n_runs):
                if mask >> i & 1:
                    work.query_test[work.n_queries - 1].low |= (
                        <uint32_t>1 << entries[end[i]].rank
                    )
        if not turn:
            for i in range(n_runs - 1):
                if ((<int64_t>1 << (n_runs - 1)) - 1) >> i & 1:
                    move_run(problem, work, entries, end[i], end[i + 1], -1)


cdef inline void take_losses(
    const Problem* problem, Workspace* work, int64_t q, double left, double right
) noexcept nogil:
    """Take the losses of the best tests of both children."""
    work.query_left[q] = min(work.query_left[q], left + 2 * problem.leaf_cost)
    work.query_right[q] = min(work.query_right[q], right + 2 * problem.leaf_cost)


cdef void take_pairs(
    const Problem* problem, Workspace* work, int64_t q, const double* left_missing,
    const double* missing, const Number* most, int64_t stride
) noexcept nogil:
    """Take the losses from the largest sums of prefixes, for every pair of classes."""
    cdef:
        int32_t n = problem.n_sums, a, b
        const double* left = work.query_sums + q * n
        const double* total = work.query_total
        double left_loss = INFINITY, right_loss = INFINITY, low_a, low_b, high_a, high_b
    for a in range(n):
        low_a = left_missing[a]
        high_a = missing[a] - low_a
        for b in range(a + 1, n):
            low_b = left_missing[b]
            high_b = missing[b] - low_b
            # One class on either side of the threshold, or the reverse.
            left_loss = min(left_loss, min(low_a, low_b) + min(
                left[b] - low_b - most[0], left[a] - low_a - most[1]
            ))
            right_loss = min(right_loss, min(high_a, high_b) + min(
                total[b] - left[b] - high_b - most[2],
                total[a] - left[a] - high_a - most[3]
            ))
            most += stride
    take_losses(problem, work, q, left_loss, right_loss)


cdef void replay_scans(
    Problem* problem, Workspace* work, Number* trees, const int32_t* place,
    int64_t n_runs, int64_t n
) noexcept nogil:
    """Solve the queries that are wanted for the thresholds of one column of the
    children, by a scan for each query. A run has the number (run modulo part) * 4 +
    run // part."""
    cdef:
        int32_t n_sums = problem.n_sums, a, p
        int32_t n_pairs = n_sums * (n_sums - 1) // 2
        int64_t part = (n_runs + 3) // 4, i, m = 0, q, row
        double* left_missing = work.totals
        double* missing = left_missing + n_sums
        Number* all = trees + n_pairs * 4 * part
        Number* most = all + n_pairs * 4 * part
        const Number* gain
        double sign
    memset(trees, 0, 8 * n_pairs * part * sizeof(Number))
    memset(left_missing, 0, 2 * n_sums * sizeof(double))
    for i in range(n):
        if place[i] < 0:
            for a in range(n_sums):
                missing[a] += work.sums[i * n_sums + a]
            continue
        if Number is float:
            gain = work.float_gains + i * n_pairs
        else:
            gain = work.gains + i * n_pairs
        for p in range(n_pairs):
            all[4 * part * p + place[i]] += gain[p]
    for p in range(n_pairs):
        for i in range(4, 4 * part):
            all[4 * part * p + i] += all[4 * part * p + i - 4]
    for q in range(work.n_queries):
        while m < work.query_at[q]:
            row = work.moved[m]
            sign = work.sign[m]
            m += 1
            if place[row] < 0:
                for a in range(n_sums):
                    left_missing[a] += sign * work.sums[row * n_sums + a]
                continue
            if Number is float:
                gain = work.float_gains + row * n_pairs
            else:
                gain = work.gains + row * n_pairs
            for p in range(n_pairs):
                trees[4 * part * p + place[row]] += <Number>sign * gain[p]
        if work.query_state[q] != WANTED:
            continue
        for p in range(n_pairs):
            if Number is float:
                scan_floats(
                    trees + 4 * part * p, all + 4 * part * p, part, most + 4 * p
                )
            else:
                scan_doubles(
                    trees + 4 * part * p, all + 4 * part * p, part, most + 4 * p
                )
        take_pairs(problem, work, q, left_missing, missing, most, 4)


cdef void replay_trees(
    Problem* problem, Workspace* work, Number* trees, const int32_t* run,
    int64_t n_runs, int64_t n
) noexcept nogil:
    """The same by segment trees, which are kept up to date between the queries."""
    cdef:
        int32_t n_sums = problem.n_sums, a, p, k
        int32_t n_pairs = n_sums * (n_sums - 1) // 2
        int64_t size = 1, i, m = 0, q, row, stride
        double* left_missing = work.totals
        double* missing = left_missing + n_sums
        Number* leaf
        Number* tree
        Number change
        double sign
    while size < n_runs:
        size *= 2
    stride = 2 * size * LANES
    memset(trees, 0, stride * n_pairs * sizeof(Number))
    memset(left_missing, 0, 2 * n_sums * sizeof(double))
    for i in range(n):
        if run[i] < 0:
            for a in range(n_sums):
                missing[a] += work.sums[i * n_sums + a]
            continue
        for p in range(n_pairs):
            leaf = trees + p * stride + LANES * (size + run[i])
            leaf[2] += <Number>work.gains[i * n_pairs + p]
            leaf[3] -= <Number>work.gains[i * n_pairs + p]
    for p in range(n_pairs):
        tree = trees + p * stride
        for i in range(size, 2 * size):
            for k in range(4):
                tree[LANES * i + 4 + k] = max(tree[LANES * i + k], <Number>0.0)
        for i in range(size - 1, 0, -1):
            if Number is float:
                join_floats(tree, i)
            else:
                join_doubles(tree, i)
    for q in range(work.n_queries):
        while m < work.query_at[q]:
            row = work.moved[m]
            sign = work.sign[m]
            m += 1
            if run[row] < 0:
                for a in range(n_sums):
                    left_missing[a] += sign * work.sums[row * n_sums + a]
                continue
            for p in range(n_pairs):
                change = <Number>(sign * work.gains[row * n_pairs + p])
                if change == 0.0:
                    continue
                tree = trees + p * stride
                leaf = tree + LANES * (size + run[row])
                leaf[0] += change
                leaf[1] -= change
                leaf[2] -= change
                leaf[3] += change
                for k in range(4):
                    leaf[4 + k] = max(leaf[k], <Number>0.0)
                if Number is float:
                    climb_floats(tree, size + run[row])
                else:
                    climb_doubles(tree, size + run[row])
        if work.query_state[q] == WANTED:
            take_pairs(
                problem, work, q, left_missing, missing, trees + LANES + 4, stride
            )


cdef void replay_runs(
    Problem* problem, Workspace* work, int32_t column, const int32_t* run,
    int64_t n_runs, int64_t n
) noexcept nogil:
    """Solve the queries that are wanted for all tests of one column of the children."""
    cdef:
        int32_t n_sums = problem.n_sums, k
        int64_t i, m = 0, q, row
        double* left_missing = work.totals
        double* right_missing = left_missing + n_sums
        double* right = right_missing + n_sums
        double* scratch = right + n_sums
        double* from_
        double* to
        const double* sums
        const double* left
        double sign
        bint has_missing = False
        Found best_left, best_right
    memset(work.left_runs, 0, n_runs * n_sums * sizeof(double))
    memset(work.right_runs, 0, n_runs * n_sums * sizeof(double))
    memset(left_missing, 0, 2 * n_sums * sizeof(double))
    for i in range(n):
        sums = work.sums + i * n_sums
        to = right_missing if run[i] < 0 else work.right_runs + run[i] * n_sums
        has_missing = has_missing or run[i] < 0
        for k in range(n_sums):
            to[k] += sums[k]
    for q in range(work.n_queries):
        while m < work.query_at[q]:
            row = work.moved[m]
            sign = work.sign[m]
            m += 1
            sums = work.sums + row * n_sums
            if run[row] < 0:
                from_, to = right_missing, left_missing
            else:
                from_ = work.right_runs + run[row] * n_sums
                to = work.left_runs + run[row] * n_sums
            for k in range(n_sums):
                to[k] += sign * sums[k]
                from_[k] -= sign * sums[k]
        if work.query_state[q] != WANTED:
            continue
        left = work.query_sums + q * n_sums
        for k in range(n_sums):
            right[k] = work.query_total[k] - left[k]
        # Only better tests matter.
        best_left.loss = work.query_left[q] - 2 * problem.leaf_cost
        best_right.loss = work.query_right[q] - 2 * problem.leaf_cost
        scan_runs(
            problem, column, work.left_runs, n_runs,
            left_missing if has_missing else NULL, left, scratch, &best_left
        )
        scan_runs(
            problem, column, work.right_runs, n_runs,
            right_missing if has_missing else NULL, right, scratch, &best_right
        )
        take_losses(problem, work, q, best_left.loss, best_right.loss)


cdef void number_rows(
    const Problem* problem, Workspace* work, const Node* node
) noexcept nogil:
    """Number the rows of a node and their runs, so that these lie side by side."""
    cdef:
        int64_t i
        int32_t c, k, n_runs, a, b
        const Entry* entries = node.entries
        const double* sums
        int32_t* run
        int32_t* place
        int64_t part, pair = 0
    for i in range(node.n):
        work.local[entries[i].row] = <int32_t>i
        if problem.weight != NULL:
            work.row_weight[i] = problem.weight[entries[i].row]
        for k in range(problem.n_sums):
            work.sums[i * problem.n_sums + k] = (
                problem.sums[entries[i].row * problem.n_sums + k]
            )
        if problem.loss != COSTS or problem.n_sums > MOST_CLASSES:
            continue
        sums = work.sums + i * problem.n_sums
        for a in range(problem.n_sums):
            for b in range(a + 1, problem.n_sums):
                work.gains[pair] = sums[b] - sums[a]
                work.float_gains[pair] = <float>work.gains[pair]
                pair += 1
    for c in range(problem.n_columns):
        entries = node.entries + c * node.stride
        run = work.run + c * node.n
        n_runs = 0
        for i in range(node.n):
            if entries[i].rank == MISSING:
                run[work.local[entries[i].row]] = -1
                continue
            if i == 0 or entries[i].rank != entries[i - 1].rank:
                n_runs += 1
            run[work.local[entries[i].row]] = n_runs - 1
        work.n_runs[c] = n_runs
        # Where replay_scans has each run.
        part = max((n_runs + 3) // 4, 1)
        place = work.place + c * node.n
        for i in range(node.n):
            place[i] = run[i]
            if run[i] >= 0:
                place[i] = <int32_t>(run[i] % part * 4 + run[i] // part)


cdef inline bint has_pairs(const Problem* problem, int32_t column) noexcept nogil:
    """Whether thresholds are searched by prefix sums for every pair of classes."""
    return (
        problem.loss == COSTS and problem.n_levels[column] == 0
        and problem.n_sums <= MOST_CLASSES
    )


cdef double choose_queries(
    const Problem* problem, Workspace* work, double limit, int64_t* n_wanted,
    int64_t* n_open
) noexcept nogil:
    """Choose the thresholds to be solved next: some in each stretch between solved
    ones. Those that the solved ones show to lose at least ``limit`` are dropped.

    Returns the smallest bound of a dropped one; counts those that are chosen and those
    that are left.
    """
    cdef:
        int64_t a = 0, b, i, first, last, part, n_parts
        double bound, dropped = INFINITY, inner, span
        double* left = work.query_left
        double* right = work.query_right
        double* moved = work.query_weight
    n_wanted[0] = n_open[0] = 0
    while a < work.n_ordered:
        b = a + 1
        while b < work.n_ordered and work.query_state[b] != SOLVED:
            b += 1
        # The left side grows with the queries, in the second half the right one does.
        bound, span = 0.0, INFINITY
        if a < work.all_left:
            bound = left[a] + right[b]
        elif b < work.n_ordered:
            bound = right[a] + left[b]
        if problem.weight != NULL and b < work.n_ordered:
            span = moved[b] - moved[a]
            if a < work.all_left:
                bound = max(bound, left[b] + right[a] - span)
            else:
                bound = max(bound, right[b] + left[a] - span)
        first, last = b, a
        for i in range(a + 1, b):
            if work.query_state[i] == DROPPED:
                continue
            inner = bound
            if problem.weight != NULL:
                inner = max(inner, left[a] + right[a] - (moved[i] - moved[a]))
                if b < work.n_ordered:
                    inner = max(inner, left[b] + right[b] - (moved[b] - moved[i]))
            if inner >= limit:
                work.query_state[i] = DROPPED
                dropped = min(dropped, inner)
            else:
                first, last = min(first, i), i
                n_open[0] += 1
        if first <= last:
            n_parts = min(PARTS, last - first + 2)
            for part in range(1, n_parts):
                i = first + (last - first + 2) * part // n_parts - 1
                if work.query_state[i] == OPEN:
                    work.query_state[i] = WANTED
                    n_wanted[0] += 1
        a = b
    return dropped


cdef void start_queries(const Problem* problem, Workspace* work) noexcept nogil:
    """Sum the rows on the left for each query; the children begin as leaves."""
    cdef:
        int32_t n = problem.n_sums, k
        double* left = work.totals
        double* right = left + n
        double weight = 0.0
        int64_t q, m = 0, row
    memset(left, 0, n * sizeof(double))
    for q in range(work.n_queries):
        while m < work.query_at[q]:
            row = work.moved[m]
            for k in range(n):
                left[k] += work.sign[m] * work.sums[row * n + k]
            if problem.weight != NULL:
                weight += work.row_weight[row]
            m += 1
        for k in range(n):
            right[k] = work.query_total[k] - left[k]
            work.query_sums[q * n + k] = left[k]
        work.query_left[q] = measure(problem, left) + problem.leaf_cost
        work.query_right[q] = measure(problem, right) + problem.leaf_cost
        work.query_weight[q] = weight
        work.query_state[q] = OPEN if q < work.n_ordered else WANTED


cdef void sort_columns(const Problem* problem, Workspace* work) noexcept nogil:
    """Order the columns by the loss of their best test: a good tree is found early."""
    cdef:
        int32_t c, i
        double loss
    for c in range(problem.n_columns):
        i = c
        loss = work.column_loss[c] + problem.slack
        while i > 0 and work.column_loss[work.order[i - 1]] > loss:
            work.order[i] = work.order[i - 1]
            i -= 1
        work.order[i] = c


cdef void solve_queries(
    Problem* problem, Workspace* work, int64_t n, int64_t n_wanted
) noexcept nogil:
    """Solve the queries that are wanted for all columns of the children."""
    cdef:
        int32_t c
        int64_t size, height, n_pairs = problem.n_sums * (problem.n_sums - 1) // 2
        bint climbs
        const int32_t* run
    for c in range(problem.n_columns):
        run, size = work.run + c * n, work.n_runs[c]
        if is_over(problem, 4 * (n + work.n_moves)):
            return
        if size == 0:
            continue
        if not has_pairs(problem, c):
            replay_runs(problem, work, c, run, size, n)
            continue
        height = 0
        while (<int64_t>1 << height) < size:
            height += 1
        climbs = (
            n_wanted * size > CLIMB_COST * work.n_moves * height
            and (2 * LANES * n_pairs << height) <= LARGEST_TREES
        )
        if climbs and problem.uses_floats:
            replay_trees(problem, work, <float*>work.trees, run, size, n)
        elif climbs:
            replay_trees(problem, work, work.trees, run, size, n)
        elif problem.uses_floats:
            replay_scans(
                problem, work, <float*>work.trees, work.place + c * n, size, n
            )
        else:
            replay_scans(problem, work, work.trees, work.place + c * n, size, n)


cdef Result solve_two(
    Problem* problem, Workspace* work, const Node* node, double limit, int32_t first,
    int32_t last, Test* out
) noexcept nogil:
    """The best tree of depth two whose root tests one of some columns."""
    cdef:
        int32_t f, c, column
        int64_t q, m, n_wanted, n_open, n_solved, most_scans = 0
        bint is_fast = problem.loss == COSTS
        double best, total, pruned = INFINITY, base
        Test test
        Result result
        Node left, right
    out[1].column = out[2].column = LEAF
    result = solve_one(problem, work, node, out)
    best = base = result.upper
    if best <= 2 * problem.leaf_cost + problem.slack:
        return result
    test.column = LEAF
    for c in range(problem.n_sums):
        work.query_total[c] = work.totals[c]
    number_rows(problem, work, node)
    for c in range(problem.n_columns):
        is_fast = is_fast and has_pairs(problem, c)
    while (<int64_t>1 << most_scans) < node.n:
        most_scans += 1
    most_scans *= SCANS_PER_LEVEL
    sort_columns(problem, work)
    for column in range(first, last):
        f = work.order[column]
        list_moves(problem, work, node, f)
        start_queries(problem, work)
        n_wanted = work.n_queries - work.n_ordered
        n_solved = 0
        if work.n_ordered > 0:
            # No row on the left, then no row on the right.
            work.query_left[0] = work.query_right[work.all_left] = 0.0
            work.query_right[0] = work.query_left[work.all_left] = base
            work.query_state[0] = work.query_state[work.all_left] = SOLVED
        while not problem.is_stopped:
            total = min(best, limit) - problem.slack
            pruned = min(pruned, choose_queries(problem, work, total, &m, &n_open))
            if is_fast and n_solved + m > most_scans and m < n_open:
                # To solve all that are left by segment trees takes less.
                for q in range(work.n_ordered):
                    if work.query_state[q] == OPEN:
                        work.query_state[q] = WANTED
                m = n_open
            n_wanted += m
            if n_wanted == 0:
                break
            solve_queries(problem, work, node.n, n_wanted)
            if problem.is_stopped:
                break
            n_solved += n_wanted
            n_wanted = 0
            for q in range(work.n_queries):
                if work.query_state[q] != WANTED:
                    continue
                work.query_state[q] = SOLVED
                total = work.query_left[q] + work.query_right[q]
                if total < best - problem.slack:
                    best = total
                    test = work.query_test[q]
                pruned = min(pruned, total)
        if problem.is_stopped:
            break
    if test.column >= 0:
        out[0] = test
        divide(
            problem, node, &test, work.side, work.pair_entries, &left, &right
        )
        result.upper = solve_one(problem, work, &left, out + 1).upper
        result.upper += solve_one(problem, work, &right, out + 2).upper
    if problem.is_stopped:
        result.lower = 0.0
    else:
        result.lower = min(result.upper, pruned)
        if result.upper <= limit:
            result.lower = result.upper
    return result


# -------------------------------------------------------------------- deeper trees
cdef double bound_interval(
    const Problem* problem, const double* cumulated, Interval* interval, double limit
) noexcept nogil:
    """Bound the loss of thresholds between two that were solved, and drop those at both
    ends that lose at least ``limit``. Returns a bound of the dropped ones."""
    cdef:
        double bound, weight, dropped = INFINITY, start, end
        double sum_a = interval.left_a + interval.right_a
        double sum_b = interval.left_b + interval.right_b
    bound = interval.left_a + interval.right_b
    if problem.weight != NULL:
        start = cumulated[interval.a] if interval.a >= 0 else 0.0
        end = cumulated[interval.b]
        weight = end - start
        bound = max(bound, interval.left_b + interval.right_a - weight)
        bound = max(bound, (sum_a + sum_b - weight) / 2)
        while (
            interval.low <= interval.high
            and sum_a - (cumulated[interval.low] - start) >= limit
        ):
            dropped = min(dropped, sum_a - (cumulated[interval.low] - start))
            interval.low += 1
        while (
            interval.low <= interval.high
            and sum_b - (end - cumulated[interval.high]) >= limit
        ):
            dropped = min(dropped, sum_b - (end - cumulated[interval.high]))
            interval.high -= 1
    interval.bound = bound
    return dropped


cdef double open_interval(
    Problem* problem, Level* level, const Interval* interval, double limit
) noexcept nogil:
    """Add thresholds to those that are open, unless they lose at least ``limit``;
    returns a bound of those that are dropped."""
    cdef:
        Interval added = interval[0]
        double dropped = INFINITY
        const double* cumulated = level.cumulated + added.column * (problem.n_rows + 1)
        void* larger
    if added.low > added.high:
        return INFINITY
    if added.kind == CUT:
        dropped = bound_interval(problem, cumulated, &added, limit)
    if added.low > added.high:
        return dropped
    if added.bound >= limit:
        return min(dropped, added.bound)
    if level.n_open == level.n_allocated:
        larger = realloc(level.open, 2 * level.n_allocated * sizeof(Interval))
        if larger == NULL:
            problem.lacks_memory = problem.is_stopped = True
            return -INFINITY
        level.open = <Interval*>larger
        level.n_allocated *= 2
    level.open[level.n_open] = added
    level.n_open += 1
    return dropped


cdef double open_column(
    Problem* problem, Level* level, const Node* node, int32_t column, double base,
    double limit
) noexcept nogil:
    """Open all tests of a column; ``base`` bounds the loss of trees that are one level
    lower. Returns a bound of those that are dropped."""
    cdef:
        const Entry* entries = node.entries + column * node.stride
        double* cumulated = level.cumulated + column * (problem.n_rows + 1)
        double missing = 0.0, weight, dropped = INFINITY, total = 0.0
        int64_t i, j, n_runs = 0, n_missing = 0
        int32_t turn
        Interval interval
    for i in range(node.n):
        weight = 0.0
        if problem.weight != NULL:
            weight = problem.weight[entries[i].row]
        total += weight
        if entries[i].rank == MISSING:
            n_missing += 1
            missing += weight
            continue
        if i == 0 or entries[i].rank != entries[i - 1].rank:
            n_runs += 1
        cumulated[n_runs - 1] = total
    if n_runs == 0:
        return INFINITY
    cumulated[n_runs] = total
    interval.column = column
    if problem.weight == NULL:
        base = 0.0
    for turn in range(2 if n_missing > 0 else 1):
        interval.missing_left = turn
        interval.a = -1
        interval.kind = CUT
        interval.low = 0
        interval.b = n_runs if n_missing > 0 and not turn else n_runs - 1
        interval.high = interval.b - 1
        interval.left_a = interval.right_b = 0.0
        interval.right_a = max(0.0, base - (missing if turn else 0.0))
        interval.left_b = base
        dropped = min(dropped, open_interval(problem, level, &interval, limit))
        if problem.n_levels[column] == 0:
            continue
        interval.kind = LEVEL
        interval.left_a = interval.right_a = interval.left_b = interval.right_b = 0.0
        if problem.n_levels[column] > MOST_SUBSET_LEVELS:
            for i in range(-1 if turn else 0, n_runs):
                if i >= 0 and n_runs == 1 and (turn or n_missing == 0):
                    continue
                weight = missing if turn else 0.0
                if i >= 0:
                    weight += cumulated[i] - (cumulated[i - 1] if i > 0 else 0.0)
                interval.low = interval.high = interval.a = interval.b = i
                interval.bound = max(
                    2 * problem.leaf_cost, base - min(weight, total - weight)
                )
                dropped = min(dropped, open_interval(problem, level, &interval, limit))
            continue
        interval.kind = SUBSET
        for i in range(0 if turn else 1, <int64_t>1 << (n_runs - 1)):
            weight = missing if turn else 0.0
            for j in range(n_runs):
                if i >> j & 1:
                    weight += cumulated[j] - (cumulated[j - 1] if j > 0 else 0.0)
            interval.low = interval.high = interval.a = interval.b = i
            interval.bound = max(
                2 * problem.leaf_cost, base - min(weight, total - weight)
            )
            dropped = min(dropped, open_interval(problem, level, &interval, limit))
    return dropped


# What the threads that solve the tests of a node share.
cdef struct Shared:
    Problem* problem
    Workspace* work  # by thread
    const Node* node
    const double* cumulated  # of the node
    int depth
    Job* jobs
    Test* tests  # by job: those of both children
    double limit
    Result* results  # of columns


cdef Result solve(
    Problem* problem, Workspace* work, const Node* node, int depth, double limit,
    Test* out
) noexcept nogil:
    """The best tree of a node, or a bound that is not below ``limit``."""
    cdef Shared shared
    if depth == 1:
        return solve_one(problem, work, node, out)
    if depth == 2:
        return solve_two(problem, work, node, limit, 0, problem.n_columns, out)
    shared.problem, shared.work, shared.node = problem, work, node
    shared.depth = depth
    return search(&shared, NULL, 1, limit, out)


cdef void copy_tests(
    Test* target, const Test* source, int depth, int side
) noexcept nogil:
    """Copy a tree of this depth to where the left (0) or right child (1) of a tree has
    its tests."""
    cdef int64_t level, i
    for level in range(depth):
        for i in range(<int64_t>1 << level):
            target[(<int64_t>1 << (level + 1)) - 1 + (side << level) + i] = (
                source[(<int64_t>1 << level) - 1 + i]
            )


cdef void solve_job(void* context, int64_t task, int thread) noexcept nogil:
    """Solve both children of a test."""
    cdef:
        Shared* shared = <Shared*>context
        Problem* problem = shared.problem
        Workspace* work = shared.work + thread
        Job* job = &shared.jobs[task]
        Interval* interval = &job.interval
        const double* cumulated = (
            shared.cumulated + interval.column * (problem.n_rows + 1)
        )
        Node left, right
        double low_left = interval.left_a, low_right = interval.right_b, weight
        double more = 0.0
        int depth = shared.depth - 1
        int64_t n_tests = (<int64_t>1 << depth) - 1
        Test* tests = shared.tests + task * 2 * n_tests
    job.test = name_test(
        shared.node, interval.column, interval.kind, job.at, interval.missing_left
    )
    divide(
        problem, shared.node, &job.test, work.side, work.levels[depth].entries, &left,
        &right
    )
    if problem.weight != NULL and interval.kind == CUT:
        weight = cumulated[interval.b] - cumulated[job.at]
        low_left = max(low_left, interval.left_b - weight)
        weight = cumulated[job.at]
        if interval.a >= 0:
            weight -= cumulated[interval.a]
        low_right = max(low_right, interval.right_a - weight)
    low_left = max(low_left, problem.leaf_cost)
    low_right = max(low_right, problem.leaf_cost)
    job.left.lower, job.right.lower = low_left, low_right
    job.left.upper = job.right.upper = INFINITY
    if is_over(problem, left.n + right.n):
        return
    # A bound beyond the limit shows that more thresholds nearby are no better.
    if problem.weight != NULL and interval.kind == CUT:
        more = (cumulated[interval.high] - cumulated[interval.low]) / 2
    if left.n >= right.n:
        job.left = solve(
            problem, work, &left, depth, job.limit + more - low_right, tests
        )
        job.left.lower = max(job.left.lower, low_left)
        if job.left.lower + low_right < job.limit + more - problem.slack:
            job.right = solve(
                problem, work, &right, depth, job.limit + more - job.left.lower,
                tests + n_tests
            )
            job.right.lower = max(job.right.lower, low_right)
    else:
        job.right = solve(
            problem, work, &right, depth, job.limit + more - low_left, tests + n_tests
        )
        job.right.lower = max(job.right.lower, low_right)
        if job.right.lower + low_left < job.limit + more - problem.slack:
            job.left = solve(
                problem, work, &left, depth, job.limit + more - job.right.lower, tests
            )
            job.left.lower = max(job.left.lower, low_left)


cdef Result grow_greedily(
    Problem* problem, Workspace* work, const Node* node, int depth, Test* out
) noexcept nogil:
    """A tree whose root is that of the best tree of depth two, and so on below."""
    cdef:
        int64_t i, n_tests = (<int64_t>1 << depth) - 1
        Result result = solve_two(
            problem, work, node, INFINITY, 0, problem.n_columns, out
        )
        Test test = out[0]
        Test* tests
        Node left, right
    for i in range(3, n_tests):
        out[i].column = LEAF
    if depth == 2 or test.column < 0:
        return result
    divide(
        problem, node, &test, work.side, work.levels[depth - 1].entries, &left, &right
    )
    tests = work.levels[depth].tests
    result.upper = grow_greedily(problem, work, &left, depth - 1, tests).upper
    copy_tests(out, tests, depth - 1, 0)
    result.upper += grow_greedily(problem, work, &right, depth - 1, tests).upper
    copy_tests(out, tests, depth - 1, 1)
    return result


cdef Result search(
    Shared* shared, ThreadTeam* team, int n_jobs, double limit, Test* out
) noexcept nogil:
    """The best tree of depth three or more; jobs are solved in rounds, and the bound is
    that at the start of the round, whatever the number of threads."""
    cdef:
        Problem* problem = shared.problem
        Workspace* work = shared.work
        const Node* node = shared.node
        int depth = shared.depth
        Level* level = &work.levels[depth]
        int64_t n_tests = (<int64_t>1 << (depth - 1)) - 1, i, j, lowest, n_round
        Job jobs[ROUND]
        Job* job
        Interval part
        Result result, base
        double best, pruned = INFINITY, unsolved = INFINITY, total, now
        int32_t c
    # The best tree of less depth is the first one, or a greedy one.
    for i in range(2 * n_tests + 1):
        out[i].column = LEAF
    best = sum_node(problem, node, work.totals) + problem.leaf_cost
    result.lower = result.upper = best
    if best <= 2 * problem.leaf_cost + problem.slack:
        return result
    base.lower = 0.0
    if depth == 3:
        base = solve_two(problem, work, node, INFINITY, 0, problem.n_columns, out)
        best = base.upper
    if team != NULL and not problem.is_stopped:
        total = grow_greedily(
            problem, work, node, depth, level.tests + n_tests
        ).upper
        if total < best - problem.slack:
            best = total
            for i in range(2 * n_tests + 1):
                out[i] = level.tests[n_tests + i]
    shared.jobs = jobs
    shared.cumulated = level.cumulated
    shared.tests = level.tests
    level.n_open = 0
    now = min(best, limit) - problem.slack
    for c in range(problem.n_columns):
        pruned = min(pruned, open_column(problem, level, node, c, base.lower, now))
    while level.n_open > 0 and not problem.is_stopped:
        now = min(best, limit) - problem.slack
        n_round = 0
        while n_round < n_jobs and level.n_open > 0:
            lowest = 0
            for i in range(1, level.n_open):
                if level.open[i].bound < level.open[lowest].bound - problem.slack:
                    lowest = i
            part = level.open[lowest]
            if part.bound >= now:
                # So do all others.
                pruned = min(pruned, part.bound)
                level.n_open = 0
                break
            level.n_open -= 1
            level.open[lowest] = level.open[level.n_open]
            jobs[n_round].interval = part
            jobs[n_round].at = (part.low + part.high) // 2
            jobs[n_round].limit = min(best, limit)
            n_round += 1
        if team != NULL:
            run_tasks(team, solve_job, shared, n_round)
        else:
            for i in range(n_round):
                solve_job(shared, i, 0)
        for j in range(n_round):
            job = &jobs[j]
            total = job.left.upper + job.right.upper
            if total < best - problem.slack:
                best = total
                out[0] = job.test
                copy_tests(out, level.tests + 2 * j * n_tests, depth - 1, 0)
                copy_tests(out, level.tests + (2 * j + 1) * n_tests, depth - 1, 1)
        now = min(best, limit) - problem.slack
        for j in range(n_round):
            job = &jobs[j]
            total = job.left.lower + job.right.lower
            total = max(total, job.interval.bound)
            if problem.is_stopped:
                unsolved = min(unsolved, total)
            else:
                pruned = min(pruned, total)
            if job.interval.kind != CUT:
                continue
            part = job.interval
            part.high = job.at - 1
            part.b = job.at
            part.left_b, part.right_b = job.left.lower, job.right.lower
            pruned = min(pruned, open_interval(problem, level, &part, now))
            part = job.interval
            part.low = job.at + 1
            part.a = job.at
            part.left_a, part.right_a = job.left.lower, job.right.lower
            pruned = min(pruned, open_interval(problem, level, &part, now))
    result.upper = best
    if problem.is_stopped:
        for i in range(level.n_open):
            unsolved = min(unsolved, level.open[i].bound)
        result.lower = min(min(best, pruned), unsolved)
    elif best <= limit:
        result.lower = best
    else:
        result.lower = min(best, pruned)
    return result


cdef void solve_column(void* context, int64_t task, int thread) noexcept nogil:
    """The best tree of depth two whose root tests one column."""
    cdef Shared* shared = <Shared*>context
    shared.results[task] = solve_two(
        shared.problem, shared.work + thread, shared.node, shared.limit,
        <int32_t>task, <int32_t>task + 1, shared.tests + 3 * task
    )


cdef Result solve_root(
    Shared* shared, ThreadTeam* team, Test* out
) noexcept nogil:
    """The best tree of all rows."""
    cdef:
        Problem* problem = shared.problem
        int32_t c
        int64_t i
        Result result
    if shared.depth == 1:
        return solve_one(problem, shared.work, shared.node, out)
    if shared.depth > 2:
        return search(shared, team, ROUND, INFINITY, out)
    shared.limit = INFINITY
    run_tasks(team, solve_column, shared, problem.n_columns)
    result.lower = result.upper = INFINITY
    for c in range(problem.n_columns):
        result.lower = min(result.lower, shared.results[c].lower)
        if shared.results[c].upper < result.upper - problem.slack or c == 0:
            result.upper = shared.results[c].upper
            for i in range(3):
                out[i] = shared.tests[3 * c + i]
    return result


cdef void* allocate(int64_t n, int64_t size, bint* fails) noexcept nogil:
    """Memory for some numbers; notes if there is none."""
    cdef void* memory = malloc(max(n, 1) * size)
    if memory == NULL:
        fails[0] = True
    return memory


cdef bint prepare(Problem* problem, Workspace* work, int depth) noexcept nogil:
    """Allocate the memory of a thread; False if there is not enough."""
    cdef:
        bint fails = False
        int64_t n = problem.n_rows, d = problem.n_columns, p = problem.n_sums, level
        int64_t pairs, size
        int64_t most_queries = 5 * n + (4 << MOST_SUBSET_LEVELS)
        Level* each
    work.side = <uint8_t*>allocate(n, 1, &fails)
    work.local = <int32_t*>allocate(n, sizeof(int32_t), &fails)
    work.run = <int32_t*>allocate(n * d, sizeof(int32_t), &fails)
    work.n_runs = <int32_t*>allocate(d, sizeof(int32_t), &fails)
    work.column_loss = <double*>allocate(d, sizeof(double), &fails)
    work.order = <int32_t*>allocate(d, sizeof(int32_t), &fails)
    work.sums = <double*>allocate(n * p, sizeof(double), &fails)
    work.row_weight = <double*>allocate(n, sizeof(double), &fails)
    work.query_weight = <double*>allocate(most_queries, sizeof(double), &fails)
    work.place = <int32_t*>allocate(n * d, sizeof(int32_t), &fails)
    work.query_sums = <double*>allocate(most_queries * p, sizeof(double), &fails)
    work.query_total = <double*>allocate(p, sizeof(double), &fails)
    if problem.loss == COSTS and p <= MOST_CLASSES:
        pairs = p * (p - 1) // 2
        work.gains = <double*>allocate(n * pairs, sizeof(double), &fails)
        work.float_gains = <float*>allocate(n * pairs, sizeof(float), &fails)
        # The leaves of a segment tree are a power of two.
        size = min(<int64_t>LARGEST_TREES, 4 * n * LANES * pairs)
        size = max(size, 2 * (n + 5) * pairs)
        work.trees = <double*>allocate(size, sizeof(double), &fails)
    work.n_moves_allocated = 2 * n
    work.moved = <int32_t*>allocate(2 * n, sizeof(int32_t), &fails)
    work.sign = <int8_t*>allocate(2 * n, 1, &fails)
    work.query_at = <int64_t*>allocate(most_queries, sizeof(int64_t), &fails)
    work.query_test = <Test*>allocate(most_queries, sizeof(Test), &fails)
    work.query_left = <double*>allocate(most_queries, sizeof(double), &fails)
    work.query_right = <double*>allocate(most_queries, sizeof(double), &fails)
    work.query_state = <uint8_t*>allocate(most_queries, 1, &fails)
    work.left_runs = <double*>allocate(n * p, sizeof(double), &fails)
    work.right_runs = <double*>allocate(n * p, sizeof(double), &fails)
    work.totals = <double*>allocate(8 * p, sizeof(double), &fails)
    work.pair_entries = <Entry*>allocate(n * d, sizeof(Entry), &fails)
    work.levels = <Level*>calloc(depth + 1, sizeof(Level))
    if work.levels == NULL:
        return False
    for level in range(depth + 1):
        each = &work.levels[level]
        if level == 0:
            each.run_end = <int64_t*>allocate(n + 1, sizeof(int64_t), &fails)
        if 2 <= level < depth:
            each.entries = <Entry*>allocate(n * d, sizeof(Entry), &fails)
        if level >= 3:
            each.cumulated = <double*>allocate((n + 1) * d, sizeof(double), &fails)
            each.n_allocated = 64
            each.open = <Interval*>allocate(64, sizeof(Interval), &fails)
            each.tests = <Test*>allocate(
                <int64_t>ROUND << level, sizeof(Test), &fails
            )
    return not fails


cdef void release(Workspace* work, int depth) noexcept nogil:
    """Free the memory of a thread."""
    cdef int64_t level
    for level in range(depth + 1 if work.levels != NULL else 0):
        free(work.levels[level].entries)
        free(work.levels[level].run_end)
        free(work.levels[level].cumulated)
        free(work.levels[level].open)
        free(work.levels[level].tests)
    free(work.levels)
    free(work.side)
    free(work.local)
    free(work.run)
    free(work.n_runs)
    free(work.column_loss)
    free(work.order)
    free(work.sums)
    free(work.row_weight)
    free(work.gains)
    free(work.float_gains)
    free(work.place)
    free(work.query_sums)
    free(work.query_total)
    free(work.query_weight)
    free(work.moved)
    free(work.sign)
    free(work.query_at)
    free(work.query_test)
    free(work.query_left)
    free(work.query_right)
    free(work.query_state)
    free(work.left_runs)
    free(work.right_runs)
    free(work.totals)
    free(work.trees)
    free(work.pair_entries)


def find_tree(
    const uint32_t[:, :, ::1] entries, const int32_t[::1] n_levels,
    const double[:, ::1] sums,
    const double[::1] weight, bint uses_floats, int loss, double leaf_cost,
    double slack, int depth,
    int64_t milliseconds, int n_threads, int64_t[:, ::1] tests,
):
    """Search for the tree of smallest loss.

    entries: rows and ranks by column, sorted by rank, the largest number for missing
    values; weight: the largest cost of each row, or empty; tests: written, those of
    node i and its children 2 i + 1 and 2 i + 2: column (-1: a leaf), kind, whether
    missing values go left, last rank on the left or set of levels, next rank.

    Returns a lower bound, the loss of the tree and whether the search was stopped.
    """
    cdef:
        Problem problem
        Node node
        Shared shared
        Interrupt interrupt
        ThreadTeam* team
        Result result
        int64_t i, n_tests = (<int64_t>1 << depth) - 1
        int thread, n_prepared = 0
        Test* out = NULL
        Test* column_tests = NULL
        Workspace* work = NULL
    problem.n_rows, problem.n_columns = entries.shape[1], <int32_t>entries.shape[0]
    problem.n_sums = <int32_t>sums.shape[1]
    problem.loss, problem.sums = <Loss>loss, &sums[0, 0]
    problem.weight = &weight[0] if weight.shape[0] > 0 else NULL
    problem.leaf_cost, problem.slack = leaf_cost, slack
    problem.n_levels = &n_levels[0]
    problem.interrupt = &interrupt
    problem.is_stopped = problem.lacks_memory = False
    problem.uses_floats = uses_floats
    problem.deadline = read_milliseconds() + milliseconds
    node.entries, node.stride, node.n = (
        <const Entry*>&entries[0, 0, 0], problem.n_rows, problem.n_rows
    )
    start_interrupt(&interrupt)
    shared.problem, shared.node, shared.depth = &problem, &node, depth
    shared.tests = NULL
    shared.results = NULL
    try:
        out = <Test*>calloc(n_tests, sizeof(Test))
        work = <Workspace*>calloc(n_threads, sizeof(Workspace))
        shared.tests = column_tests = <Test*>calloc(
            3 * problem.n_columns, sizeof(Test)
        )
        shared.results = <Result*>calloc(problem.n_columns, sizeof(Result))
        if out == NULL or work == NULL or shared.tests == NULL:
            raise MemoryError()
        if shared.results == NULL:
            raise MemoryError()
        for thread in range(n_threads):
            n_prepared = thread + 1
            if not prepare(&problem, work + thread, depth):
                raise MemoryError()
        shared.work = work
        team = start_team(n_threads, &interrupt)
        with nogil:
            result = solve_root(&shared, team, out)
            stop_team(team)
        if problem.lacks_memory:
            raise MemoryError()
        if interrupt.has_come:
            try:
                raise_failure(&interrupt)
            except KeyboardInterrupt:
                # The best tree so far is returned.
                pass
        if result.lower >= result.upper - slack:
            result.lower = result.upper
        for i in range(n_tests):
            tests[i, 0], tests[i, 1] = out[i].column, out[i].kind
            tests[i, 2], tests[i, 3] = out[i].missing_left, out[i].low
            tests[i, 4] = out[i].high
        return result.lower, result.upper, bool(interrupt.has_come)
    finally:
        for thread in range(n_prepared):
            release(work + thread, depth)
        free(work)
        free(out)
        free(column_tests)
        free(shared.results)
