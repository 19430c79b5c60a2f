"""The text within a paragraph of an OpenDocument file. Pure."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from engine.parsers.formats.xml_tree import attribute, find_all, local_name
from engine.text.cleanup import clean_single_line

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element

# Elements that hold no text of their place: it was deleted, or it is shown elsewhere.
SKIPPED = frozenset(
    (
        *("tracked-changes", "annotation-end", "forms", "sequence-decls", "variable-decls", "user-field-decls"),
        *(
            "ruby-text",
            "bookmark",
            "soft-page-break",
            "index-title-template",
            "table-of-content-source",
            "event-listeners",
        ),
    )
)
_MAX_SPACES = 100


@dataclass(slots=True)
class Inline:
    """The text of a paragraph, and what is anchored in it: notes with their marks, comments, frames."""

    text: str = ""
    notes: list[Element] = field(default_factory=list)
    frames: list[Element] = field(default_factory=list)


def read_inline(element: Element) -> Inline:
    """The text of a paragraph or heading without that of notes, comments and frames."""
    found, pieces = Inline(), list[str]()
    _walk(element, pieces, found)
    found.text = "\n".join(filter(None, (" ".join(line.split()) for line in "".join(pieces).split("\n"))))
    return found


def read_paragraphs(note: Element) -> str:
    """The paragraphs of a note or comment in one line."""
    return " ".join(read_inline(element).text for element in find_all(note, "p"))


def read_comment(note: Element) -> str:
    """A comment with its author; empty if it has no words."""
    author = "".join(element.text or "" for element in find_all(note, "creator"))
    text = read_paragraphs(note)
    return text and f"Comment{f' by {author}' if author else ''}: {text}"


def _walk(element: Element, pieces: list[str], found: Inline) -> None:
    pieces.append(element.text or "")
    for child in element:
        name = local_name(child)
        match name:
            case "s":
                pieces.append(" " * min(_number(attribute(child, "c")), _MAX_SPACES))
            case "tab":
                pieces.append("\t")
            case "line-break":
                pieces.append("\n")
            case "note" | "annotation":
                found.notes.append(child)
                mark = next(find_all(child, "note-citation"), None)
                pieces.append(f"[{clean_single_line(mark.text or '')}]" if mark is not None and mark.text else "")
            case "frame" | "custom-shape" | "g" | "rect" | "control" | "line" | "ellipse" | "polygon" | "path":
                found.frames.append(child)
            case "a":
                _walk(child, pieces, found)
                pieces.append(_link_target(child))
            case _ if name not in SKIPPED:
                _walk(child, pieces, found)
        pieces.append(child.tail or "")


def _link_target(link: Element) -> str:
    target = attribute(link, "href")
    is_shown = target in "".join(link.itertext())
    return f" ({target})" if target.startswith(("http://", "https://")) and not is_shown else ""


def _number(text: str) -> int:
    return int(text) if text.isascii() and text.isdigit() and len(text) < 6 else 1
