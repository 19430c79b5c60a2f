"""Commands for questions: ask, retrieve, prompt, history."""

from __future__ import annotations

from datetime import UTC, datetime, time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from bot.cli.runner import JsonOption, SpaceOption, perform_request
from engine import RetrievalMode

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import tzinfo

    from bot.capabilities.requests import AskOutput
    from bot.settings import Settings

QuestionArgument = Annotated[str, typer.Argument(metavar="QUESTION", help="Your question.", show_default=False)]
ModeOption = Annotated[
    RetrievalMode | None, typer.Option("--mode", help="Retrieval mode; mix combines graph and text.")
]
ChannelOption = Annotated[list[str] | None, typer.Option("--channel", help="Search only this channel; repeatable.")]
DocumentOption = Annotated[
    list[str] | None,
    typer.Option("--document", help="Search only this document (key, path or title); repeatable."),
]
AuthorOption = Annotated[
    list[str] | None, typer.Option("--author", help="Search only what this person wrote; repeatable.")
]
SinceOption = Annotated[str, typer.Option("--since", metavar="DATE", help="Earliest date (2026-05-12).")]
UntilOption = Annotated[str, typer.Option("--until", metavar="DATE", help="Latest date.")]
AsOfOption = Annotated[
    str, typer.Option("--as-of", metavar="DAY", help="Answer from what was known then (2026-05-12, “3 May”).")
]
TopKOption = Annotated[
    int | None, typer.Option("--top-k", help="Maximum entities and relations (40).", show_default=False)
]
ChunkTopKOption = Annotated[
    int | None, typer.Option("--chunk-top-k", help="Maximum chunks of text (20).", show_default=False)
]
EntityTokensOption = Annotated[
    int | None, typer.Option("--max-entity-tokens", help="Token budget for entities (6000).", show_default=False)
]
RelationTokensOption = Annotated[
    int | None, typer.Option("--max-relation-tokens", help="Token budget for relations (8000).", show_default=False)
]
TotalTokensOption = Annotated[
    int | None, typer.Option("--max-total-tokens", help="Token budget for the prompt (30000).", show_default=False)
]
ThresholdOption = Annotated[
    float | None,
    typer.Option("--threshold", help="Least similarity of vector hits (0.17; 0: unrelated).", show_default=False),
]
RerankOption = Annotated[
    bool | None, typer.Option("--rerank/--no-rerank", help="Use the reranker, if one is set.", show_default=False)
]
HighOption = Annotated[
    list[str] | None, typer.Option("--high", help="Theme keyword, instead of the model's; repeatable.")
]
LowOption = Annotated[list[str] | None, typer.Option("--low", help="Name keyword, instead of the model's; repeatable.")]
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


def register(app: typer.Typer) -> None:
    """Add the commands to the app."""
    app.command("ask", help=ASK_HELP)(_build_command("answer"))
    app.command("retrieve", help=RETRIEVE_HELP)(_build_command("context"))
    app.command("prompt", help=PROMPT_HELP)(_build_command("prompt"))
    app.command("history", help=HISTORY_HELP)(_show_history)


def _build_command(output: AskOutput) -> Callable[..., None]:
    """Build a command that asks for one kind of output; all three take the same options."""

    def command(  # noqa: PLR0913, PLR0917  - each parameter is an option
        context: typer.Context,
        text: QuestionArgument,
        mode: ModeOption = None,
        channels: ChannelOption = None,
        documents: DocumentOption = None,
        authors: AuthorOption = None,
        since: SinceOption = "",
        until: UntilOption = "",
        as_of: AsOfOption = "",
        top_k: TopKOption = None,
        chunk_top_k: ChunkTopKOption = None,
        max_entity_tokens: EntityTokensOption = None,
        max_relation_tokens: RelationTokensOption = None,
        max_total_tokens: TotalTokensOption = None,
        threshold: ThresholdOption = None,
        rerank: RerankOption = None,
        high: HighOption = None,
        low: LowOption = None,
        space: SpaceOption = "",
        as_json: JsonOption = False,  # noqa: FBT002  - an option
    ) -> None:
        from bot.capabilities.requests import Ask, RetrievalOptions  # noqa: PLC0415  - keeps --help fast
        from bot.settings import find_local_zone  # noqa: PLC0415  - as above
        from bot.text.format import find_zone_or_utc  # noqa: PLC0415  - as above

        budgets = (max_entity_tokens, max_relation_tokens, max_total_tokens)
        retrieval = RetrievalOptions(
            top_k, chunk_top_k, *budgets, threshold, rerank, tuple(high or ()), tuple(low or ())
        )
        zone_name = find_local_zone()
        zone = find_zone_or_utc(zone_name)
        start, end = parse_start_time(since, zone), parse_end_time(until, zone)

        def build_request(settings: Settings) -> Ask:
            return Ask(
                text,
                mode=mode or settings.retrieval_mode,
                output=output,
                documents=tuple(documents or ()),
                rooms=tuple(channels or ()),
                authors=tuple(authors or ()),
                since=start,
                until=end,
                working_dir=str(Path.cwd()),
                retrieval=retrieval,
                zone=zone_name,
                as_of=as_of,
            )

        perform_request(context, build_request, space=space, as_json=as_json)

    return command


def _show_history(
    context: typer.Context,
    subject: Annotated[str, typer.Argument(metavar="SUBJECT", help="A name, or a question.", show_default=False)],
    space: SpaceOption = "",
    as_json: JsonOption = False,  # noqa: FBT002  - an option
) -> None:
    from bot.capabilities.history.requests import GetHistory  # noqa: PLC0415  - keeps --help fast

    perform_request(context, lambda _: GetHistory(subject), space=space, as_json=as_json)


def parse_start_time(text: str, zone: tzinfo) -> datetime | None:
    """Parse a time, or a date as its start, in a time zone; None for an empty text. Raises typer.BadParameter."""
    return _parse_time(text, time.min, zone)


def parse_end_time(text: str, zone: tzinfo) -> datetime | None:
    """Parse a time, or a date as its end. Otherwise as `parse_start_time`."""
    return _parse_time(text, time.max, zone)


def _parse_time(text: str, hour: time, zone: tzinfo) -> datetime | None:
    if not text:
        return None
    try:
        given = datetime.fromisoformat(text.strip())
        if len(text.strip()) <= len("2026-05-12"):
            given = datetime.combine(given.date(), hour)
        return (given if given.tzinfo else given.replace(tzinfo=zone)).astimezone(UTC)
    except (ValueError, OverflowError) as error:
        raise typer.BadParameter(f"“{text}” is no date like 2026-05-12 or 2026-05-12T09:30.") from error
