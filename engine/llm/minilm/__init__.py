"""The built-in embedder, all-MiniLM-L6-v2 on onnxruntime.

Imports nothing of the engine but errors and the priority limiter.
"""
