"""The play-tennis (golf, weather) tables of the literature on trees."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sklearn_textbook.datasets._table import (
    BookTable,
    check_choice,
    load_table,
    nominal_column,
    numeric_column,
)

if TYPE_CHECKING:
    from sklearn.utils import Bunch

_OUTLOOK = nominal_column("outlook", "sunny", "overcast", "rain")
_WINDY = nominal_column("windy", "true", "false")
_PLAY = nominal_column("play", "yes", "no")
_NOMINAL_COLUMNS = (
    _OUTLOOK,
    nominal_column("temperature", "hot", "mild", "cool"),
    nominal_column("humidity", "high", "normal"),
    _WINDY,
)
_NUMERIC_COLUMNS = (
    _OUTLOOK,
    numeric_column("temperature"),
    numeric_column("humidity"),
    _WINDY,
)
_DESCRIPTION = """\
Play tennis (打网球), {name}

Fourteen days described by outlook, temperature, humidity and wind; the class is
whether to play outside. Nine days yes, five no.

Source: {source}
"""
_TABLES = {
    version: BookTable(
        filename,
        columns,
        _PLAY,
        _DESCRIPTION.format(name=name, source=source),
        id_column="day",
    )
    for version, filename, columns, name, source in (
        (
            "nominal",
            "play_tennis_nominal.csv",
            _NOMINAL_COLUMNS,
            "all attributes nominal",
            "J. R. Quinlan, Induction of decision trees, Machine Learning 1, 1986.",
        ),
        (
            "golf",
            "golf_numeric_c45.csv",
            _NUMERIC_COLUMNS,
            "numeric temperature (degrees Fahrenheit) and humidity (percent)",
            "the golf data of C4.5 (J. R. Quinlan, 1993).",
        ),
        (
            "weka",
            "weather_numeric_weka.csv",
            _NUMERIC_COLUMNS,
            "numeric temperature (degrees Fahrenheit) and humidity (percent)",
            "the weather data of Weka, whose level rainy is called rain here.",
        ),
    )
}


def load_play_tennis(
    version: str = "nominal", *, return_X_y: bool = False, as_frame: bool = False
) -> Bunch | Any:
    """Load the play-tennis data set (打网球, classification).

    ==============   ============================================
    Classes          2 (yes, no)
    Samples          14
    Features         4, all nominal, or 2 nominal and 2 numeric
    Missing values   none
    ==============   ============================================

    Parameters
    ----------
    version : {"nominal", "golf", "weka"}, default="nominal"
        "nominal": Quinlan's table of 1986. "golf" and "weka": temperature and humidity
        are numeric, as in the golf data of C4.5 and in the weather data of Weka, which
        differ in the humidity of days 3 and 14.
    return_X_y : bool, default=False
        Whether to return ``(data, target)`` instead of a Bunch.
    as_frame : bool, default=False
        Whether to return pandas objects. Nominal columns are then categoricals.

    Returns
    -------
    data : :class:`~sklearn.utils.Bunch`
        With the entries ``data`` (array of objects or DataFrame of shape (14, 4)),
        ``target`` (the labels "yes" and "no"), ``feature_names``, ``target_names``,
        ``frame``, ``sample_ids`` (the day), ``DESCR``, ``filename`` and
        ``data_module``.

    (data, target) : tuple
        With ``return_X_y=True``.

    Raises
    ------
    ValueError
        If ``version`` is not one of these.
    ImportError
        If ``as_frame=True`` and pandas is not installed.

    References
    ----------
    J. R. Quinlan, Induction of decision trees, Machine Learning 1, 81-106, 1986.

    Examples
    --------
    >>> from sklearn_textbook.datasets import load_play_tennis
    >>> X, y = load_play_tennis("golf", return_X_y=True)
    >>> X[0].tolist(), str(y[0])
    (['sunny', 85.0, 85.0, 'false'], 'no')
    """
    check_choice("version", version, tuple(_TABLES))
    return load_table(
        _TABLES[version],
        language="en",
        return_X_y=return_X_y,
        as_frame=as_frame,
        function_name="load_play_tennis",
    )
