"""Cache of the ONNX graphs of all-MiniLM-L6-v2: built once, rebuilt when weights, builder or processor change."""

from __future__ import annotations

import contextlib
import hashlib
import os
import stat
import tempfile
import zlib
from pathlib import Path
from typing import TYPE_CHECKING, Literal, TypeAlias

import numpy as np
from filelock import FileLock

from engine.errors import DiskError

if TYPE_CHECKING:
    from collections.abc import Sequence

GraphKind: TypeAlias = Literal["exact", "fast"]

WEIGHTS_FILE = "model.safetensors"
BUILDER_FILES = ("onnx_graph.py", "quantized_graph.py", "quantization.py", "gptq.py")
LOCK_FILE = "build.lock"
TEMPORARY_NAME = "minilm-graphs"  # of the cache among temporary files
PARTIAL_FILE_MAX_AGE = 3600.0  # seconds after which a partially written graph is abandoned


def cached_graph(folder: Path, cache: Path, kind: GraphKind) -> Path:
    """The cached graph file for these weights, this builder and this processor, built if it is missing or damaged.

    Its name ends with its checksum, since a damaged graph would silently give wrong vectors. Of several processes that
    miss it one builds it, which takes seconds, and the others wait.
    """
    try:
        fingerprint = graph_fingerprint(folder)
        prefix = f"minilm-{fingerprint}-{kind}"
        if found := find_intact_graph(cache, prefix):
            return found
        cache.mkdir(parents=True, exist_ok=True)
        with FileLock(cache / LOCK_FILE):
            if found := find_intact_graph(cache, prefix):
                return found
            content = build_graph(folder / WEIGHTS_FILE, kind)
            graph = cache / f"{prefix}-{zlib.crc32(content):08x}.onnx"
            write_atomically(graph, content)
            remove_stale_graphs(graph, fingerprint)
    except OSError as error:
        raise DiskError(f"The model graph of the built-in embedder cannot be written to {cache}: {error}") from error
    return graph


def cached_graph_in(folder: Path, caches: Sequence[Path], kind: GraphKind) -> Path:
    """The cached graph in the first of these folders that can be used, or at last in a private temporary one.

    A program without a home directory that it may write to needs that. Raises the DiskError of the first one.
    """
    failure: DiskError | None = None
    for cache in (*caches, temporary_cache()):
        try:
            if cache.name != TEMPORARY_NAME or is_private(cache):
                return cached_graph(folder, cache, kind)
        except DiskError as error:
            failure = failure or error
    raise failure or DiskError(f"The temporary folder {temporary_cache()} belongs to somebody else.")


def temporary_cache() -> Path:
    """The folder of this user among temporary ones; it has to be checked before use."""
    return Path(tempfile.gettempdir(), f"threadlore-{os.getuid()}", TEMPORARY_NAME)


def is_private(cache: Path) -> bool:
    """Create a temporary cache; returns whether nobody else can write to it, and so plant a graph."""
    try:
        for each in (cache.parent, cache):
            each.mkdir(mode=0o700, exist_ok=True)
            status = each.lstat()
            if not stat.S_ISDIR(status.st_mode) or status.st_uid != os.getuid() or status.st_mode & 0o022:
                return False
    except OSError as error:
        raise DiskError(f"The temporary folder {cache} cannot be created: {error}") from error
    return True


def find_intact_graph(cache: Path, prefix: str) -> Path | None:
    """The graph whose name starts with `prefix` and ends with its own checksum."""
    graphs = cache.glob(f"{prefix}-*.onnx")
    return next((graph for graph in graphs if graph.name == f"{prefix}-{file_crc32(graph):08x}.onnx"), None)


def file_crc32(file: Path) -> int:
    """CRC-32 of a file; 90 MB take 30 ms."""
    checksum = 0
    with file.open("rb") as content:
        while piece := content.read(1 << 20):
            checksum = zlib.crc32(piece, checksum)
    return checksum


def graph_fingerprint(folder: Path) -> str:
    """Hash that changes with the weights, with the code that builds the graphs, and with the kind of processor."""
    weights = (folder / WEIGHTS_FILE).stat()
    source = b"".join(Path(__file__).with_name(name).read_bytes() for name in BUILDER_FILES)
    processor = np.show_config(mode="dicts").get("SIMD Extensions")  # without keys that would be empty
    return hashlib.sha256(f"{weights.st_size} {weights.st_mtime_ns} {processor}".encode() + source).hexdigest()[:16]


def build_graph(weights: Path, kind: GraphKind) -> bytes:
    """The serialized graph."""
    from safetensors.numpy import load_file  # noqa: PLC0415  - needed for building only

    from engine.llm.minilm import onnx_graph, quantization  # noqa: PLC0415  - import onnx, needed for building only

    arrays = load_file(weights)
    if kind == "fast":
        return quantization.build_fast_model(arrays)
    return onnx_graph.build_onnx_model(onnx_graph.GraphBuilder(arrays))


def write_atomically(path: Path, content: bytes) -> None:
    """Write a file completely or not at all."""
    descriptor, part = tempfile.mkstemp(dir=path.parent, prefix="minilm-", suffix=".part")
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        Path(part).replace(path)
    except BaseException:
        Path(part).unlink(missing_ok=True)
        raise


def remove_stale_graphs(graph: Path, fingerprint: str) -> None:
    """Remove graphs of other weights, other ones of the kind of `graph`, and partial files of killed processes.

    `graph` was just written: ages are those of its file system, which may have another clock.
    """
    kind, now = graph.name.rpartition("-")[0], graph.stat().st_mtime
    for other in graph.parent.glob("minilm-*"):
        # Another process may have removed the file or may still use it.
        with contextlib.suppress(OSError):
            is_current = other.name.startswith(f"minilm-{fingerprint}-") and not other.name.startswith(kind)
            old = other.suffix == ".onnx" or now - other.stat().st_mtime > PARTIAL_FILE_MAX_AGE
            if old and not is_current and other != graph:
                other.unlink()
