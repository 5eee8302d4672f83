# A rule while conditions are dropped from it: header-only; generalise.py has the
# documents.
#
# Per rule, and for words of 64 rows at a time, two sets of rows are kept: those that
# meet all conditions, and those that fail exactly one. A row of the second set joins
# the rule when its condition is dropped, so one pass over the words gives what the rule
# would cover without each of its conditions.
#
# Slots are places for rows, 64 to a word, sorted by class; every class starts a new
# word (pack_rows.py), so that a whole word is right for a rule's class, or wrong.

from libc.stdint cimport int32_t, int64_t, uint64_t

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
    """Turn the bits of the slots from place ``first`` to before ``stop`` of a sorted
    column."""
    cdef int64_t i
    for i in range(first, stop):
        words[slots[i] >> 6] ^= <uint64_t> 1 << (slots[i] & 63)


cdef inline void fill_met(
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
            # What is flipped: levels that meet the test, or if it unmarks, those that
            # do not.
            if meets(test, level_branch, values[first]) != unmarks:
                if turn == 0:
                    n_met += stop - first
                else:
                    flip(order, first, stop, met)
            first = stop


cdef inline void copy_or_clear(
    uint64_t* words, const uint64_t* source, int64_t n_words, bint copies
) noexcept nogil:
    """What `flip` starts from: the rows with a known value, or none."""
    cdef int64_t w
    for w in range(n_words):
        words[w] = source[w] if copies else 0


cdef inline void count_covered(Draft* draft, const Rows* rows) noexcept nogil:
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
            # One condition after the other, for 64 rows at once: one_failed are the
            # rows that failed one so far.
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
            # Every row of one_failed belongs to the one condition that it fails.
            failed = one_failed & ~draft.met[draft.active[i] * rows.n_words + w]
            if failed:
                more[i] += weigh(failed, rows.weight + 64 * w, rows.common_weight)
                one_failed ^= failed


cdef inline int64_t choose_dropped(
    const Draft* draft, const Limits* limits
) noexcept nogil:
    """The condition to drop next, by its place among those left; -1 for none."""
    cdef double best = estimate_rate(&limits.confidence, draft.right, draft.wrong)
    cdef double value
    cdef int64_t i, chosen = -1
    for i in range(draft.n_active):
        value = estimate_rate(
            &limits.confidence,
            draft.right + draft.more_right[i], draft.wrong + draft.more_wrong[i],
        )
        # Also where the rate stays the same; of equal rates the last, nearest to the
        # leaf.
        if value <= best:
            best, chosen = value, i
    if chosen >= 0 or limits.significance >= 1.0:
        return chosen
    best = limits.significance
    for i in range(draft.n_active):
        value = compute_p_value(
            draft.right, draft.wrong, draft.more_right[i], draft.more_wrong[i]
        )
        # The least significant of those that are not significant.
        if value > limits.significance and value >= best:
            best, chosen = value, i
    return chosen


cdef inline void drop_conditions(
    Draft* draft, const Rows* rows, const Limits* limits
) noexcept nogil:
    """Drop one condition after the other until all that are left matter.

    All conditions are counted anew each time, since a row that failed two may now fail
    only one.
    """
    cdef int64_t i, dropped
    while True:
        count_covered(draft, rows)
        dropped = choose_dropped(draft, limits)
        if dropped < 0:
            return
        draft.n_active -= 1
        for i in range(dropped, draft.n_active):
            draft.active[i] = draft.active[i + 1]
