"""Tell by its grammar what a message without a question mark is, where its words mislead. Pure.

It tells something if

1. it begins with a clause that is the subject of what follows: "what you said was right", "whoever is last locks up",
2. it says what its author did or is about to do: "arreglé la fuga", "Ada's going to bring it",
3. it gives a time or an amount behind the name of something: "gate: 9:30", or what is new: "new day: Wednesday",
4. it asks to be waited for, which is no question to a bot, or closes a matter: "found it, never mind",
5. it says who is not there or what has run out: "Ada's off sick today", "no more lamps",
6. it supposes something, or puts a word in the place of another: "maybe Ada signs tomorrow", "not Lyon, Lille".

Where a later part begins as a question or a request does, it leaves that open. It asks something if

7. its last clause begins with a verb and a pronoun: "they charge 12 euros, is that right",
8. it ends with a word that wants to be confirmed, or offers an alternative: "we are forty, oder", "… or just the bill",
9. it names all that somebody said: "todo lo que dijo Julia del tejado",
10. it says that its author cannot get in: "no luck with the portal login".
"""

from __future__ import annotations

import re
from typing import Literal

from bot.text.speech import phrases
from engine.text.patterns import compile_late
from engine.text.time_spans import MONTHS, WEEKDAYS

MAX_LENGTH = 240  # characters of a message that is so plain
_PARTS, _WORD = compile_late(r"[,.;:!\n。、]|\s[–-]\s"), compile_late(r"[^\W\d_]+")
# What begins a request, alone or behind something that is told.
_REQUESTS = phrases.IMPERATIVES | phrases.parse_words(
    """
    list open remind read summarise translate write zeige erinnere fasse liste schreib lies rappelle résume envoie dis
    dites montrez donnez trouvez manda mándame mandame enséñame dígame pásame lista resume resúmeme recuérdame resumir
    manda mande diga diz lembre resuma liste
    """
)
_RIGHT = (
    r"(?:(?:not|nicht|no|não|pas|so|quite|really|totally|ganz|genau|muy|très|bien|super|bem|übrigens"
    r"|leider|schon|jetzt"
    r"|still|now) )?(?:right|wrong|true|false|correct|incorrect|outdated|out of date|old|fine|good|great|helpful|nice"
    r"|(?:richtig|falsch|wahr|veraltet|überholt|gut|korrekt|hilfreich)|(?:juste?s?|fauxe?|vraie?s?"
    r"|exacte?s?|périmée?s?"
    r"|correcte?s?|bone?s?|utiles?)|(?:correct|incorrect|fals|ciert|buen|viej|desfasad)[oa]s?|verdad|bien|mal"
    r"|(?:cert|errad|corret|desatualizad|velh|bo)[oma]s?|verdade|perfe[ic]to?s?)"
)
_ASIDE = r"(?: (?:anyway|btw|by the way|now|übrigens|au fait|d'ailleurs|por cierto|aliás|though))?\Z"
_SUBJECT_CLAUSE = compile_late(
    rf"(?:what (?:you|he|she|we|i|they|it) [^?]{{1,120}} (?:is|was|were|are) {_RIGHT}{_ASIDE}"
    r"|whoever \w"
    r"|how (?:the|a|an|our|my|this|it) [^?]{1,80} (?:is|was|are) (?:explained|described|documented|written|shown) "
    rf"|was (?:du|er|sie|ihr|wir|ich|man) [^?]{{1,120}} (?:stimmt|stimmte)(?: (?:nicht|leider nicht|so|schon))?{_ASIDE}"
    rf"|was (?:du|er|sie|ihr|wir|ich|man) [^?]{{1,120}} (?:ist|war|sind|waren) {_RIGHT}{_ASIDE}"
    rf"|ce qu(?:e|i|')[^?]{{1,120}} (?:est|était|sont|étaient) {_RIGHT}{_ASIDE}"
    rf"|lo que [^?]{{1,120}} (?:es|era|son|está|estaba|fue) {_RIGHT}{_ASIDE}"
    rf"|o que (?:voc[eê]s?|vc|tu|el[ea]s?|a gente|nós|eu|o|a) [^?]{{1,120}} (?:é|era|está|tá|tava|estava|foi) "
    rf"{_RIGHT}{_ASIDE}"
    r"|(?:le|la) (?:premi(?:er|ère)|derni(?:er|ère)) (?:qui (?!(?:a|avait|est|était)\b)|à (?!avoir\b|être\b))\w"
    r"|(?:el|la) (?:primer[oa]|últim[oa]) (?:que|en) (?!\w*ó\b|(?:tuvo|hizo|fue|vino|dijo|estuvo|pudo|ha|había)\b)\w"
    r"|(?:o|a) (?:primeir[oa]|últim[oa]) (?:que|a) (?!\w*[oei]u\b|(?:teve|fez|foi|veio|disse|esteve)\b)\w"
    r"|(?:der|die) (?:erste|letzte) (?:macht|schließt|nimmt) "
    r"|quem (?:sair|chegar|quiser|precisar|tiver|for|vier|puder|vir|ficar|usar|fizer) )"
)
# The first person of a Spanish or Portuguese past, a French one, and what somebody is about to do.
_DID = compile_late(
    r"(?:(?:ya|já|hoy|hoje|ayer|ontem) )?(?!(?:qué|porqué|sé|olvidé|perdí|busqué|intenté|sei|saberei"
    r"|esqueci|perdi|procurei"
    r"|tentei|precisei|gostei|adorei|olhei|li|leí|vi)\b)(?:\w{3,20}(?:é|ei)|consegui|pedí|pedi|abrí"
    r"|abri|escribí|recibí"
    r"|recebi|subí|subi) "
    r"(?:el|la|los|las|un|una|al|o|a|os|as|um|uma|com|con|mi|meu|minha|todo|tudo) \w"
    r"|j'ai (?:(?:bien|déjà|aussi|tout|enfin) )?(?!oubli|perdu|égar|cherch|essay|lu\b|vu\b|regard"
    r"|besoin|demand)\w{2,20}"
    r"(?:é|i|is|it|u|ert) (?:le|la|les|l'|un|une|du|des|au|aux|avec|ce|cette|mon|ma|mes|tout) ?\w"
    r"|(?!who\b|what\b|when\b|where\b|which\b|how\b)(?:the )?[^\W\d]{1,20}(?:'s| is|'re| are"
    r"|'m) (?:going to|gonna|about to) \w"
)
_FINDS_NOTHING = compile_late(r"[.;] |\b(?:no|nada|não|nao|rien|pas)\b")
_DAYS = "|".join(
    sorted({*WEEKDAYS, *MONTHS, "tomorrow", "morgen", "demain", "mañana", "amanhã"}, key=len, reverse=True)
)
_VALUE = compile_late(
    r"[^:?=\n]{2,50}? ?: (?:(?:now|jetzt|ahora|agora|maintenant|um|at|à|a las|às|ab) )?"
    r"\d{1,6}(?:[.:h]\d{2})? ?(?:h|uhr|am|pm|€|eur|euros?|%|\$)?(?: (?:now|instead|jetzt))?"
    r"|(?:the )?(?:new|neue[rs]?|nouveau|nouvel(?:le)?|nuev[oa]|nov[oa]) [^:?\n]{2,50}? ?: (?:(?:am"
    r"|le|el|a|on|na|no) )?"
    rf"(?:{_DAYS})s?"
)
# "Maybe Marta signs tomorrow", but not "maybe you know who signs".
_HEDGED = compile_late(
    r"(?>maybe|perhaps|vielleicht|eventuell|peut-être(?: que| qu')?|quizás?|tal vez|a lo mejor"
    r"|talvez) ?+(?!(?:an|the|is|are|some|more|two|three|noch|ein|une?|unas?|unos|uma?)\b|(?<=maybe |rhaps )a\b)"
    r"(?!.{0,60}\b(?:you|du|ihr|tu|vous|ustedes|usted|vosotros|voc[eê]s?|vc|know|weiß|sait|sabe"
    r"|any\w+|jemand|quelqu'un|alguien"
    r"|alguém|who|what|when|where|why|how|wer|wann|wo|wie|warum|ob|qui|quand|où|comment|quién|cuándo|dónde|cómo|quem"
    r"|quando|onde|como|can|could|kann|kannst|peux|puedes|pode)\b)(?P<first>\w{1,20}) \w{2,20} \w"
)
_REPLACES = compile_late(
    r"(?:not|nicht|pas|no|não|nein nicht) (?!idea|sure|so|yet|mal|todavía|ainda)[^\W\d]{2,20}, "
    r"(?!(?:who|what|when|where|how|wer|wann|wo|wie|qui|où|quién|quem|but|sondern|sorry|thanks|danke"
    r"|merci|gracias)\b)"
    r"[^\W\d]{2,20}"
)
_OPEN_VALUE = compile_late(
    r"\b(?:error|fehler|erreur|code \d|ticket|order|invoice|rechnung|facture|factura|fatura|pedido)\b"
)
_WAITS = compile_late(
    r"(?:please |bitte )?(?:wait (?:up )?for (?:me|us)|wart(?:e|et)? (?:bitte )?auf (?:mich|uns)"
    r"|attend(?:s|ez)[- ](?:moi|nous)"
    r"|esp[eé]r(?:a|en)(?:me|nos)|(?:me|nos) espera|espera (?:por mim|a gente)|待って(?:て"
    r"|いて)?(?:ください|ね|下さい)?)"
    r"(?:,? [^?]{1,80})?"
)
_CLOSINGS = (
    r"(?:(?:i |hab(?:e)? (?:e?s )?|j'ai |ya |já )?(?:found it|got it|gefunden|habs|trouvé"
    r"|(?:lo )?encontr(?:é|ado)|achei|solved"
    r"|sorted|done|works(?: now)?|erledigt|listo|pronto|resuelto|resolvido|réglé)|never ?mind|nvm"
    r"|forget it|hat sich erledigt"
    r"|hat geklappt|passt(?: so)?|läuft|vergiss es|laisse tomber|c'est bon|ça (?:roule|marche)|nickel|impec(?:cable)?"
    r"|olv[ií]dalo|d[eé]jalo|ya (?:está|funciona)|deixa pra lá|esquece|deu certo(?: aqui)?|funcionou|cool|all good"
    r"|(?:that(?:'s| was|s)? )?(?:exactly |just )?what i (?:needed|wanted)"
    r"|genau das (?:hab(?:e)? ich gebraucht|brauchte ich)"
    r"|c'(?:est|était) (?:exactement |juste |pile )?ce qu'il me fallait|(?:es |era )?justo lo que necesitaba"
    r"|era (?:só |exatamente )?isso (?:que (?:eu )?precisava|mesmo)|that did (?:it|the trick)"
    r"|yep|ok(?:ay)?|danke|merci|gracias|obrigad[oa]|thanks|thx)"
)
_CLOSES = compile_late(rf"{_CLOSINGS}(?:[\s,.;!–-]{{1,3}}{_CLOSINGS}){{0,4}}")
_ASKING_CLAUSE = compile_late(
    r"\w \w{1,30} \w{1,30}\s?[,;.!–-]\s+(?:and |aber |und |but )?"
    r"(?:(?:is|are|was|were|do|does|did|can|could|should|shall|would|will|has|have|must)(?:n't)? "
    r"(?:i|we|you|he|she|it|they|that|this|there|these|those|anyone|anybody|someone|somebody)\b"
    r"|(?:ist|sind|war|hat|haben|kann|können|darf|dürfen|soll|sollen|gilt|gelten|geht|stimmt|passt"
    r"|reicht|weißt|gibt) "
    r"(?:das|es|die|der|er|wir|man|du|ihr|da|jemand|dort)(?: (?:noch|schon|auch|so|denn|eigentlich"
    r"|richtig|jetzt|noch nicht"
    r"|heute|wirklich|hier|nach|für|dann|was|wer|immer|überhaupt)\b|\Z)"
    r"|se puede |puedo |podemos |posso |hay (?:algun|algún)|existe (?:algum|alguma)|dá pra |pode-se )"
    r"[^,;.?!]{0,80}\Z"
)
_SUBORDINATE = compile_late(
    r"\b(?:wenn|falls|weil|als|nachdem|sobald|bevor|obwohl|damit|je|sonst|deshalb|daher|deswegen"
    r"|so|nor|neither|cuando"
    r"|si|quando|se)\b"
)
_TAG = compile_late(
    r"\w \w{1,30}(?:,? (?:oder|gell|hein|né|ne|eh)|, (?:right|no|non|verdad|não é|não|certo|or|wa|stimmts|correct))\Z"
)
# "They left an offer or just the bill", without the order of a question; news that are asked for.
_ALTERNATIVE = compile_late(
    r"\w \w{1,30},? (?:(?:or|oder) (?:just|only|still|already|nur|noch|schon|doch) |ou (?:juste"
    r"|seulement|encore|toujours"
    r"|déjà|só|ainda|já|apenas) |o (?:solo|sólo|todavía|aún|ya|sigue[ns]?) )\w"
    r"|[,.;–-] (?:any (?:word|news|updates?|idea|luck|progress)\b|gibt['’ ]?e?s (?:schon |da )?(?:was|etwas) neues"
    r"|(?:des|une) nouvelles?\b|alguna? (?:novedad|noticia)|se sabe algo|alguma (?:not[ií]cia|novidade))"
)
_NOT_ALTERNATIVE = compile_late(
    r"\b(?:whether|either|if|entweder|ob|wenn|soit|sea|seja|si|se|no matter|egal|may|might|can|kann|können|peut|puede"
    r"|pode|one|two|three|zwei|drei|deux|trois|dos|tres|dois|três|ein|\d+)\b"
)
_SEARCHED = compile_late(  # what was there before: "the handover list, it was here yesterday"
    r"[^?,]{3,60}, (?:(?:i swear|i thought|ich schwöre|te lo juro|juro que|pourtant|ayer|ontem|hier|gestern) )?"
    r"(?:it was (?:right )?here|estaba (?:aquí|ahí)|elle? était (?:là|ici)|il était (?:là|ici)"
    r"|(?:es )?tava aqui|estava aqui"
    r"|(?:die|der|das) (?:lag|war|hing|stand) doch\b)"
)
_HOW_IT_GOES = compile_late(
    r"(?:como (?:tá|está|estão|vai|vão|anda|ficou) (?:o|a|os|as|ess[ae]|isso|indo|sendo) [^,?]{3,60}"
    r"|ça (?:avance|se passe|donne quoi) [^,?]{3,60}"
    r"|o que (?:rolou|aconteceu|houve|teve|mudou)(?! [^?]{0,60}\b(?:foi|é|era|foram)\b)[^,?]{0,60}"
    r"|hieß es nicht [^,?]{2,60})\Z"
)
_ALL_SAID = compile_late(
    r"(?:todo lo que|tudo (?:o )?que|tout ce qu(?:e|i|')|alles,? was|everything|all(?: that)?) "
    r"(?!.{0,120}\b(?:is|was|are|ist|war|es|está|era|é|tá|tava|est|était|works?|funciona|stimmt|passt|(?!posted|shared)\w{2,}ed)\b)"
    r"[^?]{0,60}\b(?:said|wrote|posted|sent|shared|gesagt|geschrieben|gepostet|geschickt|dit|écrit"
    r"|posté|envoyé|dijo|dijeron"
    r"|escribi[óo]|escribieron|mandó|publicó|disse|falou|falaram|escreveu|mandou|postou)\b"
    r"(?! (?:an?|the|their|it|back)\b)"
)
_LOCKED_OUT = compile_late(
    r"(?:no luck (?:with|getting|finding|logging)\b(?!.{0,80}, so )|(?:still )?locked out of "
    r"|[^?]{0,80}\b(?:impossible (?:de (?:me |se )?(?:connecter|trouver|ouvrir|accéder|imprimer"
    r"|retrouver)|d'ouvrir|d'accéder)"
    r"|komm(?:e)? ich (?:nicht|nimmer) (?:mehr )?(?:ins?|auf|an|rein)\b|no (?:me deja|consigo"
    r"|logro) (?:entrar|abrir|acceder"
    r"|imprimir)|no entro (?:en|al?)\b|não (?:entro|tô conseguindo|estou conseguindo|me deixa)\b))"
)
# Passes a question on: "Ron wants to know if the hall is heated".
_PASSED_ON = compile_late(
    r"\b(?:(?:wants?|would like|need|needs) to know|(?:is|are|keeps?) asking"
    r"|(?:will|wollen|möchte|möchten) wissen|fragt|quieren? saber"
    r"|pregunta|veut savoir|veulent savoir|demande|quer(?:em)? saber|pergunta),? "
    r"(?:if|whether|who|what|when|where|why|how|which|ob|wer|was|wann|wo|warum|wie|si|quién|qué|cuándo|dónde|cómo|cuánto"
    r"|qui|quand|où|comment|combien|se|quem|quando|onde|como|quanto)\b",
    re.IGNORECASE,
)
_PASSED_ON_UNSPACED = compile_late(r"か(?:を|、)?(?:知りたが|聞いて(?:い|る|ます)|聞かれ)")
# Names who or what is wanted instead: "no, the one who has the key".
_SOUGHT_UNSPACED = compile_late(r"\A(?:いや|いいえ|違う|違います)[、。][^、。は]{1,20}[るた](?:人|方|もの|やつ)\Z")
# "Le maçon a-t-il fini": a French verb before its pronoun, behind a noun.
_INVERTED = compile_late(r"\A(?!peut-être|sans doute)[^,.;:!«\n]{0,60}\w-t-(?:ils?|elles?|on)\b", re.IGNORECASE)
# What somebody wanted who asks again: a thing that both know, or to know something; not "no, we need nine chairs".
_SOUGHT = (
    r"(?= (?:just |only |nur |eher |juste |só |solo )?(?:(?:the|that|this|those|these|another|to (?:ask|know|see)"
    r"|d(?:ie|en|as|er)|eine?n? andere\w{0,2}|wissen|les?|la|celles?|celui|ceux|une? autre|savoir|el|l[oa]s?|otr[oa]"
    r"|saber|[oa]s?|outr[oa])\b|l['’]))"
)
# Puts right what its author wanted: "no, I meant the other one", but not "no, I meant Rolf, not Ralf".
_MEANT = compile_late(
    r"\A(?:no+|nope|nah|nee?|nein|nö|non|não|nao)[\s,.;:!–-]{1,4}"
    r"(?:(?:that(?:['’]s| is) not what i (?:meant|asked)|das meint?e? ich nicht|eso no|isso não)[\s,.;:!–-]{1,4})?"
    rf"(?:(?:i|we) (?:meant|(?:was|were) asking|(?:wanted|need(?:ed)?|(?:was|were) looking for){_SOUGHT})"
    rf"|(?:ich|wir) (?:meint?en?|suchten?|(?:wollten?|will|bräuchten?){_SOUGHT})"
    rf"|je (?:parlais|cherchais|pensais (?:à|au)|voulais{_SOUGHT})|on voulait{_SOUGHT}"
    rf"|(?:yo )?(?:buscaba|hablaba de|me refería|quería{_SOUGHT})"
    rf"|(?:eu )?(?:procurava|quis dizer|falava|estava falando|queria{_SOUGHT}))"
    r"\b(?![^?]{0,80}, (?:not|nicht|pas|no|não)\b)",
    re.IGNORECASE,
)
# Somebody who is not there, with the verb drawn to the name, and what has run out.
_ABSENT = compile_late(
    r"(?!(?:who|what|where|when|how|why|that|there|here|let|it)\b)[^\W\d]{2,20}'s (?:not )?"
    r"(?:off(?: sick)?|out(?: sick)?|away|sick|ill|late|back|gone|on (?:leave|holiday|vacation|a call)|in a meeting|in)"
    r"(?: (?:today|tomorrow|now|until|till|from|for|on|this|next|since|again|with|at|all)\b.{0,60})?"
    r"|(?:(?:we(?:'re| are) )?(?:all )?out of|no more) (?!(?:date|curiosity|than)\b)[^?]{2,40}(?: left)?"
    r"|plus (?:de |d'(?!une? )|du |aucun )(?!(?:infos?|photos?|images?|chiffres|nouvelles|choix|liens?"
    r"|informations?|détails?|précisions?|renseignements?|contexte|exemples?"
    r"|temps)\b)[^?]{2,40}"
    r"|keine?n? [^?]{2,40} mehr(?: da)?"
)
_FORMS_OF_QUESTIONS = (_PASSED_ON, _PASSED_ON_UNSPACED, _SOUGHT_UNSPACED, _INVERTED, _MEANT)


def asks_by_form(text: str) -> bool:
    """Whether a form shows that a text without mentions asks, whatever else it says."""
    return any(pattern.search(text) for pattern in _FORMS_OF_QUESTIONS)


def read_construction(text: str) -> Literal["question", "statement", "thanks", ""]:
    """What the grammar of a text without mentions and question marks shows; empty if it leaves that open."""
    plain = " ".join(text.casefold().replace("’", "'").split()).rstrip(" .!。！…:)(")
    if not 0 < len(plain) <= MAX_LENGTH:
        return ""
    if _CLOSES.fullmatch(plain):
        return "thanks"
    if _asks(plain):
        return "question"
    if any(map(_begins_to_ask, _PARTS.split(text.casefold())[1:])):
        return ""
    gives = _VALUE.fullmatch(plain) and not _OPEN_VALUE.search(plain)
    did = _DID.match(plain) and not _FINDS_NOTHING.search(plain)
    others = (
        _SUBJECT_CLAUSE.match(plain),
        _WAITS.fullmatch(plain),
        _REPLACES.fullmatch(plain),
        _ABSENT.fullmatch(plain),
    )
    tells = gives or did or _supposes(plain) or any(others)
    return "statement" if tells else ""


def _begins_to_ask(part: str) -> bool:
    """Whether a part of a message behind its first one begins as a question or a request does."""
    words = [word for word in _WORD.findall(part) if word not in phrases.CONJUNCTIONS]
    return bool(words) and (words[0] in phrases.QUESTION_WORDS or words[0] in _REQUESTS)


def _supposes(plain: str) -> bool:
    found = _HEDGED.match(plain)
    return found is not None and found["first"] not in _REQUESTS


def _asks(plain: str) -> bool:
    if any(pattern.match(plain) for pattern in (_ALL_SAID, _LOCKED_OUT, _SEARCHED, _HOW_IT_GOES)) or _TAG.search(plain):
        return True
    if (found := _ALTERNATIVE.search(plain)) and not _NOT_ALTERNATIVE.search(plain[: found.end()]):
        return True
    found = _ASKING_CLAUSE.search(plain)
    return found is not None and not _SUBORDINATE.search(plain[: found.start() + 1])
