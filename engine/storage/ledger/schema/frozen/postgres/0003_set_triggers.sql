-- Many profiles are written by one statement: its triggers count all its rows at once, and a sum changes once.
DROP TRIGGER degree_change ON relation;
DROP TRIGGER corpus_stats_relation ON relation;
DROP TRIGGER duplicate_candidate_change ON entity;
DROP TRIGGER corpus_stats_entity ON entity;
DROP FUNCTION count_degree();
DROP FUNCTION count_relations();
DROP FUNCTION queue_comparison();

CREATE FUNCTION count_relations() RETURNS trigger LANGUAGE plpgsql AS $body$
DECLARE
    sign bigint := CASE TG_OP WHEN 'INSERT' THEN 1 ELSE -1 END;
BEGIN
    UPDATE entity SET degree = degree + sign * ends.number
        FROM (SELECT id, COUNT(*) AS number FROM (SELECT a AS id FROM changed UNION ALL SELECT b FROM changed) e
            GROUP BY id) ends
        WHERE entity.id = ends.id;
    PERFORM add_to_corpus(2, space, 0, sign * COUNT(*), 0) FROM changed GROUP BY space;
    RETURN NULL;
END $body$;
CREATE TRIGGER relation_insert AFTER INSERT ON relation REFERENCING NEW TABLE AS changed
    FOR EACH STATEMENT EXECUTE FUNCTION count_relations();
CREATE TRIGGER relation_delete AFTER DELETE ON relation REFERENCING OLD TABLE AS changed
    FOR EACH STATEMENT EXECUTE FUNCTION count_relations();

CREATE FUNCTION count_changed_entities() RETURNS trigger LANGUAGE plpgsql AS $body$
DECLARE
    sign bigint := CASE TG_OP WHEN 'INSERT' THEN 1 ELSE -1 END;
BEGIN
    IF TG_OP = 'INSERT' THEN
        INSERT INTO uncompared_entity SELECT id FROM changed ON CONFLICT DO NOTHING;
    ELSE
        DELETE FROM uncompared_entity USING changed WHERE uncompared_entity.id = changed.id;
        DELETE FROM duplicate_candidate USING changed WHERE a = changed.id;
        DELETE FROM duplicate_candidate USING changed WHERE b = changed.id;
    END IF;
    PERFORM add_to_corpus(1, space, 0, sign * COUNT(*), sign * SUM(LENGTH(name))::bigint) FROM changed GROUP BY space;
    RETURN NULL;
END $body$;
CREATE TRIGGER entity_insert AFTER INSERT ON entity REFERENCING NEW TABLE AS changed
    FOR EACH STATEMENT EXECUTE FUNCTION count_changed_entities();
CREATE TRIGGER entity_delete AFTER DELETE ON entity REFERENCING OLD TABLE AS changed
    FOR EACH STATEMENT EXECUTE FUNCTION count_changed_entities();

-- A profile is updated a few times soon after it was written: the new versions fit into its page.
ALTER TABLE entity SET (fillfactor = 70);
ALTER TABLE relation SET (fillfactor = 70);
