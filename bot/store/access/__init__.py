"""Who reaches the data from outside, and what was done: access tokens, installations, the audit log."""
