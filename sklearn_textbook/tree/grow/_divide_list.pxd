# Dividing a list of 64-bit entries by cells of 16 bits, eight rows at a time. Vector
# units put the chosen ones of four entries to the front by a table; compilers do not
# find that in a loop, so it is spelled out, for the machines that have it.

from libc.stdint cimport int16_t, int64_t, uint32_t, uint64_t
from libc.string cimport memcpy

cdef extern from *:
    """
    #if defined(__x86_64__) && defined(__GNUC__)
    #include <immintrin.h>
    __attribute__((target("avx2,popcnt")))
    static int64_t divide_wide(
        uint64_t *rows, uint64_t *spare, const int16_t *cells, int16_t cut, int64_t n,
        const uint32_t *fronts, int64_t *n_left
    ) {
        const __m256i *front = (const __m256i *)fronts;
        const __m128i cuts = _mm_set1_epi16(cut);
        int64_t i, half, left = 0;
        for (i = 0; i + 8 <= n; i += 8) {
            __m128i below = _mm_cmplt_epi16(
                _mm_loadu_si128((const __m128i *)(cells + i)), cuts
            );
            unsigned eight = (unsigned)_mm_movemask_epi8(
                _mm_packs_epi16(below, _mm_setzero_si128())
            );
            for (half = 0; half < 8; half += 4) {
                unsigned four = eight >> half & 15;
                __m256i entries = _mm256_loadu_si256(
                    (const __m256i *)(rows + i + half)
                );
                /* What follows the chosen ones is written over by others later. */
                _mm256_storeu_si256(
                    (__m256i *)(rows + left),
                    _mm256_permutevar8x32_epi32(
                        entries, _mm256_loadu_si256(front + four)
                    )
                );
                _mm256_storeu_si256(
                    (__m256i *)(spare + i + half - left),
                    _mm256_permutevar8x32_epi32(
                        entries, _mm256_loadu_si256(front + (15 - four))
                    )
                );
                left += __builtin_popcount(four);
            }
        }
        *n_left = left;
        return i;
    }
    #define DIVIDE_EIGHTS(rows, spare, cells, cut, n, fronts, n_left) \\
        (__builtin_cpu_supports("avx2") \\
            ? divide_wide(rows, spare, cells, cut, n, fronts, n_left) : 0)
    #else
    #define DIVIDE_EIGHTS(rows, spare, cells, cut, n, fronts, n_left) \\
        ((void)(fronts), (int64_t)0)
    #endif
    """
    int64_t DIVIDE_EIGHTS(
        uint64_t* rows, uint64_t* spare, const int16_t* cells, int16_t cut, int64_t n,
        const uint32_t* fronts, int64_t* n_left
    ) noexcept nogil

cdef enum:
    FRONTS = 128  # numbers of such a table

cdef inline void list_fronts(uint32_t* fronts) noexcept nogil:
    """For each choice among four entries, the halves of the chosen ones."""
    cdef int64_t choice, entry, n
    for n in range(FRONTS):
        fronts[n] = 0
    for choice in range(16):
        n = 8 * choice
        for entry in range(4):
            if choice >> entry & 1:
                fronts[n] = <uint32_t>(2 * entry)
                fronts[n + 1] = <uint32_t>(2 * entry + 1)
                n += 2

cdef inline int64_t divide_list(
    uint64_t* rows, uint64_t* spare, const int16_t* cells, int16_t cut, int64_t n,
    const uint32_t* fronts
) noexcept nogil:
    """Rows with cells below the cut to the front, the others after them, both in the
    order that they had. Returns how many lie below."""
    cdef:
        int64_t n_left = 0
        int64_t i, start = DIVIDE_EIGHTS(rows, spare, cells, cut, n, fronts, &n_left)
        uint64_t row
    for i in range(start, n):
        # Written twice, and kept once: nobody guesses where it belongs.
        row = rows[i]
        rows[n_left] = row
        spare[i - n_left] = row
        n_left += cells[i] < cut
    memcpy(rows + n_left, spare, (n - n_left) * sizeof(uint64_t))
    return n_left
