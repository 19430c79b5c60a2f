"""Render prompts from the packaged templates. Foreign text is fenced, labeled as data, and cannot close its fence."""

from __future__ import annotations

import functools
import json
from hashlib import sha256
from importlib import resources
from operator import attrgetter
from string import Template
from typing import TYPE_CHECKING, Literal

from engine.errors import EngineError
from engine.llm.formats.row_repair import ENTITY_TYPES
from engine.llm.formats.tuple_extraction import DELIMITER, END_MARKER
from engine.llm.source_lines import indent_lines, join_words, render_source, render_sources
from engine.models import Excerpt, LLMMessage

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import date

    from engine.models import (
        ChatTurn,
        Context,
        ContextEntity,
        ContextRelation,
        Extraction,
        Prompt,
        Source,
        SummaryInput,
    )

ExtractionFormat = Literal["tuples", "json"]

MAX_EXTRACTION_ROWS = 100
NO_FACTS = '{"entities": [], "relationships": []}'
SUMMARY_WORDS = 450
TEXT_LANGUAGE = "the language of the text"
DEFAULT_STYLE = "Markdown, as short as the question permits."
EMPTY_SECTION = "(none)"
MAX_NAME_LENGTH = 80
MAX_REPLACEMENTS, MAX_REPLACED_LENGTH = 5, 60  # rows, and characters of a statement; about 200 tokens
ANSWER_PROMPTS = ("answer_system", "bypass_system")
SUMMARY_PROMPTS = ("summarize", "summarize_user", "summarize_several", "summarize_several_user", "summary_rules")


def render_extract(
    excerpt: Excerpt,
    output_format: ExtractionFormat,
    language: str = TEXT_LANGUAGE,
    types: Sequence[str] = ENTITY_TYPES,
) -> list[LLMMessage]:
    """Messages that ask for the entities (of `types`) and relations of an excerpt, described in `language`."""
    values = {"types": ", ".join(types), "limit": str(MAX_EXTRACTION_ROWS), "language": language}
    if output_format == "tuples":
        system = fill_template("extract_system", **values, delimiter=DELIMITER, end=END_MARKER)
    else:
        system = fill_template("extract_json_system", **values)
    section = f"Its heading (also data): {join_words(excerpt.section)}\n" if excerpt.section.strip() else ""
    fence = _fence_token(excerpt.text, excerpt.section)
    user = fill_template("extract_user", section=section, text=excerpt.text, fence=fence)
    return _build_messages(system, user, shared=len(system))


def render_extract_batch(
    excerpts: Sequence[Excerpt],
    output_format: ExtractionFormat,
    language: str = TEXT_LANGUAGE,
    types: Sequence[str] = ENTITY_TYPES,
) -> list[LLMMessage]:
    """Messages that ask for several excerpts at once, numbered; a repeated section is given once."""
    alone, _ = render_extract(Excerpt(""), output_format, language, types)
    values = {"limit": str(MAX_EXTRACTION_ROWS), "delimiter": DELIMITER, "end": END_MARKER}
    rules = fill_template("extract_several" if output_format == "tuples" else "extract_json_several", **values)
    before, items = "", list[dict[str, object]]()
    for number, excerpt in enumerate(excerpts, 1):
        under = join_words(excerpt.section)
        items.append({"number": number, **({"under": under} if under != before else {}), "text": excerpt.text})
        before = under
    rows = "\n".join(map(_json, items))
    user = fill_template("extract_several_user", excerpts=rows, fence=_fence_token(rows))
    system = f"{alone.content}\n\n{rules}"
    return _build_messages(system, user, shared=len(system))


def render_glean(reply: str, output_format: ExtractionFormat) -> list[LLMMessage]:
    """Messages that ask for a second pass, after the first exchange."""
    again = fill_template("glean", end=END_MARKER) if output_format == "tuples" else fill_template("glean_json")
    return [LLMMessage("assistant", reply), LLMMessage("user", again)]


def render_extract_again(reply: str, output_format: ExtractionFormat) -> list[LLMMessage]:
    """Messages that ask again, after a reply that gave nothing; its first words show what is meant."""
    again = fill_template("extract_again", nothing=END_MARKER if output_format == "tuples" else NO_FACTS)
    return [LLMMessage("assistant", reply), LLMMessage("user", again)] if reply else []


def render_extract_rest(found: Extraction, output_format: ExtractionFormat) -> list[LLMMessage]:
    """Messages that ask for the rest of a reply that was cut off after these facts."""
    end = f"The last line is {END_MARKER}" if output_format == "tuples" else "Reply with one JSON object."
    given = render_rows(found) if output_format == "tuples" else render_facts_object(found)
    return [LLMMessage("assistant", given), LLMMessage("user", fill_template("extract_rest", end=end))]


def render_text_rest(text: str) -> list[LLMMessage]:
    """Messages that ask for the rest of a text that was cut off."""
    return [LLMMessage("assistant", text), LLMMessage("user", fill_template("text_rest"))]


def render_rows(found: Extraction) -> str:
    """Facts as rows."""
    entities = (("entity", m.name, m.type, m.description) for m in found.mentions)
    relations = (("relation", x.source, x.target, x.keywords, x.description) for x in found.links)
    return "\n".join(DELIMITER.join(fields).replace("\n", " ") for fields in (*entities, *relations))


def render_facts_object(found: Extraction) -> str:
    """Facts as a JSON object."""
    entities = [{"name": m.name, "type": m.type, "description": m.description} for m in found.mentions]
    relations = [
        {"source": x.source, "target": x.target, "keywords": x.keywords, "description": x.description}
        for x in found.links
    ]
    return _json({"entities": entities, "relationships": relations})


def render_query_rewrite(
    text: str, history: Sequence[ChatTurn], today: date | None = None, asker: str = "", rules: str = ""
) -> list[LLMMessage]:
    """Messages that ask for a standalone question and its keywords; `rules`: what else to find out."""
    system = fill_template("condense", occasion=_render_occasion(today, asker))
    conversation = "\n".join(f"{turn.role}: {indent_lines(turn.text)}" for turn in history) or EMPTY_SECTION
    return _build_messages(
        f"{system}\n\n{rules}" if rules else system,
        fill_template("condense_user", history=conversation, text=text, fence=_fence_token(conversation, text)),
    )


def render_event(awaited: str, messages: Sequence[Source]) -> list[LLMMessage]:
    """Messages that ask whether the last of some messages says what somebody waits for."""
    *earlier, last = map(render_source, messages)
    before = "\n".join(earlier) or EMPTY_SECTION
    fence = _fence_token(awaited, before, last)
    user = fill_template("event_user", awaited=join_words(awaited), earlier=before, message=last, fence=fence)
    return _build_messages(fill_template("event"), user)


def render_filter_rules(today: date) -> str:
    """What to find out about filters in a question; `today`: where the asker is."""
    return fill_template("filters", today=f"{today:%A}, {today:%Y-%m-%d}")


def render_summarize(summary_input: SummaryInput) -> list[LLMMessage]:
    """Messages that ask for one summary of several descriptions, oldest first."""
    rows = "\n".join(_json(text) for text in summary_input.texts)
    user = fill_template(
        "summarize_user",
        name=join_words(summary_input.name),
        fragments=rows,
        fence=_fence_token(rows, summary_input.name),
    )
    return _build_messages(fill_template("summarize", rules=_summary_rules()), user)


def render_summarize_batch(inputs: Sequence[SummaryInput]) -> list[LLMMessage]:
    """Messages that ask for summaries of several names at once, numbered."""
    items = (
        {"number": n, "name": join_words(each.name), "descriptions": each.texts} for n, each in enumerate(inputs, 1)
    )
    rows = "\n".join(map(_json, items))
    system = fill_template("summarize_several", rules=_summary_rules(), delimiter=DELIMITER, end=END_MARKER)
    return _build_messages(system, fill_template("summarize_several_user", names=rows, fence=_fence_token(rows)))


def render_picture(jpeg: bytes) -> list[LLMMessage]:
    """Messages that ask what a picture shows, and for the text in it."""
    return [LLMMessage("system", fill_template("picture")), LLMMessage("user", "The picture:", (jpeg,))]


def render_answer(prompt: Prompt) -> list[LLMMessage]:
    """Messages that ask for an answer: context, conversation so far, question."""
    values = {
        "style": prompt.style.strip() or DEFAULT_STYLE,
        "instructions": prompt.instructions.strip() or "none.",
    }
    values["occasion"] = _render_occasion(prompt.today, prompt.asker, prompt.utc_offset)
    context = prompt.context
    if context.as_of is not None:
        values["occasion"] += f" {fill_template('as_of', day=f'{context.as_of:%A}, {context.as_of:%Y-%m-%d}')}"
    if context.overview is not None:
        overview_task = fill_template(f"overview_{context.overview.kind}")
        values["instructions"] = " ".join(
            [overview_task, *([fill_template("overview_notes")] if prompt.partial_answers else []), prompt.instructions]
        )
    if context.mode == "bypass" and context.is_empty:
        system = fill_template("bypass_system", **values)
    else:
        rows = context.prompt_rows or context
        entities = "\n".join(map(render_entity, rows.entities)) or EMPTY_SECTION
        relations = "\n".join(map(render_relation, rows.relations)) or EMPTY_SECTION
        readable = sorted(context.sources, key=attrgetter("position"))
        sources = "\n".join([*render_sources(readable), *prompt.partial_answers]) or EMPTY_SECTION
        sources += render_replacements(context)
        fence = _fence_token(entities, relations, sources)
        system = fill_template(
            "answer_system", **values, entities=entities, relations=relations, sources=sources, fence=fence
        )
    history = (LLMMessage(turn.role, turn.text) for turn in prompt.history)
    shared = system.index(values["occasion"])  # rules, format and instructions; the day, the name and the context vary
    return [LLMMessage("system", system, shared=shared), *history, LLMMessage("user", prompt.question)]


def list_answer_rules() -> tuple[str, ...]:
    """The lines of the prompts of an answer that are the same for every question."""
    lines = (line.strip() for name in ANSWER_PROMPTS for line in _load_template(name).splitlines())
    return tuple(line for line in lines if line and "$" not in line)


def render_entity(row: ContextEntity) -> str:
    """An entity as the model sees it: one line of JSON."""
    shown = {"entity": row.name, "type": row.type, "description": row.description}
    return _json({**shown, "sources": list(row.sources)})


def render_relation(row: ContextRelation) -> str:
    """A relation as the model sees it: one line of JSON."""
    ends = {"entity1": row.source, "entity2": row.target}
    shown = {**ends, "keywords": row.keywords, "description": row.description}
    return _json({**shown, "sources": list(row.sources)})


def render_replacements(context: Context) -> str:
    """The statements of the sources that newer ones replace, one line of JSON each; empty if there are none."""
    shown = {source.number for source in context.sources}
    rows = [
        _json({"replaced": _shorten(replacement.older_text), "in": replacement.older, "by": replacement.newer})
        for replacement in context.replacements
        if {replacement.older, replacement.newer} <= shown
    ]
    return (
        "\n".join(["", "", "Replaced statements, one JSON object per line:", *rows[:MAX_REPLACEMENTS]]) if rows else ""
    )


def _shorten(text: str) -> str:
    """The beginning of a statement, on one line."""
    line = join_words(text)
    return line if len(line) <= MAX_REPLACED_LENGTH else f"{line[:MAX_REPLACED_LENGTH]}…"


def hash_prompts(*names: str) -> str:
    """16 hex digits that change with any word of these prompts; of all prompts if none is named."""
    return _hash(*(part for name in names or _template_names() for part in (name, _load_template(name))))[:16]


def fill_template(prompt: str, /, **values: str) -> str:
    """The template of that name with its `$names` filled in. Raises EngineError if a value is missing."""
    try:
        return Template(_load_template(prompt)).substitute(values).strip()
    except KeyError as missing:
        raise EngineError(
            f"The prompt {prompt}.md needs ${missing.args[0]}, which is not given.",
            hint=f"Available values: {', '.join(f'${known}' for known in sorted(values)) or 'nothing'}.",
        ) from missing


@functools.cache
def _load_template(name: str) -> str:
    return (resources.files("engine.llm") / "templates" / f"{name}.md").read_text(encoding="utf-8")


@functools.cache
def _template_names() -> tuple[str, ...]:
    folder = resources.files("engine.llm") / "templates"
    return tuple(sorted(file.name.removesuffix(".md") for file in folder.iterdir() if file.name.endswith(".md")))


def _summary_rules() -> str:
    return fill_template("summary_rules", length=str(SUMMARY_WORDS))


def _render_occasion(today: date | None, asker: str, utc_offset: str = "") -> str:
    """The time and the asker of the question in one line. The name is foreign text, so it is a JSON string.

    `today` is the day where that person is; `utc_offset` by how much their time is ahead of that of the sources.
    """
    zone = f" (UTC{utc_offset}; times of sources are in UTC)" if utc_offset else ""
    place = " (UTC)" if utc_offset == "+00:00" else f", where the person asking is{zone}"
    day = f"Today is {today:%A}, {today:%Y-%m-%d}{place}." if today else ""
    name = f"Name of the person asking (data): {_json(join_words(asker)[:MAX_NAME_LENGTH])}." if asker.strip() else ""
    return " ".join(filter(None, (day, name))) or "The date and the person who asks are not known."


def _build_messages(system: str, user: str, shared: int = 0) -> list[LLMMessage]:
    return [LLMMessage("system", system, shared=shared), LLMMessage("user", user)]


def _fence_token(*parts: str) -> str:
    """A fence marker that the fenced text cannot contain, since it is a hash of that text."""
    return _hash(*parts)[:12]


def _hash(*parts: str) -> str:
    return sha256(json.dumps(parts).encode()).hexdigest()


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)
