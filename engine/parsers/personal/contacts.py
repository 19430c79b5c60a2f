"""Parse contacts (vCard 2.1 to 4.0): each person or organization with all that is stated of them. Pure."""

from __future__ import annotations

from dataclasses import replace
from itertools import count
from typing import TYPE_CHECKING

from engine.errors import EmptyDocument
from engine.models import Passage
from engine.parsers import plain_text
from engine.parsers.base import Omission, stream_passages
from engine.parsers.passages import Block, shorten_label, split_block
from engine.parsers.personal.content_lines import Field, read_components, split_value
from engine.parsers.personal.recurrences import format_day, parse_time
from engine.text.cleanup import clean_multiline, clean_single_line

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from engine.parsers.base import ParsedFile
    from engine.parsers.personal.content_lines import Component

_LABELS = {
    "TEL": "Telephone",
    "EMAIL": "E-mail",
    "ADR": "Address",
    "LABEL": "Address",
    "URL": "Web page",
    "BDAY": "Birthday",
    "ANNIVERSARY": "Anniversary",
    "NICKNAME": "Nickname",
    "CATEGORIES": "Groups",
    "IMPP": "Messenger",
    "X-SOCIALPROFILE": "Profile",
    "RELATED": "Related",
    "X-ABRELATEDNAMES": "Related",
    "LANG": "Language",
    "TZ": "Time zone",
    "GENDER": "Gender",
    "MEMBER": "Member",
    "NOTE": "Note",
    "KIND": "Kind",
    "X-ABDATE": "Date",
    "X-SKYPE": "Skype",
    "X-JABBER": "Jabber",
    "EXPERTISE": "Expertise",
    "HOBBY": "Hobby",
    "INTEREST": "Interest",
    "X-ASSISTANT": "Assistant",
    "X-MANAGER": "Manager",
    "X-SPOUSE": "Spouse",
}
# Numbers and names for programs.
_TECHNICAL = frozenset(
    {"VERSION", "PRODID", "UID", "REV", "SORT-STRING", "CLIENTPIDMAP", "SOURCE", "PROFILE", "MAILER", "CLASS", "XML"}
    | {"N", "FN", "ORG", "TITLE", "ROLE", "X-ABLABEL", "X-ABADR", "X-ABUID", "X-ABSHOWAS", "X-IMAGEHASH", "BEGIN"}
)
_FILES = {"PHOTO": "photo", "LOGO": "logo", "SOUND": "sound", "KEY": "key"}
_TYPES_LEFT_OUT = frozenset({"pref", "internet", "voice", "x-internet"})


def parse(name: str, data: bytes) -> ParsedFile:
    """A passage for each contact, labeled with the name. What holds no contacts is text."""
    cards = [card for card in _find_cards(read_components(data)) if card.fields]
    if not cards:
        parsed = plain_text.parse(name, data)
        if not parsed.passages or data.lstrip()[:11].upper() == b"BEGIN:VCARD":
            raise EmptyDocument(f"There are no contacts in {name}.")
        return parsed
    title = _name(cards[0]) if len(cards) == 1 else ""
    omissions = tuple(omission for card in cards for omission in _list_unread(card))
    return replace(stream_passages(title or name, _build_passages(cards)), omissions=omissions)


def _find_cards(components: Iterable[Component]) -> Iterator[Component]:
    for component in components:
        if component.name == "VCARD":
            yield component
        yield from _find_cards(component.components)


def _build_passages(cards: Iterable[Component]) -> Iterator[Passage]:
    positions = count()
    for number, card in enumerate(cards, 1):
        text = clean_multiline("\n".join(_describe(card)))
        label = shorten_label(_name(card) or f"contact {number}")
        for part, block in enumerate(split_block(Block(text, number, number)) if text else (), 1):
            key = f"v{number}" if part == 1 else f"v{number}.{part}"
            yield Passage(key, block.text, label, position=next(positions))


def _name(card: Component) -> str:
    """The name as it is shown, else built from its parts, else that of the organization."""
    if shown := clean_single_line(card.find("FN")):
        return shown
    for element in card.find_all("N"):
        family, given, middle, before, after, *_ = [*split_value(element.value, ";"), *[""] * 5]
        if built := clean_single_line(f"{before} {given} {middle} {family} {after}"):
            return built
    return _organization(card) or clean_single_line(card.find("NICKNAME", "EMAIL", "TEL"))


def _organization(card: Component) -> str:
    parts = [clean_single_line(part) for element in card.find_all("ORG") for part in split_value(element.value, ";")]
    return ", ".join(filter(None, parts))


def _describe(card: Component) -> Iterator[str]:
    """Who it is in a sentence, then each field on a line of its own."""
    name, organization = _name(card), _organization(card)
    roles = ", ".join(dict.fromkeys(clean_single_line(field.text) for field in card.fields if field.name in _ROLES))
    at = f" at {organization}" if organization and organization != name else ""
    yield f"{name} is {roles}{at}." if roles else f"{name} is{at}." if at else f"{name}."
    labels = {element.group: clean_single_line(element.text) for element in card.find_all("X-ABLABEL") if element.group}
    for field in card.fields:
        if field.name in _TECHNICAL or field.name in _FILES or field.is_binary:
            continue
        if value := _format_value(field):
            yield f"{_label(field, labels.get(field.group, ''))}: {value}"


_ROLES = ("TITLE", "ROLE")


def _label(stated: Field, own: str) -> str:
    """The name of a field with what kind it is: "Telephone (work)"."""
    name = _LABELS.get(stated.name) or stated.name.removeprefix("X-").replace("-", " ").capitalize()
    types = [part.strip().lower() for part in stated.parameters.get("TYPE", "").split(",")]
    kinds = [own.strip("_$!<>")] if own else [type_ for type_ in types if type_ and type_ not in _TYPES_LEFT_OUT]
    return f"{name} ({', '.join(kinds)})" if kinds and any(kinds) else name


def _format_value(stated: Field) -> str:
    if stated.name in {"BDAY", "ANNIVERSARY", "X-ABDATE"}:
        day = parse_time(stated.value.replace("-", "", 2) if stated.value[:4].isdigit() else stated.value)
        return format_day(day) if day else clean_single_line(stated.text)
    if stated.name == "NOTE":
        return stated.text
    if stated.name == "ADR":
        return ", ".join(filter(None, map(clean_single_line, split_value(stated.value, ";"))))
    value = clean_single_line(", ".join(filter(None, split_value(stated.value, ";"))))
    for scheme in ("tel:", "mailto:"):
        value = value[len(scheme) :] if value.lower().startswith(scheme) else value
    return value


def _list_unread(card: Component) -> Iterator[Omission]:
    for field in card.fields:
        if field.name in _FILES and field.value.strip():
            kind = _FILES[field.name]
            yield Omission(f"{kind} of {_name(card) or 'a contact'}", f"a {kind} holds no text")
