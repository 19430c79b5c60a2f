"""Patterns of questions that people ask each other, and of idioms that look like requests. Pure.

They are matched from the beginning of the lower-case words of a sentence, without apostrophes or marks.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

_DAY = r"(?:mon|tues|wednes|thurs|fri|satur|sun)day|tomorrow|tonight|noon|later|next \w+|at \w+|\d+\w*"
_DOING = (
    r"(?:bring|com|join|driv|cook|pick|gett|go|gonna|call|buy|host|bak|tell|stay|help|order|organi[sz]|"
    r"taking(?! over| part| office))"
)
_PRAISED = (
    r"(?:great|lovely|nice|funny|cute|beautiful|amazing|something|sweet|ironic|wonderful|gorgeous|awful|sad|crazy|"
    r"weird|odd|typical|obvious|pretty|ridiculous|strange|exciting|adorable|fun|good|bad|wild|cool|awesome|grand|"
    r"fantastic|brilliant|perfect|fabulous|hilarious|rich|interesting|just|the (?:best|worst|truth)|life)"
)
_SOCIAL = re.compile(
    rf"(?:so |and |but |ok )?(?:"
    r"(?:what|where|when|how) are we (?:do|eat|hav|drink|order|watch|play|bring|cook|wear|meet|leav|start|go|sitt|"
    r"stay|driv|celebrat|danc|gett?ing there)(?:ing)?\b|"
    r"who(?:s| is| else is) \w{1,20}ing (?:tonight|today|tomorrow|later|now|too|this weekend|with)\b|"
    rf"who(?: i|a|)s? (?:is |all |else )?{_DOING}(?:ing)?\b|who is {_DOING}(?:ing)?\b|"
    r"are we (?:\w+ing|good|done|still|all|ready|there|set|ok|okay|cool|on|late|early|lost)\b|"
    r"(?:sounds|looks|seems|feels) |(?:same )?(?:time|place|spot|table) (?:tomorrow|again|next)\b|"
    rf"how about (?:{_DAY})\b|what about (?:tonight|me|us)$|"
    r"does \w+(?: \w+)? (?:work|suit)\b.* ?(?:you|everyone|everybody|all|people|us)$|"
    r"when (?:can|could) you (?:do|come|send|meet|call|be|help|finish|make)\b|"
    r"who (?:broke|ate|stole|forgot|took|left|hid|touched|\w{1,20}ed)\b(?: \w{1,20}){0,4} again$|"
    r"(?:\w{1,20} )?(?:would you )?mind (?:\w{1,20} )?\w{1,20}ing\b|"
    r"(?:is|would) it (?:be )?(?:ok|okay|fine|alright|cool|possible)\b(?: \w{1,20}){0,3}? (?:if|for) (?:i|we|me|us)\b|"
    r"can (?:we|i) (?:get|have) (?:this|that|it|these|those|the \w{1,20}) \w{1,20}(?:ed|en|ne)\b|"
    r"(?:kun|kan|wil|zou|heb|ga|kom|mag|ben) (?:je|jij|u)\b|(?:kunnen|willen|hebben|gaan|komen|zullen) (?:jullie|we)\b"
    r")"
)
_INFORMING = re.compile(r"\b(?:uitleggen|vertellen|zeggen|tonen|samenvatten|vertalen|laten zien|opsommen|noemen)\b")
_RHETORICAL = re.compile(
    r"(?:so |and |but )?(?:"
    r"(?:wheres|where is) the (?:fun|joy|logic|love|sense|point|justice|magic|challenge|romance|harm)\b|"
    r"do i (?:need|have) to (?:repeat|say|spell|tell|draw|remind|beg)\b|do (?:i|we) have to .* again$|"
    r"is (?:this|that|the) (?:\w+ )?(?:thing|mic|microphone)? ?(?:on|working)$|"
    r"(?:wer|was|wie|wo|warum|wann|wozu) .{0,80}\bdenn bitte\b|"
    r"(?:why|how) (?:would|could|should|do|does|did|can) (?:any|some|every)(?:one|body)\b|"
    r"(?:what|who)(?:s| is) next (?:a|an|the)\b|"
    r"i (?:guess|suppose|think|hope|mean|bet|swear)\b|"
    r"(?:why not|may i|may we|can i|can we|should i|should we|must i|must we)$|"
    rf"(?:isnt|arent|wasnt|werent|wouldnt|doesnt|hasnt|havent|didnt|dont) (?:it|that|this|he|she|we|they|life|i|you)"
    rf"(?:$|(?: \w+){{0,3}} {_PRAISED}\b)"
    r")"
)
_MATTERS = re.compile(r"does (?:it|that) matter (?:if|whether|which|when|what|how|who|where|for|to)\b")
_NEGATED = re.compile(r"(?:isnt|arent|wasnt|werent|wouldnt|doesnt|hasnt|havent|didnt) (?:it|that|this|they)\b")
_NOT_REQUEST = re.compile(
    r"(?:list|lists|source|sources|the source|details|more details|show|more info|more information|compare|translate|"
    r"repeat|the show)(?: of(?: \w+){1,3}?| \w+)? (?:is|are|was|were|has|have|had|will|would|must|cant|can|say|says|"
    r"said|looks?|seems?|hangs?|hanging|follows?|tells?|told|needs?|isnt|arent|should|may|got|goes|starts?|began)\b|"
    r"(?:explain|describe|say|tell|show|repeat|translate|summari[sz]e) (?:\w+ ){0,3}?to (?:my|our|your|his|her|their|"
    r"him|them)\b|"
    r"(?:explain|describe|repeat|say) (?:that|this|it) to (?:the|a|some|every|any)\b|"
    r"tell (?:me|us) about it$|"
    r"(?:give|gimme)(?: me| us)? (?:a|an|one|two|three|five|ten|\d+|just a|half a|some)(?: \w+)? ?(?:sec|secs|second|"
    r"seconds|min|mins|minute|minutes|moment|moments|hour|hours|break|hand|hug|call|ring|shout|lift|ride|bell|space|"
    r"time|rest|chance)(?: please)?$|"
    r"(?:show|find|name) me (?:a|one|any|some) (?:man|woman|person|one|body|place|town) (?:who|that|where)\b|"
    r"(?:repeat after|go on without|explain yourself|go on (?:then|home))\b|"
    r"(?:details|sources|more details|more info|more (?:on|about) .*) (?:tomorrow|later|soon|below|above|attached)$"
)
_IDIOM = re.compile(r"tell (?:me|us) about it$")
_RELATIVE = re.compile(r"\b(?:that|who|which|where|what|how|if|whether|when|why|all|every|each)\b")
_FOR_ALL = re.compile(
    r"(?!.*\b(?:work|works|ok|okay|fine|suit|suits|good|alright)\b).*\b(?:to|for|by|from|with|of|include|includes|"
    r"cover|covers|affect|affects|concern|concerns)$"
)


_FAMILIAR = re.compile(r"(?:\S{1,20} )?(?:me|nos) \w{2,20}[aeá]s\b")
_INVERTED = re.compile(
    r"(?:ist|sind|war|waren|hat|wird|werden|kann|darf|dürfen|muss|müssen|soll|sollen|steht|kostet|braucht|reicht|zählt|"
    r"kommt|geht|fährt|findet|macht|bekommt|zahlt) (?:das|der|die|es|man|ein|eine|dieser|diese|dieses|da|dort|hier) "
    r"(?!nicht|doch|ja|mal|so|echt|aber|nur)\w{1,30} \w|"
    r"(?!(?:dit|semble|paraît|nest|peut|fait|va)-)[^\W\d]{2,30}-(?:t-)?(?:il|elle|on|ils|elles|ce)\b"
)
_LAUGHTER = re.compile(r"lma+o+|lo+l+|ro+fl+|(?:ha){2,}h?|(?:he){2,}|(?:hi){2,}|(?:ja){2,}|x+d+|k{3,}|mdr+|ptdr+")
_FINAL_QUESTION_WORDS = frozenset({"quand", "où", "combien", "comment", "quoi"})
_UNKNOWING = frozenset({"sais", "sait", "savoir", "savait", "nimporte", "importe", "dis", "dit", "pas"})


def is_laughter(word: str) -> bool:
    """Whether a word is laughter, however long: "lmaooo", "hahahah"."""
    return bool(_LAUGHTER.fullmatch(word))


def addresses_familiarly(words: Sequence[str]) -> bool:
    """Whether a Spanish verb alone says "you": "marta me llamas luego"."""
    return bool(_FAMILIAR.match(" ".join(words)))


def is_foreign_inversion(words: Sequence[str]) -> bool:
    """Whether German or French asks by the order of words, without a mark: "ist das schon entschieden"."""
    last = len(words) > 2 and words[-1] in _FINAL_QUESTION_WORDS and _UNKNOWING.isdisjoint(words)
    return last or bool(_INVERTED.match(" ".join(words)))


def is_social(words: Sequence[str]) -> bool:
    """Whether people ask each other so: to meet, to bring something, to agree."""
    text = " ".join(words)
    return bool(_SOCIAL.match(text)) and not _INFORMING.search(text)


def is_retort(words: Sequence[str]) -> bool:
    """Whether it is asked for effect."""
    return bool(_RHETORICAL.match(" ".join(words)))


def is_sincere(words: Sequence[str]) -> bool:
    """Whether it asks for a fact although it begins like a question for effect: "isn't it closed on Tuesdays"."""
    text = " ".join(words)
    return bool(_MATTERS.match(text)) or (bool(_NEGATED.match(text)) and not is_retort(words))


def is_not_request(words: Sequence[str], first_clause: Sequence[str]) -> bool:
    """Whether what begins like a request is none: "list is in the drawer", "explain that to my wife"."""
    text = " ".join(words)
    found = _NOT_REQUEST.match(text) or _IDIOM.match(" ".join(first_clause))
    return bool(found) and not (text.startswith("list") and _RELATIVE.search(found.group(0) if found else ""))


def asks_about_everyone(words: Sequence[str]) -> bool:
    """Whether "everyone" at the end is part of what is asked: "does the fee apply to everyone"."""
    return bool(_FOR_ALL.match(" ".join(words[:-1])))
