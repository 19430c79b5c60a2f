"""Where facts, graph and vectors live. The only SQL of the engine stands here."""
