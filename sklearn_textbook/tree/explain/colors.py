"""Colours of nodes: hue by class and saturation by its proportion, or by value."""

from __future__ import annotations

import colorsys

import numpy as np

# The colour-blind safe palette of Okabe and Ito, without black, since text is written
# on the colours; then colours that are far from all before them (at least 17 units of
# CIELAB), also without red or green cones.
CLASS_COLORS = (
    "#0072B2",
    "#E69F00",
    "#009E73",
    "#CC79A7",
    "#56B4E9",
    "#D55E00",
    "#F0E442",
    *("#0000FF", "#6D0C00", "#552449", "#86F39E", "#496DFF", "#182492", "#FFCEE7"),
    *("#E70049", "#B6E76D", "#3118C2", "#009EFF", "#49246D", "#E7AAAA", "#496D3D"),
    *("#924979", "#9E2400", "#3D55C2"),
)
#: Colours of titles and labels, of notes, frames and edges.
TEXT_COLOR, NOTE_COLOR = "#202124", "#3C4043"
FRAME_COLOR, EDGE_COLOR = "#5F6368", "#9AA0A6"
#: Low and high end of the scale of values.
VALUE_COLORS = ("#F7FBFF", "#2171B5")
#: Maximum saturation.
FULL_TINT = 0.5
#: Minimum relative luminance of a fill, on which text has a contrast of 4.5.
LEAST_LUMINANCE = 0.41
GOLDEN_RATIO = 0.6180339887498949


def class_colors(n_classes: int) -> list[str]:
    """Return one colour per class: a palette of 24, then even hues."""
    colors = list(CLASS_COLORS[:n_classes])
    for number in range(len(colors), n_classes):
        hue = (number * GOLDEN_RATIO) % 1.0
        lightness = (0.4, 0.55, 0.7)[number % 3]
        colors.append(_to_hex(colorsys.hls_to_rgb(hue, lightness, 0.6)))
    return colors


def node_colors(fitted) -> list[str]:
    """Choose the fill of every node.

    Classification: the colour of the predicted class (of the first output), more
    saturated for a larger proportion; white if all classes are equally frequent.
    Regression: from light for the smallest value to dark for the largest.
    """
    tree = fitted.tree
    if not tree.is_classifier:
        values = tree.statistics[:, 0, 0]
        low, high = values.min(), values.max()
        strength = (values - low) / (high - low) if high > low else values * 0.0
        light, dark = (_to_rgb(color) for color in VALUE_COLORS)
        rgb = light + (dark - light) * (FULL_TINT * strength[:, None])
        return [_to_hex(color) for color in rgb]
    n_classes = int(tree.n_classes[0])
    fraction = tree.value[:, 0].max(axis=1)
    least = 1.0 / n_classes
    strength = (fraction - least) / (1.0 - least) if n_classes > 1 else fraction
    palette = np.array([_to_rgb(color) for color in class_colors(n_classes)])
    color = palette[fitted.best[:, 0]]
    strength = np.clip(strength, 0.0, 1.0) * _full_tints(palette)[fitted.best[:, 0]]
    return [_to_hex(rgb) for rgb in 1.0 - strength[:, None] * (1.0 - color)]


def _full_tints(palette):
    """Return for each colour the saturation up to which text on it is readable."""
    tints = np.linspace(FULL_TINT, 0.0, 26)
    fills = 1.0 - tints[:, None] * (1.0 - palette[:, None])
    is_light = luminance(fills) >= LEAST_LUMINANCE
    return tints[is_light.argmax(axis=1)]


def luminance(rgb):
    """Compute the relative luminance of colours, as in the contrast rules of WCAG."""
    linear = np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)
    return linear @ np.array([0.2126, 0.7152, 0.0722])


def _to_rgb(color):
    return np.array([int(color[start : start + 2], 16) for start in (1, 3, 5)]) / 255.0


def _to_hex(rgb):
    return "#" + "".join(f"{round(255 * float(part)):02X}" for part in rgb)
