"""Detecting the encoding of a text table, and converting it to UTF-8."""

import codecs

from sklearn_textbook.io.table_file import TableFileError

_UTF8_MARK = codecs.BOM_UTF8
_UTF16_MARKS = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
_CHUNK = 1 << 20

# First bytes of files that are not text tables.
_FOREIGN_FORMATS = (
    (b"PK\x03\x04", "an Excel workbook or a zip archive"),
    (b"\xd0\xcf\x11\xe0", "an old Excel workbook"),
    (b"%PDF", "a PDF document"),
    (b"SQLite format 3", "an SQLite database"),
    (b"\x80\x04\x95", "a Python pickle"),
    (b"\x80\x05\x95", "a Python pickle"),
    (b"ARROW1", "an Arrow file"),
)


def decode_to_utf8(
    data: bytes, path: str, encoding: str | None = None
) -> tuple[bytes, str]:
    """Return the text of a file as UTF-8 without a byte order mark.

    If no encoding is given, UTF-8 (with or without a byte order mark) and UTF-16 with
    one are detected; other bytes are decoded as GB18030 if the result looks like
    Chinese, that is if at least nine in ten of the non-ASCII characters are in the
    smaller set GB2312. Western encodings cannot be distinguished by their bytes and
    must be given.
    """
    if encoding is not None:
        return _decode_named(data, path, encoding)
    for mark in _UTF16_MARKS:
        if data.startswith(mark):
            return _decode_named(data, path, "utf-16")
    _refuse_foreign_format(data, path)
    text = data.removeprefix(_UTF8_MARK)
    bad = find_undecodable(text, "utf-8")
    if bad is None:
        return text, "UTF-8"
    if _reads_as_chinese(data):
        return data.decode("gb18030").encode(), "GB18030"
    raise TableFileError(
        f"byte 0x{text[bad]:02X} is not UTF-8",
        path=path,
        line=text.count(b"\n", 0, bad) + 1,
        remedy="set the encoding of the file, e.g. --encoding gb18030 or latin-1",
    )


def find_undecodable(data: bytes, encoding: str) -> int | None:
    """Find the first byte that is not text in an encoding."""
    decoder = codecs.getincrementaldecoder(encoding)()
    held = 0
    for start in range(0, max(len(data), 1), _CHUNK):
        stop = start + _CHUNK
        try:
            decoder.decode(data[start:stop], final=stop >= len(data))
        except UnicodeDecodeError as error:
            # This piece begins with the undecoded bytes of the previous one.
            return max(start - held + error.start, 0)
        held = len(decoder.getstate()[0])
    return None


def _decode_named(data, path, encoding):
    try:
        text = data.decode(encoding).removeprefix("\ufeff").encode()
    except UnicodeDecodeError as error:
        raise TableFileError(
            f"byte 0x{data[error.start]:02X} is not {encoding}",
            path=path,
            line=data.count(b"\n", 0, error.start) + 1,
            remedy="set the encoding of the file with --encoding",
        ) from None
    except UnicodeError:  # of codecs that do not say where, and of halves of characters
        raise TableFileError(
            f"is not {encoding}",
            path=path,
            remedy="set the encoding of the file with --encoding",
        ) from None
    except (LookupError, ValueError):
        raise TableFileError(
            f"unknown encoding {encoding!r}",
            path=path,
            remedy="use an encoding of Python, e.g. utf-8, gb18030, latin-1, cp1252",
        ) from None
    return text, encoding.upper()


def _refuse_foreign_format(data, path) -> None:
    for mark, what in _FOREIGN_FORMATS:
        if data.startswith(mark):
            raise TableFileError(
                f"is {what}, not a text table",
                path=path,
                remedy="save it as csv, Parquet (.parquet) or ARFF (.arff)",
            )
    if b"\0" in data[:_CHUNK]:
        raise TableFileError(
            "is not a text table (it contains a zero byte)",
            path=path,
            line=data.count(b"\n", 0, data.index(b"\0")) + 1,
            remedy="use a csv, tsv, Parquet or ARFF file",
        )


def _reads_as_chinese(data):
    """Whether the bytes are GB18030 and most of their characters are common ones."""
    if find_undecodable(data, "gb18030") is not None:
        return False
    characters = [c for c in data[:_CHUNK].decode("gb18030", "ignore") if c > "\x7f"]
    known = len("".join(characters).encode("gb2312", "ignore")) // 2
    return known >= 0.9 * len(characters)
