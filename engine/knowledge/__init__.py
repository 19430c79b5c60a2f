"""What an entity and a relation are, and how mentions merge into them. Pure; imports `text` and the models."""
