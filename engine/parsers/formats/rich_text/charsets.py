"""The encodings of RTF: by the charset of a font, else the code page of the document, else the language. Pure."""

from __future__ import annotations

import codecs
import re
import unicodedata

_BY_CHARSET = {
    77: "mac_roman",
    78: "cp932",
    79: "cp949",
    80: "cp936",
    81: "cp950",
    83: "mac_greek",
    89: "mac_cyrillic",
    128: "cp932",
    129: "cp949",
    130: "johab",
    134: "gb18030",
    136: "cp950",
    161: "cp1253",
    162: "cp1254",
    163: "cp1258",
    177: "cp1255",
    178: "cp1256",
    179: "cp1256",
    186: "cp1257",
    204: "cp1251",
    222: "cp874",
    238: "cp1250",
    254: "cp437",
    255: "cp850",
}
SYMBOL = 2  # a charset of signs without characters
# The languages of other alphabets by the lower ten bits of their number.
_BY_LANGUAGE = {
    **dict.fromkeys((0x19, 0x22, 0x23, 0x02, 0x2F, 0x1C0), "cp1251"),
    **dict.fromkeys((0x05, 0x0E, 0x15, 0x18, 0x1A, 0x1B, 0x24), "cp1250"),
    **dict.fromkeys((0x25, 0x26, 0x27), "cp1257"),
    0x01: "cp1256",
    0x04: "gb18030",
    0x08: "cp1253",
    0x0D: "cp1255",
    0x11: "cp932",
    0x12: "cp949",
    0x1E: "cp874",
    0x1F: "cp1254",
    0x2A: "cp1258",
}
_GUESSED = ("cp1251", "cp1253", "cp1255", "cp1256", "cp932", "gb18030", "cp950", "cp949", "koi8_r")
_SAMPLE, _MOSTLY = 20_000, 0.5
# Words of nothing but accented letters do not occur in Western languages.
_STRANGE = re.compile(rb"[\xc0-\xff]{3,}")
_MIN_STRANGE = 3


def name_of_code_page(number: int) -> str:
    """The name of the codec of a Windows code page, an empty string if it is unknown."""
    special = {65001: "utf-8", 10000: "mac_roman", 10007: "mac_cyrillic", 936: "gb18030", 1361: "johab"}
    name = special.get(number, f"cp{number}")
    try:
        return codecs.lookup(name).name
    except LookupError:
        return ""


def name_of_charset(charset: int) -> str:
    """The codec for the charset of a font; an empty string for the document's own."""
    return _BY_CHARSET.get(charset, "")


def name_of_language(language: int) -> str:
    """The codec that programs used for a language; an empty string for Western ones and unknown ones."""
    return _BY_LANGUAGE.get(language & 0x3FF, "")


def is_strange(data: bytes) -> bool:
    """Whether characters that are declared to be Western are those of another alphabet."""
    return len(_STRANGE.findall(data)) >= _MIN_STRANGE and _share_high(data) > _MOSTLY


def guess_codec(data: bytes) -> str:
    """The codec in which bytes make the most sense as a text, an empty string if none does."""
    import charset_normalizer  # noqa: PLC0415  - few files declare a wrong encoding

    best = charset_normalizer.from_bytes(data[:_SAMPLE], cp_isolation=list(_GUESSED)).best()
    return best.encoding if best is not None else ""


def _share_high(data: bytes) -> float:
    letters = [byte for byte in data if byte > 127 or chr(byte).isalpha()]
    return sum(byte > 127 for byte in letters) / max(1, len(letters))


def decode(data: bytes, codec: str) -> str:
    """The text of bytes; what the codec does not know becomes the replacement character."""
    text = data.decode(codec or "cp1252", "replace")
    return unicodedata.normalize("NFC", text) if codec == "cp1258" else text  # which has accents as signs of their own
