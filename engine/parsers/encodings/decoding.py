"""Decode the bytes of a text file, and say whether they are text and how sure that is. Pure."""

from __future__ import annotations

import codecs
import re
from typing import NamedTuple

from engine.errors import CorruptFile
from engine.models import Omission
from engine.parsers.encodings.code_pages import detect_code_page
from engine.parsers.encodings.plausibility import is_of_one_script

# Longer markers first: UTF-32's begins with UTF-16's.
_BYTE_ORDER_MARKERS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
# The encoding that XML, HTML, CSS and source code declare in their first lines.
_DECLARED = re.compile(
    rb"\A\s{0,100}<\?xml[^>]{0,200}?\bencoding\s{0,9}=\s{0,9}[\"']([A-Za-z0-9_.:-]{2,40})"
    rb"|<meta[^>]{0,200}charset\s*=\s*[\"']?\s*([A-Za-z0-9_.:-]{2,40})"
    rb"|\A@charset\s{1,9}\"([A-Za-z0-9_.:-]{2,40})\""
    rb"|\A(?:[^\n]{0,200}\n)?[ \t]{0,40}[#;/*%-]{1,4}[^\n]{0,80}?coding[:=][ \t]{0,9}([A-Za-z0-9_.-]{2,40})",
    re.IGNORECASE,
)
_HEAD = 4096
_SAMPLE_SIZE = 64 * 1024
_ISO_2022 = re.compile(rb"\x1b(?:\$[@B(]|\([BIJ])")
# Calendars and contacts cut long lines by bytes, and so within characters.
_CONTENT_LINES = re.compile(rb"\A(?:\xef\xbb\xbf)?\s{0,9}BEGIN:V", re.IGNORECASE)
_FOLD_WITHIN = re.compile(rb"(?<=[\x80-\xff])\r?\n[ \t](?=[\x80-\xbf])")
_CONTROLS = re.compile(r"[\x00-\x08\x0e-\x1a\x1c-\x1f\x7f-\x9f\ufffd\ufffe\uffff\ue000-\uf8ff]")
# Data with more than one unprintable character in a hundred is not text.
_MAX_CONTROL_SHARE = 0.01
# UTF-8 in which at most this share of the characters beyond ASCII is damaged is still UTF-8.
_MAX_DAMAGED_SHARE = 0.1
_DAMAGED = "surrogateescape"
_ESCAPED = re.compile(r"[\udc80-\udcff]+")
_MISSING = "?"  # for bytes that stand for no character
_BINARY_HINT = "Rename it with the extension of its real format."


class DecodedText(NamedTuple):
    """A text, the name of its encoding, and what of it may be read wrong."""

    text: str
    encoding: str
    doubt: Omission | None = None


def decode_text(data: bytes) -> str:
    """Decode as `decode` does. Raises CorruptFile if the result is not text."""
    return decode(data).text


def decode(data: bytes) -> DecodedText:
    """Decode by the byte order mark, as UTF-8, as UTF-16 or -32, by what it declares, or by the likeliest code page.

    Raises CorruptFile if the result is not text.
    """
    decoded = _decode_bytes(_FOLD_WITHIN.sub(b"", data) if _CONTENT_LINES.match(data) else data)
    sample = decoded.text[:_SAMPLE_SIZE]
    if sample and len(_CONTROLS.findall(sample)) > _MAX_CONTROL_SHARE * len(sample):
        raise CorruptFile("The file holds binary data, not text.", hint=_BINARY_HINT)
    if "\ufffd" not in decoded.text or decoded.encoding == "utf-8":  # the file itself may have the character
        return decoded
    doubt = decoded.doubt or Omission("some bytes", f"they stand for no character of {decoded.encoding}")
    return DecodedText(decoded.text.replace("\ufffd", _MISSING), decoded.encoding, doubt)


def find_doubt(data: bytes) -> Omission | None:
    """What of a text file may be read wrong because its encoding is uncertain; None for binary data, too."""
    try:
        return decode(data).doubt
    except CorruptFile:
        return None


def _decode_bytes(data: bytes) -> DecodedText:
    for mark, name in _BYTE_ORDER_MARKERS:
        if data.startswith(mark):
            return DecodedText(data.decode(name, "replace"), name)
    if name := _detect_wide_encoding(data[:_SAMPLE_SIZE]):
        return DecodedText(data.decode(name, "replace"), name)
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        return _decode_declared(data) or _decode_damaged(data) or _decode_code_page(data)
    if _ISO_2022.search(data[:_SAMPLE_SIZE]):
        return DecodedText(data.decode("iso2022_jp_ext", "replace"), "iso2022_jp")
    return DecodedText(text, "utf-8")


def _decode_declared(data: bytes) -> DecodedText | None:
    """The text in the encoding that it declares, None if it declares none or another one than it has."""
    match = _DECLARED.search(data[:_HEAD])
    name = next((group for group in match.groups() if group), b"") if match else b""
    try:
        text = data.decode(name.decode("ascii")) if name else ""
    except (LookupError, UnicodeError, TypeError):
        return None
    return DecodedText(text, name.decode("ascii")) if text else None


def _decode_damaged(data: bytes) -> DecodedText | None:
    """UTF-8 with a few other bytes in it, which are read as Windows-1252; None if it is something else."""
    text = data.decode("utf-8", _DAMAGED)
    damaged = sum(len(escape) for escape in _ESCAPED.findall(text))
    whole = sum(character > "\x7f" for character in text) - damaged
    if damaged > _MAX_DAMAGED_SHARE * whole:
        return None
    repaired = _ESCAPED.sub(lambda match: _read_stray(match[0]), text)
    return DecodedText(repaired, "utf-8", Omission("some bytes", "they are not UTF-8 and were read as Windows-1252"))


def _read_stray(escaped: str) -> str:
    return escaped.encode("utf-8", _DAMAGED).decode("cp1252", "replace").replace("\ufffd", _MISSING)


def _decode_code_page(data: bytes) -> DecodedText:
    page = detect_code_page(data)
    if not page.is_text:
        raise CorruptFile("The file holds binary data or text in an unknown encoding.", hint=_BINARY_HINT)
    uncertain = Omission("characters beyond ASCII", f"their encoding is uncertain, and they were read as {page.name}")
    doubt = None if page.is_certain else uncertain
    return DecodedText(data.decode(page.name, "replace"), page.name, doubt)


def _detect_wide_encoding(sample: bytes) -> str:
    """The UTF-16 or UTF-32 encoding that the positions of the zero bytes show, or an empty string."""
    groups_of_four = len(sample) // 4
    if not groups_of_four or b"\0" not in sample:
        return ""
    zeros = [sample[place::4].count(0) / groups_of_four for place in range(4)]
    patterns = {
        "utf-32-le": zeros[2] + zeros[3] > 1.9 and zeros[0] < 0.1,
        "utf-32-be": zeros[0] + zeros[1] > 1.9 and zeros[3] < 0.1,
        "utf-16-le": zeros[1] + zeros[3] > 0.8 and zeros[0] + zeros[2] < 0.2,
        "utf-16-be": zeros[0] + zeros[2] > 0.8 and zeros[1] + zeros[3] < 0.2,
    }
    return next((name for name, fits in patterns.items() if fits), "") or _detect_utf16(sample)


def _detect_utf16(sample: bytes) -> str:
    """UTF-16 of a script whose characters have no zero bytes: only its spaces and line ends have some."""
    for name in ("utf-16-le", "utf-16-be"):
        try:
            text = sample[: len(sample) // 2 * 2].decode(name)
        except UnicodeDecodeError as error:
            if error.start < len(sample) - 2:
                continue
            text = sample[: error.start].decode(name)
        if is_of_one_script(text):
            return name
    return ""
