-- Whether the pages are read that messages of a channel link to.
ALTER TABLE channel_settings ADD COLUMN links boolean NOT NULL DEFAULT false;
