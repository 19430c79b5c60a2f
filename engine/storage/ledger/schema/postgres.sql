-- The ledger in PostgreSQL: what it alone has, below the tables of the package.

-- Chunks that a process extracts. There is no index on `claimed_by` of stale_key: claiming then changes the row alone,
-- in the free half of its page.
CREATE TABLE extraction_claim (
    chunk   bigint PRIMARY KEY,
    process integer NOT NULL REFERENCES threadlore_process.process ON DELETE CASCADE
);
CREATE INDEX extraction_claim_process ON extraction_claim (process);
ALTER TABLE stale_key SET (fillfactor = 50);
-- A profile is updated a few times soon after it was written: the new versions fit into its page.
ALTER TABLE entity SET (fillfactor = 70);
ALTER TABLE relation SET (fillfactor = 70);

-- Walks read their edges from indexes alone: the rows also hold descriptions.
CREATE INDEX relation_a ON relation (a) INCLUDE (b, weight);
CREATE INDEX relation_b ON relation (b) INCLUDE (a, weight);

-- Where names are and how long.
CREATE VIEW entity_length AS SELECT id, space, LENGTH(name) AS length FROM entity;

-- Full text. Terms are those that FTS5 makes: without diacritics, split at every character that is no letter or digit,
-- and stemmed by Porter's algorithm (`words`), or every three neighbors of a text (`trigrams`).
CREATE TEXT SEARCH DICTIONARY porter (TEMPLATE = snowball, Language = porter);
CREATE TEXT SEARCH CONFIGURATION words (COPY = simple);
ALTER TEXT SEARCH CONFIGURATION words ALTER MAPPING FOR asciiword, word, numword WITH porter;

CREATE FUNCTION search_tokenizer() RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $body$
    SELECT '$tokenizer'
$body$;

-- A text as words without diacritics and blanks. The ranges are punctuation and symbols.
CREATE FUNCTION plain_words(content text) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $body$
    SELECT regexp_replace(regexp_replace(normalize(content, NFD), '[\u0300-\u036f]+', '', 'g'),
        '[\u0001-\u002f\u003a-\u0040\u005b-\u0060\u007b-\u00a9\u00ab-\u00b1\u00b4\u00b6-\u00b8\u00bb\u00bf\u00d7\u00f7'
        '\u2000-\u206f\u20a0-\u20cf\u2190-\u23ff\u2500-\u27bf\u2e00-\u2e7f\u3000-\u3004\u3008-\u3020\uff00-\uff0f]+',
        ' ', 'g')
$body$;

CREATE FUNCTION quote_lexeme(lexeme text) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $body$
    SELECT '''' || replace(replace(lexeme, '\', '\\'), '''', '''''') || ''''
$body$;

CREATE FUNCTION trigram_vector(content text) RETURNS tsvector LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $body$
    SELECT CAST(COALESCE(
        string_agg($schema.quote_lexeme(substr(folded, place, 3)) || ':' || LEAST(place, 16383), ' '), '') AS tsvector)
    FROM (SELECT lower(content COLLATE "default") AS folded) f CROSS JOIN generate_series(1, LENGTH(content) - 2) place
$body$;

-- Scripts without spaces (see engine/text/languages/unspaced.py, whose terms these are). Rows of a version before these
-- functions are indexed as they are, until the program has indexed them again.
CREATE TABLE unsegmented_fts (
    kind     bigint PRIMARY KEY, -- 0 chunks, 1 names
    first_id bigint NOT NULL,
    last_id  bigint NOT NULL
);
CREATE FUNCTION unspaced_characters() RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $body$
    SELECT '\u3041-\u3096\u3099\u309a\u309d-\u309f\u30a1-\u30fa\u30fc-\u30ff\u31f0-\u31ff\uff66-\uff9f'
        '\u3005-\u3007\u3105-\u312f\u31a0-\u31bf\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003fffd'
        '\u0e01-\u0e3a\u0e40-\u0e4e\u0e81-\u0ebd\u0ec0-\u0ece\u0edc-\u0edf'
        '\u1000-\u103f\u1050-\u108f\u109a-\u109d\u1780-\u17d3\u17d7\u17dc\u17dd'
$body$;

-- A character with its marks.
CREATE FUNCTION unspaced_cluster() RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $body$
    SELECT '[\u0e40-\u0e44\u0ec0-\u0ec4]?[' || $schema.unspaced_characters()
        || '](?:[\u1039\u17d2][' || $schema.unspaced_characters() || ']|['
        '\u3099\u309a\u0e30-\u0e3a\u0e45\u0e47-\u0e4e\u0eb0-\u0ebc\u0ec8-\u0ece'
        '\u102b-\u103e\u1056-\u1059\u105e-\u1060\u1062-\u1064\u1067-\u106d\u1071-\u1074\u1082-\u108d\u108f\u109a-\u109d\u17b4-\u17d3\u17dd])*'
$body$;

-- Each character but syllables of kana, and each pair of neighbors.
CREATE FUNCTION unspaced_vector(content text) RETURNS tsvector LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $body$
    SELECT CAST(COALESCE(string_agg($schema.quote_lexeme(term) || ':' || LEAST(place, 16383), ' '), '') AS tsvector)
    FROM (
        SELECT t.term, row_number() OVER () AS place
        FROM regexp_matches(
            normalize(content, NFKC), '[' || $schema.unspaced_characters() || ']+', 'g') AS r (run)
        CROSS JOIN LATERAL (
            SELECT array_agg(c.cluster[1] ORDER BY c.number) AS clusters
            FROM regexp_matches(r.run[1], $schema.unspaced_cluster(), 'g') WITH ORDINALITY AS c (cluster, number)) found
        CROSS JOIN LATERAL generate_subscripts(found.clusters, 1) AS i
        CROSS JOIN LATERAL (VALUES
            (CASE WHEN found.clusters[i] !~ '^[\u3041-\u3096\u3099\u309a\u309d-\u309f\u30a1-\u30fa\u30fc-\u30ff\u31f0-\u31ff\uff66-\uff9f]'
                THEN found.clusters[i] END),
            (found.clusters[i] || found.clusters[i + 1])) AS t (term)
        WHERE t.term IS NOT NULL) terms
$body$;

CREATE FUNCTION word_vector(content text) RETURNS tsvector LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $body$
    SELECT CASE WHEN $schema.search_tokenizer() = 'trigram' THEN $schema.trigram_vector(content)
        ELSE to_tsvector('$schema.words', $schema.plain_words(content)) END
$body$;

CREATE FUNCTION has_unspaced(content text) RETURNS boolean LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $body$
    SELECT content ~ ('[' || $schema.unspaced_characters() || ']')
$body$;

CREATE FUNCTION search_vector(content text) RETURNS tsvector LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $body$
    SELECT CASE WHEN $schema.search_tokenizer() <> 'trigram' AND $schema.has_unspaced(content)
        THEN $schema.word_vector(regexp_replace(content, '[' || $schema.unspaced_characters() || ']+', ' ', 'g'))
            || $schema.unspaced_vector(content)
        ELSE $schema.word_vector(content) END
$body$;

-- Stem terms (see engine/text/languages/detection.py) follow the words.
CREATE FUNCTION stem_vector(terms text) RETURNS tsvector LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $body$
    SELECT CAST(COALESCE(
        string_agg($schema.quote_lexeme(term) || ':' || LEAST(place, 16383), ' '), '') AS tsvector)
    FROM unnest(string_to_array(terms, ' ')) WITH ORDINALITY AS listed (term, place)
    WHERE term <> '' AND octet_length(term) <= 2046
$body$;
ALTER TABLE chunk ADD COLUMN search tsvector;
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
CREATE INDEX chunk_search ON chunk USING gin (search);
ALTER TABLE entity ADD COLUMN search tsvector GENERATED ALWAYS AS (search_vector(name)) STORED;
CREATE INDEX entity_search ON entity USING gin (search);

-- As SQLite's: a value as JSON.
CREATE FUNCTION json_quote(content text) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $body$
    SELECT COALESCE(to_json(content)::text, 'null')
$body$;
CREATE FUNCTION json_quote(number bigint) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $body$
    SELECT COALESCE(number::text, 'null')
$body$;

-- Triggers keep counters and queues in step with the rows.

CREATE FUNCTION count_unextracted() RETURNS trigger LANGUAGE plpgsql AS $body$
BEGIN
    IF TG_OP <> 'INSERT' AND OLD.extraction IS NULL THEN
        UPDATE document SET unextracted_chunks = unextracted_chunks - 1 WHERE id = OLD.document;
    END IF;
    IF TG_OP <> 'DELETE' AND NEW.extraction IS NULL THEN
        UPDATE document SET unextracted_chunks = unextracted_chunks + 1 WHERE id = NEW.document;
    END IF;
    RETURN NULL;
END $body$;
CREATE TRIGGER unextracted_change AFTER INSERT OR DELETE ON chunk FOR EACH ROW EXECUTE FUNCTION count_unextracted();
CREATE TRIGGER unextracted_update AFTER UPDATE OF extraction ON chunk FOR EACH ROW
    WHEN ((OLD.extraction IS NULL) <> (NEW.extraction IS NULL)) EXECUTE FUNCTION count_unextracted();

CREATE FUNCTION set_own_target() RETURNS trigger LANGUAGE plpgsql AS $body$
BEGIN
    NEW.target := NEW.id;
    RETURN NEW;
END $body$;
CREATE TRIGGER name_own_target BEFORE INSERT ON name FOR EACH ROW
    WHEN (NEW.target = -1) EXECUTE FUNCTION set_own_target();
CREATE TRIGGER pair_own_target BEFORE INSERT ON pair FOR EACH ROW
    WHEN (NEW.target = -1) EXECUTE FUNCTION set_own_target();

CREATE FUNCTION add_to_corpus(of_kind bigint, of_space bigint, of_room bigint, rows bigint, length bigint)
    RETURNS void LANGUAGE sql AS $body$
    INSERT INTO corpus_stats VALUES (of_kind, of_space, of_room, rows, length)
        ON CONFLICT (kind, space, room) DO UPDATE SET row_count = corpus_stats.row_count + excluded.row_count,
            total_length = corpus_stats.total_length + excluded.total_length;
$body$;

CREATE FUNCTION count_chunks() RETURNS trigger LANGUAGE plpgsql AS $body$
BEGIN
    IF TG_OP <> 'INSERT' THEN
        PERFORM add_to_corpus(0, OLD.space, OLD.room, -1, -OLD.tokens);
    END IF;
    IF TG_OP <> 'DELETE' THEN
        PERFORM add_to_corpus(0, NEW.space, NEW.room, 1, NEW.tokens);
    END IF;
    RETURN NULL;
END $body$;
CREATE TRIGGER corpus_stats_chunk AFTER INSERT OR DELETE ON chunk FOR EACH ROW EXECUTE FUNCTION count_chunks();
CREATE TRIGGER corpus_stats_chunk_move AFTER UPDATE OF space, room ON chunk FOR EACH ROW
    WHEN (OLD.space <> NEW.space OR OLD.room <> NEW.room) EXECUTE FUNCTION count_chunks();

CREATE FUNCTION count_entities() RETURNS trigger LANGUAGE plpgsql AS $body$
BEGIN
    IF TG_OP <> 'INSERT' THEN
        PERFORM add_to_corpus(1, OLD.space, 0, -1, -LENGTH(OLD.name));
    END IF;
    IF TG_OP <> 'DELETE' THEN
        PERFORM add_to_corpus(1, NEW.space, 0, 1, LENGTH(NEW.name));
    END IF;
    RETURN NULL;
END $body$;
CREATE TRIGGER corpus_stats_entity_rename AFTER UPDATE OF name ON entity FOR EACH ROW
    WHEN (OLD.name <> NEW.name) EXECUTE FUNCTION count_entities();

-- Many profiles are written by one statement: its triggers count all its rows at once, and a sum changes once.
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
