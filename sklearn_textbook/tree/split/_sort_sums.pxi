# Sums along a direction in ascending order; part of _oblique.pyx.


cdef inline bint is_before(const double* z, uint64_t a, uint64_t b) noexcept nogil:
    """Whether key a belongs before key b; equal values in the order of samples."""
    cdef double first = z[row_of(a)], second = z[row_of(b)]
    return first < second or (first == second and row_of(a) < row_of(b))


cdef void sift_down(
    const double* z, uint64_t* keys, int64_t place, int64_t n
) noexcept nogil:
    cdef:
        uint64_t key = keys[place]
        int64_t child = 2 * place + 1
    while child < n:
        if child + 1 < n and is_before(z, keys[child], keys[child + 1]):
            child += 1
        if not is_before(z, key, keys[child]):
            break
        keys[place] = keys[child]
        place = child
        child = 2 * place + 1
    keys[place] = key


cdef void sort_by_heap(const double* z, uint64_t* keys, int64_t n) noexcept nogil:
    """Sort values of any distribution."""
    cdef int64_t i
    for i in range(n // 2 - 1, -1, -1):
        sift_down(z, keys, i, n)
    for i in range(n - 1, 0, -1):
        keys[0], keys[i] = keys[i], keys[0]
        sift_down(z, keys, 0, i)


cdef bint sort_by_insertion(const double* z, uint64_t* keys, int64_t n) noexcept nogil:
    """Sort keys that are nearly in order; whether they were."""
    cdef:
        int64_t i, j, n_left = MAX_SHIFTS * n + FEW_KEYS * FEW_KEYS
        uint64_t key
        double value
    for i in range(1, n):
        key = keys[i]
        value = z[row_of(key)]
        j = i
        while j > 0 and z[row_of(keys[j - 1])] > value:
            keys[j] = keys[j - 1]
            j -= 1
        keys[j] = key
        n_left -= i - j
        if n_left < 0:
            return False
    return True


cdef bint sort_values(
    const double* z, int64_t n, uint64_t* keys, uint64_t* spare
) noexcept nogil:
    """Sort the samples by their values: numbers of samples, shifted by 1, as in the
    entries of a sorted column. False if the values are all equal or not finite."""
    cdef:
        int64_t i
        double low = INFINITY, high = -INFINITY, factor
        int n_digits = 1 if n <= 256 else 2 if n <= 262144 else 3
    for i in range(n):
        low = z[i] if z[i] < low else low
        high = z[i] if z[i] > high else high
    if not low < high or not isfinite(high - low):
        return False
    factor = <double>(<int64_t>1 << (8 * n_digits)) * (1.0 - 1e-9) / (high - low)
    if n <= FEW_KEYS or not isfinite(factor):
        for i in range(n):
            keys[i] = <uint64_t>i << 1
    else:
        for i in range(n):
            keys[i] = (
                <uint64_t><uint32_t>((z[i] - low) * factor) << 32 | <uint64_t>i << 1
            )
        sort_by_digits(keys, n, spare, 32, (1 << (8 * n_digits)) - 1)
    if not sort_by_insertion(z, keys, n):
        sort_by_heap(z, keys, n)
    return True


cdef void rank_sums(
    const ObliqueSearch* search, const double* z, double rounding
) noexcept nogil:
    """Make entries of a sorted column of the sorted keys: ranks, which are equal if
    values are equal up to rounding, and the second of two classes."""
    cdef:
        const Problem* problem = search.problem
        const int32_t* label = NULL
        uint64_t* keys = search.keys
        int64_t i, place
        uint64_t rank = 0
        double value, last = z[row_of(keys[0])]
    if problem.is_classifier and problem.n_outputs == 1 and problem.n_statistics == 2:
        label = search.rows.label
    for i in range(search.n):
        place = row_of(keys[i])
        value = z[place]
        rank += value - last > rounding
        last = value
        keys[i] = rank << 32 | <uint64_t>place << 1
        if label != NULL:
            keys[i] |= <uint64_t>label[place]
