"""Standing requests are recognized in the six languages, and questions are left alone."""

from __future__ import annotations

import pytest

from bot.dispatch.reply_policy import parse_review_command
from bot.text.speech.watch_phrases import WatchRequest, parse_watch_words


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("Tell me when somebody decides about the orchard fence.", ("decided", "orchard fence")),
        ("let me know as soon as the release date changes", ("changed", "release date")),
        ("please notify me if anyone mentions Ada Quill", ("mentioned", "Ada Quill")),
        ("tell me when a decision is made on the pond", ("decided", "pond")),
        ("Sag mir Bescheid, wenn jemand über den Kiosk entscheidet", ("decided", "Kiosk")),
        ("Benachrichtige mich, sobald sich der Abgabetermin ändert", ("changed", "Abgabetermin")),
        ("Préviens-moi dès que quelqu’un parle de la serre", ("mentioned", "serre")),
        ("préviens-moi quand la date du concert change", ("changed", "date du concert")),
        ("Avísame cuando cambie la fecha del mercado", ("changed", "fecha del mercado")),
        ("avísame cuando alguien decida sobre el molino", ("decided", "molino")),
        ("Me avise quando a data da feira mudar", ("changed", "data da feira")),
        ("温室について決まったら教えてください", ("decided", "温室")),
        ("会議の日程が変わったら知らせて", ("changed", "会議の日程")),
    ],
)
def test_a_message_that_asks_to_be_told_is_a_standing_request(text: str, wanted: tuple[str, str]) -> None:
    command = parse_review_command(text)
    assert command is not None
    assert command[0] == "watch"
    assert parse_watch_words(command[1]) == WatchRequest(*wanted)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "text",
    [
        "Tell me when the ferry leaves",
        "tell me when the next meeting is",
        "tell me when it changes",
        "Dis-moi quand la serre est fermée",
        "Can you tell me who decided about the pond?",
        "Tell me if the release date has changed",
        "Sag mir, wann der Kiosk öffnet",
    ],
)
def test_a_question_is_none(text: str) -> None:
    assert parse_review_command(text) is None


@pytest.mark.parametrize(
    ("text", "subject"),
    [
        ("stop telling me about the fence", "fence"),
        ("sag mir nichts mehr über den Kiosk", "Kiosk"),
        ("温室の通知をやめてください", "温室"),
    ],
)
def test_a_message_ends_a_standing_request(text: str, subject: str) -> None:
    assert parse_review_command(text) == ("unwatch", subject)


def test_words_without_an_event_stand_for_every_mention() -> None:
    assert parse_watch_words("the orchard fence") == WatchRequest("mentioned", "orchard fence")
    assert parse_watch_words(" … ") is None
