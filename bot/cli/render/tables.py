"""Render results for the terminal: tables, trees and lists of sources (pure)."""

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

from bot import texts
from bot.capabilities.access.hints import UNDATED_NOTICE, list_as_of_notices
from bot.capabilities.answers.renewals import describe_renewals
from bot.capabilities.documents.unread import describe_problem
from bot.capabilities.results import (
    AnswerDelta,
    AnswerEnd,
    ContextResult,
    DocumentList,
    EntityResult,
    IngestFailure,
    IngestResult,
    Listing,
    PromptResult,
    StatusResult,
    VerifyResult,
)
from bot.cli.render.audit import render_audit_check
from bot.i18n import gettext
from bot.rpc import codec
from bot.text.excerpts import EXCERPT_LENGTH, source_title, strip_speaker, truncate_line
from bot.text.format import pluralize
from bot.text.terminal import strip_control_chars
from bot.texts.omissions import describe_families, describe_omissions, describe_unread

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from rich.console import RenderableType

    from bot.capabilities.documents.requests import UnreadFileInfo
    from bot.capabilities.results import OperationResult
    from engine import DocumentInfo, IndexStatus, Source, Usage
    from engine.parsers.sandbox.state import SandboxState

RESUME_HINT = "Run the command again when the model is reachable, or use --wait."
OUTPUT_LIMIT_HINT = "THREADLORE_LLM_MAX_OUTPUT_TOKENS sets the maximum length of an answer."
MIN_COLUMN_WIDTHS = (12, 8, 10, 10, 8, 10)  # of the document table, except the key; with spacing
MAX_ROWS = 12  # of entities and of relations in a context
MAX_COLUMNS = 8  # of a table of rows


def safe_text(text: str) -> Text:
    """Text from documents without terminal control characters."""
    return Text(strip_control_chars(text))


def render_sources(sources: Sequence[Source], text: Literal["", "beginning", "whole"] = "") -> RenderableType:
    """Sources with number, title, location, time and link, and optionally the beginning or all of their `text`."""
    return Group(*(_render_source(source, text) for source in sources))


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
    """A link to show: local files as a path, relative to the working directory or the home directory if possible."""
    parts = urlsplit(link)
    if parts.scheme != "file":
        return link
    path = Path(unquote(parts.path))
    for base, prefix in ((Path.cwd(), Path()), (Path.home(), Path("~"))):
        if path.is_relative_to(base):
            return str(prefix / path.relative_to(base))
    return str(path)


def format_usage(usage: Iterable[Usage]) -> str:
    """Tokens and cost of the model calls of a question in one line; "" without counted tokens."""
    calls = [usage_ for usage_ in usage if usage_.purpose != "embed" or usage_.cost]
    tokens = sum(call.input_tokens for call in calls), sum(call.output_tokens for call in calls)
    cost = sum(call.cost for call in calls)
    price = f"${cost:.4f}" if cost else "price unknown"
    return f"{tokens[0]:,} tokens in, {tokens[1]:,} out, {price}" if any(tokens) else ""


def build_table(*headings: str) -> Table:
    """An empty table with these column headings."""
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, header_style="bold")
    for heading in headings:
        right = heading in {"passages", "chunks", "weight"}
        table.add_column(heading, justify="right" if right else "left", overflow="fold", no_wrap=heading == "key")
    return table


def _list_notes(status: IndexStatus) -> list[tuple[str, str]]:
    """What is not read for the graph as it would be now: small talk, waiting and formerly read texts, and people."""
    former = f"{status.outdated:,} chunk{'s' * (status.outdated != 1)}"
    idle = pluralize(status.small_talk, "{count} message", "{count} messages")
    notes = (
        ("no facts", f"not read for facts: {idle} of small talk" if status.small_talk else ""),
        ("budget", status.spent_budget),
        (
            "read before",
            f"{former} by other settings, another model or prompt than now; `threadlore retry --changed` reads again"
            if status.outdated
            else "",
        ),
        ("people", status.people),
    )
    return [note for note in notes if note[1]]


def render_status(event: StatusResult) -> RenderableType:
    """The numbers of an index status."""
    status = event.status
    states = ", ".join(f"{number:,} {state}" for state, number in sorted(status.documents.items())) or "none"
    pending = [
        (status.unextracted, "piece of text to read"),
        (status.stale, "name to update"),
        (status.failed, "document with errors"),
        (status.without_vector, "name found by words only"),
    ]
    rows = Table.grid(padding=(0, 2))
    for name, value in (
        ("documents", states),
        ("passages", f"{status.passages:,} in {pluralize(status.chunks, 'chunk')}"),
        ("graph", f"{pluralize(status.entities, 'entity')}, {pluralize(status.relations, 'relation')}"),
        (
            "pending",
            ", ".join(_count_items(number, what) for number, what in pending if number) or "nothing",
        ),
    ):
        rows.add_row(Text(name, "dim"), value)
    if status.trouble:
        rows.add_row(Text("problem", "dim"), safe_text(status.trouble))
    for what, said in _list_notes(status):
        rows.add_row(Text(what, "dim"), safe_text(said))
    if status.embedding_error:
        rows.add_row(Text("failed", "dim"), safe_text(status.embedding_error))
    for text in status.background:
        rows.add_row(Text("failing", "dim"), safe_text(text))
    for problem in event.problems or ():
        rows.add_row(Text("not read", "dim"), safe_text(describe_problem(problem)))
    if event.problems == ():
        rows.add_row(Text("not read", "dim"), "nothing")
    for what, said in _list_outside(event):
        rows.add_row(Text(what, "dim"), safe_text(said))
    return rows


def _list_outside(event: StatusResult) -> list[tuple[str, str]]:
    """What a status says besides the index, as (subject, sentence)."""
    files = describe_families(dict(event.unread_files)) if event.unread_files else ""
    notes = (
        ("unread files", f"{files}; `threadlore documents` lists them" if files else ""),
        ("changed answers", describe_renewals(event.renewals)),
        ("sandbox", "" if event.sandbox is None else describe_sandbox(event.sandbox)),
    )
    return [note for note in notes if note[1]]


def describe_sandbox(state: SandboxState) -> str:
    """What bounds the parsers of files, and what is missing."""
    if state.missing:
        return f"incomplete: it lacks {' and '.join(state.missing)}"
    return f"complete ({', '.join(f'{name} {what}' for name, what in state.list_mechanisms())})"


def _count_items(number: int, items: str) -> str:
    """A number of items: "3 excerpts to embed" of "excerpt to embed"."""
    noun, _, rest = items.partition(" ")
    return f"{pluralize(number, noun)} {rest}"


def render_documents(event: DocumentList) -> RenderableType:
    """A table of documents, followed by their errors and hints."""
    if not event.documents and not event.unread_files:
        return Text("There are no documents yet. Add some with `threadlore ingest PATH`.")
    table = build_table("title", "channel", "status", "time", "passages", "key")
    for document in event.documents:
        table.add_row(*_format_document(document), safe_text(document.key))
    failed = [
        IngestFailure(document.title, document.error, document.hint) for document in event.documents if document.error
    ]
    gaps = [
        IngestFailure(document.title, describe_omissions(document))
        for document in event.documents
        if document.omissions
    ]
    tables = [render_failures(failed, "incomplete")] if failed else []
    tables += [render_failures(gaps, "read in part")] if gaps else []
    tables += [render_unread(event.unread_files)] if event.unread_files else []
    return Group(*([table] if event.documents else []), *tables)


def render_unread(files: Sequence[UnreadFileInfo]) -> RenderableType:
    """A table of files that were shared and not read."""
    table = build_table("not read", "channel", "from", "time", "reason")
    for file in files:
        cells = (file.name, file.channel, file.author, f"{file.time:%Y-%m-%d %H:%M}", gettext(file.reason))
        table.add_row(*map(safe_text, cells))
    return table


def render_document_list(event: DocumentList) -> RenderableType:
    """Documents as a list with each key on its own line, for terminals in which a table would wrap the keys."""
    unread = (
        safe_text(f"not read: {describe_unread(file.name, file.reason)} ({file.channel}, {file.time:%Y-%m-%d})")
        for file in event.unread_files
    )
    return Text("\n").join([*(_render_document(document) for document in event.documents), *unread])


def fits_width(event: DocumentList, width: int) -> bool:
    """Whether a table of these documents fits into `width` columns without wrapping keys."""
    return width - sum(MIN_COLUMN_WIDTHS) >= max(
        (cell_len(strip_control_chars(document.key)) for document in event.documents), default=0
    )


def _format_document(each: DocumentInfo) -> tuple[Text, ...]:
    status = Text(each.status, "red" if each.status == "failed" or each.error else "")
    time = f"{each.time:%Y-%m-%d}" if each.time else ""
    return safe_text(each.title), safe_text(each.room), status, Text(time), Text(f"{each.passages:,}")


def _render_document(each: DocumentInfo) -> Text:
    *cells, passages = filter(None, _format_document(each))
    head = Text(" · ").join([*cells, Text.assemble(passages, " passages")])
    error = f"\n  {strip_control_chars(each.error)}" if each.error else ""
    gaps = f"\n  {strip_control_chars(describe_omissions(each))}" if each.omissions else ""
    return Text.assemble(head, "\n  ", (strip_control_chars(each.key), "dim"), (error, "red"), (gaps, "yellow"))


def render_entity(event: EntityResult) -> RenderableType:
    """An entity with its relations, as a tree."""
    entity = event.entity
    root = Text.assemble((strip_control_chars(entity.name), "bold"), (f" ({strip_control_chars(entity.type)})", "dim"))
    tree = Tree(root, guide_style="dim")
    if entity.description:
        tree.add(Text(truncate_line(strip_control_chars(entity.description), 3 * EXCERPT_LENGTH), "italic"))
    for relation in event.relations:
        other = relation.target if relation.source == entity.name else relation.source
        leaf = Text.assemble((strip_control_chars(other), "cyan"), (f"  ×{relation.weight:g}", "dim"))
        if relation.keywords:
            leaf.append(f"  {strip_control_chars(relation.keywords)}", "green")
        leaf.append(f"\n{truncate_line(strip_control_chars(relation.description))}", "dim")
        tree.add(leaf)
    return tree


def render_context(event: ContextResult) -> RenderableType:
    """A context: keywords, entities, relations, sources and the duration of each stage."""
    context = event.context
    head = Text.assemble((f"{context.mode}  ", "bold"), strip_control_chars(context.question.question))
    words = Text(f"high: {', '.join(context.question.high)}   low: {', '.join(context.question.low)}", "dim")
    times = "  ".join(f"{stage} {duration:.0f} ms" for stage, duration in context.timings.items())
    entities, relations = (
        build_table("entity", "type", "description"),
        build_table("from", "to", "weight", "description"),
    )
    for entity in context.entities[:MAX_ROWS]:
        entities.add_row(safe_text(entity.name), safe_text(entity.type), safe_text(truncate_line(entity.description)))
    for relation in context.relations[:MAX_ROWS]:
        about = safe_text(truncate_line(relation.description))
        relations.add_row(safe_text(relation.source), safe_text(relation.target), f"{relation.weight:g}", about)
    rows: list[RenderableType] = [head, words]
    rows += [table for table in (entities, relations) if table.row_count]
    hidden = max(0, len(context.entities) - MAX_ROWS) + max(0, len(context.relations) - MAX_ROWS)
    rows += [Text(f"… and {hidden} more rows (--json shows all)", "dim")] if hidden else []
    notes = [Text(notice, "yellow") for notice in list_as_of_notices(context.as_of)]
    notes += [Text(UNDATED_NOTICE, "yellow")] if context.undated else []
    notes += [Text(gettext(texts.REBUILDING), "yellow")] if context.rebuilding else []
    notes += [Text(notice, "yellow") for notice in texts.list_helper_notices(context.failed_helpers)]
    return Group(*rows, render_sources(context.sources, "beginning"), *notes, Text(times, "dim"))


def render_prompt(event: PromptResult) -> RenderableType:
    """The messages of a prompt."""
    rows = [
        Text.assemble((f"── {message.role}\n", "bold"), strip_control_chars(message.content), "\n")
        for message in event.messages
    ]
    return Group(*rows)


def render_ingest(event: IngestResult) -> RenderableType:
    """The summary of an ingest: numbers, failed files, and why indexing waits."""
    rate = f", {event.documents / event.seconds:.1f} per second" if event.seconds > 0.5 and event.changed else ""
    unchanged = event.documents - event.changed
    line = f"{pluralize(event.files, 'file')} → {pluralize(event.documents, 'document')}"
    line += f" ({event.changed:,} new or changed, {unchanged:,} unchanged) in {event.seconds:.1f} s{rate}"
    rows: list[RenderableType] = [Text(line)]
    rows += [render_failures(event.failures)] if event.failures else []
    rows += [render_failures(event.gaps, "read in part")] if event.gaps else []
    rows += [Text(strip_control_chars(event.spent_budget), "yellow")] if event.spent_budget else []
    rows += [Text(strip_control_chars(event.trouble), "red"), Text(RESUME_HINT, "dim")] if event.trouble else []
    return Group(*rows)


def render_failures(failures: Iterable[IngestFailure], heading: str = "failed") -> RenderableType:
    """A table of failures with their errors and hints."""
    table = build_table(heading, "error", "hint")
    for failure in failures:
        table.add_row(
            Text(strip_control_chars(failure.what), "red"),
            safe_text(failure.error),
            Text(strip_control_chars(failure.hint), "dim"),
        )
    return table


def render_verification(event: VerifyResult) -> RenderableType:
    """The differences between the indexes and the ledger, and what is wrong with the audit log."""
    return Group(_render_differences(event), *render_audit_check(event))


def _render_differences(event: VerifyResult) -> RenderableType:
    if not event.differences:
        return Text("The graph and vector indexes match the ledger.", "green")
    verdict = "repaired" if event.repaired else "repair them with `threadlore verify --repair`"
    rows = [safe_text(difference) for difference in event.differences]
    return Group(*rows, Text(f"{pluralize(len(rows), 'difference')} ({verdict}).", "" if event.repaired else "red"))


def render_listing(listing: Listing) -> RenderableType:
    """Rows below their headings; of many columns, each row in lines of its own, whatever the width."""
    if len(listing.columns) > MAX_COLUMNS:
        return Group(*(_render_lines(listing.columns, row) for row in listing.rows))
    table = Table(*listing.columns, box=None)
    for row in listing.rows:
        table.add_row(*map(safe_text, row))
    return table


def _render_lines(columns: Sequence[str], row: Sequence[str]) -> Text:
    """The first cell, and below it each other one that is not empty, with its heading."""
    told = [(column, cell) for column, cell in zip(columns[1:], row[1:], strict=True) if cell]
    lines = [(f"\n  {column}: {safe_text(cell).plain}", "") for column, cell in told]
    return Text.assemble((safe_text(row[0]).plain, "bold"), *lines)


def to_json(events: Sequence[OperationResult]) -> str:
    """Results as JSON: answers as text, sources and usage; other results by their fields."""
    ends = [event for event in events if isinstance(event, AnswerEnd)]
    if ends:
        text = "".join(event.text for event in events if isinstance(event, AnswerDelta))
        return _dump_json({"text": text, **codec.dump_fields(ends[0])})
    return _dump_json(codec.dump_fields(events[-1])) if events else "{}"


def _dump_json(value: dict[str, Any]) -> str:
    return json.dumps(value, ensure_ascii=False, indent=2)
