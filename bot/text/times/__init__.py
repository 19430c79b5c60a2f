"""Times that people name in a question or an option."""
