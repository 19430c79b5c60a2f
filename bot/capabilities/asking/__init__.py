"""Answer the questions of callers: what they ask about, what is verified, and how answers are streamed."""
