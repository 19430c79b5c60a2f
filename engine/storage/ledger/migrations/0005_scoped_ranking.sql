-- Full text is ranked with the statistics of the asker's scope alone: how many texts lie in each space and room, and how
-- long they are together (chunks in tokens, names in characters); and which terms stand in which text, how often.
CREATE TABLE collection (
    kind   INTEGER NOT NULL,                     -- 0 chunk, 1 name, 2 pair
    space  INTEGER NOT NULL,
    room   INTEGER NOT NULL,                     -- 0 but for chunks
    rows   INTEGER NOT NULL,
    length INTEGER NOT NULL,
    PRIMARY KEY (kind, space, room)
) WITHOUT ROWID;
INSERT INTO collection SELECT 0, space, room, COUNT(*), SUM(tokens) FROM chunk GROUP BY space, room;
INSERT INTO collection SELECT 1, space, 0, COUNT(*), SUM(LENGTH(name)) FROM entity GROUP BY space;
INSERT INTO collection SELECT 2, space, 0, COUNT(*), 0 FROM relation GROUP BY space;

DROP TRIGGER population_chunk_insert;
DROP TRIGGER population_chunk_delete;
DROP TRIGGER population_chunk_move;
DROP TRIGGER population_entity_insert;
DROP TRIGGER population_entity_delete;
DROP TRIGGER population_relation_insert;
DROP TRIGGER population_relation_delete;
DROP TABLE population;

CREATE TRIGGER collection_chunk_insert AFTER INSERT ON chunk BEGIN
    INSERT INTO collection VALUES (0, new.space, new.room, 1, new.tokens)
        ON CONFLICT DO UPDATE SET rows = rows + 1, length = length + excluded.length;
END;
CREATE TRIGGER collection_chunk_delete AFTER DELETE ON chunk BEGIN
    UPDATE collection SET rows = rows - 1, length = length - old.tokens
        WHERE kind = 0 AND space = old.space AND room = old.room;
END;
CREATE TRIGGER collection_chunk_move AFTER UPDATE OF space, room ON chunk
    WHEN old.space <> new.space OR old.room <> new.room BEGIN
    UPDATE collection SET rows = rows - 1, length = length - old.tokens
        WHERE kind = 0 AND space = old.space AND room = old.room;
    INSERT INTO collection VALUES (0, new.space, new.room, 1, new.tokens)
        ON CONFLICT DO UPDATE SET rows = rows + 1, length = length + excluded.length;
END;
CREATE TRIGGER collection_relation_insert AFTER INSERT ON relation BEGIN
    INSERT INTO collection VALUES (2, new.space, 0, 1, 0) ON CONFLICT DO UPDATE SET rows = rows + 1;
END;
CREATE TRIGGER collection_relation_delete AFTER DELETE ON relation BEGIN
    UPDATE collection SET rows = rows - 1 WHERE kind = 2 AND space = old.space AND room = 0;
END;

-- Where names are and how long they are, apart from their descriptions; chunks have an index for that.
CREATE TABLE entity_size (
    id     INTEGER PRIMARY KEY,
    space  INTEGER NOT NULL,
    length INTEGER NOT NULL
);
INSERT INTO entity_size SELECT id, space, LENGTH(name) FROM entity;
DROP INDEX entity_place;
DROP INDEX chunk_place;
CREATE INDEX chunk_place ON chunk (id, space, room, tokens);
CREATE TRIGGER entity_size_insert AFTER INSERT ON entity BEGIN
    INSERT INTO entity_size VALUES (new.id, new.space, LENGTH(new.name));
    INSERT INTO collection VALUES (1, new.space, 0, 1, LENGTH(new.name))
        ON CONFLICT DO UPDATE SET rows = rows + 1, length = length + excluded.length;
END;
CREATE TRIGGER entity_size_delete AFTER DELETE ON entity BEGIN
    DELETE FROM entity_size WHERE id = old.id;
    UPDATE collection SET rows = rows - 1, length = length - LENGTH(old.name)
        WHERE kind = 1 AND space = old.space AND room = 0;
END;
CREATE TRIGGER entity_size_rename AFTER UPDATE OF name ON entity WHEN old.name <> new.name BEGIN
    UPDATE entity_size SET length = LENGTH(new.name) WHERE id = new.id;
    UPDATE collection SET length = length + LENGTH(new.name) - LENGTH(old.name)
        WHERE kind = 1 AND space = new.space AND room = 0;
END;

CREATE VIRTUAL TABLE chunk_terms USING fts5vocab (chunk_words, instance);
CREATE VIRTUAL TABLE entity_terms USING fts5vocab (entity_words, instance);
