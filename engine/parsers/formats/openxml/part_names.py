"""Give the parts of an Office file their usual names: some programs choose others, which few libraries find. Pure."""

from __future__ import annotations

import html
import re
import zipfile
from io import BytesIO
from typing import TYPE_CHECKING

from engine.errors import CorruptFile
from engine.parsers.base import ZIP_ERRORS
from engine.parsers.formats.openxml.parts import PartReader
from engine.parsers.formats.xml_tree import XmlArchive

if TYPE_CHECKING:
    from collections.abc import Mapping

WORKBOOK, DOCUMENT = "xl/workbook.xml", "word/document.xml"
_TYPES = "[Content_Types].xml"
_USUAL = {"sharedStrings": "sharedStrings.xml", "styles": "styles.xml"}  # by the type of the relation
_TAB, _TAB_AS_TEXT = b"<w:tab/>", b'<w:t xml:space="preserve">\t</w:t>'
_TEXT_PART = re.compile(r"word/(?:document|footnotes|endnotes|comments|header\d{0,9}|footer\d{0,9})\.xml")
_NUMBERED = re.compile(rb"&#(?:[0-9]{1,7}|x[0-9A-Fa-f]{1,6});")
_PIECE = 1 << 16  # bytes, up to the next reference
_ENCODING = re.compile(rb"<\?xml[^>]{0,80}encoding=[\"'](?!utf-8)", re.IGNORECASE)
_PRIVATE = 0x10FF00  # private characters that no font uses, one for each of ASCII
_HIDDEN = re.compile(f"[{chr(_PRIVATE)}-{chr(_PRIVATE + 0x7F)}]")
_NAMED = {b"&amp;": "&", b"&lt;": "<", b"&gt;": ">", b"&quot;": '"', b"&apos;": "'"}
_PACKED = re.compile(r"\.(?:png|jpe?g|gif|tiff?|webp|emf|wmf|docx|xlsx|pptx|zip|mp4|bin)\Z", re.IGNORECASE)
_MOVED = re.compile(rb"<(\w{1,20}:)?moveFrom(?:\s[^<>]*)?(?<!/)>")


def with_usual_names(data: bytes, usual: str = WORKBOOK) -> bytes:
    """The file as it is if its main part is the `usual` one, else with the usual names. Raises CorruptFile."""
    archive = XmlArchive(data)
    names = {name: name.replace("\\", "/") for name in archive.names}
    names |= {name: _TYPES for name in names if name.lower() == _TYPES.lower()}
    if names != {name: name for name in names}:
        data = _repack(archive, names, {})
        archive = XmlArchive(data)
    parts = PartReader(archive)
    main = next((relation.target for relation in parts.relations("") if relation.type == "officeDocument"), usual)
    if main not in archive.names:
        return data
    return _move(archive, main, usual) or data


def prepare_text(data: bytes) -> bytes:
    """A Word file with tabs as text, which the library would leave out, and without what its author moved elsewhere.

    Raises CorruptFile.
    """
    archive = XmlArchive(data)
    text = archive.read(DOCUMENT) if DOCUMENT in archive.names else b""
    left = _drop_moved(text).replace(_TAB, _TAB_AS_TEXT)
    return data if left == text else _repack(archive, {name: name for name in archive.names}, {}, {DOCUMENT: left})


def hide_references(data: bytes) -> bytes:
    """A Word file with private characters for "&amp;" and the like, which the library would leave out.

    `show_references` gives the characters back. Raises CorruptFile.
    """
    archive = XmlArchive(data)
    texts = {name: archive.read(name) for name in archive.names if _TEXT_PART.fullmatch(name)}
    changed = {name: _hide(text) for name, text in texts.items() if b"&" in text and not _ENCODING.match(text)}
    return _repack(archive, {name: name for name in archive.names}, {}, changed) if changed else data


def _hide(text: bytes) -> bytes:
    for reference, character in _NAMED.items():
        text = text.replace(reference, chr(_PRIVATE + ord(character)).encode())
    if b"&#" not in text:
        return text
    hidden = BytesIO()  # in pieces, as a list of all references takes many times the memory of the text
    at = 0
    while at < len(text):
        end = text.find(b"&", at + _PIECE)
        end = len(text) if end < 0 else end
        hidden.write(_NUMBERED.sub(_hide_numbered, text[at:end]))
        at = end
    return hidden.getvalue()


def _hide_numbered(reference: re.Match[bytes]) -> bytes:
    character = html.unescape(reference[0].decode("ascii"))
    if len(character) != 1 or "\ud800" <= character <= "\udfff":
        return reference[0]
    if character.isspace() and character < "\x80":
        return b" "
    return (chr(_PRIVATE + ord(character)) if character < "\x80" else character).encode()


def show_references(text: str) -> str:
    """The text with the characters that `hide_references` hid."""
    return _HIDDEN.sub(lambda match: chr(ord(match[0]) - _PRIVATE), text)


def _drop_moved(text: bytes) -> bytes:
    pieces, at = list[bytes](), 0
    for match in _MOVED.finditer(text):
        end_tag = b"</" + (match[1] or b"") + b"moveFrom>"
        end = text.find(end_tag, match.end()) if match.start() >= at else at
        if end < 0:
            break
        if end > at:
            pieces.append(text[at : match.start()])
            at = end + len(end_tag)
    return b"".join([*pieces, text[at:]]) if pieces else text


def _move(archive: XmlArchive, main: str, usual: str) -> bytes:
    """The archive with usual names; nothing if they are."""
    folder, _, file = main.rpartition("/")
    new_folder, _, new_file = usual.rpartition("/")
    prefix = f"{folder}/" if folder else ""
    moved = {
        name: f"{new_folder}/" + name.removeprefix(prefix).replace(file, new_file)
        for name in archive.names
        if name.startswith(prefix) and (prefix or name not in {_TYPES, "_rels/.rels"})
    }
    changes = {f'"/{main}"': f'"/{usual}"', f'"{main}"': f'"{usual}"'}
    for relation in PartReader(archive).relations(main):
        if (name := _USUAL.get(relation.type, "")) and relation.target in moved:
            moved[relation.target] = f"{new_folder}/{name}"
            changes |= {f'"{relation.target.removeprefix(prefix)}"': f'"{name}"'}
            changes |= {f'"/{relation.target}"': f'"/{new_folder}/{name}"'}
    if all(before == after for before, after in moved.items()):
        return b""
    changes[f'"/{prefix}'] = f'"/{new_folder}/'
    return _repack(archive, {name: moved.get(name, name) for name in archive.names}, changes)


def _repack(
    archive: XmlArchive,
    names: Mapping[str, str],
    changes: Mapping[str, str],
    contents: Mapping[str, bytes] | None = None,
) -> bytes:
    """The archive with other names and `contents`; `changes` are made in what refers to parts."""
    target = BytesIO()
    try:
        with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as file:
            for before, after in sorted(names.items()):
                if before.endswith(("/", "\\")):
                    continue
                content = (contents or {}).get(before) or archive.read(before)
                if after == _TYPES or after.endswith(".rels"):
                    for old, new in changes.items():
                        content = content.replace(old.encode(), new.encode())
                file.writestr(after, content, zipfile.ZIP_STORED if _PACKED.search(after) else None)
    except ZIP_ERRORS as error:
        raise CorruptFile("The file is damaged or incomplete.") from error
    return target.getvalue()
