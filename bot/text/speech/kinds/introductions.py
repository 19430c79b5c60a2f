"""Tell what greets the bot, calls it, or asks about the bot itself: "what can you do?". Pure."""

from __future__ import annotations

import re
import unicodedata
from typing import TYPE_CHECKING

from bot.text.speech import phrases
from bot.text.speech.chat_sentences import split_sentences
from bot.text.speech.unspaced_questions import is_unspaced, is_unspaced_greeting
from engine.text.patterns import compile_late

if TYPE_CHECKING:
    from collections.abc import Mapping

_CALLS = phrases.parse_words("test testing ping start prueba prova teste テスト")
# Compared without accents, which people leave out.
_ABOUT_BOT_BY_LANGUAGE: Mapping[str, str] = {
    "en": r"(?:what|who) (?:are|r) (?:you|u)(?: for| good for)?|what can (?:you|u) do(?: for (?:me|us))?"
    r"|what do you (?:do|know)|how (?:do|does|can) (?:you|this|i|we) (?:work|help|help me|use (?:you|this))"
    r"|how can you help(?: me| us)?|help(?: me| us)?(?: please)?|what are you (?:able to do|capable of)"
    r"|are you (?:there|here|up|awake|online|alive|ok|working)|who am i (?:talking|speaking|writing) to|how are you"
    r"|what (?:is|are) (?:this|your|the) (?:bot|commands|features|skills)|what questions can i ask(?: you)?"
    r"|what (?:(?:kind|sort)s? of )?(?:things |questions )?can (?:i|we|one) (?:ask|do)(?: you| with you)?"
    r"|can you help(?: me| us)?|introduce yourself|show me what you can do|who made you"
    r"|(?:is )?any(?:one|body) (?:home|there|here)|what(?:['’]?s| is) your deal",
    "de": r"mit wem (?:rede|spreche|schreibe) ich|wie gehts?(?: es dir| dir)?|(?:ist (?:da |hier )?)?jemand (?:da|hier)"
    r"|was bist du (?:denn |eigentlich )?fur (?:einer|eine|ein bot)"
    r"|was (?:kannst|konntest|tust|machst) du(?: tun| machen)?|(?:wer|was) bist du|wofur bist du (?:da|gut)"
    r"|wie funktionierst du|hilf mir|hilfe(?: bitte)?|bist du (?:da|wach|online)|kannst du (?:mir |uns )?helfen"
    r"|was (?:weißt|weisst) du|wie (?:benutze|nutze) ich dich|wobei kannst du (?:mir |uns )?helfen"
    r"|stell dich(?: bitte)? vor|was kann (?:man|ich) dich(?: alles| so)? fragen",
    "es": r"con quien (?:hablo|estoy hablando)|como estas|(?:hay )?alguien (?:ahi|aqui)|hay alguien"
    r"|que (?:puedes|sabes) hacer(?: por mi)?|quien eres(?: tu)?|que eres|que haces|como funcionas|ayuda|ayudame"
    r"|estas ahi|puedes ayudar(?:me|nos)|que sabes|para que sirves|en que puedes ayudar(?:me|nos)?|presentate"
    r"|que (?:se te puede|puedo|te puedo) preguntar(?:te)?",
    "fr": r"(?:je parle a qui|a qui je parle)|ca va|(?:il )?y a quelqu['’]un"
    r"|(?:on|je) peut?x? te demander quoi(?: au juste)?|qu['’]est-ce que je peux te demander"
    r"|que (?:peux|sais|fais)[ -]tu(?: faire)?|tu (?:peux|sais) faire quoi|tu fais quoi|(?:tu es|t['’]es) (?:qui|quoi)"
    r"|qu['’]est[ -]ce que tu (?:peux|sais) faire|qui es[ -]tu|comment (?:ca marche|(?:tu )?fonctionnes(?:[ -]tu)?)"
    r"|a quoi (?:tu sers|sers[ -]tu)|aide|aide[ -](?:moi|nous)|(?:tu es|t['’]es) la|(?:tu )?peux[ -]?(?:tu )?m['’]aider"
    r"|presente[ -]toi",
    "pt": r"com quem (?:eu )?(?:falo|estou falando)|tudo bem|tem alguem(?: ai)?"
    r"|(?:o )?que (?:da|posso) (?:pra |para )?(?:te )?perguntar"
    r"|o que (?:e que )?(?:voce|vc|tu) (?:(?:pode|podes|sabe|sabes|consegue) (?:fazer)?|faz|e|sabe)"
    r"|quem (?:e|es) (?:voce|vc|tu)|(?:voce|vc|tu) (?:e|es) quem|como (?:voce |vc )?funciona(?:s)?"
    r"|ajuda|me ajuda|ajuda-me"
    r"|(?:voce|vc) (?:esta|ta) ai|estas ai|(?:voce |vc )?pode me ajudar|(?:pra|para) que (?:voce|vc) serve"
    r"|(?:no|em) que (?:voce|vc) pode (?:me )?ajudar|se apresent[ae]",
}
_ABOUT_BOT = compile_late(
    r"(?:so |and |hey |hi |hello |ok |okay |hallo |hola |oi |salut |bonjour )?(?:"
    + "|".join(f"(?P<{language}>{forms})" for language, forms in _ABOUT_BOT_BY_LANGUAGE.items())
    + r")(?: exactly| here| then| again| all| for| alles| denn| eigentlich| genau| exactement| exactamente| mesmo"
    r"| please| bitte| por favor| aqui| hier| ici)*",
    re.IGNORECASE,
)
_ABOUT_BOT_UNSPACED = compile_late(
    r"(?:あなたは|君は|きみは)?(?:(?:何|なに)が(?:できます|できる)(?:の|のです|んです)?か?|(?:誰|だれ|何者)(?:です|なの)?か?)"
    r"|どなたですか|どちら様(?:ですか)?|使い方(?:は|を教えて(?:ください)?)?|自己紹介(?:して(?:ください)?)?|助けて(?:ください)?|いますか|ヘルプ"
    r"|(?:どんな|どういう)(?:こと|質問)(?:を|が)?(?:聞ける|質問できる|聞け|でき)(?:の|ます|る)?か?(?:な)?"
    r"|(?:何|なに)を(?:聞ける|聞いて(?:も)?いい)(?:の|ですか)?"
    r"|(?:何|なに)を(?:してくれるの|してくれますか|知っていますか|知ってるの)"
    r"|你(?:能|会|可以)(?:做|干)?(?:什么|啥)|你是谁|怎么用|帮(?:我|帮我|助)"
)
_ABOUT_ACT = compile_late(r"\b(?:who|whom|what) (?:are|were) (?:you|u) (?!doing\b|being\b)\w{1,20}ing\b", re.IGNORECASE)
_ACCENTS = compile_late("[\u0300-\u036f]")
_KANA = compile_late("[\u3040-\u30ff]")


def asks_about_bot(text: str) -> bool:
    """Whether a text is no more than a question about the bot itself, or a call to it."""
    bare = _strip_marks(text)
    if not bare or bare.casefold() in _CALLS:
        return bool(text.strip())
    return bool(_match_latin(bare) or _ABOUT_BOT_UNSPACED.fullmatch(bare))


def asks_about_act(text: str) -> bool:
    """Whether a text asks for something that "you" do, perhaps of a quoted person: "who are you talking about?"."""
    return bool(_ABOUT_ACT.search(text))


def find_call_language(text: str) -> str:
    """The language of a question about the bot, of a greeting or of thanks; empty if it shows none."""
    bare = _strip_marks(text)
    if (found := _match_latin(bare)) and found.lastgroup:
        return found.lastgroup
    if _KANA.search(bare):
        return "ja"
    words = {word for sentence in split_sentences(text) for word in sentence.words}
    named = [language for language, calls in phrases.CALLS_BY_LANGUAGE.items() if words & calls]
    return named[0] if len(named) == 1 else ""


def _match_latin(bare: str) -> re.Match[str] | None:
    return _ABOUT_BOT.fullmatch(_ACCENTS.sub("", unicodedata.normalize("NFD", bare)))


def _strip_marks(text: str) -> str:
    return text.strip(" ?!.…¿¡？！。:,").strip()


def is_greeting(text: str) -> bool:
    """Whether a text only greets: "hi", "bom dia"."""
    found = split_sentences(text)
    words = [word for sentence in found for word in sentence.words]
    if is_unspaced(together := "".join(words)):
        return is_unspaced_greeting(together)
    greets = not phrases.GREETINGS.isdisjoint(words) or (
        not phrases.TIMES_OF_DAY.isdisjoint(words) and not phrases.WISHES.isdisjoint(words)
    )
    known = phrases.GREETINGS | phrases.TIMES_OF_DAY | phrases.WISHES | phrases.GREETED
    return greets and known.issuperset(words)
