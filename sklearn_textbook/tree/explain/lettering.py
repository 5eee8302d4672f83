"""Text of figures: fonts, width and line breaks."""

from __future__ import annotations

import re
import warnings
from collections import Counter
from functools import lru_cache

from sklearn_textbook._contract.text_table import measure_width

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
    "Noto Sans CJK JP",
)
# Characters of scripts without spaces, between which lines may break, and marks that
# do not start a line.
WIDE = "\u2e80-\u9fff\uac00-\ud7af\uf900-\ufaff\uff00-\uffef"
NO_START = "\u3001\u3002\u300b\u300d\u300f\u3011\uff01\uff09\uff0c\uff1a\uff1b\uff1f"
#: Where words that are too long for a line may break: after separators, before the
#: time of day of a date, and between wide characters.
BREAKS = re.compile(
    rf"(?<=[ _/])|(?<=[^\W\d]-)|(?<=[^\W\d]\.)(?=\w)|(?<=-\d\d)(?=T\d\d:)"
    rf"|(?<=[{WIDE}])(?![{NO_START}])|(?<=\w)(?=[{WIDE}])(?![{NO_START}])"
)
SPACES = re.compile(r"(?<= )")
#: Maximum length of a word; longer ones lose their middle.
LONGEST_WORD = 26

# Maximum ratio of text widths on screen and in print.
HINTING = 1.04


def break_lines(text, width, *, whole_words: bool = True):
    """Break a text into lines of some width, after spaces if possible.

    A word longer than the width is broken after other separators. A part that is still
    longer has a line of its own, or, with ``whole_words=False``, is cut into several.
    """
    lines = [""]
    for word in SPACES.split(text):
        is_long = measure_width(word.rstrip()) > width
        for part in BREAKS.split(word) if is_long else [word]:
            pieces = [_shorten_word(part)] if whole_words else _cut_word(part, width)
            for piece in pieces:
                used = measure_width(lines[-1]) + measure_width(piece.rstrip())
                # A sign stays with what it belongs to.
                if used > width and lines[-1].strip() not in ("", "+", "-"):
                    lines.append("")
                lines[-1] += piece
    return [line.rstrip() for line in lines]


def shorten(text, width):
    """Shorten long words, and the text after a word if possible, with ellipses."""
    text = "".join(map(_shorten_word, BREAKS.split(text)))
    if len(text) <= width:
        return text
    start = text[: width - 1]
    whole = "".join(BREAKS.split(text[:width])[:-1]).rstrip(" _/,")
    return (whole or start.rstrip()) + "…"


def shorten_names(names, width):
    """Shorten names; those that would become equal lose their middle instead."""
    short = [shorten(name, width) for name in names]
    count = Counter(short)
    return [
        _cut_middle(name, width) if count[text] > 1 and len(name) > width else text
        for name, text in zip(names, short, strict=True)
    ]


def _cut_word(word, width):
    """Split a word that is longer than a width."""
    pieces = [""]
    for letter in word:
        if pieces[-1] and measure_width((pieces[-1] + letter).rstrip()) > width:
            pieces.append("")
        pieces[-1] += letter
    return pieces


def _shorten_word(word):
    """Replace the middle of a long word by an ellipsis; its ends distinguish it."""
    if len(word.rstrip()) <= LONGEST_WORD:
        return word
    return _cut_middle(word, LONGEST_WORD)


def _cut_middle(text, width):
    n_start = 2 * width // 3
    return text[:n_start] + "…" + text[n_start + 1 - width :]


def choose_fonts(text: str) -> list[str]:
    """Choose font families for a text: the default, and a Chinese one if needed."""
    from matplotlib import font_manager, rcParams

    families = list(rcParams["font.family"])
    if text.isascii():
        return families
    preferred = font_manager.get_font(
        font_manager.findfont(font_manager.FontProperties())
    )
    if preferred.get_charmap().keys() >= set(map(ord, text)):
        return families
    return families + list(_find_chinese_fonts(frozenset(map(ord, text))))


@lru_cache(maxsize=16)
def _find_chinese_fonts(letters):
    """List installed fonts for some letters, best first."""
    from matplotlib import font_manager

    installed = set(font_manager.get_font_names())
    if installed.isdisjoint(CHINESE_FONTS):
        _add_new_fonts(letters)
        installed = set(font_manager.get_font_names())
    return [name for name in CHINESE_FONTS if name in installed]


def _add_new_fonts(letters) -> None:
    """Add fonts with some letters that matplotlib's list of fonts does not have.

    The list is made once; fonts that are installed later are missing in it.
    """
    from matplotlib import font_manager

    known = {entry.fname for entry in font_manager.fontManager.ttflist}
    for path in sorted(set(font_manager.findSystemFonts()) - known):
        try:
            wide = {letter for letter in letters if letter > 0x2E80}
            if wide and font_manager.get_font(path).get_charmap().keys() >= wide:
                font_manager.fontManager.addfont(path)
        except (OSError, RuntimeError):  # files that are no fonts
            continue


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
