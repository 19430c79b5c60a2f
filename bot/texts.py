"""Every sentence that the bot says by itself, and what it says of an error. Pure.

What others wrote (titles, names of files and channels) goes through `harmless` first: it calls nobody, and no address
in it is alive.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from bot.errors import NotAllowed, PlatformError, Withheld
from engine.answers.links.stream import Links
from engine.errors import (
    BadInput,
    BadKey,
    BadQuestion,
    DiskTrouble,
    LanguageError,
    NoSuchModel,
    NotFound,
    RateLimited,
    Refused,
    StoreError,
    TooLong,
)

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

SEARCHING = "is searching…"
READING = "is reading your file…"

NOTHING_FOUND = "I found nothing about that in what I may read here."
_AGAIN = "Ask again in a moment."
GAPS = {  # what an answer does without, by the reason (Reach.gap)
    "checking": "I am still checking who can read what after a restart or a change, so this answer leaves out what "
    "was said in other channels.",
    "partial": "I could not check all the channels that could be used here, so this answer leaves some of them out.",
    "unknown": "I could not find out who can read this, so this answer uses only what was said here.",
}
_NOTHING_YET = {
    "checking": "I am still checking who can read what after a restart or a change, so I cannot search everything yet. "
    + _AGAIN,
    "partial": f"I could not check all the channels that could be used here, and the others say nothing about that. "
    f"{_AGAIN}",
    "unknown": f"I could not find out who can read this, and what was said here says nothing about that. {_AGAIN}",
}
NO_DECISION = "I found no decision in what I looked through."
NO_OPEN_QUESTION = "I found no open question in what I looked through."
ONLY_NEWEST = "That was more than I can take in at once: this covers only the newest part of it."
UNSUPPORTED = "No source stands behind this answer."
NO_WRITER = "Only who may write in this channel can add to what is known of it."
UNREAD = "This channel is not one that I read."
INVITE = "Invite me to it, and let me write there: I say first that I read it."
STILL_READING = "I am still reading what was said here; ask again a little later for a fuller answer."
FILE_UNREADY = "Your file is still being read: this answer does without what I have not read yet."
FILE_UNREAD = "I could not read your file yet: this answer does without it."
FILE_SILENT = "Your file says nothing about this, so I looked everywhere I may."
TAKEN = "I have your file, and read it: ask me about it whenever you like."
EMPTY = "What would you like to know? Ask me in a sentence."
MODEL_HINT = (
    "I quote, because no language model is set. Ask the person who runs this bot to set a model (THREADLORE_MODEL and "
    "its key, see the README): then I write answers."
)
BROKEN_OFF = "_The answer broke off here._"
CUT_OFF = "This answer is incomplete: it was cut off before its end."
FILTERED = "This answer is incomplete: the content filter of the model's provider stopped it."
WITHDRAWN = (
    "I took this answer back: who can read it has changed, and it drew on something that not all of you may read. "
    "Ask again, and I shall answer from what you all can read."
)
READERS_UNKNOWN = "I took this answer back: I could not make sure who can read it. Ask again in a moment."
SOURCE_REMOVED = "A source of this answer was removed or changed. Ask again for a current answer."
LONGEST_QUESTION = 500  # characters that stand above an answer
HERE, YOURS = "was said here", "you can read"
ONLY_YOU = "Only you see this."
THANKS = "Thank you: that is noted."
SORRY = "Thank you: I noted that this did not help. Tell me in the thread what was wrong, or ask in other words."
QUIET = "All right: I stay quiet in this thread until somebody mentions me."
SHARED = "Shared."
NOT_SHARED = "I cannot share this: it draws on something that not everybody there may read."
NOT_YOURS = "Only the one who asked can do that."
NO_ANSWER = "That answer is not there any more: something that it drew on was deleted, or it was too long ago."
NO_SOURCES = "This answer has no sources that you may read."
TOO_MANY = "Those were many questions in a minute. Give me a moment, then ask again."
SPENT = (
    "This workspace has used up its tokens for today. I can answer again tomorrow (UTC); an admin can raise the limit."
)

_ALONE = {"slack": "with /threadlore ask", "discord": "with /ask and its option “private”"}
_ADMIN = "An admin of this bot can find out more in its log."
UNTAKEN = f"it was refused by the model that looks for its meaning. {_ADMIN}"
UNHEARD = f"Trouble with my language model keeps me from reading some of it; I try again by myself. {_ADMIN}"
BACKGROUND_FAILING = f"Some of my background work is failing; I retry it automatically. {_ADMIN}"
_SENTENCES: Sequence[tuple[type[Exception], str]] = (
    (RateLimited, "The language model asks me to slow down. Try again in a minute."),
    (TooLong, "That was too much for the language model at once. Ask something narrower, or in a new thread."),
    (Refused, "The language model declined to answer this. Asking in other words may help."),
    (NoSuchModel, f"The language model that I am set up with is not known to its provider. {_ADMIN}"),
    (BadKey, f"My key for the language model is not accepted. {_ADMIN}"),
    (LanguageError, "The language model cannot be reached. Try again in a minute."),
    (DiskTrouble, f"My disk is full or fails, so I could not do that. {_ADMIN}"),
    (StoreError, f"I cannot read my own data. {_ADMIN}"),
    (Withheld, "I am not allowed to do that here. Check what I am permitted to do, and that I was invited."),
    (PlatformError, "I could not reach the chat platform. Try again in a moment."),
)
_SPOKEN = (BadQuestion, BadInput, NotFound, NotAllowed)  # their own words are meant for whoever asked


def failure(error: BaseException, reference: str = "") -> str:
    """What is said of an error; `reference` finds it in the log."""
    tail = f" (reference `{reference}`)" if reference else ""
    if isinstance(error, _SPOKEN):
        return harmless(f"{error} {error.hint}".strip()) + tail
    found = (sentence for kind, sentence in _SENTENCES if isinstance(error, kind))
    return next(found, f"Something went wrong on my side. {_ADMIN}") + tail


def broken_off(error: BaseException, reference: str) -> str:
    """What stands below an answer that ended in the middle."""
    return f"{BROKEN_OFF} {failure(error, reference)}"


def all_of(channel: str) -> str:
    """What an answer that all readers of a channel see is drawn from."""
    return f"everyone in #{harmless(channel.lstrip('#'))} can see"


def drawn_from(what: str, *, found: bool = True) -> str:
    """What an answer was drawn from, or where nothing was found."""
    return f"Answered from what {what}." if found else f"I looked through what {what}."


def asked_by(name: str, question: str) -> str:
    """The question above an answer whose readers did not see it; Markdown, on one line."""
    shown = question if len(question) <= LONGEST_QUESTION else f"{question[:LONGEST_QUESTION].rstrip()}…"
    return f"> **{harmless(name)} asked:** {harmless(shown)}"


def shared_by(name: str) -> str:
    """Whose private answer it was."""
    return f"Shared by {harmless(name)}."


def prefix(platform: str) -> str:
    """What stands before a command: platforms with one command for all have its name there too."""
    return "/threadlore " if platform == "slack" else "/"


_OPTIONS: Mapping[str, tuple[str, ...]] = {  # the names of Discord's options, in the order of our words
    "learn": ("file",),
    "forget": ("what",),
    "graph": ("name",),
    "missed": ("since",),
    "help": ("topic",),
    "settings": ("setting", "value"),
    "backfill": ("days",),
    "correct": ("correction", "words"),
}


def options(platform: str, command: str) -> tuple[str, ...]:
    """The names that stand before the words of a command where a platform wants them named."""
    return _OPTIONS.get(command, ()) if platform == "discord" else ()


def typed(platform: str, words: str) -> str:
    """A command with its words as it is typed on a platform."""
    command, *rest = words.split(" ", 1)
    if not (rest and (names := options(platform, command))):
        return prefix(platform) + words
    values = rest[0].split(" ", len(names) - 1)
    named = (f"{name}:{value}" for name, value in zip(names, values, strict=False))
    return f"{prefix(platform)}{command} {' '.join(named)}"


def joined(platform: str, days: int) -> str:
    """What a channel is told once when the bot comes in: what it will do, and how to stop it."""
    past = f"the last {days} days of this channel and " if days else ""
    return (
        f"Hello! I read {past}what is said and shared here from now on, so that I can answer questions about it, with "
        "the messages I rely on. Mention me to ask. I never tell anyone what they could not read themselves. If you do "
        f"not want to be read, use `{typed(platform, 'forget-me')}`; a manager stops me here with "
        f"`{typed(platform, 'settings ingest off')}`."
    )


def opted_out(platform: str) -> str:
    """Why nothing of somebody is read."""
    return f"You asked me to read nothing of yours; `{prefix(platform)}remember-me` changes that."


def installed(platform: str, lacking: Sequence[str]) -> str:
    """What a workspace is told once in which channels must be switched on: what the bot needs, and from whom."""
    need = (
        f" I lack these permissions: {', '.join(lacking)}. An administrator can give them to my role."
        if lacking
        else ""
    )
    return (
        "Hello! I answer questions about what is said and shared in channels, with the messages I rely on. I read no "
        f"channel of this server yet. {_switched_on(platform)} in a channel; then I say there that I read it. `/ask` "
        f"works everywhere, and `/help` shows the rest.{need}"
    )


def unread_here(platform: str, *, inside: bool) -> str:
    """The channel in which somebody asked is not read, and who can change that."""
    if not inside:
        return "I do not read this channel. Invite me to it: I say there that I read it, and then I do."
    return f"I do not read this channel yet. {_switched_on(platform)} here."


def _switched_on(platform: str) -> str:
    who = "Someone with Manage Server" if platform == "discord" else "An admin"
    return f"{who} can run `{typed(platform, 'settings ingest on')}`"


def ask_alone(platform: str) -> str:
    """How to have an answer for oneself alone; it may stand where no markup is shown."""
    way = _ALONE.get(platform, "privately with my command")
    return f"Ask me in a direct message, or {way}: there I may also use what only you can read."


def nothing(gap: str = "") -> str:
    """There is nothing to answer from; with a gap (Reach.gap), nobody can say so yet."""
    return _NOTHING_YET[gap] if gap else NOTHING_FOUND


def says_nothing(text: str) -> bool:
    """Whether an answer says that there is nothing to answer from."""
    return text.startswith((NOTHING_FOUND, NO_DECISION, NO_OPEN_QUESTION, *_NOTHING_YET.values()))


def refused_file(name: str, reason: str) -> str:
    """A file could not be read."""
    return harmless(f"I could not read {name}: {reason}")


def harmless(text: str) -> str:
    """What somebody else wrote, on one line: it calls nobody, and no address with a scheme in it is alive."""
    links = Links.knowing((), "", domains=False)
    line = " ".join(text.split())
    return links.feed(line) + links.close()
