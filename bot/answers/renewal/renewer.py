"""Write an answer anew in place: what stays of it, and what the question gives when it is asked again.

The text of a removed source is deleted from the store before. What a newer message supersedes stays until there is a
new text, and gets a mark if there will be none. Either is stored before it is posted, so that after a crash the same
text is posted, and nothing is asked twice.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING, Literal

import structlog

from bot.answers.footer import link_citations, source_urls
from bot.answers.renewal.asking import AnswerAsker, FreshAnswer
from bot.i18n import gettext, use_language
from bot.permissions.provenance import can_read, provenance_of_answer
from bot.platform.models import Location
from bot.store import AnswerResult
from bot.store.control.untouched import select_spaces, select_untouched
from bot.store.models import CONTRADICTION_PREFIX, REPORT_PREFIX, source_keys
from bot.text.citing_sentences import cited_numbers, keep_sentences, renumber
from bot.text.format import format_day
from bot.text.markdown import markdown_link
from bot.text.splitting import split_message
from bot.texts import control as control_texts

if TYPE_CHECKING:
    from bot.answers.question import AnswerRequest
    from bot.answers.service import AnswerService
    from bot.context import BotContext
    from bot.platform.ports import ReplyTarget
    from bot.store import AnswerSource, StoredAnswer
    from bot.store.control.renewals import RenewalOutcome
    from bot.store.control.superseded import Supersession


log = structlog.get_logger(__name__)

# What became of an answer, or what is to become of it; "kept": it stays as it is posted.
Renewal = Literal["posted", "later", "notice", "kept"]

INDEXING_WAIT = 30.0  # seconds after a change, during which its new text may become searchable


class AnswerRenewer:
    """Renews answers by the settings; each once for each change."""

    def __init__(self, context: BotContext, service: AnswerService) -> None:
        self._context = context
        self._settings = context.settings
        self._renewals = context.store.answer_renewals
        self._asker = AnswerAsker(context, service)

    async def renew(self, target: ReplyTarget, requested_at: float) -> Renewal:
        """Post the new text of an answer, if there is one. Raises PlatformError.

        `requested_at`: when its source changed, in seconds since 1970.
        """
        if target.answer.startswith((REPORT_PREFIX, CONTRADICTION_PREFIX)):
            return "notice"  # nobody asked for it, and a command shows what is current
        answers = self._context.store.answers
        stored = await answers.get(target.answer)
        newer = await self._context.store.superseded_answers.get(target.answer)
        is_whole = stored is not None and stored.state == "done"  # such as after a mark went with its message
        is_superseded = newer is not None and is_whole
        if self._settings.renew_answers == "off" and (is_superseded or not is_whole):
            return "kept" if is_superseded else "notice"
        if stored is not None and (is_superseded or stored.state == "redacted"):
            write = self._update(stored, newer, requested_at) if newer else self._rewrite(stored, requested_at)
            if (written := await write) is not None:
                return written
            stored = await answers.get(target.answer)
        if stored is not None and stored.state == "started":
            return "later"  # somebody asks again
        if stored is None or stored.state != "done":
            return "notice"
        return await self._post(target, stored)

    async def _update(self, stored: StoredAnswer, newer: Supersession, requested_at: float) -> Renewal | None:
        """Store the new text of an answer that a message supersedes, or its mark; None if either is stored."""
        if newer.is_marked:
            return None
        began = self._context.clock.time()
        asked = await self._ask_again(stored, began - requested_at)
        if asked is None:
            return "later"
        request, fresh = asked
        outcome: RenewalOutcome = "marked"
        if request and fresh.result and is_current(fresh.result, newer.newer, newer.replaced):
            outcome, kept = "renewed", keep_current(stored, newer.replaced)
            limit = self._context.platform_for(stored.location).limits.max_length
            result = put_before(fresh.result, kept, limit // 2)  # with its links and sources it fits into a message
            is_stored = await self._renewals.save(stored, request.text, result, began)
        else:
            is_stored = await self._context.store.superseded_answers.mark(stored.id, newer.newer)
        await self._renewals.record(stored.location, stored.id, outcome if is_stored else "failed", fresh.tokens)
        return None if is_stored else "later"  # a source was removed meanwhile

    async def _rewrite(self, stored: StoredAnswer, requested_at: float) -> Renewal | None:
        """Store the new text of a redacted answer; None if it is stored."""
        if obstacle := self._find_obstacle(stored):
            return await self._give_up(stored, obstacle)
        began = self._context.clock.time()
        asked = await self._ask_again(stored, began - requested_at)
        if asked is None:
            return "later"
        request, fresh = asked
        result = merge_results(result_of(stored), fresh.result)
        if not result.text:
            return await self._give_up(stored, "nothing" if stored.message_id else "command", fresh.tokens)
        if not await self._renewals.save(stored, request.text if request else "", result, began):
            await self._renewals.record(stored.location, stored.id, "failed", fresh.tokens)
            return "later"  # another source was removed meanwhile
        outcome: RenewalOutcome = "shortened" if fresh.result is None else "renewed"
        await self._renewals.record(stored.location, stored.id, outcome, fresh.tokens)
        return None

    async def _ask_again(self, stored: StoredAnswer, since: float) -> tuple[AnswerRequest | None, FreshAnswer] | None:
        """The question of an answer, and what it gives now; None to try later. `since`: seconds since the change."""
        request = await self._asker.find_request(stored)
        if request is None or not await self._may_ask(stored):
            return request, FreshAnswer()
        fresh = await self._asker.ask(request, wait=since < INDEXING_WAIT)
        return None if fresh is None else (request, fresh)

    def _find_obstacle(self, stored: StoredAnswer) -> RenewalOutcome | None:
        if stored.private:
            return "private"
        age = self._context.clock.now() - stored.time
        return "old" if age > timedelta(days=self._settings.renew_answers_days) else None

    async def _give_up(self, stored: StoredAnswer, outcome: RenewalOutcome, tokens: int = 0) -> Renewal:
        await self._renewals.record(stored.location, stored.id, outcome, tokens)
        return "notice"

    async def _may_ask(self, stored: StoredAnswer) -> bool:
        """Whether a model may write the answer anew: by the settings, and by the tokens of the day."""
        limit = self._settings.renew_answers_tokens
        if self._settings.renew_answers != "on":
            return False
        if limit and await self._renewals.count_tokens(stored.location) >= limit:
            log.info("answer.renewal_budget_spent", answer=stored.id)
            return False
        return True

    async def _post(self, target: ReplyTarget, stored: StoredAnswer) -> Renewal:
        """Edit the posted messages, if everyone who sees them may read what the new text rests on."""
        allowed = await can_read(self._context.audience, provenance_of_answer(stored), stored.location)
        if not allowed:
            if allowed is False:
                await self._context.store.answers.redact_one(stored.id)
            return "later" if allowed is None else "notice"
        platform = self._context.platform_for(stored.location)
        language = await self._context.find_channel_language(stored.location, stored.asker)
        newer = await self._context.store.superseded_answers.get(stored.id)
        with use_language(language):
            heading = gettext(control_texts.RENEWED).format(day=format_day(stored.time)) if stored.attempt else ""
            if newer is not None:
                heading = _format_mark(platform.message_link(Location.from_room(newer.room), newer.message))
            text = format_renewed(stored, heading, platform.limits.max_length)
        await platform.replace_answer(target, text)
        return "posted"


def _format_mark(link: str) -> str:
    """The mark of an answer that a newer message supersedes."""
    named = gettext("its message")
    return gettext(control_texts.SUPERSEDED).format(link=markdown_link(named, link) if link else named)


def format_renewed(stored: StoredAnswer, heading: str, limit: int) -> str:
    """The text of an answer with its sources below a heading, in one message of at most `limit` characters.

    Without a heading it is what it was before it had a mark.
    """
    text = link_citations(stored.text, source_urls(stored.sources))
    whole = f"_{heading}_\n\n{text}" if heading else text
    listed = "\n".join(f"{source.number}. {markdown_link(source.title, source.link)}" for source in stored.sources)
    if len(whole) + len(listed) + 2 <= limit:
        return f"{whole}\n\n{listed}"
    first, *rest = split_message(whole, limit - 2) or ("",)
    return f"{first} …" if rest else first


def result_of(stored: StoredAnswer) -> AnswerResult:
    """What is stored of an answer, as a result."""
    return AnswerResult(stored.text, stored.sources, stored.documents, stored.spaces, stored.rooms, stored.shown_keys)


def keep_current(stored: StoredAnswer, replaced: frozenset[str]) -> AnswerResult:
    """What of an answer rests on none of the messages with these keys."""
    text, sources = select_untouched(stored.text, stored.sources, stored.documents, replaced) or ("", ())
    keys = frozenset[str]().union(*map(keys_of, sources))
    spaces = select_spaces(stored.spaces, sources)
    return AnswerResult(text, sources, keys, spaces, frozenset(source.room for source in sources), keys)


def is_current(fresh: AnswerResult, newer: str, replaced: frozenset[str]) -> bool:
    """Whether an answer cites the newer message, or at least none that it replaces."""
    cited = frozenset[str]().union(*map(keys_of, fresh.sources))
    return newer in cited or not cited & replaced


def keys_of(source: AnswerSource) -> frozenset[str]:
    """The keys of a source."""
    return source_keys(source.document, source.room, source.passage)


def put_before(fresh: AnswerResult, kept: AnswerResult, limit: int) -> AnswerResult:
    """What a fresh answer says from other sources, then the kept sentences; alone if both are over `limit`."""
    merged = merge_results(kept, fresh, new_first=True)
    return fresh if len(merged.text) > limit else merged


def merge_results(kept: AnswerResult, fresh: AnswerResult | None, *, new_first: bool = False) -> AnswerResult:
    """The kept sentences word for word, then (or before, `new_first`) those of the fresh answer that cite others."""
    if fresh is None or not kept.text:
        return fresh or kept
    numbers = _number_sources(kept.sources, fresh.sources)
    held = {source.number for source in kept.sources}
    new = {number for number, other in numbers.items() if other not in held}
    added = keep_sentences(fresh.text, lambda _, cited: bool(cited & new))
    if not added:
        return kept
    cited = cited_numbers(added)
    further = (
        replace(source, number=numbers[source.number]) for source in fresh.sources if source.number in cited & new
    )
    return AnswerResult(
        f"{renumber(added, numbers)}\n{kept.text}" if new_first else f"{kept.text}\n{renumber(added, numbers)}",
        (*kept.sources, *further),
        kept.documents | fresh.documents,
        kept.spaces | fresh.spaces,
        kept.rooms | fresh.rooms,
        kept.shown_keys | fresh.shown_keys,
    )


def _number_sources(kept: tuple[AnswerSource, ...], fresh: tuple[AnswerSource, ...]) -> dict[int, int]:
    """The numbers of the fresh sources: those of the kept ones where they are the same, otherwise further ones."""
    known = {(source.document, source.passage): source.number for source in kept}
    following = max((source.number for source in kept), default=0) + 1
    numbers: dict[int, int] = {}
    for source in fresh:
        passage = source.document, source.passage
        if passage not in known:
            known[passage], following = following, following + 1
        numbers[source.number] = known[passage]
    return numbers
