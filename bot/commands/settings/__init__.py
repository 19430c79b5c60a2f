"""The settings of a channel: their fields, values and forms."""
