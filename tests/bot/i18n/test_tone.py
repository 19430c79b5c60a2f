"""How the catalogs speak: none of the program's insides, one form of address, one word for one thing, brief buttons."""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from collections.abc import Iterator
from functools import cache

import pytest

from bot.i18n import LANGUAGES, TRANSLATIONS
from tests.bot.i18n.test_member_words import list_member_sentences
from tests.support.catalogs import read_catalog
from tests.support.source_trees import list_modules, list_nodes

# Members never read these; for English, `test_member_words.py` has its own.
INSIDES = {
    "de": r"\b(?:Chunks?|Entität\w*|Passagen?|Embeddings?|Vektor\w*|Parser\w*|Schlüssel\w*)\b",
    "es": r"\b(?:chunks?|entidad(?:es)?|pasajes?|vector(?:es)?|claves?)\b",
    "fr": r"\b(?:chunks?|entités?|passages?|vecteurs?|clés?)\b",
    "ja": r"チャンク|エンティティ|パッセージ|埋め込み|ベクトル|(?<!ワーク)スペース(?!、)|キー",
    "pt": r"\b(?:chunks?|entidades?|passagens|vetor(?:es)?|chaves?)\b",
}
EVERYWHERE = r"THREADLORE_|\b(?:hybrid|naive|bypass|UTC)\b"
# Forms of address that the language did not choose, and words that mean what another word was chosen for.
STRANGE = {
    "de": r"\b(?:(?-i:Ihre?[mnrs]?) (?:Frage|Datei|Nachricht)|(?:können|haben|müssen|dürfen|möchten) (?-i:Sie)|"
    r"Channels?|Verwaltern?|indexier\w*|Experten?)\b",
    "es": r"\b(?:usted(?:es)?|vosotros|vuestr\w+|quienes administran|especialistas)\b|[“”]",
    "fr": r"\b(?:tu|toi|ton|tes|écris|redemande|gestionnaires?|spécialistes|salons?|messages? directs?|exploite)\b",
    "ja": r"専門家|ドキュメント|検証済み|索引|正規メンバー|運用担当|運用している人",
    "pt": r"\b(?:teu|tua|falta-me|faltam-me|espaço de trabalho|me opera|opera o)\b|[«»]",
}
MAX_WORDS = {"en": 3, "de": 3, "es": 4, "fr": 4, "pt": 4}  # on a button; Spanish, French and Portuguese need articles
SHARED_WORDS = 8  # of a sentence that is the same in Spanish and Portuguese by chance
MAX_UNSPACED = 12  # characters on a button in Japanese
PLACEHOLDER = re.compile(r"\{\w*\}|`[^`]*`|„\w+“")  # and code, and words that are typed


@cache
def list_strings(language: str) -> tuple[tuple[str, str], ...]:
    """Each sentence of a catalog in English, and each form of its translation."""
    return tuple(_read_strings(language))


def _read_strings(language: str) -> Iterator[tuple[str, str]]:
    for message in read_catalog(language):
        forms = message.string or ""
        for form in (forms,) if isinstance(forms, str) else forms:
            yield (message.id if isinstance(message.id, str) else message.id[0]), form


@cache
def list_buttons() -> set[str]:
    """The labels of buttons: constants named so, and sentences within the calls that make one."""
    found = set[str]()
    for node in (node for path in list_modules("bot") for node in list_nodes(path)):
        match node:
            case ast.Call(ast.Name("Button"), [ast.Call(ast.Name("gettext"), [ast.Constant(str(label))]), *_]):
                found.add(label)
            case ast.Assign([ast.Tuple(names)], ast.Tuple(values)):
                found |= {label for pair in zip(names, values, strict=True) for label in _read_constant(*pair)}
            case ast.Assign([name], value):
                found |= set(_read_constant(name, value))
    return found


def _read_constant(name: ast.expr, value: ast.expr) -> Iterator[str]:
    match name, value:
        case ast.Name(id_), ast.Call(ast.Name("N_"), [ast.Constant(str(label))]) if id_.endswith("BUTTON"):
            yield label


@pytest.mark.parametrize("language", TRANSLATIONS)
def test_no_translation_names_the_program_s_insides_to_members(language: str) -> None:
    members, insides = set(list_member_sentences()), re.compile(f"{INSIDES[language]}|{EVERYWHERE}", re.IGNORECASE)
    shown = [(sentence, PLACEHOLDER.sub("", form)) for sentence, form in list_strings(language)]
    assert [form for sentence, form in shown if sentence in members and insides.search(form)] == []


@pytest.mark.parametrize("language", TRANSLATIONS)
def test_a_translation_keeps_to_its_form_of_address_and_its_words(language: str) -> None:
    strange = re.compile(STRANGE[language], re.IGNORECASE)
    assert [form for _, form in list_strings(language) if strange.search(PLACEHOLDER.sub("", form))] == []


def test_no_translation_is_in_the_language_of_another_catalog() -> None:
    places = defaultdict[str, set[str]](set)
    for language in TRANSLATIONS:
        for sentence, form in set(list_strings(language)):
            if form != sentence and len(form.split()) > SHARED_WORDS:
                places[form].add(language)
    assert {form: found for form, found in places.items() if len(found) > 1} == {}


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_button_has_few_words(language: str) -> None:
    labels = list_buttons()
    assert {"Improve this answer", "Forget them", "Stop telling me"} <= labels
    shown = dict(list_strings(language)) if language != "en" else {label: label for label in labels}
    if language == "ja":
        assert [shown[label] for label in labels if len(shown[label]) > MAX_UNSPACED] == []
    else:
        assert [shown[label] for label in labels if len(shown[label].split()) > MAX_WORDS[language]] == []
