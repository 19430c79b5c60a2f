"""Addresses as platforms read them: what is one, which ones are known, and how one is shown without being one. Pure.

Platforms decode before they look for addresses, so every decision is made on the decoded text: escapes and entities
resolved, compatibility forms (full-width letters, ligatures) replaced, invisible characters removed.
"""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_left
from typing import TYPE_CHECKING

from markdown_it.common.utils import unescapeAll

from engine.answers.mentions import ALARM, disarm

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

LONGEST = 2048  # characters of an address
CUTS = 16  # places at which one address in a text may be meant to end
LAYERS = 4  # of escapes within escapes

ENDS = ".,;:!?'\"*_~"  # at the end of an address they rather belong to the sentence
CLOSERS = ENDS + ")]}”’»"
STRIPPED = re.compile(r"[)'\"]{0,2}[.,;!?]?")  # what every platform takes off the end of an address
OPENERS = "([{\"'*_~“‘«"
ASIDE = "|，。；：！？、（）【】「」《》"  # what surely is no part of an address
CUT = re.compile(rf"[`\"'(){{}}\[\]<>\\^\x00-\x20\x7f-\xa0\u1680\u2000-\u206f\u3000\ufeff{ASIDE}]")

ADDRESS = re.compile(r"[a-z][a-z0-9+.-]{0,31}://[^\s<>]+|(?<![a-z0-9])www\.[^\s<>]+", re.IGNORECASE)
SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]{0,31}\Z")
HOST = re.compile(r"((?:[A-Za-z][A-Za-z0-9+.-]*:(?://)?)?[^/?#\\]*)(.*)", re.DOTALL)
LINK = re.compile(
    r"(?!javascript|data|vbscript)[a-z][a-z0-9+.-]{0,31}://[^\s<>\"`|\\^{}\x00-\x20\x7f-\xa0]+", re.IGNORECASE
)
PARENTHESIS = re.compile(r"[()]")
TOKEN = re.compile(r"[^\s<>\"`|\[\]]+")

SLASHES = re.compile(r":(?=[*_~]*[/\\][*_~]*[/\\])")  # of any scheme, also with emphasis in between
BARE = re.compile(
    r"(mailto|xmpp|javascript|vbscript|tel(?=:[+\d])"
    r"|(?<![a-z0-9])(?:tel|sms|callto|skype|facetime|geo|magnet|news|urn|data|slack|discord|https?|ftps?|sftp|ssh|git"
    r"|file|blob|about|steam|msteams|zoommtg|tg|whatsapp|intent|itms|market|view-source)):(?=\S)",
    re.IGNORECASE,
)
WWW = re.compile(r"www\.", re.IGNORECASE)
RELATIVE = re.compile(r"(?<![:/\]])(?<![^\W_])//(?=\w)")
MAIL = re.compile(r"(?<=[^\s@])@(?=[^\s@])")
MAILED = re.compile(r"[^\s@]@[^\s@.]*\.[\w.]")
NUMERIC = re.compile(r"(?<![\d.])\d{1,3}(?:\.\d{1,3}){3}[/:?#\\]")
DOT = re.compile(r"(?<![\s.])\.(?=[*_~]*([^\W_][\w-]*))")
WHOLE_DOT = re.compile(r"\.(?=[^\s\]])")
LOCAL = re.compile(r"(?<=[/@\]])(?=localhost)", re.IGNORECASE)
INVISIBLE = re.compile(
    r"[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0\U000e0000-\U000e0fff]"
)
HOSTLESS = re.compile(r"\[:\]//(?=[^.]*\Z)")  # the rest of a host may stand behind what ends the word
MARKUP = re.compile(r"[`<\t\n\r\x00-\x1f]|!(?=\[)|\](?=[(:\[])")

JOINER = "\u2060"  # of no width: the name reads as before, and no platform takes it for a domain


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


FILES = _words(
    "txt text json jsonl yaml yml toml csv tsv pdf docx xls xlsx ppt pptx odt ods odp rtf png jpg jpeg gif svg "
    "bmp webp ico html htm xml css scss js jsx tsx mjs ts java kt cpp hpp sql log ini cfg conf env lock bak tmp "
    "exe dll tar gz bz2 xz rar iso mp3 mp4 wav avi mkv ogg epub tex bib ipynb parquet db sqlite whl rpm jar proto "
    "diff patch eml ics vcf "
)  # endings that are no top-level domains
SCRIPTS = _words("md py sh rs pl so cc ps ai zip mov")  # endings that are both
DOMAINS = _words(
    "com net org edu gov mil int info biz app dev xyz online site website top club shop store tech cloud live "
    "link click page space news blog agency example test invalid local onion "
)  # besides those of two letters


def decoded(text: str) -> str:
    """The text without escapes and entities, also those that come out when others are resolved."""
    for _ in range(LAYERS):
        if "&" not in text and "\\" not in text:
            return text
        before, text = text, unescapeAll(text)
        if text == before:
            return text
    return text.replace("\\", "").replace("&", "& ")


def normal(text: str) -> str:
    """The text as platforms compare it: compatibility forms replaced, nothing invisible in it."""
    if text.isascii():
        return text
    return unicodedata.normalize("NFKC", INVISIBLE.sub("", unicodedata.normalize("NFKC", text)))


def resolved(text: str) -> str:
    """The text decoded and normal, also where one makes something for the other."""
    for _ in range(LAYERS):
        before, text = text, normal(decoded(text))
        if text == before:
            break
    return text


def key(address: str) -> str:
    """What two ways of writing an address have in common: a host is the same in any case."""
    found = HOST.fullmatch(normal(address))
    assert found is not None  # noqa: S101  - it matches everything
    return found[1].lower() + found[2]


class Known:
    """The addresses and names that stand in some texts, and so may be shown as they are; of titles the names alone."""

    def __init__(self, texts: Iterable[str], titles: Iterable[str] = ()) -> None:
        self._links: dict[str, str] = {}
        self._names: dict[str, str] = {}
        for text in texts:
            for read in dict.fromkeys((text, unescapeAll(text))):
                self._add(read)
        for title in titles:
            self._add_names(title)
        self._schemes = frozenset(link.partition(":")[0] for link in self._links)
        self._sorted = sorted(self._names)
        self._capitals = sorted(key_ for key_, name in self._names.items() if not name.startswith(key_))

    def _add(self, text: str) -> None:
        for address in addresses(text):
            if LINK.fullmatch(address) and not ALARM.search(address):
                self._links.setdefault(key(address), address)
            if "://www." in address:
                bare = address.partition("://")[2]
                self._names.setdefault(key(bare), bare)
        self._add_names(text)

    def _add_names(self, text: str) -> None:
        for found in TOKEN.finditer(text):
            if (
                ("." in found[0] or "@" in found[0])
                and "://" not in found[0]
                and len(found[0]) <= LONGEST
                and not ALARM.search(found[0])
            ):
                for name in names(found[0]):
                    self._names.setdefault(key(name), name)

    def link(self, address: str) -> str:
        """The address as it stands in a text, if the whole of it does; else nothing."""
        return self._links.get(key(address), "")

    def begins(self, letters: str) -> bool:
        """Whether a link may begin with these letters."""
        return any(scheme.startswith(letters) for scheme in self._schemes)

    def name(self, name: str) -> str:
        """A name without a scheme as it stands in a text, if the whole of it does: `notes.md`; else nothing."""
        return self._names.get(key(name), "")

    def respells(self, letters: str) -> bool:
        """Whether a name that begins with these letters may be spelled otherwise in a text."""
        small = letters.lower()
        listed = self._capitals if small == letters else self._sorted
        at = bisect_left(listed, small)
        return bool(small) and at < len(listed) and listed[at].startswith(small)


def addresses(text: str) -> Iterator[str]:
    """The addresses in a text; where its end is in doubt, each that may be meant."""
    for found in ADDRESS.finditer(text):
        run = found[0][:LONGEST]
        for end in ends(run):
            yield run[:end]


def ends(run: str) -> Iterator[int]:
    """Where an address that begins a run may be meant to end, the longest first; never within balanced parentheses."""
    pairs = _pairs(run)
    cuts = [cut.start() for cut in CUT.finditer(run)][:CUTS]
    for cut in (len(run), *reversed(cuts)):
        core = run[:cut].rstrip(ENDS)
        for end in (cut, len(core), len(core.rstrip(CLOSERS))):
            if not any(first <= cut <= last or first <= end <= last for first, last in pairs):
                yield end


def _pairs(run: str) -> list[tuple[int, int]]:
    """The outermost pairs of parentheses that close."""
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


def names(word: str) -> Iterator[str]:
    """What may be meant by a word, with and without the punctuation around it."""
    yield word
    core = word.lstrip(OPENERS).rstrip(CLOSERS)
    yield core


def scheme_at(text: str) -> int:
    """Where the first address with a scheme begins; -1 if there is none."""
    at = text.find("://")
    if at < 0:
        return -1
    found = SCHEME.search(text, max(0, at - 32), at)
    return found.start() if found else -1


def alive(word: str, *, domains: bool) -> bool:
    """Whether a platform may make a link of a word, or of a part of it. `domains`: also of a mere name of a host."""
    if _addressed(word) or ALARM.search(word):
        return True
    return domains and bool(MAILED.search(word) or NUMERIC.search(word) or any(map(_linked, DOT.finditer(word))))


def inert(word: str, *, domains: bool) -> str:
    """A word that is not alive, and has no markup in it that came out when it was decoded."""
    return MARKUP.sub(_shown, defused(word, domains=domains))


def defused(word: str, *, domains: bool) -> str:
    """A word that can be read and is no address: `https[:]//evil[.]com`; a mere name looks as before."""
    whole = _addressed(word) or (domains and _hosted(word))
    text = RELATIVE.sub(f"/{JOINER}/", BARE.sub(r"\1[:]", SLASHES.sub("[:]", word)))
    text = WWW.sub(lambda found: f"{found[0][:-1]}[.]", text)
    if whole:
        text = LOCAL.sub(JOINER, MAIL.sub("[@]", WHOLE_DOT.sub("[.]", text)))
    elif domains:
        text = DOT.sub(lambda found: f".{JOINER}" if _linked(found) else ".", text)
    return disarm(text)


def _shown(found: re.Match[str]) -> str:
    """What stands for a character that would be markup once it is decoded."""
    return {"`": "'", "<": f"<{JOINER}", "!": "! ", "]": "] "}.get(found[0], " ")


def _addressed(word: str) -> bool:
    """Whether it says of itself that it is an address."""
    return bool(SLASHES.search(word) or WWW.search(word) or BARE.search(word) or RELATIVE.search(word))


def _linked(dot: re.Match[str]) -> bool:
    """Whether what follows a dot may be a domain: not a number, a single letter, or an ending of files alone."""
    label = dot[1]
    return len(label) > 1 and not label[0].isdigit() and label.lower().strip("_-") not in FILES


def _hosted(word: str) -> bool:
    """Whether a name with dots looks like a host, and not like a file or the name of something in a program."""
    if MAILED.search(word) or NUMERIC.search(word):
        return True
    dots = [dot for dot in DOT.finditer(word) if _linked(dot)]
    if not dots:
        return False
    label, rest = dots[-1][1].lower().strip("_-"), word[dots[-1].end(1) :]
    short = len(label) == 2 and label not in SCRIPTS
    return short or label in DOMAINS or label.startswith("xn--") or rest[:1] in tuple("/?#:\\")
