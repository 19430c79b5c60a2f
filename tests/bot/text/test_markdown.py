from __future__ import annotations

from bot.text.markdown import escape_markdown, markdown_link


def test_what_others_wrote_is_neither_markup_nor_a_link_nor_a_call() -> None:
    made = escape_markdown(
        "**bold** @everyone <!channel> [click](https://evil.example/x) https://evil.example/y `code`\n# head"
    )
    assert "https://" not in made
    assert "@everyone" not in made
    assert "<!channel>" not in made
    assert r"\*\*bold\*\*" in made
    assert "\n" not in made


def test_a_title_leads_to_addresses_of_the_web_only() -> None:
    assert markdown_link("minutes.pdf", "https://x.example/a?b=1") == "[minutes.pdf](https://x.example/a?b=1)"
    assert markdown_link("minutes.pdf", "file:///etc/passwd") == "minutes.pdf"
    assert markdown_link("minutes.pdf", "https://x.example/a) [b](https://evil.example") == "minutes.pdf"
