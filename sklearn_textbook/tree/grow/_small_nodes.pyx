"""Nodes of a subtree of few rows: the tables that their draws begin with."""

from sklearn_textbook.tree.split._random cimport reciprocal_of


for place in range(MOST_COLUMNS):
    DRAW_TABLES.in_order[place] = place
    DRAW_TABLES.reciprocals[place + 1] = reciprocal_of(place + 1)
