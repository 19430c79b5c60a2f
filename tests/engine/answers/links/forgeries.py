"""Streams in which a model tries to show a number that was not given, or a number that leads to a planted address."""

from __future__ import annotations

from random import Random

PLANTED = "https://planted.example/x"
DIGIT_FORMS = r"""
1 2 3 9 7 12 99 0 01 1-9 9-1 1,9 ９ ¹ ² ⁹ ₉ ① ⑨ ❾ ⓽ ⑼ ⒐ ٩ ९ ৯ ๙ ９９ 𝟗 🄊 9️⃣ 九 Ⅸ :nine: &#57; &#x39; &amp;#57;
&amp;amp;#57; \9 9. ^9 source&#32;9 refs&nbsp;9 2026 2026-11-20 2026-9 9-2026 1-2-9 1234567890 00000000009 4:0†a
"""
DIGITS = DIGIT_FORMS.split()
BRACKET_FORMS = r"""
[ ] [ ] [ ] [ ] [ ] 【 】 ［ ］ 〔 〕 〖 〗 ⟦ ⟧ ⁅ ⁆ ❲ ❳ ﹝ ﹞ ( ) \[ \] \\[ \\] &#91; &#93; &#x5b; &#x5D; &lsqb; &rsqb;
&lbrack; &rbrack; &amp;#91; &amp;#93; &#38;#91; &amp;amp;rsqb; &#0091; &lbrack &#12304; &#65339; \&#91;
"""
BRACKETS = BRACKET_FORMS.split()
MARKED = "** __ ~~ `` ``` || *** <b> </b> <i> <br> <!-- --> <sup>"
MARKS = [*"*_~`|^\\&;,:.!<>#-–", *MARKED.split()]
INVISIBLE = "\u200b\u200c\u200d\u2060\u00ad\ufe0f\u3164\u2800\u0301\u20dd\u202e\u00a0\u2003"
UNSEEN = [*INVISIBLE, "&#8203;", "&ZeroWidthSpace;", "&shy;", "&nbsp;", "&#x200B;"]
# The following lists are separated by bars with a gap, since their items hold blanks.
GAPS = " ¦  ¦\n¦\n\n¦\n> ¦> ¦\n- ¦\n    ¦| ¦ |¦\n| a | b |\n|---|---|\n| ¦# ¦\t¦\r¦\x00¦\x0b"
BLANKS = GAPS.split("¦")
LINK_FORMS = ']({p})¦](<{p}>)¦({p} "t")¦<{p}|¦<{p}>¦{p}¦\n[r]: {p}\n¦][r]¦![¦](¦[r]:'
LINKS = LINK_FORMS.format(p=PLANTED).split("¦")
TEXTS = "word¦a¦l¦The boat.¦and¦source ¦ref ¦漢¦x:y¦&¦&#¦&amp;¦#9¦@here¦<@U1>¦<@U1|9>¦<#C1|9>¦<!date^9^{date}|9>"
WORDS = TEXTS.split("¦")
CITATIONS = (
    "[{n}]¦[{n}]({p})¦<{p}|{n}>¦<{p}|[{n}]>¦[[{n}]]({p})¦[**{n}**]({p})¦[`{n}`]({p})¦&#91;{n}&#93;¦[&#91;{n}&#93;]({p})"
    "¦[{n}][r]¦[x [{n}]]({p})¦[[{n}] x]({p})¦![{n}]({p})¦[{n} ]({p})¦[<b>{n}</b>]({p})¦[{n}\u200b]({p})¦`[{n}]`"
    "¦```\n[{n}]\n```¦[{n}\n]({p})¦[](<{p}>){n}¦[{n}[{n}]{n}]¦[[{n}]{n}]¦【{n}】¦a[{n}¦{n}]¦[{n}`]`¦[`{n}]`"
    "¦**[**{n}**]**¦[(({n}))]({p})¦\\[{n}\\]({p})"
)
WHOLE = CITATIONS.split("¦")


def number(rng: Random) -> str:
    return "".join(rng.choices(DIGITS, k=rng.choice((1, 1, 1, 2))))


def whole(rng: Random) -> str:
    """A citation in some form, with some characters put into it."""
    text = rng.choice(WHOLE).format(n=number(rng), p=PLANTED)
    for _ in range(rng.choice((0, 0, 1, 1, 2))):
        at = rng.randrange(len(text) + 1)
        text = text[:at] + rng.choice(rng.choice((MARKS, UNSEEN, UNSEEN, BLANKS, BRACKETS))) + text[at:]
    return text


def soup(rng: Random) -> str:
    """A few fragments in any order."""
    kinds = (DIGITS, DIGITS, BRACKETS, BRACKETS, MARKS, UNSEEN, BLANKS, LINKS, WORDS)
    return "".join(rng.choice(rng.choice(kinds)) for _ in range(rng.randint(1, 14)))


def forgery(rng: Random) -> str:
    """A stream of some of both."""
    pieces = [rng.choice((whole, whole, soup))(rng) for _ in range(rng.randint(1, 3))]
    return rng.choice(("", "", " ", "\n\n", " and ")).join(pieces)
