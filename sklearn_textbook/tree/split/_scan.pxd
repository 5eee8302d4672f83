from libc.stdint cimport uint32_t

from sklearn_textbook.tree.split._types cimport (
    Entry,
    Pass,
    Problem,
    Rows,
    Scratch,
    Split,
)

cdef inline bint is_apart(
    const uint32_t* next_apart, uint32_t below, uint32_t above
) noexcept nogil:
    """Whether a threshold may lie between the ranks of two neighbours."""
    return below != above if next_apart == NULL else above >= next_apart[below]

# The entropy of whole counts, also for the gains of ID3 and C4.5.
cdef void scan_entropy(
    const Problem* problem, const Rows* rows, Scratch* scratch, const Entry* entries,
    const Pass* scan, Split* best
) noexcept nogil
# Replaces ``best`` if a threshold between scan.lowest and scan.highest is better.
# Before the call, ``entries`` are sorted and lowest <= highest.
cdef void run_scan(
    const Problem* problem, const Rows* rows, Scratch* scratch, const Entry* entries,
    const Pass* scan, Split* best
) noexcept nogil
