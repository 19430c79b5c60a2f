"""Recognize the API keys of providers of models, to tell a key of another provider before the first call."""

from __future__ import annotations

import re

# Prefixes of keys with the providers, by the names of litellm; the longest prefix counts.
KEY_PREFIXES = {
    "sk-ant-": "anthropic",
    "sk-or-": "openrouter",
    "sk-proj-": "openai",
    "sk-svcacct-": "openai",
    "AIza": "gemini",
    "gsk_": "groq",
    "xai-": "xai",
    "pplx-": "perplexity",
    "nvapi-": "nvidia_nim",
    "hf_": "huggingface",
    "fw_": "fireworks_ai",
    "tgp_v1_": "together_ai",
    "jina_": "jina_ai",
    "pa-": "voyage",
    "csk-": "cerebras",
    "r8_": "replicate",
}
SAME_KEYS = {"vertex_ai_beta": "vertex_ai", "text-completion-openai": "openai", "openai_like": "openai"}
KEY = re.compile(f"(sk-|{'|'.join(map(re.escape, KEY_PREFIXES))})" + r"[\w-]{12,}")
ADDRESS = "This is an address: give it as that of the model's server (THREADLORE_LLM_API_BASE or --llm-api-base);"
# Names of models without a provider, as people write them.
MODEL_NAMES = (("claude", "anthropic"), ("gemini", "gemini"), ("gpt-", "openai"), ("o1", "openai"), ("o3", "openai"))


def is_key(text: str) -> bool:
    """Whether a text looks like the API key of a provider."""
    return KEY.fullmatch(text) is not None


def find_key_provider(key: str) -> str:
    """The provider that gives out such keys; empty if several do."""
    known = sorted(KEY_PREFIXES, key=len, reverse=True)
    return next((KEY_PREFIXES[prefix] for prefix in known if key.startswith(prefix)), "")


def find_model_provider(model: str) -> str:
    """The provider of a model by its litellm name; empty if the name does not say it."""
    if "/" in model:
        provider = model.partition("/")[0]
        return SAME_KEYS.get(provider, provider)
    return next((provider for start, provider in MODEL_NAMES if model.startswith(start)), "")


def is_foreign_key(key: str, model: str) -> bool:
    """Whether a key is known to be of another provider than the model."""
    found, needed = find_key_provider(key), find_model_provider(model)
    return bool(found and needed in KEY_PREFIXES.values() and found != needed)


def find_name_mistake(name: str) -> str:
    """What is in the place of the name of a model, in a sentence; empty if it may be one."""
    if is_key(name):
        return f"This is an API key ({find_key_provider(name) or 'of a provider'}); the model's name goes here."
    if "://" in name:
        return f"{ADDRESS} the model's name goes here, such as openai/qwen3."
    return ""


def find_foreign_key(key: str, model: str) -> str:
    """What is wrong with a key of another provider than the model, in a sentence; empty if it may be of the same."""
    if not is_foreign_key(key, model):
        return ""
    found, provider = find_key_provider(key), find_model_provider(model)
    return f"This is a key of {found}, but {model} is of {provider}: give a key of {provider}, or another model."
