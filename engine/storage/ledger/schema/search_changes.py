"""The log of changed rows of the term indexes, for databases of versions that had none; see postgres.sql."""

from __future__ import annotations

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
