from libc.stdint cimport int32_t, int64_t, uint8_t

from sklearn_textbook.tree.grow._coded_tile cimport SMALL_ROWS, Tile

cdef enum:
    MOST_CLASSES = 64  # that a small node tells apart

# What is known of the node at hand, place by place, and the best division.
cdef struct ClassSearch:
    int64_t n
    uint8_t* order
    int32_t[SMALL_ROWS] label
    int32_t[SMALL_ROWS] weight
    int64_t n_classes
    int32_t[MOST_CLASSES] totals
    int32_t n_weight
    # Gini: the sum of squared totals; entropy: what is taken from all values
    int64_t whole_base
    const int64_t* entropy_table  # NULL for Gini
    double margin  # by how much a value must be larger to be better
    double bound  # what a value must exceed
    int32_t column  # -1: none yet
    int64_t n_left
    uint8_t[SMALL_ROWS] places  # those of child 0 first
    int64_t map_start

cdef void choose_division(
    Tile* tile, int64_t lowest, ClassSearch* search
) noexcept nogil
