"""Decode pages whose encoding only the server names. Pure."""

from __future__ import annotations

import codecs

# Encodings of web pages besides Unicode, as Python names them. Others may decode slowly or are no encodings of text.
_PREFIXES = ("iso8859", "iso2022", "cp", "koi8", "gb", "big5", "euc", "shift_jis", "tis", "mac")


def to_utf8(data: bytes, charset: str) -> bytes:
    """The page in UTF-8 if `charset` is another encoding and fits; else unchanged, because its parser decides."""
    try:
        data.decode("utf-8")
    except UnicodeDecodeError:
        pass
    else:
        return data
    try:
        name = codecs.lookup(charset).name if charset.isascii() else ""
        name = "cp1252" if name == "iso8859-1" else name  # as browsers do
        return data.decode(name).encode() if name.startswith(_PREFIXES) else data
    except (LookupError, ValueError):
        return data
