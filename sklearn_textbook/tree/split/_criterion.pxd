from libc.math cimport log2
from libc.stdint cimport int64_t, uint32_t

from sklearn_textbook.tree.split._median_set cimport (
    add_value,
    clear_medians,
    measure_loss,
)
from sklearn_textbook.tree.split._types cimport Entry, Problem, Rows, Scratch, Totals

cdef inline double times_log(double x) noexcept nogil:
    # Its limit at 0 is 0.
    return x * log2(x) if x > 0.0 else 0.0

cdef inline double weight_of(const Rows* rows, uint32_t row) noexcept nogil:
    return 1.0 if rows.weight == NULL else rows.weight[row]

cdef double goodness(
    const Problem* problem, const double* sums, double weight
) noexcept nogil
cdef double class_impurity(
    const Problem* problem, const double* sums, double weight
) noexcept nogil
cdef bint lacks_events(
    const Problem* problem, const double* left, const double* right
) noexcept nogil
cdef void add_row(
    const Problem* problem, const Rows* rows, int64_t row, double weight,
    const double* centre, double* sums
) noexcept nogil
cdef void sum_entries(
    const Problem* problem, const Rows* rows, const Entry* entries, int64_t n,
    Totals* totals
) noexcept nogil
cdef double value_of(
    const Problem* problem, const double* sums, double weight, const double* centre
) noexcept nogil
cdef void rank_targets(
    const Problem* problem, const Rows* rows, Scratch* scratch,
    const Entry* entries, int64_t n
) noexcept nogil

# Absolute error of a set of rows that grows row by row, one output after the other:
# ``clear_losses`` empties it, ``insert_row`` adds a row, and ``absolute_loss`` is the
# sum of weight * |y - median|. ``rank_targets`` of the node has to come first.
cdef inline void clear_losses(Scratch* scratch, int64_t output) noexcept nogil:
    clear_medians(
        &scratch.medians, scratch.y_sorted + output * scratch.capacity,
        scratch.n_sorted[output]
    )

cdef inline void insert_row(
    const Rows* rows, Scratch* scratch, int64_t output, int64_t row
) noexcept nogil:
    # ``row`` is a number in ``rows``, by which ``y_rank`` is indexed, too.
    add_value(
        &scratch.medians, scratch.y_rank[output * scratch.capacity + row],
        weight_of(rows, row)
    )

cdef inline double absolute_loss(Scratch* scratch, double* median) noexcept nogil:
    # Writes the median as well.
    return measure_loss(&scratch.medians, median)
