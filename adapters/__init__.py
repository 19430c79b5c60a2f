"""Platform adapters: each translates between one platform and bot.platform, and makes no decisions."""
