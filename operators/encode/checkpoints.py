"""Model folders as hubs give them: found on disk or fetched, and told apart by the bytes of their files."""

from __future__ import annotations

import hashlib
import importlib.util
from collections.abc import Sequence
from pathlib import Path

from operators.errors import WeightsMissing


def require_package(name: str, shown: str) -> None:
    """WeightsMissing, naming the extra to install, unless the package can be imported."""
    if importlib.util.find_spec(name) is None:
        raise WeightsMissing(f"{shown} is not installed: pip install 'mnemosaic[torch]'")


def checkpoint_folder(model: str, files: Sequence[str] | None = None) -> Path:
    """The folder of a model given by folder or hub id; of the hub only ``files`` (patterns) are fetched, None for all.

    WeightsMissing where it is neither.
    """
    if Path(model).is_dir():
        return Path(model)
    require_package("huggingface_hub", "huggingface-hub")
    from huggingface_hub import snapshot_download
    from huggingface_hub.errors import HfHubHTTPError, HFValidationError, LocalEntryNotFoundError

    try:
        return Path(snapshot_download(model, allow_patterns=list(files) if files else None))
    except (HfHubHTTPError, HFValidationError, LocalEntryNotFoundError, OSError) as error:
        raise WeightsMissing(f"the model {model!r} is neither a folder nor to be had from the hub: {error}") from error


def files_sha256(folder: Path, patterns: Sequence[str], model: str, kind: str) -> str:
    """Hex digest over the names and bytes of the folder's files of these patterns; WeightsMissing where there are none."""
    found = sorted({path for pattern in patterns for path in folder.rglob(pattern)})
    if not found:
        raise WeightsMissing(f"{model!r} holds none of {', '.join(patterns)}: it is no {kind} model")
    digest = hashlib.sha256()
    for path in found:
        digest.update(path.relative_to(folder).as_posix().encode() + b"\0")
        with path.open("rb") as handle:
            digest.update(hashlib.file_digest(handle, "sha256").digest())
    return digest.hexdigest()
