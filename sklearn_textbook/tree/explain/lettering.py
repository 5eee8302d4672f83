"""Text of figures: fonts, width and line breaks."""

from __future__ import annotations

import re
import warnings
from unicodedata import east_asian_width

# Common fonts with Chinese characters.
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

# Maximum ratio of text widths on screen and in print.
HINTING = 1.04


def measure_places(text):
    """Return the width of a text in columns; Chinese characters take two."""
    return sum(2 if east_asian_width(letter) in "WF" else 1 for letter in text)


def break_lines(text, width, longest=None):
    """Break a text after spaces and other separators into lines of some width.

    Only words longer than ``longest`` (by default the width) are broken.
    """
    lines = [""]
    for part in _split_words(text):
        for piece in _cut_word(part, width if longest is None else longest):
            used = measure_places(lines[-1]) + measure_places(piece.rstrip())
            if lines[-1] and used > width:
                lines.append("")
            lines[-1] += piece
    return [line.rstrip() for line in lines]


def shorten(text, width):
    """Shorten a text to a length, after a word if possible, and add an ellipsis."""
    if len(text) <= width:
        return text
    start = text[: width - 1]
    whole = "".join(_split_words(text[:width])[:-1]).rstrip(" _/,")
    return (whole or start.rstrip()) + "…"


def _split_words(text):
    """Split a text into parts that are not broken, with their separators."""
    return re.split(r"(?<=[ _/])|(?<=\w-)", text)


def _cut_word(word, width):
    """Split a word that is longer than a width."""
    pieces = [""]
    for letter in word:
        if pieces[-1] and measure_places((pieces[-1] + letter).rstrip()) > width:
            pieces.append("")
        pieces[-1] += letter
    return pieces


def choose_fonts(text):
    """Choose font families for a text: the default, and a Chinese one if needed.

    Parameters
    ----------
    text : str
        All text of the figure.

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
    if preferred.get_charmap().keys() >= set(map(ord, text)):
        return families
    installed = set(font_manager.get_font_names())
    return families + [name for name in CHINESE_FONTS if name in installed]


def measure(text, families, size, weight):
    """Return the width of a line of text in points."""
    from matplotlib.font_manager import FontProperties
    from matplotlib.textpath import text_to_path

    font = FontProperties(family=families, size=size, weight=weight)
    with warnings.catch_warnings():
        # matplotlib warns about missing glyphs when it draws.
        warnings.simplefilter("ignore", UserWarning)
        size = text_to_path.get_text_width_height_descent(text, font, ismath=False)
    return HINTING * float(size[0])
