"""Sentences about verified answers and experts. Pure.

Text by others goes through `sanitize_inline` first.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from bot.i18n import N_, gettext
from bot.text.format import format_day
from bot.text.markdown import sanitize_inline

if TYPE_CHECKING:
    from datetime import datetime

SOMEBODY = N_("somebody")
WITHDRAWN_TITLE = N_("an answer whose source changed")
IMPROVE_BUTTON, SOURCES_BUTTON = N_("Improve this answer"), N_("Sources")
VERIFY_BUTTON, CORRECT_BUTTON, ASK_EXPERT_BUTTON = N_("Verify"), N_("Correct"), N_("Ask an expert")
WRITE_BUTTON, SAY_WRONG_BUTTON = N_("Write the answer"), N_("Report a problem")
IMPROVE_CHOICE = N_("What would you like to do with this answer?")
NOTHING_TO_IMPROVE = N_("There is nothing that you can change about this answer.")
CORRECTION_TITLE, CORRECTION_FIELD, APPROVE_BUTTON = N_("Correct this answer"), N_("Answer"), N_("Approve")
QUESTION_FIELD, QUESTION_HINT = N_("Question"), N_("Put it so that it can be understood without this thread.")
CORRECTION_HINT = N_("Numbers such as [1] cite the sources of the answer. I show the text when somebody asks the same.")
CORRECTION_TOO_LONG = N_("The answer is too long to be shown here. Write the correct one.")
WRITE_HINT = N_("I show your words when somebody asks the same.")
CORRECT_BY_COMMAND = N_("I couldn't open the form. Press the button again, or use {command}.")
VERIFIED_ELSEWHERE = N_("Verified. I show this answer first when somebody asks its question.")
REASON_TITLE, REASON_FIELD, COMMENT_FIELD = N_("What was wrong?"), N_("Reason"), N_("Comment")
REASON_TEXT = N_("Your vote is recorded. If you like, say what was wrong.")
COMMENT_HINT = N_("Managers see it with the question, without your name.")
REASONS = {
    "wrong": N_("It is wrong"),
    "outdated": N_("It is outdated"),
    "missing-source": N_("A source is missing"),
    "unclear": N_("It is hard to understand"),
}
SEND_BUTTON, REASON_RECORDED = N_("Send"), N_("Thank you. Managers see this with the question.")
VERIFIED_HINT = N_("If that is not what you meant, ask in other words.")
VERIFY_IN_CHANNEL = N_("Answers can be verified in channels, not in direct messages.")
CANNOT_VERIFY = N_("Only managers, and experts of this channel, can verify answers.")
NOT_A_REPLY = N_("That message is from a bot. Name the message of a person, or an answer of mine.")
REPLY_NOT_USABLE = N_("I can't use that message: it was forgotten, or its author asked me not to read their messages.")
NO_QUESTION_FOR_REPLY = N_("I found no question that this message answers.")
UNCLEAR_QUESTION = N_(
    "I wouldn't recognize this question if somebody asked it again: it is too short, long or general, asks for a "
    "summary, or has filters. Write the question in your own words, too."
)
UNUSABLE_ANSWER = N_("A verified answer needs a text of at most {length} characters.")
NO_EXPERT = N_("Nobody is named as an expert here.")
EXPERT_ASKED = N_("I've asked {name}.")
CHOOSE_EXPERT = N_("Who should I ask? I'll mention them below the question.")
EXPERT_REQUEST_REFUSED = {
    "repeated": N_("They have already been asked."),
    "asker": N_("You've asked experts too often in the last hour. Try again later."),
    "expert": N_("They have been asked too often today. Ask somebody else, or try again tomorrow."),
}


FOUND_NOTHING = N_("I found nothing for that question, so there is nothing to verify.")
WRITE_ANSWER = N_("Write the answer to it.")


def format_reason(reason: str, comment: str) -> str:
    """Why an answer did not help, as plain text and without who said it."""
    return ": ".join(filter(None, (gettext(REASONS[reason]) if reason in REASONS else "", comment)))


def format_verified(name: str, time: datetime, question: str) -> str:
    """The line above a verified answer: by whom, when, and to which question."""
    return gettext("✅ **Verified by {name} on {time}:** {question}").format(
        name=sanitize_inline(name), time=format_day(time), question=sanitize_inline(question)
    )


def state_verified(name: str, time: datetime, question: str) -> str:
    """The same line as plain text."""
    line = gettext("✅ **Verified by {name} on {time}:** {question}").replace("**", "")
    return line.format(name=name, time=format_day(time), question=question)


def ask_to_check(link: str) -> str:
    """The notice below a verified answer of which a source was replaced later; `link`: to what replaces it."""
    newer = gettext("[Something newer]({link})").format(link=link) if link else gettext("Something newer")
    return gettext(
        "⚠️ {newer} seems to replace what this answer rests on. If you can verify answers here, please check it: verify "
        "it again, or correct it."
    ).format(newer=newer)


def format_withdrawal(time: datetime, link: str) -> str:
    """The notice to the person who verified an answer on that day."""
    which = gettext("[an answer]({link})").format(link=link) if link else gettext("an answer")
    return gettext(
        "A source of {which} that you verified on {time} was changed or removed. I don't show "
        "the answer anymore: ask the question again, and verify what is right now."
    ).format(which=which, time=format_day(time))


def format_verification(question: str) -> str:
    """The confirmation for the person who verified an answer."""
    return gettext("Verified. I show this answer first when somebody asks: “{question}”").format(
        question=sanitize_inline(question)
    )


def format_expert_request(name: str, question: str) -> str:
    """The message that mentions an expert."""
    return gettext("{name} asks you as an expert:\n> {question}").format(
        name=sanitize_inline(name), question=sanitize_inline(question)
    )
