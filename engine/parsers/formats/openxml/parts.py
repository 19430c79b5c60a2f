"""Read parts of an archive one by one: what is damaged is left out and named. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from engine.errors import InvalidDocument
from engine.models import Omission
from engine.parsers.base import ABSENT, DAMAGED
from engine.parsers.formats.xml_tree import attribute, find_all, local_name, resolve_path

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from xml.etree.ElementTree import Element

    from engine.parsers.formats.xml_tree import XmlArchive


class PartRelation(NamedTuple):
    """What one part refers to: the id, the last word of the type ("chart", "comments"), and the part."""

    id: str
    type: str
    target: str


class PartReader:
    """Reads parts; `omissions` are those that could not be read."""

    def __init__(self, archive: XmlArchive) -> None:
        self.archive = archive
        self.omissions: list[Omission] = []
        self._error: InvalidDocument | None = None

    def read(self, part: str, label: str) -> Element | None:
        """The tree of a part without what repeats it for older programs; None, and an omission, if there is none."""
        if part not in self.archive.names:
            self.omissions.append(Omission(label, ABSENT))
            return None
        try:
            root = self.archive.parse(part)
        except InvalidDocument as error:
            self._error = self._error or error
            self.omissions.append(Omission(label, DAMAGED))
            return None
        if root is not None:
            drop_fallbacks(root)
        return root

    def relations(self, part: str) -> list[PartRelation]:
        """What a part refers to within the archive."""
        folder, _, file = part.rpartition("/")
        name = f"{folder}/_rels/{file}.rels".lstrip("/")
        root = self.read(name, f"references of {file}") if name in self.archive.names else None
        return [
            PartRelation(
                attribute(element, "Id"),
                attribute(element, "Type").rpartition("/")[2] or _guess_type(attribute(element, "Target")),
                resolve_path(part, attribute(element, "Target")),
            )
            for element in find_all(root, "Relationship")
            if attribute(element, "TargetMode") != "External"
        ]

    def raise_if_empty(self, content: Sequence[object]) -> None:
        """Raise the first error if nothing at all could be read."""
        if not content and self._error is not None:
            raise self._error


def _guess_type(target: str) -> str:
    """The type of a relation that states none, by the name of its part: "notesSlide" of notesSlide3.xml."""
    return target.rpartition("/")[2].partition(".")[0].rstrip("0123456789")


def drop_fallbacks(root: Element) -> None:
    """Keep one of the alternatives of each place: newer programs show the first, older ones the last."""
    for parent in root.iter():
        if local_name(parent) == "AlternateContent":
            choices = [child for child in parent if local_name(child) == "Choice" and "".join(child.itertext()).strip()]
            for child in list(parent):
                if choices and child is not choices[0]:
                    parent.remove(child)


def paragraphs_of(element: Element | None) -> Iterator[str]:
    """The texts of the paragraphs of DrawingML below an element."""
    for paragraph in find_all(element, "p"):
        text = run_text(paragraph)
        if text:
            yield text


def run_text(element: Element) -> str:
    """The text of the runs below an element on one line."""
    pieces = (node.text or "" if local_name(node) == "t" else " " for node in element.iter() if is_text(node))
    return " ".join("".join(pieces).split())


def is_text(element: Element) -> bool:
    """Whether an element is a run's text or a break."""
    return local_name(element) in {"t", "br", "cr", "tab"}
