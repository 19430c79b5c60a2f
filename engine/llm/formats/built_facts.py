"""Build facts from the fields of a reply, whatever its format. Pure."""

from __future__ import annotations

import re

from engine.models import Link, Mention
from engine.text.names import clean_keywords, clean_name, clean_text, clean_type, normalize_name
from engine.text.word_lists import word_set

MAX_HEADING_WORDS = 4

# Names of fields in the instructions, which some models repeat.
PLACEHOLDERS = frozenset(
    ("entity name", "entity type", "source entity", "target entity", "entity1 name", "entity2 name", "name of entity")
)
DESCRIPTION_PLACEHOLDERS = frozenset(("description", "entity description", "relation description"))
# Words that deny, and those that may stand beside them where a model says that there are no facts.
_DENIALS = word_set(
    """
    no none nothing zero not null nil empty n kein keine keinen keiner nichts leer aucun aucune rien ningún ninguna
    ninguno nada nenhum nenhuma nicht pas não
    sin sem ohne sans doesn't don't didn't aren't weren't isn't wasn't
    unknown unspecified unbekannt inconnu desconocido desconhecido 不明 未知
    无 没有 未 空 なし 該当なし ありません ない ません
    nessuna nessun nessuno niente non geen niets niet brak żadnych żadne nie inga ingen inget inte yok bulunamadı
    нет не никаких ничего отсутствуют 없음 없습니다 없다 않습니다
    """
)
_BESIDE_DENIALS = word_set(
    """
    a any be there are is were was been have has does do did could can be to of in from the this these that for and
    or nor other
    output list tuples plaintext text excerpt passage input document message named explicit explicitly clear clearly
    relevant further
    entity entities relation relations relationship relationships node nodes edge edges row rows fact facts item items
    found extracted identified stated mentioned present extract identify contains contain provided given detected
    available such match matches matching fit given requested required type types category categories criteria
    entität entitäten beziehung beziehungen relationen fakten gefunden vorhanden enthalten erkannt genannt erwähnt im
    in dem diesem der es gibt wurden wurde sind ist und oder extrahiert auszug abschnitt
    entité entités faits trouvée trouvées trouvé trouvés identifiée identifiées mentionnée mentionnées extraite
    extraites dans le ce texte extrait il y a et ou ni été n'a n'ont n'y n'est l'extrait
    entidad entidades relación relaciones hechos encontrada encontradas encontrado encontrados se encontró encontraron
    hay en el este texto y o ni identificada identificadas identificaron mencionada mencionadas fragmento
    entidade entidades relação relações fatos foi foram encontrada encontradas no neste trecho e ou nem
    identificada identificadas há
    entità relazione relazioni fatti trovata trovate trovati trovato individuata individuate nel testo è sono state
    stata stati ci né fornito presente presenti
    er zijn is entiteit entiteiten relatie relaties feiten gevonden aangetroffen deze tekst fragment vermeld
    encji encje relacji relacje faktów znaleziono wykryto w tekście tekst zawiera ani
    entiteter relationer hittades fanns finns några i texten
    metinde varlık veya ilişki herhangi bir
    сущностей сущности отношений связей связи отношения фактов найдено обнаружено найдены в тексте этом или
    엔티티 엔티티가 개체 개체가 관계 관계가 텍스트에 텍스트에서 추출할 발견되지 찾을 수 있는
    """
)
# Of the words that deny, those that are no names: "Sem" and "Zero" may be somebody's.
_NO_NAMES = word_set(
    """
    none nothing null nil unknown unspecified keine keiner nichts unbekannt aucun aucune rien inconnu ningún ninguna
    ninguno desconocido nenhum nenhuma desconhecido なし 該当なし 不明 无 没有 未知
    nessuno niente niets нет ничего 없음
    """
)
_WORD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)*")
# Scripts without blanks: such words one behind another.
_UNSPACED_DENIAL = re.compile(
    r"(?:エンティティ|テキスト|見つかり|ありま|含まれて|リレーション|抽出|対象|関係性|関係|事実|実体|該当|する|なし|特に|せん|でした|ません|ない|この|には|"
    r"文章|いま|が|は|も|の|に|と|や|て|い|没有|发现|找到|识别|提取|文本|任何|实体|關係|关系|事实|中|无|未|到|出|和|或|该|可)++"
)
_HAS_UNSPACED_DENIAL = re.compile(r"なし|ません|ない|没有|无|未")


def states_nothing(text: str) -> bool:
    """Whether a text says that there are no facts, and nothing else: "None", "No entities found", "N/A"."""
    words = [word.casefold().replace("’", "'") for word in _WORD.findall(text)]
    return any(map(_denies, words)) and all(map(_fits_denial, words))


def lists_nothing(line: str) -> bool:
    """Whether a line says that there are no facts, or is blank or a heading: it has no fact."""
    words = [word.casefold().replace("’", "'") for word in _WORD.findall(line)]
    return states_nothing(line) or (len(words) <= MAX_HEADING_WORDS and all(map(_fits_denial, words)))


def _denies(word: str) -> bool:
    return word in _DENIALS or bool(_UNSPACED_DENIAL.fullmatch(word) and _HAS_UNSPACED_DENIAL.search(word))


def _fits_denial(word: str) -> bool:
    return word in _DENIALS or word in _BESIDE_DENIALS or _UNSPACED_DENIAL.fullmatch(word) is not None


def _is_placeholder(field: str, placeholders: frozenset[str] = PLACEHOLDERS) -> bool:
    return field.strip(" {}<>[].").replace("_", " ").casefold() in placeholders


def _is_denial(name: str, description: str) -> bool:
    """Whether a name is none: "None", unless its description tells of it by this name."""
    is_word = len(_WORD.findall(name)) == 1
    if not (name.strip(" .()[]<>*-").casefold() in _NO_NAMES if is_word else states_nothing(name)):
        return False
    return states_nothing(description) or name.strip() not in description


def build_mention(name: str, kind: str, description: str) -> Mention | None:
    """A mention with cleaned fields, or None if a field is empty, or the name is that of a field or says “none”."""
    if _is_placeholder(name) or _is_placeholder(description, DESCRIPTION_PLACEHOLDERS) or _is_denial(name, description):
        return None
    mention = Mention(clean_name(name), clean_type(kind), clean_text(description))
    return mention if normalize_name(mention.name) and mention.type and mention.description else None


def state_triple(source: str, relation: str, target: str) -> str:
    """The sentence of a subject, a predicate such as "WORKS_FOR", and an object; empty if one is missing."""
    words = " ".join(relation.replace("_", " ").split())
    if not (source and words and target):
        return ""
    return f"{source} {words.lower() if words.isupper() else words} {target}"


def build_link(source: str, target: str, keywords: str, description: str) -> Link | None:
    """A link with cleaned fields, or None if an end or the description is empty or both ends are the same name."""
    is_template = _is_placeholder(description, DESCRIPTION_PLACEHOLDERS)
    if is_template or any(_is_placeholder(end) or _is_denial(end, description) for end in (source, target)):
        return None
    link = Link(clean_name(source), clean_name(target), clean_keywords(keywords), clean_text(description))
    ends = {normalize_name(link.source), normalize_name(link.target)}
    return link if len(ends) > 1 and "" not in ends and link.description else None
