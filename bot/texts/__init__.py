"""Sentences that the bot shows, and the sentence for each error. Pure.

Text by others (titles, names of files and channels) goes through `sanitize_inline` first.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from bot.errors import NotAllowed, PermissionDenied, PlatformError, TooManyRequests
from bot.i18n import N_, gettext, list_translations
from bot.text.format import format_local, pluralize
from bot.text.markdown import sanitize_inline
from bot.texts.search_notices import NOTHING_IN_CHANNEL
from engine.errors import (
    BadModelSettings,
    CorrectionChanged,
    DatabaseBusy,
    DatabaseLost,
    DatabaseReadOnly,
    DatabaseUnreachable,
    DiskError,
    InvalidApiKey,
    InvalidDocument,
    InvalidQuestion,
    ModelError,
    ModelNotFound,
    ModelPaused,
    ModelRefused,
    NotFound,
    OutOfCredit,
    PromptTooLong,
    RateLimited,
    RequestRejected,
    StoreError,
    UnstorableText,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from datetime import datetime, tzinfo

    from bot.platform.traits import PlatformTraits
    from engine.models import HelperCall

STATUS_SEARCHING = N_("is searching…")
STATUS_READING_FILE = N_("is reading your file…")

NOTHING_FOUND = N_("I found nothing about that in the sources that I can use here.")
HELPER_NOTICES = {  # what a search did without, by Context.failed_helpers
    "rewriting": N_("I searched with the question as it is, because the language model didn't help with the search."),
    "reranking": N_("I couldn't sort what I found by how well it fits, so a better source may be missing."),
}
GAP_NOTICES = {  # what an answer leaves out, by ResolvedScope.gap
    "checking": N_(
        "I'm still checking who can read what after a restart or a change, so this answer leaves out other channels."
    ),
    "partial": N_("I couldn't check all the channels that I could use here, so this answer leaves some of them out."),
    "unknown": N_("I couldn't check who can read this, so this answer uses only this channel."),
}
_NOTHING_FOUND_YET = {
    "checking": N_(
        "I'm still checking who can read what after a restart or a change, so I can't search everything yet. Ask "
        "again in a moment."
    ),
    "partial": N_(
        "I couldn't check all the channels that I could use here, and found nothing about that in the others. Ask "
        "again in a moment."
    ),
    "unknown": N_(
        "I couldn't check who can read this, and found nothing about that in this channel. Ask again in a moment."
    ),
}
NO_DECISION = N_("I found no decision in what I looked through.")
NO_OPEN_QUESTION = N_("I found no open question in what I looked through.")
NOTHING_NEW = N_("I found nothing to report in what I looked through.")
_NOTHING_FOUND_SENTENCES = (NOTHING_FOUND, NOTHING_IN_CHANNEL, NO_DECISION, NO_OPEN_QUESTION, NOTHING_NEW)
ONLY_NEWEST = N_("That was too much to process at once, so this covers only the newest part.")
ONLY_SINCE = N_("This covers what was written since {day}. For more, name a period, such as “this year”.")
REBUILDING = N_("I'm rebuilding my index, so this answer may miss something. Ask again later.")
NO_SOURCE_FOUND = N_("This answer isn't backed by any source.")
CANNOT_WRITE = N_("Only people who can post in this channel can add to what I know about it.")
JOIN_HINT = N_("Join it, or ask someone who can post there.")
LINKS_NOT_READ = N_("This channel does not allow me to read links.")
MESSAGE_CHANGED = N_("The message was edited or deleted in the meantime.")
CHANNEL_NOT_INDEXED = N_("I'm not indexing this channel.")
INVITE_HINT = N_("Invite me and let me post here; I'll introduce myself before I start reading.")
STILL_INDEXING = N_("I'm still reading this channel's history. Ask again later for a more complete answer.")
ANSWERED_LATE = N_("I was away when you asked this, so my answer is late.")
ASK_AGAIN = N_("I was away when you asked me something. If you still need an answer, ask again.")
FILE_NOT_READY = N_("I'm still processing your file, so this answer doesn't include it yet.")
FILE_NOT_READ = N_("I couldn't read your file yet, so this answer doesn't include it.")
FILE_REFUSED = N_("I couldn't read your file. Only you can see why.")
NOT_IN_FILE = N_("I couldn't find this in your file, so I searched everything else I have access to.")
FILE_RECEIVED = N_("I have your file and I'm reading it. You can ask me about it at any time.")
DIGEST_QUESTION = "What is new?"
EMPTY_QUESTION = N_("What would you like to know? Ask me in a sentence.")
MODEL_HINT = N_(
    "I only quote what I find, because I have no language model to write answers with. The person who runs me can give "
    "me one; the README says how."
)
BROKEN_OFF = N_("_The answer was interrupted here._")
ANSWER_CUT_OFF = N_("This answer is incomplete: it was cut off before its end.")
ANSWER_FILTERED = N_("This answer is incomplete: the model provider's content filter stopped it.")
ANSWER_WITHDRAWN = N_(
    "I removed this answer because the people who can see it changed and it used sources "
    "some of you can't access. Ask again and I'll use only what everyone here can see."
)
AUDIENCE_UNKNOWN = N_("I removed this answer because I couldn't check who can see it. Ask again in a moment.")
SOURCE_REMOVED = N_("A source of this answer was removed or changed. Ask again for a current answer.")
MAX_QUESTION_LENGTH = 500  # characters of a question quoted above its answer
ONLY_VISIBLE_TO_YOU = N_("Only you can see this.")
POSITIVE_FEEDBACK = N_("Thank you, I've recorded that.")
NEGATIVE_FEEDBACK = N_(
    "Thank you, I've recorded that this didn't help. Tell me in the thread what was wrong, and managers will see it. "
    "Or ask in other words."
)
PRIVATE_NEGATIVE_FEEDBACK = N_("Thank you, I've recorded that this didn't help. Try asking in other words.")
THREAD_MUTED = N_("All right. I won't reply in this thread again until someone mentions me.")
ANSWER_SHARED = N_("Shared.")
ANSWER_NOT_SHARED = N_("I can't share this: it uses sources that not everyone there can read.")
NOT_THE_ASKER = N_("Only the person who asked can do that.")
NO_ANSWER = N_("That answer is no longer available: one of its sources was deleted, or it is too old.")
NO_SOURCES = N_("This answer has no sources that you can read.")
TOO_MANY_QUESTIONS = N_("You've asked too many questions in the last minute. Wait a moment, then ask again.")
BUDGET_SPENT = N_(
    "This workspace has used up its tokens for today. I can answer again in {duration}; an admin can raise the limit."
)
INDEXING_BUDGET_SPENT = N_(
    "This workspace has used up what may be spent on indexing for now. I find new messages and files by search already;"
    " I add them to the graph by myself when the next day or month begins, or when an admin raises the limit."
)
TEXTS_WAIT_FOR_MODEL = N_(
    "New messages and files wait for my language model; I find them by search meanwhile. {reason} Whoever runs me sees"
    " more with `threadlore check`. I go on by myself when that is mended."
)
BACKUP_FAILED = N_(
    "The scheduled backup of my data failed. Whoever runs me sees why with `threadlore doctor` and in the log."
    " I try again every hour."
)
FILES_NOT_READ = N_("In this channel I only read messages.")
GUESTS_MAY_NOT_ASK = N_("Guests can't ask me in this channel. You can ask me in a direct message.")
ONLY_MANAGERS_ASK = N_("Only managers can ask me in this channel. You can ask me in a direct message.")
ONLY_SOME_ASK = N_("Managers chose who can ask me in this channel. You can ask me in a direct message.")

_ADMIN_HINT = N_("An admin of this bot can find details in its log.")
EMBEDDING_REFUSED = N_("the model that I search with refused it. An admin of this bot can find details in its log.")
MODEL_TROUBLE = N_(
    "I couldn't process some of this because of a problem with the language model. I'll retry automatically."
)
BACKGROUND_FAILING = N_("Some of my background work is failing. I'll retry it automatically.")
PEOPLE_HINT = "people removed"  # name of the notice that the next sentence is
PEOPLE_REMOVED = N_(
    "What my knowledge graph said about people is removed: here, people are only the names on their messages. Answers"
    " still cite messages. Whoever runs me decides that."
)
RETENTION_HINT = "retention held"  # name of the notice that the next sentence is
RETENTION_HELD = N_(
    "I've paused the automatic deletion of old messages: it would have deleted unusually much, or the clock of my"
    " server is wrong. Whoever runs me can look at it with `threadlore status`, and allow it with `threadlore retention"
    " confirm`."
)
_UNKNOWN_ERROR = N_("Something went wrong on my side.")
_NO_DATABASE = N_("My database doesn't answer. Try again in a minute.")
_ERROR_SENTENCES: Sequence[tuple[type[Exception], str]] = (
    (
        OutOfCredit,
        N_("The quota or credit of my language model is used up. I try again by myself until it is renewed."),
    ),
    (RateLimited, N_("The language model is rate limiting me. Try again in a minute.")),
    (PromptTooLong, N_("That was too long for the language model. Ask a narrower question, or start a new thread.")),
    (ModelRefused, N_("The language model declined to answer this. Rephrasing the question may help.")),
    (
        BadModelSettings,
        N_("The provider of my language model doesn't accept its settings. I try again by myself until that changes."),
    ),
    (RequestRejected, N_("The provider of my language model rejected the request.")),
    (ModelNotFound, N_("The provider of my language model does not know the configured model.")),
    (InvalidApiKey, N_("The provider of my language model doesn't let me in.")),
    (ModelPaused, N_("The language model keeps failing, and I'm testing whether it is back. Try again in a minute.")),
    (ModelError, N_("I can't reach the language model. Try again in a minute.")),
    (DiskError, N_("My disk is full or failing, so I couldn't do that.")),
    (
        DatabaseReadOnly,
        N_("My database takes no changes at the moment, so I cannot take questions or changes here. Try again later."),
    ),
    (DatabaseUnreachable, _NO_DATABASE),
    (DatabaseLost, _NO_DATABASE),
    (DatabaseBusy, _NO_DATABASE),
    (UnstorableText, N_("My database can't store that: a part of it is too long.")),
    (StoreError, N_("I can't read my own data.")),
    (
        PermissionDenied,
        N_("I'm not allowed to do that here. An admin can check my permissions, and that I was invited."),
    ),
    (PlatformError, N_("I couldn't reach the chat platform. Try again in a moment.")),
)
# An admin can find more about them.
_ADMIN_ERRORS = (ModelNotFound, OutOfCredit, RequestRejected, InvalidApiKey, DiskError, StoreError)
# Shown with their own message and hint.
_USER_ERRORS = (InvalidQuestion, InvalidDocument, NotFound, NotAllowed, CorrectionChanged, TooManyRequests)


def describe_error(error: BaseException, reference: str = "") -> str:
    """The sentence for an error; `reference` is its id in the log."""
    if isinstance(error, _USER_ERRORS):
        shown = sanitize_inline(f"{gettext(str(error))} {gettext(error.hint)}".strip())
    else:
        found = next((sentence for kind, sentence in _ERROR_SENTENCES if isinstance(error, kind)), "")
        shown = gettext(found or _UNKNOWN_ERROR)
        shown = with_admin_hint(shown) if not found or isinstance(error, _ADMIN_ERRORS) else shown
    return f"{shown} ({gettext('reference `{reference}`').format(reference=reference)})" if reference else shown


def with_admin_hint(sentence: str) -> str:
    """A sentence with the hint that an admin can find out more."""
    return f"{sentence} {gettext(_ADMIN_HINT)}"


def list_helper_notices(failed: Iterable[HelperCall]) -> list[str]:
    """A sentence for each call that a search did without."""
    return [gettext(HELPER_NOTICES[call]) for call in failed]


def list_span_notices(*, truncated: bool, since: str) -> list[str]:
    """What an overview leaves out: all but the newest part, or what is older than the first day that it covers."""
    newest = [gettext(ONLY_NEWEST)] if truncated else []
    return [*newest, *([gettext(ONLY_SINCE).format(day=since)] if since else [])]


def describe_broken_answer(error: BaseException, reference: str) -> str:
    """The notice below an answer that was interrupted."""
    return f"{gettext(BROKEN_OFF)} {describe_error(error, reference)}"


def describe_sources(channel: str | None, *, found: bool = True) -> str:
    """Which sources a public answer used, or searched without a result; None: the name of the channel is unknown."""
    if channel is None:
        return (
            gettext("Answered from what was said here.") if found else gettext("I looked through what was said here.")
        )
    name = sanitize_inline(channel.lstrip("#"))
    if found:
        return gettext("Answered from what everyone in #{channel} can see.").format(channel=name)
    return gettext("I looked through what everyone in #{channel} can see.").format(channel=name)


def describe_private_sources(*, found: bool = True) -> str:
    """Which sources were used, or searched, for an answer that only the asker sees."""
    return gettext("Answered from what you can read.") if found else gettext("I looked through what you can read.")


def format_asker(name: str, question: str) -> str:
    """The question quoted above an answer, for readers who did not see it; one line of Markdown."""
    shown = question if len(question) <= MAX_QUESTION_LENGTH else f"{question[:MAX_QUESTION_LENGTH].rstrip()}…"
    asked = gettext("{name} asked:").format(name=sanitize_inline(name))
    return f"> **{asked}** {sanitize_inline(shown)}"


def format_sharer(name: str) -> str:
    """The notice on a private answer that its asker shared."""
    return gettext("Shared by {name}.").format(name=sanitize_inline(name))


def channel_welcome(traits: PlatformTraits, days: int) -> str:
    """The announcement in a channel that the bot joins: what it reads, and how to stop it."""
    if days:
        past = pluralize(
            days,
            "Hello! I read the last day of this channel and all new messages and files here, so that I can answer "
            "questions about them and cite my sources.",
            "Hello! I read the last {count} days of this channel and all new messages and files here, so that I can "
            "answer questions about them and cite my sources.",
        )
    else:
        past = gettext(
            "Hello! I read all new messages and files here, so that I can answer questions about them and cite my "
            "sources."
        )
    rest = gettext(
        "Mention me to ask. I never show anyone what they couldn't read themselves. If you don't want me to read your "
        "messages, use `{forget_me}`. A manager can stop me here with `{stop}`."
    ).format(forget_me=traits.format_command("forget-me"), stop=traits.format_command("settings ingest off"))
    return f"{past} {rest}"


def not_kept(reason: str) -> str:
    """The notice that what a person told the bot is not kept."""
    return gettext("I can't keep that. {reason}").format(reason=reason)


def opted_out_notice(traits: PlatformTraits) -> str:
    """The notice to a person who opted out."""
    return gettext("You asked me not to read your messages. `{command_prefix}remember-me` changes that.").format(
        command_prefix=traits.command_prefix
    )


def workspace_welcome(traits: PlatformTraits, lacking: Sequence[str]) -> str:
    """The one-time announcement in a workspace whose channels must be enabled: what the bot needs, and from whom."""
    welcome = gettext(
        "Hello! I answer questions about messages and files in channels, and cite my sources. I don't read any channel "
        "of this server yet. {manager} can run `{enable}` in a channel; I'll announce there that I read it. `{ask}` "
        "works everywhere, and `{help}` shows the rest."
    ).format(**_enable_words(traits), ask=f"{traits.command_prefix}ask", help=f"{traits.command_prefix}help")
    if not lacking:
        return welcome
    need = gettext("I'm missing these permissions: {permissions}. An administrator can add them to my role.")
    return f"{welcome} {need.format(permissions=', '.join(lacking))}"


def channel_not_indexed(traits: PlatformTraits, *, inside: bool) -> str:
    """The notice that the channel of a question is not indexed, and who can change that."""
    if not inside:
        return gettext("I'm not indexing this channel. Invite me to it; I'll introduce myself before I start reading.")
    notice = gettext("I'm not indexing this channel yet. {manager} can run `{enable}` here.")
    return notice.format(**_enable_words(traits))


def _enable_words(traits: PlatformTraits) -> dict[str, str]:
    """Who can enable a channel, and how."""
    return {"manager": gettext(traits.manager_name), "enable": traits.format_command("settings ingest on")}


def ask_privately_hint(traits: PlatformTraits) -> str:
    """How to get a private answer; plain text, because some places show no markup."""
    hint = gettext("Ask me in a direct message, or {how}: then I can also use what only you can read.")
    return hint.format(how=gettext(traits.private_ask_hint))


def nothing_found(gap: str = "") -> str:
    """The answer without any source; `gap` as in ResolvedScope, where not everything could be searched."""
    return gettext(_NOTHING_FOUND_YET[gap] if gap else NOTHING_FOUND)


def is_nothing_found(text: str) -> bool:
    """Whether an answer in any language says that nothing was found."""
    return text.startswith(tuple(_list_nothing_found()))


@cache
def _list_nothing_found() -> frozenset[str]:
    sentences = (*_NOTHING_FOUND_SENTENCES, *_NOTHING_FOUND_YET.values())
    return frozenset().union(*map(list_translations, sentences))


def translate_nothing_found(text: str) -> str:
    """The sentence of the engine that nothing was found, in the active language; any other text as it is."""
    return gettext(text.strip()) if text.strip() in _NOTHING_FOUND_SENTENCES else text


def digest_heading(since: datetime, until: datetime, zone: tzinfo, *, personal: bool) -> str:
    """The message above a digest, with times in the time zone of its schedule."""
    if personal:
        heading = gettext("**Digest.** What is new in the channels that you can read, from {since} to {until}:")
    else:
        heading = gettext("**Digest.** What is new in this channel, from {since} to {until}:")
    return heading.format(since=format_local(since, zone), until=format_local(until, zone))


def digest_ended(channel: str, schedule: str, reason: str) -> str:
    """The note to the person who scheduled a digest that the platform refuses; `channel` is empty if unknown."""
    what = f"#{sanitize_inline(channel)}" if channel else gettext("a channel")
    ended = gettext(
        "I ended the digest of {channel}, {schedule}, because {reason} Schedule it again once that is solved."
    )
    return ended.format(channel=what, schedule=schedule, reason=reason)


def file_refused(name: str, reason: str) -> str:
    """Why a file was rejected."""
    return sanitize_inline(gettext("I couldn't read {name}: {reason}").format(name=name, reason=reason))


def file_read_in_part(name: str, reason: str) -> str:
    """Why the end of a file was rejected."""
    return sanitize_inline(
        gettext("I could read only the beginning of {name}: {reason}").format(name=name, reason=reason)
    )
