"""Chats that people exported from WhatsApp, Telegram and Microsoft Teams."""
