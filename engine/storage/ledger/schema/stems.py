"""How databases of before get an index that holds stem terms and follows changes, as new ones have."""

from __future__ import annotations

from engine.storage.sql.schema import TEXT, Column, Table
from engine.storage.sql.schema_source import run

# What full text holds of a chunk beside its words: stem terms (`engine.text.languages.detection`) between blanks.
STEMS = Column("stems", TEXT, default="")
# The languages of which any chunk has stem terms.
STEM_LANGUAGE = Table("stem_language", (Column("language", TEXT, primary=True),))

_SQLITE = """
DROP TRIGGER chunk_fts_insert;
DROP TRIGGER chunk_fts_delete;
CREATE TRIGGER chunk_fts_insert AFTER INSERT ON chunk BEGIN
    INSERT INTO chunk_fts (rowid, text)
        VALUES (new.id, search_text(new.text) || CASE new.stems WHEN '' THEN '' ELSE ' ' || new.stems END);
END;
CREATE TRIGGER chunk_fts_delete AFTER DELETE ON chunk BEGIN
    INSERT INTO chunk_fts (chunk_fts, rowid, text) SELECT 'delete', old.id,
        CASE WHEN EXISTS (SELECT 1 FROM unsegmented_fts WHERE kind = 0 AND old.id BETWEEN first_id AND last_id)
        THEN old.text ELSE search_text(old.text) || CASE old.stems WHEN '' THEN '' ELSE ' ' || old.stems END END;
END;
CREATE TRIGGER chunk_fts_stems AFTER UPDATE OF stems ON chunk WHEN old.stems <> new.stems BEGIN
    INSERT INTO chunk_fts (chunk_fts, rowid, text)
        VALUES ('delete', old.id, search_text(old.text) || CASE old.stems WHEN '' THEN '' ELSE ' ' || old.stems END);
    INSERT INTO chunk_fts (rowid, text)
        VALUES (new.id, search_text(new.text) || CASE new.stems WHEN '' THEN '' ELSE ' ' || new.stems END);
END;
"""
_POSTGRES = """
CREATE FUNCTION stem_vector(terms text) RETURNS tsvector LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $body$
    SELECT CAST(COALESCE(
        string_agg($schema.quote_lexeme(term) || ':' || LEAST(place, 16383), ' '), '') AS tsvector)
    FROM unnest(string_to_array(terms, ' ')) WITH ORDINALITY AS listed (term, place)
    WHERE term <> '' AND octet_length(term) <= 2046
$body$;
ALTER TABLE chunk ALTER COLUMN search DROP EXPRESSION;
CREATE FUNCTION index_chunk() RETURNS trigger LANGUAGE plpgsql AS $body$
BEGIN
    NEW.search := $schema.search_vector(NEW.text);
    IF NEW.stems <> '' THEN
        NEW.search := NEW.search || $schema.stem_vector(NEW.stems);
    END IF;
    RETURN NEW;
END $body$;
CREATE TRIGGER chunk_search_insert BEFORE INSERT ON chunk FOR EACH ROW EXECUTE FUNCTION index_chunk();
CREATE TRIGGER chunk_search_update BEFORE UPDATE OF text, stems ON chunk FOR EACH ROW EXECUTE FUNCTION index_chunk();
"""
INDEX_STEMS = run(sqlite=_SQLITE, postgres=_POSTGRES)
SEARCH_CHANGES = """
-- Which rows of the term indexes changed, by the transaction that did it: processes hold copies of the indexes.
CREATE TABLE search_change (
    kind        bigint NOT NULL, -- 0 chunks, 1 names
    transaction xid8 NOT NULL,
    ids         bigint[], -- NULL: all rows were deleted
    recorded_at timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX search_change_transaction ON search_change (transaction);
CREATE INDEX search_change_recorded ON search_change (recorded_at);
CREATE FUNCTION record_search_change() RETURNS trigger LANGUAGE plpgsql AS $body$
BEGIN
    IF TG_LEVEL = 'ROW' THEN
        INSERT INTO search_change VALUES (TG_ARGV[0]::bigint, pg_current_xact_id(), ARRAY[NEW.id]);
    ELSIF TG_OP = 'TRUNCATE' THEN
        INSERT INTO search_change VALUES (TG_ARGV[0]::bigint, pg_current_xact_id(), NULL);
    ELSE
        INSERT INTO search_change SELECT TG_ARGV[0]::bigint, pg_current_xact_id(), array_agg(id) FROM changed
            HAVING COUNT(*) > 0;
    END IF;
    RETURN NULL;
END $body$;
CREATE TRIGGER search_change_insert AFTER INSERT ON chunk REFERENCING NEW TABLE AS changed
    FOR EACH STATEMENT EXECUTE FUNCTION record_search_change(0);
CREATE TRIGGER search_change_delete AFTER DELETE ON chunk REFERENCING OLD TABLE AS changed
    FOR EACH STATEMENT EXECUTE FUNCTION record_search_change(0);
CREATE TRIGGER search_change_truncate AFTER TRUNCATE ON chunk
    FOR EACH STATEMENT EXECUTE FUNCTION record_search_change(0);
CREATE TRIGGER search_change_update AFTER UPDATE OF space, room, tokens, text, stems ON chunk FOR EACH ROW
    WHEN ((OLD.space, OLD.room, OLD.tokens, OLD.search) IS DISTINCT FROM (NEW.space, NEW.room, NEW.tokens, NEW.search))
    EXECUTE FUNCTION record_search_change(0);
CREATE TRIGGER search_change_insert AFTER INSERT ON entity REFERENCING NEW TABLE AS changed
    FOR EACH STATEMENT EXECUTE FUNCTION record_search_change(1);
CREATE TRIGGER search_change_delete AFTER DELETE ON entity REFERENCING OLD TABLE AS changed
    FOR EACH STATEMENT EXECUTE FUNCTION record_search_change(1);
CREATE TRIGGER search_change_truncate AFTER TRUNCATE ON entity
    FOR EACH STATEMENT EXECUTE FUNCTION record_search_change(1);
CREATE TRIGGER search_change_update AFTER UPDATE OF space, name ON entity FOR EACH ROW
    WHEN ((OLD.space, OLD.search) IS DISTINCT FROM (NEW.space, NEW.search)) EXECUTE FUNCTION record_search_change(1);
"""
