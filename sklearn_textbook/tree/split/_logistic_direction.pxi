# Logistic regression as a direction; part of _oblique.pyx.

cdef double logistic_loss(
    const ObliqueSearch* search, const double* w
) noexcept nogil:
    """Mean negative log likelihood with the ridge penalty; the intercept is last."""
    cdef:
        int64_t k = search.n_used, i, j
        const double* x = search.cells
        double total = 0.0, eta, size
    for i in range(search.n):
        eta = w[k]
        for j in range(k):
            eta += w[j] * x[j]
        x += k
        # log(1 + exp(eta)) - r eta, without overflow.
        size = eta if eta > 0.0 else 0.0
        total += search.rows.weight[i] * (
            size + log(exp(-size) + exp(eta - size)) - search.response[i] * eta
        )
    total /= search.view.totals.weight
    for j in range(k):
        total += 0.5 * search.ridge * w[j] * w[j]
    return total


cdef void sum_logistic(ObliqueSearch* search, const double* w) noexcept nogil:
    """The Hessian and the negative gradient, with those of the intercept eliminated
    from the Hessian."""
    cdef:
        int64_t k = search.n_used, i, j, a, b
        const double* x = search.cells
        double* curvature = search.along
        double* cross = search.work
        double eta, p, residual, weight = search.view.totals.weight, total = 0.0
        double* gradient = search.target
    memset(gradient, 0, (k + 1) * sizeof(double))
    memset(cross, 0, k * sizeof(double))
    for i in range(search.n):
        eta = w[k]
        for j in range(k):
            eta += w[j] * x[j]
        p = 1.0 / (1.0 + exp(-eta))
        residual = search.rows.weight[i] * (search.response[i] - p)
        curvature[i] = search.rows.weight[i] * p * (1.0 - p)
        total += curvature[i]
        gradient[k] += residual
        for j in range(k):
            gradient[j] += residual * x[j]
            cross[j] += curvature[i] * x[j]
        x += k
    sum_products(search, curvature, search.gram)
    total = max(total, 1e-12 * weight)
    for a in range(k):
        for b in range(a + 1):
            search.gram[a * k + b] -= cross[a] * cross[b] / total
        gradient[a] -= cross[a] * gradient[k] / total
    complete(search.gram, k, 1.0 / weight)
    add_ridge(search.gram, k, search.ridge)
    for j in range(k):
        gradient[j] = gradient[j] / weight - search.ridge * w[j]
        cross[j] /= total
    gradient[k] /= total


cdef bint fit_logistic(ObliqueSearch* search) noexcept nogil:
    """Logistic regression of the response on the columns, by Newton's method with
    halved steps. With a lasso penalty, the last Newton step is penalized."""
    cdef:
        int64_t k = search.n_used, round_, j, half
        double* w = search.centres  # which are not needed any more
        double* next_w = search.step
        double loss, next_loss, largest, slope, share = search.mean_response
    memset(w, 0, (k + 1) * sizeof(double))
    w[k] = log(share / (1.0 - share))
    loss = logistic_loss(search, w)
    for round_ in range(MAX_STEPS):
        if must_stop(search.problem.interrupt, search.n * k + k * k):
            return False
        sum_logistic(search, w)
        if search.lasso > 0.0:
            # Towards the minimum of the quadratic approximation.
            for j in range(k):
                for half in range(k):
                    search.target[j] += search.gram[j * k + half] * w[half]
        if not solve(search, search.gram, search.target, k, search.solution):
            return False
        slope = search.target[k]
        largest = 0.0
        for j in range(k):
            if search.lasso > 0.0:
                search.solution[j] -= w[j]
            slope -= search.work[j] * search.solution[j]
            largest = max(largest, fabs(search.solution[j]))
        for half in range(10):
            if must_stop(search.problem.interrupt, search.n * k):
                return False
            for j in range(k):
                next_w[j] = w[j] + search.solution[j]
            next_w[k] = w[k] + slope
            next_loss = logistic_loss(search, next_w)
            if next_loss <= loss or search.lasso > 0.0:
                break
            slope *= 0.5
            for j in range(k):
                search.solution[j] *= 0.5
        memcpy(w, next_w, (k + 1) * sizeof(double))
        if largest < 1e-4 or not next_loss < loss:
            break
        loss = next_loss
    memcpy(search.solution, w, k * sizeof(double))
    return True
