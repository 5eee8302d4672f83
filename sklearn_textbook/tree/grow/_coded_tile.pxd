from libc.stdint cimport int32_t, int64_t, uint8_t

cdef enum:
    SMALL_ROWS = 64
    ROW_BITS = 6  # of a sorted key
    LEAST_KEY = 0x00800000  # with an exponent, as subnormal floats are slow
    MOST_CODES = 0x1000000
    LANES = 4  # columns that are tried side by side
    FEW_KEYS = 8  # that fit into the registers

# What is known of the node at hand, place by place, and the best division.
cdef struct SmallSearch:
    double[2 * SMALL_ROWS] amounts  # weight * (y - centre), and weight; place by place
    int64_t n
    uint8_t* order
    double[SMALL_ROWS] y
    double centre
    double total  # of the residuals
    double n_weight
    double margin  # in units of the bound
    double bound  # what d^2 / (k (n - k)) must exceed
    int32_t column  # -1: none yet
    int64_t n_left
    uint8_t[SMALL_ROWS] places  # those of child 0 first
    int64_t map_start

# Four columns of the node: their sorted keys, and the scores above each, lane by lane.
cdef struct Tile:
    int32_t[SMALL_ROWS * LANES] keys
    double[SMALL_ROWS * LANES] score  # below 0 between equal codes
    double[LANES] top  # the largest of a lane
    double[LANES] second  # the largest of the others
    int32_t[LANES] number
    int64_t n_columns


cdef void sort_tile(Tile* tile, int64_t n) noexcept nogil
cdef void choose_division(
    Tile* tile, int64_t lowest, SmallSearch* search
) noexcept nogil
cdef void try_few(Tile* tile, int64_t lowest, SmallSearch* search) noexcept nogil
