"""Operations of access tokens, and operations that a token permits."""
