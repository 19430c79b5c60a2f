"""Read what parser services reply: the Markdown of a file, by pages where they say which ones there are. Pure."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from engine.models import ConvertedDocument
from engine.parsers.converted.pages import PICTURE

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    Row = Mapping[str, Any]

PAGE_BREAK = "<!-- page-break -->"  # that docling is asked to write between pages
NO_TEXT = "it found no text"
MAX_PROBLEMS = 3  # that are named of those which a service lists
MAX_PAGES = 20_000
LEFT_OUT = frozenset({"header", "footer", "page_number", "discarded"})  # what pages repeat


def read_docling(reply: Row) -> ConvertedDocument:
    """The reply of docling-serve; it may be partial, with a list of errors. Raises KeyError, TypeError."""
    errors = [str(error.get("error_message", error)) for error in reply.get("errors") or []]
    problem = "; ".join(errors[:MAX_PROBLEMS])
    if reply.get("status") not in {"success", "partial_success"}:
        return ConvertedDocument(problem=problem or "it could not read the file")
    markdown = str(reply["document"].get("md_content") or "")
    pages = tuple(markdown.split(PAGE_BREAK)) if PAGE_BREAK in markdown else ()
    return _build(markdown.replace(PAGE_BREAK, ""), pages, problem)


def read_mineru(reply: Row) -> ConvertedDocument:
    """The reply of MinerU, which names the results by their files. Raises KeyError, TypeError, ValueError."""
    results = list(reply["results"].values())
    markdown = "\n\n".join(text for result in results if (text := str(result.get("md_content") or "")).strip())
    pages = tuple(_read_content_list(results[0].get("content_list"))) if len(results) == 1 else ()
    return _build(markdown, pages, "")


def _build(markdown: str, pages: tuple[str, ...], problem: str) -> ConvertedDocument:
    has_text = bool(markdown.strip())
    is_paged = has_text and any(map(str.strip, pages))
    return ConvertedDocument(markdown, problem or ("" if has_text else NO_TEXT), pages if is_paged else ())


def _read_content_list(found: object) -> Iterator[str]:
    """The Markdown of each page, from the blocks of MinerU, which are a list or its JSON; none if they say no pages."""
    try:
        rows = json.loads(found) if isinstance(found, str) else found
    except (ValueError, RecursionError):
        return
    pages: dict[int, list[str]] = {}
    for row in rows if isinstance(rows, list) else ():
        if isinstance(row, dict) and isinstance(number := row.get("page_idx"), int) and 0 <= number < MAX_PAGES:
            pages.setdefault(number, []).append(_render_block(row))
    for number in range(max(pages, default=-1) + 1):
        yield "\n\n".join(filter(None, pages.get(number, ())))


def _render_block(row: Row) -> str:
    """A block of a page in Markdown: a heading, a text, a list, a table as HTML, a formula, or what a picture shows."""
    kind = str(row.get("type") or "")
    if kind in LEFT_OUT:
        return ""
    level = row.get("text_level")
    text = str(row.get("text") or "").strip()
    if isinstance(level, int) and level > 0 and text:
        return f"{'#' * min(level, 6)} {text}"
    captions = (*_texts(row, "table_caption", "img_caption", "image_caption", "chart_caption", "code_caption"), text)
    notes = _texts(row, "table_footnote", "img_footnote", "image_footnote", "chart_footnote")
    items = [f"- {item}" for item in _texts(row, "list_items")]
    code = "\n".join(_texts(row, "code_body"))
    body = [*_texts(row, "table_body", "content"), "\n".join(items), f"```\n{code}\n```" if code else ""]
    words = [caption for caption in (*captions, *body, *notes) if caption.strip()]
    return "\n\n".join(words) if words else PICTURE if kind in {"image", "chart", "table"} else ""


def _texts(row: Row, *keys: str) -> list[str]:
    """The texts in these fields, each of which is one or a list."""
    return [text for key in keys for value in _as_list(row.get(key)) if (text := str(value).strip())]


def _as_list(value: object) -> Iterable[Any]:
    if isinstance(value, list):
        return [item for item in value if isinstance(item, str)]
    return [value] if isinstance(value, str) else []
