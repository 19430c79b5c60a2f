"""The multilingual built-in embedder, multilingual-e5-small on onnxruntime.

Its 4-bit weights come from an optional package, of which only the file of weights is read: its compiled code is never
imported. The graphs have no weights; `python -m scripts.build_model` builds them, and what they are checked by.
"""
