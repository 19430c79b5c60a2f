"""Decode the bytes of a text file. Pure."""

from __future__ import annotations

import codecs
import re

from engine.errors import CorruptFile

# Longer markers first: UTF-32's begins with UTF-16's.
_BYTE_ORDER_MARKERS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_CONTROLS = re.compile(r"[\x00-\x08\x0e-\x1a\x1c-\x1f\x7f-\x9f\ufffd\ufffe\uffff\ue000-\uf8ff]")
_SAMPLE_SIZE = 64 * 1024
# Data with more than one unprintable character in a hundred is not text.
_MAX_CONTROL_SHARE = 0.01
# In a language of Latin letters at most a quarter of the bytes are beyond ASCII.
_MAX_LATIN_SHARE = 0.25


def decode_text(data: bytes) -> str:
    """Decode by the byte order mark, as UTF-8, as UTF-16 or -32 without a mark, or by the most likely code page.

    Raises CorruptFile if the result is not text.
    """
    text = _decode_bytes(data)
    sample = text[:_SAMPLE_SIZE]
    if sample and len(_CONTROLS.findall(sample)) > _MAX_CONTROL_SHARE * len(sample):
        raise CorruptFile(
            "The file holds binary data, not text.", hint="Rename it with the extension of its real format."
        )
    return text


def _decode_bytes(data: bytes) -> str:
    for mark, name in _BYTE_ORDER_MARKERS:
        if data.startswith(mark):
            return data.decode(name, "replace")
    if name := _detect_wide_encoding(data[:_SAMPLE_SIZE]):
        return data.decode(name, "replace")
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        return data.decode(_detect_code_page(data[:_SAMPLE_SIZE]), "replace")


def _detect_wide_encoding(sample: bytes) -> str:
    """The UTF-16 or UTF-32 encoding that the positions of the zero bytes show, or an empty string."""
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


def _detect_code_page(sample: bytes) -> str:
    """Windows-1252 if few bytes are beyond ASCII; otherwise the guess of charset-normalizer."""
    beyond = sum(byte > 127 for byte in sample)
    if beyond <= _MAX_LATIN_SHARE * len(sample):
        return "cp1252"
    import charset_normalizer  # noqa: PLC0415  - loads slowly and is rarely needed

    best = charset_normalizer.from_bytes(sample).best()
    return best.encoding if best else "cp1252"
