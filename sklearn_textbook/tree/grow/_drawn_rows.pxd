from libc.math cimport fabs, log2
from libc.stdint cimport int16_t, int32_t, int64_t, uint16_t, uint32_t, uint64_t

from sklearn_textbook.tree.grow._divide_list cimport FRONTS
from sklearn_textbook.tree.split._drawn_steps cimport Scale, StepColumn
from sklearn_textbook.tree.split._listed cimport ListedRows, number_of
from sklearn_textbook.tree.split._types cimport Problem, Split

cdef enum:
    TILE_COLUMNS = 4  # columns that are read in one pass
    WORD_COLUMNS = 64  # columns that a word has bits for
    SMALL_ROWS = 64  # of a subtree whose rows stay at hand
    SMALL_VALUES = 32  # the same where they have values and not classes
    MOST_WAITING = 2  # such subtrees whose values are on their way from memory

# A node that waits to be split.
cdef struct DrawnNode:
    int64_t start  # its rows in the list
    int64_t n_rows
    int64_t depth
    uint64_t random_state
    int32_t node

# A small subtree that waits for its values.
cdef struct SmallRoot:
    DrawnNode node
    uint64_t active

# The best division so far.
cdef struct DrawnDivision:
    Split best
    # rows with cells below the cut go to child 0
    const int16_t* cells
    int16_t cut
    int64_t n_left
    double weight  # of child 0
    int64_t sum  # values: its residuals

# The rows of a tree as one list, in which those of a node stand together (see
# _listed.pxd for what an entry holds), and the cells of the whole table.
cdef struct DrawnTable:
    int64_t n_columns
    int64_t n_words  # that have a bit for every column
    bint is_unit  # whether all rows weigh 1
    uint64_t* rows  # room for FETCH_AHEAD more
    uint64_t* spare
    uint32_t[FRONTS] fronts  # see _divide_list.pxd
    int64_t n_table_rows
    const int16_t* steps  # column by column
    const int16_t* row_steps
    const double* row_values
    const Scale* scales
    # the same for the rows of one subtree, by their numbers in it, and those in the
    # table
    int64_t local_rows
    bint is_local  # whether those are in use
    int16_t* local_steps
    Scale* local_scales
    uint32_t* local_numbers
    int16_t* extremes
    # values: y of all rows of the table, and of those of the subtree
    const double* y
    double* local_y
    # room for the node at hand: weights, and the 16 bits beside them; values
    ListedRows listed
    uint16_t* weights
    uint16_t* parts
    StepColumn[TILE_COLUMNS + 1] columns  # one of them the best so far
    int16_t* cells
    double* left  # class weights of child 0 in the best division
    # the columns in order, and where those stood that were drawn
    int32_t* order
    int32_t* moved
    uint64_t* reciprocals  # of 1, 2, ..., times 2^64
    uint64_t* active  # a bit for every column that is not known to be constant
    # nodes that wait, and the active columns of each
    int64_t n_nodes
    int64_t capacity
    DrawnNode* nodes
    uint64_t* masks
    # the same for small subtrees, one after the other in a ring
    int64_t n_small
    int64_t n_small_grown
    SmallRoot[MOST_WAITING] small
    double[SMALL_ROWS + 1] rounding  # of the score of a node of such a weight

# Columns being drawn for a node.
cdef struct StepDraw:
    uint64_t random_state
    int64_t place  # of the next column
    int64_t n_found  # that are not constant

cdef inline const Scale* scale_of(
    const DrawnTable* table, int64_t column
) noexcept nogil:
    return (table.local_scales if table.is_local else table.scales) + column

cdef inline const double* values_of(
    const DrawnTable* table, uint64_t row
) noexcept nogil:
    """The values of a row of the list."""
    cdef int64_t number = number_of(row)
    if table.is_local:
        number = table.local_numbers[number]
    return table.row_values + number * table.n_columns

cdef inline double rounding_of(double weight) noexcept nogil:
    """Two classes: by how much rounding may change the score of a division."""
    return 1e-15 * weight * (1.0 + fabs(log2(weight)))

cdef inline const double* targets_of(const DrawnTable* table) noexcept nogil:
    """Values: y by the numbers of the list."""
    return table.local_y if table.is_local else table.y

cdef int start_drawn_table(
    const Problem* problem, DrawnTable* table, int64_t n_rows
) noexcept nogil
cdef void free_drawn_table(DrawnTable* table) noexcept nogil
cdef int push_node(DrawnTable* table, const DrawnNode* node) noexcept nogil
cdef void pop_node(DrawnTable* table, DrawnNode* node) noexcept nogil
cdef void make_local(DrawnTable* table, const DrawnNode* node) noexcept nogil
cdef void read_entries(DrawnTable* table, const DrawnNode* node) noexcept nogil
cdef void read_steps(
    DrawnTable* table, const DrawnNode* node, StepColumn* columns, int64_t n_columns
) noexcept nogil
cdef void start_draw(
    const DrawnNode* node, StepDraw* draw
) noexcept nogil
cdef int64_t draw_numbers(
    const Problem* problem, DrawnTable* table, StepDraw* draw, int64_t most,
    int32_t* numbers
) noexcept nogil
cdef void finish_draw(
    const Problem* problem, DrawnTable* table, const StepDraw* draw
) noexcept nogil
cdef void divide_rows(
    DrawnTable* table, const DrawnNode* node, const DrawnDivision* division
) noexcept nogil
