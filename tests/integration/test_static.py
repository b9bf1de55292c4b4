"""What ``check`` never does: processes, sockets, heavy imports, memory that grows."""

from __future__ import annotations

import hashlib
import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from repropack._format.archive_writer import ArchiveWriter
from tests.support.hostile import take_apart

NEVER = ("subprocess.Popen", "os.exec", "os.fork", "os.forkpty", "os.posix_spawn", "os.system")
WATCHED = f"""
import sys
def watch(event, arguments):
    if event in {NEVER!r} or event.startswith("socket."):
        raise SystemExit("event " + event)
sys.addaudithook(watch)
from repropack._cli.main import main
status = main(["check", sys.argv[1]])
heavy = {{"matplotlib", "nbformat", "jsonschema", "rich", "threadpoolctl"}} & set(sys.modules)
sys.exit(f"imported {{heavy}}" if heavy else status)
"""
MEASURED = """
import resource, sys
from repropack._present.text import check_text
from repropack.check import check_package
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
report = check_package(sys.argv[1])
after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
print(report.verdict, report.entries_checked, after - before)
"""
GIBIBYTE = 1 << 30


def run_python(code: str, package: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", code, str(package)], capture_output=True, text=True, check=False
    )


def test_check_starts_no_process_and_opens_no_socket(lab_package: Path) -> None:
    """Nor does it import what only other verbs need."""
    done = run_python(WATCHED, lab_package)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("intact")


def blocks() -> Iterator[bytes]:
    """A gibibyte of content, a mebibyte at a time."""
    return (bytes(1 << 20) for _ in range(GIBIBYTE >> 20))


@pytest.mark.slow
def test_memory_does_not_grow_with_a_package(lab_package: Path, tmp_path: Path) -> None:
    """A package of a gibibyte is checked in less than 128 MiB above the imports."""
    forgery = take_apart(lab_package)
    forgery.files["inputs/large.bin"] = b""
    hasher = hashlib.sha256()
    for block in blocks():
        hasher.update(block)
    digest = f"sha256:{hasher.hexdigest()}"
    forgery.rows["inputs/large.bin"] = {"size": GIBIBYTE, "digest": digest}
    manifest = json.loads(forgery.seal())
    path = tmp_path / "large.zip"
    sealed = json.dumps(manifest, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    with path.open("wb") as stream:
        writer = ArchiveWriter(stream)
        writer.add("manifest.json", sealed.encode() + b"\n")
        for name in sorted(forgery.files, key=str.encode):
            if name == "inputs/large.bin":
                writer.add_blocks(name, blocks, size=GIBIBYTE)
            else:
                writer.add(name, forgery.files[name], executable=name in forgery.executables)
        writer.finish()
    done = run_python(MEASURED, path)
    path.unlink()
    verdict, entries, grown_kibibytes = done.stdout.split()
    assert (verdict, int(entries)) == ("intact", len(manifest["entries"]))
    assert int(grown_kibibytes) < 128 * 1024
