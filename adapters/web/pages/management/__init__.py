"""Pages of managers: channels, questions, usage and health."""
