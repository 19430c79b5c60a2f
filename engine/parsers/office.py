"""Parse office formats through kreuzberg: Word, unusual Outlook e-mail."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING, Any

import kreuzberg

from engine.errors import CorruptFile, EncryptedFile, UnsupportedFormat
from engine.models import Omission
from engine.parsers.base import DAMAGED, ParsedFile
from engine.parsers.dates import first_stated, parse_date
from engine.parsers.formats.old_office.documents import build_beside, read_texts
from engine.parsers.formats.old_office.objects import read_embedded
from engine.parsers.formats.old_office.streams import read_saved_time
from engine.parsers.formats.openxml.part_names import (
    DOCUMENT,
    hide_references,
    prepare_text,
    show_references,
    with_usual_names,
)
from engine.parsers.formats.openxml.word import read_extras
from engine.parsers.formats.xml_tree import XmlArchive
from engine.parsers.passages import Block, find_first_heading, passages_by_section, render_table
from engine.parsers.sandbox.nesting import MAX_INDENTED_LEVELS, check_xml_depth
from engine.parsers.scans.document_pictures import list_docx_pictures

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from datetime import datetime

    from engine.models import Passage

# More threads would only reserve address space that counts against the memory limit.
_THREADS = 2


def parse(name: str, data: bytes, mime: str) -> ParsedFile:
    """Passages by heading, else by paragraphs; notes, comments, text boxes, headers and footers follow.

    Raises EncryptedFile or CorruptFile.
    """
    texts = read_texts(data)
    if texts.get(""):
        blocks, saved = [Block(text, at, at) for at, text in enumerate(texts[""], 1)], read_saved_time(data)
    else:
        result = extract_document(data, mime)
        blocks, saved = build_blocks(result), modified_time(result.metadata)
    passages = passages_by_section(blocks, "paragraph")
    files, unread = read_embedded(data)
    beside = build_beside(texts, len(passages))
    return ParsedFile(name, (*passages, *beside), saved_at=saved, attachments=files, omissions=unread)


def parse_mail(name: str, data: bytes, mime: str) -> ParsedFile:
    """An e-mail by paragraphs, dated by its own header. Raises EncryptedFile or CorruptFile."""
    result = extract_document(data, mime)
    return ParsedFile(name, _passages(result), modified_time(result.metadata))


def _passages(result: Any) -> tuple[Passage, ...]:
    return passages_by_section(build_blocks(result), "paragraph")


def parse_docx(name: str, data: bytes, mime: str) -> ParsedFile:
    """Passages by section; outside of headings labeled "paragraphs 3–7". Raises EncryptedFile or CorruptFile.

    Notes, comments, text boxes, charts, headers and what the library overlooks follow. If the library fails, the
    paragraphs are read alone.
    """
    data = prepare_text(with_usual_names(data, DOCUMENT))
    unread = check_parts(data)
    try:
        result = extract_document(hide_references(data), mime)
        blocks = [replace(block, text=show_references(block.text)) for block in build_blocks(result)]
        saved = modified_time(result.metadata)
    except CorruptFile:
        blocks, saved = [], None
    passages = passages_by_section(blocks, "paragraph")
    extras = read_extras(data, (block.text for block in blocks), len(passages))
    return ParsedFile(
        find_first_heading(blocks) or name,
        (*passages, *extras.passages),
        saved_at=saved,
        embedded=list_docx_pictures(data),
        attachments=extras.attachments,
        omissions=(*unread, *(omission for omission in extras.omissions if omission not in unread)),
    )


def check_parts(data: bytes) -> list[Omission]:
    """The parts of the archive that are damaged. Raises DocumentTooLarge if one is nested too deeply."""
    archive, damaged = XmlArchive(data), list[Omission]()
    for name in archive.names:
        if name.endswith(".xml"):
            try:
                check_xml_depth(archive.read(name))
            except CorruptFile:
                damaged.append(Omission(name.rpartition("/")[2], DAMAGED))
    return damaged


def extract_document(data: bytes, mime: str, *, pages: bool = False) -> Any:
    """Extract with kreuzberg, as pages or as a tree. Raises EncryptedFile, CorruptFile or UnsupportedFormat."""
    try:
        return kreuzberg.extract_bytes_sync(data, mime, config=_config(pages=pages))
    except kreuzberg.MissingDependencyError as error:
        raise UnsupportedFormat(f"This kind of file needs a program that is not installed: {error}") from error
    except (kreuzberg.KreuzbergError, RuntimeError) as error:
        if "password" in str(error).lower() or "encrypted" in str(error).lower():
            raise EncryptedFile("The file is locked with a password.") from error
        raise CorruptFile("The file is damaged, incomplete, or not in the format of its extension.") from error


@cache
def _config(*, pages: bool) -> Any:
    return kreuzberg.ExtractionConfig(
        use_cache=False,
        enable_quality_processing=False,
        disable_ocr=True,  # it would depend on language files that another program installed
        concurrency=kreuzberg.ConcurrencyConfig(max_threads=_THREADS),
        pages=kreuzberg.PageConfig(extract_pages=True) if pages else None,
        include_document_structure=not pages,
    )


def modified_time(metadata: Mapping[str, Any]) -> datetime | None:
    """The time of the last change in the metadata, else of creation; default times of programs are ignored."""
    times = (parse_date(str(metadata.get(field) or "")) for field in ("modified_at", "created_at"))
    return first_stated(times)


def build_blocks(result: Any) -> list[Block]:
    """The document's tree in reading order, as blocks numbered from 1."""
    nodes = list((result.document or {}).get("nodes", ()))
    blocks: list[Block] = []
    for node in nodes:
        for text, block_type, level in _node_parts(node, nodes):
            if text.strip():
                number = len(blocks) + 1
                blocks.append(Block(text, number, number, block_type, level))
    return blocks


def _node_parts(node: Mapping[str, Any], nodes: list[Any]) -> Iterator[tuple[str, Any, int]]:
    content = node["content"]
    text = _append_links(str(content.get("text") or ""), node.get("annotations") or ())
    match content["node_type"]:
        case "title" | "heading":
            yield text, "heading", int(content.get("level") or 1)
        case "list_item":
            yield "  " * _list_depth(node, nodes) + "- " + text, "item", 0
        case "table":
            yield _render_table(content["grid"]["cells"]), "table", 0
        case "code":
            yield text, "code", 0
        case "metadata_block":
            yield from ((f"{name}: {value}", "item", 0) for name, value in content.get("entries", ()))
        case "image" | "group" | "list" | "page_break" | "slide":
            pass
        case _:
            yield text, "text", 0


def _list_depth(node: Mapping[str, Any], nodes: list[Any]) -> int:
    """The number of lists around the item's own list, as far as it is indented."""
    depth = -1
    while depth < MAX_INDENTED_LEVELS and (parent := node.get("parent")) is not None:
        node = nodes[parent]
        depth += node["content"]["node_type"] == "list"
    return max(depth, 0)


def _render_table(cells: Iterable[Mapping[str, Any]]) -> str:
    rows: dict[int, list[str]] = {}
    for cell in cells:
        rows.setdefault(cell["row"], []).append(str(cell["content"]))
    return render_table(row for _, row in sorted(rows.items()))


def _append_links(text: str, annotations: Iterable[Mapping[str, Any]]) -> str:
    """Insert addresses after the words that they are linked to. Offsets are UTF-8 bytes."""
    data = text.encode()
    links = [(mark["end"], mark["kind"].get("url") or "") for mark in annotations if "url" in mark.get("kind", {})]
    for end, written in sorted(links, reverse=True):
        address = written.replace("&amp;", "&")  # the library gives it as it is written in XML
        present = show_references(data.decode("utf-8", "replace"))
        if address.startswith(("http://", "https://")) and address not in present:
            data = data[:end] + f" ({address})".encode() + data[end:]
    return data.decode("utf-8", "replace")
