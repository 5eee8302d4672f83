"""Sums and triangles of weighted rows, and the equations solved from them."""
