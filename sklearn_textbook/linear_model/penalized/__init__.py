"""Linear models with an elastic-net penalty (弹性网络), and their paths.

Stages of a fit::

    matrix --moments, columns--> products or columns --path--> Path --fitting--> alpha
"""

from sklearn_textbook.linear_model.penalized.elastic_net import (
    ElasticNet,
    ElasticNetClassifier,
)

__all__ = ["ElasticNet", "ElasticNetClassifier"]
