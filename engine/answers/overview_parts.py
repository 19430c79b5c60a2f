"""Split the sources of an overview into parts that each fit into one prompt. Pure."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from engine.llm.offline.supersession.sources import split_former
from engine.llm.source_lines import render_source
from engine.retrieval.sources import RESERVED_TOKENS

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from engine.models import Context, LLMMessage, Prompt, Source


MIN_PART_TOKENS = 400  # tokens for sources, even if the rest of the prompt is too long


def split_prompt(
    prompt: Prompt, messages: Callable[[Prompt], Sequence[LLMMessage]], count: Callable[[str], int]
) -> list[Prompt]:
    """Split a prompt into several, each with the next of its sources; source numbers stay the same.

    What was said before the time span of a digest follows what replaces it: elsewhere it would be news. Partial answers
    do not mention the range of dates; only the combined answer does.
    """
    room = _available_tokens(prompt, messages, count)
    parts: list[list[tuple[Source, ...]]] = [[]]
    left = room
    for group in _group_sources(prompt.context):
        tokens = sum(count(render_source(source)) + 1 for source in group)
        if tokens > left and parts[-1]:
            parts.append([])
            left = room
        parts[-1].append(group)
        left -= tokens
    if len(parts) < 2:
        return [prompt]
    overview = prompt.context.overview and replace(prompt.context.overview, days="")
    contexts = [replace(prompt.context, sources=_list_sources(part), overview=overview) for part in parts]
    return [replace(prompt, context=context) for context in contexts]


def _group_sources(context: Context) -> list[tuple[Source, ...]]:
    """The sources, each with the former ones that it replaces, itself or by another one of these."""
    is_digest = context.overview is not None and context.overview.kind == "digest"
    news, former = split_former(context.sources) if is_digest else (context.sources, ())
    newer = {replacement.older: replacement.newer for replacement in context.replacements}
    groups = {item.number: [item] for item in news}
    for statement in former:
        number = statement.number
        while number not in groups and number in newer:
            number = newer.pop(number)
        if number in groups:
            groups[number].append(statement)
    return [tuple(group) for group in groups.values()]


def _list_sources(groups: Sequence[tuple[Source, ...]]) -> tuple[Source, ...]:
    """The first source of each group, followed by all others."""
    return (*(group[0] for group in groups), *(item for group in groups for item in group[1:]))


def build_combined_prompt(
    prompt: Prompt,
    partial_answers: Sequence[str],
    messages: Callable[[Prompt], Sequence[LLMMessage]],
    count: Callable[[str], int],
) -> Prompt:
    """The prompt with partial answers in place of its sources; if these are too long, the first lines of each."""
    left = _available_tokens(replace(prompt, partial_answers=("",)), messages, count)
    lines = [answer.splitlines() for answer in partial_answers]
    kept: list[list[str]] = [[] for _ in partial_answers]
    for rank in range(max(map(len, lines), default=0)):
        for kept_lines, answer_lines in zip(kept, lines, strict=True):
            if rank < len(answer_lines) and (left := left - count(answer_lines[rank]) - 1) >= 0:
                kept_lines.append(answer_lines[rank])
    texts = tuple("\n".join(answer) for answer in kept if answer)
    return replace(prompt, context=replace(prompt.context, sources=()), partial_answers=texts)


def _available_tokens(
    prompt: Prompt, messages: Callable[[Prompt], Sequence[LLMMessage]], count: Callable[[str], int]
) -> int:
    """The tokens left for sources or partial answers."""
    empty = replace(prompt, context=replace(prompt.context, sources=()))
    return max(
        MIN_PART_TOKENS,
        prompt.token_budget - RESERVED_TOKENS - sum(count(message.content) for message in messages(empty)),
    )
