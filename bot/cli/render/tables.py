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
    Catalogued,
    Cited,
    Compared,
    Failure,
    Found,
    Ingested,
    Prompted,
    Recalled,
    Said,
    Seen,
    Told,
)
from bot.admin.rpc import codec
from bot.text.excerpts import LENGTH, called, shortened, unheaded
from bot.text.terminal import harmless

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from rich.console import RenderableType

    from bot.admin.results import Event
    from engine.models import Source
    from engine.storage.ledger.queries.stats import Listed
    from engine.usage import Usage

GO_ON = "Run the command again once it can be reached; --wait waits for that."
ALLOW_MORE = "THREADLORE_MAX_OUTPUT_TOKENS sets how long an answer may be."
UNDATED = "Documents without a date are left out of this span of time."
NARROWEST = (12, 8, 10, 10, 8, 10)  # columns of a table of documents beside the key, and what is between them
SHOWN = 12  # rows of entities and relations of a context


def plain(text: str) -> Text:
    """A text that others wrote, with nothing in it that the terminal would obey."""
    return Text(harmless(text))


def sources(given: Sequence[Source], text: Literal["", "beginning", "whole"] = "") -> RenderableType:
    """The sources under an answer: number, title, place, time and link; with as much of their `text` as is wanted."""
    return Group(*(_source(each, text) for each in given))


def _source(source: Source, shown: Literal["", "beginning", "whole"]) -> RenderableType:
    title, label = called(source.title, source.label)
    head = Text.assemble((f"[{source.number}]", "cyan"), " ", (harmless(title), "bold"))
    if label:
        head.append(f" · {harmless(label)}")
    if source.time and f"{source.time:%Y-%m-%d}" not in source.label:
        head.append(f" · {source.time:%Y-%m-%d}", "dim")
    rows = [head]
    if source.link:
        rows.append(Text(f"    {harmless(address(source.link))}", "blue"))
    text = harmless(source.text).strip()
    if shown == "beginning":
        return Group(*rows, Padding(Text(f"“{shortened(unheaded(text))}”", "dim"), (0, 0, 0, 4)))
    return Group(*rows, Padding(Text(text), (0, 0, 1, 4))) if shown else Group(*rows)


def address(link: str) -> str:
    """A link as a person reads it: a file on this machine by its path, from where we stand if it lies below."""
    parts = urlsplit(link)
    if parts.scheme != "file":
        return link
    path = Path(unquote(parts.path))
    for base, sign in ((Path.cwd(), Path()), (Path.home(), Path("~"))):
        if path.is_relative_to(base):
            return str(sign / path.relative_to(base))
    return str(path)


def spending(usage: Iterable[Usage]) -> str:
    """What the calls of a question took, in one line; empty if no tokens were counted or nobody is paid."""
    calls = [each for each in usage if each.purpose != "embed" or each.cost]
    tokens = sum(each.input_tokens for each in calls), sum(each.output_tokens for each in calls)
    cost = sum(each.cost for each in calls)
    return f"{tokens[0]:,} tokens in, {tokens[1]:,} out" + (f", ${cost:.4f}" if cost else "") if any(tokens) else ""


def recalled(event: Recalled) -> str:
    """What an answer is drawn from, in one line."""
    counts = ((event.passages, "passage"), (event.entities, "entity"), (event.relations, "relation"))
    return ", ".join(counted(number, name) for number, name in counts if number)


def counted(number: int, name: str) -> str:
    """A number and its noun."""
    many = f"{name[:-1]}ies" if name.endswith("y") and name[-2] not in "aeiou" else f"{name}s"
    return f"{number:,} {name if number == 1 else many}"


def table(*heads: str) -> Table:
    """An empty table."""
    made = Table(box=box.SIMPLE_HEAD, pad_edge=False, header_style="bold")
    for head in heads:
        right = head in {"passages", "chunks", "weight"}
        made.add_column(head, justify="right" if right else "left", overflow="fold", no_wrap=head == "key")
    return made


def told(event: Told) -> RenderableType:
    """Numbers of some spaces."""
    status = event.status
    states = ", ".join(f"{number:,} {state}" for state, number in sorted(status.documents.items())) or "none"
    waits = [
        (status.unread, "chunk to read"),
        (status.stale, "key to project"),
        (status.failed, "document with failures"),
        (status.without_vector, "key without a vector"),
    ]
    rows = Table.grid(padding=(0, 2))
    for name, value in (
        ("documents", states),
        ("passages", f"{status.passages:,} in {counted(status.chunks, 'chunk')}"),
        ("graph", f"{counted(status.entities, 'entity')}, {counted(status.relations, 'relation')}"),
        ("waiting", ", ".join(f"{number:,} {_several(what, number)}" for number, what in waits if number) or "nothing"),
    ):
        rows.add_row(Text(name, "dim"), value)
    if status.trouble:
        rows.add_row(Text("trouble", "dim"), plain(status.trouble))
    if status.why:
        rows.add_row(Text("given up", "dim"), plain(status.why))
    for each in status.background:
        rows.add_row(Text("failing", "dim"), plain(each))
    return rows


def _several(what: str, number: int) -> str:
    head, _, tail = what.partition(" ")
    return what if number == 1 else f"{head}s {tail}"


def catalogued(event: Catalogued) -> RenderableType:
    """A table of documents, and below it what could not be read of which, why, and what to do."""
    if not event.documents:
        return Text("There are no documents here yet; `threadlore ingest PATH` takes some in.")
    made = table("title", "room", "state", "time", "passages", "key")
    for each in event.documents:
        made.add_row(*_cells(each), plain(each.key))
    failed = [Failure(each.title, each.error, each.hint) for each in event.documents if each.error]
    return Group(made, failures(failed, "not read whole")) if failed else made


def listed(event: Catalogued) -> RenderableType:
    """Documents as a list, with each key on a line of its own: where a table would break keys, which are copied."""
    return Text("\n").join(_listed(each) for each in event.documents)


def has_room(event: Catalogued, width: int) -> bool:
    """Whether so many columns show a table of these documents without breaking their keys."""
    return width - sum(NARROWEST) >= max((cell_len(harmless(each.key)) for each in event.documents), default=0)


def _cells(each: Listed) -> tuple[Text, ...]:
    state = Text(each.status, "red" if each.status == "failed" or each.error else "")
    time = f"{each.time:%Y-%m-%d}" if each.time else ""
    return plain(each.title), plain(each.room), state, Text(time), Text(f"{each.passages:,}")


def _listed(each: Listed) -> Text:
    *cells, passages = filter(None, _cells(each))
    head = Text(" · ").join([*cells, Text.assemble(passages, " passages")])
    why = f"\n  {harmless(each.error)}" if each.error else ""
    return Text.assemble(head, "\n  ", (harmless(each.key), "dim"), (why, "red"))


def seen(event: Seen) -> RenderableType:
    """A name with its relations, as a tree."""
    entity = event.entity
    root = Text.assemble((harmless(entity.name), "bold"), (f" ({harmless(entity.type)})", "dim"))
    tree = Tree(root, guide_style="dim")
    if entity.description:
        tree.add(Text(shortened(harmless(entity.description), 3 * LENGTH), "italic"))
    for each in event.relations:
        other = each.target if each.source == entity.name else each.source
        leaf = Text.assemble((harmless(other), "cyan"), (f"  ×{each.weight:g}", "dim"))
        if each.keywords:
            leaf.append(f"  {harmless(each.keywords)}", "green")
        leaf.append(f"\n{shortened(harmless(each.description))}", "dim")
        tree.add(leaf)
    return tree


def found(event: Found) -> RenderableType:
    """A context: keywords, entities, relations, sources, and how long each stage took."""
    context = event.context
    head = Text.assemble((f"{context.mode}  ", "bold"), harmless(context.question.question))
    words = Text(f"high: {', '.join(context.question.high)}   low: {', '.join(context.question.low)}", "dim")
    times = "  ".join(f"{stage} {spent:.0f} ms" for stage, spent in context.timings.items())
    entities, relations = table("entity", "type", "description"), table("from", "to", "weight", "description")
    for entity in context.entities[:SHOWN]:
        entities.add_row(plain(entity.name), plain(entity.type), plain(shortened(entity.description)))
    for each in context.relations[:SHOWN]:
        about = plain(shortened(each.description))
        relations.add_row(plain(each.source), plain(each.target), f"{each.weight:g}", about)
    rows: list[RenderableType] = [head, words]
    rows += [made for made in (entities, relations) if made.row_count]
    hidden = max(0, len(context.entities) - SHOWN) + max(0, len(context.relations) - SHOWN)
    rows += [Text(f"… and {hidden} further rows (--json shows all)", "dim")] if hidden else []
    notes = [Text(UNDATED, "yellow")] if context.undated else []
    return Group(*rows, sources(context.sources, "beginning"), *notes, Text(times, "dim"))


def prompted(event: Prompted) -> RenderableType:
    """The messages that a model would be sent."""
    rows = [Text.assemble((f"── {each.role}\n", "bold"), harmless(each.content), "\n") for each in event.messages]
    return Group(*rows)


def ingested(event: Ingested) -> RenderableType:
    """The end of an ingest: a line of numbers, a table of what failed, and what is still waited for."""
    rate = f", {event.documents / event.seconds:.1f} a second" if event.seconds > 0.5 and event.changed else ""
    unchanged = event.documents - event.changed
    line = f"{counted(event.files, 'file')} → {counted(event.documents, 'document')}"
    line += f" ({event.changed:,} new or changed, {unchanged:,} as before) in {event.seconds:.1f} s{rate}"
    rows: list[RenderableType] = [Text(line)]
    rows += [failures(event.failures)] if event.failures else []
    rows += [Text(harmless(event.trouble), "red"), Text(GO_ON, "dim")] if event.trouble else []
    return Group(*rows)


def failures(given: Iterable[Failure], head: str = "not taken in") -> RenderableType:
    """What could not be taken in, why, and what to do."""
    made = table(head, "why", "what to do")
    for each in given:
        made.add_row(Text(harmless(each.what), "red"), plain(each.error), Text(harmless(each.hint), "dim"))
    return made


def compared(event: Compared) -> RenderableType:
    """Every difference, or that there is none."""
    if not event.differences:
        return Text("Graph and vectors are what the ledger says.", "green")
    verdict = "repaired" if event.repaired else "`threadlore verify --repair` mends them"
    rows = [plain(each) for each in event.differences]
    return Group(*rows, Text(f"{counted(len(rows), 'difference')} ({verdict}).", "" if event.repaired else "red"))


def as_json(events: Sequence[Event]) -> str:
    """What a command gave, for programs: an answer as text, sources and usage; everything else by its own fields."""
    cited = [each for each in events if isinstance(each, Cited)]
    if cited:
        text = "".join(each.text for each in events if isinstance(each, Said))
        return _dumped({"text": text, **codec.fields(cited[0])})
    return _dumped(codec.fields(events[-1])) if events else "{}"


def _dumped(value: dict[str, Any]) -> str:
    return json.dumps(value, ensure_ascii=False, indent=2)
