"""Tell from the first words of a reply that a model gives up, or asks for what it should read. Pure.

A model that gives up speaks of itself and of what it was given; what a text or picture quotes is no apology.
"""

from __future__ import annotations

import re

from engine.text.patterns import compile_late

MAX_APOLOGY_CHARACTERS = 600  # a longer reply is no apology alone
MAX_APOLOGY_START = 60  # characters within which the apology of a reply that is nothing else begins

_SEEN = (
    r"(?:images?|pictures?|photos?|screenshots?|graphics?|files?|attachments?|documents?|links?|urls?|contents?|visuals?"
    r"|videos?|it|this|that|bild|bilder|fotos?|datei|dateien|anhang|anhänge|dokumente?|imagen|imágenes|imagem|imagens"
    r"|archivos?|arquivos?|fichiers?|fichero|pièces?|contenu|contenido|conteúdo)\b"
)
_CAN_NOT = r"(?:can(?:['’]?t|not| not)|could(?:n['’]?t| not)|won['’]?t|(?:am|['’]m) (?:un|not )able to)"
_SEE = r"(?:see|view|access|open|load|read|display|analy[sz]e|describe|interpret|identify|look at|make out|examine)"
_SHOWN = (
    r"(?:load(?:ed)?|come|attach|upload(?:ed)?|display(?:ed)?|opened|processed|provided|attached|visible|accessible"
    r"|shown|shared|included|received)"
)
_NOT = (
    r"(?:(?:did|does)(?:n['’]?t| not)|failed to|(?:was|is|has)(?:n['’]?t| not)(?: been)?|can(?:not|['’]t) be"
    r"|could(?: not|n['’]t) be)"
)
_ENGLISH = (
    r"i(?:['’]?m| am) (?:so |very |really )?(?:sorry|unable|afraid|not able|only able)|i apologi[sz]e|my apologies",
    r"apologies,|sorry, (?:but )?i\b|unfortunately,? i\b|as an? (?:ai|artificial|(?:large )?language model)\b",
    r"(?:as|i(?:['’]m| am)) (?:only |just )?an? (?:purely )?text[- ](?:based|only)|against my guidelines",
    rf"i {_CAN_NOT} (?:directly )?(?:assist|help|comply|provide|process|fulfill|do|answer|summari[sz]e|extract)",
    rf"i {_CAN_NOT} (?:actually |directly )?{_SEE} (?:[a-z]{{1,12}} ){{0,4}}?{_SEEN}",
    r"i can only (?:process|read|handle|work with|see|accept) text|images are not\b",
    r"image (?:analysis|recognition|input|processing|viewing) is(?:n['’]t| not)",
    r"i (?:do not|don['’]?t) (?:currently )?have (?:the )?(?:access|ability|capability|an? (?:image|picture))",
    rf"i (?:do not|don['’]?t) see (?:an?|any|the) {_SEEN}|i (?:see|got|received) no {_SEEN}",
    r"you (?:forgot|did not|didn['’]?t|have not|haven['’]?t) (?:to )?(?:attach|upload|include|provide|share|sen[dt])",
    rf"there(?: is|['’]s| was| seems to be) no {_SEEN} (?:attached|provided|given|to (?:see|describe))",
    rf"no (?:image|picture|photo) (?:is |was |has been )?{_SHOWN}",
    rf"(?:the |your )?(?:image|picture|photo) {_NOT} {_SHOWN}",
)
_GERMAN = (
    r"tut mir (?:sehr )?leid|entschuldigung,|leider (?:kann|konnte|habe|sehe) ich|leider ist es mir",
    r"ich bin (?:leider )?nicht in der lage|leider (?:ist|wurde|liegt) (?:mir )?kein",
    rf"(?:wurde|ist) (?:leider )?keine? {_SEEN} (?:hochgeladen|angehängt|beigefügt|übermittelt|vorhanden|mitgeschickt)",
    rf"ich (?:kann|konnte) (?:leider )?(?:[a-zäöüß]{{1,12}} ){{0,3}}?{_SEEN} (?:leider )?(?:nicht|kein)",
    rf"ich (?:kann|sehe|habe|erhalte) (?:hier |leider )?keine? {_SEEN}",
    rf"{_SEEN} (?:kann|konnte) (?:ich|leider)\b|{_SEEN} (?:wurde|ist) (?:leider )?nicht (?:mit|an|hoch|sichtbar|vorh)",
    r"ich kann (?:leider )?(?:[a-zäöüß]{1,12} ){0,2}?(?:nicht|keine) (?:helfen|weiterhelfen|bearbeiten|verarbeiten)",
    r"ich kann (?:leider )?(?:dabei|damit|das|dies|diese (?:an)?frage|diesen text) (?:leider )?nicht\b",
    r"als (?:reines )?(?:ki|sprachmodell|textmodell|textbasiertes)\b",
    r"ich bin ein (?:reines )?(?:text|sprach)(?:modell|bas)",
)
_FRENCH = (
    r"(?:je suis |toutes mes )?désolée?s?\b|excusez[- ]moi|malheureusement,? je|je (?:ne )?(?:peux|puis|parviens) pas",
    r"je suis (?:incapable|dans l['’]in?m?(?:capacité|possibilité))|je ne suis pas (?:en mesure|capable)",
    r"je n['’](?:ai pas (?:accès|la (?:possibilité|capacité))|arrive pas)|en tant qu['’](?:ia|assistant)",
    r"en tant que modèle|il m['’]est impossible|je ne vois (?:pas (?:d['’]|l['’])|aucune )image",
    r"aucune (?:image|photo) n['’]|l['’]image n['’](?:a|est) pas",
)
_SPANISH_VERBS = (
    r"(?:ver|acceder|abrir|analizar|describir|ayudar\w{0,3}|procesar|visualizar|proporcionar|cumplir|leer|interpretar"
    r"|realizar)\b"
)
_SPANISH = (
    r"lo (?:siento|lamento)|lamento (?:no|que|mucho|pero)|lamentablemente,? no|disculp[ae],|perdón, (?:pero )?no",
    rf"no (?:puedo|consigo|logro) (?:[a-záéíóúñ]{{1,12}} ){{0,2}}?{_SPANISH_VERBS}",
    r"no (?:me es posible|soy capaz|estoy en condiciones|tengo (?:acceso|la capacidad|ninguna imagen))",
    r"no veo ninguna imagen",
    r"como (?:un )?(?:modelo|asistente|ia)(?: de)? (?:lenguaje|texto|ia|inteligencia|virtual|basado)",
    r"no se (?:ha )?(?:adjunt|proporcion|recibi|carg)\w{1,4}|no hay ninguna imagen (?:adjunta|disponible)",
)
_PORTUGUESE_VERBS = (
    r"(?:ver|acessar|aceder|abrir|analisar|descrever|ajud\w{1,4}|processar|visualizar|fornecer|ler|atender|interpret)"
)
_PORTUGUESE = (
    r"desculp(?:e|a|em|as),|sinto muito|peço desculpas?|infelizmente,? (?:não|eu)|lamento,? (?:mas|não)",
    rf"não (?:posso|consigo) (?:[a-zãáéíóúç]{{1,12}} ){{0,2}}?{_PORTUGUESE_VERBS}",
    r"não (?:me é possível|sou capaz|tenho (?:acesso|a? ?capacidade|como))",
    r"não (?:vejo|há|recebi) nenhuma? (?:imagem|arquivo|foto)|não há (?:imagem|arquivo|foto) (?:anexad|enviad|dispon)",
    r"nenhuma imagem (?:foi )?(?:enviada|anexada|fornecida|recebida|carregada)",
    r"como (?:um |uma )?(?:modelo|assistente|ia)(?: de)? (?:linguagem|texto|ia|inteligência|virtual|baseado)",
)
_UNSPACED_PICTURE = r"(?:画像|写真|ファイル|リンク|図)"
_UNSPACED_SEE = r"(?:内容を?)?(?:直接)?(?:見|閲覧|確認|表示|認識|分析|開|読み取|アクセス|処理|解析)"
_UNSPACED = (
    r"申し訳(?:ありません|ございません|ないですが)|恐れ入りますが|すみませんが",
    r"(?:お手伝い|対応|お答え|お応え|提供)(?:することは?)?できません|応じられません",
    rf"{_UNSPACED_PICTURE}[をはがの]?{_UNSPACED_SEE}[^。]{{0,10}}?(?:できません|られません|できない|けません|ていません)",
    r"(?:画像|写真|ファイル|図)が(?:見え|表示され|添付され|提供され|含まれ|送信され)[^。]{0,6}ません",
    r"抱歉|对不起|很遗憾|無法|无法(?:提供|协助|查看|看到|访问|打开|识别|处理|分析|描述|读取|满足)|看不到",
    r"不能(?:查看|看到|访问|协助|提供)|(?:没有|未)(?:看到|收到|提供|上传)[^。]{0,6}(?:图|照片|文件)",
)
# Other languages that a text may be in: a model apologizes in that of the text.
_OTHERS = (
    r"mi (?:dispiace|scuso)|purtroppo,? (?:non (?:posso|sono in grado|riesco|ho accesso)|mi è impossibile)",
    r"non (?:posso|sono in grado di|riesco a) (?:aiutar|riassumer|elaborar|leggere|veder|analizzar|soddisfar)\w{0,3}",
    r"het spijt me|helaas (?:kan|ben) ik|ik kan (?:[a-z]{1,12} ){0,4}?niet (?:helpen|samenvatten|verwerken|lezen)",
    r"przepraszam, ale|niestety,? nie (?:mogę|jestem)|nie mogę (?:pomóc|przetworzyć|streścić|odczytać|zobaczyć)",
    r"jag är ledsen|tyvärr (?:kan|har) jag|jag kan (?:tyvärr )?inte (?:hjälpa|sammanfatta|läsa|bearbeta|se)\b",
    r"(?:beklager|desværre|dessverre),? (?:men )?(?:kan )?jeg",
    r"przykro mi, (?:ale )?nie (?:mogę|jestem)",
    r"jeg kan (?:desværre |dessverre )?ikke (?:hjælpe|hjelpe|sammenfatte|læse|lese|behandle)\b",
    r"üzgünüm|özür dilerim|(?:maalesef|ne yazık ki) [^.!?\n]{0,60}(?:amam|emem|amıyorum|emiyorum)\b",
    r"(?:к сожалению|извините|простите),? (?:но )?я [^.!?\n]{0,12}?не\b|я не могу (?:помочь|обработать|прочитать)",
    r"(?:на жаль|вибачте),? (?:але )?я [^.!?\n]{0,12}?не\b",
    r"عذر[اًا]{1,3}|للأسف،? لا (?:أستطيع|يمكنني)|لا (?:أستطيع|يمكنني) المساعدة",
)
_KOREAN = r"죄송(?:합니다|하지만|해요)|(?:도와드릴|제공할|처리할|요약할|볼|확인할) 수 없습니다"
_SPACED = "|".join((*_ENGLISH, *_GERMAN, *_FRENCH, *_SPANISH, *_PORTUGUESE, *_OTHERS))
_APOLOGY = compile_late(
    rf"(?<![\"'“”„«‘「『(])(?<!: )(?<!« )(?:\b(?:{_SPACED})|{'|'.join((*_UNSPACED, _KOREAN))})", re.IGNORECASE
)
_GIVEN = (
    r"(?:(?:the|an?|your|that|its?|actual|source|full|original) ){0,3}"
    r"(?:image|picture|photo|file|text|descriptions?|document)s?\b"
)
_REQUEST = compile_late(
    r"(?:\A|[.!?:]\s{1,4})(?:please (?:provide|share|paste|send|supply|upload|attach)\b|veuillez fournir"
    rf"|(?:could|can|would) you (?:please )?(?:provide|share|paste|send|upload|re-?upload|resend|attach) {_GIVEN}"
    r"|bitte (?:geben|senden|stellen|laden) sie|por favor,? (?:proporcion|env[ií]|compart|forneça)"
    r"|(?:könnten sie|kannst du|könntest du) (?:mir )?(?:bitte )?(?:das|den) (?:bild|text)"
    r"|(?:pourriez|pouvez)[- ]vous (?:me )?(?:fournir|envoyer|partager|transmettre)"
    r"|(?:podrías?|puedes?|poderia|pode) (?:por favor )?(?:proporcionar|enviar|compartir|subir|fornecer|compartilhar)"
    r"|(?:i(?:['’]?m| am) )?ready to (?:extract|summari[sz]e|help|assist)"
    r"|(?:no|there (?:is|are) no) (?:text|descriptions?|image|picture) (?:was |were )?(?:provided|given|attached))"
    r"|\A\W{0,4}\[[^\[\]]{0,100}\b(?:(?:goes|text|summary|description) here|placeholder|einfügen)\]\W{0,4}\Z"
    r"|\A(?:(?:пожалуйста, )?(?:предоставьте|пришлите|отправьте) |si prega di fornire|geef (?:me )?(?:de|een) tekst)"
    r"|(?:텍스트|이미지|내용)를? ?(?:제공|입력|업로드)해 주|请(?:提供|上传|发送)"
    r"|(?:画像|テキスト|文章)を(?:提供|送信|アップロード|添付)して(?:ください|いただ)|提供してください",
    re.IGNORECASE,
)
# Somebody else said it: "Désolé pour le retard, écrit Ada", "Não consigo abrir o portão, disse Ada".
_REPORTED = compile_late(
    r"[^.!?;\n]{0,80}(?:[,:»”\"] ?(?:(?:so )?(?:wrote|writes|said|says)|schrieb|schreibt|sagte?|meinte?|(?:a )?écrit"
    r"|dit|escribió|escribe|dijo|dice|escreveu|escreve|disse|diz|(?:ha )?(?:scritto|scrive|detto)|schreef|schrijft|zei"
    r"|napisał\w?|pisze|skrev|skriver|написал\w?|пишет)\b|[,，][^\s,，.。]{1,10}(?:写道|寫道|说|說))"
    r"|[^.!?。\n]{0,80}と[^.!?。\n]{1,12}(?:書い|言っ|述べ)",
    re.IGNORECASE,
)


def _find_apology(text: str) -> re.Match[str] | None:
    found = _APOLOGY.search(text[:MAX_APOLOGY_CHARACTERS])
    return None if found and _REPORTED.match(text, found.end()) else found


def apologizes(text: str) -> bool:
    """Whether a model gives up at the beginning of a reply."""
    return _find_apology(text) is not None


def gives_up(text: str) -> bool:
    """Whether a reply is nothing but an apology, or a request for what it should read."""
    if len(text) > MAX_APOLOGY_CHARACTERS:
        return False
    found = _find_apology(text)
    return bool((found and found.start() < MAX_APOLOGY_START) or _REQUEST.search(text))
