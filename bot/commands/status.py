"""Commands that show the sources of an answer, the status of the index with feedback, and a part of the graph."""

from __future__ import annotations

from contextlib import suppress
from datetime import timedelta
from typing import TYPE_CHECKING

from bot import texts as wording
from bot.answers.control.sources import describe_sources
from bot.errors import PlatformError
from bot.graph_image.render import can_render, load_graph_model, render_graph
from bot.i18n import N_, gettext
from bot.platform.models import Card
from bot.text.format import format_ago, format_number, pluralize
from bot.text.markdown import escape_markdown, markdown_link
from bot.texts.omissions import describe_families, describe_unread
from engine.errors import InvalidQuestion, NotFound

if TYPE_CHECKING:
    from collections.abc import Iterable

    from bot.commands.context import CommandContext
    from bot.store import StoredAnswer
    from engine import IndexStatus, Neighborhood, Scope

MAX_DESCRIPTION_LENGTH = 400  # characters of an entity
MAX_RELATIONS = 8  # relations listed as text
NO_GRAPH_ACCESS = N_(
    "I can't draw a graph for you here: graphs combine all public channels, and you only "
    "have access to some of them. You can still ask questions."
)
PICTURES_HINT = "pictures"
NO_PICTURES = N_(
    "I can also draw this as a picture, if whoever runs me installs what it needs: "
    "`pip install 'threadlore[pictures]'`."
)

FEEDBACK_PERIOD = timedelta(days=30)
MAX_DISLIKED = 3  # answers
MAX_UNREAD_NAMES = 5  # files of a place that were not read
MAX_CHECKED_ANSWERS = 20  # answers checked for whether the caller may read them


async def sources_command(call: CommandContext) -> Card:
    """Show the sources of the last answer here, or of the answer with the given id, with their texts."""
    last = await _find_answer(call)
    if last is None:
        raise InvalidQuestion(gettext("I haven't answered anything here yet."), hint=gettext("Ask me something first."))
    if last.state == "started":
        raise InvalidQuestion(
            gettext("The answer is still being written."), hint=gettext("Its sources will appear below it in a moment.")
        )
    if last.state != "done":
        return Card(
            gettext("That answer failed or used a source that was forgotten since, so it has no sources anymore.")
        )
    shown = await describe_sources(call.services.context, last, call.location, call.person)
    return Card(shown or gettext("The last answer here has no sources."))


async def _find_answer(call: CommandContext) -> StoredAnswer | None:
    """The answer with the given id, or the last one here, except private answers to others."""
    answers, person = call.store.answers, call.person
    named = await answers.get(call.arguments.partition(":")[0]) if call.arguments else None
    if (
        named is not None
        and named.location.without_thread == call.location.without_thread
        and (named.asker == person or not named.private)
    ):
        return named
    return await answers.get_latest(call.location.room, call.location.thread, person)


async def status_command(call: CommandContext) -> Card:
    """Show how much the caller can read of the index, the work in progress, and the state of this channel."""
    scope = await call.resolve_scope()
    known = await call.engine.maintenance.get_status(scope)
    lines = [f"**{gettext('Indexed content you can read')}**", *_format_counts(known, graph=bool(scope.spaces))]
    lines += [
        gettext("In progress: {known}.").format(known=_format_pending(known))
        if _format_pending(known)
        else gettext("Everything is indexed.")
    ]
    lines += [gettext(wording.INDEXING_BUDGET_SPENT)] if known.spent_budget else []
    lines += [wording.with_admin_hint(gettext(wording.MODEL_TROUBLE))] if known.trouble else []
    lines += [wording.with_admin_hint(gettext(wording.BACKGROUND_FAILING))] if known.background else []
    lines += await _list_unread(call, scope)
    judged = await summarize_feedback(call)
    return Card("\n".join([*lines, "", *await _format_channel_status(call), *([""] if judged else []), *judged]))


def _format_counts(known: IndexStatus, *, graph: bool) -> list[str]:
    total = sum(known.documents.values())
    documents = pluralize(total, "{count} document", "{count} documents")
    passages = pluralize(known.passages, "{count} message or page", "{count} messages and pages")
    lines = [f"- {documents}, {passages}"]
    if graph:
        entities = pluralize(known.entities, "{count} name", "{count} names")
        lines.append(f"- {entities}, {pluralize(known.relations, '{count} relation', '{count} relations')}")
    if known.small_talk:
        lines.append(
            pluralize(
                known.small_talk,
                "- not read for facts: {count} message of small talk",
                "- not read for facts: {count} messages of small talk",
            )
        )
    if known.outdated:
        lines.append(
            pluralize(
                known.outdated,
                "- {count} text read for the graph by other settings than now",
                "- {count} texts read for the graph by other settings than now",
            )
        )
    if known.failed:
        lines.append(
            pluralize(
                known.failed,
                "- {count} document that couldn't be read completely",
                "- {count} documents that couldn't be read completely",
            )
        )
    return lines


async def _list_unread(call: CommandContext, scope: Scope) -> list[str]:
    """How many files of each family were not read, and the newest ones of this place by their names."""
    files, room = call.store.unread_files, call.location.room
    counts = await files.count_families(scope)
    here = await files.list_newest(scope, MAX_UNREAD_NAMES, room)
    lines = [gettext("Not read: {files}.").format(files=describe_families(counts))] if counts else []
    lines += [gettext("The newest ones here:")] if here else []
    return [*lines, *(f"- {describe_unread(file.name, file.reason)}" for file in here)]


def _format_pending(known: IndexStatus) -> str:
    pending, chunks, names = known.documents.get("pending", 0), known.unextracted, known.stale
    waits = (
        pending and pluralize(pending, "{count} document to index", "{count} documents to index"),
        chunks and pluralize(chunks, "{count} piece of text to read", "{count} pieces of text to read"),
        names and pluralize(names, "{count} name to update", "{count} names to update"),
    )
    return ", ".join(wait for wait in waits if wait)


async def _format_channel_status(call: CommandContext) -> list[str]:
    """Lines on the channel itself: whether it is read, its last message, and its back-fill."""
    room, store = call.location.room, call.store
    name = await store.channels.get_name(room)
    if name is None:
        return [await _not_indexed_notice(call)]
    lines = [f"**#{escape_markdown(name)}**"]
    read = (await call.services.context.get_channel_settings(room)).ingest
    last = await call.find_last_message_time()
    if not read:
        lines.append(f"- {await _not_indexed_notice(call)}")
    if read or last:
        lines.append(
            gettext("- Last message: {last}.").format(last=format_ago(last, call.now))
            if last
            else gettext("- I have read no messages here yet.")
        )
    if await store.backfill_cursors.get_position(room) is not None:
        lines.append(gettext("- I'm still fetching earlier messages."))
    return lines


async def _not_indexed_notice(call: CommandContext) -> str:
    with suppress(PlatformError):
        if (await call.services.context.audience.get_channel(call.location)).kind == "direct":
            return gettext("In direct messages I only read the files you share.")
    return gettext("I'm not indexing this channel. A manager can run {command} to change that.").format(
        command=call.format_example("settings ingest on")
    )


async def graph_command(call: CommandContext) -> Card:
    """List an entity's most important relations, and draw it with its neighbors where pictures can be drawn."""
    if not call.arguments:
        raise InvalidQuestion(
            gettext("Which name?"),
            hint=gettext("For example {command}").format(command=call.format_example("graph Ada Lovelace")),
        )
    scope = await call.resolve_scope()
    try:
        near, drawn = await load_graph_model(call.engine, call.arguments.strip('"“”'), scope)
    except NotFound:
        if scope.rooms:
            return Card(gettext(NO_GRAPH_ACCESS))
        raise
    if not drawn.edges:
        return Card("\n".join(_format_neighborhood(near)))
    if not can_render():
        return Card("\n".join([*_format_neighborhood(near), *await _hint_at_pictures(call)]))
    made = await render_graph(drawn)
    numbered = [
        gettext("- {number} in the picture is **{name}**").format(number=number, name=escape_markdown(name))
        for number, name in made.numbered_names.items()
    ]
    return Card("\n".join([*_format_neighborhood(near), *numbered]), picture=made.picture)


async def _hint_at_pictures(call: CommandContext) -> list[str]:
    """How to get pictures, the first time in a workspace."""
    location = call.location
    is_new = await call.store.hints.record_if_new(location.platform, location.workspace, PICTURES_HINT)
    return ["", f"_{gettext(NO_PICTURES)}_"] if is_new else []


def _format_neighborhood(near: Neighborhood) -> Iterable[str]:
    entity = near.entity
    if entity is None:
        return
    yield f"**{escape_markdown(entity.name)}**" + (f" ({escape_markdown(entity.type)})" if entity.type else "")
    if entity.description:
        yield escape_markdown(entity.description, MAX_DESCRIPTION_LENGTH)
    for relation in near.relations[:MAX_RELATIONS]:
        other = relation.target if relation.source == entity.name else relation.source
        yield f"- **{escape_markdown(other)}**: {escape_markdown(relation.description or relation.keywords)}"
    if len(near.relations) > MAX_RELATIONS:
        further = len(near.relations) - MAX_RELATIONS
        yield f"- {pluralize(further, '… and {count} further relation', '… and {count} further relations')}"
    if not near.relations:
        yield gettext("It has no relations to other names yet.")


async def summarize_feedback(call: CommandContext) -> list[str]:
    """Lines about the votes of FEEDBACK_PERIOD in this workspace; none without votes, and none unless for a manager."""
    location, since = call.location, call.now - FEEDBACK_PERIOD
    with suppress(PlatformError):
        up, down = await call.store.feedback.count(location.platform, location.workspace, since)
        if (up or down) and await call.is_manager():
            lines = [
                gettext("**Answers of the last {days} days**: {up} 👍, {down} 👎").format(
                    days=FEEDBACK_PERIOD.days, up=format_number(up), down=format_number(down)
                )
            ]
            return [*lines, *await _list_disliked(call)]
    return []


async def _list_disliked(call: CommandContext) -> list[str]:
    """Links to the latest disliked answers that the caller may read."""
    location, found = call.location, list[str]()
    for answer in await call.store.answers.list_disliked(
        location.platform, location.workspace, call.now - FEEDBACK_PERIOD, MAX_CHECKED_ANSWERS
    ):
        if len(found) < MAX_DISLIKED and await call.can_read(answer.location.room):
            found += await _format_answer_link(call, answer)
    return [gettext("The latest with a 👎:"), *found] if found else []


async def _format_answer_link(call: CommandContext, answer: StoredAnswer) -> list[str]:
    """A link to the question, or to the answer if the question has no message."""
    message = next(filter(None, (answer.message_id, *answer.reply_message_ids)), "")
    if not message:
        return []
    name, time = await call.store.channels.get_name(answer.location.room), format_ago(answer.time, call.now)
    link = call.services.context.platform_for(answer.location).message_link(answer.location, message)
    return [f"- {markdown_link(f'#{name}, {time}' if name else time, link)}"]
