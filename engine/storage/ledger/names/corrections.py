"""Corrections by hand (aliases, pinned descriptions, hidden keys): they survive a reindex and can be undone."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from engine.errors import CorrectionChanged, InvalidQuestion, NotFound
from engine.knowledge.splits import Split
from engine.storage.ledger.clauses import (
    ASKED_NAME,
    NAME_DESCRIPTION,
    NAME_HIDDEN,
    PAIR_DESCRIPTION,
    PAIR_HIDDEN,
    PART_NAME,
)
from engine.storage.ledger.content.rooms import Rooms
from engine.storage.ledger.names.correction_records import NAME_HINT, RECORDS, CorrectionRecord, order_names, to_records
from engine.storage.ledger.names.joins import Alias, Joins
from engine.storage.ledger.names.names import Invalidation, Names
from engine.storage.ledger.names.splits import Splits
from engine.storage.ledger.records.content import KeyCorrection
from engine.storage.ledger.records.projection import KeyKind
from engine.storage.ledger.records.query_results import CorrectionChange, ManualCorrection
from engine.storage.ledger.work.settings import Settings
from engine.storage.sql.database import Place_co, Topic, reading, writing
from engine.storage.sql.fragments import id_list, text_list
from engine.text.names import clean_name, normalize_name

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Sequence


_CORRECTION_QUERIES = {
    KeyKind.NAME: f"SELECT n.id, {NAME_DESCRIPTION}, {NAME_HIDDEN}, {ASKED_NAME}, {PART_NAME}"
    " FROM @list(?, j) @then JOIN name n ON n.id = j.value",
    KeyKind.PAIR: f"SELECT p.id, {PAIR_DESCRIPTION}, {PAIR_HIDDEN}, NULL, NULL"
    " FROM @list(?, j) @then JOIN pair p ON p.id = j.value",
}

NOTHING_TO_SPLIT = "Nothing that is said about “{name}” here has this type, or comes from this document."
SPLIT_HINT = "Check the type or the document. A name that was split off is split again at the name where it comes from."
CHANGED = "This correction is not there any more: somebody changed or undid it."


class Corrections(Topic[Place_co]):
    """Corrections by hand, within a space, and what they change: the records that they make and remove.

    `room`: the room that a correction moves with, "" for none.
    """

    @reading
    def load_corrections(self, kind: KeyKind, ids: Collection[int]) -> dict[int, KeyCorrection]:
        """Pinned descriptions and hidden keys among these names or pairs; missing ids are left out."""
        rows = self.db.execute_fetchall(_CORRECTION_QUERIES[kind], (id_list(ids),))
        return {id_: KeyCorrection(override, bool(hidden), asked, part) for id_, override, hidden, asked, part in rows}

    @writing
    def merge(self, space: str, name: str, into: str, room: str = "") -> CorrectionChange:
        """Make a name an alias of another. Raises NotFound if both are unknown."""
        return self._observe((space, room), (name, into), partial(self.merge_names, space, name, into, room))

    @writing
    def unmerge(self, space: str, name: str, room: str = "") -> CorrectionChange:
        """Remove an alias; names that would be joined automatically are separated. Raises NotFound."""
        return self._observe((space, room), (name,), partial(self.unmerge_name, space, name, room))

    @writing
    def separate(self, space: str, name: str, other: str, room: str = "") -> CorrectionChange:
        """Record that two names are different; their join ends. Raises NotFound if both are unknown."""
        return self._observe((space, room), (name, other), partial(self.separate_names, space, name, other, room))

    @writing
    def split(self, space: str, name: str, part: str, rules: Collection[str], room: str = "") -> CorrectionChange:
        """Let the facts about a name that follow any of these rules belong to a part, another name.

        Raises NotFound if the name is unknown, or no present fact follows one of the rules.
        """
        id_, _ = self._resolve_place(space, room)
        names = Splits(self.db).find_written_names(id_, normalize_name(name))
        return self._observe(
            (space, room), {*names, name, part}, partial(self.split_name, (space, room), name, part, rules)
        )

    @writing
    def unsplit(self, space: str, part: str, room: str = "") -> CorrectionChange:
        """Remove all rules that lead to a part, and what keeps it apart. Raises NotFound if there are none."""
        id_, _ = self._resolve_place(space, room)
        names = {rule.name for rule in Splits(self.db).find_rules_of_part(id_, normalize_name(part))}
        return self._observe((space, room), {*names, part}, partial(self.unsplit_name, (space, room), part))

    @writing
    def pin_description(self, space: str, names: tuple[str, str], description: str, room: str = "") -> CorrectionChange:
        """Set the description of a relation, or of an entity (name, ""); an empty one removes it."""
        return self._observe((space, room), names, partial(self.change_description, space, names, description, room))

    @writing
    def set_hidden(self, space: str, names: tuple[str, str], room: str = "", *, hidden: bool) -> CorrectionChange:
        """Hide or show an entity (name, "") with its relations, or a relation."""
        return self._observe((space, room), names, partial(self.change_hidden, space, names, room, hidden=hidden))

    @writing
    def undo(self, space: str, change: CorrectionChange, room: str = "") -> CorrectionChange:
        """Remove what a correction made, and restore what it removed.

        Raises CorrectionChanged if that is not the present state, so that of two undos at once one succeeds.
        """
        made, removed = to_records(change.made), to_records(change.removed)
        names = {name for record in made | removed for name in record.names}
        return self._observe((space, room), names, partial(self._reverse, (space, room), made, removed))

    def _observe(
        self, place: tuple[str, str], names: Iterable[str], correct: Callable[[], Iterable[str] | None]
    ) -> CorrectionChange:
        """What a correction of these names changes in a space; `place`: the space, and the room with which it moves."""
        id_, _ = self._resolve_place(*place)
        canonical = {normalize_name(one) for one in names if one}
        before = self._load_records(id_, canonical)
        unknown = correct()
        after = self._load_records(id_, canonical)
        made, removed = [
            tuple(ManualCorrection(kind, place[0], *rest) for kind, *rest in sorted(some))
            for some in (after - before, before - after)
        ]
        return CorrectionChange(made, removed, tuple(unknown or ()))

    def _load_records(self, space: int, names: Iterable[str]) -> set[CorrectionRecord]:
        return {CorrectionRecord(*row) for row in self.db.execute_fetchall(RECORDS, (space, text_list(names)))}

    def _reverse(self, place: tuple[str, str], made: set[CorrectionRecord], removed: set[CorrectionRecord]) -> None:
        id_, _ = self._resolve_place(*place)
        present = self._load_records(id_, {name for record in made | removed for name in record.names})
        replaced, undone = {record.key for record in removed}, {record.identity for record in made}
        others = [record for record in present if record.identity not in undone]
        if len(present) - len(others) < len(undone) or any(other.key in replaced for other in others):
            raise CorrectionChanged(CHANGED)
        for record in sorted(made):
            self._remove_record(place, record)
        for record in sorted(removed):
            self._restore_record(place, record)

    def _remove_record(self, place: tuple[str, str], record: CorrectionRecord) -> None:
        (id_, _), (kind, a, b, rule) = self._resolve_place(*place), record
        if kind == "merge":
            self.remove_alias(id_, a, b)
        elif kind == "separate":
            self.remove_distinct(id_, a, b)
        elif kind == "split":
            Splits(self.db).remove_rules(id_, [Split(a, normalize_name(b), rule)])
        elif kind == "describe":
            self.change_description(place[0], (a, b), "", place[1])
        else:
            self.change_hidden(place[0], (a, b), place[1], hidden=False)

    def _restore_record(self, place: tuple[str, str], record: CorrectionRecord) -> None:
        (id_, room), (kind, a, b, text) = self._resolve_place(*place), record
        if kind == "merge":
            self.save_alias(id_, a, Alias(b, room=room, shown=text))
        elif kind == "separate":
            self.save_distinct(id_, a, {b}, room)
        elif kind == "split":
            Splits(self.db).save_rules(id_, [Split(a, normalize_name(b), text)], b, room)
        elif kind == "describe":
            self.change_description(place[0], (a, b), text, place[1])
        else:
            self.change_hidden(place[0], (a, b), place[1], hidden=True)

    def _find_space_id(self, space: str) -> int:
        """The id of a space. Raises NotFound."""
        for (id_,) in self.db.execute_fetchall("SELECT id FROM space WHERE name = ?", (space,)):
            return int(id_)
        raise NotFound("I don't know anything here yet.", hint="Add documents first.")

    def _resolve_place(self, space: str, room: str) -> tuple[int, int]:
        """The ids of a correction's space and room (0 for none); a moved room decides the space."""
        if not room:
            return self._find_space_id(space), 0
        for id_, settled in self.db.execute_fetchall("SELECT id, space FROM room WHERE name = ?", (room,)):
            return settled or self._find_space_id(space), id_
        return self._find_space_id(space), Rooms(self.db).get_or_create_id("room", room)

    @writing
    def merge_names(self, space: str, name: str, into: str, room: str = "") -> list[str]:
        """Make a name an alias of another within a space; returns those of the two that are unknown.

        Raises NotFound if both are unknown.
        """
        (id_, made_in), alias, target = self._resolve_place(space, room), normalize_name(name), normalize_name(into)
        if not alias or not target or alias == target:
            raise InvalidQuestion(f"“{name}” and “{into}” are not two different names.", hint=NAME_HINT)
        unknown = [given for given in (name, into) if not Joins(self.db).name_ids(id_, {normalize_name(given)})]
        if len(unknown) > 1:
            raise NotFound(f"Neither “{name}” nor “{into}” is known here.", hint=NAME_HINT)
        same = self.db.execute_fetchall(
            "SELECT shown FROM alias WHERE space = ? AND name = ? AND target = ? AND reason = ''", (id_, alias, target)
        )
        shown = next((row[0] for row in same), clean_name(into))  # as it is: a repeated merge changes nothing
        self.save_alias(id_, alias, Alias(target, room=made_in, shown=shown))
        return unknown

    def save_alias(self, space: int, name: str, alias: Alias) -> None:
        """Save an alias made by hand; it replaces automatic ones, and what was separated before."""
        a, b = sorted((name, alias.target))
        self.db.execute("DELETE FROM distinct_names WHERE space = ? AND a = ? AND b = ?", (space, a, b))
        replaced = dict.fromkeys(Joins(self.db).load_automatic_aliases(space, {name}))
        Joins(self.db).change_aliases(space, replaced | {name: alias})
        Joins(self.db).refresh(space, {name, alias.target, *replaced})

    def remove_alias(self, space: int, name: str, target: str) -> None:
        """Remove an alias made by hand; its names may be joined automatically then, as they would be without it."""
        Joins(self.db).change_aliases(space, {name: None})
        Joins(self.db).refresh(space, {name, target})

    @writing
    def unmerge_name(self, space: str, name: str, room: str = "") -> None:
        """Remove an alias; if its names would then be joined automatically, they are separated. Raises NotFound.

        A name that is joined automatically is separated from all names that it is joined with.
        """
        (id_, made_in), alias = self._resolve_place(space, room), normalize_name(name)
        rows = self.db.execute_fetchall(
            "SELECT target FROM alias WHERE space = ? AND name = ? AND reason = ''", (id_, alias)
        )
        for (target,) in rows:
            self.remove_alias(id_, alias, target)
            if target in self._find_joined(id_, alias):
                self.save_distinct(id_, alias, {target}, made_in)
            return
        joined = self._find_joined(id_, alias)
        if not joined:
            raise NotFound(f"“{name}” is not merged into another name.", hint="Only merged names can be separated.")
        self.save_distinct(id_, alias, joined, made_in)

    def _find_joined(self, space: int, name: str) -> set[str]:
        """The names with which a name is joined automatically: its target, and those with the same target."""
        own = Joins(self.db).load_automatic_aliases(space, {name})
        around = Joins(self.db).load_automatic_aliases(space, {name, *(alias.target for alias in own.values())})
        return {end for source, alias in around.items() for end in (source, alias.target)} - {name}

    @writing
    def separate_names(self, space: str, name: str, other: str, room: str = "") -> None:
        """Record that two names are different; their join ends. Raises NotFound if both are unknown."""
        (id_, made_in), a, b = self._resolve_place(space, room), normalize_name(name), normalize_name(other)
        if not a or not b or a == b:
            raise InvalidQuestion(f"“{name}” and “{other}” are not two different names.", hint=NAME_HINT)
        if not Joins(self.db).name_ids(id_, {a, b}):
            raise NotFound(f"Neither “{name}” nor “{other}” is known here.", hint=NAME_HINT)
        for source, target in ((a, b), (b, a)):
            if self.db.execute_fetchall(
                "SELECT 1 FROM alias WHERE space = ? AND name = ? AND target = ? AND reason = ''", (id_, source, target)
            ):
                Joins(self.db).change_aliases(id_, {source: None})
        self.save_distinct(id_, a, {b}, made_in)

    def save_distinct(self, space: int, name: str, others: Collection[str], room: int) -> None:
        """Record that a name and each of some others are different; their joins end."""
        self.db.executemany(
            "INSERT INTO distinct_names (space, a, b, room) VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING",
            [(space, min(name, other), max(name, other), room) for other in others],
        )
        Joins(self.db).refresh(space, {name, *others})

    def remove_distinct(self, space: int, a: str, b: str) -> None:
        """Remove the record that two names are different; they may be joined automatically then."""
        self.db.execute("DELETE FROM distinct_names WHERE space = ? AND a = ? AND b = ?", (space, min(a, b), max(a, b)))
        Joins(self.db).refresh(space, {a, b})

    def split_name(self, place: tuple[str, str], name: str, part: str, rules: Collection[str]) -> None:
        """Let some facts about a name belong to a part, and keep the two names apart."""
        (id_, made_in), other = self._resolve_place(*place), normalize_name(part)
        names = Splits(self.db).find_written_names(id_, normalize_name(name))
        if not names:
            raise NotFound(f"“{name}” is not known here.", hint=NAME_HINT)
        if not other or any(Splits(self.db).leads_to_same(id_, one, other) for one in names):
            raise InvalidQuestion(f"“{name}” and “{part}” are not two different names.", hint=NAME_HINT)
        if not any(Splits(self.db).applies(id_, one, rule) for one in names for rule in rules):
            raise NotFound(NOTHING_TO_SPLIT.format(name=name), hint=SPLIT_HINT)
        for one in names:
            self._save_split(id_, [Split(one, other, rule) for rule in rules], clean_name(part), made_in)

    def _save_split(self, space: int, splits: Sequence[Split], shown: str, room: int) -> None:
        for split in splits:
            self.save_distinct(space, split.name, {split.part}, room)
        Splits(self.db).save_rules(space, splits, shown, room)

    def unsplit_name(self, place: tuple[str, str], part: str) -> None:
        """Give the facts of a part back to the names that they were split from."""
        (id_, _), other = self._resolve_place(*place), normalize_name(part)
        splits = Splits(self.db).find_rules_of_part(id_, other)
        if not splits:
            raise NotFound(f"“{part}” was not split from another name.", hint=NAME_HINT)
        Splits(self.db).remove_rules(id_, splits)
        for name in {split.name for split in splits}:
            self.remove_distinct(id_, name, other)

    @writing
    def change_description(self, space: str, names: tuple[str, str], description: str, room: str = "") -> None:
        """Set a description that overrides the merged one; an empty one removes it. An entity is (name, "")."""
        id_, made_in = self._resolve_place(space, room)
        a, b = order_names(names)
        if description:
            self._check_exists(id_, a, b)
            self.db.execute(
                "INSERT INTO description_override (space, a, b, description, room) VALUES (?, ?, ?, ?, ?)"
                " ON CONFLICT (space, a, b) DO UPDATE SET description = excluded.description, room = excluded.room",
                (id_, a, b, description, made_in),
            )
        else:
            self._remove_correction("description_override", id_, a, b)
        self._invalidate(id_, a, b)

    @writing
    def change_hidden(self, space: str, names: tuple[str, str], room: str = "", *, hidden: bool) -> None:
        """Hide an entity (with its relations) or a relation, or show it again."""
        id_, made_in = self._resolve_place(space, room)
        a, b = order_names(names)
        if hidden:
            self._check_exists(id_, a, b)
            sql = "INSERT INTO hidden_key (space, a, b, room) VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING"
            self.db.execute(sql, (id_, a, b, made_in))
        else:
            self._remove_correction("hidden_key", id_, a, b)
        self._invalidate(id_, a, b, relations=True)

    def move_corrections(self, room: int, space: int | None) -> None:
        """Move the corrections made in a room into a space; None removes them.

        Existing corrections of that space win; an alias that would form a circle there is removed.
        """
        where = "WHERE room = ?1 AND room <> 0 AND space @differs ?2"
        for table, columns in (("description_override", "description, room"), ("hidden_key", "room")):
            rows = self.db.execute_fetchall(
                f"DELETE FROM {table} {where} RETURNING space, a, b, {columns}", (room, space)
            )
            for old_space, a, b, *rest in rows:
                if space is not None:
                    marks = ", ".join("?" * len(rest))
                    self.db.execute(
                        f"INSERT INTO {table} (space, a, b, {columns}) VALUES (?, ?, ?, {marks})"
                        " ON CONFLICT DO NOTHING",
                        (space, a, b, *rest),
                    )
                    self._invalidate(space, a, b, relations=True)
                self._invalidate(old_space, a, b, relations=True)
        led = self.db.execute_fetchall(f"SELECT space, name, target, shown FROM alias {where}", (room, space))
        for old_space, name, target, shown in list(led):
            Joins(self.db).change_aliases(old_space, {name: None})
            Joins(self.db).refresh(old_space, {name, target})
            if space is not None and self._can_alias(space, name, target):
                self.save_alias(space, name, Alias(target, room=room, shown=shown))
        parted = self.db.execute_fetchall(f"DELETE FROM distinct_names {where} RETURNING space, a, b", (room, space))
        for old_space, a, b in list(parted):
            Joins(self.db).refresh(old_space, {a, b})
            if space is not None:
                self.save_distinct(space, a, {b}, room)
        Splits(self.db).move_rules(room, space)
        if space is None:
            Settings(self.db).set("last_removal", Settings(self.db).next_generation())

    def _can_alias(self, space: int, name: str, target: str) -> bool:
        """Whether a name may become an alias of another in this space: it has no alias yet, and no circle results."""
        sql = "SELECT 1 FROM alias WHERE space = ? AND name = ? AND reason = ''"
        existing = self.db.execute_fetchall(sql, (space, name))
        return not existing and Names(self.db).resolve_manual_aliases(space, {target}).get(target) != name

    def _check_exists(self, space: int, a: str, b: str) -> None:
        if len(Joins(self.db).name_ids(space, {a, b} - {""})) < (2 if b else 1):
            raise NotFound(f"“{' ~ '.join(filter(None, (a, b)))}” is not known here.", hint=NAME_HINT)

    def _remove_correction(self, table: str, space: int, a: str, b: str) -> None:
        """Remove a correction; its names may be gone from the ledger."""
        deleted = self.db.execute_fetchall(
            f"DELETE FROM {table} WHERE space = ? AND a = ? AND b = ? RETURNING a", (space, a, b)
        )
        if not deleted:
            self._check_exists(space, a, b)

    def _invalidate(self, space: int, a: str, b: str, *, relations: bool = False) -> None:
        """Mark an entity (with its relations on request) or a relation stale."""
        ids = Joins(self.db).name_ids(space, {a, b} - {""})
        if b:
            names, pairs = set[int](), self._pair_ids(ids)
        else:
            names, pairs = Joins(self.db).touching_keys(ids)
        Invalidation(self.db).invalidate_keys(
            names, pairs if b or relations else (), Settings(self.db).next_generation()
        )

    def _pair_ids(self, ends: Collection[int]) -> set[int]:
        """The pair of two names, and the pair of the names that they lead to."""
        rows = self.db.execute_fetchall(
            "WITH led (id) AS (SELECT n.id FROM @list(?, j) @then JOIN name n ON n.id = j.value"
            " UNION SELECT n.target FROM @list(?, j) @then JOIN name n ON n.id = j.value)"
            " SELECT p.id, p.target FROM led x CROSS JOIN led y @then JOIN pair p ON p.a = x.id AND p.b = y.id",
            (id_list(ends), id_list(ends)),
        )
        return {id_ for row in rows for id_ in row if id_}
