from importlib.util import find_spec

IS_INSTALLED = find_spec("surrealdb") is not None
