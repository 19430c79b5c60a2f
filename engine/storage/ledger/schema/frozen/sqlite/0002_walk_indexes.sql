-- Walks read their edges, and the counts of entities, from indexes alone: the rows also hold descriptions.
DROP INDEX relation_a;
DROP INDEX relation_b;
CREATE INDEX relation_a ON relation (a, b, weight);
CREATE INDEX relation_b ON relation (b, a, weight);
CREATE INDEX entity_counts ON entity (id, mention_count, degree);
-- Names in a scope of many spaces: one look-up for each name instead of one for each name and space.
CREATE INDEX name_canonical ON name (canonical, space, target);
