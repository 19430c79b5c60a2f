"""Commands that list decisions and tasks, what was said of a subject, and what is stored or watched for a person."""
