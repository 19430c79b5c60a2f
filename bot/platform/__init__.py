"""The contract between the bot and its adapters: events, records and ports. Imports the engine's records only."""
