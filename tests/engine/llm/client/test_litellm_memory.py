"""litellm without what it loads for counting tokens."""

from __future__ import annotations

import subprocess
import sys

import pytest

COUNTS = """
import sys
from engine.llm.client.litellm import load_litellm
litellm = load_litellm()
assert "numpy" not in sys.modules
module = "litellm.litellm_core_utils.default_encoding"
assert litellm.main._get_encoding().name == "cl100k_base"
assert "cache_dir" not in vars(sys.modules[module]), "the encoding was loaded"
text = "Ferries leave at noon. " * 20
print(litellm.token_counter(model="hosted_vllm/any", text=text), len(litellm.main._get_encoding().encode(text)))
assert "cache_dir" in vars(sys.modules[module])
print(litellm.token_counter(model="claude-2", text=text) > 0)
"""


@pytest.mark.long
def test_tokens_are_counted_by_an_encoding_that_is_loaded_late() -> None:
    run = subprocess.run([sys.executable, "-c", COUNTS], capture_output=True, text=True, timeout=120, check=False)
    assert run.returncode == 0, run.stderr
    counted, encoded, claude = run.stdout.split()
    assert (counted, claude) == (encoded, "True")
    assert int(counted) > 100
