"""Filter links in streamed answers: an address that the model made up could send secrets to a server, so it is defused.

The filter is a scanner. It decodes escapes and entities, finds everything that any platform may link, and writes it
either as an address from a source, with the same spelling, or as text that no platform links. The result does not
depend on how the stream is cut: text that no continuation can change is written, the rest is held back. The filter
models the autolinks, links, pictures and code of CommonMark and GFM, and chat's `<address|words>`, masked links and
angle brackets. If these disagree, it assumes the reading in which more is a link.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from engine.answers.links import link_syntax
from engine.answers.links.addresses import (
    CLOSING_PUNCTUATION,
    MAX_ADDRESS_CHARACTERS,
    MENTION,
    OPENING_PUNCTUATION,
    SCHEME,
    ZERO_WIDTH_SPACE,
    break_missing_host,
    decode_and_normalize,
    decode_escapes,
    defang_word,
    escape_mention,
    find_address_ends,
    find_mentions,
    find_scheme,
    is_linkable,
    normalize_text,
)
from engine.answers.links.link_syntax import (
    PLAIN_BRACKETS,
    AllowedAddresses,
    LinkContext,
    filter_code_word,
    has_words,
    match_bare_name,
    needs_space,
)
from engine.text.stream_rewriter import RewriteStep, StreamRewriter

if TYPE_CHECKING:
    from collections.abc import Iterable


class LinkFilter(StreamRewriter):
    """Keeps a link only if its whole address is allowed, in a form that all platforms read alike.

    An allowed address is written `<https://ok.com/a>` or `[words](https://ok.com/a)`. `https://evil.com/x` is shown as
    `https[:]//evil[.]com/x`, `[words](https://evil.com)` as `[words] (https[:]//…)`, a picture as a plain link. An
    invisible character keeps names without a scheme from becoming links. Definitions of links and HTML tags with
    attributes are defused; in code, addresses with a scheme and mentions. `domains`: also filter bare names. `angled`:
    the text stands behind an open angle bracket.
    """

    special = re.compile(rf"[^{link_syntax.BLANKS}]")

    def __init__(
        self,
        allowed: AllowedAddresses,
        mentioned: frozenset[str],
        *,
        domains: bool = True,
        certain: bool = True,
        angled: bool = False,
    ) -> None:
        super().__init__(certain=certain)
        self.allowed = allowed
        self.mentioned = mentioned
        self.domains = domains
        self.behind_link = False  # after a link, followed only by punctuation
        self.ends_with_link = False  # the current step ends with a link
        self.has_link = False  # some step did
        self.is_bare_link = False  # the link has no scheme, so that following text could extend it
        self.context = LinkContext(angled=angled)
        self.written_prefix = ""  # the part of an incomplete word that is already written

    @classmethod
    def from_texts(
        cls, texts: Iterable[str], question: str, titles: Iterable[str] = (), *, domains: bool = True
    ) -> LinkFilter:
        """Allow the addresses in the texts and the question, names in the titles, and mentions in the question."""
        return cls(AllowedAddresses((*texts, question), titles), find_mentions(question), domains=domains)

    def next_step(self, at: int, *, final: bool) -> RewriteStep | None:
        if not link_syntax.WORD_TEXT.match(self.buffer, at):
            self.written_prefix = ""
        bare = self.is_bare_link and self.behind_link
        step = super().next_step(at, final=final)
        if step is None:
            return None
        blank = needs_space(self.buffer[at], step.text, self.tail, linked=self.behind_link, bare=bare)
        self.behind_link = self.ends_with_link or (
            self.behind_link and not blank and self.buffer[at] not in link_syntax.BLANKS
        )
        self.has_link = self.has_link or self.ends_with_link
        self.ends_with_link = False
        return RewriteStep(step.end, f" {step.text}") if blank else step

    def record_step(self, read: str, wrote: str) -> None:
        self.context.record_output(self.tail, wrote)
        super().record_step(read, wrote)

    def render_angle_link(self, link: str, before: str = "") -> str:
        """A link in angle brackets after the text `before`."""
        self.ends_with_link, self.is_bare_link = True, False
        return self.context.render_angle_link(link, before, self.tail)

    def rewrite_special(self, at: int, *, final: bool) -> RewriteStep | None:
        match self.buffer[at]:
            case "<":
                return self.rewrite_angle(at, final=final)
            case "[":
                return self.rewrite_opening_bracket(at, final=final)
            case "]":
                return self.rewrite_closing_bracket(at, final=final)
            case edge if edge in link_syntax.EDGE_CHARACTERS:
                return RewriteStep(at + 1, edge)
            case _:
                return self.rewrite_word(at, final=final)

    def filter_text(self, text: str) -> str:
        """Filter a complete text: a label, or text that may be code."""
        inner = self.inner_filter()
        shown = inner.feed(text) + inner.close()
        self.ends_with_link, self.is_bare_link = self.ends_with_link or inner.behind_link, inner.is_bare_link
        return shown

    def inner_filter(self) -> LinkFilter:
        """A filter of a part of this text."""
        angled = self.context.angled
        return LinkFilter(self.allowed, self.mentioned, domains=self.domains, certain=False, angled=angled)

    def rewrite_word(self, at: int, *, final: bool) -> RewriteStep | None:
        """Rewrite a word, the text between blanks and brackets; write its start early if the rest cannot matter."""
        written = self.written_prefix
        found = link_syntax.WORD_TEXT.match(self.buffer, at + self.scanned, at + MAX_ADDRESS_CHARACTERS - len(written))
        end = found.end() if found else at + self.scanned
        word = written + self.buffer[at:end]
        limit = link_syntax.MAX_WORD_CHARACTERS
        if len(word) > limit and not link_syntax.ADDRESS_SIGNS.search(normalize_text(word[:limit])):
            self.written_prefix = ""
            stop = at + limit - len(written)
            return RewriteStep(stop, self.buffer[at:stop])
        if end == len(self.buffer) and len(word) < MAX_ADDRESS_CHARACTERS and not final:
            return self.start_word(at, end, written)
        self.written_prefix = ""
        behind = "x" if len(word) == MAX_ADDRESS_CHARACTERS else self.buffer[end : end + 1]
        picture = behind == "[" and word[-1] == "!"
        shown = self.render_image(word[:-1], written) if picture else self.render_word(word, behind, written)
        return RewriteStep(end, shown[len(written) :])

    def start_word(self, at: int, end: int, written: str) -> RewriteStep | None:
        """Write the start of an incomplete word unless a link may start in it; an accent may follow the last letter."""
        stop = end - (self.buffer[end - 1].isalnum() or self.buffer[end - 1] == "=")
        word = written + self.buffer[at:stop]
        scheme = SCHEME.search(word, max(0, len(word) - link_syntax.MAX_WORD_CHARACTERS // 2))
        if (
            word.strip(CLOSING_PUNCTUATION)
            and word.isascii()
            and not link_syntax.ADDRESS_SIGNS.search(word)
            and not (scheme and self.allowed.may_start_link(scheme[0].lower()))
            and not self.allowed.may_respell(word.lstrip(OPENING_PUNCTUATION))
        ):
            self.written_prefix = word
            return RewriteStep(stop, self.buffer[at:stop]) if stop > at else None
        self.scanned = end - at
        return None

    def render_image(self, before: str, written: str) -> str:
        """A word that ends with an exclamation mark before a bracket: turn the picture into a link."""
        alone = not before and self.tail[-1:] in ("", *link_syntax.BLANKS)
        return "" if alone else self.render_word(f"{before}!", "[", written) + " "

    def render_word(self, word: str, behind: str, written: str = "") -> str:
        """The text shown for a word before the character `behind`; its start may be written already."""
        if word.isascii() and not link_syntax.ADDRESS_SIGNS.search(word):
            return word
        read = decode_escapes(word)
        read = read if read == word else read.translate(PLAIN_BRACKETS)  # no bracket of a link comes from an entity
        before = "x" if word[0] == "." and self.tail[-1:] not in ("", *link_syntax.BLANKS) else ""
        plain = decode_and_normalize(read)
        after = "x" if behind and behind in link_syntax.EDGE_CHARACTERS and plain.endswith((":", ".")) else ""
        if not any(is_linkable(before + form + after, domains=self.domains) for form in {plain, read}):
            return word
        tail = self.tail[: -len(written)] if written else self.tail
        if self.behind_link and not written and word.strip(CLOSING_PUNCTUATION):
            tail = " "  # a space will separate it from the link before
        dead = self.render_defanged(read, before, after)
        if behind and behind in link_syntax.EDGE_CHARACTERS:
            dead = break_missing_host(dead)
        return self.render_address(read, behind) or self.render_name(word, read, tail) or dead

    def render_defanged(self, read: str, before: str, after: str) -> str:
        """The word with every address defused; `before` and `after` stand for its neighbors."""
        plain = decode_and_normalize(read).translate(PLAIN_BRACKETS)
        shown = defang_word(before + plain + after, domains=self.domains)
        return shown[len(before) : len(shown) - len(after)]

    def render_address(self, read: str, behind: str) -> str:
        """The allowed address with a scheme in a word, and the text around it; empty if there is none."""
        start = find_scheme(read)
        if start < 0:
            return ""
        for end in find_address_ends(read[start:]):
            if link := self.allowed.find_link(read[start : start + end]):
                head, rest = read[:start], read[start + end :]
                before = self.render_word(head, "<") if head else ""
                angled = before + self.render_angle_link(link, before)
                self.ends_with_link = not rest.strip(CLOSING_PUNCTUATION)
                return angled + (rest if self.ends_with_link else " " + self.render_word(rest, behind))
        return ""

    def render_name(self, word: str, read: str, tail: str) -> str:
        """The allowed name without a scheme in a word, with its punctuation; empty if there is none."""
        found = match_bare_name(word, read, tail, self.allowed)
        if found is None:
            return ""
        self.ends_with_link, self.is_bare_link = True, found.is_open
        return found.text

    def rewrite_opening_bracket(self, at: int, *, final: bool) -> RewriteStep | None:
        """An opening bracket, or a whole link: `[words](address)` is written in one step or not as a link."""
        limit = at + 2 * MAX_ADDRESS_CHARACTERS
        found = link_syntax.LINK_LABEL.match(self.buffer, at, limit)
        if found is None:
            hold = not final and link_syntax.PARTIAL_LINK_LABEL.match(self.buffer, at, limit)
            return None if hold else RewriteStep(at + 1, "[")
        window = self.buffer[found.end() : found.end() + MAX_ADDRESS_CHARACTERS]
        target = link_syntax.LINK_TARGET.match(window)
        if target is None:
            hold = not final and len(window) < MAX_ADDRESS_CHARACTERS and link_syntax.PARTIAL_LINK_TARGET.match(window)
            return None if hold else RewriteStep(at + 1, "[")
        link = self.allowed.find_link(link_syntax.target_address(target))
        shown = self.render_link(found[1], link) if link and not self.tail.endswith("\\") else ""
        return RewriteStep(found.end() + target.end(), shown) if shown else RewriteStep(at + 1, "[")

    def render_link(self, words: str, link: str) -> str:
        """An allowed link with these words; empty if they may be taken for a citation, or read differently."""
        if not words or self.allowed.find_link(decode_escapes(words)) == link:
            return self.render_angle_link(link)
        is_plain = (
            len(words) <= link_syntax.MAX_LABEL_CHARACTERS
            and ("`" not in words or self.certain)
            and "~~" not in words
            and not words.endswith("\\")
            and has_words(words)
            and self.context.can_have_text(link)
            and not self.context.is_within_angle(words)
        )
        if not is_plain:
            return ""
        inner = self.inner_filter()
        shown = inner.feed(words) + inner.close()
        if inner.has_link:
            return ""
        self.ends_with_link, self.is_bare_link = True, False
        return f"[{shown}]({link})"

    def rewrite_closing_bracket(self, at: int, *, final: bool) -> RewriteStep | None:
        """A closing bracket; the target or the definition of a link may follow."""
        match self.buffer[at + 1 : at + 2]:
            case "" if not final:
                return None
            case "(":
                return self.rewrite_target(at, final=final)
            case ":":
                return RewriteStep(at + 1, "]" + ZERO_WIDTH_SPACE)
            case _:
                return RewriteStep(at + 1, "]")

    def rewrite_target(self, at: int, *, final: bool) -> RewriteStep | None:
        """The target after brackets that are no link of their own: `] (<address>)`, inert after a number."""
        window = self.buffer[at + 1 : at + 1 + MAX_ADDRESS_CHARACTERS]
        found = link_syntax.LINK_TARGET.match(window)
        if found is None:
            hold = not final and len(window) < MAX_ADDRESS_CHARACTERS and link_syntax.PARTIAL_LINK_TARGET.match(window)
            return None if hold else RewriteStep(at + 2, "] (")
        link = self.allowed.find_link(link_syntax.target_address(found))
        if not link:
            return RewriteStep(at + 2, "] (")
        end = at + 1 + found.end()
        if link_syntax.CITATION_END.search(self.tail):
            return RewriteStep(end, "]")  # the program adds the address of the source
        _, bracket, label = self.tail.rpartition("[")
        if bracket and not has_words(label):
            return RewriteStep(end, f"] ({defang_word(link, domains=self.domains)})")
        self.ends_with_link, self.is_bare_link = True, False
        return RewriteStep(end, f"] (<{link}>)")

    def rewrite_angle(self, at: int, *, final: bool) -> RewriteStep | None:
        """A mention, a link or a tag in angle brackets; anything similar is defused."""
        window = self.buffer[at : at + MAX_ADDRESS_CHARACTERS]
        if mention := MENTION.match(window):
            return self.rewrite_mention(at + mention.end(), mention, final=final)
        if (found := link_syntax.ANGLE_LINK.match(window)) is None:
            hold = not final and len(window) < MAX_ADDRESS_CHARACTERS and link_syntax.PARTIAL_ANGLE_LINK.match(window)
            return None if hold else self.render_less_than(at)
        if link := self.allowed.find_link(decode_escapes(found[1])):
            return RewriteStep(at + found.end(), self.render_chat_link(link, found[2] or ""))
        if link_syntax.HTML_TAG.fullmatch(found[0]):
            self.certain = False  # HTML renderers do not recognize code after it
            return RewriteStep(at + found.end(), found[0])
        return self.render_less_than(at)

    def render_chat_link(self, link: str, words: str) -> str:
        """A link of chat markup, `<address|words>`: inert if the words read as a number."""
        if words and not has_words(words):
            return defang_word(link, domains=self.domains)
        return self.render_link(words.strip(), link) or self.render_angle_link(link)

    def rewrite_mention(self, end: int, mention: re.Match[str], *, final: bool) -> RewriteStep | None:
        """A mention that ends at `end`; a space keeps the text after it from completing an address in its name."""
        name = escape_mention(mention, self.mentioned)
        joins = not name.startswith("<") and link_syntax.ADDRESS_SIGNS.search(normalize_text(name), 1)
        behind = self.buffer[end : end + 1]
        if joins and not behind and not final:
            return None
        shown = self.filter_text(name) if mention["label"] else name
        separated = joins and behind not in link_syntax.AFTER_NAME
        self.ends_with_link = self.ends_with_link and not separated
        return RewriteStep(end, f"{shown} " if separated else shown)

    def render_less_than(self, at: int) -> RewriteStep:
        """A `<` that starts no markup."""
        behind = self.buffer[at + 1 : at + 2]
        is_plain = not behind or behind in link_syntax.AFTER_LESS_THAN
        return RewriteStep(at + 1, "<" if is_plain else "<" + ZERO_WIDTH_SPACE)

    def rewrite_code(self, code: str, *, certain: bool) -> str:
        if not certain:
            return self.filter_text(code)
        escaped = MENTION.sub(lambda found: escape_mention(found, self.mentioned), code)
        angled = self.context.angled
        words = link_syntax.CODE_WORD.sub(
            lambda found: filter_code_word(found[0], self.allowed, angled=angled), escaped
        )
        shown = link_syntax.ANGLED_CODE.sub(f"<{ZERO_WIDTH_SPACE}", words)
        self.ends_with_link, self.is_bare_link = any("://" in word for word in shown.rsplit(None, 1)[-1:]), False
        # Some renderers read strikethrough first.
        struck = shown != code or "~~" in code or self.context.in_strikethrough
        return shown.replace("](", "] (") if struck else shown
