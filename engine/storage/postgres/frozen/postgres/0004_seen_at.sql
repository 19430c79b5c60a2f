-- online: a process that never sets the column is never taken to hang.
ALTER TABLE process ADD COLUMN seen_at timestamptz; -- when the process last said that it works
