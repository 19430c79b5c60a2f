"""The words of forms in each language, and whether they fit where the platforms show them."""

from __future__ import annotations

import pytest

from adapters.discord.interactions.forms import MAX_DESCRIPTION_LENGTH, MAX_LABEL_LENGTH
from adapters.slack.replies.forms import MAX_TITLE_LENGTH
from bot.commands.forms import question
from bot.commands.settings.fields import FIELDS, FORM_TITLES, LABELS
from bot.i18n import LANGUAGES, gettext, use_language
from bot.platform.forms import Form, list_switch_options
from bot.texts import review as review_texts

TITLES = (*FORM_TITLES.values(), question.TITLE, review_texts.REASON_TITLE, review_texts.CORRECTION_TITLE)
BUTTONS = (question.ASK_BUTTON, review_texts.APPROVE_BUTTON, review_texts.SEND_BUTTON)
FIELD_LABELS = (
    *LABELS.values(),
    question.FIELD,
    review_texts.REASON_FIELD,
    review_texts.COMMENT_FIELD,
    review_texts.CORRECTION_FIELD,
)
HINTS = (
    *(field.description for field in FIELDS.values()),
    question.HINT,
    review_texts.COMMENT_HINT,
    review_texts.CORRECTION_HINT,
    review_texts.WRITE_HINT,
)


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_words_of_forms_are_shown_whole(language: str) -> None:
    with use_language(language):
        form = Form("settings", "", ())
        short = [*map(gettext, (*TITLES, *BUTTONS)), form.submit, form.cancel]
        assert [each for each in short if len(each) > MAX_TITLE_LENGTH] == []
        assert [each for each in map(gettext, FIELD_LABELS) if len(each) > MAX_LABEL_LENGTH] == []
        assert [each for each in map(gettext, HINTS) if len(each) > MAX_DESCRIPTION_LENGTH] == []


def test_buttons_and_switches_are_in_the_language_of_the_form() -> None:
    with use_language("de"):
        form, switch = Form("settings", "Lesen", ()), list_switch_options()
    assert (form.submit, form.cancel) == ("Speichern", "Abbrechen")
    assert [(each.value, each.label) for each in switch] == [("on", "An"), ("off", "Aus")]
