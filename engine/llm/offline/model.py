"""A language without any model: names by rules, answers by quotation, likeness by an embedder."""

from __future__ import annotations

import asyncio
import re
from hashlib import sha256
from typing import TYPE_CHECKING

from engine.llm.offline import query_rewrite
from engine.llm.offline.extraction import notice
from engine.llm.offline.highlights import highlights, put_together
from engine.llm.offline.lead_sentences import lead
from engine.llm.offline.quotes import choose, listed, quotations
from engine.llm.offline.ranking import study
from engine.llm.prompts import render_answer

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Sequence
    from datetime import date

    from engine.llm.base import Embedder
    from engine.llm.offline.ranking import Study
    from engine.models import Condensed, Excerpt, Fragments, Message, Prompt, Reading, Turn
    from engine.usage import Bill

# To be raised when the rules find something else in the same text: remembered readings are then made anew.
RULES = 1
# To be raised when the same sources are answered from in another way: remembered answers are then made anew.
ANSWERS = 5

NOTHING_FOUND = "I found nothing about that in what I may read here."
NOTHING_WANTED = {
    "summary": NOTHING_FOUND,
    "decisions": "I found no decision in what I looked through.",
    "questions": "I found no open question in what I looked through.",
}
ONLY_QUOTES = "Without a model I can only quote sources, and this question comes without any."

_PIECES = re.compile(r"\S+\s*|\s+")


class EmbeddedLanguage:
    """Implements `Language` by rules that give the same for the same; only `answer` asks the embedder."""

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder

    @property
    def name(self) -> str:
        return f"embedded-{RULES}.{ANSWERS}@{self._embedder.name}"

    @property
    def summary_model(self) -> str:
        return f"embedded-{RULES}"

    @property
    def extractive(self) -> bool:
        return True

    def reading_key(self, excerpt: Excerpt) -> bytes:
        digest = sha256()
        for part in (f"embedded rules {RULES}", excerpt.section, excerpt.text):
            data = part.encode(errors="surrogatepass")
            digest.update(len(data).to_bytes(8, "big") + data)
        return digest.digest()

    async def extract(self, excerpt: Excerpt, bill: Bill) -> Reading:  # noqa: ARG002  - rules cost nothing
        return await asyncio.to_thread(notice, excerpt)

    @property
    def shared_tokens(self) -> int:
        return 0  # rules cost nothing

    async def extract_several(self, excerpts: Sequence[Excerpt], bill: Bill) -> list[Reading | None]:
        return [await self.extract(excerpt, bill) for excerpt in excerpts]

    async def condense(
        self,
        text: str,
        history: Sequence[Turn],
        bill: Bill,  # noqa: ARG002  - as above
        *,
        today: date | None = None,  # noqa: ARG002  - as above
        asker: str = "",  # noqa: ARG002  - as above
    ) -> Condensed:
        return await asyncio.to_thread(query_rewrite.condense, text, history)

    async def condense_overheard(
        self, text: str, history: Sequence[Turn], bill: Bill, *, today: date | None = None, asker: str = ""
    ) -> Condensed | None:
        return await self.condense(text, history, bill, today=today, asker=asker)

    async def summarise(self, wanted: Sequence[Fragments], bill: Bill) -> list[str | None]:  # noqa: ARG002  - as above
        return [lead(each.texts) for each in wanted]

    def messages(self, prompt: Prompt) -> list[Message]:
        return render_answer(prompt)

    async def answer(self, prompt: Prompt, bill: Bill) -> AsyncGenerator[str, None]:
        text = await self._answered(prompt, bill)
        for piece in _PIECES.findall(text):
            yield piece
            await asyncio.sleep(0)  # others get their turn between two words

    async def _answered(self, prompt: Prompt, bill: Bill) -> str:
        """The quotations that answer, or the sentence that says why there are none."""
        context = prompt.context
        if context.mode == "bypass":
            return ONLY_QUOTES
        if context.overview is not None:
            notes = put_together(prompt.notes) if prompt.notes else highlights(context.sources, context.overview.wanted)
            days = f"{context.overview.days}\n" if context.overview.days and notes else ""
            return f"{days}{notes}" or NOTHING_WANTED[context.overview.wanted]
        question = context.question.question.strip() or prompt.question
        if not context.sources or not question:
            return NOTHING_FOUND
        studied = await study(question, context.sources, self._embedder, bill)
        return await asyncio.to_thread(_listed, studied) or NOTHING_FOUND


def _listed(studied: Study) -> str:
    """The quotations that answer, as a list; empty if nothing does."""
    return listed(quotations(choose(studied), studied.quotables))
