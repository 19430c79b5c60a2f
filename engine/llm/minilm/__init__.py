"""The built-in embedder, all-MiniLM-L6-v2 on onnxruntime.

Imports errors, `usage`, and the priority limiter of `llm.client`. Whatever imports onnxruntime is in this package,
which switches its telemetry off first: once it is loaded, it has written a device id and asks for its collector.
"""

import os

os.environ["ORT_DISABLE_TELEMETRY"] = "1"
