"""What is known: the sources of an answer, numbers, and a name with what is around it."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

from bot import texts as wording
from bot.commands.feedback_summary import summarize_feedback
from bot.errors import PlatformError
from bot.graph_image.render import load_graph_model, render_graph
from bot.platform.models import Card, title_with_time
from bot.text.format import pluralize
from bot.text.markdown import escape_markdown, markdown_link
from bot.text.times import format_ago
from engine.errors import InvalidQuestion, NotFound

if TYPE_CHECKING:
    from collections.abc import Iterable

    from bot.commands.context import CommandContext
    from bot.store import AnswerSource, StoredAnswer
    from engine import IndexStatus, Neighbourhood, Scope

MAX_QUOTE_LENGTH = 400  # characters of a source
MAX_RELATIONS = 8  # relations told in words
NO_GRAPH_ACCESS = (
    "Of that I have no picture for you: names are drawn from all channels of a workspace together, and you may read "
    "single ones. Questions work as ever."
)


async def sources_command(call: CommandContext) -> Card:
    """The sources of the last answer here, or of the answer with the id that is given, with their texts."""
    last = await _find_answer(call)
    if last is None:
        raise InvalidQuestion("Nothing was answered here yet.", hint="Ask me something first.")
    if last.state == "begun":
        raise InvalidQuestion("The answer is still being written.", hint="Its sources stand below it in a moment.")
    if last.state != "done":
        return Card("That answer failed, or drew on something that was forgotten since: it has no sources any more.")
    scope = await call.resolve_scope()
    rooms = {each.room for each in last.sources if await call.can_read(each.room)}
    open_ = [each for each in last.sources if each.room in rooms]
    texts = await _load_passage_texts(call, {each.document for each in open_}, scope)
    lines = [_format_source(each, texts.get((each.document, each.passage), each.excerpt)) for each in open_]
    withheld = len(last.sources) - len(open_)
    if withheld:
        lines.append(f"_{pluralize(withheld, 'further source')}: you cannot read {'it' if withheld == 1 else 'them'}._")
    return Card("\n\n".join(lines) or "The last answer here has no sources.")


async def _find_answer(call: CommandContext) -> StoredAnswer | None:
    """The answer that is meant; another person's private one is none."""
    answers, person = call.store.answers, call.invocation.person
    named = await answers.get(call.arguments) if call.arguments else None
    if (
        named is not None
        and named.location.without_thread == call.location.without_thread
        and (named.asker == person or not named.private)
    ):
        return named
    return await answers.get_latest(call.location.room, call.location.thread, person)


async def _load_passage_texts(
    call: CommandContext, documents: Iterable[str], scope: Scope
) -> dict[tuple[str, str], str]:
    """The texts of passages as they are now, by document and key."""
    found = {}
    for key in documents:
        with suppress(NotFound):
            document = await call.engine.get_document(key, scope)
            found.update({(key, passage.key): passage.text for passage in document.passages})
    return found


def _format_source(drawn: AnswerSource, text: str) -> str:
    head = f"**{drawn.number}** {markdown_link(title_with_time(drawn.title, drawn.time), drawn.link)}"
    return head + (f"\n> {escape_markdown(text, MAX_QUOTE_LENGTH)}" if text.strip() else "")


async def status_command(call: CommandContext) -> Card:
    """How much is known of what the caller may read, what is still worked on, and when this channel was last heard."""
    scope = await call.resolve_scope()
    known = await call.engine.get_status(scope)
    lines = ["**What I know that you may read**", *_format_counts(known, graph=bool(scope.spaces))]
    lines += [f"Still to do: {_format_pending(known)}." if _format_pending(known) else "All of it is read."]
    lines += [wording.MODEL_TROUBLE] if known.trouble else []
    lines += [wording.BACKGROUND_FAILING] if known.background else []
    judged = await summarize_feedback(call)
    return Card("\n".join([*lines, "", *await _format_channel_status(call), *([""] if judged else []), *judged]))


def _format_counts(known: IndexStatus, *, graph: bool) -> list[str]:
    total = sum(known.documents.values())
    documents, passages, chunks = (
        pluralize(total, "document"),
        pluralize(known.passages, "passage"),
        pluralize(known.chunks, "chunk"),
    )
    lines = [f"- {documents}, {passages} in {chunks}"]
    if graph:
        lines.append(f"- {pluralize(known.entities, 'entity')}, {pluralize(known.relations, 'relation')}")
    if known.failed:
        lines.append(f"- {pluralize(known.failed, 'document')} of which something could not be read")
    return lines


def _format_pending(known: IndexStatus) -> str:
    pending = known.documents.get("pending", 0)
    waits = (
        (pending, "document", "to make searchable"),
        (known.unextracted, "chunk", "to read"),
        (known.stale, "name", "to bring up to date"),
    )
    return ", ".join(f"{pluralize(number, noun)} {what}" for number, noun, what in waits if number)


async def _format_channel_status(call: CommandContext) -> list[str]:
    """What is known of the channel itself, which the caller is in."""
    room, store = call.location.room, call.store
    name = await store.channels.get_name(room)
    if name is None:
        return [await _not_indexed_notice(call)]
    lines = [f"**#{escape_markdown(name)}**"]
    read = (await call.services.context.get_channel_settings(room)).ingest
    last = await store.messages.get_newest_time(room)
    if not read:
        lines.append(f"- {await _not_indexed_notice(call)}")
    if read or last:
        lines.append(
            f"- The last message came {format_ago(last, call.now)}." if last else "- No message was read here yet."
        )
    if await store.backfill_cursors.get_position(room) is not None:
        lines.append("- Earlier messages are still being fetched.")
    return lines


async def _not_indexed_notice(call: CommandContext) -> str:
    with suppress(PlatformError):
        if (await call.services.context.audience.get_channel(call.location)).kind == "direct":
            return "Here, alone with me, I read the files that you share, and nothing else."
    return f"This channel is not read. {call.format_example('settings ingest on')}, by a manager, changes that."


async def graph_command(call: CommandContext) -> Card:
    """A picture of a name and what is around it, with the weightiest of it in words."""
    if not call.arguments:
        raise InvalidQuestion("Which name?", hint=f"Like this: {call.format_example('graph Ada Lovelace')}")
    scope = await call.resolve_scope()
    try:
        near, drawn = await load_graph_model(call.engine, call.arguments.strip('"“”'), scope)
    except NotFound:
        if scope.rooms:
            return Card(NO_GRAPH_ACCESS)
        raise
    if not drawn.edges:
        return Card("\n".join(_format_neighbourhood(near)))
    made = await render_graph(drawn)
    numbered = [
        f"- {number} in the picture is **{escape_markdown(name)}**" for number, name in made.numbered_names.items()
    ]
    return Card("\n".join([*_format_neighbourhood(near), *numbered]), picture=made.picture)


def _format_neighbourhood(near: Neighbourhood) -> Iterable[str]:
    entity = near.entity
    if entity is None:
        return
    yield f"**{escape_markdown(entity.name)}**" + (f" ({escape_markdown(entity.type)})" if entity.type else "")
    if entity.description:
        yield escape_markdown(entity.description, MAX_QUOTE_LENGTH)
    for each in near.relations[:MAX_RELATIONS]:
        other = each.target if each.source == entity.name else each.source
        yield f"- **{escape_markdown(other)}**: {escape_markdown(each.description or each.keywords)}"
    if len(near.relations) > MAX_RELATIONS:
        yield f"- … and {pluralize(len(near.relations) - MAX_RELATIONS, 'further relation')}"
    if not near.relations:
        yield "Nothing links it with other names yet."
