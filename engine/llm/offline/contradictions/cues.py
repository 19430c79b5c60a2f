"""The words by which a statement is not taken as what its author says holds, in six languages. Pure data."""

from __future__ import annotations

import re

from engine.text.patterns import compile_late
from engine.text.word_lists import word_set

# Somebody else's words, or words of another place.
HEARSAY = compile_late(
    r"(?<![\w-])(?:sa(?:id|ys?)|claim(?:s|ed)?|told|heard|according to|apparently|allegedly|supposed(?:ly)?|wrote|"
    r"quot(?:e|ed|es)|"
    r"rumou?rs?|wiki|docs?|documentation|manual|readme|example|e\.g|for instance|let's say|suppose|imagine|pretend|"
    r"sagte|sagt|behauptet|laut|angeblich|zum beispiel|z\. ?b|angenommen|geschrieben|"
    r"dit|disait|selon|d'après|paraît|par exemple|supposons|"
    r"dice[ns]?|dijo|según|supuestamente|por ejemplo|diz|disse|segundo|supostamente|por exemplo)(?![\w-])"
    r"|[\"“”„«»]|^\s{0,3}>|```|によると|らしい|例えば|そうです|「",
    re.IGNORECASE,
)
# Not meant as it is said.
JOKE = compile_late(
    r"(?<![\w-])(?:lol|lmao|rofl|jk|just kidding|kidding|joke|jokes|joking|haha\w{0,9}|hehe\w{0,9}|hihi|scherz|witz|"
    r"spaß|mdr|ptdr|"
    r"blague|jaja\w{0,9}|broma|kkk\w{0,9}|rsrs|brincadeira|sarcasm|obviously|of course not)(?![\w-])|/s\b|"
    r"[:;8x][-']?[)DPp(]+(?=\W|\Z)|[\U0001F600-\U0001F64F\U0001F910-\U0001F92F]|[😂🤣😜😉🙃]|\(笑\)|笑|www\Z",
    re.IGNORECASE,
)
# What is wanted or expected, and no fact yet.
PLAN = compile_late(
    r"(?<![\w-])(?:plan(?:s|ned|ning)? (?:to|for|on|is|was)|going to|want(?:s|ed)?|wants? to|aim(?:s|ing)?|target|"
    r"goal|hop(?:e|ing)|"
    r"intend\w{0,3}|expect\w{0,3}|estimat\w{1,4}|forecast|propos\w{1,4}|draft|ideally|ought|must|may be|might|"
    r"need(?:s|ed)?|"
    r"will|would|can|in case|assum\w{1,4}|try(?:ing)?|tentative\w{0,2}|tbd|wip|idea|option|"
    r"plan(?:en|t|ung)?|geplant|möchte\w?|wollen|will|soll\w{0,3}|ziel|erwart\w{1,4}|entwurf|"
    r"prévo\w{1,4}|envisag\w{1,4}|voul\w{1,4}|veut|souhait\w{1,4}|objectif|brouillon|devra\w{0,3}|"
    r"planea\w{0,3}|quer\w{1,4}|quier\w{1,3}|objetivo|borrador|debería\w{0,2}|"
    r"pretend\w{1,4}|planej\w{1,4}|meta|rascunho|deveria\w?)(?![\w-])|予定|つもり|したい|案",
    re.IGNORECASE,
)
# A measure or a state of one moment, which the next moment may change.
MOMENTARY = compile_late(
    r"(?<![\w-])(?:right now|currently|at the moment|at present|so far|as of|today|tonight|tomorrow|yesterday|"
    r"this (?:morning|"
    r"week|month|year|time|run|build)|next|last|latest|usage|used|load|total|count|average|temperature|remaining|left|"
    r"score|status|progress|uptime|queue length|backlog|error|errors|returns?|fails?|failed|failing|got|getting|"
    r"seen|shows?|took|takes|already|still|yet|again|just|running|since|ago|available|seems?|looks?|it|this|that|these|"
    r"those|they|he|she|here|there|mine|yours|"
    r"gerade|derzeit|aktuell|momentan|bisher|heute|morgen|gestern|diese[nrms]?|nächste\w?|letzte\w?|auslastung|"
    r"insgesamt|fehler|noch|schon|wieder|"
    r"actuellement|en ce moment|aujourd'hui|demain|hier|ce matin|prochaine?|dernière?|erreurs?|encore|déjà|ce(?:tte)?|"
    r"actualmente|ahora|hoy|mañana|ayer|est[ea]|próxim[oa]|últim[oa]|errore?s?|todavía|ya|"
    r"atualmente|agora|hoje|amanhã|ontem|últim[oa]|erros?|ainda|já)(?![\w-])|現在|今日|明日|昨日|今週|来週|エラー",
    re.IGNORECASE,
)
# One of many: another one has another value.
ONE_OF_MANY = compile_late(
    r"(?<![\w-])(?:invoice|order|ticket|receipt|tracking|parcel|package|quote|flight|bus|buses|trains?|"
    r"trams?|ferry|ferries|shifts?|rides?|leaves?|departs?|departure|arrives?|arrival|works? (?:until|from|on)|"
    r"rechnung|bestellung|quittung|paket\w?|zug|züge|flug|flüge|fähren?|schicht\w{0,2}|"
    r"fährt|abfahrt|ankunft|facture|commande|colis|vols?|trains?|départ|arrivée|"
    r"factura|pedido|recibo|paquetes?|vuelos?|autob[uú]s\w{0,2}|tren(?:es)?|salida|llegada|"
    r"fatura|encomenda|pacotes?|voos?|ônibus|trem|trens|partida|chegada)(?![\w-])|便|列車|請求書|注文",
    re.IGNORECASE,
)
# Counts that grow or fall: "has 300 commits"; and what nature measures, unless it is a limit.
COUNTED = compile_late(
    r"(?<![\w-])(?:has|have|hat|haben|a|ont|tiene[n]?|tem|têm|"
    r"counts?) \d[\d.,]{0,12} (?![kmgt]i?b\b)[^\W\d]{3,30}(?!\s?(?:of|d[eou])\b)",
    re.IGNORECASE,
)
NATURE = compile_late(
    r"°|(?<![\w-])(?:degrees?|grad|degrés?|grados?|graus?|celsius|fahrenheit|percent|%)(?![\w-])|度", re.IGNORECASE
)
LIMITS = compile_late(
    r"\b(?:limit|maximum|minimum|threshold|set to|target|grenze|limite|límite)\b|上限|下限", re.IGNORECASE
)
# About as much, at least or at most as much: another value need not disagree.
VAGUE = compile_late(
    r"(?<![\w-])(?:about|around|roughly|approx\w{0,8}|circa|ca|almost|nearly|at least|up to|more than|less than|over|"
    r"under|between|some|or so|or|either|ish|several|depends|depending|usually|mostly|normally|sometimes|often|"
    r"typically|generally|etwa|ungefähr|rund|fast|mindestens|bis zu|mehr als|weniger als|oder|meist\w{0,3}|"
    r"normalerweise|"
    r"environ|presque|au moins|jusqu'à|plus de|moins de|ou|souvent|parfois|"
    r"alrededor|aproximadamente|casi|al menos|hasta|más de|menos de|normalmente|"
    r"cerca de|quase|pelo menos|até|mais de|ou)(?![\w-])|[~≈<>±]|約|以上|以下|くらい|ぐらい|ほど",
    re.IGNORECASE,
)
# To somebody, or about the speaker: nothing that holds for all.
PERSONAL = compile_late(
    r"(?<![\w-])(?:you|your|yours|i|i'm|i'll|i've|i'd|my|me|mine|please|thanks|ich|mein\w{0,2}|du|dein\w{0,2}|ihr|"
    r"bitte|danke|"
    r"je|j'\w{1,20}|moi|mon|ma|mes|tu|ton|ta|vous|votre|merci|yo|mi|mis|tú|usted|gracias|eu|meus?|minhas?|você|"
    r"obrigad[oa])(?![\w-])|私|僕|あなた|ください",
    re.IGNORECASE,
)
# More than one at a time.
SHARED = compile_late(
    r"(?<![\w-])(?:and|also|both|together|co|too|with|or|others?|among|besides|und|auch|beide|zusammen|sowie|et|"
    r"aussi|ensemble|y|e|"
    r"también|ambos|também|juntos|one of|some of|part of|mainly|partly|backup|deputy|second|secondary)(?![\w-])|"
    r"[&/+,]|と|や",
    re.IGNORECASE,
)
# Between what is spoken of and its value.
IS = r"(?:is|are|=|ist|sind|est|sont|es|son|é|são)"
# What a thing or a task has one of.
ATTRIBUTES = (
    r"licen[sc]e|region|branch|currency|time ?zone|hostname|host|url|address|endpoint|email|e-mail|domain|bucket|"
    r"password manager|phone|number|extension|code name|codename|venue|default|framework|room|maintainer|owner|lead|"
    r"contact|chair|head|treasurer|coordinator|supplier|vendor|provider|"
    r"lizenz|währung|zeitzone|adresse|telefonnummer|nummer|raum|verantwortliche[rn]?|leiter(?:in)?|"
    r"ansprechpartner(?:in)?|"
    r"lieferant|licence|région|branche|devise|fuseau|téléphone|numéro|salle|responsable|fournisseur|"
    r"licencia|región|rama|moneda|zona horaria|dirección|teléfono|número|sala|proveedor(?:a)?|encargad[oa]|"
    r"licença|região|moeda|fuso|endereço|telefone|responsável|fornecedor(?:a)?"
)
# Before a single name of a place: "in room Birch".
PLACES = r"room|hall|region|branch|building|raum|saal|salle|sala|prédio|edificio"
# One person or group has each of these roles for something.
HOLDS = (
    r"owns|leads|heads|chairs|is responsible for|is in charge of|leitet|verantwortet|ist verantwortlich für|"
    r"ist zuständig für|dirige|est responsable d(?:e|u|es)|est responsable de la|lidera|es responsable del?|"
    r"é responsável p(?:or|elo|ela)"
)
HELD = r"owned|led|headed|chaired|geleitet|dirigée?|liderad[oa]"
# Words that say nothing about which subject and value are meant.
LIGHT = word_set(
    """
    a an the of for in on at by is are be has have our we us its to with from will
    der die das den dem des ein eine einen einem einer für von vom im in am an um bei ist sind hat haben unser unsere
    unserer unserem unseren wir mit zu zum zur
    le la les l un une de du des d en à au aux est sont a ont notre nos nous pour par dans
    el los las lo una del al es son tiene tienen nuestro nuestra para por con
    o os as um uma do da dos das no na nos nas é são tem têm nosso nossa em
    date datum fecha data day
    """
)
# Subjects that every team or project has one of: in another channel they are others.
GENERIC = word_set(
    """
    release deadline meeting budget price fee cost version review standup stand-up sync retro retrospective milestone
    launch start end team project code freeze demo sprint planning call weekly daily monthly due kickoff kick-off
    go-live
    service server app application site website tool system machine database port listens runs
    deploy deployment rollout schedule party lunch dinner event workshop training session
    termin frist treffen budget preis besprechung projekt start ende lieferung liefertermin veranstaltung wöchentlich
    sortie réunion budget prix projet début fin échéance livraison hebdomadaire
    lanzamiento reunión presupuesto precio proyecto inicio fin plazo entrega semanal
    lançamento reunião orçamento preço projeto início fim prazo entrega
    """
)
