"""Name people to ask about a topic, list them, and ask one about the last question here."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from bot.answers.review.rights import ExpertRequests, can_read_room, list_experts
from bot.capabilities.management.requests import AddExpert, RemoveExpert
from bot.commands.review.target import find_answer, split_link
from bot.i18n import gettext
from bot.platform.models import Card
from bot.store import Expert
from bot.text.markdown import escape_markdown
from engine.errors import InvalidQuestion, NotFound

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping

    from bot.commands.context import CommandContext, PersonAtPlace
    from bot.platform.models import Person

    Action = Callable[[CommandContext, str], Awaitable[Card]]

MAX_TOPIC_LENGTH = 60  # characters

_MENTION = re.compile(r"<@!?(\w++)(?:\|[^>]*+)?>")


async def expert_command(call: CommandContext) -> Card:
    """Add, remove, list or ask experts; without arguments: list them."""
    name, _, rest = call.arguments.partition(" ")
    action = ACTIONS.get(name.casefold() or "list")
    if action is None:
        examples = ", ".join(map(call.format_example, ("expert add @Ada roofing", "expert list", "expert ask")))
        raise InvalidQuestion(
            gettext("What do you want to do with experts?"),
            hint=gettext("Examples: {examples}.").format(examples=examples),
        )
    return await action(call, rest.strip())


async def _add(call: CommandContext, words: str) -> Card:
    await call.require_manager(gettext("name experts"))
    person, topic = _parse(call, words)
    async with call.recording(AddExpert(call.location.room, person, topic)):
        return Card(await add_expert(call, person, topic))


async def add_expert(call: PersonAtPlace, person_id: str, topic: str) -> str:
    """Name an expert of this channel for a topic. Raises NotAllowed and InvalidQuestion."""
    await call.require_manager(gettext("name experts"))
    context, location, topic = call.services.context, call.location, _to_topic(topic)
    if (await context.audience.get_channel(location)).kind == "direct":
        raise InvalidQuestion(gettext("Experts are named in a channel."), hint=gettext("Run the command there."))
    if not topic or len(topic) > MAX_TOPIC_LENGTH:
        raise InvalidQuestion(
            gettext("Which topic?"),
            hint=gettext("For example {command}.").format(command=call.format_example("expert add @Ada roofing")),
        )
    person = await _find_person(call, person_id)
    if person.is_bot or not await can_read_room(context, location.room, location, person.id):
        raise InvalidQuestion(
            gettext("{name} can't read this channel.").format(name=escape_markdown(person.name)),
            hint=gettext("Invite them first."),
        )
    if await call.store.opt_outs.is_opted_out(location.platform, location.workspace, person.id):
        raise InvalidQuestion(
            gettext("{name} asked me not to read their messages.").format(name=escape_markdown(person.name))
        )
    await call.store.experts.add(Expert(location.without_thread, person.id, topic))
    return gettext(
        "{name} is now an expert for “{topic}”: people can ask them when I find nothing, and "
        "they can verify answers. This holds wherever everyone can read this channel."
    ).format(name=escape_markdown(person.name), topic=escape_markdown(topic))


async def _remove(call: CommandContext, words: str) -> Card:
    person, topic = _parse(call, words)
    async with call.recording(RemoveExpert(call.location.room, person, topic)):
        return Card(await remove_expert(call, person, topic))


async def remove_expert(call: PersonAtPlace, person_id: str, topic: str) -> str:
    """End what somebody is asked about in this channel; for managers and themselves. Raises NotAllowed, NotFound."""
    if person_id != call.person:
        await call.require_manager(gettext("remove experts"))
    person = await _find_person(call, person_id)
    if not await call.store.experts.remove(call.location.room, person_id, _to_topic(topic)):
        raise NotFound(
            gettext("They aren't an expert in this channel."),
            hint=gettext("{command} shows who is.").format(command=call.format_example("expert list")),
        )
    return gettext("{name} won't be asked anymore.").format(name=escape_markdown(person.name))


async def _list(call: CommandContext, _: str) -> Card:
    lines = [
        f"- **{escape_markdown(person.name)}**: {escape_markdown(topic)}"
        for person, topic in await list_readable_experts(call)
    ]
    return Card(
        "\n".join([f"**{gettext('Experts')}**", *lines]) if lines else gettext("Nobody is named as an expert here yet.")
    )


async def list_readable_experts(call: PersonAtPlace) -> list[tuple[Person, str]]:
    """The experts of this channel who were named where the caller can read, each with their topic."""
    experts = await list_experts(call.services.context, call.location)
    shown = [expert for expert in experts if await call.can_read(expert.location.room)]
    return [(await _find_person(call, expert.person), expert.topic) for expert in shown]


async def _ask(call: CommandContext, words: str) -> Card:
    """Ask an expert about the last question here, or that of a linked answer."""
    link, rest = split_link(words)
    if rest and not link:
        raise InvalidQuestion(gettext("Which question?"), hint=gettext("Without a link, I take the last one here."))
    target = await find_answer(call, link)
    return await ExpertRequests(call.services.context).offer(target, call.person)


def _parse(call: CommandContext, words: str) -> tuple[str, str]:
    """The id of the mentioned person, and the topic."""
    found = _MENTION.match(words)
    if found is None:
        raise InvalidQuestion(
            gettext("Whom do you mean?"),
            hint=gettext("Mention them: {command}.").format(command=call.format_example("expert add @Ada roofing")),
        )
    return found[1], words[found.end() :]


def _to_topic(words: str) -> str:
    return " ".join(words.split()).casefold()


async def _find_person(call: PersonAtPlace, person: str) -> Person:
    location = call.location
    return await call.services.context.audience.get_person_at(location, person)


ACTIONS: Mapping[str, Action] = {"add": _add, "remove": _remove, "list": _list, "ask": _ask}
