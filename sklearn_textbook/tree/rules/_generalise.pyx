# cython: language_level=3
"""Dropping conditions from rules; :mod:`generalise` has the documents.

Per rule, and for words of 64 rows at a time, two sets of rows are kept: those that
meet all conditions, and those that fail exactly one. A row of the second set joins
the rule when its condition is dropped, so one pass over the words tells what the
rule would cover without each of its conditions.
"""

from libc.stdint cimport int32_t, int64_t, uint8_t, uint64_t

from sklearn_textbook._contract._threads cimport run_in_threads
from sklearn_textbook.tree.grow._layout cimport NOMINAL
from sklearn_textbook.tree.prune._error_estimate cimport Confidence
from sklearn_textbook.tree.rules._cover cimport Test, meets, weigh
from sklearn_textbook.tree.rules._estimate cimport compute_p_value, estimate_rate


# The training rows.
cdef struct Rows:
    # column by column: values ascending and their slots
    const double* values
    const int32_t* order
    const int64_t* n_known
    const uint64_t* known
    const uint64_t* filled
    const double* weight
    double common_weight
    int64_t n_rows
    int64_t n_words


# What decides that a condition goes.
cdef struct Limits:
    Confidence confidence
    # 1.0: no test of significance
    double significance


# One rule on its way, and the memory of the thread that works on it.
cdef struct Draft:
    # the words of the rule's class: from first_word, before stop_word
    int64_t first_word
    int64_t stop_word
    # conditions left, by their number on the path
    int32_t* active
    int64_t n_active
    # rows that meet each condition of the path, path position by position
    uint64_t* met
    # rows that meet all conditions left
    uint64_t* cover
    double right
    double wrong
    # by condition left: what only this condition keeps out
    double* more_right
    double* more_wrong


cdef inline int64_t count_up_to(
    const double* values, int64_t n_values, double limit
) noexcept nogil:
    """Number of ascending values that are not above a limit."""
    cdef int64_t low = 0, high = n_values, middle
    while low < high:
        middle = (low + high) // 2
        if values[middle] <= limit:
            low = middle + 1
        else:
            high = middle
    return low


cdef inline void flip(
    const int32_t* slots, int64_t first, int64_t stop, uint64_t* words
) noexcept nogil:
    cdef int64_t i
    for i in range(first, stop):
        words[slots[i] >> 6] ^= <uint64_t> 1 << (slots[i] & 63)


cdef void fill_met(
    const Test* test, const int32_t* level_branch, const Rows* rows, uint64_t* met
) noexcept nogil:
    """Evaluate one test on all rows: mark those that meet it, or if these are more
    than half, unmark the others."""
    cdef const double* values = rows.values + test.column * rows.n_rows
    cdef const int32_t* order = rows.order + test.column * rows.n_rows
    cdef const uint64_t* known = rows.known + test.column * rows.n_words
    cdef int64_t n_known = rows.n_known[test.column], n_met = 0, first, stop
    cdef bint is_low = test.branch == 0, unmarks
    cdef int turn
    if test.kind != NOMINAL:
        stop = count_up_to(values, n_known, test.threshold)
        unmarks = 2 * (stop if is_low else n_known - stop) > n_known
        copy_or_clear(met, known, rows.n_words, unmarks)
        if is_low != unmarks:
            flip(order, 0, stop, met)
        else:
            flip(order, stop, n_known, met)
        return
    # Once to count, once to mark; one run of equal codes after the other.
    unmarks = False
    for turn in range(2):
        if turn == 1:
            unmarks = 2 * n_met > n_known
            copy_or_clear(met, known, rows.n_words, unmarks)
        first = 0
        while first < n_known:
            stop = first + count_up_to(
                values + first, n_known - first, values[first]
            )
            if meets(test, level_branch, values[first]) != unmarks:
                if turn == 0:
                    n_met += stop - first
                else:
                    flip(order, first, stop, met)
            first = stop


cdef inline void copy_or_clear(
    uint64_t* words, const uint64_t* source, int64_t n_words, bint copies
) noexcept nogil:
    cdef int64_t w
    for w in range(n_words):
        words[w] = source[w] if copies else 0


cdef void count_covered(Draft* draft, const Rows* rows) noexcept nogil:
    """One pass over all rows: what the rule covers, and would without a condition."""
    cdef int64_t w, i
    cdef uint64_t all_met, one_failed, met, failed
    cdef double* right = &draft.right
    cdef double* more = draft.more_right
    cdef bint is_right
    draft.right = draft.wrong = 0.0
    for i in range(draft.n_active):
        draft.more_right[i] = draft.more_wrong[i] = 0.0
    for w in range(rows.n_words):
        all_met, one_failed = rows.filled[w], 0
        for i in range(draft.n_active):
            met = draft.met[draft.active[i] * rows.n_words + w]
            one_failed = (one_failed & met) | (all_met & ~met)
            all_met &= met
            if not (all_met | one_failed):
                break
        draft.cover[w] = all_met
        if not (all_met | one_failed):
            continue
        is_right = draft.first_word <= w < draft.stop_word
        right = &draft.right if is_right else &draft.wrong
        more = draft.more_right if is_right else draft.more_wrong
        right[0] += weigh(all_met, rows.weight + 64 * w, rows.common_weight)
        for i in range(draft.n_active):
            if not one_failed:
                break
            failed = one_failed & ~draft.met[draft.active[i] * rows.n_words + w]
            if failed:
                more[i] += weigh(failed, rows.weight + 64 * w, rows.common_weight)
                one_failed ^= failed


cdef int64_t choose_dropped(const Draft* draft, const Limits* limits) noexcept nogil:
    """The condition to drop next, by its place among those left; -1 for none."""
    cdef double best = estimate_rate(&limits.confidence, draft.right, draft.wrong)
    cdef double value
    cdef int64_t i, chosen = -1
    for i in range(draft.n_active):
        value = estimate_rate(
            &limits.confidence,
            draft.right + draft.more_right[i], draft.wrong + draft.more_wrong[i],
        )
        if value <= best:
            best, chosen = value, i
    if chosen >= 0 or limits.significance >= 1.0:
        return chosen
    best = limits.significance
    for i in range(draft.n_active):
        value = compute_p_value(
            draft.right, draft.wrong, draft.more_right[i], draft.more_wrong[i]
        )
        if value > limits.significance and value >= best:
            best, chosen = value, i
    return chosen


cdef void drop_conditions(
    Draft* draft, const Rows* rows, const Limits* limits
) noexcept nogil:
    cdef int64_t i, dropped
    while True:
        count_covered(draft, rows)
        dropped = choose_dropped(draft, limits)
        if dropped < 0:
            return
        draft.n_active -= 1
        for i in range(dropped, draft.n_active):
            draft.active[i] = draft.active[i + 1]


cdef enum:
    N_PATHS = 8  # that a thread takes at a time


cdef struct Paths:
    # What threads share, as generalise_rules has it; and the memory of all of them.
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
