"""Every capability through every door, as every kind of caller: what a row says is what happens."""
