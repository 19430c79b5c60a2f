"""Commands that list decisions and tasks, what was said of a subject, and what a person wants to be told of."""
