from __future__ import annotations

from engine.parsers.html import parse


def _text(body: str) -> str:
    return "\n~\n".join(passage.text for passage in parse("a.html", body.encode()).passages)


def test_headings_are_the_locators_and_the_title_is_the_pages_own() -> None:
    page = b"<html><head><title>Town &amp; land</title></head><body><h1>Town</h1><h2>Hours</h2><p>Nine.</p></body>"
    found = parse("a.html", page)
    assert found.title == "Town & land"
    assert found.passages[0].label == "Town › Hours"
    assert found.passages[0].text == "Town\n\nHours\n\nNine."


def test_scripts_styles_navigation_and_comments_are_left_out() -> None:
    page = "<style>p{}</style><nav><a href='/'>Home</a></nav><script>let p = '<p>no</p>'</script><!-- x --><p>Yes</p>"
    assert _text(page) == "Yes"


def test_an_element_that_never_ends_silences_nothing() -> None:
    assert _text("<p>Before</p><nav><a href='/'>Home</a><p>After</p>") == "Before\n\nHome\n\nAfter"


def test_marks_of_other_languages_in_the_text_are_only_text() -> None:
    assert _text("<p># no heading</p><p>a_b_c *x* &lt;tag&gt;</p>") == "# no heading\n\na_b_c *x* <tag>"


def test_lists_tables_and_listings_keep_their_form() -> None:
    page = (
        "<ul><li>one<ol><li>deep</li></ol></li><li><p>two</p></li></ul>"
        "<table><tr><th>Day</th><th>Hours</th></tr><tr><td>Mon</td><td>9<br>5</td></tr></table>"
        "<pre>def f():\n    pass</pre>"
    )
    assert _text(page) == "- one\n  1. deep\n- two\n\nDay | Hours\nMon | 9 5\n\ndef f():\n    pass"


def test_a_table_that_arranges_the_page_is_text() -> None:
    page = "<table><tr><td><h1>Town</h1><p>Words of the page.</p></td></tr></table>"
    found = parse("a.html", page.encode())
    assert found.passages[0].label == "Town"
    assert found.passages[0].text == "Town\n\nWords of the page."


def test_web_addresses_stand_behind_their_links() -> None:
    page = "<p>See <a href='https://e.com'>the site</a>, <a href='/x'>here</a>, <a href='https://f.org'>https://f.org</a>.</p>"
    assert _text(page) == "See the site (https://e.com), here, https://f.org."


def test_the_declared_encoding_counts() -> None:
    data = '<meta charset="shift_jis"><p>漢字テスト</p>'.encode("shift_jis")
    assert parse("a.html", data).passages[0].text == "漢字テスト"


def test_a_false_declaration_does_no_harm() -> None:
    data = '<meta charset="no-such"><p>größe</p>'.encode("cp1252")
    assert parse("a.html", data).passages[0].text == "größe"


def test_torn_tags_are_survived() -> None:
    assert "kept" in _text("</div></table></li><td>kept<tr></ul><p <b>also</h1>")
