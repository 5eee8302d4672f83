"""The design matrix (设计矩阵) of a linear model."""

from sklearn_textbook.linear_model.design.design import (
    MISSING,
    REFERENCE_LEVELS,
    UNKNOWN_LEVELS,
    Design,
    read_design,
)

__all__ = [
    "MISSING",
    "REFERENCE_LEVELS",
    "UNKNOWN_LEVELS",
    "Design",
    "read_design",
]
