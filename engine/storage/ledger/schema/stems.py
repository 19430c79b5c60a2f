"""How databases of before get an index that holds stem terms: the statements that new ones have in their own files."""

from __future__ import annotations

from engine.storage.sql.migrations import run
from engine.storage.sql.schema import TEXT, Column, Table

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
