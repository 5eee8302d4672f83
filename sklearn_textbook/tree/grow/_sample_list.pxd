# Reading and sorting the codes of a node's samples. ``kind`` is a NULL pointer whose
# type tells the layout of the entries, see split/_sums.pxd.

from libc.stdint cimport int64_t, uint32_t, uint64_t

from sklearn_textbook.tree.grow._buffers cimport Frame
from sklearn_textbook.tree.split._samples cimport SampleList
from sklearn_textbook.tree.split._sums cimport Sums
from sklearn_textbook.tree.split._types cimport Problem

cdef int start_sample_list(
    const Problem* problem, SampleList* samples, int64_t n_rows,
    const SampleList* lender
) noexcept nogil
cdef void free_sample_list(SampleList* samples) noexcept nogil
cdef void make_local(
    const Problem* problem, SampleList* samples, const Frame* frame
) noexcept nogil
cdef bint needs_copy(const SampleList* samples, int64_t n) noexcept nogil
cdef int copy_table(
    const Problem* problem, SampleList* samples, const Frame* frame, int64_t n_outside
) noexcept nogil
cdef void leave_copy(SampleList* samples) noexcept nogil
cdef void gather_codes(
    const SampleList* samples, const Sums* kind, const uint64_t* entries, int64_t n,
    int64_t column, uint32_t* gathered
) noexcept nogil
cdef void add_codes(
    const SampleList* samples, const Sums* kind, const uint64_t* entries,
    int64_t column, uint32_t smallest, uint64_t* keys, int64_t n
) noexcept nogil
cdef void describe_samples(
    const Problem* problem, SampleList* samples, const Frame* frame
) noexcept nogil
cdef void sort_keys(
    uint64_t* keys, int64_t n, uint64_t* spare, int shift, uint32_t width
) noexcept nogil
cdef void sort_column(
    SampleList* samples, const uint64_t* entries, int64_t n, const uint32_t* codes,
    uint32_t missing_code, uint64_t* sorted_entries
) noexcept nogil
