"""Bagging and random subspaces, 自助聚集与随机子空间."""
