# cython: language_level=3
"""Kernels of rules made of trees: conditions are dropped from paths, a subset of the
rules of each class is chosen, rules are put in order, and rows find their rule."""

from cython cimport floating
from libc.math cimport INFINITY, lgamma
from libc.stdint cimport int32_t, int64_t, uint8_t, uint64_t

from sklearn_textbook._contract._threads cimport run_in_threads
from sklearn_textbook.tree.rules._cover cimport Test, meets, take_first, weigh
from sklearn_textbook.tree.rules._draft cimport (
    Draft, Limits, Rows, drop_conditions, fill_met,
)
from sklearn_textbook.tree.rules._estimate cimport estimate_rate

cdef enum:
    # that a thread takes at a time
    N_PATHS = 8
    BLOCK_ROWS = 256

cdef double BITS_PER_NAT = 1.4426950408889634


# ------------------------------------------------------------------ dropping conditions
cdef struct Paths:
    # Arguments of generalise_rules, shared by the threads, and their memory.
    const Test* tests
    const int32_t* level_branch
    const Rows* rows
    const Limits* limits
    int64_t n_paths
    const int64_t* class_start
    const int64_t* path_start
    const int32_t* path_nodes
    const int32_t* path_class
    int64_t longest
    uint64_t* met
    int32_t* met_node
    int32_t* active
    double* more
    uint64_t* cover
    uint8_t* kept
    double* counts
    double* rate


def generalise_rules(
    const Test[::1] tests,
    const int32_t[::1] level_branch,
    const double[:, ::1] values,
    const int32_t[:, ::1] order,
    const int64_t[::1] n_known,
    const uint64_t[:, ::1] known,
    const uint64_t[::1] filled,
    const double[::1] weight,
    double common_weight,
    const int64_t[::1] class_start,
    const int64_t[::1] path_start,
    const int32_t[::1] path_nodes,
    const int32_t[::1] path_class,
    confidence,
    double significance,
    uint64_t[:, :, ::1] met,
    int32_t[:, ::1] met_node,
    int32_t[:, ::1] active,
    double[:, :, ::1] more,
    uint64_t[:, ::1] cover,
    uint8_t[::1] kept,
    double[:, ::1] counts,
    double[::1] rate,
):
    """Generalise the paths ``path_start[i]`` to ``path_start[i + 1]``, a few of them
    per thread at a time.

    Results are ``kept``, one per entry of ``path_nodes``; ``cover``, ``counts`` (the
    weight of right and wrong rows) and ``rate``, one per path. The memory of a
    thread: ``met`` with the node of each of its lines in ``met_node`` (-1: none),
    ``active`` and ``more``.
    """
    cdef int64_t n_paths = path_class.shape[0]
    cdef const int32_t* levels = &level_branch[0] if level_branch.shape[0] else NULL
    cdef Paths paths
    cdef Rows rows
    cdef Limits limits
    rows.values = &values[0, 0]
    rows.order = &order[0, 0]
    rows.n_known = &n_known[0]
    rows.known = &known[0, 0]
    rows.n_rows = values.shape[1]
    rows.filled = &filled[0]
    rows.weight = &weight[0]
    rows.common_weight = common_weight
    rows.n_words = filled.shape[0]
    limits.confidence.level, limits.confidence.log_level, limits.confidence.z = (
        confidence
    )
    limits.significance = significance
    paths = Paths(
        &tests[0], levels, &rows, &limits, n_paths, &class_start[0], &path_start[0],
        &path_nodes[0], &path_class[0], met.shape[1], &met[0, 0, 0], &met_node[0, 0],
        &active[0, 0], &more[0, 0, 0], &cover[0, 0], &kept[0], &counts[0, 0], &rate[0],
    )
    run_in_threads(
        <int> met.shape[0], generalise_some, &paths, (n_paths + N_PATHS - 1) // N_PATHS
    )


cdef void generalise_some(void* context, int64_t task, int thread) noexcept nogil:
    cdef const Paths* paths = <Paths*> context
    cdef const Rows* rows = paths.rows
    cdef int64_t path, first, i, length, longest = paths.longest
    cdef int32_t* met_node = paths.met_node + thread * longest
    cdef int32_t node
    cdef Draft draft
    draft.met = paths.met + thread * longest * rows.n_words
    draft.active = paths.active + thread * longest
    draft.more_right = paths.more + thread * 2 * longest
    draft.more_wrong = draft.more_right + longest
    for path in range(task * N_PATHS, min(paths.n_paths, (task + 1) * N_PATHS)):
        first = paths.path_start[path]
        length = paths.path_start[path + 1] - first
        for i in range(length):
            draft.active[i] = <int32_t> i
            node = paths.path_nodes[first + i]
            # Paths come from left to right, so they share their beginnings.
            if met_node[i] != node:
                met_node[i] = node
                fill_met(
                    &paths.tests[node], paths.level_branch, rows,
                    draft.met + i * rows.n_words,
                )
        draft.n_active = length
        # The words of the rule's class.
        draft.first_word = paths.class_start[paths.path_class[path]]
        draft.stop_word = paths.class_start[paths.path_class[path] + 1]
        draft.cover = paths.cover + path * rows.n_words
        drop_conditions(&draft, rows, paths.limits)
        for i in range(draft.n_active):
            paths.kept[first + draft.active[i]] = 1
        paths.counts[2 * path] = draft.right
        paths.counts[2 * path + 1] = draft.wrong
        paths.rate[path] = estimate_rate(
            &paths.limits.confidence, draft.right, draft.wrong
        )


# --------------------------------------------- the subset with the shortest description
# For every rule it is stored what only it covers: the weight of its rows that no other
# chosen rule covers. That is what joins or leaves the covered rows when the rule does,
# so that the length of every neighbouring subset follows from a few numbers. A change
# of one rule changes what others alone cover only in rows whose number of chosen rules
# goes between 0 and 1, or between 1 and 2.
cdef class SubsetSearch:
    """The rules of one class, and which of them are chosen at the moment.

    Parameters are those of :func:`choose_subset.choose_subset`, as arrays.
    """

    # rule -> words and the rows that it covers in them
    cdef const int64_t[::1] start
    cdef const int32_t[::1] word
    cdef const uint64_t[::1] bits
    # word -> the rules that cover rows in it
    cdef const int64_t[::1] word_start
    cdef const int32_t[::1] rule_at
    cdef const uint64_t[::1] bits_at
    cdef const double[::1] cost
    cdef const double[::1] weight
    cdef const double[::1] log2_factorial
    cdef double common_weight
    cdef int64_t first_word
    cdef int64_t stop_word
    cdef double class_weight
    cdef double total_weight
    cdef double theory_weight
    cdef double margin
    # the state
    cdef uint8_t[::1] chosen
    cdef int32_t[::1] n_covering
    cdef double[::1] alone_right
    cdef double[::1] alone_wrong
    cdef int64_t n_chosen
    cdef double chosen_cost
    cdef double right
    cdef double wrong

    def __init__(
        self, cover, by_word, cost, weight, common_weight, class_words, class_weight,
        total_weight, log2_factorial, theory_weight, margin, state,
    ):
        """cover: start, word and bits; by_word: word_start, rule_at and bits_at; state:
        chosen, n_covering, alone_right and alone_wrong, to be written. No rule is
        chosen."""
        self.start, self.word, self.bits = cover
        self.word_start, self.rule_at, self.bits_at = by_word
        self.cost = cost
        self.weight = weight
        self.common_weight = common_weight
        self.first_word, self.stop_word = class_words
        self.class_weight, self.total_weight = class_weight, total_weight
        self.log2_factorial = log2_factorial
        self.theory_weight, self.margin = theory_weight, margin
        self.chosen, self.n_covering, self.alone_right, self.alone_wrong = state
        self.n_chosen = 0
        self.chosen_cost = self.right = self.wrong = 0.0
        self.measure_alone()

    def get_length(self):
        """Bits of the theory and the exceptions of the present subset."""
        return self.measure(self.n_chosen, self.chosen_cost, self.right, self.wrong)

    def choose_all(self):
        """Choose all rules."""
        cdef int64_t rule
        with nogil:
            for rule in range(self.cost.shape[0]):
                if not self.chosen[rule]:
                    self.toggle(rule)

    def climb(self):
        """Add or delete the rule that shortens the description most, while one does."""
        cdef int64_t rule, best_rule
        cdef double length, best
        with nogil:
            best = self.measure(
                self.n_chosen, self.chosen_cost, self.right, self.wrong
            )
            while True:
                best_rule = -1
                for rule in range(self.cost.shape[0]):
                    length = self.measure_toggled(rule)
                    if length < best - self.margin:
                        best, best_rule = length, rule
                if best_rule < 0:
                    break
                self.toggle(best_rule)

    def try_all(self, uint8_t[::1] best_chosen):
        """Walk through all subsets, numbered by the binary digits of their rules.

        The best is left in ``best_chosen``.
        """
        cdef int64_t number, place
        cdef uint64_t changed
        cdef double length, best = INFINITY
        with nogil:
            for number in range(1 << self.cost.shape[0]):
                # The digits that differ from those of the number before: two rules on
                # average.
                changed = number ^ (number - 1) if number > 0 else 0
                while changed:
                    take_first(&changed, &place)
                    self.toggle(place)
                length = self.measure(
                    self.n_chosen, self.chosen_cost, self.right, self.wrong
                )
                if length < best - self.margin:
                    best = length
                    best_chosen[:] = self.chosen

    cdef double log2_ways(self, double n, double k) noexcept nogil:
        """Bits that encode which k of n cases."""
        if self.log2_factorial.shape[0] > 0:
            return (
                self.log2_factorial[<int64_t> n] - self.log2_factorial[<int64_t> k]
                - self.log2_factorial[<int64_t> (n - k)]
            )
        return BITS_PER_NAT * (
            lgamma(n + 1.0) - lgamma(k + 1.0) - lgamma(n - k + 1.0)
        )

    cdef double measure(
        self, int64_t n_rules, double cost, double right, double wrong
    ) noexcept nogil:
        """Bits of a subset that covers so many rows of its class and others."""
        cdef double covered = right + wrong
        cost -= BITS_PER_NAT * lgamma(<double> n_rules + 1.0)
        return (
            self.theory_weight * cost
            + self.log2_ways(covered, wrong)
            + self.log2_ways(self.total_weight - covered, self.class_weight - right)
        )

    cdef double measure_toggled(self, int64_t rule) noexcept nogil:
        """Bits of the subset with a rule added, or deleted if it is chosen."""
        if self.chosen[rule]:
            return self.measure(
                self.n_chosen - 1,
                self.chosen_cost - self.cost[rule],
                self.right - self.alone_right[rule],
                self.wrong - self.alone_wrong[rule],
            )
        return self.measure(
            self.n_chosen + 1,
            self.chosen_cost + self.cost[rule],
            self.right + self.alone_right[rule],
            self.wrong + self.alone_wrong[rule],
        )

    cdef double weigh_rows(self, int64_t word, uint64_t bits) noexcept nogil:
        """Weight of the rows of a word that a mask selects."""
        return weigh(bits, &self.weight[64 * word], self.common_weight)

    cdef void measure_alone(self) noexcept nogil:
        """What only each rule covers while none is chosen: all that it covers."""
        cdef int64_t rule, i
        for rule in range(self.cost.shape[0]):
            self.alone_right[rule] = self.alone_wrong[rule] = 0.0
            for i in range(self.start[rule], self.start[rule + 1]):
                self.change_alone(
                    rule, self.word[i], self.weigh_rows(self.word[i], self.bits[i])
                )

    cdef void change_alone(
        self, int64_t rule, int64_t word, double amount
    ) noexcept nogil:
        """Change what only a rule covers, by rows of a word, which is of one class."""
        if self.first_word <= word < self.stop_word:
            self.alone_right[rule] += amount
        else:
            self.alone_wrong[rule] += amount

    cdef void toggle(self, int64_t rule) noexcept nogil:
        """Choose a rule, or drop it if it is chosen."""
        cdef bint adds = not self.chosen[rule]
        cdef int sign = 1 if adds else -1
        cdef int64_t i, word, place, slot
        cdef int32_t n_others
        cdef uint64_t rest, row, no_other, one_other
        for i in range(self.start[rule], self.start[rule + 1]):
            word, rest = self.word[i], self.bits[i]
            no_other = one_other = 0
            while rest:
                row = take_first(&rest, &place)
                slot = 64 * word + place
                # Other chosen rules that cover the row, without this one.
                n_others = self.n_covering[slot] - (not adds)
                self.n_covering[slot] += sign
                if n_others == 0:
                    no_other |= row
                elif n_others == 1:
                    one_other |= row
            if no_other | one_other:
                self.update_others(rule, word, no_other, one_other, -sign)
        self.chosen[rule] = adds
        self.n_chosen += sign
        self.chosen_cost += sign * self.cost[rule]
        # What only this rule covers is what the subset gains or loses.
        self.right += sign * self.alone_right[rule]
        self.wrong += sign * self.alone_wrong[rule]

    cdef void update_others(
        self, int64_t rule, int64_t word, uint64_t no_other, uint64_t one_other,
        int sign,
    ) noexcept nogil:
        """Tell the other rules at a word that rows now have a rule more or less.

        A rule that is not chosen alone covers what no chosen rule covers; a chosen one
        what no other covers."""
        cdef int64_t i
        cdef uint64_t changed
        for i in range(self.word_start[word], self.word_start[word + 1]):
            if self.rule_at[i] == rule:
                continue
            changed = self.bits_at[i]
            # Of a chosen rule: rows that it was, or is now, the only one to cover. Of
            # another: rows that no rule covered, or covers now.
            changed &= one_other if self.chosen[self.rule_at[i]] else no_other
            if changed:
                self.change_alone(
                    self.rule_at[i], word, sign * self.weigh_rows(word, changed)
                )


# ------------------------------------------------------------------- the order of rules
def weigh_wrong(
    const uint64_t[:, ::1] covered,
    const uint64_t[::1] left,
    const int64_t[::1] class_start,
    const double[::1] weight,
    double common_weight,
    double[::1] wrong,
):
    """Weight of the rows left that the rules of each class cover, other classes'."""
    cdef int64_t number, w
    cdef uint64_t bits
    with nogil:
        for number in range(covered.shape[0]):
            wrong[number] = 0.0
            for w in range(left.shape[0]):
                bits = covered[number, w] & left[w]
                if bits and not class_start[number] <= w < class_start[number + 1]:
                    wrong[number] += weigh(bits, &weight[64 * w], common_weight)


def find_first_two(
    const int64_t[::1] order,
    const int64_t[::1] start,
    const int32_t[::1] word,
    const uint64_t[::1] bits,
    uint64_t[::1] taken_once,
    uint64_t[::1] taken_twice,
    int32_t[::1] first,
    int32_t[::1] second,
):
    """Places in the list of the first and second rule that cover each slot.

    ``taken_once`` and ``taken_twice`` come as zeros, ``first`` and ``second`` as -1.
    """
    cdef int64_t place, i, w
    cdef uint64_t once, twice
    with nogil:
        for place in range(order.shape[0]):
            for i in range(start[order[place]], start[order[place] + 1]):
                w = word[i]
                # Rows without a rule so far, and rows with just one.
                once = bits[i] & ~taken_once[w]
                twice = bits[i] & taken_once[w] & ~taken_twice[w]
                taken_once[w] |= once
                taken_twice[w] |= twice
                mark(once, 64 * w, <int32_t> place, first)
                mark(twice, 64 * w, <int32_t> place, second)


cdef inline void mark(
    uint64_t bits, int64_t slot, int32_t place, int32_t[::1] places
) noexcept nogil:
    """Write a place for all slots of a word that are set in a mask."""
    cdef int64_t bit
    while bits:
        take_first(&bits, &bit)
        places[slot + bit] = place


# -------------------------------------------------------------------- the rule of a row
cdef struct Search:
    # Blocks of rows that threads share.
    const char* matrix
    Py_ssize_t row_stride
    Py_ssize_t column_stride
    bint is_single
    int64_t n_rows
    const Test* tests
    const int32_t* level_branch
    const int64_t* start
    int64_t n_rules
    int64_t* place


def find_covering(
    const floating[:, :] matrix,
    const Test[::1] tests,
    const int32_t[::1] level_branch,
    const int64_t[::1] start,
    int64_t[::1] place,
    int n_threads,
):
    """Move ``place`` of every row on to the first rule, from it on, that covers the
    row; -1 if none does.

    The tests of rule i are ``start[i]`` to ``start[i + 1]``.
    """
    cdef const int32_t* levels = &level_branch[0] if level_branch.shape[0] else NULL
    cdef const Test* test = &tests[0] if tests.shape[0] else NULL
    cdef Search search
    if matrix.shape[0] == 0:
        return
    search = Search(
        <const char*> &matrix[0, 0], matrix.strides[0], matrix.strides[1],
        floating is float, matrix.shape[0], test, levels, &start[0],
        start.shape[0] - 1, &place[0],
    )
    run_in_threads(
        n_threads, search_block, &search, (search.n_rows + BLOCK_ROWS - 1) // BLOCK_ROWS
    )


cdef void search_block(void* context, int64_t block, int thread) noexcept nogil:
    """Move the places of a block of rows on."""
    cdef const Search* search = <Search*> context
    cdef int64_t row, first = block * BLOCK_ROWS
    for row in range(first, min(search.n_rows, first + BLOCK_ROWS)):
        search.place[row] = find_from(search, row, search.place[row])


cdef inline double read_number(
    const Search* search, int64_t row, int64_t column
) noexcept nogil:
    """An entry of the table, whose strides are in bytes."""
    cdef const char* number = (
        search.matrix + row * search.row_stride + column * search.column_stride
    )
    if search.is_single:
        return (<const float*> number)[0]
    return (<const double*> number)[0]


cdef inline int64_t find_from(
    const Search* search, int64_t row, int64_t place
) noexcept nogil:
    """The first rule from ``place`` on, all of whose tests the row meets; -1 if there
    is none.

    A rule without tests covers every row.
    """
    cdef int64_t i
    cdef const Test* test
    while place < search.n_rules:
        i = search.start[place]
        while i < search.start[place + 1]:
            test = &search.tests[i]
            if not meets(
                test, search.level_branch, read_number(search, row, test.column)
            ):
                break
            i += 1
        if i == search.start[place + 1]:
            return place
        place += 1
    return -1
