"""Turn blocks of a parsed file into passages with locators. Pure."""
