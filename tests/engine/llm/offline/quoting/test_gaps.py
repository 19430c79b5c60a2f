"""What a question names and an answer lacks."""

from __future__ import annotations

import pytest

from engine.llm.offline.quoting.gaps import find_gaps, lacks_answer
from tests.engine.llm.offline.quoting.clauses import read, score


@pytest.mark.parametrize(
    ("question", "text", "gaps"),
    [
        ("When was the office in Oslo opened?", "The office in Bergen was opened in 2019.", ["Oslo"]),
        ("Who owns the shipping counter?", "Ada owns the billing counter.", ["shipping"]),
        ("Who runs the east gate?", "Gate: north; Keeper: Bo", ["east"]),
        ("Which is the password of safe number 0?", "The password of safe number 3 is 4711.", ["number 0"]),
        ("Who rents locker 33?", "Ada rents locker 31.", ["locker 33"]),
        ("What was sold in 2019?", "Boats were sold in 2021.", ["2019"]),
        ("What costs berth B-7?", "Berth B-9 costs nine crowns.", ["B-7"]),
        ("What did Lone Water order?", "Short Pond ordered nine boats.", ["Lone Water"]),
        ("What costs the weekly card?", "The monthly card costs nine crowns.", ["weekly"]),
        ("What is the number of the boat insurance?", "Insurance: the number of the house is 17.", ["boat"]),
        ("Who sweeps the loft?", "The loft has nine windows.", ["sweeps"]),
        ("Why was the regatta cancelled?", "The regatta starts at the pier.", ["cancelled"]),
        ("When is the concert at the mill Bruck?", "The flag of the mill Bruck is ready on 9 May.", ["concert"]),
        ("Why do the gates close at night?", "The gates close at 22:00 because of the foxes.", []),
        ("Why was the regatta canceled?", "We cancelled the regatta because of the storm.", []),
        ("Who paints the fence?", "The fence is painted by Bo.", []),
        ("When was the office in Bergen opened?", "The office in Bergen was opened in 2019.", []),
        ("Where may guests sleep?", "Visitors sleep in the loft.", []),
        ("When does the choir sing?", "The choir sings on Fridays.", []),
        ("What is the price of fuel?", "The price of paint is nine crowns.", ["fuel"]),
        ("What is the budget for masts this year?", "The budget for sails is nine crowns.", ["masts"]),
        ("Are cats allowed on the pier?", "Dogs are allowed on the pier.", ["cats"]),
        ("When was the mill opened?", "The loft of the mill was swept in 2019.", ["opened"]),
        ("Where do rowers sleep?", "Rowers get nine crowns.", ["sleep"]),
        ("Where does the firm come from that paints the loft?", "The loft is painted by Bo from Ulm.", []),
        ("Who keeps the open-air pier?", "The old pier is open. It is kept by Bo.", ["open-air"]),
        ("How many rooms do we have for meetings?", "There are nine rooms.", []),
        ("北塔は？ (責任者)", "北塔の責任者はボーです。", []),
        ("Who may sail the ketch?", "The dinghy may be sailed by Bo and Ada only.", ["ketch"]),
        ("What depth does the barge need?", "A rowing boat needs a depth of two feet.", ["barge"]),
        ("Who keeps the crane in hall A?", "crane: Bo; hall: C; keeper: Ada", ["hall A"]),
        ("What does the lamp purple mean?", "- lamp: red; meaning: stop\n- lamp: blue; meaning: go", ["purple"]),
        ("Who keeps the crane in hall C?", "crane: Bo; hall: C; keeper: Ada", []),
        ("Who sails boat D?", "The new boat came. Bo sails boat A.", ["sails", "boat D"]),
        ("Who sails boat A?", "boat: Boat A; sailor: Bo; berth: 9", []),
        ("Who drives the cart?", "cart: red; driver: Bo; berth: 9", []),
        ("How often is the loft painted?", "The loft is swept once a month.", ["painted"]),
        ("How often is the loft swept?", "The loft is swept once a month.", []),
        ("How often are the masts oiled?", "The winches are oiled once a month.", ["masts"]),
        ("¿Cuánto cuesta el litro de leche?", "El litro de leche cuesta nueve coronas.", []),
        ("¿Qué hace falta para salir?", "Hace falta un remo.", []),
        ("Quem rema no sábado?", "Ada rema no sábado.", []),
        ("Quem no sábado não rema?", "Ada rema aos sábados.", ["não rema"]),
        ("¿Cuánto cuesta el remo en total?", "El remo cuesta nueve coronas.", []),
        ("Combien coûte la rame en général ?", "La rame coûte neuf couronnes.", []),
        ("Quanto custa o remo de manhã?", "O remo custa nove coroas.", []),
        ("Who may not sail the ketch?", "Bo and Ada may sail the ketch.", ["not"]),
        ("Who may not sail the ketch?", "Only Bo may sail the ketch.", []),
        ("Why does Bo not sail?", "Bo does not sail because of the damp.", []),
        ("¿Quién no puede entrar en el muelle?", "Ada puede entrar en el muelle.", ["no puede"]),
        ("What is the phone of Bo Lind's deputy?", "The phone of Bo Lind is 17.", ["deputy"]),
        ("How much of the budget is for ropes?", "The budget is nine crowns.", ["ropes"]),
        ("When are fees for guests due?", "Fees are due in May.", ["guests"]),
        ("When are fees for members due?", "Fees of members are due in May.", []),
        ("Wann kommen die Filter?", "Die Filtern kommen im Mai.", []),
    ],
)
def test_names_and_words_in_front_of_another(question: str, text: str, gaps: list[str]) -> None:
    candidates = read(text)
    assert find_gaps([0], score(question, candidates), candidates) == gaps


def test_what_the_heading_or_the_rest_of_the_passage_names_is_no_gap() -> None:
    candidates = read("The Tern is a dinghy. It is old. It is blue. It costs nine crowns.", title="Boats of Bergen")
    clause = score("What does the Tern of Bergen cost?", candidates)
    assert find_gaps([3], clause, candidates) == []
    assert find_gaps([], clause, candidates) == []


def test_a_word_known_of_something_else_is_a_gap() -> None:
    candidates = read("The autumn fair is on 9 May.", "The spring cleaning is done by Bo.")
    assert find_gaps([0, 1], score("When is the spring fair?", candidates), candidates) == ["spring"]


@pytest.mark.parametrize(
    ("question", "text", "lacks"),
    [
        ("How much did the new mast cost?", "The new mast is a Tornado K4.", True),
        ("When does the mast arrive?", "The mast arrives by barge.", True),
        ("How much does the winch cost?", "Hold the lever of the winch for two seconds.", True),
        ("How much does the winch cost?", "The winch costs nine crowns.", False),
        ("Why does the mast creak?", "The mast creaks again.", True),
        ("How much did the mast cost?", "The mast cost 900 crowns.", False),
        ("¿Cuánto cuesta el mástil?", "El mástil: 900.", False),
        ("Was kostet der Mast?", "Der Mast kostet im Juni 800 Kronen.", False),
        ("Was kostet der Tanz am Sonntag?", "Am Sonntag 14 Kronen Eintritt", False),
        ("¿Cuánto cuesta el salón?", "El salón cuesta por día 40 coronas.", False),
        ("Quanto custa o salão?", "O salão custa por dia 40 coroas.", False),
        ("Was kostet der Eintritt?", "Der Eintritt kostet ab Juni 16 Kronen.", False),
        ("When does the mast arrive?", "The mast arrives on Friday.", False),
        ("Why does the mast creak?", "The mast creaks because of the damp.", False),
        ("What color is the mast?", "The mast is yellow.", False),
    ],
)
def test_quotations_without_what_is_asked_for_do_not_answer(question: str, text: str, lacks: bool) -> None:  # noqa: FBT001  - a parameter of the table
    candidates = read(text)
    assert lacks_answer([0], score(question, candidates), candidates) is lacks


def test_a_value_in_the_sentence_before_is_no_lack() -> None:
    candidates = read("The Tern was built in 2011. Her captain is Bo Lind.")
    assert not lacks_answer([1], score("When was the boat built whose captain is Bo Lind?", candidates), candidates)


def test_a_word_of_the_next_sentence_is_no_gap() -> None:
    candidates = read("Members have paid berths. They reserve them at the pier.")
    assert find_gaps([0], score("How do I reserve berths?", candidates), candidates) == []
