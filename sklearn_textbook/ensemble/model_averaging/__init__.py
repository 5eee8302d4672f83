"""Bayesian model averaging, 贝叶斯模型平均, of estimators and of subsets of columns."""
