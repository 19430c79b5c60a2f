-- Merges look up what leads to a name.
CREATE INDEX alias_target ON alias (space, target);
