# Partitioning a list of 64-bit entries by steps of 16 bits, eight samples at a time:
# branch-free compaction, by a table of permutations of four entries. Compilers do not
# find that in a loop, so it is written in intrinsics for the processors that have them.
# The permutation for choice c of four entries begins at number 8 c of the table. It
# moves halves of 32 bits, as AVX2 permutes these by a register, but not entries of 64
# bits.

from libc.stdint cimport int16_t, int64_t, uint32_t, uint64_t
from libc.string cimport memcpy

from sklearn_textbook.tree.split._samples cimport N_PERMUTED

cdef extern from *:
    """
    #if defined(__x86_64__) && defined(__GNUC__)
    #include <immintrin.h>
    __attribute__((target("avx2,popcnt")))
    static int64_t partition_wide(
        uint64_t *entries, uint64_t *spare, const int16_t *steps, int16_t boundary,
        int64_t n, const uint32_t *permutations, int64_t *n_left
    ) {
        const __m256i *permutation = (const __m256i *)permutations;
        const __m128i boundaries = _mm_set1_epi16(boundary);
        int64_t i, half, left = 0;
        for (i = 0; i + 8 <= n; i += 8) {
            __m128i below = _mm_cmplt_epi16(
                _mm_loadu_si128((const __m128i *)(steps + i)), boundaries
            );
            unsigned eight = (unsigned)_mm_movemask_epi8(
                _mm_packs_epi16(below, _mm_setzero_si128())
            );
            for (half = 0; half < 8; half += 4) {
                unsigned four = eight >> half & 15;
                __m256i four_entries = _mm256_loadu_si256(
                    (const __m256i *)(entries + i + half)
                );
                /* What follows the chosen ones is overwritten later. */
                _mm256_storeu_si256(
                    (__m256i *)(entries + left),
                    _mm256_permutevar8x32_epi32(
                        four_entries, _mm256_loadu_si256(permutation + four)
                    )
                );
                _mm256_storeu_si256(
                    (__m256i *)(spare + i + half - left),
                    _mm256_permutevar8x32_epi32(
                        four_entries, _mm256_loadu_si256(permutation + (15 - four))
                    )
                );
                left += __builtin_popcount(four);
            }
        }
        *n_left = left;
        return i;
    }
    #define PARTITION_EIGHTS( \\
        entries, spare, steps, boundary, n, permutations, n_left \\
    ) \\
        (__builtin_cpu_supports("avx2") \\
            ? partition_wide( \\
                entries, spare, steps, boundary, n, permutations, n_left \\
            ) \\
            : 0)
    #else
    #define PARTITION_EIGHTS( \\
        entries, spare, steps, boundary, n, permutations, n_left \\
    ) \\
        ((void)(permutations), (int64_t)0)
    #endif
    """
    int64_t PARTITION_EIGHTS(
        uint64_t* entries, uint64_t* spare, const int16_t* steps, int16_t boundary,
        int64_t n, const uint32_t* permutations, int64_t* n_left
    ) noexcept nogil

cdef inline void list_permutations(uint32_t* permutations) noexcept nogil:
    # For each choice among four entries, the halves of the chosen ones.
    cdef int64_t choice, entry, n
    for n in range(N_PERMUTED):
        permutations[n] = 0
    for choice in range(16):
        n = 8 * choice
        for entry in range(4):
            if choice >> entry & 1:
                permutations[n] = <uint32_t>(2 * entry)
                permutations[n + 1] = <uint32_t>(2 * entry + 1)
                n += 2

cdef inline int64_t partition_by_steps(
    uint64_t* entries, uint64_t* spare, const int16_t* steps, int16_t boundary,
    int64_t n, const uint32_t* permutations
) noexcept nogil:
    # Samples on steps below the boundary to the front, the others after them, both in
    # their order. Returns how many are below.
    cdef:
        int64_t n_left = 0
        int64_t i, start = PARTITION_EIGHTS(
            entries, spare, steps, boundary, n, permutations, &n_left
        )
        uint64_t entry
    # Both stores happen always; only the counter depends on the step.
    for i in range(start, n):
        entry = entries[i]
        entries[n_left] = entry
        spare[i - n_left] = entry
        n_left += steps[i] < boundary
    memcpy(entries + n_left, spare, (n - n_left) * sizeof(uint64_t))
    return n_left
