"""Turn blocks with headings into passages labeled by the path of headings. Pure."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from engine.models import Passage
from engine.parsers.passages.blocks import Block, group_blocks, join_blocks
from engine.text.cleanup import clean_multiline, clean_single_line

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

_MAX_LABEL_LENGTH = 160


@dataclass(slots=True)
class _Section:
    """The content between two headings."""

    path: tuple[str, ...]
    headings: list[Block] = field(default_factory=list)
    blocks: list[Block] = field(default_factory=list)


def passages_by_section(blocks: Iterable[Block], unit: str) -> tuple[Passage, ...]:
    """Passages with keys s1.1, s1.2, s2.1... and labels "Title › Section".

    A section begins with its headings, including headings without text of their own. Outside of headings the label is
    the location in `unit`s: "lines 3–9".
    """
    passages: list[Passage] = []
    for number, section in enumerate(_split_sections(blocks)):
        groups = group_blocks(section.blocks) or [[]]
        groups[0] = section.headings + groups[0]
        for part, group in enumerate(groups, 1):
            if text := clean_multiline(join_blocks(group)):
                label = _section_label(section.path) or format_span(unit, group[0].start, group[-1].stop)
                passages.append(Passage(f"s{number}.{part}", text, label, position=len(passages)))
    return tuple(passages)


def format_span(unit: str, start: int, stop: int) -> str:
    """A location as "line 3" or "lines 3–9"."""
    return f"{unit} {start}" if start == stop else f"{unit}s {start}–{stop}"


def find_first_heading(blocks: Sequence[Block]) -> str:
    """The text of the first heading if no other heading has a higher level, else an empty string."""
    headings = [block for block in blocks if block.type == "heading"]
    if headings and headings[0].level == min(block.level for block in headings):
        return clean_single_line(headings[0].text)
    return ""


def _split_sections(blocks: Iterable[Block]) -> list[_Section]:
    """The text before the first heading, then one section per heading; headings without text join the next section."""
    sections = [_Section(())]
    levels: list[tuple[int, str]] = []
    for block in blocks:
        if block.type != "heading":
            sections[-1].blocks.append(block)
            continue
        levels = [(level, text) for level, text in levels if level < block.level]
        levels.append((block.level, clean_single_line(block.text)))
        pending = [] if sections[-1].blocks else sections[-1].headings
        if not sections[-1].blocks and sections[-1].path:
            sections.pop()
        sections.append(_Section(tuple(text for _, text in levels if text), [*pending, block]))
    return sections


def _section_label(path: tuple[str, ...]) -> str:
    label = " › ".join(path)
    return label if len(label) <= _MAX_LABEL_LENGTH else "… " + label[-_MAX_LABEL_LENGTH:].lstrip()
