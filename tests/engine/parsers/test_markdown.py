from __future__ import annotations

from engine.parsers.markdown import parse

CODE = "\n".join(f"    value_{n} = *{n}*" for n in range(150))
LONG_TABLE = "| Name | Room |\n|---|---|\n" + "\n".join(f"| person number {n} | room {n} |" for n in range(100))


def test_a_long_section_becomes_several_passages_with_one_label() -> None:
    body = "\n\n".join("word " * 90 for _ in range(4))
    found = parse("a.md", f"# Long\n\n{body}".encode())
    assert [(passage.key, passage.label) for passage in found.passages] == [("s1.1", "Long"), ("s1.2", "Long")]


def test_a_long_listing_is_kept_whole_and_untouched() -> None:
    [passage] = parse("a.md", f"# Code\n\n```python\ndef f():\n{CODE}\n```\n".encode()).passages
    assert "    value_7 = *7*" in passage.text


def test_a_long_table_repeats_its_head_in_each_passage() -> None:
    passages = parse("a.md", LONG_TABLE.encode()).passages
    assert len(passages) > 2
    assert all(passage.text.startswith("Name | Room\n") for passage in passages)
