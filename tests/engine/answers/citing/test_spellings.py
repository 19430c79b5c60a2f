"""A given number is a citation in every spelling; a number that means something else stays text."""

from __future__ import annotations

import re
import time
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.answers.citations import CitationFilter

GIVEN = (1, 2, 3, 4, 5, 12)
KILN = "The old kiln was lit at nine"


def cite(text: str, *texts: str, step: int = 1000) -> tuple[str, tuple[int, ...]]:
    filter_ = CitationFilter(GIVEN, texts, "When was the kiln lit?")
    shown = "".join(filter_.feed(text[at : at + step]) for at in range(0, len(text), step)) + filter_.close()
    return shown, filter_.used_numbers


ONE = """
[Source 2]¦[source: 2]¦[source_2]¦[Src 2]¦[ref. 2]¦[#2]¦[S2]¦[No. 2]¦[doc 2]¦[cite: 2]¦[citation:2]¦[context:2]¦[ID: 2]
[message 2]¦[2 (Kiln diary)]¦[2 – Kiln diary]¦[Source 2: Kiln diary]
[^2]¦[^2^]¦[Quelle 2]¦[vgl. Quelle 2]¦[Beleg 2]¦[Fuente 2]¦[réf. 2]¦[fonte: 2]¦[出典2]¦[来源２]¦［出典：２］¦〔2〕
[2: Kiln diary]¦[2, Kiln diary]¦[2†diary]¦【2†L1-L4】¦[②]¦[٢]¦(2)¦(Source 2)¦(source: 2)¦(siehe Quelle 2)
(fuente 2)¦（2）¦[Nachweis 2]
(see source 2)¦^2^¦^[2]^¦$^{2}$¦<sup>2</sup>¦<ref>2</ref>¦<cite>2</cite>¦<source>2</source>¦<ref name="2"/>¦\\cite{2}
[source_id: 2]¦[doc_id=2]¦[Dok. 2]¦[n.º 2]¦[n.o 2]¦\\textsuperscript{2}
, Source 2¦ (citation 2)¦[source 2](#source-2)
(message 2)¦(siehe Nachricht 2)¦(véase el mensaje 2)¦(voir message 2)¦(ver mensagem 2)¦（メッセージ2）¦（資料2を参照）
(source n° 2)¦(s. Quelle 2)¦<sup><a>2</a></sup>¦<sup><a href="#k">[2]</a></sup>¦②¦^2¦^[2]¦^(2)¦^{2}
{2}¦<2>¦[2, 07:40]¦[2, 2026-05-09]¦[source: 2, 07:40]¦[Doc. 2, p. 4]¦[2, §3]
❷¦(fuente n.º 2)
"""
TWO = """
[1, 2]¦[1; 2]¦[1|2]¦[1/2]¦[1+2]¦[1 2]¦[1 and 2]¦[1 und 2]¦[1 y 2]¦[1 et 2]¦[1 e 2]¦[1と2]¦[Sources 1 & 2]¦[S1, S2]
[Source 1, Source 2]¦[Source 1; 2]¦(1, 2)¦(1)(2)¦(Sources 1 and 2)¦(Quellen 1 und 2)¦^[1][2]^¦[1–2]¦[1 to 2]¦[1..2]
[1]–[2]¦[1] - [2]¦[1～2]¦[1〜2]¦¹⁻²
[1 bis 2]¦[1 a 2]¦[1 à 2]¦[Data: Sources (1, 2); Entities (3)]¦, sources 1 and 2¦<sup>1,2</sup>¦\\citep{1,2}¦[1],[2]
{1}{2}¦<1><2>¦<sup>1</sup><sup>2</sup>¦[1・2]¦①②¦^1,2¦(messages 1 and 2)¦(Nachrichten 1, 2)
"""


def spellings(text: str) -> list[str]:
    return re.split(r"¦|\n", text.strip())


@pytest.mark.parametrize("step", [1, 1000])
@pytest.mark.parametrize(
    ("written", "numbers"), [*((s, (2,)) for s in spellings(ONE)), *((s, (1, 2)) for s in spellings(TWO))]
)
def test_a_spelling_of_given_numbers_is_a_citation(written: str, numbers: tuple[int, ...], step: int) -> None:
    gap = "" if written[0] in "<^$[【［〔, ¹" else " "
    shown, used = cite(f"{KILN}{gap}{written}.", step=step)
    assert used == numbers
    for place, _ in enumerate(numbers, 1):
        assert f"[{place}]" in shown


@pytest.mark.parametrize(
    "text",
    [
        f"{KILN}².",
        f"{KILN} by all of the three (2).",
        f"{KILN} on shelf 7².",
        f"{KILN}.² It cooled.",
        "窯は九時に点火されました（2）。",
        "出典2によると九時です。",
        "Laut Quelle 2 war es neun.",
        "Según la fuente 2, a las nueve.",
        "According to Document 2, the kiln was lit at nine.",
        "Message 2 says that the kiln was lit at nine.",
        "Laut Nachricht 2 wurde um neun gezündet.",
        "Según el mensaje 2, a las nueve.",
        "D'après le document 2, à neuf heures.",
        "De acordo com a mensagem 2, às nove.",
        "文書2によると九時です。",
        "In Dokument 2 steht, dass er um neun brannte.",
        "Como indicado no documento 2, às nove.",
        f"{KILN},^2 says Ada.",
        "The kiln was lit at 07:40² and burned all day.",
        "The potters carried the bricks two by two ^2.",
        "| Hour | Source |\n|---|---|\n| nine | 2 |\n",
        "| Stunde | Quelle |\n|---|---|\n| neun | (2) |\n",
    ],
)
def test_raised_numbers_words_and_cells_are_citations(text: str) -> None:
    assert cite(text)[1] == cite(text, step=1)[1] == (2,)


MEANT_OTHERWISE = """
It was built in 2024 (2024).¦(1) Light it. (2) Wait.¦Steps: (1) light it, (2) wait, and (3) open.
See section (3).¦Step (1): wait.¦Art. 5 (1).¦§ 3 (2).¦Die Schritte: (1) zünden, (2) warten.¦第3章（2）。
Ada (3), Bob (2).¦Ada (3)¦It has 3 doors (2 of them shut).¦At 10:03 (12:05).¦x² + y² = z²¦An area of 12 m².
10³ bricks¦km<sup>2</sup>¦f(2) = 4¦2^12¦a^1^b¦$5 and $12¦The data source 2 is slow.¦Source 1.5 is old.
source 2 of 3¦the source 2 km away¦[Table 2]¦[step 2]¦[12:05]¦[3 kilns]¦[v2]¦[p. 4]¦[2026-05-09]
[Chapter 2: The Fen]¦[Room 2, first floor]¦[2-day firing]¦[May 3, Monday]¦[Phase 1 - planning]¦[3 (three) bricks]
The kilns are free on floor two (2), three (3) and four (4).¦Am Abend brannten dann noch drei (3).
Anoche quedaban encendidos solo dos (2).
`f(1)` and `a[2]`¦| brick | 1 |¦[Kiln diary]¦[Entities 2]
The flux behind the kiln is 5 W m⁻².¦Ada merged the flue of the kiln (#4).¦Source 2 of the river lies in the hills.
Quelle 3 der Donau liegt im Wald.
La fuente 2 de energía falló.¦A fonte 1 de energia falhou.¦La source 2 d'énergie manque.
Il y a une source 2 fois plus grande.¦The format string of the label is kiln {1}.¦Wait and then press the key <2>.
The kiln was lit. Source: 2 pages of notes.
The kiln costs 5 bricks (5).¦Es brannte fünf ganze Tage (5).¦Sign for the kiln on form (3).
La ficha va con el formulario (3).
① Light it. ② Wait.¦Do this: ① light it, ② wait.¦A hearth of 12 m^2.¦They sent 2 messages.¦Document 2 is lost.
The letter went out with message 2 of the guild.
価格は5円です[注2]。¦窯は九時です[脚注 3]。¦[Anmerkung 3]¦[Fußnote 2]¦[nota 2]¦[fn 2]¦[footnote 3]
[Note 2]¦[note 3: kilns]
The heat is in cell [D3].¦Vitamin [D3] helps.¦It is not new over [D1] and [D2].¦It is [Evidence 3] of the court file.
The kiln runs build [@1].
"""


@pytest.mark.parametrize("text", spellings(MEANT_OTHERWISE))
def test_a_number_that_means_something_else_stays_text(text: str) -> None:
    assert cite(text) == cite(text, step=1) == (text, ())


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Ticket [#3] is open, and the PR [#2] too.", "Ticket (#3) is open, and the PR (#2) too."),
        ("See chapter [3] about kilns.", "See chapter (3) about kilns."),
        ("Press [2] to light it.", "Press (2) to light it."),
        ("Raum [3] ist kalt.", "Raum (3) ist kalt."),
        ("In the array a[3] stands the heat.", "In the array a`[3]` stands the heat."),
        ("In the array a[2] or b[3] stands it.", "In the array a`[2]` or b`[3]` stands it."),
        ("Read rows[1] = b[2] or i[3] + 1.", "Read rows`[1]` = b`[2]` or i`[3]` + 1."),
    ],
)
def test_a_bracket_with_the_number_of_a_thing_does_not_look_like_a_citation(text: str, expected: str) -> None:
    assert cite(text) == cite(text, step=1) == (expected, ())


@pytest.mark.parametrize(
    "text",
    """
The potters met in room [1].
Set GLAZE=true[1] and light it.¦Start it with MODE=slow[1].¦The bricks are on shelf b[1].
Eat vitamin c[1] daily.¦Los hornos se encienden y[1] se apagan.
Guests need a token to enter [1].¦Ada paid by card [1].¦The glaze is in line [1] with it.
Members may not select [1].¦In case [1] of fire, leave.¦Der Zug steht auf Gleis [1].¦Il n'y a pas de règle [1].
Ada works on tasks [1].¦It lists hall, shed and gate [1].¦If it is done, press enter [1].
""".strip()
    .replace("\n", "¦")
    .split("¦"),
)
def test_a_citation_behind_a_noun_that_may_be_numbered_stays_one(text: str) -> None:
    assert cite(text) == cite(text, step=1) == (text, (1,))


def test_numbers_that_were_not_given_are_no_citations() -> None:
    assert cite(f"{KILN} (9).") == (f"{KILN} (9).", ())
    assert cite(f"{KILN} (2, 9), says Source 8.")[1] == ()
    assert cite(f"{KILN} [Source 9].") == (f"{KILN}.", ())


def test_words_that_a_source_says_with_the_number_are_quoted() -> None:
    text = "They met below the clock of Source 2 and at the old gate (1)."
    assert cite(text)[1] == (2, 1)
    assert cite(text, "a walk past the gate (1)", "the shop Source 2 is shut") == (text, ())


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (f"{KILN} [4]. The kiln is cold again (1).", f"{KILN} [1]. The kiln is cold again [2]."),
        ("As Source 2 says, nine [5][2].", "As Source [1] says, nine [2][1]."),
        ("Sources 3 and 4 disagree: nine [3], ten [4].", "Sources [1][2] disagree: nine [1], ten [2]."),
        (
            "| Hour | Source |\n|---|---|\n| nine | [5] |\n| ten | 1 |",
            "| Hour | Source |\n|---|---|\n| nine | [1] |\n| ten | [2] |",
        ),
    ],
)
def test_mixed_spellings_are_renumbered_together(text: str, expected: str) -> None:
    assert cite(text)[0] == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (f"[cite_start]{KILN}[cite: 2].", f"{KILN}[1]."),
        (f"{KILN} \ue200cite\ue202turn0search1\ue201.", f"{KILN} ."),
        (f"{KILN} citeturn0search1turn0search2.", f"{KILN} ."),
    ],
)
def test_marks_of_other_programs_are_dropped(text: str, expected: str) -> None:
    assert cite(text)[0] == expected


WORDS = [*spellings(ONE), *spellings(TWO), *spellings(MEANT_OTHERWISE), KILN, " ", ". ", "\n", "Source", "source ", "("]
WORDS += ["[", "]", "1", "2", "<", "<sup>", "^", "$", "|", "²", "cite", "\\", "`", "```\n", "Sources:\n", "Refs\n"]


@given(st.lists(st.sampled_from(WORDS), max_size=8).map("".join), st.lists(st.integers(0, 300), max_size=12))
def test_the_result_does_not_depend_on_how_a_text_is_cut(text: str, cuts: list[int]) -> None:
    edges = [0, *sorted(cut % (len(text) + 1) for cut in cuts), len(text)]
    filter_ = CitationFilter(GIVEN, (), "?")
    shown = "".join(filter_.feed(text[a:b]) for a, b in pairwise(edges)) + filter_.close()
    assert (shown, filter_.used_numbers) == cite(text)


def test_only_what_may_become_a_citation_is_held_back() -> None:
    filter_ = CitationFilter(GIVEN, (), "?")
    pieces = ("The soil (dry and ", "red) is (2", " metres) deep.")
    assert [filter_.feed(piece) for piece in pieces] == ["The soil (dry an", "d red) i", "s (2 metres) "]


@pytest.mark.share(12)
@pytest.mark.parametrize(
    "unit",
    [
        "(",
        "(1",
        "source ",
        "Sources 1, ",
        "<sup>",
        "^1",
        "$^",
        "²",
        "| 1 ",
        "cite",
        "[S1",
        "Sources:\n",
        "①",
        "^{1",
        "a[1]",
        "message 1",
    ],
)
def test_the_time_grows_with_the_text(unit: str) -> None:
    def cost(length: int) -> float:
        text, filter_, started = (unit * length)[:length], CitationFilter(GIVEN, (), "?"), time.process_time()
        for at in range(0, length, 7):
            filter_.feed(text[at : at + 7])
        filter_.close()
        return time.process_time() - started

    assert any(cost(8_000) <= 2.7 * cost(4_000) + 0.01 for _ in range(3))  # the machine may be busy


def test_a_label_with_a_number_on_its_own_line_is_a_citation() -> None:
    assert cite(f"{KILN}.\nSource: 2") == (f"{KILN}.\nSource [1]", (2,))


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("**Source:** 2", "**Source:** [1]"),
        ("**Quelle**: 2", "**Quelle**: [1]"),
        ("*Fuentes utilizadas:* 2.", "*Fuentes utilizadas:* [1]."),
        ("- Source: **2**", "- Source: **[1]**"),
        ("_Source: 2_", "_Source [1]_"),
        ("**出典：** 2", "**出典：** [1]"),
        ("Sources used: 2", "Sources used [1]"),
    ],
)
def test_a_label_that_stands_out_is_one_too(line: str, expected: str) -> None:
    assert cite(f"{KILN}.\n\n{line}") == cite(f"{KILN}.\n\n{line}", step=1) == (f"{KILN}.\n\n{expected}", (2,))


COUNTED = """
**Sources:** 2 pages of notes¦The book has references: 3¦- Referencia: 5 / - Precio: 12 EUR
- Referenz: 4 / - Preis: 9 EUR
Beleg: 3¦Ref: 5¦Reference : 5¦Référence : 5 / Prix : 12¦- Referência: 5¦**Citations:** 3¦Citation: 2¦Referenz: 4
参照：3¦参考文献: 5¦- Kiln: 4 / - Sources cited: 5¦Kiln: 4 / Sources cited: 5¦Sources cited: 5 / Pages: 40
References: 3¦Belege: 3¦参考資料：2
"""


@pytest.mark.parametrize("text", [each.replace(" / ", "\n") for each in spellings(COUNTED)])
def test_a_label_with_a_count_is_text(text: str) -> None:
    assert cite(text) == cite(text, step=1) == (text, ())


@pytest.mark.parametrize("text", ["- Quelle: 4 / - Preis: 9 EUR", "**Sources used:** 3", "Fuentes：2, 3"])
def test_a_label_that_a_source_says_with_its_number_is_quoted(text: str) -> None:
    text = text.replace(" / ", "\n")
    assert cite(text)[1]
    assert cite(text, "Quelle: 4", "Sources used: 3.", "Fuentes: 2, 3") == (text, ())


@pytest.mark.parametrize(
    "bracket", ["[Ref. 3]", "[Document 3]", "[文書３]", "[No. 3]", "[Source 9]", "[Beleg 3, 07:40]"]
)
def test_a_bracket_with_a_label_that_a_source_contains_is_quoted(bracket: str) -> None:
    text, quoted = f"{KILN} {bracket}.", f"{KILN} ({bracket[1:-1]})."
    assert cite(text)[0] != quoted
    assert cite(text, f"as of {bracket}, cold", "[3]") == (quoted, ())
    assert cite(text, f"as of {bracket}, cold", step=1) == (quoted, ())
    assert cite(f"{KILN} [2 and 3].", "kilns [2 and 3], [see 2]")[1] == (2, 3)


@pytest.mark.parametrize("line", ["Sources used: 2\n\nIt was cold.", "**Quellenangaben:** 2", "> Fontes citadas: 2"])
def test_a_phrase_at_the_end_of_a_paragraph_is_a_citation(line: str) -> None:
    assert cite(f"{KILN}.\n{line}")[1] == cite(f"{KILN}.\n{line}", step=1)[1] == (2,)


@pytest.mark.parametrize("step", [1, 1000])
def test_a_link_with_such_a_label_stays_a_link(step: int) -> None:
    link = "See [Doc 2](https://kiln.example/2) there."
    assert cite(link, link, step=step) == (link, ())


@pytest.mark.parametrize(
    "text", ["Pick [Yes] or [No].", "It is rows[index].", "He met [S. Ode] [citation needed].", "See [source][ref]."]
)
def test_a_bracket_without_a_number_is_text(text: str) -> None:
    assert cite(text, text) == cite(text, text, step=1) == (text, ())


@pytest.mark.parametrize(
    "cited", ["[Source 1]", "[source: 1]", "[Sources 1, 9]", "[cite: 1]", "[Quelle 1]", "(Source 1)", "[出典1]"]
)
def test_a_copied_answer_takes_no_citation(cited: str) -> None:
    copied = f"It is cold [{cited[1:-1]}] [Source 3, Source 1]."
    assert cite(f"{KILN} {cited}.", copied) == cite(f"{KILN} {cited}.", copied, step=1) == (f"{KILN} [1].", (1,))


PAGES = """
[S. 3]¦[S.3]¦[vgl. S. 3]¦[siehe S. 3, 4]¦[S. 3: Ofenplan]¦[S. 3, 07:40]¦[s. 3]
"""


@pytest.mark.parametrize("page", spellings(PAGES))
def test_an_abbreviated_page_is_no_source(page: str) -> None:
    text = f"{KILN} {page}."
    assert cite(text) == cite(text, step=1) == (text, ())


@pytest.mark.parametrize(
    "written",
    spellings("[2, S. 4]¦[Quelle 2, S. 4]¦[2, p. 4]¦[Source 2, pp. 4-5]¦[2, pág. 12]¦[2, Seite 4 f.]¦[Doc 2; page 12]"),
)
def test_a_page_behind_a_source_is_left_out(written: str) -> None:
    text = f"{KILN} {written}."
    assert cite(text) == cite(text, step=1) == (f"{KILN} [1].", (2,))


NAMED_INDEXES = """
Set rows[n1] to zero first.¦Swap cells[s2] and cells[n3] there.¦The array row[n2].¦It reads items[i2] or items[n4] now.
"""


@pytest.mark.parametrize("text", spellings(NAMED_INDEXES))
def test_an_index_with_a_name_is_text(text: str) -> None:
    assert cite(text) == cite(text, step=1) == (text, ())


@pytest.mark.parametrize("text", [f"{KILN}[S2].", f"{KILN}[n2], it is said.", f"{KILN}[s2][n3]."])
def test_a_glued_label_behind_a_clause_is_a_citation(text: str) -> None:
    assert cite(text)[1] == cite(text, step=1)[1] == ((2, 3) if "3" in text else (2,))


PAIRS = """
The stake beside the kiln is at (4, 12).¦On the map the old kiln is (2, 5).¦The grid position of the kiln = (1, 3).
Der alte Ofen steht im Plan bei (4, 12).¦Die Lage des alten Ofens ist (2, 5).¦El lugar del horno viejo es (2, 5).
Le four du plan se trouve à (2, 5).¦A posição do forno antigo é (2, 5).¦They won the second set of the match (4, 2).
Die Töpfer gewannen den letzten Satz klar (4, 2).¦Les potiers ont gagné le dernier match (4, 2).
The square of the old kiln lies between (1, 2) and (4, 5).
"""


@pytest.mark.parametrize("text", spellings(PAIRS))
def test_a_pair_that_the_sentence_needs_is_text(text: str) -> None:
    assert cite(text) == cite(text, step=1) == (text, ())


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("The range of the dial is [1, 5] there.", "The range of the dial is `[1, 5]` there."),
        ("Its heat is in the interval [2, 4].", "Its heat is in the interval `[2, 4]`."),
        ("Die Hitze liegt im Bereich [2, 4] hier.", "Die Hitze liegt im Bereich `[2, 4]` hier."),
        ("Le nombre est dans l'intervalle [2, 4].", "Le nombre est dans l'intervalle `[2, 4]`."),
    ],
)
def test_an_interval_is_code(text: str, shown: str) -> None:
    assert cite(text) == cite(text, step=1) == (shown, ())


@pytest.mark.parametrize(
    "text",
    [
        "As is stated for the old kiln in (1, 2), it was lit.",
        "The old kiln was lit at nine according to (1, 2).",
        "They won the last match on a cold Tuesday (1, 2).",
        "The old kiln was lit in the last match break (1, 2).",
        "The range of the old dial was set by Ada [1, 2].",
    ],
)
def test_a_pair_that_supports_a_clause_is_a_citation(text: str) -> None:
    assert cite(text)[1] == cite(text, step=1)[1] == (1, 2)


BEHIND_A_CLAUSE = """
Nobody in the team knows where the key is (3)¦We cannot tell yet who the new owner is (2, 3)
The meeting is off, because the old kiln was (2, 3)¦The new kiln is hotter than the old one was (2)
Der Termin fällt aus, weil der alte Ofen kaputt ist (3)¦Es ist klar, dass die Miete 500 Euro beträgt (2)
Der Termin fällt aus, weil beide Töpfer krank sind (2, 3)¦Ada trägt zu diesem Ofen viel bei (2)
Nadie del equipo sabe dónde la llave está (2)¦Personne ne sait où la clef est (2, 3)
Ada set the deadline for the kiln (4, 2)¦The final report is due on Friday (3, 1)
Half of the budget is already spent (5, 2)¦The result was sent to Bruno yesterday (4, 3)
We lost the contract with the potters (3, 1)¦Das Ergebnis liegt seit Montag vor (3, 1)
La partida de nacimiento está guardada (3, 1)¦She won the prize for her kiln (2, 1)
Sie leitet seit Montag diesen Bereich [1, 2]¦The oven stays within its usual range [1, 2]
Il a nettoyé hier toute la plage [1, 2]¦They sell pots of a wide range [1, 2]
They lit it again after an interval [1, 2]¦Nobody says what the range of it is [1, 2]
"""


@pytest.mark.parametrize("text", [f"{text}." for text in spellings(BEHIND_A_CLAUSE)])
def test_numbers_behind_a_clause_are_citations(text: str) -> None:
    numbers = tuple(map(int, re.findall(r"\d+", text[re.search(r"[(\[][\d, ]+[)\]]", text).start() :])))  # type: ignore[union-attr]
    assert cite(text)[1] == cite(text, step=1)[1] == numbers


def test_a_label_glued_to_a_word_within_a_clause_is_a_citation() -> None:
    text = "The kiln[S1] is lit at nine and put out[S2] at ten."
    shown = "The kiln[1] is lit at nine and put out[2] at ten."
    assert cite(text) == cite(text, step=1) == (shown, (1, 2))


@pytest.mark.parametrize(
    ("written", "numbers"),
    [
        ("[S 1, S 3]", (1, 3)),
        ("[S1, S 3]", (1, 3)),
        ("[1, S. 4; 2, S. 3]", (1, 2)),
        ("[Source 1, page 4; Source 2, page 3]", (1, 2)),
    ],
)
def test_each_source_of_a_list_with_pages_is_cited(written: str, numbers: tuple[int, ...]) -> None:
    text = f"{KILN} {written}."
    assert cite(text)[1] == cite(text, step=1)[1] == numbers


def test_a_copied_link_stays_one() -> None:
    text = f"{KILN} [source 1](https://kiln.example/1)."
    assert cite(text, text) == cite(text, text, step=1) == (text, ())
