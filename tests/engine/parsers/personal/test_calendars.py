from __future__ import annotations

import pytest

from engine.parsers.encodings.decoding import find_doubt
from engine.parsers.personal.calendars import parse
from engine.parsers.personal.recurrences import describe_rule

CALENDAR = """BEGIN:VCALENDAR\r
X-WR-CALNAME:Brickyard\r
BEGIN:VEVENT\r
DTSTART;TZID=Europe/Oslo:20310304T150000\r
DTEND;TZID=Europe/Oslo:20310304T163000\r
RRULE:FREQ=WEEKLY;INTERVAL=2;BYDAY=TU;UNTIL=20310630\r
EXDATE;TZID=Europe/Oslo:20310318T150000\r
SUMMARY:Firing of the nor\r
 th kiln\r
LOCATION:Yard\\, gate 2\r
ORGANIZER;CN="Berg, Ada":mailto:ada@example.org\r
ATTENDEE;CN=Bo Lind;PARTSTAT=ACCEPTED:mailto:bo@example.org\r
STATUS:TENTATIVE\r
DESCRIPTION:Bring gloves\\nand water\r
BEGIN:VALARM\r
DESCRIPTION:Alarm\r
END:VALARM\r
END:VEVENT\r
BEGIN:VTODO\r
DUE;VALUE=DATE:20310310\r
SUMMARY:Order clay\r
END:VTODO\r
BEGIN:VEVENT\r
DTSTART;VALUE=DATE:20310401\r
DTEND;VALUE=DATE:20310404\r
SUMMARY:Fair\r
"""
EVENT = """Firing of the north kiln: Tuesday, 4 March 2031, 15:00–16:30 (Europe/Oslo), Yard, gate 2.
It repeats every 2 weeks on Tuesday until Monday, 30 June 2031.
It does not take place on Tuesday, 18 March 2031, 15:00 (Europe/Oslo).
Organized by Berg, Ada <ada@example.org>.
People: Bo Lind <bo@example.org> (accepted).
It is tentative.

Bring gloves
and water"""


def test_events_are_sentences_with_their_own_times() -> None:
    parsed = parse("yard.ics", CALENDAR.encode())
    assert parsed.title == "Brickyard"
    assert [passage.text for passage in parsed.passages] == [
        EVENT,
        "Order clay: due Monday, 10 March 2031.",
        "Fair: Tuesday, 1 April 2031 to Thursday, 3 April 2031.",
    ]
    assert parsed.passages[0].label == "Firing of the north kiln, 2031-03-04"


@pytest.mark.parametrize(
    ("rule", "words"),
    [
        ("FREQ=DAILY;COUNT=5", "every day 5 times"),
        ("FREQ=MONTHLY;BYDAY=1MO,-1FR", "every month on the first Monday and the last Friday"),
        ("FREQ=MONTHLY;BYMONTHDAY=15,-1", "every month on day 15 of the month and the last day of the month"),
        ("FREQ=YEARLY;BYMONTH=6;BYMONTHDAY=1", "every year on day 1 of the month in June"),
        ("FREQ=YEARLY;BYWEEKNO=20", "every year (BYWEEKNO=20)"),
        ("every now and then", "by the rule every now and then"),
    ],
)
def test_a_rule_is_said_as_it_is_stated(rule: str, words: str) -> None:
    assert describe_rule(rule) == words


def test_what_is_malformed_costs_nothing_else() -> None:
    broken = "BEGIN:VCALENDAR\nBEGIN:VEVENT\nDTSTART:soon\nno field\nRRULE:\nSUMMARY:Fair\n"
    [passage] = parse("a.ics", broken.encode()).passages
    assert passage.text == "Fair."


def test_a_line_that_is_cut_within_a_character_is_joined() -> None:
    event = (
        "BEGIN:VCALENDAR\r\nBEGIN:VEVENT\r\nSUMMARY:Mølle rundt\r\nDTSTART:20310304\r\nEND:VEVENT\r\nEND:VCALENDAR\r\n"
    )
    data = event.encode().replace("ø".encode(), b"\xc3\r\n \xb8")
    assert parse("c.ics", data).passages[0].text.startswith("Mølle rundt")
    assert find_doubt(data) is None
