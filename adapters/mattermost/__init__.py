"""Mattermost: reads its bulk exports. There is no live connection."""
