"""The tables of corrections by hand."""

from __future__ import annotations

from engine.storage.sql.schema import INT, TEXT, Column, DialectText, Index, Table, columns

IN_SPACE = Column("space", INT, references="space")
IN_ROOM = DialectText("room", "room <> 0")
# Corrections by hand, by canonical names, so that they outlive what they correct. b is '' for an entity.
# `room`: where the correction was made, which it follows; 0: it was made for the whole space.
ROOM = Column("room", INT, default=0)
ALIAS_SHOWN = Column("shown", TEXT, default="")
# Homonyms told apart: facts about `name` that follow the rule ("type person", "document KEY") belong to `part`, which
# is displayed as `shown`. A rule for a document goes with it.
NAME_SPLIT = Table(
    "name_split",
    (
        IN_SPACE,
        *columns(TEXT, "name", "rule", "part", "shown"),
        ROOM,
        Column("document", INT, nullable=True, references="document ON DELETE CASCADE"),
    ),
    (
        Index("name_split_part", "space, part"),
        Index("name_split_document", "document", where="document IS NOT NULL"),
        Index("name_split_room", "room", where=IN_ROOM),
    ),
    key="space, name, rule",
)
CORRECTIONS = (
    # Aliases with a reason are automatic: they follow from the present names, and go with them. Of others, `shown` is
    # the target as the person wrote it.
    Table(
        "alias",
        (IN_SPACE, *columns(TEXT, "name", "target"), ROOM, Column("reason", TEXT, default=""), ALIAS_SHOWN),
        (Index("alias_target", "space, target"), Index("alias_room", "room", where=IN_ROOM)),
        key="space, name",
    ),
    # Names (a < b) that a person separated: they are never joined automatically.
    Table(
        "distinct_names",
        (IN_SPACE, *columns(TEXT, "a", "b"), ROOM),
        (Index("distinct_names_b", "space, b"), Index("distinct_names_room", "room", where=IN_ROOM)),
        key="space, a, b",
    ),
    Table(
        "description_override",
        (IN_SPACE, *columns(TEXT, "a", "b", "description"), ROOM),
        (Index("description_override_room", "room", where=IN_ROOM),),
        key="space, a, b",
    ),
    Table(
        "hidden_key",
        (IN_SPACE, *columns(TEXT, "a", "b"), ROOM),
        (Index("hidden_key_room", "room", where=IN_ROOM),),
        key="space, a, b",
    ),
    NAME_SPLIT,
)
