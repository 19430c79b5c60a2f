"""Every sentence that the bot says by itself, and what it says of an error. Pure.

What others wrote (titles, names of files and channels) goes through `harmless` first: it calls nobody, and no address
in it is alive.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from bot.errors import NotAllowed, PermissionDenied, PlatformError
from bot.text.sanitize import sanitize_inline
from engine.errors import (
    DiskError,
    InvalidApiKey,
    InvalidDocument,
    InvalidQuestion,
    ModelError,
    ModelNotFound,
    ModelRefused,
    NotFound,
    PromptTooLong,
    RateLimited,
    StoreError,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from bot.platform.traits import PlatformTraits

STATUS_SEARCHING = "is searching…"
STATUS_READING_FILE = "is reading your file…"

NOTHING_FOUND = "I found nothing about that in what I may read here."
_ASK_LATER = "Ask again in a moment."
GAP_NOTICES = {  # what an answer does without, by the reason (Reach.gap)
    "checking": "I am still checking who can read what after a restart or a change, so this answer leaves out what "
    "was said in other channels.",
    "partial": "I could not check all the channels that could be used here, so this answer leaves some of them out.",
    "unknown": "I could not find out who can read this, so this answer uses only what was said here.",
}
_NOTHING_FOUND_YET = {
    "checking": "I am still checking who can read what after a restart or a change, so I cannot search everything yet. "
    + _ASK_LATER,
    "partial": f"I could not check all the channels that could be used here, and the others say nothing about that. "
    f"{_ASK_LATER}",
    "unknown": f"I could not find out who can read this, and what was said here says nothing about that. {_ASK_LATER}",
}
NO_DECISION = "I found no decision in what I looked through."
NO_OPEN_QUESTION = "I found no open question in what I looked through."
ONLY_NEWEST = "That was more than I can take in at once: this covers only the newest part of it."
NO_SOURCE_FOUND = "No source stands behind this answer."
CANNOT_WRITE = "Only who may write in this channel can add to what is known of it."
CHANNEL_NOT_INDEXED = "This channel is not one that I read."
INVITE_HINT = "Invite me to it, and let me write there: I say first that I read it."
STILL_INDEXING = "I am still reading what was said here; ask again a little later for a fuller answer."
FILE_NOT_READY = "Your file is still being read: this answer does without what I have not read yet."
FILE_NOT_READ = "I could not read your file yet: this answer does without it."
NOT_IN_FILE = "Your file says nothing about this, so I looked everywhere I may."
FILE_RECEIVED = "I have your file, and read it: ask me about it whenever you like."
EMPTY_QUESTION = "What would you like to know? Ask me in a sentence."
MODEL_HINT = (
    "I quote, because no language model is set. Ask the person who runs this bot to set a model (THREADLORE_LLM_MODEL "
    "and its key, see the README): then I write answers."
)
BROKEN_OFF = "_The answer broke off here._"
ANSWER_CUT_OFF = "This answer is incomplete: it was cut off before its end."
ANSWER_FILTERED = "This answer is incomplete: the content filter of the model's provider stopped it."
ANSWER_WITHDRAWN = (
    "I took this answer back: who can read it has changed, and it drew on something that not all of you may read. "
    "Ask again, and I shall answer from what you all can read."
)
AUDIENCE_UNKNOWN = "I took this answer back: I could not make sure who can read it. Ask again in a moment."
SOURCE_REMOVED = "A source of this answer was removed or changed. Ask again for a current answer."
MAX_QUESTION_LENGTH = 500  # characters that stand above an answer
CHANNEL_CONTENT, ASKER_CONTENT = "was said here", "you can read"
ONLY_VISIBLE_TO_YOU = "Only you see this."
POSITIVE_FEEDBACK = "Thank you: that is noted."
NEGATIVE_FEEDBACK = (
    "Thank you: I noted that this did not help. Tell me in the thread what was wrong, or ask in other words."
)
THREAD_MUTED = "All right: I stay quiet in this thread until somebody mentions me."
ANSWER_SHARED = "Shared."
ANSWER_NOT_SHARED = "I cannot share this: it draws on something that not everybody there may read."
NOT_THE_ASKER = "Only the one who asked can do that."
NO_ANSWER = "That answer is not there any more: something that it drew on was deleted, or it was too long ago."
NO_SOURCES = "This answer has no sources that you may read."
TOO_MANY_QUESTIONS = "Those were many questions in a minute. Give me a moment, then ask again."
BUDGET_SPENT = (
    "This workspace has used up its tokens for today. I can answer again tomorrow (UTC); an admin can raise the limit."
)

_ADMIN_HINT = "An admin of this bot can find out more in its log."
EMBEDDING_REFUSED = f"it was refused by the model that looks for its meaning. {_ADMIN_HINT}"
MODEL_TROUBLE = f"Trouble with my language model keeps me from reading some of it; I try again by myself. {_ADMIN_HINT}"
BACKGROUND_FAILING = f"Some of my background work is failing; I retry it automatically. {_ADMIN_HINT}"
_ERROR_SENTENCES: Sequence[tuple[type[Exception], str]] = (
    (RateLimited, "The language model asks me to slow down. Try again in a minute."),
    (PromptTooLong, "That was too much for the language model at once. Ask something narrower, or in a new thread."),
    (ModelRefused, "The language model declined to answer this. Asking in other words may help."),
    (ModelNotFound, f"The language model that I am set up with is not known to its provider. {_ADMIN_HINT}"),
    (InvalidApiKey, f"My key for the language model is not accepted. {_ADMIN_HINT}"),
    (ModelError, "The language model cannot be reached. Try again in a minute."),
    (DiskError, f"My disk is full or fails, so I could not do that. {_ADMIN_HINT}"),
    (StoreError, f"I cannot read my own data. {_ADMIN_HINT}"),
    (PermissionDenied, "I am not allowed to do that here. Check what I am permitted to do, and that I was invited."),
    (PlatformError, "I could not reach the chat platform. Try again in a moment."),
)
_USER_ERRORS = (InvalidQuestion, InvalidDocument, NotFound, NotAllowed)  # their own words are meant for whoever asked


def describe_error(error: BaseException, reference: str = "") -> str:
    """What is said of an error; `reference` finds it in the log."""
    tail = f" (reference `{reference}`)" if reference else ""
    if isinstance(error, _USER_ERRORS):
        return sanitize_inline(f"{error} {error.hint}".strip()) + tail
    found = (sentence for kind, sentence in _ERROR_SENTENCES if isinstance(error, kind))
    return next(found, f"Something went wrong on my side. {_ADMIN_HINT}") + tail


def describe_broken_answer(error: BaseException, reference: str) -> str:
    """What stands below an answer that ended in the middle."""
    return f"{BROKEN_OFF} {describe_error(error, reference)}"


def channel_content(channel: str) -> str:
    """What an answer that all readers of a channel see is drawn from."""
    return f"everyone in #{sanitize_inline(channel.lstrip('#'))} can see"


def describe_sources(what: str, *, found: bool = True) -> str:
    """What an answer was drawn from, or where nothing was found."""
    return f"Answered from what {what}." if found else f"I looked through what {what}."


def format_asker(name: str, question: str) -> str:
    """The question above an answer whose readers did not see it; Markdown, on one line."""
    shown = question if len(question) <= MAX_QUESTION_LENGTH else f"{question[:MAX_QUESTION_LENGTH].rstrip()}…"
    return f"> **{sanitize_inline(name)} asked:** {sanitize_inline(shown)}"


def format_sharer(name: str) -> str:
    """Whose private answer it was."""
    return f"Shared by {sanitize_inline(name)}."


def channel_welcome(traits: PlatformTraits, days: int) -> str:
    """What a channel is told once when the bot comes in: what it will do, and how to stop it."""
    past = f"the last {days} days of this channel and " if days else ""
    return (
        f"Hello! I read {past}what is said and shared here from now on, so that I can answer questions about it, with "
        "the messages I rely on. Mention me to ask. I never tell anyone what they could not read themselves. If you do "
        f"not want to be read, use `{traits.format_command('forget-me')}`; a manager stops me here with "
        f"`{traits.format_command('settings ingest off')}`."
    )


def opted_out_notice(traits: PlatformTraits) -> str:
    """Why nothing of somebody is read."""
    return f"You asked me to read nothing of yours; `{traits.command_prefix}remember-me` changes that."


def workspace_welcome(traits: PlatformTraits, lacking: Sequence[str]) -> str:
    """What a workspace is told once in which channels must be switched on: what the bot needs, and from whom."""
    need = (
        f" I lack these permissions: {', '.join(lacking)}. An administrator can give them to my role."
        if lacking
        else ""
    )
    return (
        "Hello! I answer questions about what is said and shared in channels, with the messages I rely on. I read no "
        f"channel of this server yet. {_enable_hint(traits)} in a channel; then I say there that I read it. `/ask` "
        f"works everywhere, and `/help` shows the rest.{need}"
    )


def channel_not_indexed(traits: PlatformTraits, *, inside: bool) -> str:
    """The channel in which somebody asked is not read, and who can change that."""
    if not inside:
        return "I do not read this channel. Invite me to it: I say there that I read it, and then I do."
    return f"I do not read this channel yet. {_enable_hint(traits)} here."


def _enable_hint(traits: PlatformTraits) -> str:
    return f"{traits.manager_name} can run `{traits.format_command('settings ingest on')}`"


def ask_privately_hint(traits: PlatformTraits) -> str:
    """How to have an answer for oneself alone; it may stand where no markup is shown."""
    return f"Ask me in a direct message, or {traits.private_ask_hint}: there I may also use what only you can read."


def nothing_found(gap: str = "") -> str:
    """There is nothing to answer from; with a gap (Reach.gap), nobody can say so yet."""
    return _NOTHING_FOUND_YET[gap] if gap else NOTHING_FOUND


def is_nothing_found(text: str) -> bool:
    """Whether an answer says that there is nothing to answer from."""
    return text.startswith((NOTHING_FOUND, NO_DECISION, NO_OPEN_QUESTION, *_NOTHING_FOUND_YET.values()))


def file_refused(name: str, reason: str) -> str:
    """A file could not be read."""
    return sanitize_inline(f"I could not read {name}: {reason}")


def format_merge(name: str, into: str, unknown: Iterable[str]) -> str:
    """That a name leads to another one, and which of them is unknown: it may be yet to come, or a slip of the pen."""
    doubts = (f" “{each}” was not read anywhere yet: is it written as you mean it?" for each in unknown)
    return f"“{name}” now leads to “{into}”.{''.join(doubts)}"
