"""The maximum entropy model (最大熵模型).

The way of the data::

    table --sources--> JointFeatures --expectation--> EntropyProblem
        --iterative_scaling, quasi_newton--> Solution --> MaxEntClassifier
"""

from sklearn_textbook.linear_model.maximum_entropy.classifier import MaxEntClassifier

__all__ = ["MaxEntClassifier"]
