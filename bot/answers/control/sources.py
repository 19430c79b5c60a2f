"""Show the sources of an answer to one person: those that they can read, with their present texts."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

from bot.answers.review.rights import can_read_room, explain_room
from bot.text.format import format_local, pluralize
from bot.text.markdown import escape_markdown, markdown_link
from engine.errors import NotFound

if TYPE_CHECKING:
    from collections.abc import Iterable
    from datetime import tzinfo

    from bot.context import BotContext
    from bot.platform.models import Location
    from bot.store import AnswerSource, StoredAnswer

MAX_QUOTE_LENGTH = 400  # characters of a source


async def describe_sources(context: BotContext, stored: StoredAnswer, location: Location, person: str) -> str:
    """The sources of an answer that a person in a location can read, and how many others there are; "" for none."""
    rooms = {source.room for source in stored.sources}
    readable = {room for room in rooms if await can_read_room(context, room, location, person)}
    shown = [source for source in stored.sources if source.room in readable]
    texts = await _load_texts(context, {source.document for source in shown}, location, person)
    zone = await context.find_zone(location, person)
    why = {room: await explain_room(context.audience, room, location, person) for room in sorted(readable)}
    lines = [
        _format(source, texts.get((source.document, source.passage), source.excerpt), zone, why[source.room])
        for source in shown
    ]
    withheld = len(stored.sources) - len(shown)
    if withheld:
        lines.append(
            pluralize(
                withheld,
                "_{count} further source that you can't read._",
                "_{count} further sources that you can't read._",
            )
        )
    return "\n\n".join(lines)


async def _load_texts(
    context: BotContext, documents: Iterable[str], location: Location, person: str
) -> dict[tuple[str, str], str]:
    """The present texts of passages, by document and passage key."""
    scope, found = await context.audience.scope_for_person(location, person), dict[tuple[str, str], str]()
    for key in documents:
        with suppress(NotFound):
            document = await context.engine_context.engine.documents.get(key, scope)
            found.update({(key, passage.key): passage.text for passage in document.passages})
    return found


def _format(source: AnswerSource, text: str, zone: tzinfo, why: str) -> str:
    """Title, text, and why its reader may see it."""
    title = f"{source.title}, {format_local(source.time, zone)}" if source.time else source.title
    head = f"**{source.number}** {markdown_link(title, source.link)}"
    quoted = f"\n> {escape_markdown(text, MAX_QUOTE_LENGTH)}" if text.strip() else ""
    return f"{head}{quoted}" + (f"\n_{why}_" if why else "")
