"""Words around the number of a citation, in the languages of the bot and some others. All are case-folded."""

from __future__ import annotations


def _words(*lines: str) -> frozenset[str]:
    return frozenset(word for line in lines for word in line.split())


# Each names a source of an answer, also outside of brackets.
SOURCE_WORDS = _words(
    "source sources quelle quellen fuente fuentes fonte fontes fonti bron bronnen källa källor źródło źródła источник",
    "источники 出典 出所 情報源 ソース 来源 來源 资料来源 資料來源 출처",
)
# With a given number in square brackets they cite, even if a source has the same bracket.
CITING_WORDS = SOURCE_WORDS | _words(
    "src srcs sourceid sourceids cite cites cited citation citations citing cita citas citação citações",
    "引用 引用元 出处",
)
# On the last line of a paragraph, with a colon and numbers behind it, they name the sources of what stands above.
# A word like "reference" alone is none of them: there it mostly names the number of a file, or counts.
SOURCE_PHRASES = frozenset((
    "sources used", "sources cited", "sources consulted", "source numbers", "source ids", "quellenangabe",
    "quellenangaben", "quellennachweis", "quellennachweise", "fuentes utilizadas", "fuentes citadas",
    "fuentes consultadas", "sources utilisées", "sources citées", "sources consultées", "fontes utilizadas",
    "fontes citadas", "fontes consultadas", "参照元",
))  # fmt: skip
# Name a source if they stand in brackets or parentheses with its number.
LABELS = CITING_WORDS | _words(
    "ref refs réf réfs reference references doc docs document",
    "documents passage passages context contexts excerpt excerpts snippet snippets chunk chunks",
    "docid documentid refid chunkid dok nachweis nachweise",
    "beleg belege dokument dokumente referenz referenzen fundstelle fundstellen textstelle auszug kontext",
    "documento documentos referencia referencias fragmento pasaje contexto",
    "référence références extrait extraits contexte",
    "referência referências trecho trechos",
    "資料 ドキュメント 参照 参考 参考文献 文書 文献 资料 文档 文件 參考",
)
# Name a source in parentheses, but no column or list of sources.
MESSAGE_WORDS = _words(
    "message messages msg msgs nachricht nachrichten mensaje mensajes mensagem mensagens メッセージ 消息",
)
INLINE_LABELS = LABELS | MESSAGE_WORDS
# Name a source outside of brackets if the sentence rests on it: "according to document 2".
REPORTED_WORDS = MESSAGE_WORDS | _words(
    "document documents doc docs dokument dokumente documento documentos passage passages excerpt excerpts snippet",
    "reference textstelle auszug extrait extraits fragmento trecho trechos 文書 資料 ドキュメント 参考資料 引用 文档",
)
# Name a source in square brackets only; elsewhere they are numbers of other things.
NUMBER_WORDS = _words("no nr nº n° num number nummer número numéro 番号")
# None of them names a note of the text ("note", "footnote") or a cell, a drug or a patent ("d").
BRACKET_LABELS = INLINE_LABELS | NUMBER_WORDS | _words("s n id ids index 根拠")
PAGE_WORDS = _words("p pp pg page pages seite seiten pág págs pag página páginas")
SEE_WORDS = _words(
    "see also cf siehe auch vgl vergleiche véase ver vea voir veja vide per from via as aus laut nach gemäß según",
    "selon segundo conforme",
)
SEE_SUFFIXES = _words("を参照 参照 より から による を参照してください 参考")
# Words before "document 2" that make a sentence rest on it, and words behind it.
REPORTING_PHRASES = (
    "according to", "per", "as per", "based on", "as stated in", "as mentioned in", "as noted in", "as described in",
    "as shown in", "as explained in", "stated in", "mentioned in", "noted in", "described in", "reported in",
    "cited in",
    "laut", "gemäß", "gemäss", "nach", "zufolge", "geht aus", "ergibt sich aus", "steht in", "wie in", "laut der",
    "según", "de acuerdo con", "de acuerdo a", "conforme a", "como dice", "como indica", "se indica en", "basado en",
    "selon", "d'après", "d’après", "conformément", "conformément à", "comme indiqué dans", "indiqué dans",
    "segundo", "conforme", "de acordo com", "com base em", "com base no", "com base na", "conforme indicado em",
    "indicado no", "indicado na", "descrito no", "descrito na", "mencionado no", "mencionado na", "indicado en",
    "como indicado em", "como diz", "como indica",
)  # fmt: skip
ARTICLES = _words("the der dem die das den el la le les o a os as l' s")  # the last is "siehe"
REPORTING_VERBS = _words(
    "says say states state stated mentions mention notes note shows show indicates indicate confirms confirm reports",
    "report explains explain describes describe lists sagt sagen besagt nennt nennen zeigt erwähnt erklärt bestätigt",
    "beschreibt dice dicen indica indican menciona mencionan",
    "señala confirma explica muestra afirma dit disent indique",
    "indiquent mentionne mentionnent précise confirme explique montre affirme diz dizem mencionam indicam mostra",
    "zufolge hervor steht heißt",
)
REPORTING_SUFFIXES = ("によると", "によれば", "には", "では", "に記載", "に書か")
LINKING_WORDS = _words(
    "in on at of to from see and or with under per for by",
    "then via into in auf aus zu zum zur siehe und oder mit unter",
    "dann en de et ou y o e em ver voir véase vgl cf if until before after than open select use now",
)

AND_WORDS = _words("and or und oder sowie bzw y e et ou o u en i と や および 及び または 和 与 與 及 以及 또는 및 и")
RANGE_WORDS = _words("to through thru bis a à al até hasta から 到 至")

# Words before a number that is theirs: "section (3)", "step 2".
NUMBERED_WORDS = _words(
    "section sections step steps figure figures fig table tables tab chapter chapters chap paragraph paragraphs para",
    "clause clauses article articles art item items point points option options phase phases version versions level",
    "levels line lines page pages p pp no number numbers equation equations eq case cases part parts type class group",
    "groups question questions rank grade score vector interval",
    "range coordinates rule rules appendix annex note notes",
    "stage round day days week weeks year years act scene volume vol issue",
    "abschnitt absatz abs satz schritt schritte abbildung abb tabelle kapitel artikel punkt punkte stufe seite seiten",
    "zeile teil gleichung nummer regel anhang frage tag woche jahr",
    "sección paso pasos figura figuras tabla capítulo artículo",
    "punto página apartado párrafo cláusula regla nivel fase",
    "étape étapes chapitre paragraphe alinéa annexe niveau règle",
    "seção passo passos etapa etapas tabela parágrafo regra nível anexo",
)
# Of these, and of others, the singular: without an article before it, the number in square brackets is theirs.
SINGULAR_NUMBERED_WORDS = _words(
    "section step figure fig table tab chapter chap paragraph para clause article art item point option phase version",
    "level line page equation eq part type class group question rank grade interval range coordinates rule appendix",
    "annex stage scene volume vol issue room form gate",
    "row column channel slide exercise bus button key track platform",
    "floor lane shelf slot port pr ticket task bug habitación tecla touche quarto",
    "abschnitt absatz abs schritt abbildung abb tabelle kapitel artikel punkt stufe seite",
    "zeile teil gleichung nummer regel anhang frage raum zimmer formular folie spalte kanal aufgabe beispiel taste",
    "gleis stock bahnsteig linie regal sección paso figura tabla tableau capítulo artículo punto página apartado",
    "párrafo cláusula regla nivel fase sala formulario fila columna étape chapitre paragraphe alinéa annexe niveau",
    "règle salle formulaire ligne colonne seção passo etapa tabela parágrafo regra anexo formulário linha coluna",
)
KEY_WORDS = _words(
    "press hit type enter choose select pick click drücke",
    "drück wähle tippe pulsa presiona elige teclea appuyez choisissez",
    "tapez pressione aperte escolha digite",
)
# Before a key word it is an order still, and before a numbered word it points to that thing.
FIRST_OF_ORDERS = _words("then now please just dann jetzt bitte ahora luego por favor puis maintenant agora depois")
POINTING_WORDS = _words("see siehe vgl cf voir véase veja than open")
TICKET_WORDS = _words(
    "ticket tickets issue issues bug bugs pr prs mr mrs",
    "request task tasks story case card todo vorgang aufgabe aufgaben",
    "fehler incidencia incidencias tarea tareas problème problèmes",
    "tâche tâches tarefa tarefas chamado chamados pull merge",
    "チケット 課題 タスク",
)
NUMBERED_SUFFIXES = (
    "図",
    "表",
    "章",
    "節",
    "条",
    "項",
    "号",
    "手順",
    "段階",
    "ステップ",
    "第",
    "步骤",
    "图",
    "节",
    "フォーム",
    "部屋",
)
# The words of the numbers from 1 on: "two (2)" is a count, spelled out.
_SPELLED_OUT = (
    "one two three four five six seven eight nine ten eleven twelve",
    "eins zwei drei vier fünf sechs sieben acht neun zehn elf zwölf",
    "uno dos tres cuatro cinco seis siete ocho nueve diez once doce",
    "un deux trois quatre cinq six sept huit neuf dix onze douze",
    "um dois três quatro cinco seis sete oito nove dez onze doze",
)
SPELLED_OUT = frozenset((word, number) for line in _SPELLED_OUT for number, word in enumerate(line.split(), 1))
# Words before "source 2" that make it a thing: a data source.
THING_WORDS = _words(
    "data open power light energy water heat sound news primary secondary current voltage food fuel radio income",
    "funding heating single multi",
)
# Words whose superscript is an exponent.
UNIT_WORDS = _words(
    "meter meters metre metres feet foot inch inches mile miles yard yards kilometer kilometers kilometre kilometres",
    "centimeter centimetre zentimeter quadrat metro metros mètre mètres pixel pixels unit units sigma",
)
# Short words that are no units or variables.
SHORT_WORDS = _words(
    "one two six ten it all day now too out off up so us them red old new big low top end man men dog cat car",
    "van bus bay sea ice oil gas tea pub inn zoo ja zu an ab um uns alt neu rot oui non mer été sí mes día uno dos",
    "mar sol pan um dia mês ano sim pé chá",
)
# Words before a variable whose number in square brackets is an index.
INDEXED_WORDS = _words(
    "array arrays matrix vector tuple element elements variable value index entry feld element wert tableau élément",
    "valeur variable arreglo elemento valor vetor variável",
)
# Before numbers that the sentence needs: "at (4, 12)". A citation stands behind what it supports.
NEEDING_WORDS = _words("equals at between than plus minus = zwischen lautet à entre vaut vale")
# Before two numbers that a main clause needs: "is (4, 12)". A subordinate clause may end with them.
COPULAS = _words("is are was were be ist sind war waren bei beträgt est sont était es son está están era é são")
SUBORDINATING_WORDS = _words(
    "that where what who whose which how when why if whether because since while than dass weil wo wer wen wem",
    "wie wann warum ob als obwohl wenn dónde donde quién quien qué que cómo como cuándo cuando porque où qui quoi",
    "comment quand pourquoi si parce onde quem quando",
)
# A verb and a noun before two falling numbers: the score of a game.
GAME_VERBS = _words(
    "won win wins lost lose loses beat beats defeated gewann gewannen gewonnen verlor verloren gagné perdu ganó",
    "ganaron ganado perdió perdieron venceu venceram ganhou perdeu perderam",
)
GAME_NOUNS = _words(
    "match set sets game games half semifinal final spiel satz sätze halbzeit finale match jeu manche partido juego",
    "partida jogo",
)
INTERVAL_WORDS = _words(
    "range ranges interval intervals bereich intervall wertebereich spanne intervalle plage rango intervalo faixa"
)
BEFORE_INTERVALS = _words("is are of in from = ist sind von im vom est de dans es son en é são em")
# Before the name of an interval, without an article or with one.
WITHIN_WORDS = _words("in within im dans en em no na")
INTERVAL_ARTICLES = _words("the an der dem l la el o a")
# Words that make a number in braces a placeholder, and one in angle brackets a key or a field.
PLACEHOLDER_WORDS = _words(
    "format string template placeholder placeholders argument arguments variable variables parameter parameters set",
    "printf regex pattern group index field key platzhalter vorlage zeichenkette menge taste marcador plantilla cadena",
    "conjunto tecla gabarit chaîne ensemble touche modèle modelo",
)
# Headings of a list of sources.
HEADINGS = LABELS | {
    "source list", "list of sources", "sources used", "sources cited", "works cited", "bibliography", "footnotes",
    "quellenverzeichnis", "quellenangaben", "literatur", "literaturverzeichnis", "fußnoten", "nachweise",
    "bibliografía", "bibliografia", "bibliographie", "notas", "notes", "sources citées", "notes de bas de page",
    "参考資料", "参照元", "引用文献", "参考来源", "引用来源", "参考资料", "出典一覧",
}  # fmt: skip
# Words beside one of these in such a heading.
HEADING_WORDS = _words(
    "used consulted cited list of the and all verwendete genutzte zitierte und der verwendet consultadas utilizadas",
    "citadas usadas de las y consultées utilisées citées les et das e",
)

_FIRST_WORDS = LABELS | _words("used consulted cited list verwendete genutzte zitierte")


def may_become_heading(words: str) -> bool:
    """Whether a line with these folded words, of which the last may be incomplete, may become such a heading."""
    if any(heading.startswith(words) for heading in HEADINGS):
        return True
    *known, last = words.split() or [""]
    if len(known) >= MAX_HEADING_WORDS or (known and known[0] not in _FIRST_WORDS):
        return False
    group = LABELS | HEADING_WORDS if known else _FIRST_WORDS
    return all(word in LABELS | HEADING_WORDS for word in known) and any(label.startswith(last) for label in group)


def is_heading(words: str) -> bool:
    """Whether the folded words of a line are those of a heading of sources: "sources consulted", "cited sources"."""
    parts = words.split()
    is_named = any(part in LABELS for part in parts) and all(part in LABELS | HEADING_WORDS for part in parts)
    return words in HEADINGS or (1 < len(parts) <= MAX_HEADING_WORDS and parts[0] in _FIRST_WORDS and is_named)


MAX_HEADING_WORDS = 4
