"""What a conversation leaves behind: decisions, open questions, tasks and topics, recognized without a model."""
