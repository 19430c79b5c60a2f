"""Replies are shown with the numbers of their sources, with known addresses only, and without pings."""

from __future__ import annotations

import re
import time
import unicodedata
from itertools import pairwise

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from engine.answers.citations import CitationFilter, WrappedCitations
from engine.text.stream_rewriter import MAX_HELD_CHARACTERS

KNOWN = "https://ok.com/a"
TEXTS = (
    f"see {KNOWN} and <https://ok.com/slack|here>, [a](https://ok.com/b_(c)) or https://www.ok.com/d?x=1&y=2.",
    "ada@ok.com ok.com notes.md",
)
QUESTION = "What do <@U1> and <#C1|general> say of https://asked.com/page?"
NO_WIDTH = "\u200b"
JOINER = "\u2060"

SPACED = ["[1, 2]", "source ", " ", "  ", "\t", "\n\n", "> ", "- ", f'({KNOWN} "t")', "[r]: ", NO_WIDTH]
UNSPACED = f"""
[ ] ( ) {{ }} < > @ ! : , ; - – . | " ' \\ ` ~ 1 2 9 99 2026 [1] [2] [9] [1-3] 【1】 ［9］ † ^ \\[ \\] word ``` ~~~ ``
https :// // www. w evil.com {KNOWN} https://evil.com/x ok.com/a HTTP 。 [t]( ![ ]( ]({KNOWN}) ![p]({KNOWN}) /a ?q
](https://evil.com) everyone here @every <!channel> <! <@U1> <@U2|ada> <@&7> <#C1> <!subteam^S1|@devs>
"""
WORDS = [*SPACED, *UNSPACED.split(), "\n"]
SOUP = st.lists(st.sampled_from(WORDS), max_size=30).map("".join)
CODELESS_WORDS = [word for word in WORDS if "`" not in word and "~" not in word]
CODELESS = st.lists(st.sampled_from(CODELESS_WORDS), max_size=30).map("".join)


def citing(numbers: tuple[int, ...] = (1, 2, 3, 4, 5), texts: tuple[str, ...] = TEXTS) -> CitationFilter:
    return CitationFilter(numbers, texts, QUESTION)


def shown(text: str, texts: tuple[str, ...] = TEXTS) -> str:
    filter_ = citing(texts=texts)
    return filter_.feed(text) + filter_.close()


ADDRESS = re.compile(r"(?:[a-z][a-z0-9+-]*://|(?<![a-z0-9])www\.(?=\w))[^\s<>|`]+", re.IGNORECASE)
PING = re.compile(r"@(everyone|here|channel)|<!(channel|here|everyone|subteam)|<@&", re.IGNORECASE)
CITATION = re.compile(r"[\[【［][\s\u200b\\^]*(\d[\d\s\u200b,;–\\-]*)[\]】］]")


@given(SOUP, st.lists(st.integers(0, 200), max_size=12))
@example("x [9[9]9] `a", [3, 5])
@example(f"www.{KNOWN}`x`", [1, 2, 3])
def test_any_text_is_safe_and_the_same_however_it_is_cut(text: str, cuts: list[int]) -> None:
    edges = sorted({0, len(text), *(cut for cut in cuts if cut < len(text))})
    filters = [citing() for _ in range(3)]
    outputs = []
    for filter_, pieces in zip(filters, ([text], [text[a:b] for a, b in pairwise(edges)], text), strict=True):
        outputs.append("".join(map(filter_.feed, pieces)) + filter_.close())
    assert outputs == outputs[:1] * 3
    assert filters[0].used_numbers == filters[1].used_numbers == filters[2].used_numbers
    output = re.sub(rf"\]\({re.escape(KNOWN)}(?: [^()]*)?\)", "] ", outputs[0])
    for address in ADDRESS.findall(output):
        assert re.fullmatch(rf"{re.escape(KNOWN)}[^\w/?&=#%]*", address), (address, output)
    assert not PING.search(outputs[0])
    assert set(re.findall(r"<([@#]\w+)[|>]", outputs[0])) <= {"@U1", "#C1"}


@given(CODELESS)
@example(f"!![p]({KNOWN})")
def test_outside_of_code_only_given_numbers_and_no_pictures_are_shown(text: str) -> None:
    filter_ = citing((1, 2))
    output = filter_.feed(text) + filter_.close()
    uncoded = re.sub(r"(?<=[a-zA-Z])`\[\d+\]`", "", output)  # an index
    found = [content for content in CITATION.findall(uncoded) if content.strip() != "2026"]
    numbers = [int(content) if content.isdigit() else 0 for content in found]
    assert set(numbers) <= set(range(1, len(filter_.used_numbers) + 1))
    assert sorted(set(numbers), key=numbers.index) == sorted(set(numbers))
    assert set(filter_.used_numbers) <= {1, 2}
    assert not re.search(r"!\[[^\[\]\n]*\]\(", output)


@given(
    st.text(
        alphabet=st.characters(
            blacklist_characters="[]【［`~<@:./&!\\\u2028\u2029",
            blacklist_categories=["Cs", "Cc", "Cf", "No", "So"],
            max_codepoint=0x2FFF,
        ).filter(lambda character: "." not in unicodedata.normalize("NFKC", character))
    )
)
@example("two\nlines\tand — dashes · “quotes” \u00a0 ümläute | bars > quotes")
def test_ordinary_text_is_unchanged(text: str) -> None:
    assert shown(text) == text


@pytest.mark.parametrize(
    "text",
    [
        "# Title\n\n* **bold** _it_ ~~no~~ a[i] [ ] [x] [] [[wiki]] a < b > c 10:03 & w/o www",
        "[2026-11-20 10:03] Ada: it was [2019], I think",
        "`a[1]` and ``b[9] c`` and\n```py\nrow[7] = [1, 2]\n```\n1. x\n   ```\n   a[9] = b.at\n   ```\n`user.name`",
        f"<{KNOWN}>, <{KNOWN}> and (<{KNOWN}>). **<{KNOWN}>** [t]({KNOWN}) [u] <https://ok.com/b_(c)>!",
        "<@U1> in <#C1> wrote to ada@ok.com (see www.ok.com/d?x=1&y=2, ok.com and notes.md).",
        "e.g. 1.2.3, 3.14, i.e. p.m. ../a/b.txt ./c settings.json x=1;y=2 5:30 a/b and/or C# @ada #1 {a: b} ... …",
        "你好。然后，我们看看。",
        "| a | b |\n|---|---|\n| ![ | @ada |".replace("![", "!"),
        "if (!x) { y<int> z; } // w",
    ],
)
def test_text_that_only_looks_special_is_unchanged(text: str) -> None:
    assert shown(text) == text


@pytest.mark.parametrize(
    ("text", "expected", "used"),
    [
        ("a [3] b [1], c [3][2].", "a [1] b [2], c [1][3].", (3, 1, 2)),
        ("an [99], bud[99]. [99] c", "an, bud. c", ()),
        ("See plan[2].PDF.", "See plan`[2]`.PDF.", ()),
        ("See plan[2].pdf, lit at x ∈ [1, 3] [2].", "See plan`[2]`.pdf, lit at x ∈ `[1, 3]` [1].", (2,)),
        ("a[1] + b[99], rows[2] = rows[3] [2]", "a`[1]` + b`[99]`, rows`[2]` = rows`[3]` [1]", (2,)),
        ("[1, 99, 4]", "[1][2]", (1, 4)),
        ("[2-4] [5–9] [7-9]", "[1][2][3] [4]", (2, 3, 4, 5)),
        ("【2】［1］【4:0†file】【9】", "[1][2][3]", (2, 1, 4)),
        ("[^2] [source 1] [Sources: 1, 3] \\[4\\]", "[1] [2] [2][3] [4]", (2, 1, 3, 4)),
        ("half [1", "half", ()),
        ("half [", "half [", ()),
        ("[ 2 ] [2\u200b] [２]", "[1] [1] [1]", (2,)),
        pytest.param("`a [9] | b [2]` [2]", "`a | b [1]` [1]", (2,), id="code that a cell of a table may cut"),
        pytest.param(f"a{20 * ' '}[99].", "a    .", (), id="many spaces before a dropped one"),
        pytest.param(f"a{20 * ' '}[3].", f"a{20 * ' '}[1].", (3,), id="many spaces before one that is kept"),
        pytest.param("[1900] [2099] [1899] [2100].", "[1900] [2099].", (), id="years"),
        pytest.param("[2020, 2021] [2020-2021]", " [2020-2021]", (), id="a list of years and a span of them"),
    ],
)
def test_citations_are_checked_and_renumbered(text: str, expected: str, used: tuple[int, ...]) -> None:
    filter_ = citing()
    assert filter_.feed(text) + filter_.close() == expected
    assert filter_.used_numbers == used


def test_a_long_list_of_numbers_behind_spaces_is_waited_for() -> None:
    filter_ = citing()
    shown_text = "".join(map(filter_.feed, f"a{10 * ' '}[{62 * '1, '}2]")) + filter_.close()
    assert shown_text == f"a{10 * ' '}[1][2]"


@pytest.mark.parametrize(
    ("pieces", "expected"),
    [
        (["a [1&#93", ";x"], "a [1]x"),
        (["a [1&#93", "4;x"], "a [1&#934;x"),
        (["a [1&#93"], "a [1]"),
        (["half [see 1"], "half [see 1"),
        (["[" + 60 * "word 1 "], "[" + 60 * "word 1 "),
    ],
    ids=["closed by an entity", "another entity", "an entity at the end", "words at the end", "many words"],
)
def test_what_closes_a_bracket_is_waited_for_and_words_are_no_numbers(pieces: list[str], expected: str) -> None:
    filter_ = citing()
    assert "".join(map(filter_.feed, pieces)) + filter_.close() == expected


def test_a_source_may_have_the_number_of_a_year() -> None:
    filter_ = citing((1, 2026))
    assert filter_.feed("[2026] [2025]") + filter_.close() == "[1] [2025]"


@pytest.mark.parametrize(
    "text", ["[[99]1]", "[1, [99]2]", "[9[99]9]", "[ [99] 1]", "[" + " " * 300 + "9]", "[source [99]9]"]
)
def test_a_dropped_number_does_not_make_another_one(text: str) -> None:
    assert "·" in shown(text)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (f"{KNOWN}?key=1", "https[:]//ok[.]com/a?key=1"),
        ("https://ok.com", "https[:]//ok[.]com"),
        ("https://evil.com/x.", "https[:]//evil[.]com/x."),
        (f"{KNOWN}, ({KNOWN}). **{KNOWN}**", f"<{KNOWN}>, (<{KNOWN}>). **<{KNOWN}>**"),
        ("<https://evil.com>", f"<{NO_WIDTH}https[:]//evil[.]com>"),
        ("<https://evil.com|bank>", f"<{NO_WIDTH}https[:]//evil[.]com|bank>"),
        ("<https://ok.com/slack|over there>", "[over there](https://ok.com/slack)"),
        ("[bank](https://evil.com)", "[bank] (https[:]//evil[.]com)"),
        ("[bank](javascript:go.to())", "[bank] (javascript[:]go[.]to())"),
        (f"[https://evil.com]({KNOWN})", f"[https[:]//evil[.]com]({KNOWN})"),
        (f"[{KNOWN}]({KNOWN}) []({KNOWN})", f"<{KNOWN}> <{KNOWN}>"),
        (f'[t]({KNOWN} "The page")', f"[t]({KNOWN})"),
        ("[t](https://ok.com/b_(c))", "[t] (<https://ok.com/b_(c)>)"),
        (f"[r]: {KNOWN}\n[text][r]", f"[r]{NO_WIDTH}: <{KNOWN}>\n[text][r]"),
        ("www.evil.com WWW.evil.com", "www[.]evil[.]com WWW[.]evil[.]com"),
        ("evil.com/x bob@evil.com SECRET.evil.io", "evil[.]com/x bob[@]evil[.]com SECRET[.]evil[.]io"),
        ("other.md user.name", f"other.{JOINER}md user.{JOINER}name"),
        ("`https://evil.com` ```\nhttps://evil.com\n```", "`https[:]//evil[.]com` ```\nhttps[:]//evil[.]com\n```"),
        (f"`curl {KNOWN}` `{KNOWN}x`", f"`curl {KNOWN}` `https[:]//ok[.]com/ax`"),
        ("ftp://evil.com slack://evil", "ftp[:]//evil[.]com slack[:]//evil"),
        (f"![p]({KNOWN}) ![]({KNOWN}) ![p][r] wow![1]", f"[p]({KNOWN}) <{KNOWN}> [p][r] wow! [1]"),
        ("![p](https://evil.com/?secret)", "[p] (https[:]//evil[.]com/?secret)"),
        (f"{KNOWN}[1] [2]({KNOWN})", f"<{KNOWN}> [1] [2]"),
        (f"见{KNOWN}，then", f"见<{KNOWN}>， then"),
        ("https:/[99]/evil.com", "https[:]//evil[.]com"),
        (r"[form\]](https:\//evil.com/x)", r"[form\]] (https[:]//evil[.]com/x)"),
        ("https&#58;//evil.com h\u200bttps&amp;colon;//evil.com", "https[:]//evil[.]com https[:]//evil[.]com"),
        ("<https:evil.com/x>", f"<{NO_WIDTH}https[:]evil[.]com/x>"),
        ("[m](mailto:x@evil.com?body=x)", "[m] (mailto[:]x[@]evil[.]com?body=x)"),
        ("text ```\nhttps://evil.com bob.evil.com", "text ```\nhttps[:]//evil[.]com bob[.]evil[.]com"),
        *(
            (f"{KNOWN}{grown}x", f"<{KNOWN}> {grown.strip()}x".replace("> >", ">> "))
            for grown in ("\x1c", ".!?}", ">", "'")
        ),
        (f"{KNOWN}\u00a0x {KNOWN}\u2028x", f"<{KNOWN}> \u00a0x <{KNOWN}> x"),
        ('<a href="//evil.com/x">', f'<{NO_WIDTH}a href="/{JOINER}/evil[.]com/x">'),
        ("https://" + "e" * 3000, "https[:]//" + "e" * 3000),
        ("<script>x</script> <b>y</b>", f"<{NO_WIDTH}script>x<{NO_WIDTH}/script> <b>y</b>"),
        ("a\u202eb\u2066c\u200f", "abc\u200f"),
    ],
)
def test_only_addresses_of_sources_or_the_question_are_links(text: str, expected: str) -> None:
    assert shown(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("@everyone and @Here", f"@{NO_WIDTH}everyone and @{NO_WIDTH}Here"),
        ("<!channel> <!here|here> <!subteam^S1|@devs>", f"@{NO_WIDTH}channel @{NO_WIDTH}here @{NO_WIDTH}devs"),
        (
            "<@U2> <@U2|ada> <@!12> <@&3> <#C2|x>",
            " ".join(f"{s[0]}{NO_WIDTH}{s[1:]}" for s in ("@U2", "@ada", "@12", "@3", "#x")),
        ),
        ("<@U1> <@U1|@everyone> <#C1>", "<@U1> <@U1> <#C1>"),
        ("<!channel|" + "x" * 3000 + ">", f"<{NO_WIDTH}!channel|" + "x" * 3000 + ">"),
        ("@every[99]one `@here`", f"@{NO_WIDTH}everyone `@{NO_WIDTH}here`"),
        ("<@U2|https://evil.com>", "@https[:]//evil[.]com"),
    ],
)
def test_mentions_become_names(text: str, expected: str) -> None:
    assert shown(text) == expected


FILLERS = ["a", " ", "`", "1,", "[", "(", "<x", "~", "w", "@", "![a](", "https://", "\\", "a b"]


@pytest.mark.long
@pytest.mark.parametrize("opening", ["", "[a](", "<!x|", "https://", "```", "![", "\n[r]:"])
def test_held_back_text_is_bounded_and_comes_out_at_the_end(opening: str) -> None:
    for filler in FILLERS:
        filter_ = citing()
        filter_.feed(opening)
        for _ in range(2):
            filter_.feed(filler * 1400)
            assert len(filter_.rewriter.buffer) + len(filter_.link_filter.buffer) <= MAX_HELD_CHARACTERS, filler
        filter_.close()
        assert filter_.rewriter.buffer == filter_.link_filter.buffer == "", filler


def test_words_are_shown_at_once_but_for_a_last_letter() -> None:
    filter_ = citing()
    deltas = ("The ", "boat [", "2", "] is", " red.", " It")
    assert [filter_.feed(delta) for delta in deltas] == ["Th", "e boa", "", "t [1] i", "s ", "red. I"]


def test_a_title_makes_names_known_and_no_addresses() -> None:
    filter_ = CitationFilter((), (), "", ("old.minutes.md › https://ok.com/t",))
    text = filter_.feed("old.minutes.md https://ok.com/t new.md") + filter_.close()
    assert text == f"old.minutes.md https[:]//ok[.]com/t new.{JOINER}md"


def test_a_word_without_spaces_is_not_held_back_for_long() -> None:
    assert len(citing().feed("漢" * 200)) >= 100


@pytest.mark.parametrize("opening", ["```\n", "text ``` ", "`", "~~~\n", "    ", "> ```\n", "```\n```\n", "\\`"])
def test_a_wrong_number_goes_also_after_unclosed_code(opening: str) -> None:
    assert "99" not in shown(f"{opening}the boat is red [99] and new [1]")


UNITS = ["word ", "a", "`", "[", "](", "<", "a.", "&amp;", "\\", "[x](https://ok.com/a ", "https://ok.com/a'"]


@pytest.mark.share(18)
@pytest.mark.parametrize("unit", [*UNITS, "```\n", "<a|", "@", "!["])
@pytest.mark.parametrize("delta", [7, 10_000])
def test_the_cost_grows_with_the_text(unit: str, delta: int) -> None:
    def cost(length: int) -> float:
        text, filter_, started = (unit * length)[:length], citing(), time.process_time()
        for at in range(0, length, delta):
            filter_.feed(text[at : at + delta])
        filter_.close()
        return time.process_time() - started

    assert any(cost(8_000) <= 2.5 * cost(4_000) + 0.01 for _ in range(3))  # the machine may be busy


RESPELLED = ["www.ok.com/\u200b\u200c\u200bd?x=1&y=2", "www.ok.com/ｄ?x=1&y=2", "WWW.OK.com/d?x=1&y=2", "aDA@ok.com"]
RESPELLED += ["`www.ok.com/ｄ?x=1&y=2`", "`www.ok.com/\u200bd?x=1&y=2`", "ADA@ok.com", "ada@\u200bok.com", "noteｓ.md"]


@pytest.mark.parametrize("text", RESPELLED, ids=ascii)
def test_the_spelling_of_a_known_name_carries_no_message(text: str) -> None:
    known = ("www.ok.com/d?x=1&y=2", "ada@ok.com", "notes.md")
    output = shown(text, texts=(" ".join(known),))
    is_dead = "[.]" in output or "[@]" in output or f".{JOINER}" in output
    assert is_dead or output.strip("`") in known


@pytest.mark.parametrize("closers", ["]]", "»", "}}}”", "**", "|", "，", ",.", "'»"])
def test_a_known_name_does_not_grow_by_what_closes_a_sentence(closers: str) -> None:
    assert shown(f"www.ok.com/d?x=1&y=2{closers} x").startswith(
        ("www.ok.com/d?x=1&y=2 ", "www.ok.com/d?x=1&y=2' "),
    )


def test_balanced_parentheses_belong_to_a_known_address() -> None:
    text = "https://ok.com/wiki/A_ https://ok.com/wiki/A_(b https://ok.com/wiki/A_(b)"
    assert (
        shown(text, texts=("https://ok.com/wiki/A_(b).",))
        == "https[:]//ok[.]com/wiki/A_ https[:]//ok[.]com/wiki/A_(b <https://ok.com/wiki/A_(b)>"
    )


@pytest.mark.parametrize("link", [KNOWN, f"<{KNOWN}>", f"[t]({KNOWN})>", f"`{KNOWN}`>"])
def test_an_angle_bracket_that_begins_nothing_does_not_take_a_link_in(link: str) -> None:
    for opening in ("<!date^1^{d}^;kestrel77/", "a<kestrel77\n", "<kestrel77"):
        assert not re.search(r"<[^: >]*kestrel77[^: >]*:/[^ >]+>", shown(opening + link))


WRAPPED_GIVEN = frozenset({1, 2, 3})


def unwrap(text: str, step: int) -> str:
    stage = WrappedCitations(WRAPPED_GIVEN)
    return "".join(stage.feed(text[at : at + step]) for at in range(0, len(text), step)) + stage.close()


@pytest.mark.parametrize("step", [1, 4, 1000])
@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("<co: 2>Nine</co: 2>.", "Nine [2]."),
        ("<co>Nine</co: 2,3>.", "Nine [2][3]."),
        ('<cite index="2-1,3-4">Nine</cite>.', "Nine [2][3]."),
        ("<cite sources='3'>Nine</cite>, and <co: 1>ten</co>.", "Nine [3], and ten [1]."),
        ('<cite index="9">Nine</cite>.', "Nine."),
        ("<cite>[2]</cite> a < b, 2 < 3 <code>", "<cite>[2]</cite> a < b, 2 < 3 <code>"),
        ("`<co>Nine</co: 2>`", "`<co>Nine</co: 2>`"),
        ("Nine</cite>", "Nine</cite>"),
    ],
)
def test_the_numbers_stand_behind_the_text(text: str, expected: str, step: int) -> None:
    assert unwrap(text, step) == expected
