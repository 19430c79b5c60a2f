-- online: an older process reads and writes the first columns of channel_settings alone; these have defaults.
-- Which model answers, who may ask, what is read: messages, files or both, and messages of bots. '': the bot's setting.
ALTER TABLE channel_settings ADD COLUMN model text COLLATE "C" NOT NULL DEFAULT '';
ALTER TABLE channel_settings ADD COLUMN askers text COLLATE "C" NOT NULL DEFAULT '';
ALTER TABLE channel_settings ADD COLUMN content text COLLATE "C" NOT NULL DEFAULT '';
ALTER TABLE channel_settings ADD COLUMN bot_messages text COLLATE "C" NOT NULL DEFAULT '';
