"""Sentences that the bot shows, and the sentence for each error. Pure.

Text by others (titles, names of files and channels) goes through `sanitize_inline` first.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from bot.errors import NotAllowed, PermissionDenied, PlatformError
from bot.text.format import format_utc, pluralize
from bot.text.markdown import sanitize_inline
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
    from datetime import datetime

    from bot.platform.traits import PlatformTraits
    from engine import Duplicate

STATUS_SEARCHING = "is searching…"
STATUS_READING_FILE = "is reading your file…"

NOTHING_FOUND = "I found nothing about that in the sources that I can use here."
_ASK_LATER = "Ask again in a moment."
GAP_NOTICES = {  # what an answer leaves out, by ResolvedScope.gap
    "checking": "I'm still checking who can read what after a restart or a change, so this answer leaves out other "
    "channels.",
    "partial": "I couldn't check all the channels that I could use here, so this answer leaves some of them out.",
    "unknown": "I couldn't check who can read this, so this answer uses only this channel.",
}
_NOTHING_FOUND_YET = {
    "checking": "I'm still checking who can read what after a restart or a change, so I can't search everything yet. "
    + _ASK_LATER,
    "partial": "I couldn't check all the channels that I could use here, and found nothing about that in the others. "
    f"{_ASK_LATER}",
    "unknown": f"I couldn't check who can read this, and found nothing about that in this channel. {_ASK_LATER}",
}
NO_DECISION = "I found no decision in what I looked through."
NO_OPEN_QUESTION = "I found no open question in what I looked through."
NOTHING_NEW = "I found nothing to report in what I looked through."
ONLY_NEWEST = "That was too much to process at once, so this covers only the newest part."
NO_SOURCE_FOUND = "This answer isn't backed by any source."
CANNOT_WRITE = "Only people who can post in this channel can add to what I know about it."
LINKS_NOT_READ = "This channel does not allow me to read links."
MESSAGE_CHANGED = "The message was edited or deleted in the meantime."
CHANNEL_NOT_INDEXED = "I'm not indexing this channel."
INVITE_HINT = "Invite me and let me post here; I'll introduce myself before I start reading."
STILL_INDEXING = "I'm still reading this channel's history. Ask again later for a more complete answer."
FILE_NOT_READY = "I'm still processing your file, so this answer doesn't include it yet."
FILE_NOT_READ = "I couldn't read your file yet, so this answer doesn't include it."
NOT_IN_FILE = "I couldn't find this in your file, so I searched everything else I have access to."
FILE_RECEIVED = "I have your file and I'm reading it. You can ask me about it at any time."
DIGEST_QUESTION = "What is new?"
EMPTY_QUESTION = "What would you like to know? Ask me in a sentence."
MODEL_HINT = (
    "I only quote sources because no language model is configured. To get written answers, ask the person who "
    "runs this bot to set one (THREADLORE_LLM_MODEL and its API key, see the README)."
)
BROKEN_OFF = "_The answer was interrupted here._"
ANSWER_CUT_OFF = "This answer is incomplete: it was cut off before its end."
ANSWER_FILTERED = "This answer is incomplete: the model provider's content filter stopped it."
ANSWER_WITHDRAWN = (
    "I removed this answer because the people who can see it changed and it used sources some of you can't "
    "access. Ask again and I'll use only what everyone here can see."
)
AUDIENCE_UNKNOWN = "I removed this answer because I couldn't check who can see it. Ask again in a moment."
SOURCE_REMOVED = "A source of this answer was removed or changed. Ask again for a current answer."
MAX_QUESTION_LENGTH = 500  # characters of a question quoted above its answer
CHANNEL_CONTENT, ASKER_CONTENT = "was said here", "you can read"
ONLY_VISIBLE_TO_YOU = "Only you can see this."
POSITIVE_FEEDBACK = "Thank you, I've recorded that."
NEGATIVE_FEEDBACK = (
    "Thank you, I've recorded that this didn't help. Tell me in the thread what was wrong, or rephrase the question."
)
THREAD_MUTED = "All right. I won't reply in this thread again until someone mentions me."
ANSWER_SHARED = "Shared."
ANSWER_NOT_SHARED = "I can't share this: it uses sources that not everyone there can read."
NOT_THE_ASKER = "Only the person who asked can do that."
NO_ANSWER = "That answer is no longer available: one of its sources was deleted, or it is too old."
NO_SOURCES = "This answer has no sources that you can read."
TOO_MANY_QUESTIONS = "You've asked too many questions in the last minute. Wait a moment, then ask again."
BUDGET_SPENT = (
    "This workspace has used up its tokens for today. I can answer again tomorrow (UTC); an admin can raise the limit."
)
FILES_NOT_READ = "In this channel I only read messages."
GUESTS_MAY_NOT_ASK = "Guests can't ask me in this channel. You can ask me in a direct message."
ONLY_MANAGERS_ASK = "Only managers can ask me in this channel. You can ask me in a direct message."
ONLY_SOME_ASK = "Managers chose who can ask me in this channel. You can ask me in a direct message."

_ADMIN_HINT = "An admin of this bot can find details in its log."
EMBEDDING_REFUSED = f"the embedding model refused it. {_ADMIN_HINT}"
MODEL_TROUBLE = (
    "I couldn't process some of this because of a problem with the language model. I'll retry automatically. "
    f"{_ADMIN_HINT}"
)
BACKGROUND_FAILING = f"Some of my background work is failing. I'll retry it automatically. {_ADMIN_HINT}"
_ERROR_SENTENCES: Sequence[tuple[type[Exception], str]] = (
    (RateLimited, "The language model is rate limiting me. Try again in a minute."),
    (PromptTooLong, "That was too long for the language model. Ask a narrower question, or start a new thread."),
    (ModelRefused, "The language model declined to answer this. Rephrasing the question may help."),
    (ModelNotFound, f"The provider of my language model does not know the configured model. {_ADMIN_HINT}"),
    (InvalidApiKey, f"The API key of my language model is not accepted. {_ADMIN_HINT}"),
    (ModelError, "I can't reach the language model. Try again in a minute."),
    (DiskError, f"My disk is full or failing, so I couldn't do that. {_ADMIN_HINT}"),
    (StoreError, f"I can't read my own data. {_ADMIN_HINT}"),
    (PermissionDenied, "I'm not allowed to do that here. Check my permissions and that I was invited."),
    (PlatformError, "I couldn't reach the chat platform. Try again in a moment."),
)
_USER_ERRORS = (InvalidQuestion, InvalidDocument, NotFound, NotAllowed)  # shown with their own message and hint


def describe_error(error: BaseException, reference: str = "") -> str:
    """The sentence for an error; `reference` is its id in the log."""
    tail = f" (reference `{reference}`)" if reference else ""
    if isinstance(error, _USER_ERRORS):
        return sanitize_inline(f"{error} {error.hint}".strip()) + tail
    found = (sentence for kind, sentence in _ERROR_SENTENCES if isinstance(error, kind))
    return next(found, f"Something went wrong on my side. {_ADMIN_HINT}") + tail


def describe_broken_answer(error: BaseException, reference: str) -> str:
    """The notice below an answer that was interrupted."""
    return f"{BROKEN_OFF} {describe_error(error, reference)}"


def channel_content(channel: str) -> str:
    """What the sources of a public answer have in common; completes "Answered from what …"."""
    return f"everyone in #{sanitize_inline(channel.lstrip('#'))} can see"


def describe_sources(what: str, *, found: bool = True) -> str:
    """Which sources were used, or searched without a result."""
    return f"Answered from what {what}." if found else f"I looked through what {what}."


def format_asker(name: str, question: str) -> str:
    """The question quoted above an answer, for readers who did not see it; one line of Markdown."""
    shown = question if len(question) <= MAX_QUESTION_LENGTH else f"{question[:MAX_QUESTION_LENGTH].rstrip()}…"
    return f"> **{sanitize_inline(name)} asked:** {sanitize_inline(shown)}"


def format_sharer(name: str) -> str:
    """The notice on a private answer that its asker shared."""
    return f"Shared by {sanitize_inline(name)}."


def channel_welcome(traits: PlatformTraits, days: int) -> str:
    """The announcement in a channel that the bot joins: what it reads, and how to stop it."""
    past = f"the last {days} days of this channel and " if days else ""
    return (
        f"Hello! I read {past}all new messages and files here, so that I can answer questions about them and cite "
        "my sources. Mention me to ask. I never show anyone what they couldn't read themselves. If you don't want me "
        f"to read your messages, use `{traits.format_command('forget-me')}`. A manager can stop me here with "
        f"`{traits.format_command('settings ingest off')}`."
    )


def opted_out_notice(traits: PlatformTraits) -> str:
    """The notice to a person who opted out."""
    return f"You asked me not to read your messages. `{traits.command_prefix}remember-me` changes that."


def workspace_welcome(traits: PlatformTraits, lacking: Sequence[str]) -> str:
    """The one-time announcement in a workspace whose channels must be enabled: what the bot needs, and from whom."""
    need = (
        f" I'm missing these permissions: {', '.join(lacking)}. An administrator can add them to my role."
        if lacking
        else ""
    )
    return (
        "Hello! I answer questions about messages and files in channels, and cite my sources. I don't read any "
        f"channel of this server yet. {_enable_hint(traits)} in a channel; I'll announce there that I read it. "
        f"`{traits.command_prefix}ask` works everywhere, and `{traits.command_prefix}help` shows the rest.{need}"
    )


def channel_not_indexed(traits: PlatformTraits, *, inside: bool) -> str:
    """The notice that the channel of a question is not indexed, and who can change that."""
    if not inside:
        return "I'm not indexing this channel. Invite me to it; I'll introduce myself before I start reading."
    return f"I'm not indexing this channel yet. {_enable_hint(traits)} here."


def _enable_hint(traits: PlatformTraits) -> str:
    return f"{traits.manager_name} can run `{traits.format_command('settings ingest on')}`"


def ask_privately_hint(traits: PlatformTraits) -> str:
    """How to get a private answer; plain text, because some places show no markup."""
    return f"Ask me in a direct message, or {traits.private_ask_hint}: then I can also use what only you can read."


def nothing_found(gap: str = "") -> str:
    """The answer without any source; `gap` as in ResolvedScope, where not everything could be searched."""
    return _NOTHING_FOUND_YET[gap] if gap else NOTHING_FOUND


def is_nothing_found(text: str) -> bool:
    """Whether an answer says that nothing was found."""
    return text.startswith((NOTHING_FOUND, NO_DECISION, NO_OPEN_QUESTION, NOTHING_NEW, *_NOTHING_FOUND_YET.values()))


def digest_heading(since: datetime, until: datetime, *, personal: bool) -> str:
    """The message above a digest."""
    what = "What is new in the channels that you can read" if personal else "What is new in this channel"
    return f"**Digest.** {what}, from {format_utc(since)} to {format_utc(until)}:"


def digest_ended(channel: str, schedule: str, reason: str) -> str:
    """The note to the person who scheduled a digest that the platform refuses; `channel` is empty if unknown."""
    what = f"#{sanitize_inline(channel)}" if channel else "a channel"
    return f"I ended the digest of {what}, {schedule}, because {reason} Schedule it again once that is solved."


def file_refused(name: str, reason: str) -> str:
    """Why a file was rejected."""
    return sanitize_inline(f"I couldn't read {name}: {reason}")


def format_merge(name: str, into: str, unknown: Iterable[str]) -> str:
    """The confirmation of a merge, with a warning for each name that does not occur yet."""
    doubts = (f" “{each}” does not occur yet. Check its spelling." for each in unknown)
    return f"“{name}” is now merged into “{into}”.{''.join(doubts)}"


def format_unmerge(name: str) -> str:
    """The confirmation that a merge was undone."""
    return f"“{name}” is a separate name again."


def format_separation(name: str, other: str) -> str:
    """The confirmation that two names are kept apart."""
    return f"“{name}” and “{other}” are separate names, and I won't join them."


def format_duplicate_evidence(pair: Duplicate) -> str:
    """Why two names were joined, or why they may mean the same."""
    if pair.is_joined:
        return JOIN_REASONS.get(pair.reason, pair.reason)
    parts = [f"spelling {pair.spelling:.0f}%"]
    if pair.similarity:
        parts.append(f"similar meaning {100 * pair.similarity:.0f}%")
    if pair.shared_count:
        parts.append(f"{pluralize(pair.shared_count, 'common neighbor')}: {', '.join(pair.shared)}")
    return "; ".join(parts)


JOIN_REASONS = {
    "spelling": "the same except for hyphens, spaces, periods or accents",
    "article": "the same except for “the”",
    "honorific": "the same except for a title",
    "plural": "singular and plural",
    "abbreviation": "a text gives the abbreviation with its long form",
}


def format_subject(name: str, other: str) -> str:
    """An entity, or with `other` its relation to it."""
    return f"“{name}” – “{other}”" if other else f"“{name}”"


def format_description(subject: str, description: str) -> str:
    """The confirmation of a new description; an empty one was restored from the sources."""
    return f"{subject} is now described {'with your words' if description else 'from its sources'}."


def format_visibility(subject: str, *, hidden: bool) -> str:
    """The confirmation that something was hidden or is visible again."""
    return f"{subject} is {'hidden' if hidden else 'visible again'}."
