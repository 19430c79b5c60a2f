"""Calendars and contacts: their lines of fields, events, recurrences and people."""
