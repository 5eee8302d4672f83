# Objects by identity; part of _rank.pyx.
#
# A column of text often has few objects, each in many rows, since readers of files make
# equal strings one object. To number these, only addresses need be read, which takes a
# fraction of the time that looking up the string of every row does.

cdef enum:
    N_SLOTS = 1024
    # objects that are numbered at most; the slots are half empty
    MAX_OBJECTS = 512


def number_objects(values):
    """Number the objects of an array in the order of their first rows.

    values: ndarray of object, one-dimensional.

    Returns the number of each row's object, as int32, and the first row of each object;
    None if there are more than MAX_OBJECTS.
    """
    cdef const char* place = <const char*> <size_t> values.ctypes.data
    cdef Py_ssize_t stride = values.strides[0], n_rows = values.shape[0], row, slot
    cdef Py_ssize_t n_objects = 0
    cdef void* address
    cdef void* slots[N_SLOTS]
    cdef int32_t number_of_slot[N_SLOTS]
    cdef int64_t first_rows[MAX_OBJECTS]
    numbers = np.empty(n_rows, dtype=np.int32)
    cdef int32_t[::1] written = numbers
    for slot in range(N_SLOTS):
        slots[slot] = NULL
    for row in range(n_rows):
        address = (<void**> place)[0]
        place += stride
        # Objects are at multiples of 16 bytes; the product mixes the other bits.
        slot = (((<uint64_t> <size_t> address) >> 4) * 0x9e3779b97f4a7c15u) >> 54
        while slots[slot] != address:
            if slots[slot] == NULL:
                if n_objects == MAX_OBJECTS:
                    return None
                slots[slot] = address
                number_of_slot[slot] = <int32_t> n_objects
                first_rows[n_objects] = row
                n_objects += 1
                break
            slot = (slot + 1) % N_SLOTS
        written[row] = number_of_slot[slot]
    rows = [first_rows[row] for row in range(n_objects)]
    return numbers, np.array(rows, dtype=np.int64)
