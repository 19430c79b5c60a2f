"""What a Slack workspace holds: channels, users, history, files and markup. Imports `api`."""
