"""Commands about the quality of answers: verify and correct them, list what was not answered, name experts."""
