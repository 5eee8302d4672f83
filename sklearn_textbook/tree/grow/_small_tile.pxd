from libc.stdint cimport int32_t, int64_t, uint8_t, uint32_t

cdef enum:
    SMALL_ROWS = 64
    ROW_BITS = 6  # of a sorted key
    LEAST_KEY = 0x00800000  # with an exponent, as subnormal floats are slow
    MOST_CODES = 0x1000000
    MOST_CLASSES = 64
    LANES = 4  # columns that are tried side by side
    FEW_KEYS = 8  # that fit into the registers

# What is known of the node at hand, place by place, and the best split.
cdef struct SmallSearch:
    double[2 * SMALL_ROWS] amounts  # weight * (y - centre), and weight; by place
    int64_t n
    bint may_miss  # some values of the table are missing
    uint8_t* order
    double[SMALL_ROWS] y
    # several classes: their weights, and what is taken from a value for the score
    bint is_classes
    int64_t n_classes
    const double* totals
    double base
    int64_t whole_base
    const int64_t* entropy_table  # whole weights
    double unit  # score of a unit of value
    bint is_gini
    double centre
    double total  # of weight * (y - centre)
    double n_weight
    double margin  # in units of the bound
    double bound  # what d^2 / (k (n - k)) must exceed
    int32_t column  # -1: none yet
    int64_t n_left
    uint8_t[SMALL_ROWS] places  # those of child 0 first
    uint32_t below  # codes on both sides of the threshold
    uint32_t above
    int32_t missing_child  # -1: no value of the column is missing in the node
    double threshold  # if it is sampled at random
    bint is_alone  # missing samples in child 1, all others in child 0

# Four columns of the node: their sorted keys, and the scores above each, lane by lane.
cdef struct Tile:
    int32_t[SMALL_ROWS * LANES] keys
    double[SMALL_ROWS * LANES] score  # below 0 between equal codes
    double[LANES] top  # the largest of a lane
    double[LANES] second  # the largest of the others
    int32_t[LANES] number
    int64_t n_columns
    bint any_missing
    int64_t[LANES] n_missing


cdef void choose_class_split(
    Tile* tile, int64_t lowest, SmallSearch* search
) noexcept nogil
cdef void sort_tile(Tile* tile, int64_t n) noexcept nogil
cdef void choose_split(
    Tile* tile, int64_t lowest, SmallSearch* search
) noexcept nogil
cdef void try_few(Tile* tile, int64_t lowest, SmallSearch* search) noexcept nogil
cdef void try_with_missing(
    Tile* tile, int64_t lowest, SmallSearch* search
) noexcept nogil
cdef double judge_classes(
    const SmallSearch* search, const double* left, double weight
) noexcept nogil
