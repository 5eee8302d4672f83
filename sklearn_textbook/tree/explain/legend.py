"""The legend of a figure: the colours of the classes."""

from __future__ import annotations

from sklearn_textbook.tree.explain.boxes import BASE_SIZE, LINE_HEIGHT
from sklearn_textbook.tree.explain.colors import CLASS_COLORS, class_colors
from sklearn_textbook.tree.explain.lettering import measure

#: Maximum number of classes, all with distinct colours; the others are counted.
MAX_CLASSES = len(CLASS_COLORS)
#: Lengths in matplotlib's legends, in units of the font size.
HANDLE, HANDLE_GAP, COLUMN_GAP, LABEL_GAP = 1.2, 0.5, 1.5, 0.4
#: Minimum width available to a legend, in points.
MIN_WIDTH = 200.0


def list_classes(writer) -> tuple[list[str], list[str]]:
    """List the names and colours of the classes; empty if a figure has no legend."""
    fitted = writer.words.fitted
    if not (writer.bars and fitted.tree.is_classifier and fitted.is_single):
        return [], []
    names = fitted.class_names[0]
    colors = class_colors(len(names))
    n_more = len(names) - MAX_CLASSES
    if n_more > 0:
        names = [*names[:MAX_CLASSES], f"+{n_more} more"]
        colors = [*colors[:MAX_CLASSES], "none"]
    return names, colors


class Legend:
    """The colours of the classes, in rows below a drawing.

    Parameters
    ----------
    writer : BoxWriter
        Provides the classes. Regression trees, several outputs, and drawings without
        colours have no legend.
    families : list of str
        The fonts.
    available : float
        Width of the drawing in points.
    small : float
        Font size, of that of the titles.
    """

    def __init__(self, writer, families, available, small):
        self.families = families
        self.width = self.height = 0.0
        self.names, self.colors = list_classes(writer)
        if not self.names:
            return
        self.size = size = BASE_SIZE * small
        widest = max(measure(name, families, size, "normal") for name in self.names)
        column = widest + (HANDLE + HANDLE_GAP + COLUMN_GAP) * size
        fitting = int(max(available, MIN_WIDTH) / column)
        self.n_columns = min(max(fitting, 1), len(self.names))
        n_rows = -(-len(self.names) // self.n_columns)
        self.width = self.n_columns * column
        self.height = n_rows * size * (LINE_HEIGHT + LABEL_GAP) + 2 * size

    def draw(self, ax, scale):
        """Draw the legend at the bottom of the axes; return it in a list."""
        from matplotlib.font_manager import FontProperties
        from matplotlib.patches import Patch

        if not self.names:
            return []
        legend = ax.legend(
            handles=[Patch(facecolor=color) for color in self.colors],
            labels=self.names,
            loc="lower center",
            ncols=self.n_columns,
            prop=FontProperties(family=self.families, size=self.size * scale),
            frameon=False,
            borderpad=0.0,
            borderaxespad=0.5,
            handlelength=HANDLE,
            handletextpad=HANDLE_GAP,
            columnspacing=COLUMN_GAP,
            labelspacing=LABEL_GAP,
        )
        for text in legend.get_texts():
            text.set_parse_math(False)
        return [legend]
