"""The built-in embedder, all-MiniLM-L6-v2 on onnxruntime.

Imports errors, `usage`, and the priority limiter of `llm.client`.
"""
