"""What of a file was not read, and which files were not, in a sentence."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from bot.i18n import N_, gettext, ngettext
from bot.text.format import format_number, pluralize
from bot.text.markdown import sanitize_inline
from engine.parsers.base import NO_OCR, SIGNATURE, WITHOUT_WORDS

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from engine import DocumentInfo, DocumentStatus
    from engine.models import Omission


MAX_NAMED = 5
REASONS = (
    N_("it cannot be read, or is damaged"),
    N_("it is data, not text"),
    N_("it is encrypted"),
    N_("it is a signature"),
    N_("it holds a picture"),
    N_("it is a recording or a video"),
    N_("it is an object of another program"),
    N_("it is missing from the file"),
    N_("it is not a sheet of cells"),
    N_("it lies too deep within other files"),
    N_("I can't read pictures here"),
    N_("only its text layer is read, not its picture"),
    N_("only the cells of a binary workbook are read"),
    N_("it could not be decoded"),
    N_("the pictures before hold no words"),
    N_("there are too many to list"),
    N_("too many pages are pictures"),
)
_COVERAGE = re.compile(r"(?P<read>\d{1,9}) of (?P<total>\d{1,9}) (?P<unit>\w{1,30}?)s?")
_USUAL = frozenset({NO_OCR, SIGNATURE, WITHOUT_WORDS})


def describe_omissions(document: DocumentInfo | DocumentStatus) -> str:
    """What of a document was not read, as a clause; an empty string if nothing was left out."""
    if not document.omissions:
        return ""
    parts = _list_parts(document.omissions, MAX_NAMED)
    if counted := _COVERAGE.fullmatch(document.coverage):
        return _say_coverage(int(counted["read"]), int(counted["total"]), counted["unit"]).format(parts=parts)
    return gettext("some of it was not read; {parts}").format(parts=parts)


def _say_coverage(read: int, total: int, unit: str) -> str:
    """How many of the parts of a file were read, before `{parts}`, the others."""
    if total == 1:
        return gettext("some of it was not read; {parts}")
    parts = _count_units(total, unit)
    said = (
        ngettext("only {read} of {total} was read; {parts}", "only {read} of {total} were read; {parts}", read)
        if read
        else gettext("none of its {total} were read; {parts}")
    )
    return said.format(read=format_number(read), total=parts, parts="{parts}")


def _count_units(count: int, unit: str) -> str:
    counted = {
        "slide": pluralize(count, "{count} slide", "{count} slides"),
        "page": pluralize(count, "{count} page", "{count} pages"),
        "chapter": pluralize(count, "{count} chapter", "{count} chapters"),
        "file": pluralize(count, "{count} file", "{count} files"),
    }
    return counted.get(unit) or f"{format_number(count)} {unit}s"


def is_worth_a_notice(document: DocumentInfo | DocumentStatus) -> bool:
    """Whether its uploader is told of what was not read: pictures between texts, and signatures, are not worth it."""
    return any(omission.reason not in _USUAL for omission in document.omissions) or bool(document.coverage)


def describe_gaps(name: str, gaps: str) -> str:
    """The notice that a file was read without some of its parts."""
    return sanitize_inline(gettext("I read {name}, but {gaps}.").format(name=name, gaps=gaps))


def _list_parts(omissions: Sequence[Omission], most: int) -> str:
    named = [
        gettext("{part}: {reason}").format(part=omission.part, reason=gettext(omission.reason))
        for omission in omissions[:most]
    ]
    more = len(omissions) - len(named)
    return "; ".join(
        [*named, *([pluralize(more, "and {count} other part", "and {count} other parts")] if more else [])]
    )


def describe_families(counts: Mapping[str, int]) -> str:
    """How many files of each family were not read: "8 pictures, 3 films"."""
    return ", ".join(_describe_family(family, count) for family, count in counts.items())


def describe_unread(name: str, reason: str) -> str:
    """A file that was not read, and why."""
    return sanitize_inline(gettext("{name}: {reason}").format(name=name, reason=gettext(reason)))


def _describe_family(family: str, count: int) -> str:
    named = {
        "picture": pluralize(count, "{count} picture", "{count} pictures"),
        "sound": pluralize(count, "{count} recording", "{count} recordings"),
        "film": pluralize(count, "{count} video", "{count} videos"),
        "font": pluralize(count, "{count} font", "{count} fonts"),
        "program": pluralize(count, "{count} program", "{count} programs"),
        "": pluralize(count, "{count} unreadable document", "{count} unreadable documents"),
    }
    return named.get(family) or pluralize(count, "{count} file of another format", "{count} files of other formats")
