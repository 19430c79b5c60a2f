"""What Slack accepts in blocks: a table of kinds, with sizes in characters from the Block Kit reference."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from tests.support.slack_server.state import SlackError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from tests.support.slack_server.state import JSON

MAX_BLOCKS, MAX_VIEW_BLOCKS = 50, 100


@dataclass(frozen=True, slots=True)
class PayloadLimits:
    """Characters; `streamed` of a whole streamed message. `life`: seconds until Slack ends a stream."""

    text: int = 40_000
    updated_text: int = 4_000
    markdown: int = 12_000
    streamed: int = 12_000
    all_blocks: int = 13_200
    task_field: int = 256
    life: float = 300.0
    status_life: float = 120.0


@dataclass(frozen=True, slots=True)
class Shape:
    """A kind of block or element.

    `texts`: the longest lengths of strings that must be there; with a colon, of text objects of these types.
    `elements`: the kinds of its elements, at most `most`.
    """

    texts: Mapping[str, int] = field(default_factory=dict)
    elements: str = ""
    most: int = 1000


VOTE = {"text:plain_text": 75, "value": 2000}
BLOCKS = {
    "markdown": Shape({"text": 12_000}),
    "section": Shape({"text:mrkdwn plain_text": 3000}),
    "context": Shape(elements="mrkdwn plain_text", most=10),
    "actions": Shape(elements="button", most=25),
    "context_actions": Shape(elements="feedback_buttons icon_button", most=5),
    "rich_text": Shape(elements="rich_text_section rich_text_list"),
    "table": Shape(),
}
TABLE = Shape(elements="raw_text rich_text")
MAX_TABLE_ROWS, MAX_TABLE_COLUMNS, MAX_TABLE_LENGTH = 100, 20, 10_000
MESSAGE_ONLY = frozenset({"markdown", "context_actions", "table"})
ELEMENTS = {
    "mrkdwn": Shape({"text": 3000}),
    "plain_text": Shape({"text": 3000}),
    "button": Shape({"text:plain_text": 75}),
    "icon_button": Shape({"text:plain_text": 75, "icon": 5}),
    "feedback_buttons": Shape(
        {f"{n}_button.{path}": most for n in ("positive", "negative") for path, most in VOTE.items()}
    ),
    "raw_text": Shape({"text": 10_000}),
    "rich_text": Shape(elements="rich_text_section rich_text_list"),
    "rich_text_section": Shape(elements="text link citation date"),
    "rich_text_list": Shape(elements="rich_text_section"),
    "text": Shape({"text": 40_000}),
    "link": Shape({"url": 3000}),
    "citation": Shape({"url": 3000}),
    "date": Shape({"format": 255, "fallback": 3000}),
}
OPTIONAL = {"block_id": 255, "action_id": 255, "value": 2000, "url": 3000}  # the longest lengths wherever they occur


def check_blocks(blocks: Sequence[Any], limits: PayloadLimits, *, view: bool = False) -> None:
    """Check the blocks of a message or a view. Raises SlackError, whose messages name every fault."""
    most = MAX_VIEW_BLOCKS if view else MAX_BLOCKS
    kinds = {kind: shape for kind, shape in BLOCKS.items() if not (view and kind in MESSAGE_ONLY)}
    faults = [f"no more than {most} items allowed [json-pointer:/blocks]"] if len(blocks) > most else []
    for number, block in enumerate(blocks):
        faults += _find_faults(block, f"/blocks/{number}", kinds)
    ids = [block["block_id"] for block in blocks if isinstance(block, dict) and "block_id" in block]
    if len(ids) != len(set(ids)):
        faults.append("block_id must be unique [json-pointer:/blocks]")
    if sum(len(str(block["text"])) for block in blocks if _kind(block) == "markdown") > limits.markdown:
        faults.append(f"markdown blocks must be less than {limits.markdown + 1} characters in sum")
    faults += _find_table_faults([block for block in blocks if _kind(block) == "table"])
    if faults:
        raise SlackError("invalid_arguments" if view else "invalid_blocks", *faults)
    if not view and block_length(list(blocks)) > limits.all_blocks:
        raise SlackError("msg_blocks_too_long")


def _find_faults(node: Any, where: str, kinds: Mapping[str, Shape]) -> Iterator[str]:
    if _kind(node) not in kinds:
        yield f"unsupported type: {_kind(node) or node} [json-pointer:{where}]"
        return
    shape = kinds[_kind(node)]
    for path, most in shape.texts.items():
        value = _get_text(node, path)
        if not isinstance(value, str) or not 0 < len(value) <= most:
            yield f"must be 1 to {most} characters [json-pointer:{where}/{path}]"
    for name, most in OPTIONAL.items():
        if len(str(node.get(name, ""))) > most:
            yield f"must be less than {most + 1} characters [json-pointer:{where}/{name}]"
    if node.get("icon", "trash") != "trash":
        yield f"must be a valid enum value [json-pointer:{where}/icon]"
    elements = node.get("elements") if shape.elements else [None]
    if not isinstance(elements, list) or not 0 < len(elements) <= shape.most:
        yield f"1 to {shape.most} items required [json-pointer:{where}/elements]"
    elif shape.elements:
        allowed = {kind: ELEMENTS[kind] for kind in shape.elements.split()}
        for number, element in enumerate(elements):
            yield from _find_faults(element, f"{where}/elements/{number}", allowed)


def _find_table_faults(tables: Sequence[JSON]) -> Iterator[str]:
    """A message has one table, of bounded size."""
    if len(tables) > 1:
        yield "only_one_table_allowed"
    for table in tables:
        rows = table.get("rows") or [[]]
        if len(rows) > MAX_TABLE_ROWS or not all(0 < len(row) <= MAX_TABLE_COLUMNS for row in rows):
            yield "the table has too many rows or cells, or none"
        if block_length(rows) > MAX_TABLE_LENGTH:
            yield "the table is too long"
        for row in rows:
            yield from _find_faults({"type": "row", "elements": row}, "/rows", {"row": TABLE})


def _get_text(node: JSON, path: str) -> object:
    """The string at a dotted path; with types behind a colon, that of the text object there."""
    names, _, types = path.partition(":")
    value: Any = node
    for name in names.split("."):
        value = value.get(name) if isinstance(value, dict) else None
    if not types:
        return value
    return value.get("text") if _kind(value) in types.split() else None


def _kind(block: object) -> str:
    return str(block.get("type", "")) if isinstance(block, dict) else ""


def find_texts(value: object) -> Iterator[str]:
    """Every text anywhere in blocks."""
    if isinstance(value, dict):
        for key, inner in value.items():
            if isinstance(inner, str) and key in {"text", "title"}:
                yield inner
            else:
                yield from find_texts(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from find_texts(inner)


def block_length(value: object) -> int:
    """What blocks or chunks count towards the limits of a message."""
    return sum(map(len, find_texts(value)))


def parse_list(value: object, error: str = "invalid_blocks_format") -> list[JSON] | None:
    """A list, given as such or as JSON."""
    if isinstance(value, str) and value:
        try:
            value = json.loads(value)
        except ValueError:
            raise SlackError(error) from None
    if value is None or value == "":
        return None
    if not isinstance(value, list):
        raise SlackError(error)
    return value
