"""Reading: bytes and a name become passages with locators."""
