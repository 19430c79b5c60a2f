"""Write the page of frequent questions; nothing of it is stored, so that it is never older than its sources."""

from __future__ import annotations

from contextlib import aclosing
from typing import TYPE_CHECKING

from bot.capabilities.faq.page import OpenQuestion, write_page
from bot.capabilities.management.space_questions import list_space_questions
from bot.capabilities.results import ExportLine

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator

    from bot.capabilities.caller import Caller
    from bot.capabilities.deps import Deps
    from bot.capabilities.faq.requests import GetFaq
    from bot.capabilities.results import OperationResult


async def get_faq(deps: Deps, caller: Caller, request: GetFaq) -> AsyncGenerator[OperationResult]:
    """Yield the page as lines of Markdown. Raises NotFound for a channel that the caller cannot read."""
    parts = await deps.parts.open()
    if caller.kind != "person":
        asked = await list_space_questions(parts.store, caller.subject, deps.clock.now())
        questions = [OpenQuestion(question.question, question.count) for question in asked.questions]
        yield ExportLine(write_page([], questions, deps.clock.now()))
        return
    management = parts.require_management(caller.subject.platform)
    async with aclosing(management.perform_management(caller.subject, request)) as results:
        async for result in results:
            yield result
