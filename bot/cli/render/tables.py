"""How events look in a terminal: tables, trees and lists of sources. Pure."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal
from urllib.parse import unquote, urlsplit

from rich import box
from rich.cells import cell_len
from rich.console import Group
from rich.padding import Padding
from rich.table import Table
from rich.text import Text
from rich.tree import Tree

from bot.admin.results import (
    AnswerDelta,
    AnswerEnd,
    ContextResult,
    DocumentList,
    EntityResult,
    IngestFailure,
    IngestResult,
    PromptResult,
    RetrievalSummary,
    StatusResult,
    VerifyResult,
)
from bot.admin.rpc import codec
from bot.text.excerpts import EXCERPT_LENGTH, source_title, strip_speaker, truncate_line
from bot.text.format import pluralize
from bot.text.terminal import strip_control_chars

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from rich.console import RenderableType

    from bot.admin.results import OperationResult
    from engine import DocumentInfo, Source, Usage

RESUME_HINT = "Run the command again once it can be reached; --wait waits for that."
OUTPUT_LIMIT_HINT = "THREADLORE_LLM_MAX_OUTPUT_TOKENS sets how long an answer may be."
UNDATED_NOTICE = "Documents without a date are left out of this span of time."
MIN_COLUMN_WIDTHS = (12, 8, 10, 10, 8, 10)  # columns of a table of documents beside the key, and what is between them
MAX_ROWS = 12  # rows of entities and relations of a context


def safe_text(text: str) -> Text:
    """A text that others wrote, with nothing in it that the terminal would obey."""
    return Text(strip_control_chars(text))


def render_sources(given: Sequence[Source], text: Literal["", "beginning", "whole"] = "") -> RenderableType:
    """The sources under an answer: number, title, place, time and link; with as much of their `text` as is wanted."""
    return Group(*(_render_source(each, text) for each in given))


def _render_source(source: Source, shown: Literal["", "beginning", "whole"]) -> RenderableType:
    title, label = source_title(source.title, source.label)
    head = Text.assemble((f"[{source.number}]", "cyan"), " ", (strip_control_chars(title), "bold"))
    if label:
        head.append(f" · {strip_control_chars(label)}")
    if source.time and f"{source.time:%Y-%m-%d}" not in source.label:
        head.append(f" · {source.time:%Y-%m-%d}", "dim")
    rows = [head]
    if source.link:
        rows.append(Text(f"    {strip_control_chars(format_link(source.link))}", "blue"))
    text = strip_control_chars(source.text).strip()
    if shown == "beginning":
        return Group(*rows, Padding(Text(f"“{truncate_line(strip_speaker(text))}”", "dim"), (0, 0, 0, 4)))
    return Group(*rows, Padding(Text(text), (0, 0, 1, 4))) if shown else Group(*rows)


def format_link(link: str) -> str:
    """A link as a person reads it: a file on this machine by its path, from where we stand if it lies below."""
    parts = urlsplit(link)
    if parts.scheme != "file":
        return link
    path = Path(unquote(parts.path))
    for base, sign in ((Path.cwd(), Path()), (Path.home(), Path("~"))):
        if path.is_relative_to(base):
            return str(sign / path.relative_to(base))
    return str(path)


def format_usage(usage: Iterable[Usage]) -> str:
    """What the calls of a question took, in one line; empty if no tokens were counted or nobody is paid."""
    calls = [each for each in usage if each.purpose != "embed" or each.cost]
    tokens = sum(each.input_tokens for each in calls), sum(each.output_tokens for each in calls)
    cost = sum(each.cost for each in calls)
    return f"{tokens[0]:,} tokens in, {tokens[1]:,} out" + (f", ${cost:.4f}" if cost else "") if any(tokens) else ""


def format_retrieval(event: RetrievalSummary) -> str:
    """What an answer is drawn from, in one line."""
    counts = ((event.passages, "passage"), (event.entities, "entity"), (event.relations, "relation"))
    return ", ".join(pluralize(number, name) for number, name in counts if number)


def build_table(*heads: str) -> Table:
    """An empty table."""
    made = Table(box=box.SIMPLE_HEAD, pad_edge=False, header_style="bold")
    for head in heads:
        right = head in {"passages", "chunks", "weight"}
        made.add_column(head, justify="right" if right else "left", overflow="fold", no_wrap=head == "key")
    return made


def render_status(event: StatusResult) -> RenderableType:
    """Numbers of some spaces."""
    status = event.status
    states = ", ".join(f"{number:,} {state}" for state, number in sorted(status.documents.items())) or "none"
    waits = [
        (status.unextracted, "chunk to read"),
        (status.stale, "key to project"),
        (status.failed, "document with failures"),
        (status.without_vector, "key without a vector"),
    ]
    rows = Table.grid(padding=(0, 2))
    for name, value in (
        ("documents", states),
        ("passages", f"{status.passages:,} in {pluralize(status.chunks, 'chunk')}"),
        ("graph", f"{pluralize(status.entities, 'entity')}, {pluralize(status.relations, 'relation')}"),
        (
            "waiting",
            ", ".join(f"{number:,} {_pluralize_first_word(what, number)}" for number, what in waits if number)
            or "nothing",
        ),
    ):
        rows.add_row(Text(name, "dim"), value)
    if status.trouble:
        rows.add_row(Text("trouble", "dim"), safe_text(status.trouble))
    if status.embedding_error:
        rows.add_row(Text("given up", "dim"), safe_text(status.embedding_error))
    for each in status.background:
        rows.add_row(Text("failing", "dim"), safe_text(each))
    return rows


def _pluralize_first_word(what: str, number: int) -> str:
    head, _, tail = what.partition(" ")
    return what if number == 1 else f"{head}s {tail}"


def render_documents(event: DocumentList) -> RenderableType:
    """A table of documents, and below it what could not be read of which, why, and what to do."""
    if not event.documents:
        return Text("There are no documents here yet; `threadlore ingest PATH` takes some in.")
    made = build_table("title", "room", "state", "time", "passages", "key")
    for each in event.documents:
        made.add_row(*_format_document(each), safe_text(each.key))
    failed = [IngestFailure(each.title, each.error, each.hint) for each in event.documents if each.error]
    return Group(made, render_failures(failed, "not read whole")) if failed else made


def render_document_list(event: DocumentList) -> RenderableType:
    """Documents as a list, with each key on a line of its own: where a table would break keys, which are copied."""
    return Text("\n").join(_render_document(each) for each in event.documents)


def fits_width(event: DocumentList, width: int) -> bool:
    """Whether so many columns show a table of these documents without breaking their keys."""
    return width - sum(MIN_COLUMN_WIDTHS) >= max(
        (cell_len(strip_control_chars(each.key)) for each in event.documents), default=0
    )


def _format_document(each: DocumentInfo) -> tuple[Text, ...]:
    state = Text(each.status, "red" if each.status == "failed" or each.error else "")
    time = f"{each.time:%Y-%m-%d}" if each.time else ""
    return safe_text(each.title), safe_text(each.room), state, Text(time), Text(f"{each.passages:,}")


def _render_document(each: DocumentInfo) -> Text:
    *cells, passages = filter(None, _format_document(each))
    head = Text(" · ").join([*cells, Text.assemble(passages, " passages")])
    why = f"\n  {strip_control_chars(each.error)}" if each.error else ""
    return Text.assemble(head, "\n  ", (strip_control_chars(each.key), "dim"), (why, "red"))


def render_entity(event: EntityResult) -> RenderableType:
    """A name with its relations, as a tree."""
    entity = event.entity
    root = Text.assemble((strip_control_chars(entity.name), "bold"), (f" ({strip_control_chars(entity.type)})", "dim"))
    tree = Tree(root, guide_style="dim")
    if entity.description:
        tree.add(Text(truncate_line(strip_control_chars(entity.description), 3 * EXCERPT_LENGTH), "italic"))
    for each in event.relations:
        other = each.target if each.source == entity.name else each.source
        leaf = Text.assemble((strip_control_chars(other), "cyan"), (f"  ×{each.weight:g}", "dim"))
        if each.keywords:
            leaf.append(f"  {strip_control_chars(each.keywords)}", "green")
        leaf.append(f"\n{truncate_line(strip_control_chars(each.description))}", "dim")
        tree.add(leaf)
    return tree


def render_context(event: ContextResult) -> RenderableType:
    """A context: keywords, entities, relations, sources, and how long each stage took."""
    context = event.context
    head = Text.assemble((f"{context.mode}  ", "bold"), strip_control_chars(context.question.question))
    words = Text(f"high: {', '.join(context.question.high)}   low: {', '.join(context.question.low)}", "dim")
    times = "  ".join(f"{stage} {spent:.0f} ms" for stage, spent in context.timings.items())
    entities, relations = (
        build_table("entity", "type", "description"),
        build_table("from", "to", "weight", "description"),
    )
    for entity in context.entities[:MAX_ROWS]:
        entities.add_row(safe_text(entity.name), safe_text(entity.type), safe_text(truncate_line(entity.description)))
    for each in context.relations[:MAX_ROWS]:
        about = safe_text(truncate_line(each.description))
        relations.add_row(safe_text(each.source), safe_text(each.target), f"{each.weight:g}", about)
    rows: list[RenderableType] = [head, words]
    rows += [made for made in (entities, relations) if made.row_count]
    hidden = max(0, len(context.entities) - MAX_ROWS) + max(0, len(context.relations) - MAX_ROWS)
    rows += [Text(f"… and {hidden} further rows (--json shows all)", "dim")] if hidden else []
    notes = [Text(UNDATED_NOTICE, "yellow")] if context.undated else []
    return Group(*rows, render_sources(context.sources, "beginning"), *notes, Text(times, "dim"))


def render_prompt(event: PromptResult) -> RenderableType:
    """The messages that a model would be sent."""
    rows = [
        Text.assemble((f"── {each.role}\n", "bold"), strip_control_chars(each.content), "\n") for each in event.messages
    ]
    return Group(*rows)


def render_ingest(event: IngestResult) -> RenderableType:
    """The end of an ingest: a line of numbers, a table of what failed, and what is still waited for."""
    rate = f", {event.documents / event.seconds:.1f} a second" if event.seconds > 0.5 and event.changed else ""
    unchanged = event.documents - event.changed
    line = f"{pluralize(event.files, 'file')} → {pluralize(event.documents, 'document')}"
    line += f" ({event.changed:,} new or changed, {unchanged:,} as before) in {event.seconds:.1f} s{rate}"
    rows: list[RenderableType] = [Text(line)]
    rows += [render_failures(event.failures)] if event.failures else []
    rows += [Text(strip_control_chars(event.trouble), "red"), Text(RESUME_HINT, "dim")] if event.trouble else []
    return Group(*rows)


def render_failures(given: Iterable[IngestFailure], head: str = "not taken in") -> RenderableType:
    """What could not be taken in, why, and what to do."""
    made = build_table(head, "why", "what to do")
    for each in given:
        made.add_row(
            Text(strip_control_chars(each.what), "red"),
            safe_text(each.error),
            Text(strip_control_chars(each.hint), "dim"),
        )
    return made


def render_verification(event: VerifyResult) -> RenderableType:
    """Every difference, or that there is none."""
    if not event.differences:
        return Text("Graph and vectors are what the ledger says.", "green")
    verdict = "repaired" if event.repaired else "`threadlore verify --repair` mends them"
    rows = [safe_text(each) for each in event.differences]
    return Group(*rows, Text(f"{pluralize(len(rows), 'difference')} ({verdict}).", "" if event.repaired else "red"))


def to_json(events: Sequence[OperationResult]) -> str:
    """What a command gave, for programs: an answer as text, sources and usage; everything else by its own fields."""
    cited = [each for each in events if isinstance(each, AnswerEnd)]
    if cited:
        text = "".join(each.text for each in events if isinstance(each, AnswerDelta))
        return _dump_json({"text": text, **codec.dump_fields(cited[0])})
    return _dump_json(codec.dump_fields(events[-1])) if events else "{}"


def _dump_json(value: dict[str, Any]) -> str:
    return json.dumps(value, ensure_ascii=False, indent=2)
