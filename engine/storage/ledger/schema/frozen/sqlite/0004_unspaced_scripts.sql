-- Full text finds words of scripts without spaces: the program's function `search_text` separates them (see
-- engine/text/scripts/unspaced.py). Rows of before are indexed as they are, until the program has indexed them again.
CREATE TABLE unsegmented_fts (kind INTEGER PRIMARY KEY, first_id INTEGER NOT NULL, last_id INTEGER NOT NULL);
INSERT INTO unsegmented_fts SELECT 0, 0, id FROM chunk ORDER BY id DESC LIMIT 1;
INSERT INTO unsegmented_fts SELECT 1, 0, id FROM entity ORDER BY id DESC LIMIT 1;

DROP TRIGGER chunk_fts_insert;
DROP TRIGGER chunk_fts_delete;
DROP TRIGGER entity_fts_insert;
DROP TRIGGER entity_fts_delete;
DROP TRIGGER entity_fts_rename;
CREATE TRIGGER chunk_fts_insert AFTER INSERT ON chunk BEGIN
    INSERT INTO chunk_fts (rowid, text) VALUES (new.id, search_text(new.text));
END;
CREATE TRIGGER chunk_fts_delete AFTER DELETE ON chunk BEGIN
    INSERT INTO chunk_fts (chunk_fts, rowid, text) SELECT 'delete', old.id,
        CASE WHEN EXISTS (SELECT 1 FROM unsegmented_fts WHERE kind = 0 AND old.id BETWEEN first_id AND last_id)
        THEN old.text ELSE search_text(old.text) END;
END;
CREATE TRIGGER entity_fts_insert AFTER INSERT ON entity BEGIN
    INSERT INTO entity_fts (rowid, name) SELECT new.id,
        CASE WHEN EXISTS (SELECT 1 FROM unsegmented_fts WHERE kind = 1 AND new.id BETWEEN first_id AND last_id)
        THEN new.name ELSE search_text(new.name) END;
END;
CREATE TRIGGER entity_fts_delete AFTER DELETE ON entity BEGIN
    INSERT INTO entity_fts (entity_fts, rowid, name) SELECT 'delete', old.id,
        CASE WHEN EXISTS (SELECT 1 FROM unsegmented_fts WHERE kind = 1 AND old.id BETWEEN first_id AND last_id)
        THEN old.name ELSE search_text(old.name) END;
END;
CREATE TRIGGER entity_fts_rename AFTER UPDATE OF name ON entity WHEN old.name <> new.name BEGIN
    INSERT INTO entity_fts (entity_fts, rowid, name) SELECT 'delete', old.id,
        CASE WHEN EXISTS (SELECT 1 FROM unsegmented_fts WHERE kind = 1 AND old.id BETWEEN first_id AND last_id)
        THEN old.name ELSE search_text(old.name) END;
    INSERT INTO entity_fts (rowid, name) SELECT new.id,
        CASE WHEN EXISTS (SELECT 1 FROM unsegmented_fts WHERE kind = 1 AND new.id BETWEEN first_id AND last_id)
        THEN new.name ELSE search_text(new.name) END;
END;
