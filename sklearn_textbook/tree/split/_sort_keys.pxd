# Sorting by some bytes of keys, which keeps the order of equal ones: header-only.

from libc.stdint cimport int64_t, uint32_t, uint64_t
from libc.string cimport memcpy, memset


cdef inline void sort_by_digits(
    uint64_t* keys, int64_t n, uint64_t* spare, int shift, uint32_t width
) noexcept nogil:
    """Sort by the bits from ``shift`` on, which do not exceed ``width``.

    Radix sort by bytes, the lowest first: each pass keeps the order of the one before
    it among equal bytes. ``spare`` has room for n keys.
    """
    cdef:
        int64_t[257] start
        int64_t i
        uint64_t* source = keys
        uint64_t* target = spare
    while width > 0:
        memset(start, 0, sizeof(start))
        for i in range(n):
            start[((source[i] >> shift) & 0xFF) + 1] += 1
        # The place of the first key of each byte.
        for i in range(256):
            start[i + 1] += start[i]
        for i in range(n):
            target[start[(source[i] >> shift) & 0xFF]] = source[i]
            start[(source[i] >> shift) & 0xFF] += 1
        source, target = target, source
        shift += 8
        width >>= 8
    # After an odd number of passes the sorted keys are in the spare memory.
    if source != keys:
        memcpy(keys, source, n * sizeof(uint64_t))
