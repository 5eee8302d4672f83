"""Negative correlation learning, 负相关: members that are trained jointly."""
