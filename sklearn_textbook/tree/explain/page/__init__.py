"""Trees as a page for a browser: Python makes its data, JavaScript shows it."""

from sklearn_textbook.tree.explain.page.to_html import Page, make_frame, to_html

__all__ = ["Page", "make_frame", "to_html"]
