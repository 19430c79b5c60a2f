"""Recognize messages that state nothing: greetings, thanks, agreement, laughter, notices of who came or went. Pure.

A message counts as small talk only if every one of its words is in a closed list of such words, so that a fact is never
taken for it: any name, number, address, file or unknown word makes it a message with something to say.
"""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

from engine.text.cleanup import MESSAGE_TIME

MAX_LENGTH = 120  # characters; whoever writes more says something
MAX_WORDS = 5  # of a phrase

# By language: phrases that state nothing, and after "+" words that state nothing beside one of them. A word that may
# answer a question alone ("tomorrow", "everyone", "yes", "ok") is none of them.
_LANGUAGES = (
    """
    hi | hey | hello | hiya | howdy | good morning | good afternoon | good evening | good night | good day | bye
    bye bye | goodbye | see you | see ya | cya | cheers | thanks | thank you | thanks a lot | thank you so much
    thank you very much | many thanks | thx | ty | tysm | much appreciated | no worries | np | you're welcome
    my pleasure | sorry | my bad | oops | nice | great | awesome | cool | amazing | brilliant | lovely | wow | yay
    well done | good job | great job | nice work | congrats | congratulations | happy birthday | have a nice day
    have a great day | have a good one | have a nice weekend | have a good weekend | have a great weekend | happy friday
    take care | good luck | how are you | how's it going | hows it going | what's up | whats up | get well soon
    morning all | morning everyone | morning team | morning folks | hope you're well | lol | rofl | lmao | xd
    + all | everyone | everybody | team | folks | guys | there | again | so much | very much
    """,
    """
    hallo | moin | moin moin | servus | guten morgen | guten tag | guten abend | gute nacht | tschüss | tschüs | danke
    danke dir | danke euch | danke schön | dankeschön | vielen dank | vielen lieben dank | herzlichen dank | danke sehr
    besten dank | gern geschehen | kein problem | entschuldigung | super | prima | toll | klasse | alles gute
    alles gute zum geburtstag | herzlichen glückwunsch | glückwunsch | mahlzeit | schönen feierabend
    schönes wochenende | schönen tag | schönen abend | gute besserung | viel erfolg | viel spaß | wie geht's | wie gehts
    + zusammen | alle | allen | euch | euch allen | allerseits | leute | nochmal | team
    """,
    """
    bonjour | salut | coucou | bonsoir | bonne nuit | au revoir | à bientôt | merci | merci beaucoup | merci bien
    mille mercis | de rien | avec plaisir | pas de souci | désolé | désolée | génial | bravo | félicitations
    joyeux anniversaire | bonne journée | bonne soirée | bon week-end | bon weekend | bon appétit | mdr | ça va
    comment ça va | bon courage | bonne chance | bonnes vacances
    + tout le monde | à tous | à toutes | à toutes et à tous | encore | l'équipe
    """,
    """
    hola | buenas | buenos días | buenas tardes | buenas noches | adiós | hasta luego | nos vemos | gracias
    muchas gracias | mil gracias | de nada | con gusto | lo siento | genial | estupendo | felicidades | enhorabuena
    feliz cumpleaños | buen día | buen fin de semana | qué tal | cómo estás | buena suerte | buen viaje | buen provecho
    + a todos | a todas | todos | equipo | de nuevo
    """,
    """
    oi | olá | bom dia | boa tarde | boa noite | tchau | até logo | até mais | obrigado | obrigada | muito obrigado
    muito obrigada | valeu | por nada | desculpa | desculpe | ótimo | parabéns | feliz aniversário | bom fim de semana
    tudo bem | boa sorte | boa viagem | bom descanso
    + pessoal | gente | a todos | a todas | equipe | de novo
    """,
    """
    おはよう | おはようございます | こんにちは | こんばんは | おやすみ | おやすみなさい | お疲れ様です | お疲れさまです
    お疲れ様でした | おつかれさまです | おつかれさまでした | おつかれ | ありがとう | ありがとうございます
    ありがとうございました | どうも | どういたしまして | すみません | ごめんなさい | ごめん | すごい | いいね
    素晴らしい
    おめでとう | おめでとうございます | お誕生日おめでとう | お誕生日おめでとうございます | よろしくお願いします
    よろしくお願いいたします | よろしく | またね | 失礼します | お大事に | お先に失礼します
    + 皆さん | みなさん
    """,
)
# What a platform writes itself when somebody comes or goes; a name stands before it.
_NOTICES = re.compile(
    r"(?<!\S)\S++(?: \S++){0,3}? (?:has )?(?:joined|left) (?:the|this) (?:channel|server)"
    r"|(?:a )?(?:call|huddle) (?:has )?(?:started|ended)|(?:this )?message (?:was|has been) deleted",
    re.IGNORECASE,
)
_CODES = (
    "tada|smile|smiley|grin|joy|rofl|laughing|wave|pray|clap|heart|raised_hands|sweat_smile|slightly_smiling_face|wink"
)
_MARKS = re.compile(rf":(?:{_CODES}):|[:;=]-?[)(DPp]+(?!\w)|<3(?!\d)")  # :tada: and :-)
_LINES = re.compile(rf"^\[{MESSAGE_TIME}\] [^\n:]+: ?", re.MULTILINE)
_LAUGHTER = re.compile(r"(?:a?(?:ha){2,}h?|(?:he){2,}|(?:ja){2,}|k{3,}|w{3,}|(?:rs){2,}|lo+l|笑+|草+)")
_EMOJI = frozenset("😀😃😄😁😆😅😂🤣🙂🙃😉😊😇😍🥰😘😎🤩🥳🤗🤔😴😬🙄😭😢👋🙏👏🙌💪🎉🎊🥂🍻☕❤💜💙💚🧡💛🔥✨🎂🚀🌞☀🌻")
_PLAIN = str.maketrans(
    {"\u2019": "'", "!": " ", ".": " ", ",": " ", "…": " ", "！": " ", "¡": " ", "。": " ", "、": " ", "～": " "}
)


def is_small_talk(text: str) -> bool:
    """Whether a message states nothing: no fact, no question, no consent to one. An empty one states nothing."""
    if len(text) > MAX_LENGTH:
        return False
    if _NOTICES.fullmatch(text.strip().rstrip(".")):
        return True
    words = _split_words(_MARKS.sub(" ", text))
    return not words or any(_consists_of(words, phrases, beside) for phrases, beside in _load_languages())


def is_small_talk_chunk(text: str) -> bool:
    """Whether every message of a piece of a conversation is small talk; its messages are lines with time and author."""
    found = [part for part in _LINES.split(text) if part.strip()]
    return bool(found) and all(is_small_talk(part) for part in found)


def _split_words(text: str) -> tuple[str, ...]:
    """Its words in small letters, without laughter and marks that state nothing: emoji, exclamation marks, commas."""
    plain = "".join(" " if _is_emoji(character) else character for character in unicodedata.normalize("NFC", text))
    return tuple(part for part in plain.casefold().translate(_PLAIN).split() if not _LAUGHTER.fullmatch(part))


def _is_emoji(character: str) -> bool:
    """Whether it is an emoji of a face, a hand or a heart, or what joins them; a check mark, say, may be an answer."""
    return character in _EMOJI or unicodedata.category(character) in {"Sk", "Cf", "Me"} or character == "\ufe0f"


def _consists_of(words: tuple[str, ...], phrases: frozenset[str], beside: frozenset[str]) -> bool:
    """Whether the words are phrases of one language, one after another; the longest at each place counts."""
    at, greets = 0, False
    while at < len(words):
        sizes = range(min(MAX_WORDS, len(words) - at), 0, -1)
        found = next((size for size in sizes if " ".join(words[at : at + size]) in phrases | beside), 0)
        if not found:
            return False
        greets = greets or " ".join(words[at : at + found]) in phrases
        at += found
    return greets


@lru_cache(maxsize=1)
def _load_languages() -> tuple[tuple[frozenset[str], frozenset[str]], ...]:
    """The phrases of each language, and the words that may stand beside them."""
    return tuple(
        (_split_phrases(language.partition("+")[0]), _split_phrases(language.partition("+")[2]))
        for language in _LANGUAGES
    )


def _split_phrases(listed: str) -> frozenset[str]:
    named = listed.replace("\n", "|").split("|")
    return frozenset(unicodedata.normalize("NFC", part.strip()).casefold() for part in named if part.strip())
