"""Trees as a page for a browser: Python makes its data, JavaScript shows it."""

from sklearn_textbook.tree.explain.page.notebook import PageReprMixin
from sklearn_textbook.tree.explain.page.to_html import to_html

__all__ = ["PageReprMixin", "to_html"]
