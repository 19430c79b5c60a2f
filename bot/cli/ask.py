"""Commands that ask: ask, retrieve, prompt."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from bot.cli.runner import JsonOption, SpaceOption, perform_request
from bot.text import utc_times
from engine import RetrievalMode

if TYPE_CHECKING:
    from collections.abc import Callable

    from bot.admin.requests import AskOutput
    from bot.settings import Settings

QuestionArgument = Annotated[str, typer.Argument(metavar="QUESTION", help="What you want to know.", show_default=False)]
ModeOption = Annotated[
    RetrievalMode | None, typer.Option("--mode", help="How to search; mix is graph and text together.")
]
ChannelOption = Annotated[list[str] | None, typer.Option("--channel", help="Only from this channel; may be repeated.")]
DocumentOption = Annotated[
    list[str] | None,
    typer.Option("--document", help="Only from this document (key, path or title); may be repeated."),
]
AuthorOption = Annotated[
    list[str] | None, typer.Option("--author", help="Only what this person wrote; may be repeated.")
]
SinceOption = Annotated[str, typer.Option("--since", metavar="DATE", help="Not what is older (2026-05-12).")]
UntilOption = Annotated[str, typer.Option("--until", metavar="DATE", help="Not what is newer.")]
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
    typer.Option("--threshold", help="Minimum cosine similarity of vector hits (0.2).", show_default=False),
]
RerankOption = Annotated[
    bool | None, typer.Option("--rerank/--no-rerank", help="Use the reranker, if one is set.", show_default=False)
]
HighOption = Annotated[
    list[str] | None, typer.Option("--high", help="A keyword for themes, instead of the model's; may be repeated.")
]
LowOption = Annotated[
    list[str] | None, typer.Option("--low", help="A keyword for names, instead of the model's; may be repeated.")
]
ASK_HELP = """Answer a question, streamed, with numbered sources.

Examples:

  threadlore ask "Who looks after the lighthouse?"

  threadlore ask "What did I miss?" --channel harbour --since 2026-06-01

  threadlore ask "What is the berth fee?" --document harbour-rules.pdf --json
"""
RETRIEVE_HELP = "Show what an answer would rest on: entities, relations and passages, without an answer."
PROMPT_HELP = "Show what the model would be sent for an answer."


def register(app: typer.Typer) -> None:
    """Add the commands."""
    app.command("ask", help=ASK_HELP)(_build_command("answer"))
    app.command("retrieve", help=RETRIEVE_HELP)(_build_command("context"))
    app.command("prompt", help=PROMPT_HELP)(_build_command("prompt"))


def _build_command(outcome: AskOutput) -> Callable[..., None]:
    """The three take the same question, and differ in how far they go with it."""

    def command(  # noqa: PLR0913, PLR0917  - each parameter is an option
        context: typer.Context,
        text: QuestionArgument,
        mode: ModeOption = None,
        rooms: ChannelOption = None,
        documents: DocumentOption = None,
        authors: AuthorOption = None,
        since: SinceOption = "",
        until: UntilOption = "",
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
        from bot.admin.requests import Ask, RetrievalOptions  # noqa: PLC0415  - --help spares it

        budgets = (max_entity_tokens, max_relation_tokens, max_total_tokens)
        retrieval = RetrievalOptions(
            top_k, chunk_top_k, *budgets, threshold, rerank, tuple(high or ()), tuple(low or ())
        )
        begin, end = utc_times.parse_start_time(since), utc_times.parse_end_time(until)

        def make(settings: Settings) -> Ask:
            return Ask(
                text,
                (settings.space,),
                mode=mode or settings.retrieval_mode,
                output=outcome,
                documents=tuple(documents or ()),
                rooms=tuple(rooms or ()),
                authors=tuple(authors or ()),
                since=begin,
                until=end,
                working_dir=str(Path.cwd()),
                retrieval=retrieval,
            )

        perform_request(context, make, space=space, as_json=as_json)

    return command
