"""Rules of answering in languages other than English, as data."""
