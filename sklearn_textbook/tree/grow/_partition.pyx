"""Moving the rows of a node into its children, one sorted column at a time.

Both partitions are stable, so every child's column stays sorted and its missing
rows stay last.
"""

from libc.string cimport memcpy

from sklearn_textbook._contract._threads cimport ThreadTeam, run_tasks
from sklearn_textbook.tree.grow._buffers cimport Frame
from sklearn_textbook.tree.grow._measure cimport Children
from sklearn_textbook.tree.grow._missing cimport mark_rows
from sklearn_textbook.tree.grow._workers cimport Arena, Worker
from sklearn_textbook.tree.split._types cimport (
    SHARED_CELLS,
    Entry,
    Problem,
    Split,
    int32_t,
    int64_t,
    row_of,
    uint8_t,
    uint64_t,
)


cdef enum:
    FEW_ROWS = 12  # up to here a loop is faster than a call


cdef void partition_two(
    Entry* entries, int64_t n, const uint8_t* goes_left, Entry* spare,
    bint keeps_left, bint keeps_right
) noexcept nogil:
    """Left rows to the front, right rows to the back. A side that is a leaf is
    not written: nobody reads it again."""
    cdef:
        int64_t i, n_left = 0, n_right
        Entry entry
    if keeps_left and keeps_right:
        # Both stores happen always; only the counter depends on the side.
        for i in range(n):
            entry = entries[i]
            entries[n_left] = entry
            spare[i - n_left] = entry
            n_left += goes_left[row_of(entry)]
        n_right = n - n_left
        if n_right > FEW_ROWS:
            memcpy(entries + n_left, spare, n_right * sizeof(Entry))
        else:
            for i in range(n_right):
                entries[n_left + i] = spare[i]
    elif keeps_left:
        for i in range(n):
            entry = entries[i]
            entries[n_left] = entry
            n_left += goes_left[row_of(entry)]
    else:
        n_right = n - 1
        for i in range(n - 1, -1, -1):
            entry = entries[i]
            entries[n_right] = entry
            n_right -= 1 - goes_left[row_of(entry)]


cdef void partition_many(
    Entry* entries, int64_t n, const int32_t* child_of_row, int64_t* next_slot,
    Entry* spare
) noexcept nogil:
    """Rows of child c from next_slot[c] on; rows of child -1 are dropped."""
    cdef:
        int64_t i
        int32_t child
        Entry entry
    for i in range(n):
        entry = entries[i]
        child = child_of_row[row_of(entry)]
        if child >= 0:
            spare[next_slot[child]] = entry
            next_slot[child] += 1
    memcpy(entries, spare, n * sizeof(Entry))


cdef bint mark_sides(
    Worker* worker, const Frame* frame, const Entry* cells, bint is_marked
) noexcept nogil:
    """Write where every row goes; whether all go to two children, which goes_left then
    tells."""
    cdef:
        Children* children = &worker.children
        int64_t p, i, n_sent = 0
        uint8_t side
    for i in range(children.n_children):
        n_sent += children.n_rows[i]
    if children.n_children != 2 or n_sent != frame.n_rows:
        if not is_marked:
            mark_rows(children, cells, worker.child_of_row)
        return False
    if is_marked:
        for i in range(frame.n_rows):
            worker.goes_left[row_of(cells[i])] = (
                worker.child_of_row[row_of(cells[i])] == 0
            )
        return True
    for p in range(children.n_pieces):
        side = <uint8_t>(1 - children.pieces[p].child)
        for i in range(children.pieces[p].start, children.pieces[p].stop):
            worker.goes_left[row_of(cells[i])] = side
    return True


cdef struct Move:
    # Columns of a node that threads share.
    const Arena* arena
    const Worker* worker
    Worker* all_workers
    const Frame* frame
    uint64_t* entries
    bint two_way
    int64_t column_in_place  # or -1
    bint keeps_left
    bint keeps_right


cdef void move_shared(void* context, int64_t task, int thread) noexcept nogil:
    """One column, by one of the threads."""
    cdef:
        const Move* move = <Move*>context
        int64_t column = move.worker.moved[task]
    move_column(
        move.arena, move.worker, &move.all_workers[thread], move.frame, column,
        move.entries, move.two_way, column == move.column_in_place,
        move.keeps_left, move.keeps_right
    )


cdef void move_rows(
    const Problem* problem, Arena* arena, Worker* worker, Worker* all_workers,
    ThreadTeam* team, const Frame* frame, const Split* split, Entry* entries,
    const uint8_t* is_leaf
) noexcept nogil:
    """Partition every column that the children still need."""
    cdef:
        Children* children = &worker.children
        bint is_marked = problem.is_coded[split.column]
        int64_t anchor = problem.n_columns if is_marked else split.column
        const Entry* cells = entries + anchor * frame.stride + frame.start
        int64_t p, i
        bint sorted_already = not is_marked
        int32_t last = 0
        bint two_way
        Move move
    if not is_marked:
        for p in range(children.n_pieces):
            if children.pieces[p].child < last:
                sorted_already = False
            last = children.pieces[p].child
    two_way = mark_sides(worker, frame, cells, is_marked)
    if Entry is uint64_t:
        if team != NULL and worker.n_moved * frame.n_rows >= SHARED_CELLS:
            move = Move(
                arena, worker, all_workers, frame, entries, two_way,
                split.column if sorted_already else -1, not is_leaf[0], not is_leaf[1]
            )
            run_tasks(team, move_shared, &move, worker.n_moved)
            return
    for i in range(worker.n_moved):
        move_column(
            arena, worker, worker, frame, worker.moved[i], entries, two_way,
            sorted_already and worker.moved[i] == split.column,
            not is_leaf[0], not is_leaf[1]
        )


cdef void move_column(
    const Arena* arena, const Worker* worker, Worker* own, const Frame* frame,
    int64_t column, Entry* entries, bint two_way, bint in_place, bint keeps_left,
    bint keeps_right
) noexcept nogil:
    cdef:
        Entry* cells = entries + column * frame.stride + frame.start
        Entry* spare = <Entry*>own.spare
        int64_t child, start = 0
    if in_place:
        return
    if two_way:
        partition_two(
            cells, frame.n_rows, worker.goes_left, spare, keeps_left, keeps_right
        )
        return
    for child in range(worker.children.n_children):
        own.children.next_slot[child] = start
        start += worker.children.n_rows[child]
    partition_many(
        cells, frame.n_rows, worker.child_of_row, own.children.next_slot, spare
    )
