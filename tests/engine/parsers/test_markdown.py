from __future__ import annotations

from datetime import UTC, datetime

from engine.parsers.markdown import parse, parse_blocks


def _texts(source: str) -> list[str]:
    return [block.text for block in parse_blocks(source)]


def test_headings_are_the_locators() -> None:
    found = parse("town.md", b"# Town\n\nIntro.\n\n## Hours\n\nNine to five.\n\n## Place\n\nMain street.")
    assert found.title == "Town"
    assert [(p.key, p.label) for p in found.passages] == [
        ("s1.1", "Town"),
        ("s2.1", "Town › Hours"),
        ("s3.1", "Town › Place"),
    ]
    assert found.passages[1].text == "Hours\n\nNine to five."


def test_a_heading_without_text_of_its_own_opens_the_next_section() -> None:
    (passage,) = parse("a.md", b"# Town\n\n## Hours\n\nNine to five.").passages
    assert passage.text == "Town\n\nHours\n\nNine to five."
    assert passage.label == "Town › Hours"


def test_headings_alone_are_still_a_passage() -> None:
    (passage,) = parse("a.md", b"# Only a title").passages
    assert passage.text == "Only a title"


def test_text_before_all_headings_is_located_by_lines() -> None:
    found = parse("a.md", b"Hello\nthere.\n\n# Title\n\nMore.")
    assert found.passages[0].label == "lines 1–2"
    assert found.passages[0].key == "s0.1"


def test_a_long_section_becomes_several_passages_with_one_label() -> None:
    body = "\n\n".join("word " * 90 for _ in range(4))
    found = parse("a.md", f"# Long\n\n{body}".encode())
    assert [passage.key for passage in found.passages] == ["s1.1", "s1.2"]
    assert {passage.label for passage in found.passages} == {"Long"}


def test_a_listing_is_kept_whole_and_untouched() -> None:
    code = "\n".join(f"    value_{n} = *{n}*" for n in range(150))
    found = parse("a.md", f"# Code\n\n```python\ndef f():\n{code}\n```\n".encode())
    assert len(found.passages) == 1
    assert "    value_7 = *7*" in found.passages[0].text


def test_front_matter_gives_title_and_time_and_stays_readable() -> None:
    source = b"---\ntitle: 'The plan'\nauthor: Ada\ndate: 2026-03-01\n---\n\n# Goals\n\nBe good."
    found = parse("plan.md", source)
    assert found.title == "The plan"
    assert found.time == datetime(2026, 3, 1, tzinfo=UTC)
    assert "author: Ada" in found.passages[0].text
    assert found.passages[1].label == "Goals"


def test_a_rule_at_the_top_is_no_front_matter() -> None:
    found = parse("a.md", b"---\n\nHello.\n\n---\n\nBye.")
    assert found.passages[0].text == "Hello.\n\nBye."


def test_marks_go_and_addresses_stay() -> None:
    source = "A **bold** [link](https://e.com/x) and [local](b.md), ![a cat](cat.png) <https://f.org> `x_y`."
    assert _texts(source) == ["A bold link (https://e.com/x) and local, a cat https://f.org x_y."]


def test_lists_keep_their_marks_and_depth() -> None:
    assert _texts("1. one\n2. two\n   - inner\n\n- other") == ["1. one", "2. two", "  - inner", "- other"]


def test_tables_are_rows() -> None:
    assert _texts("| Day | Hours |\n|---|---|\n| Monday | **9–5** |") == ["Day | Hours\nMonday | 9–5"]


def test_a_long_table_repeats_its_head_in_each_passage() -> None:
    rows = "\n".join(f"| person number {n} | room {n} |" for n in range(100))
    found = parse("a.md", f"| Name | Room |\n|---|---|\n{rows}".encode())
    assert len(found.passages) > 2
    assert all(passage.text.startswith("Name | Room\n") for passage in found.passages)


def test_html_in_markdown_loses_its_tags_and_scripts() -> None:
    assert _texts("<div><b>Hi</b><script>evil()</script></div>\n\nA<br>b <i>c</i>") == ["Hi", "A\nb c"]


def test_deep_quotations_are_read_to_their_ground() -> None:
    assert _texts("> " * 25 + "the first of all words") == ["the first of all words"]
