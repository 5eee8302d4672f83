"""The maximum entropy model (最大熵模型).

Stages of a fit::

    table --sources--> JointFeatures --expectation--> EntropyProblem
        --iterative_scaling, solve/quasi_newton--> EntropySolution --> MaxEntClassifier
"""

from sklearn_textbook.linear_model.maximum_entropy.classifier import MaxEntClassifier

__all__ = ["MaxEntClassifier"]
