"""RTF: groups, control words and characters in the charsets of fonts become paragraphs and tables."""
