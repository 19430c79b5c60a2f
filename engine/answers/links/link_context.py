"""Track the text before a position, which decides how a link can be written there. Pure."""

from __future__ import annotations

from engine.answers.links.addresses import CLOSING_PUNCTUATION, STRIPPED_SUFFIX
from engine.answers.links.link_syntax import BLANKS, EDGE_CHARACTERS, LINK_BREAKERS


class LinkContext:
    """Tracks open brackets and angle brackets, however the text is cut."""

    def __init__(self, *, angled: bool = False) -> None:
        self.angled = angled  # after a written `<`, with no space or `>` since
        self.in_link_text = False  # within brackets, after a link
        self.in_strikethrough = False  # after `~~` in the same paragraph
        self._depth = 0  # of open brackets

    def is_within_angle(self, text: str) -> bool:
        """Whether chat markup would read the end of this text as the inside of a link opened by `<`."""
        _, angle, rest = text.rpartition("<")
        return (self.angled or bool(angle)) and " " not in rest and ">" not in rest

    def can_have_text(self, link: str) -> bool:
        """Whether a link can be written as `[text](link)` here."""
        return not self.angled and not set("()[]") & set(link)

    def record_bracket(self, read: str, *, linked: bool) -> None:
        """Record brackets and links; renderers disagree about links within the text of another link."""
        if read[:1] == "]":
            self._depth = max(0, self._depth - 1)
        self._depth += read == "["
        self.in_link_text = self._depth > 0 and (self.in_link_text or linked)

    def record_output(self, before: str, text: str) -> None:
        """Record written text; a paragraph break closes all brackets."""
        if "\n\n" in before[-1:] + text:
            self._depth, self.in_link_text, self.in_strikethrough = 0, False, False
        self.in_strikethrough = self.in_strikethrough or "~~" in before[-1:] + text
        self.angled = self.is_within_angle(text)

    def render_angle_link(self, link: str, before: str, tail: str) -> str:
        """A link in angle brackets; `before` is the text before it in this step, `tail` the text before that."""
        escaped = (before or tail).endswith("\\")
        return f" <{link}>" if escaped or self.is_within_angle(before) else f"<{link}>"


def needs_space(first: str, text: str, tail: str, *, linked: bool, bare: bool) -> bool:
    """Whether a space is needed so that the text does not extend a link, or turn a bracket into one."""
    if tail.endswith("]") and text[:1] in ("(", ":"):
        return True
    if not linked or first in BLANKS:
        return False
    if bare:
        return not STRIPPED_SUFFIX.fullmatch(text) or (
            first in EDGE_CHARACTERS and tail[-1:] in tuple(CLOSING_PUNCTUATION)
        )
    return first in LINK_BREAKERS or bool(text.partition(" ")[0].strip(CLOSING_PUNCTUATION + EDGE_CHARACTERS))
