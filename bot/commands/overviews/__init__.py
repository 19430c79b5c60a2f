"""Commands that list decisions and tasks, and what a person wants to be told of."""
