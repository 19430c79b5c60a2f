"""Provider calls: concurrency limit, retries, error mapping, and the process that runs litellm.

Imports `boundary`, `errors`, `models`, `usage`, `process`, `scheduling`, and `llm.config` and `llm.formats`.
"""
