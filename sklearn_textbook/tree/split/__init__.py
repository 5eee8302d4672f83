"""Station 2, split: the best test of one node, one column kind per kernel."""
