"""Parse calendars (iCalendar, vCalendar): each event, task, note and busy time as sentences. Pure."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime
from itertools import count
from typing import TYPE_CHECKING

from engine.errors import EmptyDocument
from engine.models import Passage
from engine.parsers import plain_text
from engine.parsers.base import Attachment, stream_passages
from engine.parsers.passages import Block, join_blocks, shorten_label, split_block
from engine.parsers.personal.content_lines import read_components
from engine.parsers.personal.recurrences import describe_rule, format_day, join_words, parse_duration, parse_time
from engine.text.cleanup import clean_multiline, clean_single_line

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from datetime import date

    from engine.parsers.base import ParsedFile
    from engine.parsers.personal.content_lines import Component, Field

_KINDS = {"VEVENT": "event", "VTODO": "task", "VJOURNAL": "note", "VFREEBUSY": "busy times"}
_ANSWERS = {
    "ACCEPTED": "accepted",
    "DECLINED": "declined",
    "TENTATIVE": "tentative",
    "DELEGATED": "delegated",
    "COMPLETED": "completed",
    "NEEDS-ACTION": "no answer yet",
}
_STATES = {
    "CANCELLED": "It is cancelled.",
    "TENTATIVE": "It is tentative.",
    "COMPLETED": "It is completed.",
    "IN-PROCESS": "It is in process.",
}


def parse(name: str, data: bytes) -> ParsedFile:
    """Passages labeled with the name and the day of their event, in the file's order. What is no calendar is text."""
    components = list(_find_components(read_components(data)))
    if not components:
        parsed = plain_text.parse(name, data)
        if not parsed.passages or data.lstrip()[:15].upper() == b"BEGIN:VCALENDAR":
            raise EmptyDocument(f"There are no events in {name}.")
        return parsed
    calendars = read_components(data)
    title = next((text for calendar in calendars if (text := calendar.find("X-WR-CALNAME", "NAME"))), "")
    attachments = tuple(_list_attachments(components))
    parsed = stream_passages(clean_single_line(title) or name, _build_passages(components))
    return replace(parsed, attachments=attachments)


def _find_components(components: Iterable[Component]) -> Iterator[Component]:
    for component in components:
        if component.name in _KINDS:
            yield component
        else:
            yield from _find_components(component.components)


def _build_passages(components: Iterable[Component]) -> Iterator[Passage]:
    positions = count()
    for number, component in enumerate(components, 1):
        start = next(iter(component.find_all("DTSTART") or component.find_all("DUE")), None)
        day = parse_time(start.value) if start else None
        label = ", ".join(filter(None, [_name(component), f"{day:%Y-%m-%d}" if day else ""]))
        text = clean_multiline(_describe(component))
        for part, block in enumerate(split_block(Block(text, number, number)), 1):
            key = f"e{number}" if part == 1 else f"e{number}.{part}"
            yield Passage(key, join_blocks([block]), shorten_label(label), position=next(positions))


def _name(component: Component) -> str:
    return clean_single_line(component.find("SUMMARY")) or f"{_KINDS[component.name]} without a name"


def _describe(component: Component) -> str:
    """An event in sentences: what, when, where, how often, who, and its description."""
    place = clean_single_line(component.find("LOCATION"))
    what = ", ".join(filter(None, [f"{_name(component)}: {_describe_time(component)}".rstrip(": "), place]))
    lines = [f"{what}."]
    lines += [
        f"It repeats {words}." for element in component.find_all("RRULE") if (words := describe_rule(element.value))
    ]
    lines += _describe_exceptions(component)
    lines += _describe_people(component)
    state = component.find("STATUS").upper()
    lines += [_STATES[state]] if state in _STATES else []
    lines += [
        f"{done} % are done." for element in component.find_all("PERCENT-COMPLETE") if (done := element.text.strip())
    ]
    categories = [clean_single_line(element.text) for element in component.find_all("CATEGORIES")]
    lines += [f"Categories: {', '.join(categories)}."] if categories else []
    lines += [f"Link: {field.text.strip()}" for field in component.fields if field.name in {"URL", "CONFERENCE"}]
    lines += [f"Attachment: {element.text}" for element in component.find_all("ATTACH") if not element.is_binary]
    notes = [field.text for field in component.fields if field.name in {"DESCRIPTION", "COMMENT", "CONTACT"}]
    return "\n\n".join(["\n".join(lines), *filter(str.strip, notes)])


def _describe_time(component: Component) -> str:
    """The time as it is stated, in the time zone that it states."""
    if component.name == "VFREEBUSY":
        return "; ".join(f"busy {element.value.replace(',', ', ')}" for element in component.find_all("FREEBUSY"))
    start, end = _first(component, "DTSTART"), _first(component, "DTEND") or _first(component, "DUE")
    began, ended = _parse(start), _parse(end)
    if began is None:
        return f"due {_format_time(ended, end)}" if ended and end else ""
    length = parse_duration(component.find("DURATION")) if ended is None else None
    if length and isinstance(began, datetime):
        ended, end = began + length, start
    zone = _zone(start)
    if not isinstance(began, datetime):
        return _format_days(began, ended)
    if not isinstance(ended, datetime):
        return _format_time(began, start)
    is_same_zone = zone == _zone(end)
    if is_same_zone and began.date() == ended.date():
        return f"{format_day(began)}, {began:%H:%M}–{ended:%H:%M}{zone}"
    return f"{_format_time(began, start)} to {_format_time(ended, end)}"


def _format_days(first: date, end: date | None) -> str:
    """A day, or several: the end is the day after the last one."""
    days = (end - first).days if end and not isinstance(end, datetime) else 1
    if days <= 1:
        return f"{format_day(first)}, all day"
    return f"{format_day(first)} to {format_day(first.fromordinal(first.toordinal() + days - 1))}"


def _format_time(time: date | None, stated: Field | None) -> str:
    if not isinstance(time, datetime):
        return format_day(time) if time else ""
    return f"{format_day(time)}, {time:%H:%M}{_zone(stated)}"


def _zone(stated: Field | None) -> str:
    if stated is None:
        return ""
    if stated.value.strip().upper().endswith("Z"):
        return " UTC"
    zone = stated.parameters.get("TZID", "").strip()
    return f" ({zone})" if zone else ""


def _first(component: Component, name: str) -> Field | None:
    return next(iter(component.find_all(name)), None)


def _parse(stated: Field | None) -> date | datetime | None:
    return parse_time(stated.value) if stated else None


def _describe_exceptions(component: Component) -> Iterator[str]:
    changed = _first(component, "RECURRENCE-ID")
    if changed and (time := _parse(changed)):
        yield f"This replaces the time {_format_time(time, changed)}."
    for name, words in (("EXDATE", "It does not take place on"), ("RDATE", "It also takes place on")):
        stated = [(element, value) for element in component.find_all(name) for value in element.value.split(",")]
        days = [_format_time(time, replace(each, value=value)) for each, value in stated if (time := parse_time(value))]
        if days:
            yield f"{words} {'; '.join(days)}."


def _describe_people(component: Component) -> Iterator[str]:
    organizers = [_describe_person(element) for element in component.find_all("ORGANIZER")]
    people = [_describe_person(element) for element in component.find_all("ATTENDEE")]
    if organizers:
        yield f"Organized by {join_words(organizers)}."
    if people:
        yield f"People: {', '.join(people)}."


def _describe_person(stated: Field) -> str:
    """A person as "Ada Berg <ada@example.org> (accepted)"."""
    address = stated.text.strip()
    address = address[7:] if address.lower().startswith("mailto:") else address
    name = clean_single_line(stated.parameters.get("CN", ""))
    answer = _ANSWERS.get(stated.parameters.get("PARTSTAT", "").upper(), "")
    who = f"{name} <{address}>" if name and address and name != address else name or address
    return f"{who} ({answer})" if answer else who


def _list_attachments(components: Iterable[Component]) -> Iterator[Attachment]:
    for component in components:
        for number, each in enumerate(component.find_all("ATTACH"), 1):
            if each.is_binary:
                name = each.parameters.get("FILENAME") or each.parameters.get("X-FILENAME") or f"attachment {number}"
                yield Attachment(f"{_name(component)} › {clean_single_line(name)}", each.content)
