"""What Slack accepts in texts and blocks; sizes in characters, from the Block Kit reference and the methods' pages."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tests.support.slack_server.refusals import SlackError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from tests.support.slack_server.state import JSON


@dataclass(frozen=True, slots=True)
class PayloadLimits:
    """`streamed`: all that one streamed message takes. `life`: seconds until a stream is ended by Slack."""

    text: int = 40_000
    updated_text: int = 4_000
    markdown: int = 12_000
    streamed: int = 12_000
    all_blocks: int = 13_200
    blocks: int = 50
    view_blocks: int = 100
    task_field: int = 256
    life: float = 300.0
    status_life: float = 120.0
    trigger_life: float = 3.0


MESSAGE_ONLY = frozenset({"markdown", "context_actions", "task_card", "plan", "table", "data_table", "file"})
KNOWN = MESSAGE_ONLY | {
    "section", "header", "divider", "context", "actions", "image", "rich_text", "input", "video", "alert", "card",
    "carousel", "container",
}  # fmt: skip
RICH = frozenset({"rich_text_section", "rich_text_list", "rich_text_quote", "rich_text_preformatted"})
RICH_LEAVES = frozenset(
    {"text", "link", "emoji", "user", "channel", "usergroup", "broadcast", "date", "color", "team", "citation"}
)
STATUSES = frozenset({"pending", "in_progress", "complete", "error"})
INTERACTIVE = frozenset(
    {"button", "overflow", "static_select", "external_select", "users_select", "conversations_select",
     "channels_select", "multi_static_select", "datepicker", "timepicker", "checkboxes", "radio_buttons",
     "workflow_button"}
)  # fmt: skip


class BlockValidator:
    """Checks the blocks of a message or a view; every fault found is a line of the refusal."""

    def __init__(self, limits: PayloadLimits, *, view: bool = False) -> None:
        self.limits = limits
        self.view = view
        self.faults: list[str] = []

    def check(self, blocks: Sequence[Any]) -> None:
        most = self.limits.view_blocks if self.view else self.limits.blocks
        if len(blocks) > most:
            self.faults.append(f"no more than {most} items allowed [json-pointer:/blocks]")
        names: list[str] = []
        for number, block in enumerate(blocks):
            self._block(block, f"/blocks/{number}")
            if isinstance(block, dict) and "block_id" in block:
                names.append(block["block_id"])
        if len(names) != len(set(names)):
            self.faults.append("block_id must be unique [json-pointer:/blocks]")
        markdown = sum(len(str(block.get("text", ""))) for block in blocks if _kind(block) == "markdown")
        if markdown > self.limits.markdown:
            self._fault("/blocks", f"markdown blocks must be less than {self.limits.markdown + 1} characters in sum")
        if self.faults:
            raise SlackError("invalid_arguments" if self.view else "invalid_blocks", *self.faults)
        if not self.view and sum(block_length(block) for block in blocks) > self.limits.all_blocks:
            raise SlackError("msg_blocks_too_long")

    def _fault(self, where: str, what: str) -> None:
        self.faults.append(f"{what} [json-pointer:{where}]")

    def _size(self, value: object, most: int, where: str) -> None:
        if not isinstance(value, str) or not value:
            self._fault(where, "must be more than 0 characters")
        elif len(value) > most:
            self._fault(where, f"must be less than {most + 1} characters")

    def _count(self, block: JSON, most: int, where: str) -> list[JSON]:
        elements = block.get("elements")
        if not isinstance(elements, list) or not elements:
            self._fault(f"{where}/elements", "no fewer than 1 item required")
            return []
        if len(elements) > most:
            self._fault(f"{where}/elements", f"no more than {most} items allowed")
        return elements

    def _text(self, value: object, most: int, where: str, kinds: tuple[str, ...] = ("mrkdwn", "plain_text")) -> None:
        if not isinstance(value, dict) or value.get("type") not in kinds:
            self._fault(where, f"must be a text object of type {' or '.join(kinds)}")
        else:
            self._size(value.get("text"), most, f"{where}/text")

    def _block(self, block: object, where: str) -> None:
        kind = _kind(block)
        if not isinstance(block, dict) or kind not in KNOWN or (self.view and kind in MESSAGE_ONLY):
            self._fault(where, f"unsupported type: {kind or block}")
            return
        if len(str(block.get("block_id", ""))) > 255:
            self._fault(f"{where}/block_id", "must be less than 256 characters")
        checks: dict[str, Callable[[JSON, str], None]] = {
            "section": self._section,
            "header": lambda b, w: self._text(b.get("text"), 150, f"{w}/text", ("plain_text",)),
            "markdown": lambda b, w: self._size(b.get("text"), self.limits.markdown, f"{w}/text"),
            "context": self._context,
            "actions": self._actions,
            "context_actions": self._context_actions,
            "rich_text": self._rich_text,
            "image": self._image,
        }
        if kind in checks:
            checks[kind](block, where)

    def _section(self, block: JSON, where: str) -> None:
        if "text" not in block and not block.get("fields"):
            self._fault(where, "missing required field: text or fields")
        if "text" in block:
            self._text(block["text"], 3000, f"{where}/text")
        fields = block.get("fields") or []
        if len(fields) > 10:
            self._fault(f"{where}/fields", "no more than 10 items allowed")
        for number, field in enumerate(fields):
            self._text(field, 2000, f"{where}/fields/{number}")
        if "accessory" in block:
            self._element(block["accessory"], f"{where}/accessory")

    def _context(self, block: JSON, where: str) -> None:
        for number, element in enumerate(self._count(block, 10, where)):
            place = f"{where}/elements/{number}"
            if _kind(element) == "image":
                self._image(element, place)
            else:
                self._text(element, 3000, place)

    def _actions(self, block: JSON, where: str) -> None:
        for number, element in enumerate(self._count(block, 25, where)):
            if _kind(element) not in INTERACTIVE:
                self._fault(f"{where}/elements/{number}", f"unsupported type: {_kind(element)}")
            self._element(element, f"{where}/elements/{number}")

    def _context_actions(self, block: JSON, where: str) -> None:
        for number, element in enumerate(self._count(block, 5, where)):
            place, kind = f"{where}/elements/{number}", _kind(element)
            if kind == "feedback_buttons":
                for name in ("positive_button", "negative_button"):
                    button = element.get(name) or {}
                    self._text(button.get("text"), 75, f"{place}/{name}/text", ("plain_text",))
                    self._size(button.get("value"), 2000, f"{place}/{name}/value")
            elif kind == "icon_button":
                self._text(element.get("text"), 75, f"{place}/text", ("plain_text",))
                if element.get("icon") != "trash":
                    self._fault(f"{place}/icon", "must be a valid enum value")
                if len(element.get("value", "")) > 2000:
                    self._fault(f"{place}/value", "must be less than 2001 characters")
            else:
                self._fault(place, f"unsupported type: {kind}")

    def _element(self, element: object, where: str) -> None:
        if not isinstance(element, dict) or not element.get("type"):
            self._fault(where, "missing required field: type")
            return
        if len(element.get("action_id", "")) > 255:
            self._fault(f"{where}/action_id", "must be less than 256 characters")
        if element["type"] == "button":
            self._text(element.get("text"), 75, f"{where}/text", ("plain_text",))
            for name, most in (("value", 2000), ("url", 3000)):
                if len(element.get(name, "")) > most:
                    self._fault(f"{where}/{name}", f"must be less than {most + 1} characters")
            if element.get("style", "primary") not in {"primary", "danger"}:
                self._fault(f"{where}/style", "must be a valid enum value")

    def _image(self, block: JSON, where: str) -> None:
        self._size(block.get("alt_text"), 2000, f"{where}/alt_text")
        if "image_url" in block:
            self._size(block["image_url"], 3000, f"{where}/image_url")
        elif "slack_file" not in block:
            self._fault(where, "missing required field: image_url or slack_file")

    def _rich_text(self, block: JSON, where: str) -> None:
        for number, element in enumerate(self._count(block, 1000, where)):
            place = f"{where}/elements/{number}"
            if _kind(element) not in RICH:
                self._fault(place, f"unsupported type: {_kind(element)}")
            else:
                self._rich(element, place)

    def _rich(self, element: JSON, where: str) -> None:
        for number, leaf in enumerate(element.get("elements") or []):
            place, kind = f"{where}/elements/{number}", _kind(leaf)
            if element["type"] == "rich_text_list":
                if kind != "rich_text_section":
                    self._fault(place, f"unsupported type: {kind}")
                else:
                    self._rich(leaf, place)
            elif kind not in RICH_LEAVES or (kind == "citation" and element["type"] == "rich_text_preformatted"):
                self._fault(place, f"unsupported type: {kind}")
            elif kind == "text":
                self._size(leaf.get("text"), 40_000, f"{place}/text")
            elif kind in {"link", "citation"}:
                self._size(leaf.get("url"), 3000, f"{place}/url")


def _kind(block: object) -> str:
    return str(block.get("type", "")) if isinstance(block, dict) else ""


def find_texts(value: object) -> Iterator[str]:
    """Every text that stands anywhere in blocks."""
    if isinstance(value, dict):
        for key, inner in value.items():
            if isinstance(inner, str) and key in {"text", "title", "details", "output"}:
                yield inner
            else:
                yield from find_texts(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from find_texts(inner)


def block_length(block: object) -> int:
    """What a block counts towards the sum over all blocks."""
    return sum(map(len, find_texts(block)))


def parse_list(value: object, error: str = "invalid_blocks_format") -> list[JSON] | None:
    """A list that came as such, or as JSON in a string."""
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
