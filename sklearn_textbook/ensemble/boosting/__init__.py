"""Boosting, 提升方法: each member is fitted to what those before it got wrong."""
