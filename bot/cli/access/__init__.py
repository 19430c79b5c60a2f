"""Commands for what programs may do from outside."""
