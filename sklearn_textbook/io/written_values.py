"""Values as the text of a file."""


def number_text(value):
    """Write a number without loss of precision, integers without a decimal point.

    Parameters
    ----------
    value : float
        The number.

    Returns
    -------
    text : str
        The shortest text of the number; "?" for NaN.

    Examples
    --------
    >>> from sklearn_textbook.io.written_values import number_text
    >>> number_text(2.0), number_text(0.1), number_text(float("nan"))
    ('2', '0.1', '?')
    """
    if value != value:
        return "?"
    return str(int(value)) if value.is_integer() and abs(value) < 1e15 else repr(value)
