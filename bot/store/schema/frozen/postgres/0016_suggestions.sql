-- online: adds columns that a process without them never sets; its answers have no suggestions, and it shows none.
-- The questions suggested below an answer, as JSON. Whether a channel has them: on | off; '': the bot's setting.
ALTER TABLE answer ADD COLUMN suggestions text COLLATE "C" NOT NULL DEFAULT '[]';
ALTER TABLE channel_settings ADD COLUMN suggestions text COLLATE "C" NOT NULL DEFAULT '';
