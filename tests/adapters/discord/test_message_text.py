"""What a Discord message says, wherever its words are."""

from __future__ import annotations

from typing import Any

import pytest

from adapters.common.json_fields import CUT_NOTICE, MAX_LENGTH
from adapters.discord.guild.message_text import DiscordText, render_message

PAGE = "https://tides.example/table"


def render(*, by_bot: bool = False, **payload: Any) -> DiscordText:
    return render_message(payload, by_bot=by_bot)


EMBED = {
    "type": "rich",
    "author": {"name": "Harbor"},
    "title": "Tides",
    "url": PAGE,
    "description": "For Friday",
    "fields": [{"name": "High", "value": "14:20"}, {"name": "\u200b", "value": "Low 8:05"}],
    "footer": {"text": "Office"},
}


def test_embeds_of_an_app_are_its_words() -> None:
    found = render(by_bot=True, content="New table", embeds=[EMBED])
    lines = ["New table", "Harbor", f"[Tides]({PAGE})", "For Friday", "High: 14:20", "Low 8:05", "Office"]
    assert found == DiscordText("\n".join(lines))


def test_embeds_of_a_person_are_previews_of_links() -> None:
    preview = {"type": "article", "title": "High water", "url": PAGE, "description": "14:20"}
    assert render(content=PAGE, embeds=[preview]) == DiscordText(PAGE, previews="High water\n14:20")
    assert render(content=f"{PAGE} High water", embeds=[{"type": "link", "title": "High water"}]).previews == ""


def test_a_poll_has_its_question_answers_and_votes() -> None:
    bricks = {"emoji": {"name": "🧱"}}
    answers = [{"answer_id": 1, "poll_media": {"text": "Slate"}}, {"answer_id": 2, "poll_media": bricks}]
    results = {"answer_counts": [{"id": 1, "count": 3}]}
    found = render(poll={"question": {"text": "Which roof?"}, "answers": answers, "results": results})
    assert found.text == "Poll: Which roof?\n- Slate (3 votes)\n- 🧱"
    facts = {"poll_question_text": "Which roof?", "victor_answer_text": "Slate", "victor_answer_votes": "3"}
    fields = [{"name": name, "value": value} for name, value in {**facts, "total_votes": "4"}.items()]
    assert render(embeds=[{"type": "poll_result", "fields": fields}]).text == (
        "Poll closed: Which roof?\nMost votes: Slate (3 of 4 votes)"
    )


def test_components_say_what_is_written_on_them() -> None:
    text, logo = {"type": 10, "content": "# Roster"}, {"type": 11, "description": "Logo"}
    section = {"type": 9, "components": [text], "accessory": logo}
    gallery = {"type": 12, "items": [{"media": {"url": PAGE}, "description": "The pier"}]}
    buttons = {"type": 1, "components": [{"type": 2, "label": "Open", "url": PAGE}, {"type": 2, "label": "Join"}]}
    container = {"type": 17, "components": [section, {"type": 14}, gallery, {"type": 13, "name": "plan.txt"}, buttons]}
    assert render(by_bot=True, components=[container]).text == (f"# Roster\nLogo\nThe pier\nplan.txt\n[Open]({PAGE})")


def test_a_forwarded_message_has_its_place_and_everything_that_it_shows() -> None:
    shown = {"content": "Pier seven\non Monday", "embeds": [EMBED], "timestamp": "2026-03-02T09:00:00+00:00"}
    found = render(message_reference={"channel_id": "500"}, message_snapshots=[{"message": shown}, {"message": {}}])
    assert found.text == ""
    lines = found.forwarded.split("\n")
    assert lines[:3] == ["Forwarded message from <#500>, <t:1772442000>:", "> Pier seven", "> on Monday"]
    assert "> High: 14:20" in lines


def test_a_description_of_a_file_is_kept() -> None:
    files = [{"title": "Plan", "filename": "plan.png", "description": "The new pier"}, {"filename": "b.txt"}]
    assert render(attachments=files).text == "Plan: The new pier"


@pytest.mark.parametrize("odd", [None, True, [], [None, 3, [1]], {"a": 1}])
def test_no_payload_is_too_odd(odd: Any) -> None:
    names = ("content", "embeds", "components", "poll", "message_snapshots", "attachments", "message_reference")
    assert render(by_bot=True, **dict.fromkeys(names, odd)) == DiscordText()


def test_no_payload_is_too_deep_or_too_long() -> None:
    nested: dict[str, Any] = {"type": 10, "content": "bottom"}
    for _ in range(3000):
        nested = {"type": 17, "components": [nested]}
    assert render(components=[nested]) == DiscordText()
    found = render(content="slate " * MAX_LENGTH).text
    assert found.endswith(CUT_NOTICE)
    assert len(found) < MAX_LENGTH + 100
