"""Addresses: one that the model composed could carry a secret to a stranger's server, so only known ones are links.

The filter is a scanner: it decodes escapes and entities, finds whatever any platform may make a link of, and shows it
either as an address that stands in a source, spelled as it is there, or as text that no platform links. It works on a
stream and gives the same result wherever the stream is cut: it writes what no continuation can change and holds back
the rest. It models the autolinks, links, pictures and code of CommonMark and GFM, Slack's `<address|words>`, Discord's
masked links and angle brackets; where these disagree, it assumes the reading in which more is a link.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from engine.answers.links.addresses import (
    CLOSERS,
    HOSTLESS,
    JOINER,
    LONGEST,
    OPENERS,
    SCHEME,
    Known,
    alive,
    decoded,
    ends,
    inert,
    normal,
    resolved,
    scheme_at,
)
from engine.answers.links.bare_names import bare_name
from engine.answers.links.code_links import coded
from engine.answers.links.link_context import LinkContext, apart
from engine.answers.links.link_syntax import (
    ANGLE,
    ANGLE_SO_FAR,
    ANGLED_CODE,
    BLANK,
    CODE,
    EDGES,
    ITSELF,
    ITSELF_SO_FAR,
    LESS,
    NUMBERED,
    PIVOTS,
    TAG,
    TARGET,
    TARGET_SO_FAR,
    TEXT,
    WORD,
    place,
)
from engine.answers.mentions import MENTION, UNSEEN, harmless, mentioned
from engine.text.stream_rewriter import Scanner, Step

if TYPE_CHECKING:
    from collections.abc import Iterable


class Links(Scanner):
    """Lets a link through only if its whole address is known, in one form that all platforms read alike.

    A known address is written `<https://ok.com/a>` or `[words](https://ok.com/a)`. `https://evil.com/x` is shown as
    `https[:]//evil[.]com/x`, `[words](https://evil.com)` as `[words] (https[:]//…)`, a picture as a plain link. Where a
    name without a scheme would become a link, an invisible character keeps it from that. There are no definitions of
    links, and no HTML. In code, addresses with a scheme and mentions are treated alike, and nothing else is touched.
    `domains`: names without a scheme matter, too.
    """

    special = re.compile(rf"[^{BLANK}]")

    def __init__(self, known: Known, named: frozenset[str], *, domains: bool = True, certain: bool = True) -> None:
        super().__init__(certain=certain)
        self.known = known
        self.named = named
        self.domains = domains
        self.linked = False  # behind a link, with nothing but punctuation since
        self.links = False  # the step that is being made ends with a link
        self.bare = False  # the link is a name without a scheme, which grows by what follows
        self.context = LinkContext()
        self.begun = ""  # what is written already of a word that is not whole yet

    @classmethod
    def knowing(cls, texts: Iterable[str], question: str, titles: Iterable[str] = (), *, domains: bool = True) -> Links:
        """Knows the addresses in texts and question, the names in the titles, and whom the question mentions."""
        return cls(Known((*texts, question), titles), mentioned(question), domains=domains)

    def step(self, at: int, *, final: bool) -> Step | None:
        if not TEXT.match(self.buffer, at):
            self.begun = ""
        bare = self.bare and self.linked
        step = super().step(at, final=final)
        if step is None:
            return None
        blank = apart(self.buffer[at], step.text, self.tail, linked=self.linked, bare=bare)
        self.linked = self.links or (self.linked and not blank and self.buffer[at] not in BLANK)
        self.context.count(self.buffer[at : step.end], linked=self.links)
        self.links = False
        return Step(step.end, f" {step.text}") if blank else step

    def note(self, read: str, wrote: str) -> None:
        self.context.wrote(self.tail, wrote)
        super().note(read, wrote)

    def angle_link(self, link: str, before: str = "") -> str:
        """A link in angle brackets behind the text `before`."""
        self.links, self.bare = True, False
        return self.context.angle_link(link, before, self.tail)

    def token(self, at: int, *, final: bool) -> Step | None:
        match self.buffer[at]:
            case "<":
                return self.angle(at, final=final)
            case "[":
                return self.opening(at, final=final)
            case "]":
                return self.closing(at, final=final)
            case edge if edge in EDGES:
                return Step(at + 1, edge)
            case _:
                return self.word(at, final=final)

    def within(self, text: str) -> str:
        """A text that is whole: a label, the content of what may be code."""
        inner = Links(self.known, self.named, domains=self.domains, certain=False)
        inner.context.angled = self.context.angled
        shown = inner.feed(text) + inner.close()
        self.links, self.bare = self.links or inner.linked, inner.bare
        return shown

    # Words.

    def word(self, at: int, *, final: bool) -> Step | None:
        """What stands between blanks and brackets, decided as a whole; what cannot depend on the rest comes at once."""
        begun = self.begun
        found = TEXT.match(self.buffer, at + self.looked, at + LONGEST - len(begun))
        end = found.end() if found else at + self.looked
        word = begun + self.buffer[at:end]
        if len(word) > WORD and not PIVOTS.search(normal(word[:WORD])):
            self.begun = ""
            stop = at + WORD - len(begun)
            return Step(stop, self.buffer[at:stop])
        if end == len(self.buffer) and len(word) < LONGEST and not final:
            return self.begin(at, end, word)
        self.begun = ""
        behind = "x" if len(word) == LONGEST else self.buffer[end : end + 1]
        picture = behind == "[" and word[-1] == "!"
        shown = self.picture(word[:-1], begun) if picture else self.shown(word, behind, begun)
        return Step(end, shown[len(begun) :])

    def begin(self, at: int, end: int, word: str) -> Step | None:
        """A word that may go on: so far it stays as it is however it does, unless a link may begin in it."""
        scheme = SCHEME.search(word, max(0, len(word) - WORD // 2))
        if (
            word.strip(CLOSERS)
            and word.isascii()
            and not PIVOTS.search(word)
            and not (scheme and self.known.begins(scheme[0].lower()))
            and not self.known.respells(word.lstrip(OPENERS))
        ):
            self.begun = word
            return Step(end, self.buffer[at:end])
        self.looked = end - at
        return None

    def picture(self, before: str, begun: str) -> str:
        """An exclamation mark before a bracket, with the rest of its word: a picture becomes a link."""
        alone = not before and self.tail[-1:] in ("", *BLANK)
        return "" if alone else self.shown(f"{before}!", "[", begun) + " "

    def shown(self, word: str, behind: str, begun: str = "") -> str:
        """A word as it may be shown before the character `behind`; its beginning may be written already."""
        if word.isascii() and not PIVOTS.search(word):
            return word
        read = decoded(word)
        before = "x" if word[0] == "." and self.tail[-1:] not in ("", *BLANK) else ""
        plain = resolved(read)
        after = "x" if behind and behind in EDGES and plain.endswith((":", ".")) else ""
        if not any(alive(before + form + after, domains=self.domains) for form in {plain, read}):
            return word
        tail = self.tail[: -len(begun)] if begun else self.tail
        if self.linked and not begun and word.strip(CLOSERS):
            tail = " "  # a blank will keep it from the link before it
        dead = self.dead(read, before, after)
        if behind and behind in EDGES:
            dead = HOSTLESS.sub(f"[:]/{JOINER}/", dead)  # what follows may be its host
        return self.address(read, behind) or self.name(word, read, tail) or dead

    def dead(self, read: str, before: str, after: str) -> str:
        """A word without any address in it, with what stands in for its neighbors."""
        shown = inert(before + resolved(read) + after, domains=self.domains)
        return shown[len(before) : len(shown) - len(after)]

    def address(self, read: str, behind: str) -> str:
        """A known address with a scheme in a word, and what stands around it; nothing if there is none."""
        start = scheme_at(read)
        if start < 0:
            return ""
        for end in ends(read[start:]):
            if link := self.known.link(read[start : start + end]):
                head, rest = read[:start], read[start + end :]
                before = self.shown(head, "<") if head else ""
                angled = before + self.angle_link(link, before)
                self.links = not rest.strip(CLOSERS)
                return angled + (rest if self.links else " " + self.shown(rest, behind))
        return ""

    def name(self, word: str, read: str, tail: str) -> str:
        """A known name without a scheme, and its punctuation; nothing if it is not known."""
        found = bare_name(word, read, tail, self.known)
        if found is None:
            return ""
        self.links, self.bare = True, found.open
        return found.text

    # Brackets.

    def opening(self, at: int, *, final: bool) -> Step | None:
        """An opening bracket; a link without words, or with its own address for them, is that address."""
        found = ITSELF.match(self.buffer, at, at + 2 * LONGEST)
        if found is None:
            hold = not final and ITSELF_SO_FAR.match(self.buffer, at)
            return None if hold else Step(at + 1, "[")
        link = self.known.link(decoded(found[1]))
        window = self.buffer[found.end() : found.end() + LONGEST]
        target = TARGET.match(window)
        if target and not found[1]:
            link = self.known.link(place(target))
        if target is None and not final and len(window) < LONGEST and TARGET_SO_FAR.match(window):
            return None
        if not link or target is None or self.known.link(place(target)) != link:
            return Step(at + 1, "[")
        return Step(found.end() + target.end(), self.angle_link(link))

    def closing(self, at: int, *, final: bool) -> Step | None:
        """A closing bracket: behind it may stand the target of a link, or the definition of one."""
        match self.buffer[at + 1 : at + 2]:
            case "" if not final:
                return None
            case "(":
                return self.target(at, final=final)
            case ":":
                return Step(at + 1, "]" + UNSEEN)
            case _:
                return Step(at + 1, "]")

    def target(self, at: int, *, final: bool) -> Step | None:
        """`](address)`; not for a number, which is a citation."""
        window = self.buffer[at + 1 : at + 1 + LONGEST]
        found = TARGET.match(window)
        if found is None:
            hold = not final and len(window) < LONGEST and TARGET_SO_FAR.match(window)
            return None if hold else Step(at + 2, "] (")
        link = self.known.link(place(found))
        if not link:
            return Step(at + 2, "] (")
        self.links, self.bare = True, False
        plain = self.context.takes_words(link) and not self.context.linked and not NUMBERED.search(self.tail)
        return Step(at + 1 + found.end(), f"]({link})" if plain else f"] (<{link}>)")

    def angle(self, at: int, *, final: bool) -> Step | None:
        """A mention, a link or a tag in angle brackets; everything else of the kind is kept from being one."""
        window = self.buffer[at : at + LONGEST]
        if mention := MENTION.match(window):
            name = harmless(mention, self.named)
            return Step(at + mention.end(), self.within(name) if mention["label"] else name)
        found = ANGLE.match(window)
        if found is None:
            hold = not final and len(window) < LONGEST and ANGLE_SO_FAR.match(window)
            return None if hold else self.less(at)
        if link := self.known.link(decoded(found[1])):
            words = self.within(found[2] or "")
            words += " " if self.links and self.bare else ""
            angled = self.angle_link(link)
            worded = words and self.context.takes_words(link) and not self.context.within_angle(words)
            return Step(at + found.end(), f"[{words}]({link})" if worded else angled)
        if TAG.fullmatch(found[0]):
            self.certain = False  # renderers of HTML read no code in it
            return Step(at + found.end(), found[0])
        return self.less(at)

    def less(self, at: int) -> Step:
        """A `<` that begins nothing."""
        behind = self.buffer[at + 1 : at + 2]
        return Step(at + 1, "<" if not behind or behind in LESS else "<" + UNSEEN)

    # Code.

    def inside(self, code: str, *, certain: bool) -> str:
        if not certain:
            return self.within(code)
        called = MENTION.sub(lambda found: harmless(found, self.named), code)
        shown = ANGLED_CODE.sub(
            f"<{UNSEEN}", CODE.sub(lambda found: coded(found[0], self.known, angled=self.context.angled), called)
        )
        self.links, self.bare = any("://" in word for word in shown.rsplit(None, 1)[-1:]), False
        struck = shown != code or "~~" in code or self.context.struck  # some renderers read strikethrough first
        return shown.replace("](", "] (") if struck else shown
