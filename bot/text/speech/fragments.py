"""Tell a fragment that reports something from one that names what is looked for. Pure.

People report without a finite verb: "room 4/5 now", "moved to Thursday", "not 40 but 45", "Petra, not Paula". They also
search without one: "rules for the yard", "documents shared yesterday". A fragment reports if

1. it begins with a participle of a change, and a preposition, an article, an adverb or nothing follows,
2. a noun, such a participle and a time of the present are all of it,
3. it says that a value holds now: a number or a version, and "now" at its beginning or end,
4. it puts one value in the place of another one.
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

from bot.text.speech import phrases
from engine.text.patterns import compile_late

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bot.text.speech.chat_sentences import Sentence

Words = tuple[str, ...]

MAX_WORDS = 14
MAX_VALUE_WORDS = 7
MAX_SIDE_WORDS = 3  # of what replaces and of what is replaced

_CHANGES = compile_late(
    r"(?:re)?(?:moved|sent|done|ordered|cancell?ed|postponed|delayed|delivered|signed|paid|booked|fixed|repaired|sold"
    r"|closed|shipped|received|approved|rejected|confirmed|finished|merged|deployed|released|installed|replaced|removed"
    r"|deleted|renamed|solved|resolved|scheduled|bought|renewed|returned|handed|passed|cleaned|submitted"
    r"|printed|picked)"
    r"|(?:verschoben|verlegt|erledigt|abgesagt|bestellt|geliefert|unterschrieben|unterzeichnet|bezahlt|gebucht|behoben"
    r"|repariert|verkauft|geschlossen|verschickt|versandt|erhalten|genehmigt|abgelehnt|bestätigt|fertig|ausgerollt"
    r"|installiert|ersetzt|entfernt|gelöscht|umbenannt|gelöst|gekauft|verlängert|übergeben|gereinigt|eingereicht"
    r"|gedruckt|abgeholt|umgezogen|aufgeschoben|gesendet|geschickt|gestrichen|vertagt)"
    r"|(?:annulé|reporté|déplacé|envoyé|commandé|signé|payé|réservé|réparé|fermé|livré|approuvé|refusé|confirmé|terminé"
    r"|déployé|installé|remplacé|supprimé|renommé|réglé|acheté|renouvelé|rendu|vendu|reçu|nettoyé|imprimé|résolu)e?s?"
    r"|fait(?:es?|s)?"
    r"|(?:cancelad|aplazad|pospuest|movid|trasladad|enviad|pedid|firmad|pagad|reservad|reparad|arreglad|vendid|cerrad"
    r"|recibid|entregad|aprobad|rechazad|confirmad|terminad|desplegad|instalad|sustituid|reemplazad|eliminad|resuelt"
    r"|comprad|renovad|devuelt|impres|hech)[oa]s?"
    r"|(?:adiad|transferid|encomendad|assinad|pag|consertad|fechad|recebid|entregue|aprovad|recusad|finalizad"
    r"|substituíd"
    r"|removid|resolvid|devolvid|feit)[oae]?s?"
)
# Participles that begin what people search for, too, as nouns: "pagos de mayo", "pedido de Ana".
_NOUNS = phrases.parse_words("pago pagos pedido pedidos pedida hecho hechos reçu reçus rendu rendus feito feitos")
# What may follow a participle: then it has no noun of its own, as "closed tickets" has.
_FOLLOWING = phrases.PREPOSITIONS | phrases.parse_words(
    """
    the a an my our their this that by into back out off up down again already just all both now today
    yesterday tomorrow due onto through over auf in aus vom beim nach dans en chez sur em per via das die den dem ein
    eine einen im am ins zum zur wieder schon heute gestern jetzt alles
    au aux chez le la les un une ce cette hier aujourdhui déjà al los las el hoy ayer ya ahora
    par dès des pelas pelos dos das ao aos às à no na nos nas para pra pelo pela hoje ontem já agora o os as
    """
)
# Closes a German clause: "von beiden Seiten unterschrieben".
_GERMAN_BEFORE = phrases.parse_words("von vom heute gestern soeben gerade schon bereits endlich nun wieder leider")
_GERMAN_CHANGE = compile_late(r"\w+(?:en|t|ig)")
_PRESENT = compile_late(
    r"(?:this morning|this afternoon|today|just now|tonight|heute(?: früh| morgen| mittag| abend)?|soeben|gerade eben"
    r"|ce matin|cet après-midi|aujourdhui|à linstant|esta (?:mañana|tarde)|hoy|hace un momento"
    r"|hoje(?: cedo| de manhã| à tarde)?|esta manhã|agora há pouco)"
)
_NOW = compile_late(
    r"(?:from )?now(?: on)?|for now|for the moment|as of (?:now|today)|currently|jetzt|ab (?:jetzt|sofort"
    r"|heute)|vorerst"
    r"|derzeit|ab morgen|maintenant|désormais|pour (?:linstant|le moment)|dès (?:maintenant|demain)|ahora"
    r"|desde (?:hoy|ya)"
    r"|de momento|por ahora|agora|por enquanto|por ora|a partir de (?:agora|hoje|ahora|hoy)"
)
_OF = phrases.parse_words("of for von für de du des del da do dos das and und et y e o ou oder or")
_INSTEAD = compile_late(
    r"(?:its |cest |son |es |são |é |wir sind |are )?(?:not|nicht|kein|keine|pas|no|não|no son|não são|no es|não é) "
    r"(?:\S{1,40} ){1,5}(?:but|sondern|mais|sino|mas) \S{1,40}(?: \S{1,40}){0,5}"
)
# What stands between a value and the one that it replaces.
_REPLACING = compile_late(
    r"(?P<one>\S{1,40}(?: \S{1,40}){0,2}) (?:instead of|rather than|statt|anstatt|anstelle von|au lieu de|à la place de"
    r"|et non(?: pas)?"
    r"|en vez de|en lugar de|y no|em vez de|no lugar de|e não|und nicht|and not) (?P<other>\S{1,40}(?: \S{1,40}){0,2})"
)
# So many are missing; with a number, as "parts missing" is what people search for.
_MISSING = compile_late(
    r"(?:\S{1,40} ){0,2}(?:\d+|two|three|four|five|six|zwei|drei|vier|fünf|sechs|deux|trois|quatre|cinq) "
    r"(?:\S{1,40} ){1,3}"
    r"(?:missing|fehlen|manquent|manquants?|manquantes?)"
    r"|(?:il )?(?:manque|falta[nm]?) (?:\d+|un|une|una|um|uma|deux|trois|quatre|dos|tres|cuatro|dois|duas|três"
    r"|quatro)\b.*"
)
_NOT = phrases.parse_words("not nicht pas no não")
# What begins a fragment that seeks something: "anything decided about the roof".
_SEEKING = phrases.parse_words("anything any irgendwas irgendetwas algo alguna algún alguma algum novidades news")
_POLITE_ENDS = phrases.parse_words("please pls bitte svp stp porfa porfavor pfv")
_SAME = phrases.parse_phrases(
    "das gleiche, dasselbe, das selbe, the same, same, la même chose, le même, lo mismo, o mesmo, a mesma coisa"
)
_IN_PLACE = phrases.parse_words("quel quelle quels quelles quoi combien")
_NOT_KNOWING = phrases.parse_words("sais sait savons ne pas importe nimporte")
# What says, after a word of praise, that nothing more is needed.
SUFFICES = compile_late(
    r"(?:thats|that was|that is|thats really) (?:all|exactly what|just what|what)(?: i| we)?\b(?! (?:about|is|was)\b)"
    r"|(?:mehr|sonst) (?:brauch|muss|wollt)\w*|(?:das )?reicht(?: mir)?\b|das wars\b"
    r"|c(?:est|était) tout(?: ce (?:qu|que|dont))?|ça me suffit|(?:con eso|eso|isso|com isso) (?:me )?(?:basta"
    r"|vale|chega)"
    r"|cest bon(?: pour moi)?\Z|con eso (?:tengo|ya)\b|(?:já )?me ajudou\b|(?:ya )?me (?:sirve|ayudó)\b"
    r"|(?:das )?(?:hat|hilft) (?:mir )?(?:sehr |schon |weiter|geholfen)|(?:that|this) (?:helps|helped)\b"
    r"|(?:era|es|é) (?:só|todo|solo|tudo)\b|não preciso de mais|no necesito más"
)


def reports(sentence: Sentence) -> bool:
    """Whether a sentence without a finite verb tells something."""
    words = sentence.words
    if sentence.is_question or not 1 < len(words) <= MAX_WORDS or not phrases.QUESTION_WORDS.isdisjoint(words):
        return False
    return (
        _begins_with_change(words, sentence)
        or _reports_change(sentence.clauses[0])
        or _holds_now(words)
        or bool(_INSTEAD.fullmatch(" ".join(words)))
        or _replaces(sentence)
        or any(_MISSING.fullmatch(" ".join(clause)) for clause in sentence.clauses)
    )


def seeks(sentence: Sentence) -> bool:
    """Whether a sentence without a question word wants something: "das Gleiche für Lissabon bitte"."""
    words = sentence.words
    if words[0] in _SEEKING and words[1:2] and words[1] not in phrases.AUXILIARIES:
        return True
    is_same = any(words[: len(beginning)] == beginning for beginning in _SAME)
    if len(words) > 2 and (words[-1] in _POLITE_ENDS or is_same) and words[0] not in phrases.FIRST_PERSON:
        return words[-1] in _POLITE_ENDS or not any(word in phrases.AUXILIARIES or word == "ist" for word in words)
    asks_inside = not _IN_PLACE.isdisjoint(words[2:]) and _NOT_KNOWING.isdisjoint(words)
    return asks_inside and words[0] in {"il", "on", "ça", "cest", "tu", "vous"}


def suffices(sentence: Sentence) -> bool:
    """Whether a sentence says, after a word of praise, that nothing more is needed."""
    first, *rest = sentence.clauses
    known = phrases.INTERJECTIONS | phrases.FILLERS | phrases.PRAISE
    enough = [bool(SUFFICES.match(" ".join(clause))) for clause in rest]
    return (
        known.issuperset(first)
        and any(enough)
        and all(known.issuperset(each) or fits for each, fits in zip(rest, enough, strict=True))
    )


def _begins_with_change(words: Words, sentence: Sentence) -> bool:
    first = len(words) > 2 and words[0] in {"cest", "está", "ist"} and _CHANGES.fullmatch(words[1])
    at = 1 if first else 0
    if not _CHANGES.fullmatch(words[at]) or (words[at] in _NOUNS and not first):
        return False
    ends_clause = len(sentence.clauses[0]) == at + 1 and len(sentence.clauses) > 1
    return ends_clause or (len(words) > at + 1 and words[at + 1] in _FOLLOWING)


def _reports_change(words: Words) -> bool:
    """Whether a noun of one or two words, a participle and a time of the present are all of it, in either order."""
    ends_german = words[-1] != words[0] and _CHANGES.fullmatch(words[-1]) and _GERMAN_CHANGE.fullmatch(words[-1])
    if ends_german and not _GERMAN_BEFORE.isdisjoint(words[:-1]):
        return True
    ends = [at for at, word in enumerate(words) if _CHANGES.fullmatch(word)]
    if len(ends) != 1 or not 0 < ends[0] < MAX_SIDE_WORDS + 2:
        return False
    before, after = " ".join(words[1 : ends[0]]), " ".join(words[ends[0] + 1 :])
    return (not after and bool(_PRESENT.search(before))) or (ends[0] <= 2 and bool(_PRESENT.fullmatch(after)))


def _holds_now(words: Words) -> bool:
    if len(words) > MAX_VALUE_WORDS or words[0] in phrases.CONJUNCTIONS:
        return False
    if not any(any(map(str.isdigit, word)) for word in words):
        return False
    for count in (1, 2, 3, 4):
        starts, rest = words[:count], words[count:]
        if rest and _NOW.fullmatch(" ".join(starts)) and _OF.isdisjoint(rest):
            return True
        if words[:-count] and _NOW.fullmatch(" ".join(words[-count:])) and _OF.isdisjoint(words[:-count]):
            return True
    return False


def _replaces(sentence: Sentence) -> bool:
    """Whether one short value stands before a denied one: "Petra, nicht Paula", "c'est Petra, pas Paula"."""
    found = _REPLACING.fullmatch(" ".join(sentence.words))
    if found and all(_is_value(found[side].split()[-1], sentence) for side in ("one", "other")):
        return True
    for one, other in pairwise(sentence.clauses):
        if not other or other[0] not in _NOT or len(one) > MAX_SIDE_WORDS or not 1 < len(other) <= MAX_SIDE_WORDS + 1:
            continue
        if _is_value(one[-1], sentence) and _is_value(other[-1], sentence):
            return True
    return False


def _is_value(word: str, sentence: Sentence) -> bool:
    """Whether a word is a number, or written like a name."""
    written: Sequence[str] = [token for token in sentence.tokens if token.casefold() == word]
    return any(map(str.isdigit, word)) or any(text[0].isupper() for text in written)
