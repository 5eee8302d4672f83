"""Fonts, line breaks and colours of figures."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sklearn_textbook.tree.explain import lettering
from sklearn_textbook.tree.explain.colors import (
    NOTE_COLOR,
    class_colors,
    luminance,
    node_colors,
)
from sklearn_textbook.tree.explain.fitted import read_fitted
from sklearn_textbook.tree.explain.lettering import break_lines, choose_fonts, shorten
from tests.explain.builders import (
    TreeBuilder,
    make_estimator,
    make_schema,
)


def test_lines_break_at_spaces_and_long_names_are_cut():
    assert break_lines("worst concave points", 18) == ["worst concave", "points"]
    assert break_lines("od280/od315_of_diluted_wines", 18) == [
        "od280/od315_of_",
        "diluted_wines",
    ]
    assert break_lines("of aNameThatHasNoPlaceToBreak", 18) == [
        "of",
        "aNameThatHasNoPlaceToBreak",
    ]
    assert break_lines("Sepal.Length.Of.Flowers > 2.5", 18) == [
        "Sepal.Length.Of.",
        "Flowers > 2.5",
    ]
    assert break_lines("Machine-operator-inspector > -0.5", 18) == [
        "Machine-operator-",
        "inspector > -0.5",
    ]
    assert break_lines("number_1_aNameThatHasNoPlaceToBreakAtAll_1", 18) == [
        "number_1_",
        "aNameThatHasNoPla…akAtAll_",
        "1",
    ]
    assert break_lines("一二三四五六七八九十", 18) == ["一二三四五六七八九", "十"]
    assert break_lines("一二三四五六七八九，十", 18) == ["一二三四五六七八", "九，十"]
    assert break_lines("of aNameThatHasNoPlaceToBreak", 18, whole_words=False) == [
        "of",
        "aNameThatHasNoPlac",
        "eToBreak",
    ]
    # Words are broken only if they are longer than a line.
    assert break_lines("level_03, level_05, level_06", 18) == [
        "level_03,",
        "level_05, level_06",
    ]
    assert break_lines("> 2021-12-31T05:04:52", 18) == ["> 2021-12-31", "T05:04:52"]
    assert break_lines("+ Status(never_married: 2", 15) == [
        "+ Status(never_",
        "married: 2",
    ]
    assert break_lines("+ aNameAsLongAsALine", 18) == ["+ aNameAsLongAsALine"]
    assert break_lines("", 18) == [""]
    assert shorten("a very long name", 10) == "a very…"
    assert shorten("a very, very long name", 14) == "a very, very…"
    assert shorten("averylongname", 10) == "averylong…"
    assert shorten("short", 10) == "short"
    # A word that is shortened in its middle is not shortened again.
    assert (
        shorten("aNameThatHasNoPlaceToBreakAtAll", 40) == "aNameThatHasNoPla…eakAtAll"
    )


@given(st.lists(st.text("abcdefgh", min_size=1, max_size=26), min_size=1, max_size=9))
def test_words_are_never_broken(words):
    lines = break_lines(" ".join(words), 18)
    assert [word for line in lines for word in line.split()] == words
    assert all(len(line) <= 18 or " " not in line for line in lines)


def test_fonts_installed_after_matplotlib_made_its_list_are_found(monkeypatch):
    from matplotlib import font_manager

    path = next(e.fname for e in font_manager.fontManager.ttflist)
    added = []
    monkeypatch.setattr(font_manager, "findSystemFonts", lambda: [path, "new.ttf"])
    monkeypatch.setattr(font_manager, "get_font_names", lambda: [*added])
    new = type("Font", (), {"get_charmap": lambda self: {ord("色"): 1, ord("泽"): 2}})
    own_get_font = font_manager.get_font
    monkeypatch.setattr(
        font_manager,
        "get_font",
        lambda name: new() if name == "new.ttf" else own_get_font(name),
    )
    monkeypatch.setattr(
        font_manager.fontManager,
        "addfont",
        lambda name: added.append({"new.ttf": "SimHei"}[name]),
    )
    lettering._find_chinese_fonts.cache_clear()
    assert choose_fonts("a 色泽")[-1] == "SimHei"
    lettering._find_chinese_fonts.cache_clear()
    added.clear()
    assert "SimHei" not in choose_fonts("色泽稍")
    lettering._find_chinese_fonts.cache_clear()


def test_chinese_letters_get_a_font_that_has_them(monkeypatch):
    from matplotlib import font_manager, rcParams

    lettering._find_chinese_fonts.cache_clear()
    installed = ["DejaVu Sans", "SimHei"]
    monkeypatch.setattr(font_manager, "get_font_names", lambda: installed)
    own = list(rcParams["font.family"])
    assert choose_fonts("sepal length ≤ 2…") == own
    assert choose_fonts("色泽") == [*own, "SimHei"]
    lettering._find_chinese_fonts.cache_clear()


# -------------------------------------------------------------------- colours
# Machado, Oliveira, Fernandes 2009: what is seen without red or without green cones.
NO_RED = [[0.152, 1.053, -0.205], [0.115, 0.786, 0.099], [-0.004, -0.048, 1.052]]
NO_GREEN = [[0.367, 0.861, -0.228], [0.280, 0.673, 0.047], [-0.012, 0.043, 0.969]]


def to_lab(linear):
    to_xyz = [[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722]]
    to_xyz.append([0.0193, 0.1192, 0.9505])
    x, y, z = (linear @ np.array(to_xyz).T / [0.9505, 1.0, 1.0888]).T
    x, y, z = (
        np.where(t > 0.008856, np.cbrt(t), 7.787 * t + 4 / 29) for t in (x, y, z)
    )
    return np.stack([116 * y - 16, 500 * (x - y), 200 * (y - z)], axis=1)


def to_rgb(colors):
    return np.array([[int(c[i : i + 2], 16) for i in (1, 3, 5)] for c in colors]) / 255


@pytest.mark.parametrize("seen", [np.eye(3), NO_RED, NO_GREEN])
def test_colours_of_many_classes_can_be_told_apart(seen):
    rgb = to_rgb(class_colors(24))
    linear = np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)
    lab = to_lab(np.clip(linear @ np.array(seen).T, 0.0, 1.0))
    distance = np.linalg.norm(lab[:, None] - lab, axis=2)
    assert distance[~np.eye(24, dtype=bool)].min() > 16.0


def test_text_on_every_colour_is_readable():
    for number in range(30):
        builder = TreeBuilder([0])
        builder.add([float(n == number) for n in range(30)])
        estimator = make_estimator(builder.build(), make_schema(("x",)), np.arange(30))
        fill = luminance(to_rgb(node_colors(read_fitted(estimator))))[0]
        assert (fill + 0.05) / (luminance(to_rgb([NOTE_COLOR]))[0] + 0.05) >= 4.5
