"""Links in a streamed answer: an address stays live only if it is known whole. Pure; imports `text`."""
