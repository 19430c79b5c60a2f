"""Merge extracted mentions and links into entities and relations. Pure; imports `text`, models and options."""
