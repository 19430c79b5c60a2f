"""What is known: the sources of an answer, numbers, and a name with what is around it."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

from bot import texts as wording
from bot.cli.render.tables import counted
from bot.commands.feedback_summary import judgements
from bot.errors import PlatformError
from bot.graph_image.render import look, picture
from bot.platform.models import Card, dated
from bot.text.markdown import linked, plain
from bot.text.times import ago
from engine.errors import BadQuestion, NotFound

if TYPE_CHECKING:
    from collections.abc import Iterable

    from bot.commands.context import Call
    from bot.store import Drawn, Stored
    from engine.models import Scope
    from engine.retrieval.retriever import Neighbourhood
    from engine.storage.ledger.queries.stats import Status

QUOTED = 400  # characters of a source
LISTED = 8  # relations told in words
ROOMS_ONLY = (
    "Of that I have no picture for you: names are drawn from all channels of a workspace together, and you may read "
    "single ones. Questions work as ever."
)


async def sources(call: Call) -> Card:
    """The sources of the last answer here, or of the answer with the id that is given, with their texts."""
    last = await _answer(call)
    if last is None:
        raise BadQuestion("Nothing was answered here yet.", hint="Ask me something first.")
    if last.state == "begun":
        raise BadQuestion("The answer is still being written.", hint="Its sources stand below it in a moment.")
    if last.state != "done":
        return Card("That answer failed, or drew on something that was forgotten since: it has no sources any more.")
    scope = await call.scope()
    rooms = {each.room for each in last.sources if await call.reads(each.room)}
    open_ = [each for each in last.sources if each.room in rooms]
    texts = await _texts(call, {each.document for each in open_}, scope)
    lines = [_source(each, texts.get((each.document, each.passage), each.words)) for each in open_]
    withheld = len(last.sources) - len(open_)
    if withheld:
        lines.append(f"_{counted(withheld, 'further source')}: you cannot read {'it' if withheld == 1 else 'them'}._")
    return Card("\n\n".join(lines) or "The last answer here has no sources.")


async def _answer(call: Call) -> Stored | None:
    """The answer that is meant; another person's private one is none."""
    answers, person = call.store.answers, call.called.person
    named = await answers.get(call.words) if call.words else None
    if named is not None and named.place.main == call.place.main and (named.asker == person or not named.private):
        return named
    return await answers.last_in(call.place.room, call.place.thread, person)


async def _texts(call: Call, documents: Iterable[str], scope: Scope) -> dict[tuple[str, str], str]:
    """The texts of passages as they are now, by document and key."""
    found = {}
    for key in documents:
        with suppress(NotFound):
            document = await call.engine.document(key, scope)
            found.update({(key, passage.key): passage.text for passage in document.passages})
    return found


def _source(drawn: Drawn, text: str) -> str:
    head = f"**{drawn.number}** {linked(dated(drawn.title, drawn.time), drawn.link)}"
    return head + (f"\n> {plain(text, QUOTED)}" if text.strip() else "")


async def status(call: Call) -> Card:
    """How much is known of what the caller may read, what is still worked on, and when this channel was last heard."""
    scope = await call.scope()
    known = await call.engine.status(scope)
    lines = ["**What I know that you may read**", *_numbers(known, graph=bool(scope.spaces))]
    lines += [f"Still to do: {_work(known)}." if _work(known) else "All of it is read."]
    lines += [wording.UNHEARD] if known.trouble else []
    lines += [wording.BACKGROUND_FAILING] if known.background else []
    judged = await judgements(call)
    return Card("\n".join([*lines, "", *await _here(call), *([""] if judged else []), *judged]))


def _numbers(known: Status, *, graph: bool) -> list[str]:
    total = sum(known.documents.values())
    lines = [
        f"- {counted(total, 'document')}, {counted(known.passages, 'passage')} in {counted(known.chunks, 'chunk')}"
    ]
    if graph:
        lines.append(f"- {counted(known.entities, 'entity')}, {counted(known.relations, 'relation')}")
    if known.failed:
        lines.append(f"- {counted(known.failed, 'document')} of which something could not be read")
    return lines


def _work(known: Status) -> str:
    pending = known.documents.get("pending", 0)
    waits = (
        (pending, "document", "to make searchable"),
        (known.unread, "chunk", "to read"),
        (known.stale, "name", "to bring up to date"),
    )
    return ", ".join(f"{counted(number, noun)} {what}" for number, noun, what in waits if number)


async def _here(call: Call) -> list[str]:
    """What is known of the channel itself, which the caller is in."""
    room, store = call.place.room, call.store
    name = await store.rooms.name(room)
    if name is None:
        return [await _unread(call)]
    lines = [f"**#{plain(name)}**"]
    read, last = (await store.channels.get(room)).ingest, await store.messages.newest(room)
    if not read:
        lines.append(f"- {await _unread(call)}")
    if read or last:
        lines.append(f"- The last message came {ago(last, call.now)}." if last else "- No message was read here yet.")
    if await store.cursors.of(room) is not None:
        lines.append("- Earlier messages are still being fetched.")
    return lines


async def _unread(call: Call) -> str:
    with suppress(PlatformError):
        if (await call.parts.house.readers.channel(call.place)).kind == "direct":
            return "Here, alone with me, I read the files that you share, and nothing else."
    return f"This channel is not read. {call.example('settings ingest on')}, by a manager, changes that."


async def graph(call: Call) -> Card:
    """A picture of a name and what is around it, with the weightiest of it in words."""
    if not call.words:
        raise BadQuestion("Which name?", hint=f"Like this: {call.example('graph Ada Lovelace')}")
    scope = await call.scope()
    try:
        near, drawn = await look(call.engine, call.words.strip('"“”'), scope)
    except NotFound:
        if scope.rooms:
            return Card(ROOMS_ONLY)
        raise
    if not drawn.edges:
        return Card("\n".join(_told(near)))
    made = await picture(drawn)
    numbered = [f"- {number} in the picture is **{plain(name)}**" for number, name in made.numbered.items()]
    return Card("\n".join([*_told(near), *numbered]), picture=made.picture)


def _told(near: Neighbourhood) -> Iterable[str]:
    entity = near.entity
    if entity is None:
        return
    yield f"**{plain(entity.name)}**" + (f" ({plain(entity.type)})" if entity.type else "")
    if entity.description:
        yield plain(entity.description, QUOTED)
    for each in near.relations[:LISTED]:
        other = each.target if each.source == entity.name else each.source
        yield f"- **{plain(other)}**: {plain(each.description or each.keywords)}"
    if len(near.relations) > LISTED:
        yield f"- … and {counted(len(near.relations) - LISTED, 'further relation')}"
    if not near.relations:
        yield "Nothing links it with other names yet."
