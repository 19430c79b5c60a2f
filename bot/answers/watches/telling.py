"""Post what a standing request waited for, as an answer of the bot: it is corrected when a source goes."""

from __future__ import annotations

import secrets
from dataclasses import replace
from hashlib import sha256
from typing import TYPE_CHECKING

from bot.answers.footer import build_answer_footer, build_answer_source
from bot.answers.watches import words
from bot.answers.watches.unasked import UnaskedAnswers
from bot.errors import PlatformUnavailable
from bot.i18n import gettext, use_language
from bot.permissions.audience import EMPTY_SCOPE
from bot.permissions.provenance import build_provenance, can_read
from bot.platform.models import Button
from bot.store import AnswerResult, StoredAnswer
from bot.store.models import passage_key
from bot.store.schedules.watches import NewsId
from bot.text.excerpts import strip_speaker
from bot.text.markdown import escape_markdown

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bot.answers.watches.matching import WatchMatcher
    from bot.context import BotContext
    from bot.permissions.provenance import Provenance
    from bot.store.schedules.watches import Watch, WatchNotice
    from engine import Scope, Source

ID_BYTES = 10
MAX_QUOTED = 8  # messages of a burst, and passages of files; of the others there is the number
MAX_OF_RECORD = 3  # passages of one file, its first
MAX_EXCERPT = 300  # characters


class Cited:
    """The sources of a notice, which rest on no fact of the graph."""

    def __init__(self, sources: Sequence[Source]) -> None:
        self.sources = tuple(sources)
        self.spaces: tuple[str, ...] = ()


class WatchTeller:
    """Tells one person, who may read all that is quoted to them when it is posted."""

    def __init__(self, context: BotContext, matcher: WatchMatcher) -> None:
        self._context = context
        self._store = context.store
        self._matcher = matcher
        self._answers = UnaskedAnswers(context)

    async def tell(self, watch: Watch, notices: Sequence[WatchNotice]) -> None:
        """Post the messages that still are what was waited for. Raises PlatformError to be called again.

        A person who left the workspace is told nothing any more.
        """
        audience = self._context.audience
        whose = watch.platform, watch.workspace, watch.person
        if watch.workspace and (await audience.get_person(*whose)).is_deactivated:
            await self._store.watches.delete_person(*whose)
            return
        resolved = await audience.resolve_scope(watch.place, watch.person)
        if resolved.gap in {"checking", "unknown"}:
            raise PlatformUnavailable("It is not known now what the person can read.")
        begun = await self._store.answers.get(notices[0].answer) if notices[0].answer else None
        sources = await self._load(watch, notices, resolved.scope, is_judged=begun is not None)
        if not sources and begun is None:
            await self._store.watches.finish_telling(notices, "dropped")
            return
        if begun is None:
            id_, heading = _build_id(watch, notices), words.format_heading(watch)
            begun = await self._answers.find_or_open(id_, watch.place, watch.person, heading)
        if begun.state == "started":
            await self._store.watches.begin_telling(notices, begun.id)
            await self._post(watch, begun, sources, resolved.scope)
        await self._store.watches.finish_telling(notices, "told")

    async def _load(
        self, watch: Watch, notices: Sequence[WatchNotice], scope: Scope, *, is_judged: bool
    ) -> list[Source]:
        """What the person can read and waits for, of messages and files, numbered by time.

        `is_judged`: what was begun of them is not judged again.
        """
        found = dict[tuple[str, str, str], "Source"]()
        for notice in notices:
            record = await self._matcher.find_record(notice)
            if record is None or not record.document:
                continue
            for event in (await self._matcher.find(record, [watch], scope)).get(watch.id, [])[:MAX_OF_RECORD]:
                before = await self._matcher.load_before(record, event, scope)
                if is_judged or await self._brings(watch, before):
                    found[event.document, event.passage, event.text] = event
        events = sorted(found.values(), key=lambda each: str(each.time))
        return [replace(each, number=number, position=number) for number, each in enumerate(events, 1)]

    async def _brings(self, watch: Watch, messages: Sequence[Source]) -> bool:
        """Whether a model, if there is one, agrees with the rules about the last message. A mention needs none."""
        if watch.kind == "mentioned":
            return True
        awaited = words.AWAITED[watch.kind].format(subject=watch.subject)
        return await self._context.engine_context.engine.judge_event(awaited, messages) is not False

    async def _post(self, watch: Watch, answer: StoredAnswer, sources: Sequence[Source], scope: Scope) -> None:
        """Post the notice, or continue what another process began of it."""
        is_new = await self._store.answers.begin(answer)
        reply = self._answers.open_reply(answer, is_new=is_new)
        shown, used = sources[:MAX_QUOTED], build_provenance(Cited(sources), scope, EMPTY_SCOPE, 0.0)
        if not shown or not await self._may_read(used, watch):
            await self._answers.withdraw(answer, reply)
            return
        language = await self._context.find_person_language(watch.place, watch.person)
        with use_language(language):
            result = _build_result(watch, shown, len(sources), used)
            stop = Button(gettext(words.STOP_BUTTON), "unwatch", watch.id)
            footer = build_answer_footer(answer.id, result.sources, (), private=False, share=False, further=[stop])
            await self._answers.finish(answer, reply, result, footer)

    async def _may_read(self, used: Provenance, watch: Watch) -> bool:
        """Whether the person may certainly read all of it right before it is posted."""
        allowed = await can_read(self._context.audience, used, watch.place, watch.person)
        if allowed is None:
            raise PlatformUnavailable("It is not known now what the person can read.")
        return allowed


def _build_id(watch: Watch, notices: Sequence[WatchNotice]) -> str:
    """The id of the message about these, which stays when they are forgotten: with no digest of what they say."""
    first = notices[0]
    if NewsId.parse(first.message):
        return first.answer or secrets.token_hex(ID_BYTES)
    return sha256(f"watch\0{watch.id}\0{first.room}\0{first.message}".encode()).hexdigest()[: 2 * ID_BYTES]


def _build_result(watch: Watch, shown: Sequence[Source], total: int, used: Provenance) -> AnswerResult:
    lines = [f"**{words.format_heading(watch)}**", *(f"- {_quote(source)}" for source in shown)]
    if total > len(shown):
        lines.append(gettext("… and {count} more.").format(count=total - len(shown)))
    text = "\n".join(lines)
    return AnswerResult(
        text,
        tuple(build_answer_source(source, text) for source in shown),
        frozenset(passage_key(source.document, source.room, source.passage) for source in shown),
        used.source_scope.spaces,
        used.source_scope.rooms,
    )


def _quote(source: Source) -> str:
    said = escape_markdown(strip_speaker(source.text), MAX_EXCERPT)
    return f"{escape_markdown(source.author or source.title)}: “{said}” [{source.number}]"
