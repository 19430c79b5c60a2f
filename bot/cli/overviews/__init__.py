"""Commands that list decisions and tasks, what is watched in a space, and who could find something."""
