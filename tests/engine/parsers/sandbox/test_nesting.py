"""A small file cannot hold a parser: nesting and aliases are bounded before the expensive part."""

from __future__ import annotations

from typing import Any

import pytest
import yaml

from engine import FileParser, ParserLimits
from engine.errors import DocumentTooLarge
from engine.parsers.sandbox.nesting import MAX_XML_DEPTH, MAX_YAML_DEPTH, check_xml_depth, is_yaml_too_deep
from tests.engine.parsers.samples import docx, opendocument, paragraph, pptx, shape
from tests.support.fake_describer import Eyes

LEVELS = 25_000
LIMITS = ParserLimits(workers=1, timeout_seconds=20.0)


def nest(start: str, inner: str = "", levels: int = LEVELS) -> str:
    tags = start.replace("<", "</").split("</")
    return start * levels + inner + "".join(f"</{tag}" for tag in reversed(tags) if tag) * levels


LISTS = "<ul><li>x"
ALIASES = "a0: &a0 [x,x,x,x,x,x,x,x,x]\n" + "".join(
    f"a{level}: &a{level} [{','.join([f'*a{level - 1}'] * 9)}]\n" for level in range(1, 9)
)
MERGES = "a0: &a0 {x: 1}\n" + "".join(
    f"a{level}: &a{level} {{<<: [{','.join([f'*a{level - 1}'] * 20)}]}}\n" for level in range(1, 25)
)
BOMBS = {
    "paragraphs.docx": docx(nest("<w:p>", paragraph("x"))),
    "formulas.docx": docx(nest("<m:oMath>")),
    "lists.odt": opendocument("text", nest("<text:list><text:list-item>", "<text:p>x</text:p>")),
    "pages.odp": opendocument("presentation", nest("<draw:page>", "<text:p>x</text:p>", 3000)),
    "groups.pptx": pptx((nest("<p:grpSp>", shape("x")),), []),
    "aliases.yaml": ALIASES.encode(),
    "circle.yaml": b"a: &a [*a,*a,*a,*a,*a,*a,*a,*a,*a]\n",
    "merges.yaml": MERGES.encode(),
}


@pytest.mark.share(3)
@pytest.mark.parametrize("name", BOMBS)
async def test_a_bomb_is_refused_for_what_it_is(name: str) -> None:
    async with FileParser(LIMITS, Eyes()) as parser:
        with pytest.raises(DocumentTooLarge, match=r"nested too deeply|stands for more than"):
            await parser.parse(name, BOMBS[name])


@pytest.mark.long
@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("lists.html", b"<html>" + LISTS.encode() * LEVELS),
        ("flow.yaml", b"[" * LEVELS),
        ("maps.yaml", b"{a: " * LEVELS),
    ],
)
async def test_a_deep_text_is_read_in_a_moment(name: str, data: bytes) -> None:
    async with FileParser(LIMITS) as parser:
        parsed = await parser.parse(name, data)
    assert sum(len(passage.text) for passage in parsed.passages) < 100 * len(data)


def test_xml_of_ordinary_depth_passes() -> None:
    check_xml_depth(nest("<a>", levels=MAX_XML_DEPTH).encode())
    check_xml_depth(b"<a></a>" * 1000)  # not XML
    with pytest.raises(DocumentTooLarge):
        check_xml_depth(nest("<a>", levels=MAX_XML_DEPTH + 1).encode())
    with pytest.raises(DocumentTooLarge):
        check_xml_depth(nest("<a>", levels=MAX_XML_DEPTH + 1).encode("utf-16"))


def test_yaml_of_ordinary_depth_passes_with_its_aliases() -> None:
    assert not is_yaml_too_deep("[" * MAX_YAML_DEPTH + "]" * MAX_YAML_DEPTH)
    assert is_yaml_too_deep("[" * (MAX_YAML_DEPTH + 1))
    shared = "base: &base {image: x, env: {a: 1, b: 2}}\n" + "".join(f"s{n}: {{<<: *base}}\n" for n in range(500))
    assert not is_yaml_too_deep(shared)
    with pytest.raises(yaml.YAMLError):
        is_yaml_too_deep("a: *nothing\nb: [")


def count_values(value: Any) -> int:
    inner = value if isinstance(value, list) else [each for pair in value.items() for each in pair]
    return 1 + sum(count_values(each) if isinstance(each, dict | list) else 1 for each in inner)


@pytest.mark.parametrize("levels", [5, 6, 7])
def test_the_values_of_aliases_are_counted_as_they_are_read(levels: int) -> None:
    text = "\n".join(ALIASES.splitlines()[: levels - 1])
    count = count_values(yaml.safe_load(text))
    if count > 50_000:
        with pytest.raises(DocumentTooLarge):
            is_yaml_too_deep(text)
    else:
        assert not is_yaml_too_deep(text)
