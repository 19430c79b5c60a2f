"""What people can do with an answer while it is written, and afterwards: stop it, press a button, or ask again."""
