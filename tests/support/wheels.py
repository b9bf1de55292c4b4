"""Wheels made by hand: tiny ones, and those of what is installed here, packed again."""

from __future__ import annotations

import base64
import hashlib
import importlib.metadata
import re
import zipfile
from collections.abc import Mapping
from pathlib import Path


def tiny_wheel(
    folder: Path, name: str, version: str = "1.0", files: Mapping[str, str] | None = None
) -> Path:
    """A wheel of a distribution with one module, and whatever else is asked for."""
    stem = f"{name.replace('-', '_')}-{version}"
    contents = {
        f"{name.replace('-', '_')}.py": f'"""The module of {name}."""\n',
        **(files or {}),
        f"{stem}.dist-info/METADATA": f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n",
        f"{stem}.dist-info/WHEEL": (
            "Wheel-Version: 1.0\nGenerator: by hand\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
        ),
    }
    data = {path: text.encode() for path, text in contents.items()}
    return write_wheel(folder / f"{stem}-py3-none-any.whl", f"{stem}.dist-info", data)


def write_wheel(path: Path, dist_info: str, contents: Mapping[str, bytes]) -> Path:
    """Write a wheel with a right list of its files."""
    rows = []
    for name, data in contents.items():
        digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
        rows.append(f"{name},sha256={digest},{len(data)}\n")
    record = f"{dist_info}/RECORD"
    with zipfile.ZipFile(path, "w") as archive:
        for name, data in {**contents, record: "".join([*rows, f"{record},,\n"]).encode()}.items():
            archive.writestr(zipfile.ZipInfo(name), data)
    return path


def requirements_of(name: str) -> set[str]:
    """A distribution and everything that it needs here, by names in normal form."""
    from packaging.requirements import Requirement
    from packaging.utils import canonicalize_name

    found: set[str] = set()
    open_names = [name]
    while open_names:
        one = canonicalize_name(open_names.pop())
        if one in found:
            continue
        found.add(one)
        needed = map(Requirement, importlib.metadata.requires(one) or ())
        open_names += [row.name for row in needed if not row.marker or row.marker.evaluate()]
    return found


def packed_again(name: str, folder: Path) -> Path:
    """The wheel of an installed distribution, from its installed files; programs are left out."""
    installed = importlib.metadata.distribution(name)
    contents, dist_info = {}, ""
    for file in installed.files or ():
        path = file.as_posix()
        top = path.partition("/")[0]
        if top.endswith(".dist-info"):
            dist_info = top
        installers = {"INSTALLER", "REQUESTED", "RECORD", "direct_url.json", "uv_cache.json"}
        if path.startswith("../") or path.endswith(".pyc"):
            continue
        if not (top.endswith(".dist-info") and file.name in installers):
            contents[path] = Path(str(file.locate())).read_bytes()
    tags = re.findall(
        r"^Tag: *(\S+)-(\S+)-(\S+)$", contents[f"{dist_info}/WHEEL"].decode(), re.MULTILINE
    )
    parts = [".".join(dict.fromkeys(tag[k] for tag in tags)) for k in range(3)]
    stem = dist_info.removesuffix(".dist-info")
    return write_wheel(folder / f"{stem}-{'-'.join(parts)}.whl", dist_info, contents)


def simple_index(wheels: Path, folder: Path) -> str:
    """An index of all wheels in a folder, as pages with digests; its address."""
    by_name: dict[str, list[Path]] = {}
    for wheel in sorted(wheels.glob("*.whl")):
        name = re.sub(r"[-_.]+", "-", wheel.name.partition("-")[0]).lower()
        by_name.setdefault(name, []).append(wheel)
    for name, files in by_name.items():
        page = folder / name / "index.html"
        page.parent.mkdir(parents=True)
        links = [
            f'<a href="{file.as_uri()}#sha256={hashlib.sha256(file.read_bytes()).hexdigest()}">'
            f"{file.name}</a>"
            for file in files
        ]
        page.write_text(f"<!DOCTYPE html><html><body>{''.join(links)}</body></html>\n")
    return folder.as_uri()
