"""Offline language model: names by rules, answers by quotation, similarity by an embedder."""

from __future__ import annotations

import asyncio
import re
from typing import TYPE_CHECKING

from engine.llm.base import hash_parts
from engine.llm.checked_embedder import wrap_embedder
from engine.llm.offline.extraction import extract_by_rules
from engine.llm.offline.highlights import find_highlights, merge_digests, merge_highlights
from engine.llm.offline.questions import rewrite as query_rewrite
from engine.llm.offline.quotes import build_quotations, complete_answers, render_quotations, select_answers
from engine.llm.offline.quoting.closest import select_closest
from engine.llm.offline.quoting.contrasts import find_contrasts
from engine.llm.offline.quoting.gaps import find_gaps, lacks_answer
from engine.llm.offline.quoting.joint import find_joint_gaps
from engine.llm.offline.quoting.notices import is_written, render_closest, render_corrections
from engine.llm.offline.ranking import rank_sentences
from engine.llm.offline.sentences import merge_lead_sentences
from engine.llm.offline.supersession.sources import put_newer_first
from engine.llm.prompts import render_answer

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Sequence
    from datetime import date

    from engine.llm.base import Embedder
    from engine.models import ChatTurn, Excerpt, Extraction, LLMMessage, Prompt, SearchQuery, SummaryInput
    from engine.usage import UsageMeter

# Raise it when the rules extract something else from the same text: cached extractions are then made again.
EXTRACTION_VERSION = 4
# Raise it when answers from the same sources change: cached answers are then made again.
ANSWER_VERSION = 24

NOTHING_FOUND = "I found nothing about that in the sources that I can use here."
NO_HIGHLIGHTS = {
    "summary": NOTHING_FOUND,
    "decisions": "I found no decision in what I looked through.",
    "questions": "I found no open question in what I looked through.",
    "digest": "I found nothing to report in what I looked through.",
}
ONLY_QUOTES = "Without a model I can only quote sources, and this question comes without any."

_WORDS = re.compile(r"\S+\s*|\s+")


def rules_key(excerpt: Excerpt) -> bytes:
    """Cache key of an extraction by rules."""
    kind = "conversation" if excerpt.is_conversation else "text"
    return hash_parts((f"embedded rules {EXTRACTION_VERSION} {kind}", excerpt.section, excerpt.text))


class OfflineModel:
    """Implements `LanguageModel` by deterministic rules; only `answer` uses the embedder."""

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = wrap_embedder(embedder)

    @property
    def name(self) -> str:
        return f"embedded-{EXTRACTION_VERSION}.{ANSWER_VERSION}@{self._embedder.name}"

    @property
    def summary_model(self) -> str:
        return f"embedded-{EXTRACTION_VERSION}"

    @property
    def is_extractive(self) -> bool:
        return True

    def extraction_key(self, excerpt: Excerpt) -> bytes:
        return rules_key(excerpt)

    async def extract(self, excerpt: Excerpt, meter: UsageMeter) -> Extraction:  # noqa: ARG002  - rules cost nothing
        return await asyncio.to_thread(extract_by_rules, excerpt)

    @property
    def batch_token_limit(self) -> int:
        return 0  # rules cost nothing

    async def extract_batch(self, excerpts: Sequence[Excerpt], meter: UsageMeter) -> list[Extraction | None]:
        return [await self.extract(excerpt, meter) for excerpt in excerpts]

    async def rewrite_query(
        self,
        text: str,
        history: Sequence[ChatTurn],
        meter: UsageMeter,  # noqa: ARG002  - as above
        *,
        today: date | None = None,  # noqa: ARG002  - as above
        asker: str = "",  # noqa: ARG002  - as above
    ) -> SearchQuery:
        return await asyncio.to_thread(query_rewrite.rewrite_query, text, history)

    async def rewrite_unaddressed_query(
        self, text: str, history: Sequence[ChatTurn], meter: UsageMeter, *, today: date | None = None, asker: str = ""
    ) -> SearchQuery | None:
        return await self.rewrite_query(text, history, meter, today=today, asker=asker)

    async def summarize(self, inputs: Sequence[SummaryInput], meter: UsageMeter) -> list[str | None]:  # noqa: ARG002  - as above
        return [merge_lead_sentences(input_.texts) for input_ in inputs]

    def build_answer_messages(self, prompt: Prompt) -> list[LLMMessage]:
        return render_answer(prompt)

    async def answer(self, prompt: Prompt, meter: UsageMeter) -> AsyncGenerator[str, None]:
        text = await self._compose_answer(prompt, meter)
        for piece in _WORDS.findall(text):
            yield piece
            await asyncio.sleep(0)  # lets other tasks run between two words

    async def _compose_answer(self, prompt: Prompt, meter: UsageMeter) -> str:
        """The answer quotations, or the sentence that explains why there are none."""
        context = prompt.context
        if context.mode == "bypass":
            return ONLY_QUOTES
        if context.overview is not None:
            kind = context.overview.kind
            merge = merge_digests if kind == "digest" else merge_highlights
            notes = merge(prompt.partial_answers)
            notes = notes or await asyncio.to_thread(find_highlights, context.sources, kind, prompt.zone)
            days = f"{context.overview.days}\n" if context.overview.days and notes else ""
            return f"{days}{notes}" or NO_HIGHLIGHTS[kind]
        question = context.question.question.strip() or prompt.question
        if not context.sources or not question:
            return NOTHING_FOUND
        candidates, clauses = await rank_sentences(question, context.sources, self._embedder, meter)
        corrections = context.question.corrections
        searched = f"{render_corrections(corrections)}\n" if corrections else ""
        chosen = complete_answers(select_answers(candidates, clauses), candidates, clauses)
        gaps = [word for clause in clauses for word in find_gaps(chosen, clause, candidates)]
        gaps = gaps or [word for clause in clauses for word in find_contrasts(chosen, clause, candidates)]
        gaps = gaps or [word for clause in clauses for word in find_joint_gaps(chosen, clause, candidates)]
        lacks = bool(chosen) and all(lacks_answer(chosen, clause, candidates) for clause in clauses)
        is_closest = bool(gaps) or lacks or not chosen
        if not chosen:
            chosen = select_closest(candidates, clauses)
            gaps = [word for clause in clauses for word in find_gaps(chosen, clause, candidates)]
        shown = " ".join(f"{candidates[at].speaker} {candidates[at].text}" for at in chosen)
        missing = [word for word in gaps if not is_written(word, shown)]
        lead = f"{render_closest(missing)}\n" if is_closest else ""
        candidates, chosen = await asyncio.to_thread(put_newer_first, candidates, chosen, zone=prompt.zone)
        quoted = render_quotations(build_quotations(chosen, candidates), prompt.zone)
        return f"{searched}{lead}{quoted}" if quoted else NOTHING_FOUND
