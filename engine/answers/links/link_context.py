"""What stands before a place in a text and decides how a link may be written there. Pure."""

from __future__ import annotations

from engine.answers.links.addresses import CLOSING_PUNCTUATION, STRIPPED_SUFFIX
from engine.answers.links.link_syntax import BLANKS, EDGE_CHARACTERS, LINK_BREAKERS


class LinkContext:
    """Follows brackets and angle brackets, whatever way the text is cut."""

    def __init__(self, *, angled: bool = False) -> None:
        self.angled = angled  # behind a `<` that is written, with neither a space nor a `>` since
        self.in_link_text = False  # within brackets, behind a link
        self.in_strikethrough = False  # behind `~~` in its paragraph
        self._depth = 0  # of brackets that are open

    def is_within_angle(self, text: str) -> bool:
        """Whether a `<` stands before the end of this text that chat markup takes for the start of a link."""
        _, angle, rest = text.rpartition("<")
        return (self.angled or bool(angle)) and " " not in rest and ">" not in rest

    def can_have_text(self, link: str) -> bool:
        """Whether a link may be written behind its words here."""
        return not self.angled and not set("()[]") & set(link)

    def record_bracket(self, read: str, *, linked: bool) -> None:
        """Take note of a bracket, and of a link; renderers disagree about a link within the words of another."""
        if read[:1] == "]":
            self._depth = max(0, self._depth - 1)
        self._depth += read == "["
        self.in_link_text = self._depth > 0 and (self.in_link_text or linked)

    def record_output(self, before: str, text: str) -> None:
        """Take note of what is written; brackets close at the latest with their paragraph."""
        if "\n\n" in before[-1:] + text:
            self._depth, self.in_link_text, self.in_strikethrough = 0, False, False
        self.in_strikethrough = self.in_strikethrough or "~~" in before[-1:] + text
        self.angled = self.is_within_angle(text)

    def render_angle_link(self, link: str, before: str, tail: str) -> str:
        """A link in angle brackets behind `before`, a text that `tail` precedes."""
        escaped = (before or tail).endswith("\\")
        return f" <{link}>" if escaped or self.is_within_angle(before) else f"<{link}>"


def needs_space(first: str, text: str, tail: str, *, linked: bool, bare: bool) -> bool:
    """Whether a blank is needed: a link must not grow, nor a bracket become one by what is decoded behind it."""
    if tail.endswith("]") and text[:1] in ("(", ":"):
        return True
    if not linked or first in BLANKS:
        return False
    if bare:
        return not STRIPPED_SUFFIX.fullmatch(text) or (
            first in EDGE_CHARACTERS and tail[-1:] in tuple(CLOSING_PUNCTUATION)
        )
    return first in LINK_BREAKERS or bool(text.partition(" ")[0].strip(CLOSING_PUNCTUATION + EDGE_CHARACTERS))
