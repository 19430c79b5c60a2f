"""Join what a parser service made of a file with what only the readers of this program find in it. Pure.

A service reads the layout. The values of forms, notes, and files within the file are read here.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from engine.models import ConvertedDocument, Passage
    from engine.parsers.base import Omission, ParsedFile

ENDING = "mdpages"  # of the name of such a file
PAGE_END = "\f"
TYPED = re.compile(r"p\d+-n\d+")  # keys of forms and notes
ATTACHMENT = "attachment"  # how keys of files within a file, and their omissions, begin


def source_of(name: str, converted: ConvertedDocument) -> tuple[str, bytes] | None:
    """The name and bytes of what a service made of a file; None if it made nothing."""
    if converted.pages:
        return f"{name}.{ENDING}", PAGE_END.join(page.replace(PAGE_END, "\n") for page in converted.pages).encode()
    return (f"{name}.md", converted.markdown.encode()) if converted.markdown.strip() else None


def rename(title: str, source: str, name: str) -> str:
    """The title of a document, which begins with the name of the file in place of that of its source."""
    return name + title.removeprefix(source) if source != name and title.startswith(source) else title


@dataclass(slots=True)
class OwnFindings:
    """What the own readers found that a service does not give: forms, notes, files within the file."""

    passages: list[Passage] = field(default_factory=list)
    attachments: list[ParsedFile] = field(default_factory=list)
    omissions: dict[str, Omission] = field(default_factory=dict)

    def take(self, document: ParsedFile) -> None:
        """Keep what is needed of a document of the own readers; a later one has more of its omissions."""
        if document.key.startswith(ATTACHMENT):
            self.attachments.append(document)
            return
        known = {passage.key for passage in self.passages}
        self.passages += [
            passage for passage in document.passages if TYPED.fullmatch(passage.key) and passage.key not in known
        ]
        self.omissions |= {
            omission.part: omission for omission in document.omissions if omission.part.startswith(ATTACHMENT)
        }

    def add_to(self, document: ParsedFile) -> ParsedFile:
        """The document of the service with the findings, in the order of its pages."""
        passages = sorted((*document.passages, *self.passages), key=lambda each: each.position)
        omissions = (*document.omissions, *self.omissions.values())
        return replace(document, passages=tuple(passages), omissions=omissions)
