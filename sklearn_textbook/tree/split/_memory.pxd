# Memory that is taken piece by piece and freed together: header-only.
# The pieces are a linked list. A function may take all that it needs and look at
# ``is_short`` once in the end.

from libc.stdint cimport int64_t
from libc.string cimport memset

from sklearn_textbook._contract._file_memory cimport free_bytes, take_bytes

# Begins as zeros.
cdef struct Memory:
    void* last
    bint is_short  # an allocation failed
    bint in_files  # large pieces are in temporary files

# What comes before every piece.
cdef struct Chunk:
    Chunk* next
    int64_t unused  # numbers behind it are aligned to 16 bytes

cdef inline void* take_memory(Memory* memory, int64_t n, size_t size) noexcept nogil:
    """Memory for n numbers; notes where there is none left."""
    cdef Chunk* chunk = <Chunk*>take_bytes(
        sizeof(Chunk) + n * size, memory.in_files
    )
    if chunk == NULL:
        memory.is_short = True
        return NULL
    chunk.next = <Chunk*>memory.last
    memory.last = chunk
    return chunk + 1

cdef inline double* take_doubles(Memory* memory, int64_t n) noexcept nogil:
    return <double*>take_memory(memory, n, sizeof(double))

cdef inline void* take_zeros(Memory* memory, int64_t n, size_t size) noexcept nogil:
    # The same, filled with zeros.
    cdef void* start = take_memory(memory, n, size)
    if start != NULL:
        memset(start, 0, n * size)
    return start

cdef inline void free_memory(Memory* memory) noexcept nogil:
    # Free all pieces; more may be taken afterwards.
    cdef Chunk* chunk
    while memory.last != NULL:
        chunk = <Chunk*>memory.last
        memory.last = chunk.next
        free_bytes(chunk)
