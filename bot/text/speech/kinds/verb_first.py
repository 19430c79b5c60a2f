"""Tell what a Spanish or Portuguese sentence does that begins with its verb, and has no mark. Pure.

Both languages put the verb first to ask ("tiene Ada las llaves", "já chegou a bomba") and to tell ("ya llegó la bomba",
"firmó Ada ayer"). A sentence asks if

1. its subject stands between the verb and an object or an infinitive, as in "ha pagado Ada la factura",
2. its verb is in the present, and nothing but the subject or a place follows: "funciona a bomba do moinho",
3. it is Portuguese, begins with "já", and the verb and its subject are all of it.

It tells something if an adverb or a preposition follows the verb, if it says when a thing was done, or if it reports
what came or went.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from bot.text.speech import phrases
from bot.text.speech.grammars import PORTUGUESE, SPANISH, Grammar

if TYPE_CHECKING:
    from bot.text.speech.chat_sentences import Sentence

Words = tuple[str, ...]
Order = Literal["asks", "tells", "open"]

MIN_WORDS, MAX_WORDS = 3, 14


@dataclass(frozen=True)
class _Verbs:
    """The verbs that may begin a sentence of a language; `moves`: what says in the past that something came or went."""

    grammar: Grammar
    present: frozenset[str]
    modals: frozenset[str]
    auxiliaries: frozenset[str]
    linking: frozenset[str]
    moves: frozenset[str]
    past: re.Pattern[str]
    articles: frozenset[str]
    marks: frozenset[str]
    days: frozenset[str]
    done: str


_SPANISH = _Verbs(
    SPANISH,
    phrases.parse_words(
        """
        tiene tienen sabe saben lleva llevan guarda guardan conoce conocen necesita necesitan incluye incluyen funciona
        funcionan abre abren cierra cierran sirve sirven vale valen arranca existe existen cuesta cuestan usa usan paga
        pagan trabaja vive entra entran cabe caben
        """
    ),
    phrases.parse_words("puede pueden debe deben quiere quieren sabe saben suele suelen"),
    phrases.parse_words("ha han había habían fue fueron"),
    phrases.parse_words("está están es son sigue siguen queda quedan"),
    phrases.parse_words("llegó llegaron vino vinieron salió salieron volvió volvieron murió cayó apareció aparecieron"),
    re.compile(r"\w\w(?:ó|aron|ieron)\Z|\A(?:hizo|trajo|puso|tuvo|vino)\Z"),
    phrases.parse_words("el la los las un una unos unas mi mis nuestro nuestra nuestros nuestras"),
    phrases.parse_words("el la los las ya del al y en lo"),
    phrases.parse_words("lunes martes miércoles jueves viernes sábado domingo"),
    "ya",
)
_PORTUGUESE = _Verbs(
    PORTUGUESE,
    phrases.parse_words(
        """
        tem têm sabe sabem leva levam guarda guardam conhece conhecem precisa precisam inclui incluem funciona funcionam
        abre abrem fecha fecham serve servem liga existe existem custa custam usa usam paga pagam trabalha mora entra
        entram cabe cabem
        """
    ),
    phrases.parse_words("pode podem deve devem quer querem sabe sabem costuma"),
    phrases.parse_words("foi foram tinha tinham"),
    phrases.parse_words("está estão tá é são continua continuam fica ficam"),
    phrases.parse_words("chegou chegaram veio vieram saiu saíram voltou voltaram morreu caiu apareceu apareceram"),
    re.compile(
        r"\w\w(?:[^s](?<!\best)ou|(?<!\bmus)(?<!\beurop)eu|iu|aram|eram|iram)\Z|\A(?:fez|trouxe|teve|veio|pôs)\Z"
    ),
    phrases.parse_words("o a os as um uma uns umas meu minha nosso nossa nossos nossas"),
    phrases.parse_words("o os as a do da dos das não em no na nos nas pelo pela à ao às aos"),
    phrases.parse_words("terça quarta quinta sexta sábado domingo segunda-feira terça-feira quarta-feira sexta-feira"),
    "já",
)
_LANGUAGES = (_SPANISH, _PORTUGUESE)
_AUXILIARIES = _SPANISH.auxiliaries | _PORTUGUESE.auxiliaries
_PARTICIPLE = re.compile(r"\w(?:[ai]d|st|rt|et|it|cript|ech|suelt)[oa]s?\Z|\A(?:(?:pag|rot)[oa]s?|entregues?|hecho)\Z")
_INFINITIVE = re.compile(r"\w[aeiôo]r\Z")
# What is had, but is no subject: "tiene razón la vecina".
_HAD = phrases.parse_words(
    """
    razón sentido gracia mérito prisa lugar cuidado razão graça pressa jeito toda todo mucha mucho poco bastante
    demasiado muita muito pouco demais buena mala buen mal boa má
    """
)
_WITH_OF = phrases.parse_words("precisa precisam")  # "precisa de capacete"
# When a thing was done, or since and until when it is so.
_WHEN = phrases.parse_words(
    "ayer anteayer anoche hoy mañana ontem anteontem hoje amanhã hasta desde até agora ahora cedo fin"
)
_TELLING = phrases.parse_words("sabe-se diz-se consta")
_TELLING_PAIRS = phrases.parse_phrases("pode deixar, pode ser, puede ser, puede que, parece que")
_REFLEXIVE = frozenset({"se"})
_SOMEBODY = phrases.parse_words("alguien alguém alguem nadie ninguém")
_LIMITS = phrases.parse_words("hasta até desde")
_INDEFINITE = phrases.parse_words("un una um uma")
_CLOCK = re.compile(r"a las|às|ao meio-dia|a mediodía|\d")
_ADVERB = re.compile(r"\w{3}mente\Z")


def read_verb_first(sentence: Sentence) -> Order | None:
    """What the order of the words of a sentence says; `open`: both are likely; None if no verb begins it."""
    if sentence.is_question or len(sentence.clauses) != 1 or not phrases.QUESTION_WORDS.isdisjoint(sentence.words):
        return None
    words = sentence.words
    while len(words) > MIN_WORDS and words[0] in phrases.LEADING - _AUXILIARIES:
        words = words[1:]
    if not MIN_WORDS <= len(words) <= MAX_WORDS:
        return None
    if words[0] in _TELLING or (words[:2] in _TELLING_PAIRS):
        return "tells"
    fits = [verbs for verbs in _LANGUAGES if _count_verb(_without_done(words, verbs), verbs)]
    if len(fits) > 1:
        fits.sort(key=lambda verbs: -sum(word in verbs.marks for word in words))
    return _read(words, fits[0], sentence) if fits else None


def _without_done(words: Words, verbs: _Verbs) -> Words:
    return words[1:] if words[0] == verbs.done else words


def _count_verb(words: Words, verbs: _Verbs) -> int:
    """The number of words of the verb with which words begin, with its participle."""
    first, second = [*words[:2], ""][:2]
    if first in _REFLEXIVE:
        return 2 * _fits(verbs.past, second)
    if first in verbs.auxiliaries or first in verbs.linking:
        follows = _fits(_PARTICIPLE, second)
        return 2 if follows else int(first in verbs.linking)
    return int(first in verbs.present | verbs.modals or _fits(verbs.past, first))


def _read(words: Words, verbs: _Verbs, sentence: Sentence) -> Order:
    is_done, words = words[0] == verbs.done, _without_done(words, verbs)
    verb, rest = words[0], words[_count_verb(words, verbs) :]
    if (order := _read_beginning(verb, rest, verbs)) is not None:
        return order
    has_article = rest[0] in verbs.articles
    after = rest[1 + has_article :]
    is_dated, is_present = not (_WHEN | verbs.days).isdisjoint(rest), verb in verbs.present | verbs.modals
    if verb in verbs.modals and after and _fits(_INFINITIVE, after[0]):
        return "asks"
    if len(after) > 1 and after[0] in verbs.articles and (is_present or not is_dated):
        is_likely = is_present or not is_done or verbs is _PORTUGUESE  # "ya firmó Ada el contrato" tells as well
        return "asks" if is_likely and (has_article or _is_name(rest[0], sentence)) else "open"
    if is_present:
        is_timed = is_dated or _CLOCK.search(" ".join(after)) or rest[0] in _INDEFINITE
        return "asks" if has_article and not is_timed else "open"
    if verb in verbs.linking:
        return "open" if _LIMITS.isdisjoint(rest) or rest == words[1:] else "tells"
    return _read_past(verb, verbs, is_asked=is_done and verbs is _PORTUGUESE, tells=is_dated or not has_article)


def _read_beginning(verb: str, rest: Words, verbs: _Verbs) -> Order | None:
    """The verdict about what follows a verb, if it is no subject."""
    if not rest or rest[0] == "que":
        return "open" if verb in verbs.linking else "tells"
    is_day = rest[0] in verbs.articles and not verbs.days.isdisjoint(rest[1:2])
    if verb in _REFLEXIVE or rest[0] in _HAD or rest[1:2] == ("que",) or is_day or _fits(_ADVERB, rest[0]):
        return "tells"
    others = verbs.grammar.links | verbs.grammar.adverbs | verbs.grammar.leading | _WHEN
    if rest[0] in verbs.articles or rest[0] not in others:
        return None
    return "tells" if len(rest) > 1 and verb not in verbs.modals | _WITH_OF else "open"


def _read_past(verb: str, verbs: _Verbs, *, is_asked: bool, tells: bool) -> Order:
    """The verdict about a past verb and its subject; `tells`: a time follows, or the subject is no noun phrase."""
    if is_asked and not tells:
        return "asks"
    return "tells" if tells or verb in verbs.moves else "open"


def _is_name(word: str, sentence: Sentence) -> bool:
    """Whether a word is written with a capital, or means somebody."""
    return word in _SOMEBODY or any(token[0].isupper() and token.casefold() == word for token in sentence.tokens)


def _fits(ending: re.Pattern[str], word: str) -> bool:
    """Whether a word without marks ends like that."""
    return word.isalnum() and bool(ending.search(word))
