"""Words around the number of a citation, in the languages of the bot and some others. All are case-folded."""

from __future__ import annotations


def _words(*lines: str) -> frozenset[str]:
    return frozenset(word for line in lines for word in line.split())


# Each names a source of an answer, also outside of brackets.
SOURCE_WORDS = _words(
    "source sources quelle quellen fuente fuentes fonte fontes fonti bron bronnen källa källor źródło źródła источник",
    "источники 出典 出所 情報源 ソース 来源 來源 资料来源 資料來源 출처",
)
# Name a source if they stand in brackets or parentheses with its number.
LABELS = SOURCE_WORDS | _words(
    "src srcs ref refs réf réfs reference references cite cites cited citation citations citing doc docs document",
    "documents passage passages context contexts excerpt excerpts snippet snippets chunk chunks",
    "sourceid sourceids docid documentid refid chunkid dok",
    "beleg belege dokument dokumente referenz referenzen fundstelle fundstellen textstelle auszug kontext",
    "documento documentos referencia referencias cita citas fragmento pasaje contexto",
    "référence références extrait extraits contexte",
    "referência referências citação citações trecho trechos",
    "資料 参照 参考 参考文献 文書 引用 引用元 文献 资料 文档 出处 文件 參考",
)
# Name a source in square brackets only; elsewhere they are numbers of other things.
BRACKET_LABELS = LABELS | _words(
    "s n no nr nº n° num number nummer número numéro id ids index message messages msg msgs nachricht nachrichten",
    "mensaje mensajes mensagem mensagens メッセージ 番号 消息 note notes",
)
SEE_WORDS = _words(
    "see cf siehe vgl vergleiche véase ver vea voir veja vide per from via as aus laut nach según selon segundo",
    "conforme",
)
AND_WORDS = _words("and or und oder sowie bzw y e et ou o u en i と や および 及び または 和 与 與 及 以及 또는 및 и")
RANGE_WORDS = _words("to through thru bis a à al até hasta から 到 至")

# Words before a number that is theirs: "section (3)", "step 2".
NUMBERED_WORDS = _words(
    "section sections step steps figure figures fig table tables tab chapter chapters chap paragraph paragraphs para",
    "clause clauses article articles art item items point points option options phase phases version versions level",
    "levels line lines page pages p pp no number numbers equation equations eq case cases part parts type class group",
    "groups question questions rank grade score vector interval range coordinates rule rules appendix annex note notes",
    "stage round day days week weeks year years act scene volume vol issue",
    "abschnitt absatz abs satz schritt schritte abbildung abb tabelle kapitel artikel punkt punkte stufe seite seiten",
    "zeile teil gleichung nummer regel anhang frage tag woche jahr",
    "sección paso pasos figura figuras tabla capítulo artículo punto página apartado párrafo cláusula regla nivel fase",
    "étape étapes chapitre paragraphe alinéa annexe niveau règle",
    "seção passo passos etapa etapas tabela parágrafo regra nível anexo",
)
NUMBERED_SUFFIXES = ("図", "表", "章", "節", "条", "項", "号", "手順", "段階", "ステップ", "第", "步骤", "图", "节")
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
    if any(each.startswith(words) for each in HEADINGS):
        return True
    *known, last = words.split() or [""]
    if len(known) >= MAX_HEADING_WORDS or (known and known[0] not in _FIRST_WORDS):
        return False
    group = LABELS | HEADING_WORDS if known else _FIRST_WORDS
    return all(each in LABELS | HEADING_WORDS for each in known) and any(each.startswith(last) for each in group)


def is_heading(words: str) -> bool:
    """Whether the folded words of a line are those of a heading of sources: "sources consulted", "cited sources"."""
    parts = words.split()
    is_named = any(each in LABELS for each in parts) and all(each in LABELS | HEADING_WORDS for each in parts)
    return words in HEADINGS or (1 < len(parts) <= MAX_HEADING_WORDS and parts[0] in _FIRST_WORDS and is_named)


MAX_HEADING_WORDS = 4
