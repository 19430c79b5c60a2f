"""Addresses and mentions as platforms recognize them: found, compared with the allowed ones, defused. Pure.

Platforms decode a text before they search it for addresses. So every decision is made on the decoded text: escapes and
entities resolved, compatibility forms (full-width letters, ligatures) replaced, invisible characters removed.
"""

from __future__ import annotations

import re
import unicodedata
from typing import TYPE_CHECKING

from markdown_it.common.utils import unescapeAll

if TYPE_CHECKING:
    from collections.abc import Iterator


MAX_ADDRESS_CHARACTERS = 2048
MAX_CUTS = 16  # candidate ends of one address in a text
MAX_ESCAPE_LAYERS = 4  # nested escapes

TRAILING_PUNCTUATION = ".,;:!?'\"*_~"  # at the end of an address, part of the sentence
CLOSING_PUNCTUATION = TRAILING_PUNCTUATION + ")]}”’»"
STRIPPED_SUFFIX = re.compile(r"[)'\"]{0,2}[.,;!?]?")  # what every platform strips from the end of an address
OPENING_PUNCTUATION = "([{\"'*_~“‘«"
NON_ADDRESS_CHARACTERS = "|，。；：！？、（）【】「」《》"  # never part of an address
ADDRESS_CUT = re.compile(
    rf"[`\"'(){{}}\[\]<>\\^\x00-\x20\x7f-\xa0\u1680\u2000-\u206f\u3000\ufeff{NON_ADDRESS_CHARACTERS}]"
)

ADDRESS = re.compile(r"[a-z][a-z0-9+.-]{0,31}://[^\s<>]+|(?<![a-z0-9])www\.[^\s<>]+", re.IGNORECASE)
SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]{0,31}\Z")
HOST = re.compile(r"((?:[A-Za-z][A-Za-z0-9+.-]*:(?://)?)?[^/?#\\]*)(.*)", re.DOTALL)
LINKABLE_ADDRESS = re.compile(
    r"(?!javascript|data|vbscript)[a-z][a-z0-9+.-]{0,31}://[^\s<>\"`|\\^{}\x00-\x20\x7f-\xa0]+", re.IGNORECASE
)
PARENTHESIS = re.compile(r"[()]")
WORD_TOKEN = re.compile(r"[^\s<>\"`|\[\]]+")

SCHEME_SLASHES = re.compile(r":(?=[*_~]*[/\\][*_~]*[/\\])")  # of any scheme, also with emphasis between them
OPAQUE_SCHEME = re.compile(
    r"(mailto|xmpp|javascript|vbscript|tel(?=:[+\d])"
    r"|(?<![a-z0-9])(?:tel|sms|callto|skype|facetime|geo|magnet|news|urn|data|slack|discord|https?|ftps?|sftp|ssh|git"
    r"|file|blob|about|steam|msteams|zoommtg|tg|whatsapp|intent|itms|market|view-source)):(?=\S)",
    re.IGNORECASE,
)
WWW = re.compile(r"www\.", re.IGNORECASE)
PROTOCOL_RELATIVE = re.compile(r"(?<![:/\]])(?<![^\W_])//(?=\w)")
AT_SIGN = re.compile(r"(?<=[^\s@])@(?=[^\s@])")
MAIL_ADDRESS = re.compile(r"[^\s@]@[^\s@.]*\.[\w.]")
NUMERIC_HOST = re.compile(r"(?<![\d.])\d{1,3}(?:\.\d{1,3}){3}[/:?#\\]")
DOT = re.compile(r"(?<![\s.])\.(?=[*_~]*([^\W_][\w-]*))")
WHOLE_DOT = re.compile(r"\.(?=[^\s\]])")
LOCALHOST_START = re.compile(r"(?<=[/@\]])(?=localhost)", re.IGNORECASE)
INVISIBLE = re.compile(
    r"[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0\U000e0000-\U000e0fff]"
)
MARKUP = re.compile(r"[`<\t\n\r\x00-\x1f]|!(?=\[)|\](?=[(:\[])")

WORD_JOINER = "\u2060"  # invisible: the name looks the same, and no platform reads it as a domain
# <!channel> <!subteam^S1|@devs> <@U1|ada> <#C1|general> <@1> <@!1> <@&1> <#1>.
MENTION = re.compile(
    r"<(?:(?P<all>!(?:channel|here|everyone|group|subteam\^[^\s<>|]*)|@&[^\s<>|]+)|(?P<sign>[@#])!?(?P<id>[A-Za-z0-9]+))(?:\|(?P<label>[^<>\n]*))?>",
    re.IGNORECASE,
)
MENTION_START = re.compile(r"<(?:!(?:channel|here|everyone|group|subteam)|@&|[@#]!?\w+\|)", re.IGNORECASE)
BROADCAST_NAMES = ("everyone", "here", "channel")
BROADCAST = re.compile(f"@(?={'|'.join(BROADCAST_NAMES)})", re.IGNORECASE)
ZERO_WIDTH_SPACE = "\u200b"  # invisible; a word with it notifies nobody


def _word_set(text: str) -> frozenset[str]:
    return frozenset(text.split())


FILE_EXTENSIONS = _word_set(
    "txt text json jsonl yaml yml toml csv tsv pdf docx xls xlsx ppt pptx odt ods odp rtf png jpg jpeg gif svg "
    "bmp webp ico html htm xml css scss js jsx tsx mjs ts java kt cpp hpp sql log ini cfg conf env lock bak tmp "
    "exe dll tar gz bz2 xz rar iso mp3 mp4 wav avi mkv ogg epub tex bib ipynb parquet db sqlite whl rpm jar proto "
    "diff patch eml ics vcf "
)  # not top-level domains
AMBIGUOUS_EXTENSIONS = _word_set("md py sh rs pl so cc ps ai zip mov")  # both file extensions and top-level domains
TOP_LEVEL_DOMAINS = _word_set(
    "com net org edu gov mil int info biz app dev xyz online site website top club shop store tech cloud live "
    "link click page space news blog agency example test invalid local onion "
)  # in addition to those of two letters


def decode_escapes(text: str) -> str:
    """The text with escapes and entities resolved, including nested ones."""
    for _ in range(MAX_ESCAPE_LAYERS):
        if "&" not in text and "\\" not in text:
            return text
        before, text = text, unescapeAll(text)
        if text == before:
            return text
    return text.replace("\\", "").replace("&", "& ")


def normalize_text(text: str) -> str:
    """The text in NFKC form without invisible characters."""
    if text.isascii():
        return text
    return unicodedata.normalize("NFKC", INVISIBLE.sub("", unicodedata.normalize("NFKC", text)))


def decode_and_normalize(text: str) -> str:
    """The text decoded and normalized, repeatedly, because each step may produce input for the other."""
    for _ in range(MAX_ESCAPE_LAYERS):
        before, text = text, normalize_text(decode_escapes(text))
        if text == before:
            break
    return text


def address_key(address: str) -> str:
    """Comparison key of an address: the host in lower case, the rest as it is."""
    found = HOST.fullmatch(normalize_text(address))
    assert found is not None  # noqa: S101  - the pattern matches any text
    return found[1].lower() + found[2]


def find_addresses(text: str) -> Iterator[str]:
    """The addresses in a text; if the end of one is ambiguous, each candidate."""
    for found in ADDRESS.finditer(text):
        run = found[0][:MAX_ADDRESS_CHARACTERS]
        for end in find_address_ends(run):
            yield run[:end]


def find_address_ends(run: str) -> Iterator[int]:
    """Candidate ends of an address that starts a run, the longest first; never within balanced parentheses."""
    pairs = _outer_parentheses(run)
    cuts = [cut.start() for cut in ADDRESS_CUT.finditer(run)][:MAX_CUTS]
    for cut in (len(run), *reversed(cuts)):
        core = run[:cut].rstrip(TRAILING_PUNCTUATION)
        for end in dict.fromkeys((cut, len(core), len(core.rstrip(CLOSING_PUNCTUATION)))):
            if not any(first <= cut <= last or first <= end <= last for first, last in pairs):
                yield end


def _outer_parentheses(run: str) -> list[tuple[int, int]]:
    """The outermost balanced pairs of parentheses."""
    opened: list[int] = []
    pairs: list[tuple[int, int]] = []
    for found in PARENTHESIS.finditer(run):
        if found[0] == "(":
            opened.append(found.start())
        elif opened:
            first = opened.pop()
            while pairs and pairs[-1][0] > first:
                pairs.pop()
            pairs.append((first, found.start()))
    return pairs


def name_candidates(word: str) -> Iterator[str]:
    """The word with and without the punctuation around it."""
    yield word
    core = word.lstrip(OPENING_PUNCTUATION).rstrip(CLOSING_PUNCTUATION)
    if core != word:
        yield core


def find_scheme(text: str) -> int:
    """The position of the first address with a scheme; -1 if there is none."""
    at = text.find("://")
    if at < 0:
        return -1
    found = SCHEME.search(text, max(0, at - 32), at)
    return found.start() if found else -1


def is_linkable(word: str, *, domains: bool) -> bool:
    """Whether a platform may link a word or a part of it. `domains`: also host names without a scheme."""
    if _is_address(word) or BROADCAST.search(word):
        return True
    return domains and bool(
        MAIL_ADDRESS.search(word) or NUMERIC_HOST.search(word) or any(map(_may_be_domain, DOT.finditer(word)))
    )


def defang_word(word: str, *, domains: bool) -> str:
    """The decoded word with addresses and markup defused."""
    return MARKUP.sub(_replace_markup, defang_address(word, domains=domains))


def defang_address(word: str, *, domains: bool) -> str:
    """The word as readable text that no platform links: `https[:]//evil[.]com`. Host names alone look unchanged."""
    is_link = _is_address(word) or (domains and _is_host(word))
    text = PROTOCOL_RELATIVE.sub(f"/{WORD_JOINER}/", OPAQUE_SCHEME.sub(r"\1[:]", SCHEME_SLASHES.sub("[:]", word)))
    text = WWW.sub(lambda found: f"{found[0][:-1]}[.]", text)
    if is_link:
        text = LOCALHOST_START.sub(WORD_JOINER, AT_SIGN.sub("[@]", WHOLE_DOT.sub("[.]", text)))
    elif domains:
        text = DOT.sub(lambda found: f".{WORD_JOINER}" if _may_be_domain(found) else ".", text)
    return defuse_broadcasts(text)


def _replace_markup(found: re.Match[str]) -> str:
    """The replacement for a character that is markup after decoding."""
    return {"`": "'", "<": f"<{WORD_JOINER}", "!": "! ", "]": "] "}.get(found[0], " ")


def _is_address(word: str) -> bool:
    """Whether a word contains a scheme, `www.` or `//`."""
    return bool(
        SCHEME_SLASHES.search(word) or WWW.search(word) or OPAQUE_SCHEME.search(word) or PROTOCOL_RELATIVE.search(word)
    )


def _may_be_domain(dot: re.Match[str]) -> bool:
    """Whether the label after a dot may be a domain: not a number, a single letter or a mere file extension."""
    label = dot[1]
    return len(label) > 1 and not label[0].isdigit() and label.lower().strip("_-") not in FILE_EXTENSIONS


def _is_host(word: str) -> bool:
    """Whether a name with dots looks like a host rather than a file or an identifier in code."""
    if MAIL_ADDRESS.search(word) or NUMERIC_HOST.search(word):
        return True
    dots = [dot for dot in DOT.finditer(word) if _may_be_domain(dot)]
    if not dots:
        return False
    label, rest = dots[-1][1].lower().strip("_-"), word[dots[-1].end(1) :]
    short = len(label) == 2 and label not in AMBIGUOUS_EXTENSIONS
    return short or label in TOP_LEVEL_DOMAINS or label.startswith("xn--") or rest[:1] in tuple("/?#:\\")


def break_missing_host(text: str) -> str:
    """Split a defused `://` without a dot after it: its host may follow after the end of the word."""
    head, dot, tail = text.rpartition(".")
    return head + dot + tail.replace("[:]//", f"[:]/{WORD_JOINER}/")


def find_mentions(text: str) -> frozenset[str]:
    """The people and channels that a text mentions, as sign and id ("@U1", "#C1"); groups are left out."""
    return frozenset(found["sign"] + found["id"] for found in MENTION.finditer(text) if found["id"])


def defuse_broadcasts(text: str) -> str:
    """Defuse @everyone, @here and @channel, so that they notify nobody."""
    return BROADCAST.sub("@" + ZERO_WIDTH_SPACE, text)


def escape_mention(found: re.Match[str], allowed: frozenset[str]) -> str:
    """The mention itself if it is allowed, else its name as plain text."""
    if not found["id"]:
        name = (found["label"] or found["all"].lstrip("!@&").rpartition("^")[2]).lstrip("@")
        return f"@{ZERO_WIDTH_SPACE}{defuse_broadcasts(name)}"
    sign, name = found["sign"], found["label"] or found["id"]
    if sign + found["id"] in allowed:
        return f"<{sign}{found['id']}>"
    return f"{sign}{ZERO_WIDTH_SPACE}{defuse_broadcasts(name.lstrip('@#'))}"
