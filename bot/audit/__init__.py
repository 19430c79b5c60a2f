"""What is written to the audit log, and where: of requests that change or copy something, and of questions."""
