"""Prompts: the packaged texts, filled in. What others wrote is fenced, labelled as data, and cannot close its fence."""

from __future__ import annotations

import functools
import json
import re
from datetime import UTC, time
from hashlib import sha256
from importlib import resources
from string import Template
from typing import TYPE_CHECKING, Literal

from engine.errors import EngineError
from engine.models import Excerpt, Message

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import date, datetime

    from engine.models import EntityRow, Fragments, Prompt, RelationRow, Source, Turn

Format = Literal["tuples", "json"]

DELIMITER = "<|#|>"
END = "<|COMPLETE|>"
TYPES = (
    "Person",
    "Creature",
    "Organization",
    "Location",
    "Event",
    "Concept",
    "Method",
    "Content",
    "Data",
    "Artifact",
    "NaturalObject",
)
ROWS = 100
SUMMARY_WORDS = 450
OWN_LANGUAGE = "the language of the text"
STYLE = "Markdown; as short as the question allows."
NOTHING = "(none)"
UNDATED = "undated"
LONGEST_NAME = 80
MIDNIGHT = time()
_MESSAGE_HEAD = re.compile(r"\[(\d{4}-\d\d-\d\d \d\d:\d\d)\] ([^:\n]{1,100}): ")
SUMMARY_PROMPTS = ("summarise", "summarise_user", "summarise_several", "summarise_several_user", "summary_rules")


def render_extract(excerpt: Excerpt, form: Format, language: str = OWN_LANGUAGE) -> list[Message]:
    """What asks for the names and links of an excerpt; `language` is that of the descriptions."""
    values = {"types": ", ".join(TYPES), "limit": str(ROWS), "language": language}
    if form == "tuples":
        system = fill("extract_system", **values, delimiter=DELIMITER, end=END)
    else:
        system = fill("extract_json_system", **values)
    section = f"It stands under (data too): {_line(excerpt.section)}\n" if excerpt.section.strip() else ""
    fence = _fence(excerpt.text, excerpt.section)
    return _pair(system, fill("extract_user", section=section, text=excerpt.text, fence=fence))


def render_extract_several(excerpts: Sequence[Excerpt], form: Format, language: str = OWN_LANGUAGE) -> list[Message]:
    """What asks for the same of several excerpts at once, each by its number; where they stand is told once."""
    alone, _ = render_extract(Excerpt(""), form, language)
    values = {"limit": str(ROWS), "delimiter": DELIMITER, "end": END}
    rules = fill("extract_several" if form == "tuples" else "extract_json_several", **values)
    before, told = "", list[dict[str, object]]()
    for number, excerpt in enumerate(excerpts, 1):
        under = _line(excerpt.section)
        told.append({"number": number, **({"under": under} if under != before else {}), "text": excerpt.text})
        before = under
    rows = "\n".join(map(_json, told))
    user = fill("extract_several_user", excerpts=rows, fence=_fence(rows))
    return _pair(f"{alone.content}\n\n{rules}", user)


def render_glean(reply: str, form: Format) -> list[Message]:
    """What asks for a second look, after the first exchange."""
    again = fill("glean", end=END) if form == "tuples" else fill("glean_json")
    return [Message("assistant", reply), Message("user", again)]


def render_condense(
    text: str, history: Sequence[Turn], today: date | None = None, asker: str = "", *, overheard: bool = False
) -> list[Message]:
    """What asks for a question that stands alone, and for its keywords; `overheard`: and whether it is one at all."""
    system = "\n\n".join(
        [fill("condense", occasion=_occasion(today, asker)), *([fill("overheard")] if overheard else [])]
    )
    said = "\n".join(f"{turn.role}: {_indented(turn.text)}" for turn in history) or NOTHING
    return _pair(system, fill("condense_user", history=said, text=text, fence=_fence(said, text)))


def render_summarise(wanted: Fragments) -> list[Message]:
    """What asks for one text of several descriptions, given from the oldest to the newest."""
    rows = "\n".join(_json(text) for text in wanted.texts)
    user = fill("summarise_user", name=_line(wanted.name), fragments=rows, fence=_fence(rows, wanted.name))
    return _pair(fill("summarise", rules=_summary_rules()), user)


def render_summarise_several(wanted: Sequence[Fragments]) -> list[Message]:
    """What asks for the same of several names at once, each by its number."""
    told = ({"number": n, "name": _line(each.name), "descriptions": each.texts} for n, each in enumerate(wanted, 1))
    rows = "\n".join(map(_json, told))
    system = fill("summarise_several", rules=_summary_rules(), delimiter=DELIMITER, end=END)
    return _pair(system, fill("summarise_several_user", names=rows, fence=_fence(rows)))


def render_answer(prompt: Prompt) -> list[Message]:
    """What asks for an answer: the context, the conversation so far, the question."""
    told = {"style": prompt.style.strip() or STYLE, "instructions": prompt.instructions.strip() or "nothing more."}
    told["occasion"] = _occasion(prompt.today, prompt.asker)
    context = prompt.context
    if context.overview is not None:
        wanted = fill(f"overview_{context.overview.wanted}")
        told["instructions"] = " ".join(
            [wanted, *([fill("overview_notes")] if prompt.notes else []), prompt.instructions]
        )
    if context.mode == "bypass" and context.empty:
        system = fill("bypass_system", **told)
    else:
        entities = "\n".join(map(entity_line, context.entities)) or NOTHING
        relations = "\n".join(map(relation_line, context.relations)) or NOTHING
        sources = "\n".join([*map(source_block, context.sources), *prompt.notes]) or NOTHING
        fence = _fence(entities, relations, sources)
        system = fill("answer_system", **told, entities=entities, relations=relations, sources=sources, fence=fence)
    history = (Message(turn.role, turn.text) for turn in prompt.history)
    return [Message("system", system), *history, Message("user", prompt.question)]


def entity_line(row: EntityRow) -> str:
    """An entity as the model is shown it: one line of JSON."""
    shown = {"entity": row.name, "type": row.type, "description": row.description}
    return _json({**shown, "sources": list(row.sources)})


def relation_line(row: RelationRow) -> str:
    """A relation as the model is shown it: one line of JSON."""
    ends = {"entity1": row.source, "entity2": row.target}
    shown = {**ends, "keywords": row.keywords, "description": row.description}
    return _json({**shown, "sources": list(row.sources)})


def source_block(source: Source) -> str:
    """A source as the model is shown it: `[n] (title, label, author, date) text`; no other line of it begins with [.

    Each of these stands once: not if another one holds it, and not before the text of a message either.
    """
    date = _date(source.time) if source.time else UNDATED
    told = _once([_line(part) for part in (source.title, source.label, source.author, date)])
    if ":" in date:
        told = re.sub(rf"(?<!\w){date}(?!\w| UTC)", f"{date} UTC", told, count=1)
    head = _MESSAGE_HEAD.match(source.text)
    text = source.text[head.end() :] if head and all(_stands_in(part, told) for part in head.groups()) else source.text
    return f"[{source.number}] ({told}) {_indented(text)}"


def _date(moment: datetime) -> str:
    """A time in UTC; midnight stands for a day without a time."""
    utc = moment.astimezone(UTC)
    return utc.strftime("%Y-%m-%d" if utc.time() == MIDNIGHT else "%Y-%m-%d %H:%M")


def _once(parts: Sequence[str]) -> str:
    """The parts, but for those that stand in another one."""
    kept = [
        part
        for place, part in enumerate(parts)
        if part
        and not any(
            _stands_in(part, other) and (len(other) > len(part) or at < place)
            for at, other in enumerate(parts)
            if at != place
        )
    ]
    return ", ".join(kept)


def _stands_in(part: str, text: str) -> bool:
    """Whether the words stand in the text, not as a piece of longer ones."""
    return re.search(rf"(?<!\w){re.escape(part)}(?!\w)", text) is not None


def prompts_hash(*names: str) -> str:
    """16 hex digits that change with any word of these prompts, or of any prompt if none is named."""
    return _hash(*(part for name in names or _names() for part in (name, _text(name))))[:16]


def fill(prompt: str, /, **values: str) -> str:
    """The prompt of that name with its `$names` filled in. Raises EngineError if one is not given."""
    try:
        return Template(_text(prompt)).substitute(values).strip()
    except KeyError as missing:
        raise EngineError(
            f"The prompt {prompt}.md wants ${missing.args[0]}, which is not given.",
            hint=f"It may use: {', '.join(f'${known}' for known in sorted(values)) or 'nothing'}.",
        ) from missing


@functools.cache
def _text(name: str) -> str:
    return (resources.files("engine.llm") / "templates" / f"{name}.md").read_text(encoding="utf-8")


@functools.cache
def _names() -> tuple[str, ...]:
    folder = resources.files("engine.llm") / "templates"
    return tuple(sorted(file.name.removesuffix(".md") for file in folder.iterdir() if file.name.endswith(".md")))


def _summary_rules() -> str:
    return fill("summary_rules", length=str(SUMMARY_WORDS))


def _occasion(today: date | None, asker: str) -> str:
    """When and by whom the question is asked, in a line. The name is foreign text: one JSON string."""
    day = f"Today is {today:%A}, {today:%Y-%m-%d} (UTC)." if today else ""
    name = f"The name of who asks, as data: {_json(_line(asker)[:LONGEST_NAME])}." if asker.strip() else ""
    return " ".join(filter(None, (day, name))) or "When and by whom it is asked is not known."


def _pair(system: str, user: str) -> list[Message]:
    return [Message("system", system), Message("user", user)]


def _fence(*parts: str) -> str:
    """A mark that the fenced text cannot hold, since it depends on all of that text."""
    return _hash(*parts)[:12]


def _hash(*parts: str) -> str:
    return sha256(json.dumps(parts).encode()).hexdigest()


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)


def _line(text: str) -> str:
    return " ".join(text.split())


def _indented(text: str) -> str:
    return "\n    ".join(text.strip().splitlines())
