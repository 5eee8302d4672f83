"""Generalised linear models, 广义线性模型."""
