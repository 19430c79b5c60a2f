"""What people can do with an answer while it is written, and afterwards: stop it, or ask again."""
