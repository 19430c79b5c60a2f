"""Corrections by hand, in the space of the channel in which they are made; all of them can be taken back."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bot import texts
from bot.admin.corrections import merged
from bot.errors import NotAllowed
from bot.platform.models import Card
from bot.text.arguments import parted
from bot.text.markdown import plain
from engine.errors import BadQuestion
from engine.models import Link, Mention, Reading

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping

    from bot.commands.context import Call
    from bot.text.arguments import Words

    Correction = Callable[[Call, str, Words], Awaitable[str]]

OPTIONS = ("with", "type", "keywords")


async def correct(call: Call) -> Card:
    """Correct what was read: names that are one, descriptions, what is out of sight, what is not written anywhere."""
    name, _, rest = call.words.partition(" ")
    if name.casefold() not in CORRECTIONS:
        raise BadQuestion(
            "What should be corrected?" if not name else f"There is no correction “{name}”.", hint=_usage(call)
        )
    least, most, correction = CORRECTIONS[name.casefold()]
    words = parted(rest, OPTIONS)
    if not least <= len(words.plain) <= most:
        raise BadQuestion(
            f"“{name}” cannot be read like this.", hint=f"{_usage(call)} Put several words in quotation marks."
        )
    space = await call.parts.house.readers.home(call.place)
    if space not in (await call.scope()).spaces:
        raise NotAllowed("What is known here cannot be corrected by you.", hint="Ask a member who can read all of it.")
    return Card(await correction(call, space, words))


def _usage(call: Call) -> str:
    examples = ('merge "Ada L." "Ada Lovelace"', 'pin Ada "She wrote it." --with Engine', 'hide "Analytical Engin"')
    return f"For instance: {'; '.join(call.example(f'correct {each}') for each in examples)}."


async def _merge(call: Call, space: str, words: Words) -> str:
    await call.only_managers("merge names")
    name, into = words.plain
    unknown = await call.engine.merge(space, name, into, room=call.place.room)
    return f"{merged(plain(name), plain(into), map(plain, unknown))} {call.example('correct unmerge')} takes it back."


async def _unmerge(call: Call, space: str, words: Words) -> str:
    await call.only_managers("part names")
    await call.engine.unmerge(space, words.plain[0], room=call.place.room)
    return f"“{plain(words.plain[0])}” stands for itself again."


async def _pin(call: Call, space: str, words: Words) -> str:
    await call.only_managers("pin descriptions")
    name, description = (*words.plain, "")[:2]
    await call.engine.pin(space, name, description, words.options.get("with", ""), room=call.place.room)
    how = "by your words" if description else "as it was read"
    return f"{_called(words)} is described {how} from now on."


async def _hide(call: Call, space: str, words: Words) -> str:
    await call.only_managers("hide names")
    await call.engine.hide(space, words.plain[0], words.options.get("with", ""), room=call.place.room)
    return f"{_called(words)} is out of sight. {call.example('correct unhide')} shows it again."


async def _unhide(call: Call, space: str, words: Words) -> str:
    await call.only_managers("show names again")
    await call.engine.unhide(space, words.plain[0], words.options.get("with", ""), room=call.place.room)
    return f"{_called(words)} is shown again."


async def _state(call: Call, space: str, words: Words) -> str:  # noqa: ARG001  - a correction's signature
    """Whoever may write in a channel that is read may state something there, as if in a message of theirs."""
    if not await _may_write(call):
        raise NotAllowed(texts.NO_WRITER, hint="Join it, or ask somebody who writes there.")
    name, description = words.plain
    told = _reading(words, name, description)
    key = await call.parts.listening.stating.state(call.place, call.called.person, told, call.now)
    return f"I know now: {_called(words)} – {plain(description)}\n{call.example(f'forget {key}')} takes it back."


async def _may_write(call: Call) -> bool:
    """Whether the caller could have said it: where it is told who joined a channel, they are among them."""
    joined = (await call.parts.house.readers.channel(call.place)).members
    return call.called.may_write and (not joined or call.called.person in joined)


def _reading(words: Words, name: str, description: str) -> Reading:
    if other := words.options.get("with"):
        return Reading(links=(Link(name, other, words.options.get("keywords", ""), description),))
    return Reading(mentions=(Mention(name, words.options.get("type", "other").casefold(), description),))


def _called(words: Words) -> str:
    other = words.options.get("with", "")
    return f"“{plain(words.plain[0])}”" + (f" – “{plain(other)}”" if other else "")


CORRECTIONS: Mapping[str, tuple[int, int, Correction]] = {
    "merge": (2, 2, _merge),
    "unmerge": (1, 1, _unmerge),
    "state": (2, 2, _state),
    "pin": (1, 2, _pin),
    "hide": (1, 1, _hide),
    "unhide": (1, 1, _unhide),
}
