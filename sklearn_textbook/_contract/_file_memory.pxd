# Memory in files for tables that do not fit into memory.

cdef void* take_bytes(size_t size, bint in_files) noexcept nogil
cdef void* take_zero_bytes(size_t size, bint in_files) noexcept nogil
cdef void* resize_bytes(
    void* start, size_t before, size_t size, bint in_files
) noexcept nogil
cdef void free_bytes(void* start) noexcept nogil
