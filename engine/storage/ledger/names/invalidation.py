"""Marking what changed facts and aliases make outdated: profiles, projections and cached answers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from engine.storage.ledger.names.names import Names
from engine.storage.ledger.records.projection import KeyKind
from engine.storage.ledger.work.settings import Settings
from engine.storage.ledger.work.stale_keys import StaleKeys
from engine.storage.sql.lists import id_list
from engine.storage.sql.topic import Place_co, Topic

if TYPE_CHECKING:
    from collections.abc import Collection


_STATED = "EXISTS (SELECT 1 FROM name n @then JOIN mention f ON f.name = n.id WHERE n.target = entity.id AND f.{} = {})"


class Invalidation(Topic[Place_co]):
    """Marks what changed facts and aliases make outdated."""

    def invalidate_keys(self, names: Collection[int], pairs: Collection[int], generation: int) -> None:
        """Mark names and pairs with changed facts stale; delete cached answers that used them, and unused keys.

        Deleted text leaves the profiles in the same transaction.
        """
        target_names, target_pairs = Names(self.db).find_targets(names, pairs)
        every_name, every_pair = target_names | set(names), target_pairs | set(pairs)
        StaleKeys(self.db).add(KeyKind.NAME, every_name, generation)
        StaleKeys(self.db).add(KeyKind.PAIR, every_pair, generation)
        self.delete_cached_answers(KeyKind.NAME, every_name)
        self.delete_cached_answers(KeyKind.PAIR, every_pair)
        Names(self.db).delete_unused_names(every_name, every_pair)
        self.clear_profiles(every_name, every_pair)
        Settings(self.db).set("last_revision", generation)

    def delete_cached_answers(self, kind: KeyKind, ids: Collection[int]) -> None:
        """Delete cached answers that used any of these rows."""
        self.db.execute(
            "DELETE FROM answer_cache WHERE key IN (SELECT u.key FROM @list(?, j)"
            " @then JOIN answer_cache_source u ON u.kind = ? AND u.id = j.value)",
            (id_list(ids), kind),
        )

    def clear_profiles(self, names: Collection[int], pairs: Collection[int]) -> None:
        """Empty the profiles of stale keys; an entity keeps name and type only if remaining facts state them.

        Readers never see an empty profile: they merge the facts of a stale key when they need it.
        """
        self.db.execute(
            "UPDATE entity SET description = '', embedding_hash = NULL,"
            f" type = CASE WHEN {_STATED.format('type', 'entity.type')} THEN type ELSE '' END,"
            f" name = CASE WHEN {_STATED.format('surface', 'entity.name')} THEN name"
            " ELSE (SELECT canonical FROM name WHERE id = entity.id) END"
            " WHERE id IN (SELECT value FROM @list(?)) AND id IN (SELECT id FROM name)",
            (id_list(names),),
        )
        self.db.execute(
            "UPDATE relation SET description = '', keywords = '', embedding_hash = NULL"
            " WHERE id IN (SELECT value FROM @list(?))",
            (id_list(pairs),),
        )
