"""The members of negative correlation learning: small networks, and linear functions.

All members of an ensemble are kept together, in arrays whose first axis is the member,
so that one product of matrices serves all of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace

import numpy as np
from sklearn.utils import check_random_state

#: Approximate number of values in a block of rows, which fits into the cache.
BLOCK_NUMBERS = 400_000


class JointMembers:
    """Arrays of parameters, a row of each for every member."""

    #: Arrays that the L2 penalty leaves out.
    BIASES = ()

    @classmethod
    def list_names(cls):
        """List the names of the arrays."""
        return [field.name for field in fields(cls)]

    def __len__(self) -> int:
        """Return the number of members."""
        return len(getattr(self, self.list_names()[0]))

    def take(self, numbers):
        """Take some members."""
        return type(self)(*(getattr(self, name)[numbers] for name in self.list_names()))

    @classmethod
    def join(cls, parts):
        """Concatenate the members of several ensembles."""
        return cls(
            *(
                np.concatenate([getattr(part, name) for part in parts])
                for name in cls.list_names()
            )
        )

    def to_vector(self):
        """Write all parameters one after the other."""
        arrays = [getattr(self, name) for name in self.list_names()]
        return np.concatenate([array.ravel() for array in arrays])

    def read_vector(self, vector):
        """Make members of the same shape from such a vector."""
        values, start = [], 0
        for name in self.list_names():
            array = getattr(self, name)
            values.append(vector[start : start + array.size].reshape(array.shape))
            start += array.size
        return type(self)(*values)

    def count_block_rows(self):
        """Count the rows of a block."""
        return max(1, BLOCK_NUMBERS // self.count_numbers())

    def predict_blocks(self, matrix):
        """Compute the outputs of all members by blocks; shape (n_rows, n_members)."""
        outputs = np.empty((len(matrix), len(self)))
        step = self.count_block_rows()
        for first in range(0, len(matrix), step):
            outputs[first : first + step] = self.predict(matrix[first : first + step])
        return outputs

    def mark_weights(self):
        """Mark the parameters of the L2 penalty, as a vector of 0 and 1."""
        marks = {
            name: np.full(getattr(self, name).shape, float(name not in self.BIASES))
            for name in self.list_names()
        }
        return replace(self, **marks).to_vector()


@dataclass(frozen=True, eq=False)
class NetworkMembers(JointMembers):
    r"""Networks with one hidden layer, :math:`v \cdot \tanh(W^T x + b) + c`.

    Parameters
    ----------
    hidden : ndarray of float64, shape (n_members, n_columns, n_units)
        Weights W of the hidden units; 0 for columns that a member does not see.
    hidden_bias : ndarray of float64, shape (n_members, n_units)
        Their biases b.
    output : ndarray of float64, shape (n_members, n_units)
        Weights v of the output.
    output_bias : ndarray of float64, shape (n_members,)
        Its biases c.
    """

    hidden: np.ndarray
    hidden_bias: np.ndarray
    output: np.ndarray
    output_bias: np.ndarray

    BIASES = ("hidden_bias", "output_bias")

    @classmethod
    def draw(
        cls, seeds: Sequence[int], sees: np.ndarray, n_units: int
    ) -> NetworkMembers:
        """Draw the members with these seeds, by Glorot's and Bengio's rule."""
        drawn = []
        for seed, is_seen in zip(seeds, sees, strict=True):
            random_state = check_random_state(seed)
            bound = np.sqrt(6.0 / (is_seen.sum() + n_units))
            hidden = random_state.uniform(-bound, bound, (len(is_seen), n_units))
            bias = random_state.uniform(-bound, bound, n_units)
            bound = np.sqrt(6.0 / (n_units + 1))
            output = random_state.uniform(-bound, bound, n_units)
            drawn.append((hidden * is_seen[:, np.newaxis], bias, output, 0.0))
        return cls(*map(np.array, zip(*drawn, strict=True)))

    def mark_free(self, sees):
        """Mark the parameters that are trained, as a vector of 0 and 1."""
        ones = self.read_vector(np.ones(self.to_vector().size))
        return replace(ones, hidden=ones.hidden * sees[:, :, np.newaxis]).to_vector()

    def count_numbers(self):
        """Count the numbers that a row takes while outputs are computed."""
        return self.output.size

    def activate(self, matrix):
        """Compute the hidden units; shape (n_rows, n_members, n_units)."""
        units = np.tensordot(matrix, self.hidden, ((1,), (1,)))
        units += self.hidden_bias
        return np.tanh(units, out=units)

    def predict(self, matrix, units=None):
        """Compute the outputs of all members; shape (n_rows, n_members)."""
        units = self.activate(matrix) if units is None else units
        return np.einsum("nmh,mh->nm", units, self.output) + self.output_bias

    def compute_gradient(self, matrix, units, slopes):
        """Compute derivatives of a loss from those by the outputs, ``slopes``."""
        output = np.einsum("nm,nmh->mh", slopes, units)
        inner = (1.0 - units**2) * (slopes[:, :, np.newaxis] * self.output)
        hidden = np.tensordot(matrix, inner, ((0,), (0,))).transpose(1, 0, 2)
        return NetworkMembers(hidden, inner.sum(axis=0), output, slopes.sum(axis=0))


@dataclass(frozen=True, eq=False)
class LinearMembers(JointMembers):
    r"""Linear functions of some columns, :math:`w^T x + c`.

    Parameters
    ----------
    weights : ndarray of float64, shape (n_members, n_columns)
        Coefficients w; 0 for columns that a member does not see.
    bias : ndarray of float64, shape (n_members,)
        Intercepts c.
    """

    weights: np.ndarray
    bias: np.ndarray

    BIASES = ("bias",)

    @classmethod
    def draw(cls, seeds, sees, n_units):
        """Begin all members with zeros; see :meth:`NetworkMembers.draw`."""
        return cls(np.zeros(sees.shape), np.zeros(len(seeds)))

    def mark_free(self, sees):
        """Mark the parameters that are trained, as a vector of 0 and 1."""
        return LinearMembers(sees.astype(np.float64), np.ones(len(self))).to_vector()

    def count_numbers(self) -> int:
        """Count the numbers that a row takes while outputs are computed."""
        return len(self)

    def activate(self, matrix):
        """Return nothing, as there are no hidden units."""

    def predict(self, matrix, units=None):
        """Compute the outputs of all members; shape (n_rows, n_members)."""
        return matrix @ self.weights.T + self.bias

    def compute_gradient(self, matrix, units, slopes):
        """Compute derivatives of a loss from those by the outputs, ``slopes``."""
        return LinearMembers(slopes.T @ matrix, slopes.sum(axis=0))


#: The kinds of members by name.
MEMBERS = {"network": NetworkMembers, "linear": LinearMembers}
