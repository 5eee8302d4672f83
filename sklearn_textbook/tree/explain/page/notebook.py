"""The page as a part of what notebooks show of a fitted model."""

from __future__ import annotations

import html

from sklearn.exceptions import NotFittedError

from sklearn_textbook.tree.explain.page.members import list_members
from sklearn_textbook.tree.explain.page.to_html import make_frame, to_html

#: Models with more nodes, or larger pages, are not shown, since every display would
#: store the page.
MOST_NODES = 300
MOST_CHARACTERS = 300_000


class PageReprMixin:
    """Adds the page of the fitted trees to what notebooks show of an estimator.

    The two names are those of IPython's display protocol. The page follows
    scikit-learn's own text, closed until it is asked for.
    """

    def _repr_mimebundle_(self, **kwargs):
        bundle = super()._repr_mimebundle_(**kwargs)
        if "text/html" in bundle:
            bundle["text/html"] += offer_page(self)
        return bundle

    @property
    def _repr_html_(self):
        # Raises AttributeError where scikit-learn is set to show text.
        write = super()._repr_html_
        return lambda: write() + offer_page(self)


def offer_page(model) -> str:
    """Write the page of a model, which opens on request."""
    try:
        members, _ = list_members(model)
    except (NotFittedError, TypeError):
        return ""
    n_nodes = sum(member.estimator.tree_.node_count for member in members)
    page = to_html(model) if n_nodes <= MOST_NODES else None
    if page is None or len(page) > MOST_CHARACTERS:
        call = '<code>sklearn_textbook.tree.to_html(model, "model.html")</code>'
        return f"<p>{n_nodes:,} nodes: {call} writes a page that shows them.</p>"
    what = "tree" if len(members) == 1 else f"{len(members)} trees"
    return (
        f"<details><summary>{html.escape(type(model).__name__)}: the fitted {what}"
        f"</summary>{make_frame(page)}</details>"
    )
