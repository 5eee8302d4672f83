# Cases on a stack, and a test that partitions those of a node in place: header-only.
#
# A case that the test cannot place (its value is missing, or is a level without a
# branch) is sent to one branch, like a case with a known value; or it stays in the node
# and is in no branch; or it is sent to every branch with a part of its weight,
# proportional to the weight of the cases in the branch. Only cases divided in this way
# are called missing below.

from libc.math cimport INFINITY
from libc.stdint cimport int32_t, int64_t, uint32_t
from libc.string cimport memcpy

from sklearn_textbook._contract._file_memory cimport resize_bytes
from sklearn_textbook.tree.grow._layout cimport (
    DENSE_MAP, FRACTIONAL, NOMINAL, NUMERIC, STAY, Node, find_level_child,
)
from sklearn_textbook.tree.route._branch cimport UNKNOWN, TreeView, follow_surrogates
from sklearn_textbook.tree.route._rows cimport Row, Table, view_row
from sklearn_textbook.tree.split._types cimport GLOBAL_MISSING, Codes

cdef extern from *:
    """
    #if defined(__GNUC__) || defined(__clang__)
    #define FETCH_EARLY(address) __builtin_prefetch(address)
    #else
    #define FETCH_EARLY(address) ((void)(address))
    #endif
    """
    void FETCH_EARLY(const void*) noexcept nogil

cdef enum:
    FETCH_AHEAD = 24  # number of values prefetched
    ASK_SURROGATES = -3  # in place of a branch: the value is missing


# A row, or the part of a row that reaches a node.
cdef struct Case:
    double weight
    int32_t row
    int32_t label


# What a child of the node that was divided gets.
cdef struct Branch:
    # its cases whose value is present: where they start, and how many
    int64_t start
    int64_t n_known
    # the part of every case whose value is missing; no meaning without such cases
    double fraction


# The training table and the tree whose tests are made on it. Its nodes are those of the
# grown tree; if missing values are divided, so are levels without a branch.
cdef struct CaseTable:
    Table rows
    # level codes of nominal columns; start is NULL where there are none
    Codes codes
    TreeView tree


# A stack of cases, and a buffer to sort them in.
cdef struct Stack:
    Case* cases
    int64_t top
    int64_t capacity
    bint in_files  # the memory of the cases
    # as many cases as there are rows
    Case* scratch
    int32_t* branch_of


cdef inline bint divides_missing(
    const CaseTable* table, const Node* test
) noexcept nogil:
    """Whether all cases that the test cannot place go to all branches, as in C4.5."""
    return test.missing_branch == FRACTIONAL and table.tree.surrogate_start == NULL


cdef inline bint is_sent(const Branch* branch, int64_t n_missing) noexcept nogil:
    """Whether the branch gets a part of the cases whose value is missing."""
    return n_missing > 0 and branch.fraction > 1e-6


cdef inline int push_cases(
    Stack* stack, const Stack* source, int64_t start, int64_t n, double fraction
) noexcept nogil:
    """Copy n cases of a stack, the same one or another, to the top, a fraction of each;
    -1 when memory runs out."""
    cdef:
        int64_t capacity = stack.capacity, i
        void* moved
        Case* target
    if stack.top + n > capacity:
        capacity = max(stack.top + n, capacity + capacity // 2)
        moved = resize_bytes(
            stack.cases, stack.capacity * sizeof(Case), capacity * sizeof(Case),
            stack.in_files
        )
        if moved == NULL:
            return -1
        stack.cases = <Case*>moved
        stack.capacity = capacity
    target = stack.cases + stack.top
    memcpy(target, source.cases + start, n * sizeof(Case))
    if fraction != 1.0:
        for i in range(n):
            target[i].weight *= fraction
    stack.top += n
    return 0


# ------------------------------------------------------------------------- one value
cdef struct Column:
    const char* start
    Py_ssize_t stride
    bint is_single


cdef inline Column view_column(const CaseTable* table, const Node* test) noexcept nogil:
    """The column of a test, read by row number."""
    cdef Column column
    column.start = table.rows.start + test.feature * table.rows.column_stride
    column.stride = table.rows.row_stride
    column.is_single = table.rows.is_single
    return column


cdef inline double read_value(
    Column column, const Case* cases, int64_t i, int64_t n
) noexcept nogil:
    """Value of case i of n that are read one by one."""
    cdef const char* place = column.start + cases[i].row * column.stride
    cdef int64_t ahead = min(i + FETCH_AHEAD, n - 1)
    FETCH_EARLY(column.start + cases[ahead].row * column.stride)
    if column.is_single:
        return (<const float*>place)[0]
    return (<const double*>place)[0]


cdef inline double smallest_value(const Node* test) noexcept nogil:
    """What lies below is missing, as is NaN: codes of levels start at 0."""
    return -INFINITY if test.kind == NUMERIC else 0.0


cdef inline int32_t find_level_branch(
    const CaseTable* table, const Node* test, double level
) noexcept nogil:
    """Branch of a level, -1 if it has none or is missing."""
    if not 0.0 <= level < <double>table.tree.n_levels[test.feature]:
        return -1
    return find_level_child(table.tree.level_branch + test.map_start, <int64_t>level)


cdef inline int32_t branch_of_unknown(
    const CaseTable* table, const Node* test
) noexcept nogil:
    """Where a level goes that the test does not know."""
    if test.missing_branch == FRACTIONAL:
        return FRACTIONAL
    return table.tree.unseen_branch


cdef inline int32_t find_heaviest(
    const Node* test, const Case* cases, int64_t n, const int32_t* branch_of,
    Branch* branches
) noexcept nogil:
    """The branch with most weight of known values; STAY if two have most.

    Growing sends the rows to it for which no surrogate applies. The branch stored in
    the test for new rows may be another one: it is chosen by the number of all rows.
    """
    cdef:
        int64_t i
        int32_t b, heaviest = 0
        double total = 0.0, margin
        bint is_tied = False
    for b in range(test.n_children):
        branches[b].fraction = 0.0
    for i in range(n):
        if branch_of[i] >= 0:
            branches[branch_of[i]].fraction += cases[i].weight
            total += cases[i].weight
    # Sums of weights that differ by rounding are tied.
    margin = 1e-12 * total
    for b in range(1, test.n_children):
        if branches[b].fraction > branches[heaviest].fraction + margin:
            heaviest = b
            is_tied = False
        elif branches[b].fraction >= branches[heaviest].fraction - margin:
            is_tied = True
    return STAY if is_tied else heaviest


cdef inline void ask_surrogates(
    const CaseTable* table, const Node* test, const Case* cases, int64_t n,
    int32_t* branch_of, Branch* branches
) noexcept nogil:
    """Send the cases whose value is missing as growing does."""
    cdef int64_t i, n_asked = 0
    cdef int32_t heaviest
    cdef Row row
    for i in range(n):
        n_asked += branch_of[i] == ASK_SURROGATES
    if n_asked == 0:
        return
    heaviest = find_heaviest(test, cases, n, branch_of, branches)
    for i in range(n):
        if branch_of[i] == ASK_SURROGATES:
            row = view_row(&table.rows, cases[i].row)
            branch_of[i] = follow_surrogates(
                &table.tree, <int32_t>(test - table.tree.nodes), &row
            )
            if branch_of[i] == UNKNOWN:
                branch_of[i] = heaviest


# --------------------------------------------------------- the branch of every case
# These write a branch, STAY, FRACTIONAL or ASK_SURROGATES.
cdef inline void find_coded_branches(
    const int32_t* level_map, const uint32_t* codes, const Case* cases, int64_t n,
    int32_t of_missing, int32_t of_unknown, int32_t* branch_of
) noexcept nogil:
    """By the codes of a nominal column, 4 bytes each, in place of the table's numbers.
    A level that the map lacks is unknown."""
    cdef:
        const int32_t* children = level_map + 1
        int64_t i, level
        int32_t branch
        bint is_dense = level_map[0] == DENSE_MAP
    for i in range(n):
        FETCH_EARLY(codes + cases[min(i + FETCH_AHEAD, n - 1)].row)
        # Rows of a node stand far apart in memory: fetched some cases ahead.
        level = codes[cases[i].row]
        if level == GLOBAL_MISSING:
            branch_of[i] = of_missing
            continue
        if is_dense:
            branch = children[level]
        else:
            branch = find_level_child(level_map, level)
        branch_of[i] = branch if branch >= 0 else of_unknown


cdef inline void find_read_branches(
    const CaseTable* table, const Node* test, const Case* cases, int64_t n,
    int32_t of_missing, int32_t of_unknown, int32_t* branch_of
) noexcept nogil:
    """By the numbers of the table, for a test of any kind."""
    cdef:
        Column column = view_column(table, test)
        double n_levels = INFINITY, smallest = smallest_value(test), value
        int64_t i
        int32_t branch
    if test.kind != NUMERIC:
        n_levels = <double>table.tree.n_levels[test.feature]
    for i in range(n):
        value = read_value(column, cases, i, n)
        if value != value:
            branch_of[i] = of_missing
            continue
        if test.kind == NOMINAL:
            branch = find_level_branch(table, test, value)
        elif test.kind != NUMERIC and not smallest <= value < n_levels:
            branch = -1
        else:
            branch = value > test.threshold
        branch_of[i] = branch if branch >= 0 else of_unknown


cdef inline void find_branches(
    const CaseTable* table, const Node* test, const Case* cases, int64_t n,
    int32_t* branch_of, Branch* branches
) noexcept nogil:
    """The branch of every case, STAY or FRACTIONAL."""
    cdef:
        int64_t offset = test.feature * table.codes.stride
        int32_t of_missing = test.missing_branch
        int32_t of_unknown = branch_of_unknown(table, test)
    if table.tree.surrogate_start != NULL:
        of_missing = ASK_SURROGATES
    if test.kind != NOMINAL or table.codes.start == NULL:
        find_read_branches(table, test, cases, n, of_missing, of_unknown, branch_of)
    else:
        find_coded_branches(
            table.tree.level_branch + test.map_start, table.codes.start + offset,
            cases, n, of_missing, of_unknown, branch_of
        )
    if of_missing == ASK_SURROGATES:
        ask_surrogates(table, test, cases, n, branch_of, branches)


cdef inline int64_t count_missing(
    const CaseTable* table, const Node* test, const Case* cases, int64_t n
) noexcept nogil:
    """Number of cases that a test cannot place, if it divides all of these."""
    cdef:
        Column column = view_column(table, test)
        double smallest = smallest_value(test), value
        int64_t i, n_missing = 0
    for i in range(n):
        value = read_value(column, cases, i, n)
        if test.kind == NOMINAL:
            n_missing += find_level_branch(table, test, value) < 0
        else:
            n_missing += not value >= smallest
    return n_missing


# ------------------------------------------------------------------- all of a node
cdef inline int64_t divide_by_threshold(
    const CaseTable* table, const Node* test, Case* cases, int64_t n, Case* scratch,
    Branch* branches, int32_t* last
) noexcept nogil:
    """Divide by a numeric or ordinal test that sends what it cannot place to both
    branches.

    Cases become: missing ones, then the smaller branch, then the larger. last: written,
    the number of the larger. Shares are left to the caller.
    """
    cdef:
        Column column = view_column(table, test)
        double smallest = smallest_value(test), threshold = test.threshold, value
        int64_t i, n_left = 0, n_right = 0, n_missing = 0
        bint is_missing, is_left
        # Filled from its end, since scratch holds at most n cases.
        Case* right = scratch + n - 1
        Case* target
        Case one
    for i in range(n):
        value = read_value(column, cases, i, n)
        one = cases[i]
        is_missing = not value >= smallest
        is_left = (value <= threshold) & (value >= smallest)
        # Every case is written to all three places, of which only one is advanced:
        # this avoids a branch that is hard to predict. None is lost: n_missing <= i,
        # and n_left + n_right <= i.
        cases[n_missing] = one
        scratch[n_left] = one
        right[-n_right] = one
        n_missing += is_missing
        n_left += is_left
        n_right += 1 - (is_left | is_missing)
    last[0] = n_right >= n_left
    branches[0].n_known, branches[1].n_known = n_left, n_right
    branches[0].start = n_missing + (0 if last[0] else n_right)
    branches[1].start = n_missing + (n_left if last[0] else 0)
    memcpy(cases + branches[0].start, scratch, n_left * sizeof(Case))
    target = cases + branches[1].start
    for i in range(n_right):
        target[i] = right[-i]
    return n_missing


cdef inline int64_t divide_by_branch(
    const Node* test, Case* cases, int64_t n, Case* scratch, const int32_t* branch_of,
    Branch* branches, int64_t* n_staying, int32_t* last
) noexcept nogil:
    """Divide by the branch of every case: a stable counting sort.

    Cases become: staying ones, missing ones, then the branches in order, but the
    largest last, so that its cases can be extended by parts of missing ones without a
    copy.
    """
    cdef:
        int64_t i, start, n_missing = 0
        int32_t b
    for b in range(test.n_children):
        branches[b].n_known = 0
    for i in range(n):
        b = branch_of[i]
        if b >= 0:
            branches[b].n_known += 1
        elif b == STAY:
            n_staying[0] += 1
        else:
            n_missing += 1
    # The last of equal ones, as of two branches.
    last[0] = 0
    for b in range(test.n_children):
        if branches[b].n_known >= branches[last[0]].n_known:
            last[0] = b
    start = n_staying[0] + n_missing
    for b in range(test.n_children):
        branches[b].start = start
        start += branches[b].n_known if b != last[0] else 0
    branches[last[0]].start = start
    # Starts serve as places to write to, and are set back in the end.
    memcpy(scratch, cases, n * sizeof(Case))
    start = n_staying[0]
    n_staying[0] = 0
    for i in range(n):
        b = branch_of[i]
        if b >= 0:
            cases[branches[b].start] = scratch[i]
            branches[b].start += 1
        elif b == STAY:
            cases[n_staying[0]] = scratch[i]
            n_staying[0] += 1
        else:
            cases[start] = scratch[i]
            start += 1
    for b in range(test.n_children):
        branches[b].start -= branches[b].n_known
    return n_missing


cdef inline void find_fractions(
    const Case* cases, int32_t n_branches, Branch* branches
) noexcept nogil:
    """Fraction of every branch in the weight of the known cases; equal ones if there is
    none."""
    cdef:
        double known = 0.0
        int64_t i
        int32_t b
    for b in range(n_branches):
        branches[b].fraction = 0.0
        for i in range(branches[b].start, branches[b].start + branches[b].n_known):
            branches[b].fraction += cases[i].weight
        known += branches[b].fraction
    for b in range(n_branches):
        if known < 1e-6:
            branches[b].fraction = 1.0 / n_branches
        else:
            branches[b].fraction /= known


cdef inline int64_t divide_cases(
    const CaseTable* table, const Node* test, Stack* stack, int64_t start, int64_t n,
    Branch* branches, int64_t* n_staying, int32_t* last
) noexcept nogil:
    """Sort the n cases from ``start`` on: those that stay in the node, those that go
    to all branches, then branch by branch, the one with most cases last. Otherwise
    they keep their order.

    branches: written, one for each child of the test.
    n_staying: written, the number of cases that stay.
    last: written, the last branch.
    Returns the number of cases that go to all branches.
    """
    cdef:
        Case* cases = stack.cases + start
        int64_t n_missing
        int32_t b
    n_staying[0] = 0
    if test.kind != NOMINAL and divides_missing(table, test):
        n_missing = divide_by_threshold(
            table, test, cases, n, stack.scratch, branches, last
        )
    else:
        find_branches(table, test, cases, n, stack.branch_of, branches)
        n_missing = divide_by_branch(
            test, cases, n, stack.scratch, stack.branch_of, branches, n_staying, last
        )
    if n_missing > 0:
        find_fractions(cases, test.n_children, branches)
    for b in range(test.n_children):
        branches[b].start += start
    return n_missing
