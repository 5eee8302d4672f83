"""Conversion of fitted models for other programs."""

from sklearn_textbook.ensemble import exchange  # noqa: F401 - registers conversions
from sklearn_textbook.exchange.onnx_model import to_onnx
from sklearn_textbook.exchange.pmml_model import to_pmml
from sklearn_textbook.exchange.shap_trees import to_shap
from sklearn_textbook.exchange.source_code import export_code
from sklearn_textbook.exchange.tree_sum import TreeSum, read_trees
from sklearn_textbook.tree import to_sklearn

__all__ = [
    "TreeSum",
    "export_code",
    "read_trees",
    "to_onnx",
    "to_pmml",
    "to_shap",
    "to_sklearn",
]
