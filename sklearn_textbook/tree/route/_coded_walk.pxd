# The walk of a group where some tests are nominal or ordinal: header-only.
#
# Every test has a row of steps, from its own number to that of the node that follows:
#
#     numeric test    value <= threshold, value > threshold, missing
#     test of codes   unseen, code 0, code 1, ..., beyond the last code, missing
#
# A leaf steps by 0, and so does the sink, where all rows end that need the full walk:
# those that end in an inner node, are divided, need a surrogate or have an unseen
# level.
#
# A step is the difference of two node numbers, so that a leaf, with a step of 0, needs
# no number of its own in the row: all leaves share the first row of steps.

from libc.stdint cimport int32_t

from sklearn_textbook.tree.route._rows cimport RowGroup, read_entry

cdef enum:
    # rows that walk together: more would not fit the registers
    N_CODED_LANES = 8
    # turns between two looks whether anybody still moves
    N_CODED_TURNS = 8


cdef struct CodedTest:
    # of a test of codes: their number
    double threshold
    int32_t feature
    # where the row of steps begins
    int32_t first_step
    # number of codes, 0 for a numeric test
    int32_t n_codes


cdef inline void walk_coded(
    const CodedTest* tests, const int32_t* steps, const RowGroup* rows, int first,
    Py_ssize_t stride, bint is_single, int32_t* position,
) noexcept nogil:
    """Walk the rows from lane ``first`` on to their leaves or to the sink."""
    cdef int lane, _turn
    cdef int32_t chosen, step, moved = 1
    cdef double value, code
    cdef const CodedTest* test
    for lane in range(first, first + N_CODED_LANES):
        position[lane] = 0
    while moved != 0:
        for _turn in range(N_CODED_TURNS):
            moved = 0
            for lane in range(first, first + N_CODED_LANES):
                test = &tests[position[lane]]
                value = read_entry(rows.start[lane], test.feature, stride, is_single)
                # All three choices are made, so that nothing need be guessed.
                # Codes are clipped to -1, unseen, and n_codes, which is the threshold
                # of such a test: beyond the last. NaN becomes -1 and is overruled
                # below.
                code = value if value > -1.0 else -1.0
                code = code if code < test.threshold else test.threshold
                chosen = value > test.threshold
                chosen = <int32_t> (code + 1.0) if test.n_codes > 0 else chosen
                chosen = test.n_codes + 2 if value != value else chosen
                step = steps[test.first_step + chosen]
                moved |= step
                position[lane] += step
