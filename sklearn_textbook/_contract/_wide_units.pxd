# Functions that are compiled a second time for wide vector units, where the compiler
# can; when a module is loaded, it selects the one for the processor. For loops whose
# results are the same bits in any order: on integers, or on real numbers that are not
# added to each other.

cdef extern from *:
    """
    #if defined(__x86_64__) && defined(__GLIBC__) && defined(__GNUC__) \
        && !defined(__clang__) && !defined(__SANITIZE_ADDRESS__)
    #define WIDE_VOID __attribute__((target_clones("avx2", "default"))) void
    #else
    #define WIDE_VOID void
    #endif
    """
    # Return type of such a function (nothing), which belongs to one module.
    ctypedef void wide_void "WIDE_VOID"
