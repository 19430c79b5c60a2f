-- online: an older process reads and writes the first columns of feedback alone; these have defaults.
-- Why an answer did not help: a reason of a list, and a comment.
ALTER TABLE feedback ADD COLUMN reason text COLLATE "C" NOT NULL DEFAULT '';
ALTER TABLE feedback ADD COLUMN comment text COLLATE "C" NOT NULL DEFAULT '';
