# Handling of Ctrl-C within a kernel: Python's main thread checks for signals now and
# then, and the other threads stop with it.

from libc.stdint cimport int64_t

cdef extern from "Python.h" nogil:
    int PyErr_CheckSignals()
    void* PyErr_Occurred()
    unsigned long PyThread_get_thread_ident()

cdef extern from * nogil:
    """
    typedef struct {
        volatile int has_come;
        unsigned long thread;  /* the one that checks; 0: none */
        long long n_cells;  /* since the last check */
    } Interrupt;
    """
    ctypedef struct Interrupt:
        bint has_come
        unsigned long thread
        int64_t n_cells

cdef enum:
    CELLS_PER_LOOK = 4000000  # a few hundredths of a second

cdef inline int start_interrupt(Interrupt* interrupt) except -1:
    """Only the main thread gets signals; other threads are ended by Python."""
    import threading

    interrupt.has_come = False
    interrupt.n_cells = 0
    interrupt.thread = 0
    if threading.current_thread() is threading.main_thread():
        interrupt.thread = PyThread_get_thread_ident()
    return 0

cdef inline bint must_stop(Interrupt* interrupt, int64_t n_cells) noexcept nogil:
    """Whether a signal was received; called before some cells are processed. If so, the
    error is set for ``raise_failure``."""
    if interrupt == NULL:
        return False
    if interrupt.thread != 0 and interrupt.thread == PyThread_get_thread_ident():
        interrupt.n_cells += n_cells
        if interrupt.n_cells >= CELLS_PER_LOOK and not interrupt.has_come:
            interrupt.n_cells = 0
            with gil:
                interrupt.has_come = PyErr_CheckSignals() < 0
    return interrupt.has_come

cdef inline int raise_failure() except -1:
    """Raise the exception of a signal handler, or a MemoryError."""
    if PyErr_Occurred() == NULL:
        raise MemoryError(
            "The nodes of a tree need more memory than there is: each keeps the weight "
            "of every class of y, or the value of every output. Fewer classes, "
            "max_depth, max_leaf_nodes or min_samples_leaf make the tree smaller."
        )
    return -1
