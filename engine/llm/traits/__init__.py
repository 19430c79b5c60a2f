"""What models offer and take: parameters, context windows, reasoning, prefixes of embeddings, and their check."""
