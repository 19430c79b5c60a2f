-- Questions about a span of time ask whether a document was left out for want of a date.
CREATE INDEX document_undated ON document (space, room) WHERE time IS NULL;
