# One column, sorted exactly, in float64: header-only.
#
# 1. Every present number x becomes a bucket, floor((x - smallest) * scale), of 11, 22
#    or 32 bits; or, where a sample shows that this crowds unequal numbers into one
#    bucket, the 32 most significant bits in which the column differs. (bucket, row) is
#    one 64-bit entry, and the entries are sorted by bucket with a radix sort of digits
#    of 11 bits, whose histograms come from one pass.
# 2. The numbers are gathered in that order. Most stand right already; the few of one
#    bucket that do not are put in order by insertion, and a long run of them by its
#    bits: the 32 most significant bits in which the run differs first, then the rest.
# 3. One pass writes the row numbers, marks where a new value starts, and writes the
#    distinct values.
#
# Every step keeps rows with equal values in the order of the table.

from libc.math cimport INFINITY, isfinite
from libc.stdint cimport int64_t, uint32_t, uint64_t
from libc.string cimport memcpy, memset

cdef enum:
    DIGIT_BITS = 11
    N_BUCKETS = 2048  # 2 ** DIGIT_BITS
    MAX_DIGITS = 3
    MAX_MOVES = 64  # of one insertion; a run that needs more is sorted by its bits
    SAMPLE_SIZE = 256  # numbers that show whether a column is crowded
    MAX_CROWDED = 8  # of them may share a bucket with an unequal neighbour
    MIN_SAMPLED_ROWS = 4096  # of a column that is worth the sampling

cdef extern from *:
    const uint64_t SIGN_BIT "0x8000000000000000U"
    const uint32_t RUN_START "0x80000000U"
    const uint32_t ROW_MASK "0x7FFFFFFFU"


cdef inline uint64_t sortable_key(double value) noexcept nogil:
    """An unsigned integer that sorts as the number does."""
    cdef uint64_t bits
    memcpy(&bits, &value, 8)
    if bits == SIGN_BIT:  # minus zero equals zero
        bits = 0
    # Negative numbers: all bits turned; positive numbers: the sign bit set.
    return bits ^ ((0 - (bits >> 63)) | SIGN_BIT)


cdef struct Buckets:
    # How numbers become buckets.
    double smallest  # smallest number of the column
    double scale  # buckets per unit
    uint64_t first_key  # key of the smallest number
    int shift  # low bits of a key that do not count


cdef inline uint64_t find_bucket(double value, const Buckets* buckets) noexcept nogil:
    """The bucket of a number in equal steps, any bucket of a missing value.

    Subtraction, multiplication and truncation round monotonically, so buckets never
    reverse the order of two numbers.
    """
    cdef double offset = value - buckets.smallest
    offset = offset if offset > 0.0 else 0.0  # a missing value is not greater
    return <uint64_t> (<int64_t> (offset * buckets.scale))


cdef inline int find_shift(uint64_t width) noexcept nogil:
    """Number of low bits to drop so that a difference of keys fits in 32 bits."""
    cdef int shift = 0
    while width >> shift >> 32:
        shift += 1
    return shift


cdef inline bint is_crowded(
    const double* column, Py_ssize_t n_rows, const Buckets* buckets
) noexcept nogil:
    """Whether unequal numbers of a sample share buckets."""
    cdef double[SAMPLE_SIZE] sample
    cdef double value
    cdef Py_ssize_t i, place, n_present = 0, n_crowded = 0
    for i in range(SAMPLE_SIZE):
        # Rows at equal distances, sorted by insertion.
        value = column[i * n_rows // SAMPLE_SIZE]
        if value == value:
            place = n_present
            while place > 0 and sample[place - 1] > value:
                sample[place] = sample[place - 1]
                place -= 1
            sample[place] = value
            n_present += 1
    for i in range(1, n_present):
        n_crowded += sample[i - 1] < sample[i] and (
            find_bucket(sample[i - 1], buckets) == find_bucket(sample[i], buckets)
        )
    return n_crowded > MAX_CROWDED


cdef inline Py_ssize_t pack_entries(
    const double* column, Py_ssize_t n_rows, const Buckets* buckets,
    int n_digits, bint by_bits, uint64_t* entries, uint32_t* histograms,
) noexcept nogil:
    """Pack (bucket, row) of the present rows and count the digits of the buckets.

    Missing rows fill the buffer from its end, in reversed order. Returns the number of
    present rows.
    """
    cdef Py_ssize_t row, n_present = 0, last_free = n_rows - 1
    cdef uint32_t present
    cdef uint64_t bucket, entry
    memset(histograms, 0, n_digits * N_BUCKETS * sizeof(uint32_t))
    for row in range(n_rows):
        present = column[row] == column[row]
        if by_bits:
            bucket = (sortable_key(column[row]) - buckets.first_key) >> buckets.shift
        else:
            bucket = find_bucket(column[row], buckets)
        entry = bucket << 32 | <uint64_t> row
        # Written to both ends and kept at one of them: no branch to mispredict.
        entries[last_free] = entry
        entries[n_present] = entry
        n_present += present
        last_free -= 1 - present
        histograms[bucket & (N_BUCKETS - 1)] += present
        if n_digits > 1:
            bucket >>= DIGIT_BITS
            histograms[N_BUCKETS + (bucket & (N_BUCKETS - 1))] += present
        if n_digits > 2:
            bucket >>= DIGIT_BITS
            histograms[2 * N_BUCKETS + (bucket & (N_BUCKETS - 1))] += present
    return n_present


cdef inline uint64_t* sort_entries(
    uint64_t* entries, uint64_t* spare, Py_ssize_t n_entries,
    uint32_t* histograms, int n_digits,
) noexcept nogil:
    """Sort entries by the digits above bit 31; return the buffer they end up in."""
    cdef int digit, low_bit, bucket
    cdef Py_ssize_t i
    cdef uint32_t start, count
    cdef uint32_t* histogram
    cdef uint64_t entry
    cdef uint64_t* swapped
    for digit in range(n_digits):
        # From the least significant digit on. Each pass keeps the order of entries with
        # equal digits, so the digits before it stay sorted.
        histogram = histograms + digit * N_BUCKETS
        low_bit = 32 + digit * DIGIT_BITS
        bucket = (entries[0] >> low_bit) & (N_BUCKETS - 1)
        if histogram[bucket] == <uint32_t> n_entries:
            continue  # the same digit in all entries
        # Counts become the first place of each digit.
        start = 0
        for bucket in range(N_BUCKETS):
            count = histogram[bucket]
            histogram[bucket] = start
            start += count
        for i in range(n_entries):
            entry = entries[i]
            bucket = (entry >> low_bit) & (N_BUCKETS - 1)
            spare[histogram[bucket]] = entry
            histogram[bucket] += 1
        swapped = entries
        entries = spare
        spare = swapped
    return entries


cdef inline Py_ssize_t insert_in_order(
    double* values, uint64_t* entries, Py_ssize_t place
) noexcept nogil:
    """Move one entry down to where its value belongs; return 0 after MAX_MOVES."""
    cdef double value = values[place]
    cdef uint64_t entry = entries[place]
    cdef Py_ssize_t lowest = max(place - MAX_MOVES, 0)
    while place > lowest and values[place - 1] > value:
        values[place] = values[place - 1]
        entries[place] = entries[place - 1]
        place -= 1
    values[place] = value
    entries[place] = entry
    return place == 0 or values[place - 1] <= value


cdef inline void gather_in_order(
    const double* column, uint64_t* entries, uint64_t* spare, Py_ssize_t n_entries,
    uint32_t* histograms,
) noexcept nogil:
    """Sort entries that are sorted by bucket wholly; `spare` becomes their values."""
    cdef double* values = <double*> spare
    cdef double previous = -INFINITY
    cdef Py_ssize_t start, stop, i = 0
    while i < n_entries:
        # Unequal buckets are in order already: a number below the one before it shares
        # that one's bucket.
        values[i] = column[<uint32_t> entries[i]]
        if values[i] < previous:
            if not insert_in_order(values, entries, i):
                # Too far from its place: the whole bucket is sorted by bits. Insertion
                # moved entries only past larger numbers, so ties are still in the order
                # of the table.
                start = stop = i
                while start > 0 and entries[start - 1] >> 32 == entries[i] >> 32:
                    start -= 1
                while stop < n_entries and entries[stop] >> 32 == entries[i] >> 32:
                    stop += 1
                sort_run_by_bits(
                    column, entries + start, spare + start, stop - start, histograms
                )
                i = stop - 1
        previous = values[i]
        i += 1


cdef inline void sort_run_by_bits(
    const double* column, uint64_t* entries, uint64_t* spare, Py_ssize_t n_entries,
    uint32_t* histograms,
) noexcept nogil:
    """Sort a run of rows by the bits of their numbers; `spare` becomes the numbers.

    32 bits at a time, so that it nests at most twice. Row numbers stay in the lower
    half of the entries; the upper half, until now the shared bucket, becomes the key.
    """
    cdef Py_ssize_t i
    cdef uint64_t key, smallest = ~(<uint64_t> 0), largest = 0
    cdef uint64_t* result
    cdef int shift
    for i in range(n_entries):
        key = sortable_key(column[<uint32_t> entries[i]])
        smallest = min(smallest, key)
        largest = max(largest, key)
    shift = find_shift(largest - smallest)
    memset(histograms, 0, MAX_DIGITS * N_BUCKETS * sizeof(uint32_t))
    for i in range(n_entries):
        key = (sortable_key(column[<uint32_t> entries[i]]) - smallest) >> shift
        entries[i] = key << 32 | <uint32_t> entries[i]
        histograms[key & (N_BUCKETS - 1)] += 1
        histograms[N_BUCKETS + ((key >> DIGIT_BITS) & (N_BUCKETS - 1))] += 1
        histograms[2 * N_BUCKETS + (key >> 2 * DIGIT_BITS)] += 1
    result = sort_entries(entries, spare, n_entries, histograms, MAX_DIGITS)
    if result != entries:
        memcpy(entries, result, n_entries * sizeof(uint64_t))
    gather_in_order(column, entries, spare, n_entries, histograms)


cdef inline void emit(
    const double* values, const uint64_t* entries, Py_ssize_t n_present,
    Py_ssize_t n_rows, const uint64_t* missing, uint32_t* order, double* distinct,
    int64_t* n_distinct,
) noexcept nogil:
    """Write the row numbers with their marks, and the distinct values.

    ``entries`` has the present rows in order; ``missing`` the others, from its end on,
    as `pack_entries` leaves them.
    """
    cdef Py_ssize_t i, last = -1
    cdef uint32_t is_new
    cdef double previous = -INFINITY  # no value of a column is infinite
    for i in range(n_present):
        is_new = values[i] != previous
        previous = values[i]
        last += is_new
        distinct[last] = previous
        order[i] = <uint32_t> entries[i] | is_new << 31
    for i in range(n_present, n_rows):
        order[i] = <uint32_t> missing[n_rows - 1 - (i - n_present)]
    if n_present < n_rows:
        order[n_present] |= RUN_START
    n_distinct[0] = last + 1


cdef inline bint find_range(
    const double* column, Py_ssize_t n_rows, double* smallest, double* largest
) noexcept nogil:
    """Smallest and largest present number; return whether one of them is infinite."""
    cdef double low = INFINITY, high = -INFINITY, low_odd = INFINITY
    cdef double high_odd = -INFINITY
    cdef Py_ssize_t row
    # Comparisons with a missing value are false. Two chains, for their latency.
    for row in range(0, n_rows - 1, 2):
        low = column[row] if column[row] < low else low
        high = column[row] if column[row] > high else high
        low_odd = column[row + 1] if column[row + 1] < low_odd else low_odd
        high_odd = column[row + 1] if column[row + 1] > high_odd else high_odd
    if n_rows % 2:
        row = n_rows - 1
        low = column[row] if column[row] < low else low
        high = column[row] if column[row] > high else high
    smallest[0] = min(low, low_odd)
    largest[0] = max(high, high_odd)
    return smallest[0] == -INFINITY or largest[0] == INFINITY


cdef inline bint is_sorted(const double* column, Py_ssize_t n_rows) noexcept nogil:
    """Whether no number is missing and the column ascends."""
    cdef Py_ssize_t row
    if not column[0] == column[0]:
        return False
    for row in range(1, n_rows):
        if not column[row] >= column[row - 1]:
            return False
    return True


cdef inline bint rank_column(
    const double* column, Py_ssize_t n_rows, uint64_t* scratch, uint32_t* order,
    double* distinct, int64_t* n_distinct, int64_t* n_missing,
) noexcept nogil:
    """Rank one column; return whether it holds an infinite number.

    `distinct` may be the column itself.
    """
    cdef uint64_t* entries = scratch
    cdef uint64_t* spare = scratch + n_rows
    cdef uint32_t* histograms = <uint32_t*> (scratch + 2 * n_rows)
    cdef uint64_t* result
    cdef double largest, n_buckets
    cdef Buckets buckets
    cdef Py_ssize_t row, n_present
    cdef int n_digits
    cdef bint by_bits
    if find_range(column, n_rows, &buckets.smallest, &largest):
        return True
    if is_sorted(column, n_rows):
        for row in range(n_rows):
            entries[row] = row
        emit(column, entries, n_rows, n_rows, entries, order, distinct, n_distinct)
        n_missing[0] = 0
        return False
    # At least two buckets per row, so that few rows share one.
    n_digits = 1 if n_rows <= 1024 else 2 if n_rows <= 2000000 else 3
    n_buckets = <double> (<int64_t> 1 << min(n_digits * DIGIT_BITS, 32))
    # The largest number is in the last bucket.
    buckets.scale = (n_buckets - 1.0) / (largest - buckets.smallest)
    buckets.first_key = sortable_key(buckets.smallest)
    buckets.shift = find_shift(sortable_key(largest) - buckets.first_key)
    # Equal steps need a finite scale: not those of a constant column, of a range that
    # is subnormal or overflows, or of a column without a present value.
    by_bits = not (
        isfinite(buckets.scale) and isfinite(largest - buckets.smallest)
    ) or (n_rows >= MIN_SAMPLED_ROWS and is_crowded(column, n_rows, &buckets))
    # One call per case, so that each becomes a loop without the others' branches.
    if by_bits:
        n_digits = 3
        n_present = pack_entries(
            column, n_rows, &buckets, 3, True, entries, histograms
        )
    elif n_digits == 1:
        n_present = pack_entries(
            column, n_rows, &buckets, 1, False, entries, histograms
        )
    elif n_digits == 2:
        n_present = pack_entries(
            column, n_rows, &buckets, 2, False, entries, histograms
        )
    else:
        n_present = pack_entries(
            column, n_rows, &buckets, 3, False, entries, histograms
        )
    n_missing[0] = n_rows - n_present
    result = entries
    if n_present > 0:
        result = sort_entries(entries, spare, n_present, histograms, n_digits)
        if result != entries:
            spare = entries
        gather_in_order(column, result, spare, n_present, histograms)
    emit(
        <double*> spare, result, n_present, n_rows, entries, order, distinct, n_distinct
    )
    return False
