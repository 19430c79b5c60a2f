"""ForgetBench: what survives of deleted words in several memories that got the same histories."""
