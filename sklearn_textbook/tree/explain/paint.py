"""The artists of matplotlib for the boxes, labels and edges of a drawing."""

from __future__ import annotations

from sklearn_textbook.tree.explain.boxes import (
    BAR_GAP,
    BAR_HEIGHT,
    BASE_SIZE,
    CHART_GAP,
    CHART_SIZE,
    EDGE_WIDTHS,
    LABEL_GAP,
    LINE_HEIGHT,
    PADDING,
)
from sklearn_textbook.tree.explain.colors import (
    EDGE_COLOR,
    FRAME_COLOR,
    NOTE_COLOR,
    TEXT_COLOR,
    VALUE_COLORS,
    class_colors,
)


class Painter:
    """Draws boxes, labels and edges in the units of a drawing."""

    def __init__(self, drawing, ax, scale, fill, rounded) -> None:
        self.drawing = drawing
        self.ax = ax
        self.scale = scale
        self.fill = fill
        self.rounded = rounded
        tree = drawing.tree
        self.palette = class_colors(int(tree.n_classes[0]))
        top = drawing.boxes[0].node
        self.fraction = tree.nodes["weight"] / (tree.nodes["weight"][top] or 1.0)

    def paint(self):
        """Draw edges, boxes and texts, in this order."""
        boxes = self.drawing.boxes
        artists = []
        for parent, first, count in zip(
            boxes, self.drawing.first_child, self.drawing.n_children, strict=True
        ):
            artists += [self._edge(parent, boxes[first + n]) for n in range(count)]
        for box in boxes:
            artists.append(self._frame(box))
            artists += self._bar(box)
            artists += self._texts(box)
            artists += self._chart(box) if box.chart else []
            artists += self._label(box)
        return artists

    def _edge(self, parent, child):
        """Draw a curve from a box to the label of its child."""
        from matplotlib.patches import PathPatch
        from matplotlib.path import Path

        # Edges bend between the largest box of a level and the longest label of the
        # next one, to keep clear of all others.
        if self.drawing.is_horizontal:
            gap = 2 * LABEL_GAP if child.label else 0.0
            start = (parent.x + parent.width / 2, parent.y)
            turn_out = (parent.level_end, parent.y)
            end = (child.x - child.width / 2 - child.label_width - gap, child.y)
            turn = (end[0] + child.label_width - child.label_room, child.y)
            bend = (turn_out[0] + turn[0]) / 2
            curve = [(bend, turn_out[1]), (bend, turn[1]), turn]
        else:
            gap = 1.5 * LABEL_GAP if child.label else 0.0
            start = (parent.x, parent.y + parent.height / 2)
            turn_out = (parent.x, parent.level_end)
            end = (child.x, child.y - child.height / 2 - child.label_height - gap)
            turn = (child.x, end[1] + child.label_height - child.label_room)
            bend = (turn_out[1] + turn[1]) / 2
            curve = [(turn_out[0], bend), (turn[0], bend), turn]
        codes = [Path.MOVETO, Path.LINETO, *[Path.CURVE4] * 3, Path.LINETO]
        thin, wide = EDGE_WIDTHS
        width = thin + (wide - thin) * float(self.fraction[child.node])
        patch = PathPatch(
            Path([start, turn_out, *curve, end], codes),
            facecolor="none",
            edgecolor=EDGE_COLOR,
            linewidth=width * self.scale,
            capstyle="round",
            clip_on=False,
            zorder=1,
        )
        return self.ax.add_artist(patch)

    def _frame(self, box):
        from matplotlib.patches import FancyBboxPatch

        corner = (box.x - box.width / 2, box.y - box.height / 2)
        style = "round,pad=0,rounding_size=4" if self.rounded else "square,pad=0"
        patch = FancyBboxPatch(
            corner,
            box.width,
            box.height,
            boxstyle=style,
            facecolor=self.fill[box.node] if self.fill else "white",
            edgecolor=FRAME_COLOR,
            linewidth=0.8 * self.scale,
            clip_on=False,
            zorder=2,
        )
        return self.ax.add_artist(patch)

    def _bar(self, box):
        """Draw the class proportions side by side at the bottom of the box."""
        from matplotlib.patches import Rectangle

        left = box.x - box.width / 2 + PADDING[0]
        top = box.y + box.height / 2 - PADDING[1] - BAR_HEIGHT
        width = box.width - 2 * PADDING[0]
        artists = []
        for fraction, color in zip(box.fractions, self.palette, strict=False):
            if fraction > 0.0:
                part = Rectangle(
                    (left, top),
                    width * fraction,
                    BAR_HEIGHT,
                    facecolor=color,
                    edgecolor="none",
                    clip_on=False,
                    zorder=3,
                )
                artists.append(self.ax.add_artist(part))
                left += width * fraction
        return artists

    def _texts(self, box):
        """Title and notes, line by line from the top."""
        y = box.y - box.height / 2 + PADDING[1]
        if box.fractions:
            y -= 1.0  # the bar is closer to the text than the frame
        line, small = BASE_SIZE * LINE_HEIGHT, self.drawing.small
        artists = []
        for text in box.title:
            y += line / 2
            artists.append(self._write(box.x, y, text, 1.0, TEXT_COLOR, weight="bold"))
            y += line / 2
        for text in box.notes:
            y += line * small / 2
            artists.append(self._write(box.x, y, text, small, NOTE_COLOR))
            y += line * small / 2
        return artists

    def _chart(self, box):
        """Draw the distribution of the column of the test above the bar."""
        from matplotlib.collections import LineCollection, PolyCollection
        from matplotlib.lines import Line2D

        chart, small = box.chart, self.drawing.small
        width, height = box.width - 2 * PADDING[0], CHART_SIZE[1]
        left = box.x - box.width / 2 + PADDING[0]
        floor = box.y + box.height / 2 - PADDING[1] - CHART_GAP
        floor -= BAR_HEIGHT + BAR_GAP if box.fractions else 0.0
        floor -= BASE_SIZE * LINE_HEIGHT * small if chart.ends else 0.0

        def place(x, y):
            return left + width * x, floor - height * y

        def draw(lines, color, size, zorder):
            lines = LineCollection(
                [[place(*ends[:2]), place(*ends[2:])] for ends in lines],
                colors=color,
                linewidths=size * self.scale,
                clip_on=False,
                zorder=zorder,
            )
            return self.ax.add_artist(lines)

        palette = [*self.palette, VALUE_COLORS[1]]  # the last for number -1
        bars = PolyCollection(
            [
                [place(a, low), place(b, low), place(b, high), place(a, high)]
                for a, b, low, high, *_ in chart.bars
            ],
            facecolors=[palette[number] for *_, number, _ in chart.bars],
            linewidths=0.0,
            clip_on=False,
            zorder=3,
        )
        points = Line2D(
            *zip(*(place(x, y) for x, y in chart.points), strict=True)
            if chart.points
            else ((), ()),
            linestyle="none",
            marker="o",
            markersize=2.0 * self.scale,
            markeredgewidth=0.0,
            color=VALUE_COLORS[1],
            alpha=0.5,
            clip_on=False,
            zorder=3,
        )
        marks = Line2D(
            [place(x, 0.0)[0] for x in chart.marks],
            [floor + CHART_GAP / 2 for _ in chart.marks],
            linestyle="none",
            marker="^",
            markersize=CHART_GAP * self.scale,
            markeredgewidth=0.0,
            color=TEXT_COLOR,
            clip_on=False,
            zorder=4,
        )
        artists = [self.ax.add_artist(a) for a in (bars, points, marks)]
        artists += [
            draw([(0.0, 0.0, 1.0, 0.0)], FRAME_COLOR, 0.8, 4),
            draw([(x, 0.0, x, 1.0) for x in chart.marks], TEXT_COLOR, 0.8, 4),
            draw(chart.lines, TEXT_COLOR, 1.0, 4),
        ]
        y = floor + CHART_GAP + BASE_SIZE * LINE_HEIGHT * small / 2
        for text, x, align in zip(
            chart.ends, (0.0, 1.0), ("left", "right"), strict=False
        ):
            x, _ = place(x, 0.0)
            artists.append(self._write(x, y, text, small, NOTE_COLOR, ha=align))
        return artists

    def _label(self, box):
        """Write the label of the edge that leads to the box, in the style's colour."""
        small = self.drawing.small
        step = BASE_SIZE * LINE_HEIGHT * small
        if self.drawing.is_horizontal:
            x = box.x - box.width / 2 - LABEL_GAP
            y, align = box.y - box.label_height / 2, "right"
        else:
            x, align = box.x, "center"
            y = box.y - box.height / 2 - LABEL_GAP - box.label_height
        return [
            self._write(x, y + (n + 0.5) * step, text, small, None, ha=align)
            for n, text in enumerate(box.label)
        ]

    def _write(
        self, x, y, text, size, color, ha: str = "center", weight: str = "normal"
    ):
        return self.ax.text(
            x,
            y,
            text,
            ha=ha,
            va="center_baseline",
            fontsize=BASE_SIZE * size * self.scale,
            fontfamily=self.drawing.families,
            color=color,
            fontweight=weight,
            parse_math=False,
            clip_on=False,
            zorder=4,
        )
