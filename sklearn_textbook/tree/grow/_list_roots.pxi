# Listing the samples of a tree, and what all of them hold; part of _list_grower.pyx.


ctypedef fused Weight:
    int32_t
    int64_t
    double


cdef int64_t list_samples(
    const Weight* weight, const int32_t* label, int64_t n_outputs, int64_t n_rows,
    bint is_binary, bint is_whole, uint64_t* entries, int64_t* most_weight
) noexcept nogil:
    """List the samples that take part; returns their number."""
    cdef int64_t row, share, code, n = 0, most = 1
    for row in range(n_rows):
        code = 0 if label == NULL or n_outputs > 1 else label[row]
        share = <int64_t>weight[row] if is_whole else <int64_t>1
        most = max(most, share)
        # Written in any case, and kept if the row has a weight: no branch to predict.
        if is_binary:
            entries[n] = make_counted(row, share, share * code)
        else:
            entries[n] = make_listed(row, share, code)
        n += weight[row] > 0
    most_weight[0] = most
    return n


cdef double find_least(const double* weight, int64_t n) noexcept nogil:
    """The smallest positive weight."""
    cdef:
        double least = 0.0
        int64_t i
    for i in range(n):
        if weight[i] > 0.0 and (least == 0.0 or weight[i] < least):
            least = weight[i]
    return least


cdef double weight_of(
    const SampleList* samples, uint64_t entry, int64_t* number
) noexcept nogil:
    """The weight of a sample, and its row in the table."""
    if samples.kind == LIST_BINARY:
        number[0] = <int64_t>(entry >> NUMBER_BITS)
        return <double>weight_in(entry)
    number[0] = <int64_t><uint32_t>entry
    if samples.weight != NULL:
        return samples.weight[number[0]]
    return <double>whole_weight_of(entry)


cdef double add_classes(
    const SampleList* samples, int64_t n, double* sums
) noexcept nogil:
    """Sum up the weights of the classes; returns the weight of all samples."""
    cdef:
        int64_t i, number
        double weight, total = 0.0
    for i in range(n):
        weight = weight_of(samples, samples.entries[i], &number)
        total += weight
        sums[samples.label[number]] += weight
    return total


cdef bint measure_values(
    const SampleList* samples, int64_t n, double* total, double* mean, double* variance
) noexcept nogil:
    """Weight, mean and variance of y; whether there is but one value, which is then
    kept."""
    cdef:
        int64_t i, number
        double weight, value, first, sums = 0.0, squares = 0.0
        bint is_pure = True
    total[0] = 0.0
    weight_of(samples, samples.entries[0], &number)
    first = samples.y[number]
    # One after the other: sums of symmetric values are then exactly 0.
    for i in range(n):
        weight = weight_of(samples, samples.entries[i], &number)
        total[0] += weight
        sums += weight * samples.y[number]
        is_pure = is_pure and samples.y[number] == first
    mean[0] = first if is_pure else sums / total[0]
    for i in range(n):
        weight = weight_of(samples, samples.entries[i], &number)
        value = samples.y[number] - mean[0]
        squares += weight * (value * value)
    variance[0] = squares / total[0]
    return is_pure
