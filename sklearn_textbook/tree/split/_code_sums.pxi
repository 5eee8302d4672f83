# Codes of the sums along a direction, by which samples are counted in bins; part of
# _oblique.pyx.


cdef bint find_range(
    const double* z, int64_t n, double* lowest, double* highest
) noexcept nogil:
    """Whether the values differ, and lie within a finite range."""
    cdef:
        double[LANES] low
        double[LANES] high
        int64_t i, lane, n_whole = n // LANES * LANES
    for lane in range(LANES):
        low[lane] = high[lane] = z[0]
    i = 0
    while i < n_whole:
        for lane in range(LANES):
            low[lane] = z[i + lane] if z[i + lane] < low[lane] else low[lane]
            high[lane] = z[i + lane] if z[i + lane] > high[lane] else high[lane]
        i += LANES
    for i in range(n_whole, n):
        low[0] = z[i] if z[i] < low[0] else low[0]
        high[0] = z[i] if z[i] > high[0] else high[0]
    for lane in range(1, LANES):
        low[0] = low[lane] if low[lane] < low[0] else low[0]
        high[0] = high[lane] if high[lane] > high[0] else high[0]
    lowest[0] = low[0]
    highest[0] = high[0]
    return low[0] < high[0] and isfinite(high[0] - low[0])


cdef wide_void write_codes(
    const double* z, int64_t n, double low, double factor, uint32_t mask,
    uint32_t* codes, bint* is_unsafe
) noexcept nogil:
    """Codes that rise with the values; unsafe if some lie next to each other on both
    sides of the end of a bin, where they may be equal but for rounding."""
    cdef:
        int64_t i
        int32_t code, any_last = 0, any_first = 0, inside = <int32_t>mask
    for i in range(n):
        code = <int32_t>((z[i] - low) * factor)
        codes[i] = <uint32_t>code
        any_last |= (code & inside) == inside
        any_first |= ((code & inside) == 0) & (code != 0)
    is_unsafe[0] = any_last and any_first


cdef bint code_sums(
    ObliqueSearch* search, int32_t shift, uint32_t* codes
) noexcept nogil:
    """Codes below 2^SUM_CODE_BITS of the sums along the direction on trial, for bins of
    2^shift codes. False if the sums are all equal or not finite, or have to be sorted
    because the end of a bin may come between equal ones."""
    cdef:
        double low, high, factor
        bint is_unsafe
    if not find_range(search.trial.z, search.n, &low, &high):
        return False
    factor = <double>(<int64_t>1 << SUM_CODE_BITS) * (1.0 - 1e-9) / (high - low)
    if not isfinite(factor) or not search.rounding * factor < 0.5 or (
        search.n >= <int64_t>1 << shift
    ):
        return False
    write_codes(
        search.trial.z, search.n, low, factor, (<uint32_t>1 << shift) - 1, codes,
        &is_unsafe
    )
    return not is_unsafe


cdef void order_run(const double* z, uint64_t* keys, int64_t n) noexcept nogil:
    """Sort keys of equal codes by their values."""
    cdef:
        uint64_t code = keys[0] >> 32 << 32
        int64_t i
    for i in range(n):
        keys[i] = (keys[i] & <uint64_t>0xFFFFFFFF) << 1
    if not sort_by_insertion(z, keys, n):
        sort_by_heap(z, keys, n)
    for i in range(n):
        keys[i] = code | row_of(keys[i])


cdef void rank_codes(
    const double* z, double rounding, int32_t shift, uint64_t* keys, int64_t n
) noexcept nogil:
    """Replace the codes of sorted keys, above the places of the samples, by others that
    are equal if the values are equal up to rounding; the bins stay."""
    cdef:
        int64_t i, first = 0
        uint64_t code = 0
        double value, last = 0.0
    for i in range(1, n + 1):
        if i == n or (keys[i] ^ keys[first]) >> 32 != 0:
            if i - first > 1:
                order_run(z, keys + first, i - first)
            first = i
    for i in range(n):
        value = z[<uint32_t>keys[i]]
        if i == 0 or keys[i] >> 32 >> shift != code >> shift:
            code = keys[i] >> 32 >> shift << shift
        else:
            code += value - last > rounding
        last = value
        keys[i] = code << 32 | <uint32_t>keys[i]
