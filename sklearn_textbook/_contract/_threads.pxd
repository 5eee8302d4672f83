from libc.stdint cimport int64_t

from sklearn_textbook._contract._interrupt cimport Interrupt

cdef extern from "pythread.h":
    ctypedef void* PyThread_type_lock

# Runs one task; ``thread`` counts from 0, so that each can have working memory.
ctypedef void (*TaskFunction)(void* context, int64_t task, int thread) noexcept nogil

# One thread in addition to the calling one.
cdef struct Helper:
    ThreadTeam* team
    int thread
    bint is_asleep  # or will be soon
    PyThread_type_lock wake

# Read and written only by the thread that holds the lock, and by the functions below.
cdef struct ThreadTeam:
    PyThread_type_lock lock
    TaskFunction function
    void* context
    int64_t n_tasks
    int64_t next_task
    int n_busy  # helpers that run tasks
    bint is_awaited  # whether the caller sleeps until they have finished
    PyThread_type_lock done
    bint is_stopped
    Interrupt* interrupt  # of the caller, or NULL
    unsigned long caller  # native ID of its thread
    int n_users  # threads that may still read this
    Helper* helpers
    int n_helpers

cdef ThreadTeam* start_team(int n_threads, Interrupt* interrupt) noexcept
cdef void run_tasks(
    ThreadTeam* team, TaskFunction function, void* context, int64_t n_tasks
) noexcept nogil
cdef void stop_team(ThreadTeam* team) noexcept nogil
cdef int run_in_threads(
    int n_threads, TaskFunction function, void* context, int64_t n_tasks
) except -1
