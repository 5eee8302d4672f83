"""Memory in files, for what grows with the rows of a table that is read in blocks.

A large piece of memory is a mapping of a temporary file that has no name any more: the
operating system writes pages of it to the disk, and takes them back, as it does with
the cache of files; what is left by a process that is killed is freed at once. Small
pieces come from ``malloc``. A piece in a file begins with a page, which those of
``malloc`` hardly ever do, and is looked up in a list before it is freed.

Arrays of numpy are allocated in the same way while a handler of this module is set,
which holds for one context of Python (numpy's NEP 49).
"""

cdef extern from *:
    """
    #define NPY_NO_DEPRECATED_API NPY_1_22_API_VERSION
    #include <errno.h>
    #include <stdint.h>
    #include <stdio.h>
    #include <stdlib.h>
    #include <string.h>
    #include <time.h>
    #include <Python.h>
    #include <numpy/arrayobject.h>

    typedef struct Watch Watch;

    #if defined(_WIN32)
    /* No files there: all memory is that of malloc. */
    static size_t smallest_piece = SIZE_MAX;
    static int last_failure = 0;
    static int choose_files(const char *folder, size_t smallest) {
        (void)folder;
        (void)smallest;
        return 0;
    }
    static void *map_file(size_t size) { return malloc(size); }
    static size_t find_size(const void *start) { (void)start; return 0; }
    static void free_piece(void *start) { free(start); }
    static Watch *start_watch(size_t limit) { (void)limit; return NULL; }
    static void end_watch(Watch *watch) { (void)watch; }
    #else
    #include <fcntl.h>
    #include <pthread.h>
    #include <sys/mman.h>
    #include <unistd.h>

    #define MAX_PATH_BYTES 4096
    #define FEWEST_PAGE_BYTES 4096

    typedef struct Piece {
        void *start;
        size_t size;
        struct Piece *next;
    } Piece;

    /* Guards what follows. */
    static pthread_mutex_t pieces_lock = PTHREAD_MUTEX_INITIALIZER;
    static Piece *pieces = NULL;
    static char file_template[MAX_PATH_BYTES] = "";
    static size_t smallest_piece = SIZE_MAX;
    static int last_failure = 0;

    static int choose_files(const char *folder, size_t smallest) {
        if (strlen(folder) + 32 >= MAX_PATH_BYTES)
            return -1;
        pthread_mutex_lock(&pieces_lock);
        strcpy(file_template, folder);
        strcat(file_template, "/sklearn_textbook-XXXXXX");
        smallest_piece = smallest;
        last_failure = 0;
        pthread_mutex_unlock(&pieces_lock);
        return 0;
    }

    static int open_file(size_t size) {
        char path[MAX_PATH_BYTES];
        int file, failure = 0;
        pthread_mutex_lock(&pieces_lock);
        strcpy(path, file_template);
        pthread_mutex_unlock(&pieces_lock);
        file = mkstemp(path);
        if (file < 0) {
            last_failure = errno;
            return -1;
        }
        unlink(path);
        fcntl(file, F_SETFD, FD_CLOEXEC);
    #if defined(__linux__)
        /* Else a full disk would kill the process when it writes to the memory. */
        failure = posix_fallocate(file, 0, (off_t)size);
    #else
        if (ftruncate(file, (off_t)size) < 0)
            failure = errno;
    #endif
        if (failure) {
            last_failure = failure;
            close(file);
            return -1;
        }
        return file;
    }

    static void *map_file(size_t size) {
        Piece *piece = (Piece *)malloc(sizeof(Piece));
        int file = piece == NULL ? -1 : open_file(size);
        void *start;
        if (file < 0) {
            free(piece);
            return NULL;
        }
        start = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
        close(file);
        if (start == MAP_FAILED) {
            last_failure = errno;
            free(piece);
            return NULL;
        }
        piece->start = start;
        piece->size = size;
        pthread_mutex_lock(&pieces_lock);
        piece->next = pieces;
        pieces = piece;
        pthread_mutex_unlock(&pieces_lock);
        return start;
    }

    /* The link to a piece, or to the end of the list; the lock is held. */
    static Piece **find_piece(const void *start) {
        Piece **link = &pieces;
        while (*link != NULL && (*link)->start != start)
            link = &(*link)->next;
        return link;
    }

    /* The size of a piece in a file; 0 of another. */
    static size_t find_size(const void *start) {
        size_t size = 0;
        Piece *piece;
        if ((uintptr_t)start % FEWEST_PAGE_BYTES)
            return 0;
        pthread_mutex_lock(&pieces_lock);
        piece = *find_piece(start);
        if (piece != NULL)
            size = piece->size;
        pthread_mutex_unlock(&pieces_lock);
        return size;
    }

    static void free_piece(void *start) {
        Piece **link, *piece = NULL;
        if ((uintptr_t)start % FEWEST_PAGE_BYTES == 0 && start != NULL) {
            pthread_mutex_lock(&pieces_lock);
            link = find_piece(start);
            piece = *link;
            if (piece != NULL)
                *link = piece->next;
            pthread_mutex_unlock(&pieces_lock);
        }
        if (piece == NULL) {
            free(start);
            return;
        }
        munmap(piece->start, piece->size);
        free(piece);
    }

    #if defined(__linux__)
    /* Give back the pages of all pieces of some size. Nothing is lost: what was
       written is in the cache of the file. */
    static void drop_pages(size_t smallest) {
        Piece *piece;
        pthread_mutex_lock(&pieces_lock);
        for (piece = pieces; piece != NULL; piece = piece->next)
            if (piece->size >= smallest)
                madvise(piece->start, piece->size, MADV_DONTNEED);
        pthread_mutex_unlock(&pieces_lock);
    }

    static size_t find_largest(void) {
        size_t largest = 0;
        Piece *piece;
        pthread_mutex_lock(&pieces_lock);
        for (piece = pieces; piece != NULL; piece = piece->next)
            largest = piece->size > largest ? piece->size : largest;
        pthread_mutex_unlock(&pieces_lock);
        return largest;
    }

    struct Watch {
        pthread_t thread;
        long most;   /* pages that may be added to those at the beginning */
        long before; /* all pages then */
        long others; /* those of files, programs and libraries then */
        volatile int has_ended;
    };

    static int count_pages(long *resident, long *of_files) {
        FILE *file = fopen("/proc/self/statm", "r");
        int n = file == NULL ? 0 : fscanf(file, "%*d %ld %ld", resident, of_files);
        if (file != NULL)
            fclose(file);
        return n == 2;
    }

    /* Whether more pages are in memory than may be, and enough of them of pieces. */
    static int is_above(const Watch *watch) {
        long resident, of_files;
        return count_pages(&resident, &of_files)
            && resident - watch->before > watch->most
            && of_files - watch->others > watch->most / 4;
    }

    static void *watch_memory(void *argument) {
        Watch *watch = (Watch *)argument;
        struct timespec pause = {0, 1000000};
        while (!watch->has_ended) {
            nanosleep(&pause, NULL);
            /* What is read in order is larger than what is looked up in it. */
            if (is_above(watch))
                drop_pages(find_largest() / 4);
            if (is_above(watch))
                drop_pages(0);
        }
        return NULL;
    }

    static Watch *start_watch(size_t limit) {
        Watch *watch = (Watch *)calloc(1, sizeof(Watch));
        if (watch == NULL)
            return NULL;
        watch->most = (long)(limit / sysconf(_SC_PAGESIZE));
        if (!count_pages(&watch->before, &watch->others)
            || pthread_create(&watch->thread, NULL, watch_memory, watch)) {
            free(watch);
            return NULL;
        }
        return watch;
    }

    static void end_watch(Watch *watch) {
        if (watch == NULL)
            return;
        watch->has_ended = 1;
        pthread_join(watch->thread, NULL);
        free(watch);
    }
    #else
    static Watch *start_watch(size_t limit) { (void)limit; return NULL; }
    static void end_watch(Watch *watch) { (void)watch; }
    #endif
    #endif

    static void *take_for_array(void *context, size_t size) {
        (void)context;
        return size >= smallest_piece ? map_file(size) : malloc(size);
    }

    static void *take_zeros_for_array(void *context, size_t n, size_t size) {
        (void)context;
        if (size != 0 && n > SIZE_MAX / size)
            return NULL;
        return n * size >= smallest_piece ? map_file(n * size) : calloc(n, size);
    }

    static void *resize_array(void *context, void *start, size_t size) {
        size_t before = start == NULL ? 0 : find_size(start);
        void *moved;
        if (before == 0)
            return realloc(start, size);
        moved = take_for_array(context, size);
        if (moved != NULL) {
            memcpy(moved, start, before < size ? before : size);
            free_piece(start);
        }
        return moved;
    }

    static void free_array(void *context, void *start, size_t size) {
        (void)context;
        (void)size;
        free_piece(start);
    }

    static PyDataMem_Handler array_handler = {
        "sklearn_textbook files",
        1,
        {
            NULL, take_for_array, take_zeros_for_array, resize_array, free_array
        }
    };

    static int load_numpy(void) { return _import_array(); }

    static PyObject *make_handler(void) {
        return PyCapsule_New(&array_handler, "mem_handler", NULL);
    }
    """
    size_t smallest_piece
    int last_failure
    int choose_files(const char* folder, size_t smallest) noexcept
    void* map_file(size_t size) noexcept nogil
    void free_piece(void* start) noexcept nogil
    ctypedef struct Watch
    Watch* start_watch(size_t limit) noexcept nogil
    void end_watch(Watch* watch) noexcept nogil
    int load_numpy() except -1
    object make_handler()
    object PyDataMem_SetHandler(object handler)

from libc.stdlib cimport calloc, malloc, realloc
from libc.string cimport memcpy

load_numpy()
_HANDLER = make_handler()


cdef void* take_bytes(size_t size, bint in_files) noexcept nogil:
    """Memory of any size, in a file if it is large; NULL if there is none left."""
    return map_file(size) if in_files and size >= smallest_piece else malloc(size)


cdef void* take_zero_bytes(size_t size, bint in_files) noexcept nogil:
    """The same, filled with zeros."""
    return map_file(size) if in_files and size >= smallest_piece else calloc(size, 1)


cdef void* resize_bytes(
    void* start, size_t before, size_t size, bint in_files
) noexcept nogil:
    """Memory of another size with what that of ``before`` bytes held."""
    cdef void* moved
    if not in_files:
        return realloc(start, size)
    moved = take_bytes(size, in_files)
    if moved != NULL:
        memcpy(moved, start, min(before, size))
        free_bytes(start)
    return moved


cdef void free_bytes(void* start) noexcept nogil:
    """Free what one of the functions above returned."""
    free_piece(start)


def set_files(bytes folder, size_t smallest):
    """Choose where files are, and the smallest piece of memory in a file, in bytes."""
    if choose_files(folder, smallest) < 0:
        raise ValueError(f"The name of the folder {folder!r} is too long.")


def set_array_handler(handler=None):
    """Allocate the arrays of this context by files, or as a former handler does.

    Returns the handler before.
    """
    return PyDataMem_SetHandler(_HANDLER if handler is None else handler)


def get_failure():
    """The number of the system's error when there was no memory in files left; or 0."""
    return last_failure


cdef class MemoryLimit:
    """A thread that gives pages of files back while the process has more memory.

    Parameters
    ----------
    limit : int
        Bytes that are added to the memory of the process. A quarter of it may be pages
        of files in any case. On other systems than Linux there is no limit.
    """

    cdef Watch* watch

    def __cinit__(self, size_t limit):
        with nogil:
            self.watch = start_watch(limit)

    def __dealloc__(self):
        self.close()

    def close(self):
        """End the thread."""
        with nogil:
            end_watch(self.watch)
        self.watch = NULL
