"""Forms as modals, and what comes back."""

from __future__ import annotations

from adapters.discord.interactions.forms import SubmittedModal, build_modal, parse_modal
from bot.platform.forms import Form, FormField, FormOption, list_switch_options

OPTIONS = (FormOption("mix", "Mix"), FormOption("naive", "Naive"))
CHANNEL = "1574504486360055809"
FORM = Form(
    "settings",
    "The settings of this channel, of which there are many",
    (
        FormField("style", "Style", value="short", hint="h" * 200),
        FormField("mode", "Mode", "choice", "naive", OPTIONS),
        FormField("links", "Links", "switch", "on", list_switch_options()),
        FormField("room", "Where", "channel", CHANNEL),
    ),
    f"a1:{CHANNEL}",
    part=2,
    parts=3,
)


async def test_a_modal_shows_what_is_set_and_brings_back_what_it_is_about() -> None:
    modal = build_modal(FORM)
    assert modal is not None
    body = modal.to_dict()
    assert len(body["title"]) == 45
    fields = [component["component"] for component in body["components"]]
    assert fields[0]["value"] == "short"
    assert [option["default"] for option in fields[1]["options"]] == [False, True]
    sent = [
        {"type": 18, "component": {"type": 4, "custom_id": "style", "value": "long"}},
        {"type": 18, "component": {"type": 3, "custom_id": "mode", "values": []}},
        {"type": 1, "components": [{"type": 3, "custom_id": "links", "values": ["off"]}]},
    ]
    found = parse_modal({"custom_id": body["custom_id"], "components": sent})
    answers = (("style", "long"), ("mode", ""), ("links", "off"))
    assert found == SubmittedModal("settings", f"a1:{CHANNEL}", answers, 2, 3)


async def test_modals_of_others_and_too_long_values_are_refused() -> None:
    assert parse_modal({"custom_id": "other:settings:1/1:", "components": []}) is None
    assert build_modal(Form("settings", "T", FORM.fields, "x" * 100)) is None
