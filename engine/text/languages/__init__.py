"""Languages and scripts of texts: which ones a text is written in, its normal form, and the stems of its words."""
