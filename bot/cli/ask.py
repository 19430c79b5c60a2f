"""Commands for questions: ask, retrieve, prompt, history."""

from __future__ import annotations

from dataclasses import dataclass, fields
from datetime import UTC, datetime, time
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from bot.cli.options import RowCommand, SpaceOptions, add_command, add_request
from bot.cli.runner import perform_request
from engine import RetrievalMode  # noqa: TC001  - typer reads it at run time

if TYPE_CHECKING:
    from datetime import tzinfo

    from bot.capabilities.requests import AskOutput, RetrievalOptions
    from bot.settings import Settings

ASK_HELP = """Answer a question with numbered sources.

Examples:

  threadlore ask "Who looks after the lighthouse?"

  threadlore ask "What did I miss?" --channel harbour --since 2026-06-01

  threadlore ask "What is the berth fee?" --document harbour-rules.pdf --json
"""
RETRIEVE_HELP = "Show the context of an answer without writing one: entities, relations and passages."
HISTORY_HELP = """Show what was said about something in the order of time, and what repeats or replaces what.

Examples:

  threadlore history regatta

  threadlore history "Who leads the ferry?" --json
"""
PROMPT_HELP = "Show the prompt that would be sent to the model."
HISTORY = RowCommand("history", HISTORY_HELP)
SubjectArgument = Annotated[str, typer.Argument(metavar="SUBJECT", help="A name, or a question.", show_default=False)]


@dataclass(frozen=True, slots=True, kw_only=True)
class AskOptions(SpaceOptions):
    """What `ask`, `retrieve` and `prompt` ask for."""

    text: Annotated[str, typer.Argument(metavar="QUESTION", help="Your question.", show_default=False)]
    mode: Annotated[
        RetrievalMode | None, typer.Option("--mode", help="Retrieval mode; mix combines graph and text.")
    ] = None
    channels: Annotated[list[str] | None, typer.Option("--channel", help="Search only this channel; repeatable.")] = (
        None
    )
    documents: Annotated[
        list[str] | None,
        typer.Option("--document", help="Search only this document (key, path or title); repeatable."),
    ] = None
    authors: Annotated[
        list[str] | None, typer.Option("--author", help="Search only what this person wrote; repeatable.")
    ] = None
    since: Annotated[str, typer.Option("--since", metavar="DATE", help="Earliest date (2026-05-12).")] = ""
    until: Annotated[str, typer.Option("--until", metavar="DATE", help="Latest date.")] = ""
    as_of: Annotated[
        str, typer.Option("--as-of", metavar="DAY", help="Answer from what was known then (2026-05-12, “3 May”).")
    ] = ""
    top_k: Annotated[
        int | None, typer.Option("--top-k", help="Maximum entities and relations (40).", show_default=False)
    ] = None
    chunk_top_k: Annotated[
        int | None, typer.Option("--chunk-top-k", help="Maximum chunks of text (20).", show_default=False)
    ] = None
    max_entity_tokens: Annotated[
        int | None, typer.Option("--max-entity-tokens", help="Token budget for entities (6000).", show_default=False)
    ] = None
    max_relation_tokens: Annotated[
        int | None, typer.Option("--max-relation-tokens", help="Token budget for relations (8000).", show_default=False)
    ] = None
    max_total_tokens: Annotated[
        int | None, typer.Option("--max-total-tokens", help="Token budget for the prompt (30000).", show_default=False)
    ] = None
    threshold: Annotated[
        float | None,
        typer.Option("--threshold", help="Least similarity of hits (0.17; across languages 0.03).", show_default=False),
    ] = None
    rerank: Annotated[
        bool | None, typer.Option("--rerank/--no-rerank", help="Use the reranker, if one is set.", show_default=False)
    ] = None
    high: Annotated[
        list[str] | None, typer.Option("--high", help="Theme keyword, instead of the model's; repeatable.")
    ] = None
    low: Annotated[
        list[str] | None, typer.Option("--low", help="Name keyword, instead of the model's; repeatable.")
    ] = None


def register(app: typer.Typer) -> None:
    """Add the commands to the app."""
    add_command(app, "ask", AskOptions, partial(perform_ask, output="answer"), ASK_HELP)
    add_command(app, "retrieve", AskOptions, partial(perform_ask, output="context"), RETRIEVE_HELP)
    add_command(app, "prompt", AskOptions, partial(perform_ask, output="prompt"), PROMPT_HELP)
    add_request(app, HISTORY, subject=SubjectArgument)


def perform_ask(context: typer.Context, given: AskOptions, output: AskOutput) -> None:
    """Ask for one kind of output."""
    from bot.capabilities.requests import Ask  # noqa: PLC0415  - keeps --help fast
    from bot.settings import find_local_zone  # noqa: PLC0415  - as above
    from bot.text.format import find_zone_or_utc  # noqa: PLC0415  - as above

    retrieval, zone_name = _build_retrieval(given), find_local_zone()
    zone = find_zone_or_utc(zone_name)
    start = parse_start_time(given.since, zone)
    end = parse_end_time(given.until, zone)

    def build_request(settings: Settings) -> Ask:
        return Ask(
            given.text,
            mode=given.mode or settings.retrieval_mode,
            output=output,
            documents=tuple(given.documents or ()),
            rooms=tuple(given.channels or ()),
            authors=tuple(given.authors or ()),
            since=start,
            until=end,
            working_dir=str(Path.cwd()),
            retrieval=retrieval,
            zone=zone_name,
            as_of=given.as_of,
        )

    perform_request(context, build_request, space=given.space, as_json=given.as_json)


def _build_retrieval(given: AskOptions) -> RetrievalOptions:
    """The options of retrieval, whose names are those of its fields."""
    from bot.capabilities.requests import RetrievalOptions  # noqa: PLC0415  - keeps --help fast

    values = {field.name: getattr(given, field.name) for field in fields(RetrievalOptions)}
    return RetrievalOptions(**{**values, "high": tuple(given.high or ()), "low": tuple(given.low or ())})


def parse_start_time(text: str, zone: tzinfo) -> datetime | None:
    """Parse a time, or a date as its start, in a time zone; None for an empty text. Raises typer.BadParameter."""
    return _parse_time(text, time.min, zone, "--since")


def parse_end_time(text: str, zone: tzinfo) -> datetime | None:
    """Parse a time, or a date as its end. Otherwise as `parse_start_time`."""
    return _parse_time(text, time.max, zone, "--until")


def _parse_time(text: str, hour: time, zone: tzinfo, option: str) -> datetime | None:
    if not text:
        return None
    try:
        given = datetime.fromisoformat(text.strip())
        if len(text.strip()) <= len("2026-05-12"):
            given = datetime.combine(given.date(), hour)
        return (given if given.tzinfo else given.replace(tzinfo=zone)).astimezone(UTC)
    except (ValueError, OverflowError) as error:
        sentence = f"“{text}” is no date like 2026-05-12 or 2026-05-12T09:30."
        raise typer.BadParameter(sentence, param_hint=option) from error
