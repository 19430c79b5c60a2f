"""Link safety of streamed answers: only addresses that occur in a source stay clickable. Pure; imports `text`."""
