"""Boosting, 提升方法: members that are fitted one after the other, each to what the
ones before it got wrong."""
