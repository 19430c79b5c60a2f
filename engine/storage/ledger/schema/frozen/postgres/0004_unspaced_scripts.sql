-- online: the indexes of processes of before are the same columns; their searches in these scripts find less.
-- Full text finds words of scripts without spaces (see engine/text/scripts/unspaced.py, whose terms these are). Rows of
-- before are indexed as they are, until the program has indexed them again.
CREATE TABLE unsegmented_fts (kind bigint PRIMARY KEY, first_id bigint NOT NULL, last_id bigint NOT NULL);
INSERT INTO unsegmented_fts SELECT 0, 0, id FROM chunk ORDER BY id DESC LIMIT 1;
INSERT INTO unsegmented_fts SELECT 1, 0, id FROM entity ORDER BY id DESC LIMIT 1;

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

CREATE OR REPLACE FUNCTION search_vector(content text) RETURNS tsvector LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $body$
    SELECT CASE WHEN $schema.search_tokenizer() <> 'trigram' AND $schema.has_unspaced(content)
        THEN $schema.word_vector(regexp_replace(content, '[' || $schema.unspaced_characters() || ']+', ' ', 'g'))
            || $schema.unspaced_vector(content)
        ELSE $schema.word_vector(content) END
$body$;
