"""Commands that list decisions and tasks, and what is watched in a space."""
