"""Reply to what asks for nothing that was read: a greeting, thanks, or a question about the bot itself.

What such a call is is decided as in the chat, where thanks get a reaction instead of words.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from bot.answers.introduction import build_introduction
from bot.capabilities.asking.asker import find_locale
from bot.capabilities.results import AnswerDelta, AnswerEnd
from bot.i18n import LANGUAGES, N_, gettext, match_locale, use_language
from bot.text.speech.addressed import classify_addressed
from bot.text.speech.kinds.introductions import find_call_language
from bot.texts.disclosure import WRITTEN_AUTOMATICALLY
from engine.text.languages.detection import detect_language

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from bot.capabilities.caller import Caller
    from bot.capabilities.deps import Deps
    from bot.capabilities.requests import Ask
    from engine import ChatTurn

WHAT_IS_READ = N_(
    "I answer questions about the files and conversations that you can read here. The numbers in an answer stand for "
    "its sources."
)
NOTHING_READ = N_("I haven't read anything that you can see yet.")
WELCOME = N_("Happy to help. Ask me again any time.")


def is_call(text: str) -> bool:
    """Whether a text greets, thanks or asks about the bot itself."""
    return classify_addressed(text, is_direct=True) in {"thanks", "introduction"}


async def reply_to_call(deps: Deps, caller: Caller, request: Ask, nothing_hint: str) -> tuple[AnswerDelta, AnswerEnd]:
    """The reply to a call, for which nothing is searched. `nothing_hint`: what to do if nothing was read."""
    with use_language(await _find_language(deps, caller, request)):
        if classify_addressed(request.text, is_direct=True) == "thanks":
            text = gettext(WELCOME)
        else:
            nothing = f"{gettext(NOTHING_READ)} {nothing_hint}".strip()
            reading, further = gettext(WHAT_IS_READ), [gettext(WRITTEN_AUTOMATICALLY)]
            text = await build_introduction(deps.engine, caller.scope, reading, nothing, further)
    return AnswerDelta(text), AnswerEnd((), (), unsearched=True)


def without_calls(history: Sequence[ChatTurn]) -> tuple[ChatTurn, ...]:
    """The turns of a conversation without calls and the replies to them."""
    return tuple(_list_without_calls(history))


def _list_without_calls(history: Sequence[ChatTurn]) -> Iterator[ChatTurn]:
    called = False
    for turn in history:
        called = is_call(turn.text) if turn.role == "user" else called
        if not called:
            yield turn


async def _find_language(deps: Deps, caller: Caller, request: Ask) -> str:
    """The language of a call, else that of the conversation, else that of the person."""
    said = "\n".join(turn.text for turn in request.history if turn.role == "user")
    found = find_call_language(request.text) or detect_language(said, LANGUAGES).language
    return found or match_locale(await find_locale(deps, caller))
