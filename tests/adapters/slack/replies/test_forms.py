"""Forms as modal views, and what comes back."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from adapters.slack.context import BotIdentity
from adapters.slack.events.commands import parse_submission
from adapters.slack.replies.forms import FormOrigin, build_view
from bot.platform.events import FormSubmitted
from bot.platform.forms import Form, FormField, FormOption, list_switch_options
from bot.platform.models import Location

NOW = datetime(2026, 11, 20, tzinfo=UTC)
OURS = BotIdentity("T1", "UBOT", "B1", "https://small.slack.com/")
ORIGIN = FormOrigin(Location("slack", "T1", "C1", "1.2"), "U1", "https://hooks.slack.com/x")
OPTIONS = (FormOption("mix", "Mix"), FormOption("naive", "Naive"))
FORM = Form(
    "settings",
    "The settings of this channel",
    (
        FormField("style", "Style", value="short"),
        FormField("mode", "Mode", "choice", "naive", OPTIONS),
        FormField("links", "Links", "switch", "on", list_switch_options()),
        FormField("room", "Where", "channel"),
    ),
    "a1",
)
STATES = {
    "style": {"style": {"type": "plain_text_input", "value": None}},
    "mode": {"mode": {"type": "static_select", "selected_option": {"value": "mix"}}},
    "links": {"links": {"type": "checkboxes", "selected_options": []}},
    "room": {"room": {"type": "conversations_select", "selected_conversation": "C2"}},
}


def submitted(person: str, view: dict[str, Any] | None = None, team: str = "T1") -> FormSubmitted:
    """What a person's submission of the form becomes."""
    shown = {"id": "V1", **(view or build_view(FORM, ORIGIN) or {}), "state": {"values": STATES}}
    found = parse_submission({"view": shown, "user": {"id": person}}, BotIdentity(team, "UBOT", "B1", ""), NOW)
    assert found is not None
    assert isinstance(found.event, FormSubmitted)
    return found.event


def test_a_view_shows_what_is_set_and_brings_back_what_it_is_about() -> None:
    view = build_view(FORM, ORIGIN) or {}
    assert len(view["title"]["text"]) == 24
    style, mode, links, _ = (block["element"] for block in view["blocks"])
    assert style["initial_value"] == "short"
    assert mode["initial_option"]["value"] == "naive"
    assert links["initial_options"] == links["options"]
    event = submitted("U1")
    assert (event.form, event.value, event.location, event.handle) == (
        "settings",
        "a1",
        ORIGIN.location,
        ORIGIN.handle,
    )
    assert dict(event.answers) == {"style": "", "mode": "mix", "links": "off", "room": "C2"}


def test_a_submission_belongs_to_the_workspace_and_person_that_sent_it() -> None:
    assert submitted("U2").handle == "", "the response URL writes to somebody else"
    assert submitted("U1", team="T9").location.workspace == "T9"


def test_views_of_others_and_too_long_values_are_refused() -> None:
    other = {"id": "V1", "callback_id": "other.settings", "private_metadata": "{}"}
    assert parse_submission({"view": other, "user": {"id": "U1"}}, OURS, NOW) is None
    broken = {"id": "V1", "callback_id": "threadlore.settings", "private_metadata": "nonsense"}
    assert parse_submission({"view": broken, "user": {"id": "U1"}}, OURS, NOW) is None
    assert build_view(Form("settings", "T", FORM.fields, "x" * 3000), ORIGIN) is None


def test_a_text_that_does_not_fit_is_not_cut() -> None:
    long = Form("correction", "T", (FormField("text", "Text", "long_text", "x" * 3001, max_length=4000),))
    view = build_view(long, ORIGIN) or {}
    assert "initial_value" not in view["blocks"][0]["element"]
