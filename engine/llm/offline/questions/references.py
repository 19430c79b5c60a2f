"""Find words of a question that refer to something said before, and put the person there whom they mean. Pure.

"It" is no reference if it stands for nothing ("is it true that …", "il faut"), nor is a pronoun for somebody whom the
question itself names ("which tenants have paid their rent?").
"""

from __future__ import annotations

import re

from engine.llm.offline.questions.ellipsis import GERMAN_THERE
from engine.llm.offline.words import split_words
from engine.text.patterns import compile_late
from engine.text.word_lists import STOP_WORDS

MAX_WORD_LENGTH = 80

_PERSON_PRONOUNS = compile_late(r"\b(?:he|she|him|his|her|hers)\b", re.IGNORECASE)

_GERMAN_VERBS = "ist|war|wird|wurde|hat|hatte|kann|konnte|soll|sollte|muss|musste|darf|durfte"
_FRENCH_MODALS = (
    "peut|peux|puis|pouvons|pouvez|pourrait|pourra|doit|dois|devons|devez|devrait|devra|va|vas|allons|allez"
)
_CLITIC = "(?:les?|la|lui|leur|y|en)"
_FRENCH_VERB = r"\w+(?:(?<!i)er|[iï]r|(?:[aeo]n|in|r)dre)"  # an infinitive; nouns such as "papier" end otherwise
# Words that refer to something said before: "there" not in "is there", "that" not as a conjunction.
_REFERENCES = compile_late(
    r"\b(?:he|she|him|his|her|hers|it|its|they|them|their|this|these|those|one|ones|same)\b"
    r"|(?<!is )(?<!are )(?<!was )(?<!were )(?<!will )(?<!has )(?<!have )(?<!be )(?<!been )\bthere\b"
    r"(?! (?:is|are|was|were|will|has)\b)"
    r"|\b(?:is|was|of|about|for|with|after|before|do|does|did) that\b|\bthat\W*$"
    r"|\b(?:the two|die beiden|l[oa]s dos|les deux|os dois|as duas|you (?:just )?(?:mentioned|listed|named))\b"
    r"|\b(?:ihm|ihn|ihnen|dessen|deren|dort|ella|ellos|ellas|allí|eso|elle|elles|lui|cela|ela|ele|eles"
    rf"|dele|dela|su|sus)\b|\b(?-i:er|sie|ihn)\b|{GERMAN_THERE}"
    # "Il ouvre quand ?", but not "il faut combien ?".
    r"|\bils?(?= (?!(?:y|faut|faudra|faudrait|pleut|neige|gèle|reste|manque|s['’]agit)\b)[^\W\d]+ (?:[^\W\d]+ )?"
    r"(?:combien|quand|où|comment|quoi|pourquoi|à quelle|depuis quand|jusqu['’]à)\b)"
    r"|\bqu['’]ils\b|\w(?:-t)?-ils?\b"
    r"|(?<!, )\b(?:davon|damit|dafür|darin|drin|daran|darauf|darüber|danach|dazu|darum|dagegen|davor|daneben|dahinter"
    r"|darunter)\b(?!,)"
    r"|\b(?:man|ich|wir|du) (?-i:es)\b"
    r"|\b(?:qui|on|je|tu|ils?|elles?|nous|vous|ne|quand|où|comment|pourquoi) l['’](?=\w+\W*\Z)"
    r"|\b(?-i:(?:ihre[nmrs]?|seine?[nmrs]?) (?:[a-zäöüß]{1,30} )?[A-ZÄÖÜ])"  # but "ihr" is also "you"
    r"|\bl['’](?:ai|a|ont|avons|avez|avait|avaient|aura)(?= [^\W\d])"
    # "Est-ce qu'il ferme ?", but not "est-ce qu'il pleut ?"; "la mairie le paie-t-elle ?".
    r"|\best-ce qu['’]il (?!(?:n['’])?(?:y (?:a|avait|aura)|faut|faudra|faudrait|pleut|neige|gèle|fait|s['’]agit|existe"
    r"|reste|manque|est (?:(?:im)?possible|vrai|exact|interdit|permis|obligatoire|prévu|nécessaire)\b))"
    r"|\b(?:le|la|les|lui|leur) [^\W\d]+(?:(?:-t)?-(?:ils?|elles?|on|tu|vous)\b| {3})"  # or a blank for it
    r"|\bleurs?\b|\b(?:est|sont|était|étaient) (?:son|sa|ses)\b|\b(?:dedans|là-bas)(?!\w)"
    r"|\b(?-i:[A-ZÄÖÜ]\w+ (?:davon|dafür))\b"  # "ein Bild davon": the noun is no other subject
    # German "es" after a verb; Spanish "es" is a verb itself.
    rf"|\b(?:{_GERMAN_VERBS}) (?-i:es)\b|\A(?:wann|wo|wie|was|warum|wieso|wer|woher)\b[^?]{{0,20}} \w+t (?-i:es)\b"
    # The object of an infinitive: "peut-on la visiter ?", "¿puedo verla?", "posso visitá-lo?".
    rf"|\b(?:{_FRENCH_MODALS})(?:-t)?-(?:on|je|tu|il|elle|nous|vous) (?:{_CLITIC} |l['’])\w+(?:er|ir|re)\b"
    rf"|-il {_CLITIC} {_FRENCH_VERB}\b|\b(?:leur|lui|en) (?:faut|faudra|faudrait|reste|manque)(?:-t)?-il\b"
    r"|\b(?!(?:perla|charla|mirlo|carla)s?\b)\w+[aei]rl[oa]s?\b|\w[áêéí]-l[oa]s?\b",
    re.IGNORECASE,
)

# An infinitive with an object or a place of its own: "to dry the clay", but not "to repair in summer".
_WITH_OBJECT = (
    r"to \w+ (?:(?!(?:in|on|at|for|with|per|by|after|before|during|when|if|it|them|him|her|this|that|these|those|again"
    r"|now|today|tomorrow|once|twice|every|each|and|or|as|one|there|here|a (?:day|week|month|year))\b)\w"
    r"|(?:in|on|at) (?:the|our) (?!(?:summer|winter|spring|autumn|morning|evening|afternoon|night|weekends?)\b))"
)
_CLAUSE = r"(?:that|whether|who|what|which|when|where|why|how)\b"
_ADVERBS = "(?:(?:be|been|really|still|also|even|only|not|now|already) ){0,2}"
_FOR_WHOM = r"(?:for [^\W\d]+(?: [^\W\d]+){0,2} )?"
# It stands for a thing that is able to do something: "is it ready to take the boats?".
_ABLE = "".join(
    f"(?<!{word} )"
    for word in (
        *("going", "able", "due", "used", "supposed", "designed", "meant", "ready", "made", "built", "open", "big"),
        *("small", "strong", "enough", "there"),
    )
)
_JUDGED = (
    r"(?:[^\W\d]+ that\b|true [^\W\d]|worth [^\W\d]+ing (?:the|a|an|our|my)\b"
    rf"|(?:known|clear|certain|decided|agreed|planned|important|relevant|obvious) {_CLAUSE}"
    r"|(?:possible|impossible|necessary|permitted|forbidden|prohibited|legal|illegal|better|best|ok|okay|fine|wise"
    rf"|normal|mandatory|obligatory|compulsory|customary|common|usual) {_FOR_WHOM}to\b"
    rf"|(?:too |a |an )?[^\W\d]+ (?:idea )?{_ABLE}{_FOR_WHOM}{_WITH_OBJECT})"
)
# What the pronoun stands for follows, or is the weather or the time.
_ENGLISH = (
    r"\b(it)(?= (?:be |been )?(?:rain|snow|hail|thunder|drizzl)(?:s|e|ing)?\b)",
    rf"\b(it)(?=(?: is| was|['’]s)? {_ADVERBS}{_JUDGED})",
    (
        rf"\b(it)(?= (?:really |usually |normally |actually )?(?:takes?|took|costs?|helps?|hurts?)"
        rf" (?:[^\W\d]+ ){{0,3}}{_WITH_OBJECT})"
    ),
    rf"\b(it)(?= (?:really )?(?:matters? {_CLAUSE}|makes? sense (?:to|that)\b))",
    r"\b(?:why|how) (?:is|was) (it)(?= that\b)",
    rf"\bhow [^\W\d]+ (?:is|was|would) (it)(?= (?:be )?{_WITH_OBJECT})",
    (
        r"\b(it)(?= (?:so |too |very |always )?(?:cold|warm|hot|dark|loud|noisy|quiet|windy|crowded|busy)"
        r" (?:in|at|on) (?:the|our) (?!(?:summer|winter|spring|autumn|morning|evening|afternoon|weekends?)\b))"
    ),
    r"\b(?:what|which) (?:time|day|date|month|year) (?:is|was) (it)\b",
)
_JUDGED_IN_FRENCH = (
    r"(?:\w+ment |très |trop |encore |aussi )?"
    r"(?:(?:im)?possible|vrai|exact|faux|interdit|permis|nécessaire|obligatoire|prévu|(?:in)?utile|important"
    r"|(?:dé)?conseillé|recommandé|préférable|autorisé|défendu|facile|difficile|dangereux|prudent|normal|courant"
    r"|temps|tard|tôt|question|bon|clair|certain) (?:de |d['’]|que |qu['’])"
)
_FRENCH = (
    # With nothing but a verb behind it, it asks on: "que faut-il apporter ?".
    (
        r"(?<!leur )(?<!lui )(?<!\ben )\b(?:faut|faudra|faudrait|fallait)((?:-t)?-il)\b"
        rf"(?! {_CLITIC} {_FRENCH_VERB}\b)(?!(?: \w+(?:er|ir|re))?\W*\Z)"
    ),
    r"\by (?:a|avait|aura|aurait)((?:-t)?-il)\b",
    r"\b(?:peut|doit|devrait|pourrait|va)((?:-t)?-il) (?=y avoir|falloir|s['’]agir)",
    r"\b(?:exist\w{1,5}|agit|agissait|pleut|pleuvra|neige|neigera|gèle)((?:-t)?-il)\b",
    rf"\b(?:est|était|sera|serait|semble)((?:-t)?-il) (?={_JUDGED_IN_FRENCH})",
    (
        r"\bfait(-il) (?=(?:(?:très |si |trop |aussi |plus |moins )?"
        r"(?:froid|chaud|beau|bon|jour|nuit|noir|sombre|doux|frais|humide|mauvais)\b|qu))"
    ),
    (
        r"\b(?:reste|restera|manque|manquera)(-t-il) (?=(?:de|des|du|un|une|avant|assez|encore|beaucoup|\d+)\b|d['’]"
        r"|à \w+(?:er|ir|re)\b)"
    ),
    r"\b(?:convient|suffit|vaut|importe|arrive|peut|semble)((?:-t)?-il) (?=(?:mieux|de|souvent|parfois)\b|d['’]|qu)",
    r"\bqu['’]est(-il) arrivé\b|\bque s['’]est(-il) (?:passé|dit|produit)\b",
    r"\bquelle heure est(-il)\b",
    # A noun before the verb is what the pronoun repeats: "quand la piscine ouvre-t-elle ?".
    (
        rf"\b(?:(?:les?|la|un|une|des|ce|cet|cette|ces|mon|ma|mes|notre|nos|votre|vos) |l['’])(?!{_CLITIC} )[^\W\d]+ "
        r"(?:[^\W\d]+[ '’]){0,8}[^\W\d]+((?:-t)?-(?:ils?|elles?))\b"
    ),
)
_GERMAN_TIME = r"(?:sommer|winter|herbst|frühling|frühjahr|\w*(?:tag|abend|mittag|morgen|nacht|woche(?:nende)?))\b"
_GERMAN_CLAUSE = (
    r"(?:, (?!um\b)(?:(?:dass|ob|wer|was|wann|wo|wie)\b"
    r"|[^?]{0,60}\b\w{0,20}zu(?:\b|\w{2,20}n\b))| (?:dass|ob|zu [^\W\d]+en)\b)"
)
_GERMAN = (
    r"\b(?:gibt|gab|gäbe|geht|ging|handelt|regnet|schneit|hagelt|lohnt) (es)\b",
    r"\bkommt (es)(?= (?:[^\W\d]+ )?(?:zu|zum|zur|darauf|vor)\b|, dass\b)",
    rf"\b(?:{_GERMAN_VERBS}|wäre) (es)(?= [^,?]{{1,40}}{_GERMAN_CLAUSE})",
    r"\b(?:dauert|dauerte|braucht) (es)(?= ?[^?,]{0,40}, (?:bis|um)\b)",
    r"\b(?:wird|soll|kann|wurde) (es)(?=[^?]{1,80} geben\b)",
    (
        rf"\b(?:{_GERMAN_VERBS}) (es)(?= (?:im|in|am|auf|an|bei) (?!{_GERMAN_TIME})"
        r"[^?]{1,40} (?:kalt|warm|heiß|laut|dunkel|hell|still|voll|eng|nass|feucht|stickig)\b)"
    ),
    r"\b(?:spät|viel uhr) (?:ist|war) (es)\b",
)
_IMPERSONAL = tuple(compile_late(pattern, re.IGNORECASE) for pattern in (*_ENGLISH, *_FRENCH, *_GERMAN))
_PHRASE = (
    r"(?: (?:of|in|at|on|from|de|del|des|du|do|da|en|à|au) (?:(?:the|our|la|el|los|las|le|les|o|a|os|as) )?[^\W\d]+)?"
)
_NO_VERB = (
    r"(?:(?:do|does|did|are|were|have|can|will|would|should|must) (?:they|their)\b"
    r"|(?:of|for|from|in|at|on|to|by|with|and|or|their|they|them|de|del|des|du|da|dos|en|em"
    r"|à|au|aux|con|com|avec|para|por|pour|y|e|et|o|ou|son|es|sont|est|são|é|su|sus|quand|quando|cuando|when)\b)"
)
# Several people or things whom a question names, with the beginning of what it says of them.
_NAMED = compile_late(
    r"\b(?:(?:which|what|how many|the|all|our|most|some|quels|quelles|combien de|les|nos|qué|cuántos|cuántas|los|las"
    r"|nuestros|nuestras|quais|quantos|quantas|os|as|do|did|have|are|were|will|can|should|must|may) "
    r"(?!(?:they|we|you|i|it|he|she)\b)(?:[^\W\d]+ )?"
    r"(?:(?!(?:does|was|has)\b)[^\W\d]{2,}[^\Ws]s|people|children|men|women)"
    r"|(?:every|each) [^\W\d]+|(?:any|every|some)(?:one|body)|nobody)"
    rf"{_PHRASE} (?!{_NO_VERB})[^\W\d]++(?!-)",
    re.IGNORECASE,
)
_THEIRS = compile_late(
    r"\b(?:they|them|theirs?|ils|elles|eux|leurs?|ellos|ellas|sus?|eles|elas|deles|delas)\b", re.IGNORECASE
)
_GERMAN_NOUN = compile_late(
    r"\b(?:[Dd](?:er|ie|as|en|em)|[Ww]elche[rsnm]?|[Aa]lle|[Uu]nsere?[rnms]?|[Kk]?[Ee]ine?[rnms]?|[Jj]ede[rsnm]?)"
    r" (?:[a-zäöüß]+ )?[A-ZÄÖÜ][^\W\d]+"
)
# In a clause that follows the noun which it means.
_GERMAN_OWN = compile_late(
    r"\b(?:wenn|dass|weil|bevor|nachdem|falls|sobald|ob|damit|während|bis|als|obwohl) (er|sie|es|ihn|ihm|ihnen)\b"
    r"| (ihre?[nm]?|seine?[nm]?)\b"
    r"|, (?:(?:mit|von|in|bei|nach|für|aus) )?(deren|dessen)\b"
)


def find_reference(question: str) -> re.Match[str] | None:
    """The first word that refers to something said before."""
    return _REFERENCES.search(question)


def blank_own(question: str) -> str:
    """The question with blanks for pronouns that refer to nothing, or to what it names itself."""
    for pattern in _IMPERSONAL:
        question = pattern.sub(_blank, question)
    if found := _NAMED.search(question):
        question = question[: found.end()] + _THEIRS.sub(_blank, question[found.end() :])
    if noun := _GERMAN_NOUN.search(question):
        question = question[: noun.end()] + _GERMAN_OWN.sub(_blank, question[noun.end() :])
    return question


def _blank(found: re.Match[str]) -> str:
    """The match with blanks for its group, or for all of it if it has none."""
    start, end = (place - found.start() for place in found.span(found.lastindex or 0))
    return found[0][:start] + " " * (end - start) + found[0][end:]


def has_person_pronoun(question: str) -> bool:
    """Whether a question names somebody by a pronoun alone."""
    return bool(_PERSON_PRONOUNS.search(question))


def replace_pronoun(question: str, person: str) -> str:
    """The question with the person's name for the pronoun; "her" and "his" before a noun become possessive."""

    def instead(match: re.Match[str]) -> str:
        following = split_words(question[match.end() : match.end() + MAX_WORD_LENGTH])[:1]
        has_noun = bool(following) and following[0].lower() not in STOP_WORDS
        owns = match[0].lower() == "his" or (match[0].lower() == "her" and has_noun)
        return f"{person}'s" if owns else person

    return _PERSON_PRONOUNS.sub(instead, question)
