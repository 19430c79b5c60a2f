"""Pages that people link to where a channel allows it: from public addresses only, forgotten with the message."""
