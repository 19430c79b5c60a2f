"""Tables of verified answers, of questions without a good answer, and of experts."""
