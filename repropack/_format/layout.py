"""Where everything lies in a package: paths, roles and media types in one place."""

from __future__ import annotations

import re

from repropack.models.manifest import Role

MANIFEST = "manifest.json"
PLAN = "plan.json"
ENVIRONMENT = "environment.json"
RESULTS = "results.json"
README = "README.md"
AUTHOR_READMES = ("README.author.md", "README.author.txt")
"""What the author says of the project, as Markdown or as plain text; ``README`` is generated."""
LICENSE = "LICENSE"
CHECKER = "__main__.py"
NOTEBOOK = "notebook.ipynb"
PAGE = "index.html"
CRATE = "ro-crate-metadata.json"
CITATION = "CITATION.cff"
FIGURES = "figures"
SOURCE = "source"
INPUTS = "inputs"
AFTER = "after"
LOCK = "requirements.lock"
PYLOCK = "pylock.toml"
WHEELS = "wheels"
RUNS = "runs"
SCHEMAS = "schemas"
CONFIG_SCHEMA = f"{SCHEMAS}/config.schema.json"
REFERENCE_RUN = "reference"

EVIDENCE_FOLDERS = ("source/", "inputs/", "runs/")
"""With ``plan.json``, what the evidence digest covers."""

_ROLE_BY_PATH: dict[str, Role] = {
    PLAN: "plan",
    ENVIRONMENT: "environment",
    RESULTS: "results",
    README: "readme",
    **dict.fromkeys(AUTHOR_READMES, "readme"),
    LICENSE: "license",
    CHECKER: "checker",
    NOTEBOOK: "notebook",
    PAGE: "report",
    CRATE: "crate",
    CITATION: "citation",
    LOCK: "lock",
    PYLOCK: "lock",
}
_ROLE_BY_FOLDER: dict[str, Role] = {
    SOURCE: "source",
    INPUTS: "input",
    AFTER: "derived",
    SCHEMAS: "schema",
    FIGURES: "figure",
}
_RUN = re.compile(r"[a-z0-9][a-z0-9-]{0,63}")
_CHECKPOINT = re.compile(r"step-[0-9]{9}\.(json|npz)")
WHEEL_NAME = re.compile(
    r"([A-Za-z0-9][A-Za-z0-9._]*)-[0-9][A-Za-z0-9._+]*(?:-[0-9][A-Za-z0-9_.]*)?"
    r"(?:-[A-Za-z0-9_]+(?:\.[A-Za-z0-9_]+)*){3}\.whl"
)
"""The file name of a wheel; its first group is the distribution's name."""
_MEDIA_TYPES = {
    ".json": "application/json",
    ".jsonl": "application/jsonl",
    ".npz": "application/vnd.numpy.npz",
    ".md": "text/markdown",
    ".ipynb": "application/x-ipynb+json",
    ".py": "text/x-python",
    ".toml": "application/toml",
    ".txt": "text/plain",
    ".csv": "text/csv",
    ".svg": "image/svg+xml",
    ".png": "image/png",
    ".lock": "text/plain",
    ".whl": "application/zip",
    ".html": "text/html",
    ".cff": "application/yaml",
}


def run_folder(run: str) -> str:
    """Folder of a run.

    Args:
        run: The run's name.

    Returns:
        Its path in a package.

    Example:
        >>> run_folder("reference")
        'runs/reference'
    """
    return f"{RUNS}/{run}"


def log_path(run: str) -> str:
    """Fingerprint log of a run.

    Args:
        run: The run's name.

    Returns:
        Its path in a package.

    Example:
        >>> log_path("reference")
        'runs/reference/fingerprints.jsonl'
    """
    return f"{RUNS}/{run}/fingerprints.jsonl"


def kept_path(run: str) -> str:
    """Kept arrays of a run.

    Args:
        run: The run's name.

    Returns:
        Its path in a package.

    Example:
        >>> kept_path("reference")
        'runs/reference/kept.npz'
    """
    return f"{RUNS}/{run}/kept.npz"


def checkpoint_folder(run: str) -> str:
    """Folder of a run's checkpoints.

    Args:
        run: The run's name.

    Returns:
        Its path in a package.

    Example:
        >>> checkpoint_folder("reference")
        'runs/reference/checkpoints'
    """
    return f"{RUNS}/{run}/checkpoints"


def outputs_folder(run: str) -> str:
    """Folder of the files that a run's command wrote.

    Args:
        run: The run's name.

    Returns:
        Its path in a package.

    Example:
        >>> outputs_folder("reference")
        'runs/reference/outputs'
    """
    return f"{RUNS}/{run}/outputs"


def is_evidence(path: str) -> bool:
    """Return whether the evidence digest covers an entry.

    Args:
        path: The entry's path.

    Returns:
        Whether it is ``plan.json`` or lies below one of ``EVIDENCE_FOLDERS``.

    Example:
        >>> is_evidence("source/train.py"), is_evidence("results.json")
        (True, False)
    """
    return path == PLAN or path.startswith(EVIDENCE_FOLDERS)


def role_of(path: str) -> Role | None:
    """The role that an entry has by where it lies.

    Args:
        path: The entry's path.

    Returns:
        The role, or ``None`` where no entry may be.

    Example:
        >>> role_of("runs/reference/kept.npz"), role_of("setup.py")
        ('kept', None)
    """
    if path in _ROLE_BY_PATH:
        return _ROLE_BY_PATH[path]
    folder, _, rest = path.partition("/")
    if rest and folder in _ROLE_BY_FOLDER:
        return _ROLE_BY_FOLDER[folder]
    if folder == WHEELS:
        return "wheel" if WHEEL_NAME.fullmatch(rest) else None
    run, _, file = rest.partition("/")
    if folder != RUNS or not _RUN.fullmatch(run):
        return None
    if file == "fingerprints.jsonl":
        return "log"
    if file == "kept.npz":
        return "kept"
    if file.startswith("outputs/") and file != "outputs/":
        return "output"
    name = file.removeprefix("checkpoints/")
    return "checkpoint" if name != file and _CHECKPOINT.fullmatch(name) else None


def media_type_of(path: str) -> str:
    """Media type of an entry by its extension.

    Args:
        path: The entry's path.

    Returns:
        The media type; ``application/octet-stream`` where the extension is unknown.

    Example:
        >>> media_type_of("plan.json")
        'application/json'
    """
    if path == LICENSE:
        return "text/plain"
    name = path.rpartition("/")[2]
    dot = name.rfind(".")
    return _MEDIA_TYPES.get(name[dot:] if dot > 0 else "", "application/octet-stream")
