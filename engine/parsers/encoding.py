"""Which characters the bytes of a text file stand for. Pure."""

from __future__ import annotations

import codecs
import re

from engine.errors import Broken

# The longer marks first: UTF-32's begins with UTF-16's.
_MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_CONTROLS = re.compile(r"[\x00-\x08\x0e-\x1a\x1c-\x1f\x7f-\x9f\ufffd\ufffe\uffff\ue000-\uf8ff]")
_SAMPLE = 64 * 1024
# More than one unprintable character in a hundred is no text.
_JUNK_SHARE = 0.01
# In a language of Latin letters at most a quarter of the bytes lie beyond ASCII.
_LATIN_SHARE = 0.25


def decode(data: bytes) -> str:
    """The text, by its byte order mark, as UTF-8, UTF-16 or -32 without a mark, or in the likeliest old code page.

    Raises Broken if what comes out is no text.
    """
    text = _decoded(data)
    sample = text[:_SAMPLE]
    if sample and len(_CONTROLS.findall(sample)) > _JUNK_SHARE * len(sample):
        raise Broken("The file holds binary data, not text.", hint="Give it the ending of its real format.")
    return text


def _decoded(data: bytes) -> str:
    for mark, name in _MARKS:
        if data.startswith(mark):
            return data.decode(name, "replace")
    if name := _wide(data[:_SAMPLE]):
        return data.decode(name, "replace")
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        return data.decode(_code_page(data[:_SAMPLE]), "replace")


def _wide(sample: bytes) -> str:
    """The wide encoding which the places of the zero bytes betray, or nothing."""
    whole = len(sample) // 4
    if not whole or b"\0" not in sample:
        return ""
    zeros = [sample[place::4].count(0) / whole for place in range(4)]
    patterns = {
        "utf-32-le": zeros[2] + zeros[3] > 1.9 and zeros[0] < 0.1,
        "utf-32-be": zeros[0] + zeros[1] > 1.9 and zeros[3] < 0.1,
        "utf-16-le": zeros[1] + zeros[3] > 0.8 and zeros[0] + zeros[2] < 0.2,
        "utf-16-be": zeros[0] + zeros[2] > 0.8 and zeros[1] + zeros[3] < 0.2,
    }
    return next((name for name, fits in patterns.items() if fits), "")


def _code_page(sample: bytes) -> str:
    """Windows-1252 where few bytes lie beyond ASCII; for other scripts the guess of charset-normalizer."""
    beyond = sum(byte > 127 for byte in sample)
    if beyond <= _LATIN_SHARE * len(sample):
        return "cp1252"
    import charset_normalizer  # noqa: PLC0415  - loads slowly and is seldom needed

    best = charset_normalizer.from_bytes(sample).best()
    return best.encoding if best else "cp1252"
