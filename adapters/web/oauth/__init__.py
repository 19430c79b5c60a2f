"""Log in to the page by an account of a chat platform (OAuth 2.0, OpenID Connect)."""
