"""Search for trees of limited depth with the smallest loss, by branch and bound.

The algorithm is that of ConTree (Brita, van der Linden, Demirović, 2025), for any
tests, and for losses other than errors.

**Candidates.** The tests of a column are listed in an order in which rows move from one
child to the other. No row is on the left; then one run of equal values after the other
moves there, then the missing values; then the runs come back, so that missing values
are on the left of the tests in between. The left side grows, and then becomes smaller:
these candidates are *ordered*. Single levels and sets of levels follow them.

**Bounds.** The smallest loss of a set of rows is not larger than that of any set that
contains it. Of a set that loses rows, it becomes smaller by their weight at most: the
largest costs that they may have. So two ordered candidates whose children were solved
bound the losses of both children of those between them (``bound_left``,
``bound_right``). The sums of these bounds are what ConTree calls sub-interval pruning
and neighbourhood pruning; candidates at the ends of an interval are dropped as long as
their bounds are not below the best tree's loss (interval shrinking).

**Depth one** (``solve_one``): the loss of all candidates.

**Depth two** (``solve_two``): for each column of the root, some candidates of every
interval are solved, and the bounds drop others, until none is left. To solve candidates
is to replay the moves once for each column of the children, and to find the best test
of this column for both children: by the sums of its runs (``replay_runs``), or, of
costs, by the largest prefix sums of what one class costs more than another
(``replay_pairs``). These are kept in blocks, and only those to which a row has moved
are added up again.

**Deeper trees** (``search``): the open intervals of all columns are divided, the one
with the lowest bound first, by the candidate in the middle, whose children are solved
recursively. They may lose more than the limit by half of the weight between the ends of
the interval: then they bound more of the candidates beside them. Several threads solve
the candidates of a round, whose limit is that at its start, whatever their number.

Trees are written in preorder: the test of the root, the left subtree, the right one.
"""

from libc.math cimport INFINITY, fabs
from libc.stdint cimport int32_t, int64_t, uint32_t, uint8_t
from libc.stdlib cimport calloc, free, malloc, realloc
from libc.string cimport memcpy, memset

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

cdef extern from *:
    """
    /* Maxima of numbers that are never NaN, four at a time. */
    #if defined(__x86_64__) && defined(__GLIBC__) && defined(__GNUC__) \
        && !defined(__clang__) && !defined(__SANITIZE_ADDRESS__)
    #define SCAN_VOID __attribute__((target_clones("avx2", "default"), \
        optimize("no-signed-zeros", "finite-math-only"))) void
    #else
    #define SCAN_VOID void
    #endif
    """
    ctypedef void scan_void "SCAN_VOID"

cdef enum Loss:
    COSTS
    GINI
    SQUARES

# Kinds of tests: the values up to one, one level, a set of levels.
cdef enum Kind:
    CUT
    LEVEL
    SUBSET

cdef enum State:
    OPEN
    WANTED
    SOLVED
    DROPPED

cdef enum:
    LEAF = -1
    MOST_DEPTH = 12
    MOST_SUBSET_LEVELS = 5  # with more levels, not all sets of them are tests
    MOST_CLASSES = 10  # for which prefix sums of all pairs are kept
    ROUND = 16  # candidates of the root that are solved before the limit is lowered
    PARTS = 8  # into which candidates of depth two divide an interval
    BLOCK = 256  # most runs of four lanes

cdef uint32_t MISSING = 0xFFFFFFFF

cdef struct Entry:
    uint32_t row
    uint32_t rank

cdef struct Test:
    int32_t column
    int32_t kind
    int32_t missing_left
    uint32_t ranks  # the last one on the left; the level; the set of levels as bits

cdef struct Candidate:
    Test test
    State state
    int64_t n_moves  # before it
    double weight  # of the rows on the left
    double left  # loss of the left child: the smallest so far, or a bound
    double right

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
    const double* weight  # by which each row raises the smallest loss, at most
    double leaf_cost
    double slack  # smallest difference of two losses that counts
    const int32_t* n_levels  # of nominal columns, else 0
    Interrupt* interrupt
    int64_t deadline
    bint is_stopped
    bint lacks_memory

# The rows of a node, sorted by every column, missing values last.
cdef struct Node:
    const Entry* entries
    int64_t stride
    int64_t n

# Candidates low..high of a column, between two that were solved.
cdef struct Interval:
    int32_t column
    int64_t low
    int64_t high
    Candidate first
    Candidate last
    double bound
    # The one in the middle, while it is solved.
    Candidate middle
    double limit
    Result found[2]  # of the left and the right child

# Memory for a node at the root of a tree of some depth.
cdef struct Level:
    Entry* entries
    Interval* open
    int64_t n_open
    int64_t n_allocated
    Test* tests  # trees of both children, for each candidate of a round

# Memory of a thread.
cdef struct Workspace:
    Problem* problem
    Level levels[MOST_DEPTH + 1]  # by depth
    void* blocks[64]  # of memory
    int n_blocks
    bint lacks_memory
    uint8_t* side
    double* total  # sums of the rows of a node
    double* scratch
    # Candidates of a column.
    Candidate* candidates
    int64_t n_candidates
    int64_t all_left  # number of the candidate at which the order is reversed
    int64_t n_ordered
    int64_t n_replayed  # up to the last one that is wanted
    double* left  # sums of the rows that have moved to the left
    double left_weight
    double* left_sums  # by candidate
    int32_t* moved  # rows that move to the left; -1 - row: to the right
    int64_t n_moves
    int32_t* order  # of columns, by the least loss of a tree of depth one
    double* least
    int64_t* run_end  # one past the last entry of each run
    # Rows of the root of a tree of depth two, by their numbers within it.
    int32_t* local  # number of a row
    double* sums
    double* gains  # by pair of classes: what the second one costs more
    int32_t* place  # by column: run, or its place among the lanes
    int32_t* n_runs
    # Sums of the runs of a column of the children.
    double* left_runs
    double* right_runs
    double* lanes
    uint8_t* is_stale  # by block of lanes


cdef inline bint is_over(Problem* problem, int64_t n_units) noexcept nogil:
    """Whether the time is over, or a signal was received."""
    if problem.is_stopped:
        return True
    if must_stop(problem.interrupt, n_units):
        problem.is_stopped = True
    elif read_milliseconds() >= problem.deadline:
        problem.is_stopped = True
    return problem.is_stopped


cdef inline double measure_leaf(
    const Problem* problem, double weight, double sum_, double squares
) noexcept nogil:
    """Squared error of a leaf; or its Gini index times the weight, where the weights of
    the classes have the given sum and sum of squares."""
    if weight <= 0.0:
        return 0.0
    if problem.loss == GINI:
        return max(sum_ - squares / weight, 0.0)
    return max(squares - sum_ * sum_ / weight, 0.0)


cdef inline (double, double) measure(
    const Problem* problem, const double* left, const double* total
) noexcept nogil:
    """The losses of two leaves, without their costs: with the rows on the left, and
    with the others."""
    cdef:
        double a = left[0], b = total[0] - left[0], squares_a, squares_b, other
        int32_t k
    if problem.loss == COSTS:
        for k in range(1, problem.n_sums):
            other = total[k] - left[k]
            a = left[k] if left[k] < a else a
            b = other if other < b else b
        return a, b
    if problem.loss == SQUARES:
        return (
            measure_leaf(problem, a, left[1], left[2]),
            measure_leaf(problem, b, total[1] - left[1], total[2] - left[2]),
        )
    squares_a, squares_b = a * a, b * b
    for k in range(1, problem.n_sums):
        other = total[k] - left[k]
        a += left[k]
        b += other
        squares_a += left[k] * left[k]
        squares_b += other * other
    return (
        measure_leaf(problem, a, a, squares_a),
        measure_leaf(problem, b, b, squares_b),
    )


# ----------------------------------------------------------------------- candidates
cdef inline (double, double) bound_sides(
    const Candidate* a, const Candidate* b, double weight
) noexcept nogil:
    """Bound the losses of both sides of a candidate between two others, by the weight
    of its left side."""
    if a.weight > b.weight:
        a, b = b, a
    # The left side contains that of a, and is contained in that of b.
    return (
        max(a.left, b.left - (b.weight - weight)),
        max(b.right, a.right - (weight - a.weight)),
    )


cdef inline double bound_between(
    const Candidate* a, const Candidate* b, double weight
) noexcept nogil:
    """Bound the loss of a candidate between two others."""
    cdef (double, double) sides = bound_sides(a, b, weight)
    return sides[0] + sides[1]


cdef inline int64_t read_move(int32_t moved, double* sign) noexcept nogil:
    """The row that moves; its sums are added to the left, or subtracted."""
    sign[0] = 1.0 if moved >= 0 else -1.0
    return moved if moved >= 0 else -1 - moved


cdef inline void add_sums(
    const double* sums, double sign, double* to, int32_t n
) noexcept nogil:
    """Add the sums of a row or a run."""
    cdef int32_t k
    for k in range(n):
        to[k] += sign * sums[k]


cdef void move_run(
    Workspace* work, const Entry* entries, int64_t run, bint goes_back
) noexcept nogil:
    """Move the rows of a run to the left, or back to the right."""
    cdef:
        const Problem* problem = work.problem
        double sign = -1.0 if goes_back else 1.0
        int64_t i
        int32_t row
    for i in range(work.run_end[run], work.run_end[run + 1]):
        row = <int32_t>entries[i].row
        work.moved[work.n_moves] = -1 - row if goes_back else row
        work.n_moves += 1
        add_sums(
            problem.sums + row * problem.n_sums, sign, work.left, problem.n_sums
        )
        work.left_weight += sign * problem.weight[row]


cdef inline void add_candidate(
    Workspace* work, int32_t column, Kind kind, bint missing_left, uint32_t ranks
) noexcept nogil:
    """Note that the rows are now divided as by a test, and measure both sides as
    leaves; LEAF: that all are together."""
    cdef:
        int32_t n = work.problem.n_sums
        Candidate* added = &work.candidates[work.n_candidates]
    added.test.column, added.test.kind = column, kind
    added.test.missing_left, added.test.ranks = missing_left, ranks
    added.state = SOLVED if column == LEAF else OPEN
    added.n_moves, added.weight = work.n_moves, work.left_weight
    added.left, added.right = measure(work.problem, work.left, work.total)
    added.left += work.problem.leaf_cost
    added.right += work.problem.leaf_cost
    memcpy(work.left_sums + work.n_candidates * n, work.left, n * sizeof(double))
    work.n_candidates += 1


cdef void list_levels(
    Workspace* work, const Entry* entries, int32_t column, int64_t n_runs,
    bint missing_left
) noexcept nogil:
    """List single levels, or sets of levels, that go to the left."""
    cdef:
        int64_t i, run, mask = 0
        uint32_t levels = 0
    if n_runs < 2:
        return
    if work.problem.n_levels[column] > MOST_SUBSET_LEVELS:
        for i in range(n_runs):
            move_run(work, entries, i, False)
            add_candidate(
                work, column, LEVEL, missing_left, entries[work.run_end[i]].rank
            )
            move_run(work, entries, i, True)
        return
    # In the order of a Gray code, one level changes sides; the last one stays.
    for i in range(1, <int64_t>1 << (n_runs - 1)):
        run = 0
        while not i >> run & 1:
            run += 1
        mask ^= <int64_t>1 << run
        levels ^= <uint32_t>1 << entries[work.run_end[run]].rank
        move_run(work, entries, run, not mask >> run & 1)
        add_candidate(work, column, SUBSET, missing_left, levels)
    move_run(work, entries, n_runs - 2, True)


cdef void list_candidates(
    Workspace* work, const Node* node, int32_t column, double base
) noexcept nogil:
    """List the tests of a column, and the moves of rows that lead from each to the next
    one; ``base`` bounds the loss of the tree that all rows together may have."""
    cdef:
        const Entry* entries = node.entries + column * node.stride
        int64_t* end = work.run_end
        int64_t i, n_runs = 0, n_present = node.n
        int32_t n_levels = work.problem.n_levels[column]
        bint has_missing
    work.n_moves = work.n_candidates = work.n_ordered = end[0] = 0
    work.left_weight = 0.0
    memset(work.left, 0, work.problem.n_sums * sizeof(double))
    for i in range(node.n):
        if entries[i].rank == MISSING:
            n_present = i
            break
        if i + 1 == node.n or entries[i + 1].rank != entries[i].rank:
            n_runs += 1
            end[n_runs] = i + 1
    if n_runs == 0:
        return
    # Missing values are a run after the others.
    has_missing = n_present < node.n
    end[n_runs + 1] = node.n
    add_candidate(work, LEAF, CUT, False, 0)
    work.candidates[0].right = base
    for i in range(n_runs):
        move_run(work, entries, i, False)
        if i + 1 < n_runs or has_missing:
            add_candidate(work, column, CUT, False, entries[end[i]].rank)
    move_run(work, entries, n_runs, False)
    work.all_left = work.n_candidates
    add_candidate(work, LEAF, CUT, True, 0)
    work.candidates[work.all_left].left = base
    if has_missing or n_levels > 0:
        for i in range(n_runs - 1, -1, -1):
            move_run(work, entries, i, True)
            if has_missing and i > 0:
                add_candidate(work, column, CUT, True, entries[end[i - 1]].rank)
        move_run(work, entries, n_runs, True)
        add_candidate(work, LEAF, CUT, False, 0)
        work.candidates[work.n_candidates - 1].right = base
    work.n_ordered = work.n_candidates
    if n_levels > 0:
        list_levels(work, entries, column, n_runs, False)
        if has_missing:
            move_run(work, entries, n_runs, False)
            list_levels(work, entries, column, n_runs, True)


# ----------------------------------------------------------------- trees of depth one
cdef inline bint goes_left(const Test* test, uint32_t rank) noexcept nogil:
    """Whether a test sends a value to the left."""
    if rank == MISSING:
        return test.missing_left
    if test.kind == CUT:
        return rank <= test.ranks
    if test.kind == LEVEL:
        return rank == test.ranks
    return test.ranks >> rank & 1


cdef void divide(
    Workspace* work, const Node* node, const Test* test, Entry* target, Node* children
) noexcept nogil:
    """Sort the rows of both children by every column."""
    cdef:
        int64_t i, n_left = 0, l, r
        int32_t c
        uint8_t* side = work.side
        const Entry* source = node.entries + test.column * node.stride
        Entry* written
    for i in range(node.n):
        side[source[i].row] = goes_left(test, source[i].rank)
        n_left += side[source[i].row]
    for c in range(work.problem.n_columns):
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
    children[0].entries, children[0].n = target, n_left
    children[1].entries, children[1].n = target + n_left, node.n - n_left
    children[0].stride = children[1].stride = node.n


cdef double sum_node(Workspace* work, const Node* node) noexcept nogil:
    """Add up the rows of a node; returns the loss of a leaf and its cost."""
    cdef:
        const Problem* problem = work.problem
        int64_t i
        int32_t n = problem.n_sums
    memset(work.total, 0, n * sizeof(double))
    for i in range(node.n):
        add_sums(problem.sums + node.entries[i].row * n, 1.0, work.total, n)
    return measure(problem, work.total, work.total)[0] + problem.leaf_cost


cdef Result solve_one(Workspace* work, const Node* node, Test* out) noexcept nogil:
    """The best tree of depth one; orders the columns by the losses of their tests."""
    cdef:
        const Problem* problem = work.problem
        int32_t c, place
        int64_t q
        double total, least, best = sum_node(work, node)
        Candidate* each
        Result result
    out[0].column = LEAF
    if best > 2 * problem.leaf_cost + problem.slack:
        for c in range(problem.n_columns):
            list_candidates(work, node, c, 0.0)
            least = INFINITY
            for q in range(work.n_candidates):
                each = &work.candidates[q]
                total = each.left + each.right
                if each.state == OPEN and total < least - problem.slack:
                    least = total
                    if total < best - problem.slack:
                        best = total
                        out[0] = each.test
            place = c
            while place > 0 and work.least[place - 1] > least + problem.slack:
                work.least[place] = work.least[place - 1]
                work.order[place] = work.order[place - 1]
                place -= 1
            work.least[place], work.order[place] = least, c
    result.lower = result.upper = best
    return result


# ----------------------------------------------------------------- trees of depth two
cdef inline bint has_pairs(const Problem* problem, int32_t column) noexcept nogil:
    """Whether the tests of a column are compared for every pair of classes."""
    return (
        problem.loss == COSTS and problem.n_levels[column] == 0
        and problem.n_sums <= MOST_CLASSES
    )


cdef inline int32_t count_blocks(int32_t n_runs) noexcept nogil:
    """Blocks of four lanes of runs."""
    return (n_runs + BLOCK - 1) // BLOCK


cdef inline int32_t count_part(int32_t n_runs) noexcept nogil:
    """Runs of a lane."""
    cdef int32_t n_lanes = 4 * count_blocks(n_runs)
    return (n_runs + n_lanes - 1) // n_lanes


cdef void number_rows(Workspace* work, const Node* node) noexcept nogil:
    """Number the rows of a node and their runs, so that these lie side by side."""
    cdef:
        const Problem* problem = work.problem
        int64_t i, pair = 0
        int32_t c, k, a, b, n = problem.n_sums, n_runs, part, block
        const Entry* entries = node.entries
        double* sums
        int32_t* place
    for i in range(node.n):
        work.local[entries[i].row] = <int32_t>i
        sums = work.sums + i * n
        for k in range(n):
            sums[k] = problem.sums[entries[i].row * n + k]
        if problem.loss == COSTS and n <= MOST_CLASSES:
            for a in range(n):
                for b in range(a + 1, n):
                    work.gains[pair] = sums[b] - sums[a]
                    pair += 1
    for c in range(problem.n_columns):
        entries = node.entries + c * node.stride
        place = work.place + c * node.n
        n_runs = 0
        for i in range(node.n):
            if entries[i].rank != MISSING and (
                i == 0 or entries[i].rank != entries[i - 1].rank
            ):
                n_runs += 1
            # Missing values are a run after the others.
            place[work.local[entries[i].row]] = (
                n_runs if entries[i].rank == MISSING else n_runs - 1
            )
        work.n_runs[c] = n_runs
        if n_runs > 0 and has_pairs(problem, c):
            part = count_part(n_runs)
            for i in range(node.n):
                block, k = place[i] // (4 * part), place[i] % (4 * part)
                if place[i] < n_runs:
                    place[i] = BLOCK * block + k % part * 4 + k // part
                else:
                    place[i] = count_blocks(n_runs) * BLOCK


cdef inline bint is_dropped(
    Candidate* each, const Candidate* a, const Candidate* b, double limit,
    double* pruned
) noexcept nogil:
    """Drop a candidate between two that were solved if it loses at least ``limit``."""
    cdef double bound
    if each.state == OPEN:
        bound = bound_between(a, b, each.weight)
        if bound >= limit:
            each.state = DROPPED
            pruned[0] = min(pruned[0], bound)
    return each.state == DROPPED


cdef void choose_candidates(
    Workspace* work, double limit, double* pruned
) noexcept nogil:
    """Choose the candidates to be solved next, and drop others: in each interval
    between solved ones some are chosen, and all of those that are not ordered."""
    cdef:
        int64_t first = 0, last, q, low, high, part, n_parts
        Candidate* each = work.candidates
    work.n_replayed = 0
    for last in range(1, work.n_ordered):
        if each[last].state != SOLVED:
            continue
        low, high = last, first
        for q in range(first + 1, last):
            if not is_dropped(each + q, each + first, each + last, limit, pruned):
                low, high = min(low, q), q
        n_parts = min(<int64_t>PARTS, high - low + 2)
        for part in range(1, n_parts):
            q = low + (high - low + 2) * part // n_parts - 1
            if each[q].state == OPEN:
                each[q].state = WANTED
                work.n_replayed = q + 1
        first = last
    for q in range(work.n_ordered, work.n_candidates):
        if each[q].state == OPEN and not is_dropped(
            each + q, each, each + work.all_left, limit, pruned
        ):
            each[q].state = WANTED
            work.n_replayed = q + 1


cdef scan_void scan_lanes(
    const double* left, const double* total, int64_t part, double* ends
) noexcept nogil:
    """Sum four lanes of runs; note the sums, and the largest and smallest prefix sums
    on the left and on the right. ``total`` has the prefix sums of both sides."""
    cdef:
        double[4] s, high, low, rest_high, rest_low
        double rest
        int64_t i
        int k
    for k in range(4):
        s[k] = high[k] = low[k] = rest_high[k] = rest_low[k] = 0.0
    for i in range(part):
        for k in range(4):
            s[k] += left[4 * i + k]
            rest = total[4 * i + k] - s[k]
            high[k] = high[k] if high[k] > s[k] else s[k]
            low[k] = low[k] if low[k] < s[k] else s[k]
            rest_high[k] = rest_high[k] if rest_high[k] > rest else rest
            rest_low[k] = rest_low[k] if rest_low[k] < rest else rest
    for k in range(4):
        ends[k], ends[4 + k], ends[8 + k] = s[k], high[k], low[k]
        ends[12 + k], ends[16 + k] = rest_high[k], rest_low[k]


cdef void join_lanes(
    const double* ends, const double* left, const double* total, int32_t n_runs,
    double* most
) noexcept nogil:
    """The largest and smallest (with the other sign) prefix sums of all lanes, on the
    left and on the right, with the missing values if they raise it."""
    cdef:
        int32_t n_blocks = count_blocks(n_runs), part = count_part(n_runs), block
        int32_t missing = n_blocks * BLOCK
        double s = 0.0, rest = 0.0
        const double* lane
        int k
    most[0] = most[1] = most[2] = most[3] = 0.0
    for block in range(n_blocks):
        for k in range(4):
            lane = ends + 20 * block + k
            most[0] = max(most[0], s + lane[4])
            most[1] = max(most[1], -s - lane[8])
            most[2] = max(most[2], rest + lane[12])
            most[3] = max(most[3], -rest - lane[16])
            s += lane[0]
            rest += total[BLOCK * block + 4 * (part - 1) + k] - lane[0]
    s, rest = left[missing], total[missing] - left[missing]
    most[0] += max(s, 0.0)
    most[1] += max(-s, 0.0)
    most[2] += max(rest, 0.0)
    most[3] += max(-rest, 0.0)


cdef void replay_pairs(Workspace* work, int32_t column, int64_t n) noexcept nogil:
    """Solve the candidates that are wanted for the thresholds of one column of the
    children, by prefix sums of the gains of its runs."""
    cdef:
        int32_t n_sums = work.problem.n_sums, n_runs = work.n_runs[column], a, b, p
        int32_t n_pairs = n_sums * (n_sums - 1) // 2, n_blocks = count_blocks(n_runs)
        int64_t part = count_part(n_runs), size = (n_blocks + <int64_t>1) * BLOCK
        int64_t block, i, m = 0, q, row, last
        const int32_t* place = work.place + column * n
        const int32_t* moved = work.moved
        double* gains = work.gains
        double* gain_left = work.lanes
        double* total = gain_left + n_pairs * size
        double* ends = total + n_pairs * size
        const double* left
        uint8_t* is_stale = work.is_stale
        double most[4]
        double sign, cost = 2 * work.problem.leaf_cost
        Candidate* each
    for block in range(2 * n_pairs * (n_blocks + 1)):
        memset(gain_left + BLOCK * block, 0, 4 * part * sizeof(double))
    memset(is_stale, 1, n_blocks)
    for i in range(n):
        for p in range(n_pairs):
            total[size * p + place[i]] += gains[i * n_pairs + p]
    for block in range(n_pairs * (n_blocks + 1)):
        for i in range(BLOCK * block + 4, BLOCK * block + 4 * part):
            total[i] += total[i - 4]
    for q in range(work.n_replayed):
        each = &work.candidates[q]
        last = each.n_moves
        while m < last:
            row = read_move(moved[m], &sign)
            m += 1
            is_stale[place[row] // BLOCK] = True
            for p in range(n_pairs):
                gain_left[size * p + place[row]] += sign * gains[row * n_pairs + p]
        if each.state != WANTED:
            continue
        for block in range(n_blocks):
            if is_stale[block]:
                is_stale[block] = False
                for p in range(n_pairs):
                    i = size * p + BLOCK * block
                    scan_lanes(
                        gain_left + i, total + i, part,
                        ends + 20 * (n_blocks * p + block)
                    )
        left, p = work.left_sums + q * n_sums, 0
        for a in range(n_sums):
            for b in range(a + 1, n_sums):
                join_lanes(
                    ends + 20 * n_blocks * p, gain_left + size * p, total + size * p,
                    n_runs, most
                )
                # Class a on one side of the threshold and b on the other.
                each.left = min(
                    each.left, cost + min(left[b] - most[0], left[a] - most[1])
                )
                each.right = min(each.right, cost + min(
                    work.total[b] - left[b] - most[2], work.total[a] - left[a] - most[3]
                ))
                p += 1


cdef double scan_runs(
    const Problem* problem, int32_t column, const double* runs, int64_t n_runs,
    bint has_missing, const double* total, double* left
) noexcept nogil:
    """The smallest loss of the tests of a column, whose runs have these sums; missing
    values are a run after the others."""
    cdef:
        int32_t n = problem.n_sums, n_levels = problem.n_levels[column]
        bint all_sets = 0 < n_levels <= MOST_SUBSET_LEVELS
        double best = INFINITY, a, b
        int64_t n_tests = n_runs, i, j, missing_left
    if all_sets:
        n_tests += <int64_t>1 << (n_runs - 1)
    elif n_levels > 0:
        n_tests += n_runs
    for missing_left in range(1 + has_missing):
        # Values up to one; then single levels, or sets of levels.
        for i in range(n_tests):
            if i == 0 or i >= n_runs:
                memset(left, 0, n * sizeof(double))
                if missing_left:
                    add_sums(runs + n_runs * n, 1.0, left, n)
            if i < n_runs or not all_sets:
                j = i if i < n_runs else i - n_runs
                add_sums(runs + j * n, 1.0, left, n)
            else:
                for j in range(n_runs):
                    if (i - n_runs) >> j & 1:
                        add_sums(runs + j * n, 1.0, left, n)
            a, b = measure(problem, left, total)
            best = min(best, a + b)
    return best


cdef void replay_runs(Workspace* work, int32_t column, int64_t n) noexcept nogil:
    """The same for all tests of one column of the children, by sums of its runs."""
    cdef:
        const Problem* problem = work.problem
        int32_t n_sums = problem.n_sums, k
        int64_t i, m = 0, q, row, n_runs = work.n_runs[column]
        int64_t size = (n_runs + 1) * n_sums * sizeof(double)
        const int32_t* place = work.place + column * n
        double* right = work.scratch
        double* scratch = right + n_sums
        const double* left
        double sign, cost = 2 * problem.leaf_cost
        bint has_missing = False
        Candidate* each
    memset(work.left_runs, 0, size)
    memset(work.right_runs, 0, size)
    for i in range(n):
        has_missing = has_missing or place[i] == n_runs
        add_sums(
            work.sums + i * n_sums, 1.0, work.right_runs + place[i] * n_sums, n_sums
        )
    for q in range(work.n_replayed):
        each = &work.candidates[q]
        while m < each.n_moves:
            row = read_move(work.moved[m], &sign)
            m += 1
            i = place[row] * n_sums
            add_sums(work.sums + row * n_sums, sign, work.left_runs + i, n_sums)
            add_sums(work.sums + row * n_sums, -sign, work.right_runs + i, n_sums)
        if each.state != WANTED:
            continue
        left = work.left_sums + q * n_sums
        for k in range(n_sums):
            right[k] = work.total[k] - left[k]
        each.left = min(each.left, cost + scan_runs(
            problem, column, work.left_runs, n_runs, has_missing, left, scratch
        ))
        each.right = min(each.right, cost + scan_runs(
            problem, column, work.right_runs, n_runs, has_missing, right, scratch
        ))


cdef Result solve_two(
    Workspace* work, const Node* node, double limit, Test* out
) noexcept nogil:
    """The best tree of depth two, or a bound that is not below ``limit``."""
    cdef:
        const Problem* problem = work.problem
        int32_t column, c
        int64_t q, m, row
        double best, total, base, pruned = INFINITY
        Candidate* each
        Result result
        Node children[2]
        Test test
    out[1].column = out[2].column = LEAF
    result = solve_one(work, node, out)
    best = base = result.upper
    if best <= 2 * problem.leaf_cost + problem.slack:
        return result
    test.column = LEAF
    number_rows(work, node)
    for column in range(problem.n_columns):
        list_candidates(work, node, work.order[column], base)
        for m in range(work.n_moves):
            row = work.moved[m]
            work.moved[m] = work.local[row] if row >= 0 else -1 - work.local[-1 - row]
        while not problem.is_stopped:
            total = min(best, limit) - problem.slack
            choose_candidates(work, total, &pruned)
            if work.n_replayed == 0:
                break
            # Solve them for all columns of the children.
            for c in range(problem.n_columns):
                if is_over(work.problem, 4 * (node.n + work.n_moves)):
                    break
                if work.n_runs[c] > 0 and has_pairs(problem, c):
                    replay_pairs(work, c, node.n)
                elif work.n_runs[c] > 0:
                    replay_runs(work, c, node.n)
            if problem.is_stopped:
                break
            for q in range(work.n_replayed):
                each = &work.candidates[q]
                if each.state != WANTED:
                    continue
                each.state = SOLVED
                total = each.left + each.right
                if total < best - problem.slack:
                    best, test = total, each.test
                pruned = min(pruned, total)
    result.lower = best if best <= limit else min(best, pruned)
    if problem.is_stopped:
        result.lower = 0.0
    if test.column >= 0 and best < limit:
        result.upper, out[0] = best, test
        divide(work, node, &test, work.levels[1].entries, children)
        solve_one(work, &children[0], out + 1)
        solve_one(work, &children[1], out + 2)
    return result


# ---------------------------------------------------------------------- deeper trees
# What the threads that solve the candidates of a round share.
cdef struct Shared:
    Workspace* work  # by thread
    const Node* node
    int depth
    Interval* round
    Test* tests  # of each interval: those of both children


cdef double open_interval(
    Workspace* work, Level* level, const Interval* interval, double limit
) noexcept nogil:
    """Add candidates to those that are open, unless they lose at least ``limit``;
    returns a bound of those that are dropped."""
    cdef:
        Interval* added
        const Candidate* a = &interval.first
        const Candidate* b = &interval.last
        double bound, dropped = INFINITY, low, high, weight
        int64_t first = interval.low, last = interval.high
        void* larger
    while first <= last:
        bound = bound_between(a, b, work.candidates[first].weight)
        if bound < limit:
            break
        dropped = min(dropped, bound)
        first += 1
    while first <= last:
        bound = bound_between(a, b, work.candidates[last].weight)
        if bound < limit:
            break
        dropped = min(dropped, bound)
        last -= 1
    if first > last:
        return dropped
    # The weight for which the bound is lowest.
    if a.weight > b.weight:
        a, b = b, a
    weight = (a.weight + b.weight + a.left + a.right - b.left - b.right) / 2
    low, high = work.candidates[first].weight, work.candidates[last].weight
    weight = min(max(weight, min(low, high)), max(low, high))
    bound = bound_between(a, b, weight)
    if bound >= limit:
        return min(dropped, bound)
    if level.n_open == level.n_allocated:
        larger = realloc(level.open, 2 * (level.n_open + 32) * sizeof(Interval))
        if larger == NULL:
            work.problem.lacks_memory = work.problem.is_stopped = True
            return 0.0
        level.open = <Interval*>larger
        level.n_allocated = 2 * (level.n_open + 32)
    added = &level.open[level.n_open]
    added[0] = interval[0]
    added.low, added.high, added.bound = first, last, bound
    level.n_open += 1
    return dropped


cdef double open_column(
    Workspace* work, Level* level, const Node* node, int32_t column, double base,
    double limit
) noexcept nogil:
    """Open all candidates of a column; ``base`` bounds the loss of trees that are one
    level lower. Returns a bound of those that are dropped."""
    cdef:
        Interval added
        double dropped
        int64_t q
    list_candidates(work, node, column, base)
    if work.n_candidates == 0:
        return INFINITY
    added.column = column
    added.first, added.last = work.candidates[0], work.candidates[work.all_left]
    added.low, added.high = 1, work.all_left - 1
    dropped = open_interval(work, level, &added, limit)
    for q in range(work.n_ordered, work.n_candidates):
        added.low = added.high = q
        dropped = min(dropped, open_interval(work, level, &added, limit))
    added.first, added.last = work.candidates[work.all_left], work.candidates[0]
    added.low, added.high = work.all_left + 1, work.n_ordered - 2
    return min(dropped, open_interval(work, level, &added, limit))


cdef Result solve(
    Workspace* work, ThreadTeam* team, const Node* node, int depth, double limit,
    Test* out
) noexcept nogil:
    """The best tree of a node, or a bound that is not below ``limit``; with a team of
    threads, ``work`` is that of each of them."""
    if depth == 1:
        return solve_one(work, node, out)
    if depth == 2:
        return solve_two(work, node, limit, out)
    return search(work, team, node, depth, limit, out)


cdef void solve_middle(void* context, int64_t task, int thread) noexcept nogil:
    """Solve both children of the candidate in the middle of an interval."""
    cdef:
        Shared* shared = <Shared*>context
        Workspace* work = shared.work + thread
        Problem* problem = work.problem
        Interval* each = &shared.round[task]
        Candidate* middle = &each.middle
        Node children[2]
        double lower[2]
        double limit = each.limit
        int depth = shared.depth - 1, side, turn
        int64_t n_tests = (<int64_t>1 << depth) - 1
        Test* tests = shared.tests + task * 2 * n_tests
    sum_node(work, shared.node)
    list_candidates(work, shared.node, each.column, 0.0)
    middle[0] = work.candidates[(each.low + each.high) // 2]
    if problem.loss == COSTS:
        # A bound beyond the limit shows that more candidates nearby are no better.
        limit += fabs(
            work.candidates[each.high].weight - work.candidates[each.low].weight
        ) / 2
    lower[0], lower[1] = bound_sides(&each.first, &each.last, middle.weight)
    divide(work, shared.node, &middle.test, work.levels[depth].entries, children)
    for side in range(2):
        lower[side] = max(lower[side], problem.leaf_cost)
        each.found[side].upper = INFINITY
    for turn in range(2):
        # The child with more rows first.
        side = turn ^ (children[0].n < children[1].n)
        if is_over(problem, shared.node.n) or (
            turn and lower[0] + lower[1] >= limit - problem.slack
        ):
            break
        each.found[side] = solve(
            work, NULL, &children[side], depth, limit - lower[1 - side],
            tests + side * n_tests
        )
        lower[side] = max(lower[side], each.found[side].lower)
    middle.left, middle.right = lower[0], lower[1]


cdef Result grow_greedily(
    Workspace* work, const Node* node, int depth, Test* out
) noexcept nogil:
    """A tree whose root is that of the best tree of depth two, and so on below; the
    lower bound is that of trees of depth two."""
    cdef:
        int64_t i, half = (<int64_t>1 << (depth - 1)) - 1
        Test tests[3]
        Node children[2]
        Result result = solve_two(work, node, INFINITY, tests)
    for i in range(2 * half + 1):
        out[i].column = LEAF
    out[0], out[1], out[1 + half] = tests[0], tests[1], tests[2]
    if depth > 2 and tests[0].column >= 0:
        divide(work, node, tests, work.levels[depth - 1].entries, children)
        result.upper = grow_greedily(work, &children[0], depth - 1, out + 1).upper
        result.upper += grow_greedily(
            work, &children[1], depth - 1, out + 1 + half
        ).upper
    return result


cdef Result search(
    Workspace* work, ThreadTeam* team, const Node* node, int depth, double limit,
    Test* out
) noexcept nogil:
    """The best tree of depth three or more, or a bound that is not below ``limit``."""
    cdef:
        const Problem* problem = work.problem
        Level* level = &work.levels[depth]
        int64_t n_tests = (<int64_t>1 << depth) - 2, i, lowest, n_round, middle
        int64_t n_most = 1 if team == NULL else ROUND
        Interval round[ROUND]
        Interval part
        Interval* each
        Shared shared
        Result result
        double best, lower = INFINITY, base = 0.0, total, now
        int32_t c
    result.lower = result.upper = sum_node(work, node)
    for i in range(n_tests + 1):
        out[i].column = LEAF
    if result.upper <= 2 * problem.leaf_cost + problem.slack:
        return result
    result = grow_greedily(work, node, depth, out)
    best = result.upper
    if depth == 3:
        base = result.lower
    now = min(best, limit) - problem.slack
    shared.work, shared.node, shared.depth = work, node, depth
    shared.round, shared.tests, level.n_open = round, level.tests, 0
    sum_node(work, node)
    for c in range(problem.n_columns):
        lower = min(lower, open_column(work, level, node, c, base, now))
    while level.n_open > 0 and not problem.is_stopped:
        n_round = 0
        while n_round < n_most and level.n_open > 0:
            lowest = 0
            for i in range(1, level.n_open):
                if level.open[i].bound < level.open[lowest].bound - problem.slack:
                    lowest = i
            each = &round[n_round]
            each[0] = level.open[lowest]
            if each.bound >= now:
                # So are all others.
                lower = min(lower, each.bound)
                level.n_open = 0
                break
            level.n_open -= 1
            level.open[lowest] = level.open[level.n_open]
            each.limit = min(best, limit)
            n_round += 1
        if team != NULL:
            run_tasks(team, solve_middle, &shared, n_round)
        else:
            solve_middle(&shared, 0, 0)
        for i in range(n_round):
            total = round[i].found[0].upper + round[i].found[1].upper
            if total < best - problem.slack:
                best = total
                out[0] = round[i].middle.test
                memcpy(out + 1, level.tests + i * n_tests, n_tests * sizeof(Test))
        now = min(best, limit) - problem.slack
        for i in range(n_round):
            each = &round[i]
            total = each.middle.left + each.middle.right
            lower = min(lower, max(total, each.bound))
            middle = (each.low + each.high) // 2
            sum_node(work, node)
            list_candidates(work, node, each.column, base)
            part = each[0]
            part.high, part.last = middle - 1, each.middle
            lower = min(lower, open_interval(work, level, &part, now))
            part = each[0]
            part.low, part.first = middle + 1, each.middle
            lower = min(lower, open_interval(work, level, &part, now))
    for i in range(level.n_open):
        lower = min(lower, level.open[i].bound)
    result.upper = best
    result.lower = min(best, lower)
    if best <= limit and not problem.is_stopped:
        result.lower = best
    return result


cdef void* allocate(Workspace* work, int64_t n, size_t size) noexcept nogil:
    """Memory for some numbers, which ``release`` frees; notes if there is none."""
    cdef void* memory = malloc(max(n, 1) * size)
    work.blocks[work.n_blocks] = memory
    work.n_blocks += 1
    work.lacks_memory = work.lacks_memory or memory == NULL
    return memory


cdef bint prepare(Problem* problem, Workspace* work, int depth) noexcept nogil:
    """Allocate the memory of a thread; False if there is not enough."""
    cdef:
        int64_t n = problem.n_rows, d = problem.n_columns, p = problem.n_sums, i
        # Cuts, and levels or sets of them, with missing values on either side.
        int64_t n_candidates = 4 * n + (2 << MOST_SUBSET_LEVELS), pairs = 0
        int64_t n_blocks = n // BLOCK + 2  # the last one for missing values
        Level* level
    if problem.loss == COSTS and p <= MOST_CLASSES:
        pairs = p * (p - 1) // 2
    work.problem = problem
    work.side = <uint8_t*>allocate(work, n, 1)
    work.total = <double*>allocate(work, p, sizeof(double))
    work.left = <double*>allocate(work, p, sizeof(double))
    work.scratch = <double*>allocate(work, 2 * p, sizeof(double))
    work.candidates = <Candidate*>allocate(work, n_candidates, sizeof(Candidate))
    work.left_sums = <double*>allocate(work, n_candidates * p, sizeof(double))
    # Of five levels, one moves up to eight times, with missing values on either side.
    work.moved = <int32_t*>allocate(work, 24 * n, sizeof(int32_t))
    work.run_end = <int64_t*>allocate(work, n + 2, sizeof(int64_t))
    work.local = <int32_t*>allocate(work, n, sizeof(int32_t))
    work.sums = <double*>allocate(work, n * p, sizeof(double))
    work.gains = <double*>allocate(work, n * pairs, sizeof(double))
    work.place = <int32_t*>allocate(work, n * d, sizeof(int32_t))
    work.n_runs = <int32_t*>allocate(work, d, sizeof(int32_t))
    work.order = <int32_t*>allocate(work, d, sizeof(int32_t))
    work.least = <double*>allocate(work, d, sizeof(double))
    work.left_runs = <double*>allocate(work, (n + 1) * p, sizeof(double))
    work.right_runs = <double*>allocate(work, (n + 1) * p, sizeof(double))
    work.is_stale = <uint8_t*>allocate(work, n_blocks, 1)
    work.lanes = <double*>allocate(
        work, pairs * (2 * BLOCK + 20) * n_blocks, sizeof(double)
    )
    for i in range(1, depth + 1):
        level = &work.levels[i]
        if i < depth:
            level.entries = <Entry*>allocate(work, n * d, sizeof(Entry))
        if i > 2:
            level.tests = <Test*>allocate(work, ROUND << i, sizeof(Test))
    return not work.lacks_memory


cdef void release(Workspace* work) noexcept nogil:
    """Free the memory of a thread."""
    cdef int i
    for i in range(work.n_blocks):
        free(work.blocks[i])
    for i in range(MOST_DEPTH + 1):
        free(work.levels[i].open)


def find_tree(
    const uint32_t[:, :, ::1] entries, const int32_t[::1] n_levels,
    const double[:, ::1] sums, const double[::1] weight, int loss, double leaf_cost,
    double slack, int depth, int64_t milliseconds, int n_threads,
    int64_t[:, ::1] tests,
):
    """Search for the tree of smallest loss.

    entries: rows and ranks by column, sorted by rank, the largest number for missing
    values; weight: by which each row raises the smallest loss of a set of rows, at
    most; tests: written, in preorder: column (-1: a leaf), kind, whether missing values
    go left, and the last rank on the left, the level or the set of levels.

    Returns a lower bound, the loss of the tree and whether the search was stopped.
    """
    cdef:
        Problem problem
        Node node
        Interrupt interrupt
        ThreadTeam* team
        Workspace* work
        Test* out
        Result result
        int64_t i, n_tests = (<int64_t>1 << depth) - 1
        int thread
    problem.n_rows, problem.n_columns = entries.shape[1], <int32_t>entries.shape[0]
    problem.n_sums = <int32_t>sums.shape[1]
    problem.loss, problem.sums, problem.weight = <Loss>loss, &sums[0, 0], &weight[0]
    problem.leaf_cost, problem.slack = leaf_cost, slack
    problem.n_levels = &n_levels[0]
    problem.interrupt = &interrupt
    problem.is_stopped = problem.lacks_memory = False
    problem.deadline = read_milliseconds() + milliseconds
    node.entries = <const Entry*>&entries[0, 0, 0]
    node.stride = node.n = problem.n_rows
    start_interrupt(&interrupt)
    work = <Workspace*>calloc(n_threads, sizeof(Workspace))
    if work == NULL:
        raise MemoryError()
    try:
        out = <Test*>allocate(work, n_tests, sizeof(Test))
        for thread in range(n_threads):
            if not prepare(&problem, work + thread, depth):
                raise MemoryError()
        team = start_team(n_threads, &interrupt)
        with nogil:
            result = solve(work, team, &node, depth, INFINITY, out)
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
            tests[i, 2], tests[i, 3] = out[i].missing_left, out[i].ranks
        return result.lower, result.upper, bool(interrupt.has_come)
    finally:
        for thread in range(n_threads):
            release(work + thread)
        free(work)
