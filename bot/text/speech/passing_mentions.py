"""Decide whether a message mentions the bot without speaking to it. Pure.

A message points others to the bot, whatever else it asks, if one of these holds:
1. It ends with the mention after a copying word: "The lease is signed. cc @bot".
2. A verb of asking stands right before the mention, and no question is put to it there: "just ask @bot".
3. It says what the bot did, with the mention as the subject: "@bot se equivocó ayer".
4. A particle that marks an object follows the mention, in a language without blanks: "@botに聞いて".

A message that asks nothing speaks of the bot if the mention stands inside it, or begins it as the subject of a verb.
"""

from __future__ import annotations

import re

from bot.text.speech import phrases
from bot.text.speech.chat_sentences import split_sentences
from bot.text.speech.mentions import MENTION, strip_mention

MAX_ASIDE_WORDS = 3  # besides the mention: "cc @bot", "fyi @bot please"

MAX_END = 200  # characters at the end of a message in which it copies people in

_COPIED = phrases.parse_words("cc fyi ping via with and also + & please pls bitte con avec com mit und y et e")
_COPIED_AT_END = re.compile(rf"(?<!\w)(?:cc|fyi)[\s:]*(?:{MENTION.pattern}[\s,&+]*)+[.!)]*\Z", re.IGNORECASE)
_ASKED = re.compile(
    r"\b(?:ask|asks|asked|asking|frage?|fragt|fragen|gefragt|demande[rzs]?|demandé|demandons|pregunta|pregúntale"
    r"|preguntale|preguntar|pregunté|pregunten|pergunt(?:a|e|ar|ei|em|ou)|consulta|consulte[rz]?)"
    rf"(?: [\w’']+){{0,2}} {MENTION.pattern}(?P<after>.*)",
    re.IGNORECASE | re.DOTALL,
)
_OBJECT = re.compile(
    rf"{MENTION.pattern}\s*(?:さん|くん)?(?:に|を|が|って|とか|も(?![うしっのちどと])|へ(?![えぇ]))(?=\S)"
)
_PUT_TO = frozenset(":,-–—\n")
_VERBS = phrases.parse_words(
    "can knows said told did does knew couldnt cant didnt doesnt isnt konnte wusste sagte meinte"
)
_COPULAS = phrases.parse_words("is was has ist war es era est était é era foi")
_JUDGING = phrases.parse_words(
    """
    echt wirklich sehr ganz super toll praktisch nützlich klasse cool muy genial útil buenísimo très vraiment pratique
    génial utile muito ótimo bom demais top
    a an really very so too quite pretty not no never always again still just useful useless helpful great good bad
    nice awesome amazing smart dumb wrong right slow fast down broken back stuck dead offline online been
    """
)
# A past tense without a subject, which only the mention can be: "@bot se equivocó ayer".
_PAST = re.compile(
    r"\b(?:(?:hat|hatte|war) (?:gestern|heute|mal|nur|mir|uns|schon|nichts|nie|immer|wieder|neulich|leider)\b"
    r"|(?:s['’]est|m['’]a|nous a|l['’]a|n['’]a (?:pas|rien)|a (?!qué\b|porqué\b)(?:\w+é|dit|répondu))\b"
    r"|(?:(?:se|no|me|nos|lo|não) ){0,3}(?:dijo|supo|sabía|contestó|respondió|habló|ayudó|encontró|entendió|mintió"
    r"|inventó|equivocó|falló|funcionó|colgó|cayó|rompió|confundió|olvidó|perdió|explicó|mostró|resumió|mandó|dio"
    r"|disse|sabia|soube|respondeu|falou|ajudou|encontrou|achou|entendeu|mentiu|inventou|errou|acertou|falhou|funcionou"
    r"|travou|caiu|confundiu|esqueceu|perdeu|explicou|mostrou|resumiu|mandou|deu)\b)",
    re.IGNORECASE,
)
# A subject of its own, so that the mention is none: "@bot hat gestern jemand bezahlt".
_WITH_SUBJECT = re.compile(
    r"(?:hat|hatte|war) (?:[\w']+ ){0,3}(?:jemand|irgendwer|wer|einer|man|ihr|wir|der)\b", re.IGNORECASE
)
# What people complain of: "@bot is down again", "le @bot rame".
_FAULT = re.compile(
    r"(?:(?:is|was|seems|keeps|went) (?:totally |still |so |really |just )?(?:down|broken|slow|stuck|hanging"
    r"|frozen|offline"
    r"|crashing|lagging|dead)|crashed|hangs|lags"
    r"|hängt|spinnt|streikt|ruckelt|lahmt|(?:ist|war) (?:schon wieder |wieder |total |so )?(?:kaputt|langsam"
    r"|offline|weg)"
    r"|rame|plante|bugue|lague|déconne|(?:est|était) (?:encore |trop |en )?(?:planté|panne|lent|cassé)"
    r"|se (?:ha )?(?:vuelto a )?(?:colg|cay|caíd|cuelga|rompió|atasc)\w*|va (?:muy )?lento|está (?:caído|lento"
    r"|roto|colgado)"
    r"|(?:travou|trava|caiu|bugou|buga)\b|está (?:fora|travado|lento)"
    r"|(?:が|は)(?:また|もう)?(?:固まっ|落ち|重い|遅い|止まっ)(?P<unspaced>))",
    re.IGNORECASE,
)
# What may follow a complaint: "streikt die Bahn" asks something.
_AFTER_FAULT = re.compile(
    r"\s*+(?:\Z|[.!,;:()\n–—-]|(?:again|today|now|right now|since|for|all|this|and|schon|wieder|heute|gerade|seit"
    r"|mal|total|nur|und|encore|aujourd|depuis|ce|et|otra|hoy|desde|esta|y|de novo|outra|hoje|e|tudo)\b|[^\w\s])",
    re.IGNORECASE,
)
_WITH_ARTICLE = re.compile(
    rf"(?:the|our|der|unser|le|notre|el|nuestro|o|nosso) {MENTION.pattern}(?P<after>.*)", re.IGNORECASE | re.DOTALL
)
# What people say of themselves without "I": "can't find the key", "meinte 15".
_WITHOUT_SUBJECT = phrases.parse_words("cant cannot couldnt didnt can meinte")
_FINDING = phrases.parse_words("find see tell remember recall locate open get read access reach log figure work not")
# What a verb asks about, if it stands right behind it: "can someone open the gate".
_SUBJECTS = (
    phrases.PEOPLE | phrases.PRONOUNS | phrases.parse_words("you one people der die das ich du man er sie le la el")
)
_BEFORE = phrases.LEADING | phrases.FILLERS
_GERMAN = phrases.parse_words("haben wir ich man ist sind hat wird gibt der die das den dem zum zur im am beim für")


def points_to_bot(text: str) -> bool:
    """Whether a message copies the bot in, or tells others to ask it."""
    body = strip_mention(text)
    reports = body != text.strip() and _reports(body) and not _asks_after(body)
    called = _WITH_ARTICLE.fullmatch(text.strip())
    after = called["after"] if called else body if body != text.strip() else ""
    complains = _complains(after.strip()) and not _asks_after(after)
    if reports or complains or _COPIED_AT_END.search(text[-MAX_END:]):
        return True
    if (found := _OBJECT.search(text)) and not _asks_after(text[found.end() :]):
        return True
    asked = _ASKED.search(text)
    if asked is None:
        return False
    after = asked["after"].lstrip(" ")
    return not (after[:1] in _PUT_TO and after[:1] and _asks_after(after))


def _reports(text: str) -> bool:
    """Whether a text tells what the bot did, whose mention stands before it."""
    return bool(_PAST.match(text)) and not _WITH_SUBJECT.match(text)


def _complains(text: str) -> bool:
    found = _FAULT.match(text)
    return found is not None and (found["unspaced"] is not None or bool(_AFTER_FAULT.match(text, found.end())))


def speaks_of_bot(text: str, body: str) -> bool:
    """Whether a message that asks nothing mentions the bot in passing; `body` is what follows a leading mention."""
    words = [word for word in MENTION.sub(" ", text).casefold().replace(":", " ").replace(",", " ").split() if word]
    if len(words) <= MAX_ASIDE_WORDS and words and all(word in _COPIED for word in words):
        return True
    if body != text.strip():  # it begins with the mention: "@bot is really useful"
        return _is_predicate(words)
    found = MENTION.search(text)
    if found is None or _BEFORE.issuperset(text[: found.start()].casefold().replace(",", " ").split()):
        return False  # "hey @bot who pays"
    after = text[found.end() :]
    return bool(after.strip(" .!,;:")) and after[:1] not in {":", ","}


def _is_predicate(words: list[str]) -> bool:
    """Whether words say something about the bot that is mentioned before them; "was" may be German for "what"."""
    first, rest = "".join(words[:1]).replace("'", "").replace("’", ""), words[1:]
    if first == "was" and not _GERMAN.isdisjoint(rest):
        return False
    if first in _WITHOUT_SUBJECT and rest and (rest[0] in _FINDING or rest[0][0].isdigit()):
        return rest[1:2] in (["me"], ["us"])
    if rest and rest[0] in _SUBJECTS:
        return False
    return first in _VERBS or (first in _COPULAS and bool(rest) and rest[0] in _JUDGING)


def _asks_after(text: str) -> bool:
    return any(sentence.is_question for sentence in split_sentences(strip_mention(text)))
