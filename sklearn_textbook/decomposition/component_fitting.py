"""Fitting of principal components to rows or a covariance matrix."""

from __future__ import annotations

import numpy as np
from scipy.sparse import issparse
from sklearn.utils import check_random_state
from sklearn.utils.validation import validate_data

from sklearn_textbook._contract.blocks import add_up
from sklearn_textbook._contract.numeric_table import read_numeric_table
from sklearn_textbook._contract.parameters import (
    check_choice,
    check_integer,
    check_random_seed,
    check_real,
    check_truth,
    is_checked,
    is_integer,
    is_real,
)
from sklearn_textbook._contract.tables import check_finite_rows, check_sparse_format
from sklearn_textbook._contract.weights import check_weights
from sklearn_textbook.decomposition.column_moments import (
    CenteredRows,
    center_columns,
    fix_constant_columns,
    sum_columns,
    sum_squares,
)
from sklearn_textbook.decomposition.component_measures import (
    FLOATS,
    ComponentMeasures,
)
from sklearn_textbook.decomposition.spectrum import (
    TALL,
    complete_directions,
    count_by_contribution,
    decompose_at_random,
    decompose_by_arpack,
    decompose_matrix,
    decompose_rows,
    decompose_triangle,
    estimate_dimension,
    find_signs,
    make_centered_operator,
)
from sklearn_textbook.decomposition.triangle import count_triangle_rows, reduce_blocks
from sklearn_textbook.linear_model.design.block_rows import (
    BlockRows,
    is_in_files,
    lay_out,
    open_block_rows,
)
from sklearn_textbook.linear_model.design.design import MISSING, MISSING_REMEDY
from sklearn_textbook.linear_model.design.reading import (
    read_more_rows,
    read_training_rows,
)

SOLVERS = ("auto", "full", "covariance_eigh", "arpack", "randomized")
#: Solvers that compute the whole spectrum.
WHOLE = ("full", "covariance_eigh")
SPARSE_SOLVERS = ("auto", "arpack", "covariance_eigh")
MATRIX_SOLVERS = ("auto", "covariance_eigh")
NORMALIZERS = ("auto", "QR", "LU", "none")
#: Fitted attributes, in addition to the names and number of the columns.
FITTED = (
    "components_",
    "eigenvalues_",
    "explained_variance_",
    "explained_variance_ratio_",
    "mean_",
    "n_components_",
    "n_samples_",
    "noise_variance_",
    "scale_",
    "singular_values_",
    "var_",
)
#: Attributes that are computed from these on access.
DERIVED = ("communalities_", "cumulative_contribution_", "loadings_")


class ComponentFitting(ComponentMeasures):
    """The stages of a fit; the parameters are those of ``PCA``."""

    # ----------------------------------------------------------------------- input
    def _check_parameters(self) -> None:
        check_choice("svd_solver", self.svd_solver, SOLVERS)
        for name in ("standardize", "copy", "whiten"):
            check_truth(name, getattr(self, name))
        check_real("tol", self.tol, 0.0)
        if self.iterated_power != "auto":
            check_integer("iterated_power", self.iterated_power, 0)
        check_integer("n_oversamples", self.n_oversamples, 1)
        check_choice(
            "power_iteration_normalizer", self.power_iteration_normalizer, NORMALIZERS
        )
        check_random_seed("random_state", self.random_state)
        check_choice("missing", self.missing, MISSING)
        wanted = self.n_components
        is_count = is_integer(wanted) and wanted >= 0
        is_fraction = is_real(wanted) and not is_integer(wanted) and 0 < wanted < 1
        is_other = wanted is None or (isinstance(wanted, str) and wanted == "mle")
        if is_checked() and not (is_count or is_fraction or is_other):
            raise ValueError(
                "The 'n_components' parameter must be an int in the range [0, inf), a "
                "float in the range (0.0, 1.0), 'mle' or None; got "
                f"{wanted!r} of type {type(wanted).__name__}."
            )

    def _read_training(
        self, X, sample_weight, *, is_first: bool = True, is_last: bool = True
    ):
        """Read rows and weights; further rows are allowed unless it is the last call.

        Rows that are left out because of missing values have no weight either.
        """
        if self.categorical_features is None and self.missing == "error":
            vars(self).pop("design_", None)
            X = self._read_rows(X, is_first=is_first, min_rows=1 + is_last)
            return X, check_weights(sample_weight, X.shape[0])
        self._refuse_sparse(X)
        if is_first:
            matrix, weight, _ = read_training_rows(
                *(self, X, sample_weight, None),
                keeps_all_levels=not is_last,
                min_rows=1 + is_last,
            )
        else:
            matrix, weight, _ = read_more_rows(self, X, sample_weight)
        if issparse(matrix) and not issparse(X):
            matrix = matrix.toarray()
        return matrix, weight

    def _open_source(self, source, y, sample_weight) -> BlockRows:
        """Read the rows and weights of a table in blocks."""

        def read(frame, *, is_first):
            return self._read_rows(frame, is_first=is_first, min_rows=1)

        return open_block_rows(self, source, y, sample_weight, read)

    def _refuse_sparse(self, X) -> None:
        if issparse(X) and self.svd_solver not in SPARSE_SOLVERS:
            raise TypeError(
                'PCA only support sparse inputs with the "arpack" and "covariance_eigh"'
                f' solvers, while "{self.svd_solver}" was passed.'
            )

    def _read_rows(self, X, *, is_first: bool = True, min_rows: int = 2):
        self._refuse_sparse(X)
        check_sparse_format(X)
        return read_numeric_table(
            self,
            X,
            dtype=FLOATS,
            accept_sparse=("csr", "csc"),
            ensure_all_finite=False,
            ensure_min_samples=min_rows,
            reset=is_first,
        )

    def _check_finite(self, X, weight=None) -> None:
        if is_in_files(X):
            return  # checked when it was read
        is_present = None if weight is None or weight.all() else weight > 0
        check_finite_rows(
            X if is_present is None else X[np.flatnonzero(is_present)],
            type(self).__name__,
            self._get_column_names(),
            is_present,
            remedy=MISSING_REMEDY,
        )

    def _read_matrix(self, covariance):
        """Read a covariance matrix and make it symmetric to the last bit."""
        matrix = validate_data(self, covariance, dtype=np.float64)
        if matrix.shape[0] != matrix.shape[1]:
            raise ValueError(
                f"covariance must be a square matrix; got shape {matrix.shape}."
            )
        if not np.allclose(
            matrix, matrix.T, rtol=1e-8, atol=1e-8 * np.abs(matrix).max()
        ):
            row, column = np.unravel_index(
                np.argmax(np.abs(matrix - matrix.T)), matrix.shape
            )
            raise ValueError(
                "covariance must be symmetric; the entries at "
                f"({row}, {column}) and ({column}, {row}) are {matrix[row, column]} "
                f"and {matrix[column, row]}."
            )
        return (matrix + matrix.T) / 2.0

    def _sum_rows(self, X, weight):
        """Sum the rows; values that are not finite make the sums infinite or NaN."""
        with np.errstate(over="ignore", invalid="ignore"):
            moments = sum_columns(X, weight)
        if not np.isfinite(np.diagonal(moments.scatter)).all():
            self._check_finite(X)
        return moments

    # -------------------------------------------------------------------- solution
    def _fit(self, X, weight):
        """Fit to rows; return their spectrum, if the solver computes it."""
        self._forget()
        X, weight = self._drop_weightless(X, weight)
        total = X.shape[0] if weight is None else _as_count(add_up(weight))
        if total <= 1:
            raise ValueError(_describe_light(X.shape[0], total))
        solver = self._choose_solver(X, total)
        spectrum = signs = None
        if solver == "covariance_eigh":
            self._fit_moments(self._sum_rows(X, weight), X.dtype)
        else:
            if weight is None:
                self._check_finite(X)
            spectrum, signs = self._fit_rows(X, weight, total, solver)
        self._fit_svd_solver = solver
        return spectrum, signs

    def _drop_weightless(self, X, weight):
        """Drop rows of weight 0; the others must be finite."""
        if weight is None or is_in_files(X):
            return X, weight
        self._check_finite(X, weight)
        if (weight > 0).all():
            return X, weight
        kept = np.flatnonzero(weight > 0)
        return (X.tocsr() if issparse(X) else X)[kept], weight[kept]

    def _forget(self) -> None:
        """Delete earlier fitted attributes."""
        for name in (*FITTED, "_moments", "_dtype", "_fit_svd_solver"):
            vars(self).pop(name, None)

    def _choose_solver(self, X, n_rows):
        """Resolve "auto" as scikit-learn does."""
        if self.svd_solver != "auto":
            return self.svd_solver
        wanted, n_columns = self.n_components, X.shape[1]
        smallest = min(n_rows, n_columns)
        if issparse(X):
            is_count = wanted is None or is_integer(wanted)
            return "arpack" if is_count else "covariance_eigh"
        if n_columns <= 1_000 and n_rows >= 10 * n_columns:
            return "covariance_eigh"
        if max(n_rows, n_columns) <= 500 or wanted == "mle":
            return "full"
        if is_integer(wanted) and 1 <= wanted < 0.8 * smallest:
            return "randomized"
        return "full"

    def _fit_moments(self, moments, dtype) -> None:
        """Fit to means and cross-products."""
        if moments.total_weight <= 1.0:
            raise ValueError(_describe_light(moments.n_rows, moments.total_weight))
        most = min(_count_most(moments.n_rows, moments.total_weight), len(moments.mean))
        self._fit_matrix(
            moments.compute_covariance(),
            moments.mean,
            _as_count(moments.total_weight),
            dtype,
            most=most,
        )

    def _fit_matrix(
        self, covariance, mean, n_samples, dtype, *, most=None, is_given: bool = False
    ) -> None:
        """Fit to a covariance matrix."""
        n_columns = len(covariance)
        if most is None:
            limit = np.inf if n_samples is None else n_samples
            most = min(n_columns, int(min(limit, n_columns)))
        variances = np.diagonal(covariance).copy()
        if is_given and (variances < 0).any():
            raise ValueError("covariance must not have negative diagonal entries.")
        scale = self._find_scale(variances, mean, dtype)
        if scale is not None:
            covariance = covariance / np.outer(scale, scale)
            covariance.flat[:: n_columns + 1] = 1.0
        eigenvalues, components, lowest = decompose_matrix(covariance)
        if is_given and lowest < -1e-12 * n_columns * eigenvalues[0]:
            raise ValueError(
                "covariance must not have negative eigenvalues, got "
                f"{lowest:.6g}. Possible reasons are rounded or separately estimated "
                "entries."
            )
        n_kept = self._count_components(
            eigenvalues, eigenvalues.sum(), most, n_samples, "covariance_eigh"
        )
        values = np.full(n_columns, np.nan)
        if n_samples is not None:
            values = np.sqrt(eigenvalues * (n_samples - 1.0))
        self._fit_svd_solver = "covariance_eigh"
        self._keep(
            components,
            eigenvalues[:most],
            eigenvalues.sum(),
            values,
            n_kept,
            most,
            dtype,
        )
        self._keep_columns(mean, variances, scale, n_samples, dtype)

    def _fit_rows(self, X, weight, total, solver):
        """Fit to rows by a singular value decomposition of them."""
        n_columns = X.shape[1]
        most = min(_count_most(X.shape[0], total), n_columns)
        n_wanted = self._check_count(most, total, solver)
        if solver == "full" and X.shape[0] >= TALL * n_columns:
            spectrum, *columns = self._decompose_tall(X, weight, total)
            return self._keep_spectrum(
                *(spectrum, n_wanted, most, total, solver, X.dtype, *columns)
            )
        self._require_memory(X, solver)
        random_state = check_random_state(self.random_state)
        X = X if issparse(X) else lay_out(X)
        rows, mean, variances = self._center(X, weight, total)
        scale = self._find_scale(variances, mean, X.dtype)
        root = None if weight is None else np.sqrt(weight)
        if issparse(X):
            rows = make_centered_operator(X, mean, root, scale)
        else:
            if scale is not None:
                rows /= scale.astype(rows.dtype)
            if root is not None:
                rows *= root[:, np.newaxis].astype(rows.dtype)
        if solver == "full":
            spectrum = decompose_rows(rows)
        elif solver == "arpack":
            possible = min(n_wanted, min(rows.shape) - 1)
            spectrum = decompose_by_arpack(rows, possible, self.tol, random_state)
        else:
            options = {
                "n_oversamples": self.n_oversamples,
                "n_iter": self.iterated_power,
                "power_iteration_normalizer": self.power_iteration_normalizer,
            }
            possible = min(n_wanted, *rows.shape)
            spectrum = decompose_at_random(rows, possible, options, random_state)
        return self._keep_spectrum(
            spectrum, n_wanted, most, total, solver, X.dtype, mean, variances, scale
        )

    def _require_memory(self, X, solver) -> None:
        """Refuse rows in files, for a solver that needs them all at once."""
        if not is_in_files(X):
            return
        n_rows, n_columns = X.shape
        if solver == "full":
            raise ValueError(
                f"svd_solver={self.svd_solver!r} reads a table in blocks if it has at "
                f"least {TALL} rows per column; got {n_rows} rows of {n_columns} "
                "columns. Set svd_solver='covariance_eigh'."
            )
        chosen = ", which 'auto' chooses," if self.svd_solver == "auto" else ""
        raise ValueError(
            f"svd_solver={solver!r}{chosen} needs all rows at once, but the table is "
            "read in blocks. Set svd_solver='covariance_eigh' or 'full'."
        )

    def _decompose_tall(self, X, weight, total):
        """Decompose many rows, block by block; find means, variances and divisors."""
        centered, squares = CenteredRows(X, weight), np.zeros(X.shape[1])

        def iterate():
            for rows, of_block in centered.cut(count_triangle_rows(X.shape[1])):
                with np.errstate(over="ignore"):
                    squares[:] += sum_squares(rows, of_block)
                if of_block is not None:
                    rows *= np.sqrt(of_block)[:, np.newaxis].astype(rows.dtype)
                yield rows

        triangle = reduce_blocks(iterate(), X.shape[1], X.dtype)
        variances = squares / (total - 1.0)
        scale = self._find_scale(variances, centered.mean, X.dtype)
        if scale is not None:
            triangle /= scale.astype(triangle.dtype)
        spectrum = decompose_triangle(triangle, X.shape)
        return spectrum, centered.mean, variances, scale

    def _keep_spectrum(
        self, spectrum, n_wanted, most, total, solver, dtype, mean, variances, scale
    ):
        """Keep what a decomposition of the rows gives; return it and the signs."""
        n_needed = most if solver == "full" else n_wanted
        # A row of weight w counts as w rows, so there may be more components than rows.
        values = np.zeros(n_needed)
        values[: len(spectrum.singular_values)] = spectrum.singular_values
        components = complete_directions(spectrum.components, n_needed)
        eigenvalues = values**2 / (total - 1.0)
        whole = variances.sum() if scale is None else float(len(variances))
        if solver == "full":
            whole = eigenvalues.sum()
        n_kept = self._count_components(eigenvalues, whole, most, total, solver)
        signs = self._keep(components, eigenvalues, whole, values, n_kept, most, dtype)
        self._keep_columns(mean, variances, scale, total, dtype)
        return spectrum, signs

    def _center(self, X, weight, total):
        """Centre rows, if they are dense; find means and variances of the columns."""
        if issparse(X):
            with np.errstate(over="ignore", invalid="ignore"):
                return None, *_describe_sparse(X, weight, total)
        out = X if not self.copy and weight is None and X.flags.writeable else None
        mean, rows = center_columns(X, weight, out=out)
        with np.errstate(over="ignore"):
            return rows, mean, sum_squares(rows, weight) / (total - 1.0)

    def _find_scale(self, variances, mean, dtype):
        """Find the divisors of the columns, None if they are not scaled."""
        epsilon = np.finfo(dtype).eps
        smallest = np.finfo(dtype).tiny / epsilon
        largest = np.finfo(dtype).max
        if not variances.max() <= largest:
            raise ValueError(
                f"{self._name_column(int(np.argmax(~(variances <= largest))))} has a "
                f"variance that is too large for {np.dtype(dtype).name}: divide X by a "
                "constant."
            )
        if variances.max() <= smallest:
            raise ValueError(
                "All rows of X are equal, or their differences are too small for "
                f"{np.dtype(dtype).name}: there is no variance to explain."
            )
        if not self.standardize:
            return None
        scale = np.sqrt(variances)
        # A column that varies only in its last bit contains only rounding errors.
        rounding = 0.0 if mean is None else 2.0 * epsilon * np.abs(mean)
        is_constant = (variances <= smallest) | (scale <= rounding)
        if is_constant.any():
            name = self._name_column(int(np.argmax(is_constant)))
            raise ValueError(
                f"{name} is constant (or nearly so) and cannot be divided by its "
                "standard deviation: drop constant columns, for example with "
                "make_pipeline(VarianceThreshold(), PCA(standardize=True)), or use "
                "standardize=False."
            )
        return scale

    def _name_column(self, column) -> str:
        names = self._get_column_names()
        return f"Column {column if names is None else repr(str(names[column]))}"

    # ----------------------------------------------------------------- what is kept
    def _check_count(self, most, n_samples, solver):
        """Count the requested components; all, if the spectrum decides."""
        wanted = self.n_components
        is_partial = solver not in WHOLE
        if wanted is None:
            wanted = most - 1 if solver == "arpack" else most
        if isinstance(wanted, str) and is_partial:
            raise ValueError(
                f"n_components={wanted!r} cannot be a string with svd_solver={solver!r}"
                "; 'full' and 'covariance_eigh' find all eigenvalues that it needs"
            )
        if not is_partial and not is_integer(wanted):
            return most
        allowed = None
        if not int(is_partial) <= wanted <= most:
            allowed = f"between {int(is_partial)} and"
        elif solver == "arpack" and wanted == most:
            allowed = "strictly less than"
        if allowed is not None:
            raise ValueError(
                f"n_components={wanted} must be {allowed} min(n_samples, n_features)="
                f"{most} with svd_solver={solver!r}; n_samples={n_samples}, "
                f"n_features={self._count_columns()}"
            )
        return int(wanted)

    def _count_components(self, eigenvalues, whole, most, n_samples, solver):
        """Count the components to keep."""
        n_wanted = self._check_count(most, n_samples, solver)
        if self.n_components is None or is_integer(self.n_components):
            return n_wanted
        if self.n_components == "mle":
            n_columns = len(eigenvalues) if solver != "full" else self._count_columns()
            if n_samples is None or n_samples < n_columns:
                raise ValueError(
                    "n_components='mle' is only supported if n_samples >= n_features; "
                    f"got {n_samples} and {n_columns}."
                )
            return estimate_dimension(eigenvalues, n_samples)
        return count_by_contribution(eigenvalues[:most] / whole, self.n_components)

    def _keep(self, components, eigenvalues, whole, values, n_kept, most, dtype):
        """Keep the first components; returns their signs."""
        kept = components[:n_kept]
        signs = find_signs(kept)
        self.components_ = np.ascontiguousarray(kept * signs[:, np.newaxis], dtype)
        self.eigenvalues_ = eigenvalues.astype(dtype)
        self.explained_variance_ = eigenvalues[:n_kept].astype(dtype)
        self.explained_variance_ratio_ = (eigenvalues[:n_kept] / whole).astype(dtype)
        self.singular_values_ = values[:n_kept].astype(dtype)
        self.n_components_ = n_kept
        left_over = 0.0
        if n_kept < most:
            rest = whole - eigenvalues[:n_kept].sum()
            if len(eigenvalues) == most:
                rest = eigenvalues[n_kept:].sum()
            left_over = max(0.0, rest / (most - n_kept))
        self.noise_variance_ = dtype.type(left_over)
        return signs

    def _keep_columns(self, mean, variances, scale, n_samples, dtype) -> None:
        self.mean_ = None if mean is None else mean.astype(dtype)
        self.var_ = variances.astype(dtype)
        self.scale_ = None if scale is None else scale.astype(dtype)
        self.n_samples_ = n_samples


def _as_count(total):
    """Convert a sum of weights to an int, if it is an integer."""
    return int(total) if float(total).is_integer() else float(total)


def _count_most(n_rows, total):
    """Rows that limit the number of components."""
    return max(n_rows, int(total))


def _describe_light(n_rows, total) -> str:
    """Explain why there are too few rows."""
    return (
        "The total weight must be more than 1, since a row of weight w counts as w "
        f"rows; got n_samples = {n_rows} with a total weight of {total:g}. Multiply "
        "weights that are proportions by the number of rows."
    )


def _describe_sparse(X, weight, total):
    """Means and variances of the columns of a sparse matrix."""
    weighted = X if weight is None else X.multiply(weight[:, np.newaxis]).tocsr()
    mean = np.asarray(weighted.sum(axis=0)).ravel() / total
    is_constant = fix_constant_columns(X, mean)
    # Entries about the mean, and the zeros, all of which are equally far from it.
    columns = X.tocsc().astype(np.float64)
    columns.sum_duplicates()
    n_stored = np.diff(columns.indptr)
    of_column = np.repeat(np.arange(X.shape[1]), n_stored)
    by_row = np.ones(X.shape[0]) if weight is None else weight
    of_entry = by_row[columns.indices]
    squares = np.bincount(
        of_column, of_entry * (columns.data - mean[of_column]) ** 2, X.shape[1]
    )
    stored = np.bincount(of_column, of_entry, X.shape[1])
    squares += np.maximum(total - stored, 0.0) * mean**2
    squares[is_constant] = 0.0
    return mean, squares / (total - 1.0)
