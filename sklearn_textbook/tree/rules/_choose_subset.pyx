# cython: language_level=3
"""Search for the subset of rules with the shortest description;
:mod:`choose_subset` has the documents.

Every rule knows what it alone covers: the weight of its rows that no other chosen
rule covers. That is what joins or leaves the covered rows when the rule does, so
that the length of every neighbouring subset follows from a few numbers. A change of
one rule changes what others alone cover only in rows whose number of chosen rules
goes between 0 and 1, or between 1 and 2.
"""

from libc.math cimport INFINITY, lgamma
from libc.stdint cimport int32_t, int64_t, uint8_t, uint64_t

from sklearn_textbook.tree.rules._cover cimport take_first, weigh

cdef double BITS_PER_NAT = 1.4426950408889634


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
        """Bits that tell which k of n cases."""
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
        return weigh(bits, &self.weight[64 * word], self.common_weight)

    cdef void measure_alone(self) noexcept nogil:
        """What each rule alone covers while none is chosen: all that it covers."""
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
            changed &= one_other if self.chosen[self.rule_at[i]] else no_other
            if changed:
                self.change_alone(
                    self.rule_at[i], word, sign * self.weigh_rows(word, changed)
                )
