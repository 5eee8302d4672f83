"""Stage 3, grow: the whole-tree loop, the node layout and the grown tree."""
