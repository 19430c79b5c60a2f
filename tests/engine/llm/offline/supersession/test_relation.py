"""Which statement replaces which: the same subject, later, with a new value, and nothing else."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from engine.llm.offline.supersession.clauses import MAX_CLAUSES, Statement
from engine.llm.offline.supersession.relation import find_replacements, has_same_label

MONDAY = datetime(2026, 3, 2, 9, tzinfo=UTC)
REPLACED = """
The mill tour is on 4 May. => The mill tour is on 11 May now.
The mill tour is on 4 May. => Sorry all, the guide is ill, so the mill tour moves to 11 May.
Orla leads the kiln group. => Fintan leads the kiln group since Monday.
Orla leads the kiln group. => Fintan takes over the kiln group from Orla.
A sack of lime costs 14 euros. => A sack of lime costs 17 euros from now on.
A sack of lime costs 14 euros. => A sack of lime costs 17 euros.
We use Tallybook for stock. => We switched to Shelfie for stock.
Stock is kept in Tallybook. => We no longer use Tallybook, stock is in Shelfie now.
The council meets in the barn. => The council now meets in the chapel.
The boat trip is on Sunday. => The boat trip has been called off.
The pump needs two filters. => The pump needs three filters now.
The mill tour is on 4 May. => We moved the tour, the mill tour is on 9 May.
The gate runs firmware 2.1.4. => The gate runs firmware 2.2.0 since last night.
Die Probe ist am 3. Juni. => Die Probe wurde auf den 10. Juni verschoben.
La visite est le 3 mai. => La visite est reportée au 10 mai.
La cena es el 8 de mayo. => La cena se mueve al 15 de mayo.
A feira é no dia 7 de junho. => A feira foi adiada para 14 de junho.
We get the flour from Halder. => We don't get the flour from Halder any more, the mill delivers it.
The kiln is lit in winter. => The kiln is not lit in winter, the chimney leaks.
We deliver to Brask with the barge. => We stopped delivering to Brask because of the ice.
The weaving course starts on 4 May. => The weaving course has been moved to 11 May.
The boat parade takes place on Sunday. => The boat parade on Sunday is canceled because of the wind.
The fair opens at 10:00 on the long meadow. => The fair opens at 11:30, still on the long meadow.
The weight limit on the footbridge is 400 kg. => Weight limit on the footbridge is now 300.
Night watch in week 12: Orla => Night watch in week 12: Fintan
The almanac is printed by Falke. => Decided: the almanac goes to Winterdruck.
The benches will be painted green. => Decision: the benches will be painted brown.
Orla cleans the lamp room. => The lamp room is Fintan's task from now on.
Our contact at Brask Mill is Mr. Orly. => Mr. Orly left Brask Mill, Ms. Fint is our contact there now.
The cook of the inn is Mr. Orly. => Mr. Orly retired. Mr. Halder comes to the inn as cook.
The lower sluice is closed for repairs. => The lower sluice is open again since noon.
The cider press works fine. => The cider press is broken, a smith comes tomorrow.
Item: Rowing boat; Per hour: 6 euros => The rowing boat is 8 euros per hour now.
We get the lamp oil from Halder. => Lamp oil: from now on we order at Winterdruck.
The almanac is hosted at Norling. => The almanac migration is done, it lives at Hexal.
The toll list is written in Latin. => I rewrote the toll list in Norse.
The kiln logs go to host 7040. => I changed the kiln logs to 7051, 7040 was taken.
Guests may bring goats to the green. => Goats are not allowed on the green any more.
Orla was elected reeve and treasurer. => Fintan was elected treasurer for two years.
On the quay one may drive 15 km/h. => Since the accident one may drive 10 km/h on the quay.
The ferry bell is rung by Orla. => Since Orla's leave Fintan rings the ferry bell.
The granary is open. => The granary is closed.
Die Winde ist kaputt. => Die Winde funktioniert wieder.
La forja está cerrada. => La forja está abierta de nuevo.
We keep 12 goats. => We keep 14 goats now.
Um den Ofen kümmert sich Frau Orly. => Den Ofen macht jetzt Herr Fint.
Orla garde les clés du phare. => C'est Fintan qui garde les clés du phare désormais.
Orla is treasurer of the kiln group. => Fintan took over from Orla as treasurer of the kiln group.
Release of Almanac 7 on 4 May. => Almanac 7 ships on 11 May instead.
Le vestiaire se trouve au sous-sol. => Le vestiaire a déménagé au deuxième étage.
Orla waters the ferns at night. => Orla does not water the ferns at night any longer, Fintan does.
A night in the loft is 14 euros. => A night in the loft is 15.50 now.
The council meets on Monday at 18:00 in the barn. => The council meets at 19:15, place unchanged.
Orla directs the puppet play in Brask. => Fintan directs the puppet play in Brask, Orla is away.
The ferry goes to the long pier. => The ferry doesn't go to the long pier at the moment.
見学会は5月12日です。 => 見学会は5月19日に変更になりました。
Falke prints the almanac. => We gave the almanac to Winterdruck, Falke was too dear.
The oars are kept in the loft. => We put the oars into the cellar, the loft is too hot.
The kiln tour begins at 11:00. => Kiln tour: we begin at 11:30 rather than 11.
The budget for the barge is 9,000 euros. => The barge gets 7,500 euros instead of 9,000.
Falke opens the fair. => The council decided yesterday: the fair opens with Orla, not Falke.
Die Ruder liegen auf dem Boden. => Wir legen die Ruder jetzt in den Keller, der Boden ist zu heiß.
"""
KEPT = """
The oars are kept in the loft. => The oars are dry, the loft is too hot.
Falke prints the almanac. => Falke is too dear, says Orla.
The kiln tour begins at 11:00. => The kiln holds 12 pots rather than 11.
The release of the almanac is on 4 May. => The release of the calendar is now on 11 May.
Tuesday's rehearsal is at 18:00. => Thursday's rehearsal is now at 19:00.
Orla is away until 3 May. => Fintan is now away until 9 May.
Invoice 311 is due on 2 May. => Invoice 312 is now due on 9 May.
The barn is open from 9:00 to 17:00. => The barn cat is fed at 12:00 now.
The rehearsal is every day at 18:00. => Today the rehearsal is at 20:00.
The mill tour is on 4 May. => Is the mill tour on 11 May now?
The mill tour is on 4 May. => Maybe the mill tour moves to 11 May.
We use Tallybook for stock. => We now also use Shelfie for stock in the barn.
The flood in March lasted 2 days. => The flood in April lasted 5 days.
The oak desk costs 80 euros. => Delivery for the oak desk is now 15 euros.
The kiln runs on port 41. => We moved Tallybook, port 63.
The deadline for Brandt is 4 May. => Nagel has changed the contract. The deadline is 9 May.
Orla owns the ledger. => Orla now owns the almanac.
Der Bus nach Kiel fährt um 8:10 Uhr. => Der Bus nach Husum fährt jetzt um 8:40 Uhr.
La salle bleue ouvre à 9h. => La salle verte ouvre maintenant à 10h.
We deliver to Brask. => The launch of Almanac 7 slips to 11 May.
Orla repairs the tower bell. => Fintan now repairs the tower clock.
Orla designed the weathervane. => The weathervane is now painted by Fintan.
Orla drives the cart on Sundays. => Fintan does not drive the cart on Sundays.
The kiln is lit in winter. => The kiln was not lit in winter last year.
The barn holds 40 sheep. => The barn is now number 12 on the map.
Orla directs the puppet play. => Fintan directs the summer concert, Orla is away.
Action item: roof => Action item: fence
アプリの公開は6月3日です。 => サイトの公開は6月10日に変更になりました。
The upper gate is open. => The lower gate is closed.
The front hatch is open. => The back hatch is closed.
The granary is open. => The granary was closed last autumn.
Das Bad ist offen. => Das Bad war im Herbst geschlossen.
The beacon works. => The beacon on the long pier is out of order.
The lantern is broken. => The lantern in the loft works again.
The granary is never open. => The granary is closed.
We have 12 goats. => We have 4 goats on the meadow.
There are 30 stools. => There are 6 stools left for the choir.
The harvest feast is on 4 May. => Tokens for the harvest feast are sold on 3 April.
The harvest feast is on 4 May. => The harvest feast of the rowers is on 7 June.
The harvest feast is on 4 May. => An extra harvest feast for kids is on 7 June.
Stall 4 has 8 pens. => Stall 5 has 12 pens.
The kiln 1 holds 8 pots. => The kiln 2 holds 20 pots.
Stall 4 hat 8 Plätze. => Stall 5 hat jetzt 12 Plätze.
The press on floor 1 works. => The press on floor 2 is broken.
The mill is open from 8 to 16. => The mill is closed on Friday for cleaning.
We buy flour from Halder. => From now on we buy cheese from Winterdruck.
Orla was elected treasurer of the choir. => Fintan was elected treasurer of the rowing guild.
The tithe deadline is on 4 May. => The poster deadline is on 11 May.
The tithe relay uses port 2525. => Since the flood the web relay uses port 8085.
The yearly meeting is on 9 March. => Minutes of the yearly meeting are due on 20 March.
Orla drives the cart. => Orla was in hospital, the cart needs new wheels.
The bread comes from Halder. => The cheese comes from Brask, Halder was closed.
Tickets are sold by Orla. => Coffee is sold by Fintan, Orla is ill.
Orla drives on Monday. => Fintan drives on Tuesday, Orla is ill.
The 9:00 tour is led by Orla. => The 11:00 tour is led by Fintan, Orla is ill.
"""


def list_pairs(table: str) -> list[tuple[str, str]]:
    return [(old, new) for old, _, new in (line.partition(" => ") for line in table.strip().splitlines())]


def said(text: str, hours: float, speaker: str = "Ada", previous: int = -1, room: str = "hall") -> Statement:
    return Statement(text, MONDAY + timedelta(hours=hours), speaker, room, f"d{hours}", previous)


@pytest.mark.parametrize(("old", "new"), list_pairs(REPLACED))
def test_a_later_value_of_the_same_subject_replaces_the_former_one(old: str, new: str) -> None:
    assert find_replacements([said(new, 30, "Bela"), said(old, 1)]) == {1: 0}


@pytest.mark.parametrize(("old", "new"), list_pairs(KEPT))
def test_what_is_near_but_about_something_else_replaces_nothing(old: str, new: str) -> None:
    assert find_replacements([said(old, 1), said(new, 30, "Bela")]) == {}


def test_an_earlier_or_undated_statement_replaces_nothing() -> None:
    old, new = list_pairs(REPLACED)[3]
    assert find_replacements([said(old, 30), said(new, 1)]) == {}
    assert find_replacements([Statement(old), Statement(new)]) == {}


def test_a_contradiction_is_about_what_the_message_before_it_is_about() -> None:
    built = said("Nagel builds the footbridge.", 1)
    correction = said("no, Brandt builds it since yesterday", 2, "Bela", previous=0)
    assert find_replacements([built, correction]) == {0: 1}
    assert find_replacements([built, said("no, Brandt builds it since yesterday", 2, "Bela")]) == {}


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("The benches arrive on 3 June.", "they wrote again, it will be 9 June"),
        ("We need 14 rowers for the barge.", "the council cut it to 9"),
        ("The guests sleep at Hotel Krone.", "sorry, Krone is full, they sleep at the Ochsen"),
        ("Les bancs arrivent le 3 juin.", "ils ont rappelé, ce sera le 9 juin"),
        ("Die Bänke kommen am 3. Juni.", "der Händler hat angerufen, es wird der 9. Juni"),
    ],
)
def test_a_reply_that_gives_another_value_replaces_what_it_replies_to(old: str, new: str) -> None:
    assert find_replacements([said(old, 0), said(new, 1, "Bob", previous=0)]) == {0: 1}


@pytest.mark.parametrize(
    ("old", "new"),
    [
        *(
            ("The benches arrive on 3 June.", new)
            for new in ("great, it will be 9 of us at the table", "it is 9 euros each", "I paint it on 9 June")
        ),
        ("The benches arrive on 3 June.", "it's 1 June today, so two days left"),
        ("The barge leaves at 8:10.", "it's 8:05 now, hurry"),
        ("The loft is 900 euros.", "that makes 10,800 euros a year"),
        ("The loft is 900 euros.", "it will be 300 euros each"),
        ("Der Boden kostet 900 Euro.", "es werden 300 Euro pro Kopf"),
        ("Le grenier coûte 900 euros.", "ça fera 300 euros chacun"),
        ("El desván cuesta 900 euros.", "serán 300 euros cada uno"),
        ("We have 14 goats.", "that leaves 9 for the fair"),
        ("We sold 40 tickets.", "that leaves 20"),
        ("The barge costs 40 euros an hour.", "it will be 120 euros for three hours"),
    ],
)
def test_a_reply_about_something_else_replaces_nothing(old: str, new: str) -> None:
    assert not find_replacements([said(old, 0), said(new, 0.2, "Bob", previous=0)])


def test_a_bare_name_in_a_contradiction_replaces_the_one_before() -> None:
    asked = said("The guests sleep in Haus Weide.", 1)
    assert find_replacements([asked, said("no, Haus Linde, Weide is full", 1.5, "Bela", previous=0)]) == {0: 1}


def test_what_somebody_meant_replaces_what_they_said() -> None:
    assert find_replacements(
        [said("The council meets at 18:00.", 1), said("sorry, I meant 19:00", 1.1, previous=0)]
    ) == {0: 1}


def test_what_people_say_of_themselves_is_replaced_by_them_alone() -> None:
    mine = said("I'm away until 12 June.", 1)
    assert find_replacements([mine, said("I'm now away until 20 June.", 30, "Bela")]) == {}
    assert find_replacements([mine, said("I'm now away until 20 June.", 30)]) == {0: 1}


def test_the_newest_of_several_replaces_them_all() -> None:
    days = ["The mill tour is on 4 May.", "The mill tour is on 11 May now.", "The mill tour is on 18 May instead."]
    assert find_replacements([said(text, 24 * at) for at, text in enumerate(days)]) == {0: 2, 1: 2}


def test_a_clause_of_a_value_alone_takes_the_subject_of_its_statement() -> None:
    assert (
        find_replacements([said("Mill tour, barn gate, at 9:00", 1), said("Mill tour, barn gate, at 10:00", 2)]) == {}
    )


def test_of_a_long_statement_only_the_first_clauses_are_compared() -> None:
    rows = ["; ".join(f"shelf {at} has {at + row} jars now" for at in range(60)) for row in range(3)]
    assert [len(said(row, 1).parsed.clauses) for row in rows] == [MAX_CLAUSES] * 3


def test_the_same_label_with_another_short_value_is_the_same_thing() -> None:
    assert has_same_label("Night watch in week 12: Fintan", "night watch in week 12: Orla")
    assert not has_same_label("Night watch in week 13: Fintan", "Night watch in week 12: Orla")


def test_a_label_of_one_word_and_a_long_text_say_nothing() -> None:
    assert not has_same_label("Reminder: roof", "Reminder: fence")
    assert not has_same_label("Night watch in week 12: Fintan, who has the key", "Night watch in week 12: Orla")
