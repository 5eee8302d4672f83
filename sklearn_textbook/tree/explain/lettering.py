"""Text of figures: fonts that have the letters, its size, and breaking of lines."""

from __future__ import annotations

import re
import warnings

# Fonts with Chinese letters, as systems have them.
CHINESE_FONTS = (
    "Noto Sans CJK SC",
    "Noto Sans SC",
    "Source Han Sans SC",
    "WenQuanYi Micro Hei",
    "WenQuanYi Zen Hei",
    "PingFang SC",
    "Hiragino Sans GB",
    "Heiti SC",
    "Microsoft YaHei",
    "SimHei",
    "Arial Unicode MS",
    "Droid Sans Fallback",
)

# Letters on a screen are wider than in print by up to so much.
HINTING = 1.04


def break_lines(text, width):
    """Break a text after spaces, underscores and slashes into lines of some width."""
    lines = [""]
    for part in re.split(r"(?<=[ _/])", text):
        if lines[-1] and len(lines[-1]) + len(part.rstrip()) > width:
            lines.append("")
        lines[-1] += part
    return [line.rstrip() for line in lines]


def shorten(text, width):
    """Cut a text to so many letters, with an ellipsis in place of the rest."""
    return text if len(text) <= width else text[: width - 1].rstrip() + "…"


def choose_fonts(text):
    """Font families for a text: matplotlib's own, and one with Chinese if needed.

    Parameters
    ----------
    text : str
        All that is to be written.

    Returns
    -------
    list of str
        Names of families, the first being preferred.
    """
    from matplotlib import font_manager, rcParams

    families = list(rcParams["font.family"])
    if text.isascii():
        return families
    preferred = font_manager.get_font(
        font_manager.findfont(font_manager.FontProperties())
    )
    if all(ord(letter) in preferred.get_charmap() for letter in set(text)):
        return families
    installed = set(font_manager.get_font_names())
    return families + [name for name in CHINESE_FONTS if name in installed]


def measure(text, families, size, weight):
    """Width of a line of text in points."""
    from matplotlib.font_manager import FontProperties
    from matplotlib.textpath import text_to_path

    font = FontProperties(family=families, size=size, weight=weight)
    with warnings.catch_warnings():
        # A letter that no font has is matplotlib's to report, when it draws.
        warnings.simplefilter("ignore", UserWarning)
        size = text_to_path.get_text_width_height_descent(text, font, ismath=False)
    return HINTING * float(size[0])
