"""Boosting, 提升方法: each member is fitted to the errors of the preceding ones."""
