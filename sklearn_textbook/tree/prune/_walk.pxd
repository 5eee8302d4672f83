# The walk of error-based pruning, header-only: a node's branches are pruned before the
# node.
#
# The walk is depth first, on a stack of frames. The cases of all nodes on the way stand
# in one array: a test sorts those of its node in place, so that the cases of a branch
# are contiguous. Where values are missing, parts of cases are copied to the top;
# the memory is that of the rows, and of the missing cases of the nodes on the way.

from libc.math cimport INFINITY
from libc.stdint cimport int32_t, int64_t
from libc.stdlib cimport realloc
from libc.string cimport memcpy, memset

from sklearn_textbook.tree.grow._layout cimport Node
from sklearn_textbook.tree.prune._cases cimport (
    Branch, Case, count_missing, divide_cases, divides_missing, is_sent, push_cases,
)
from sklearn_textbook.tree.prune._error_estimate cimport (
    count_errors, estimate_counted, estimate_errors, find_majority, is_at_most,
)
from sklearn_textbook.tree.prune._pruner cimport (
    AGAIN, COPIED, DONE, EXTENDED, INSIDE, KEPT, MET_MISSING, NO_MEMORY, OTHER_ROWS,
    PRUNED, RAISED, Decision, Entry, Frame, Log, Outcome, Pruner, Slot, Standing, Step,
    is_leaf, test_of, weights_of,
)

cdef enum:
    NOBODY = -1  # no child, no branch


# ---------------------------------------------------------------------- the way down
cdef inline Frame* top_frame(Pruner* p) noexcept nogil:
    return &p.frames[p.n_frames - 1]


cdef inline Frame* push_frame(
    Pruner* p, int32_t slot, int64_t start, int64_t n_cases, Standing standing
) noexcept nogil:
    """Push a node whose cases stand from ``start`` on; nothing is counted yet."""
    cdef Frame* frame = &p.frames[p.n_frames]
    memset(frame, 0, sizeof(Frame))
    frame.slot = slot
    frame.start = start
    frame.n_cases = n_cases
    frame.n_missing = -1
    frame.standing = standing
    p.n_frames += 1
    return frame


cdef inline void count_again(
    Pruner* p, const Frame* frame, int32_t child
) noexcept nogil:
    """Give a child its new cases."""
    cdef:
        double* weights = weights_of(p, child)
        const Branch* branch = &p.branches[child]
        Slot* slot = &p.slots[child]
        const Case* cases = p.stack.cases
        int64_t first_missing = frame.start + frame.n_staying, i
    memset(weights, 0, p.n_classes * sizeof(double))
    for i in range(branch.start, branch.start + branch.n_known):
        weights[cases[i].label] += cases[i].weight
    slot.n_cases = branch.n_known
    if is_sent(branch, frame.n_missing):
        for i in range(first_missing, first_missing + frame.n_missing):
            # Missing cases stand with their whole weight; the child gets its
            # fraction of it.
            weights[cases[i].label] += cases[i].weight * branch.fraction
        slot.n_cases += frame.n_missing
    slot.is_changed = True
    if is_leaf(p, child):
        slot.estimate = estimate_errors(&p.confidence, weights, p.n_classes)


cdef inline bint has_same_cases(
    const Pruner* p, const Frame* frame, int32_t child
) noexcept nogil:
    """Whether a child's new cases are those that it had.

    Then nothing below it needs to be pruned again: all nodes there are leaves or were
    kept, by the estimates for these cases and with the current branches.
    """
    return (
        frame.is_new and frame.includes_old and frame.n_missing == 0
        and p.branches[child].n_known == p.slots[child].n_cases
    )


cdef inline double estimate_staying(
    const Pruner* p, const double* class_weights, const Case* cases, int64_t n
) noexcept nogil:
    """Estimate of n cases that stay in a node: as for a leaf that predicts the
    class of the node, given by its class weights."""
    cdef:
        double weight = 0.0, errors = 0.0
        Py_ssize_t majority
        int64_t i
    if n == 0:
        return 0.0
    majority = find_majority(class_weights, p.n_classes)
    for i in range(n):
        weight += cases[i].weight
        if cases[i].label != majority:
            errors += cases[i].weight
    return estimate_counted(&p.confidence, weight, errors)


cdef inline bint are_others(
    const Pruner* p, const Frame* frame, int32_t child
) noexcept nogil:
    """Whether a child whose cases were not changed gets other cases than in growing."""
    cdef int64_t n_cases = p.branches[child].n_known
    if frame.is_new or divides_missing(&p.table, test_of(p, frame.slot)):
        return False
    if is_sent(&p.branches[child], frame.n_missing):
        n_cases += frame.n_missing
    return n_cases != p.slots[child].n_cases


cdef inline Outcome divide_frame(Pruner* p, Frame* frame) noexcept nogil:
    """Divide the cases of a node, and find the children to visit."""
    cdef:
        const Node* test = test_of(p, frame.slot)
        int32_t first = test.first_child, stop = first + test.n_children, child, last
        bint is_lowest = True
    frame.is_divided = True
    frame.next_child = first
    for child in range(first, stop):
        p.slots[child].is_pending = False
        is_lowest = is_lowest and is_leaf(p, child)
    # No child has to be visited, and no case stays: the counts of growing are enough.
    if is_lowest and not frame.is_new and divides_missing(&p.table, test):
        return DONE
    frame.n_missing = divide_cases(
        &p.table, test, &p.stack, frame.start, frame.n_cases, &p.branches[first],
        &frame.n_staying, &last
    )
    frame.staying_errors = estimate_staying(
        p, weights_of(p, frame.slot), p.stack.cases + frame.start, frame.n_staying
    )
    for child in range(first, stop):
        # Checked by number only: raising relies on the rows to reach the nodes as in
        # growing.
        if are_others(p, frame, child):
            return OTHER_ROWS
        if has_same_cases(p, frame, child):
            continue
        if frame.is_new:
            count_again(p, frame, child)
        p.slots[child].is_pending = not is_leaf(p, child)
    return DONE


cdef inline int32_t next_pending(Pruner* p, Frame* frame) noexcept nogil:
    """The next child to visit, or NOBODY."""
    cdef const Node* test = test_of(p, frame.slot)
    cdef int32_t child
    for child in range(frame.next_child, test.first_child + test.n_children):
        if p.slots[child].is_pending:
            frame.next_child = child + 1
            return child
    return NOBODY


cdef inline Outcome enter_child(
    Pruner* p, const Frame* frame, int32_t child
) noexcept nogil:
    """Make the cases of a child contiguous, and push a frame."""
    cdef:
        const Branch* branch = &p.branches[child]
        int64_t start = branch.start, n_cases = branch.n_known
        Standing standing = INSIDE
        Frame* below
    if is_sent(branch, frame.n_missing):
        standing = EXTENDED
        if start + n_cases != p.stack.top:
            # Not the largest branch, or within one that is not: all such copies on the
            # way are together no more than the rows and those parts.
            standing = COPIED
            start = p.stack.top
            if push_cases(&p.stack, &p.stack, branch.start, n_cases, 1.0) < 0:
                return NO_MEMORY
        if push_cases(
            &p.stack, &p.stack, frame.start + frame.n_staying, frame.n_missing,
            branch.fraction
        ) < 0:
            return NO_MEMORY
        n_cases += frame.n_missing
    below = push_frame(p, child, start, n_cases, standing)
    below.is_new = frame.is_new
    below.includes_old = frame.includes_old and frame.n_missing == 0
    return DONE


cdef inline void drop_extension(
    Pruner* p, const Frame* frame, const Frame* parent
) noexcept nogil:
    """Remove the parts of the parent's missing cases."""
    cdef Case* cases = p.stack.cases
    cdef int64_t first = parent.start + parent.n_staying
    cdef int64_t stop = first + parent.n_missing, i, kept = frame.start
    for i in range(first, stop):
        # A row is at most once among the cases of a node, so its number tells the
        # parts.
        p.is_dropped[cases[i].row] = 1
    for i in range(frame.start, frame.start + frame.n_cases):
        if not p.is_dropped[cases[i].row]:
            cases[kept] = cases[i]
            kept += 1
    for i in range(first, stop):
        p.is_dropped[cases[i].row] = 0
    p.stack.top = kept


cdef inline void leave_frame(Pruner* p) noexcept nogil:
    """Pop a node and what its cases added to the stack. Copies are dropped; of cases
    that were extended in place, the parent's own stay, in whatever order they are
    now."""
    cdef Frame* frame = top_frame(p)
    if frame.standing == COPIED:
        p.stack.top = frame.start
    elif frame.standing == EXTENDED:
        drop_extension(p, frame, frame - 1)
    p.n_frames -= 1


# ----------------------------------------------------- a branch with the node's cases
cdef inline double estimate_leaf(
    Pruner* p, int32_t slot, int64_t start, bint adds
) noexcept nogil:
    """Estimate of a leaf with the cases from ``start`` to the top; adds: what it
    grows by if they are added to those that it has."""
    cdef:
        const Case* cases = p.stack.cases
        size_t size = p.n_classes * sizeof(double)
        double before = 0.0
        int64_t i
    if start == p.stack.top:
        return 0.0
    if adds:
        memcpy(p.leaf_weights, weights_of(p, slot), size)
        before = p.slots[slot].estimate
    else:
        memset(p.leaf_weights, 0, size)
    for i in range(start, p.stack.top):
        p.leaf_weights[cases[i].label] += cases[i].weight
    return estimate_errors(&p.confidence, p.leaf_weights, p.n_classes) - before


cdef inline int32_t next_branch(const Node* test, Step* step) noexcept nogil:
    """The branches from the top of the stack downwards."""
    cdef int32_t branch
    # The largest branch stands last, at the top of the stack: its cases are used up
    # first, then those below.
    if step.next_branch == test.n_children:
        step.next_branch -= 1
        return step.last_branch
    while step.next_branch >= 0:
        branch = step.next_branch
        step.next_branch -= 1
        if branch != step.last_branch:
            return branch
    return NOBODY


cdef inline Step* push_step(
    Pruner* p, Py_ssize_t n_steps, int32_t slot, int64_t start, bint includes_old
) noexcept nogil:
    """Divide the cases from ``start`` to the top by the test of a node."""
    cdef const Node* test = test_of(p, slot)
    cdef Step* step = &p.steps[n_steps]
    step.slot = slot
    step.start = start
    step.next_branch = test.n_children
    step.n_missing = divide_cases(
        &p.table, test, &p.stack, start, p.stack.top - start,
        &p.branches[test.first_child], &step.n_staying, &step.last_branch
    )
    step.includes_old = includes_old and step.n_missing == 0
    return step


cdef inline double estimate_step(Pruner* p, const Step* step) noexcept nogil:
    """Estimate of the cases that stay in the node at the top, which have just been
    divided from the others."""
    cdef const Case* cases = p.stack.cases
    cdef int64_t i
    memset(p.leaf_weights, 0, p.n_classes * sizeof(double))
    for i in range(step.start, p.stack.top):
        p.leaf_weights[cases[i].label] += cases[i].weight
    return estimate_staying(p, p.leaf_weights, cases + step.start, step.n_staying)


cdef inline Outcome send_down(
    Pruner* p, int32_t slot, int64_t start, bint adds, bint includes_old, double limit,
    double* total
) noexcept nogil:
    """Add up the estimates of a branch for the cases from ``start`` to the top.

    adds: the cases come in addition to those of the branch, and what is added up is
        how much the estimates grow; MET_MISSING if a case would be divided or stay.
    includes_old: all cases of the branch are among the cases, with equal weights.
    limit: a sum beyond it may be left incomplete. It would only grow: the estimate of
        a leaf rises with its weight and with its errors, and more cases mean no fewer
        of either.
    The cases are used up.
    """
    cdef:
        Py_ssize_t n_steps = 0
        Step* step
        const Branch* branch
        int32_t child
    while True:
        if is_leaf(p, slot) or start == p.stack.top:
            # A leaf, or a branch that no case reaches.
            total[0] += estimate_leaf(p, slot, start, adds)
            p.stack.top = start
            if total[0] > limit:
                return DONE
        else:
            step = push_step(p, n_steps, slot, start, includes_old)
            n_steps += 1
            if adds and step.n_missing + step.n_staying > 0:
                return MET_MISSING
            if step.n_staying > 0:
                total[0] += estimate_step(p, step)
                if total[0] > limit:
                    return DONE
        while True:
            if n_steps == 0:
                return DONE
            step = &p.steps[n_steps - 1]
            # On to the next branch of the lowest node that has one left.
            child = next_branch(test_of(p, step.slot), step)
            if child == NOBODY:
                p.stack.top = step.start
                n_steps -= 1
                continue
            child += test_of(p, step.slot).first_child
            branch = &p.branches[child]
            if not step.includes_old or branch.n_known != p.slots[child].n_cases:
                break
            # These are the very cases that it has.
            total[0] += p.slots[child].estimate
            p.stack.top = branch.start
        # The branch is at the top, so parts of missing cases go right behind it.
        if is_sent(branch, step.n_missing) and push_cases(
            &p.stack, &p.stack, step.start + step.n_staying, step.n_missing,
            branch.fraction
        ) < 0:
            return NO_MEMORY
        slot = child
        start = branch.start
        includes_old = step.includes_old


cdef inline bint keeps_ways(const Pruner* p, const Frame* frame) noexcept nogil:
    """Whether cases added to the branches of a node leave the weights and paths of
    the cases there unchanged. If no surrogate applies, a case goes to the heaviest
    branch, which may change."""
    return frame.n_missing == 0 and p.table.tree.surrogate_start == NULL


cdef inline Outcome estimate_branch(
    Pruner* p, const Frame* frame, int32_t child, double limit, double* total
) noexcept nogil:
    """Estimate a branch as if all cases of the node were sent down it."""
    cdef:
        int64_t base = p.stack.top, start = p.branches[child].start
        int64_t n_before = start - frame.start
        int64_t n_inside = p.branches[child].n_known
        int64_t n_behind = frame.n_cases - n_before - n_inside
        Outcome outcome
    if keeps_ways(p, frame) and not p.slots[child].meets_missing:
        # The cases of the branch keep their weights and their paths, so only those of
        # the other branches need to be sent.
        total[0] = p.slots[child].estimate
        if (
            push_cases(&p.stack, &p.stack, frame.start, n_before, 1.0) < 0
            or push_cases(&p.stack, &p.stack, start + n_inside, n_behind, 1.0) < 0
        ):
            return NO_MEMORY
        outcome = send_down(p, child, base, True, False, limit, total)
        p.stack.top = base
        if outcome != MET_MISSING:
            return outcome
    # Else all cases of the node are sent, those of the branch included, as weights and
    # paths may change.
    total[0] = 0.0
    if push_cases(&p.stack, &p.stack, frame.start, frame.n_cases, 1.0) < 0:
        return NO_MEMORY
    outcome = send_down(p, child, base, False, keeps_ways(p, frame), limit, total)
    p.stack.top = base
    return outcome


# ---------------------------------------------------------------------- the decision
cdef inline int32_t find_largest(const Pruner* p, const Node* test) noexcept nogil:
    """The heaviest child, the last of ties."""
    cdef double best = 0.0, weight
    cdef int32_t child, largest = test.first_child
    for child in range(test.first_child, test.first_child + test.n_children):
        count_errors(weights_of(p, child), p.n_classes, &weight)
        if is_at_most(best, weight):
            # Weights are compared up to 1e-6, as in C4.5; of ties the later child wins.
            best = weight
            largest = child
    return largest


cdef inline void keep_node(Pruner* p, Frame* frame, double estimate) noexcept nogil:
    """Note the estimate of a node that stays an inner node, and whether a case meets a
    missing value here or below, which rules out the short way of estimate_branch."""
    cdef const Node* test = test_of(p, frame.slot)
    cdef Slot* slot = &p.slots[frame.slot]
    cdef int32_t child
    if frame.n_missing < 0:
        frame.n_missing = count_missing(
            &p.table, test, p.stack.cases + frame.start, frame.n_cases
        )
    slot.estimate = estimate
    slot.meets_missing = frame.n_missing > 0 or frame.n_staying > 0
    for child in range(test.first_child, test.first_child + test.n_children):
        slot.meets_missing = slot.meets_missing or p.slots[child].meets_missing


cdef inline Outcome write_down(
    Pruner* p, int32_t slot, int32_t largest, Decision decision, double before,
    double after
) noexcept nogil:
    """Log the decision before the node changes."""
    cdef Log* log = &p.log
    cdef Entry* entry
    cdef void* moved
    if log.n_entries == log.capacity:
        log.capacity += log.capacity // 2 + 64
        moved = realloc(log.entries, log.capacity * sizeof(Entry))
        if moved == NULL:
            return NO_MEMORY
        log.entries = <Entry*>moved
    entry = &log.entries[log.n_entries]
    log.n_entries += 1
    entry.slot, entry.node = slot, p.slots[slot].test
    entry.raised = p.slots[largest].test if decision == RAISED else NOBODY
    entry.decision = decision
    entry.before, entry.after = before, after
    return DONE


cdef inline Outcome settle_node(Pruner* p, Frame* frame) noexcept nogil:
    """Make a leaf of a node whose branches are pruned, raise one, or keep it.

    The estimates of the node as a leaf, of its heaviest branch with all cases of the
    node, and of what is below it now are compared; each may be larger by 0.1 errors and
    still be preferred, the simpler first. AGAIN: a branch was raised, and is to be
    pruned with its new cases.
    """
    cdef:
        const Node* test = test_of(p, frame.slot)
        Slot* slot = &p.slots[frame.slot]
        double leaf = estimate_errors(
            &p.confidence, weights_of(p, frame.slot), p.n_classes
        )
        double tree = 0.0, branch = INFINITY, limit
        int32_t largest = find_largest(p, test), child
        bint is_worth_a_leaf
    for child in range(test.first_child, test.first_child + test.n_children):
        # Estimates of the branches are up to date: children are settled before their
        # parent.
        tree += p.slots[child].estimate
    tree += frame.staying_errors
    is_worth_a_leaf = is_at_most(leaf, tree + 0.1)
    if p.raises_branches:
        branch = leaf
        if not is_leaf(p, largest):
            # Beyond this it does not matter how much it is: neither "leaf <= branch +
            # 0.1" nor "branch <= tree + 0.1" can change any more.
            limit = (leaf - 0.1 if is_worth_a_leaf else tree + 0.1) + 2e-6
            if estimate_branch(p, frame, largest, limit, &branch) < 0:
                return NO_MEMORY
    if is_worth_a_leaf and is_at_most(leaf, branch + 0.1):
        if write_down(p, frame.slot, largest, PRUNED, tree, leaf) < 0:
            return NO_MEMORY
        slot.test = NOBODY
        slot.estimate = leaf
        slot.meets_missing = False
        return DONE
    if is_at_most(branch, tree + 0.1):
        if write_down(p, frame.slot, largest, RAISED, tree, branch) < 0:
            return NO_MEMORY
        slot.test = p.slots[largest].test
        # The frame stays, with the same cases but another test.
        frame.is_divided = False
        frame.is_new = True
        frame.includes_old = keeps_ways(p, frame)
        return AGAIN
    if write_down(p, frame.slot, largest, KEPT, tree, leaf) < 0:
        return NO_MEMORY
    keep_node(p, frame, tree)
    return DONE


cdef inline Outcome prune_root(Pruner* p) noexcept nogil:
    """Prune the tree, which has an inner node; the stack has only its cases."""
    cdef Frame* frame
    cdef int32_t child
    cdef Outcome outcome
    push_frame(p, 0, 0, p.stack.top, INSIDE)
    while p.n_frames > 0:
        frame = top_frame(p)
        if not frame.is_divided and divide_frame(p, frame) == OTHER_ROWS:
            return OTHER_ROWS
        child = next_pending(p, frame)
        if child != NOBODY:
            outcome = enter_child(p, frame, child)
        else:
            outcome = settle_node(p, frame)
            if outcome == DONE:
                leave_frame(p)
        if outcome == NO_MEMORY:
            return NO_MEMORY
    return DONE
