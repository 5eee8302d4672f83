"""From a table to the matrix of numbers that a linear model multiplies (设计矩阵)."""

from sklearn_textbook.linear_model.design.design import (
    REFERENCE_LEVELS,
    Design,
    read_design,
)

__all__ = ["REFERENCE_LEVELS", "Design", "read_design"]
