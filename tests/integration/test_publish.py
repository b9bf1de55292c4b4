"""A package laid out for a site: what is there, what is not, and that it stays the same."""

from __future__ import annotations

import json
import shutil
import subprocess
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote

import pytest

from repropack import check_package, publish_package, report_package, sign_package
from repropack._cli.main import main
from repropack._format.digests import digest_bytes
from repropack._format.schema_validator import find_issues
from repropack._format.schemas import schema_bytes
from repropack._read.package import open_package
from repropack.build import build_package
from repropack.errors import IntegrityError, UsageError
from repropack.publish import _beside
from tests.support.archives import read_zip
from tests.support.commands import files_below, write_script_project
from tests.support.signing import list_of, make_key, sign_alone

ZIP = "replay-lab-1.0.0.zip"


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory, lab_package: Path) -> Path:
    """The lab, signed and published; look at it, never write to it."""
    folder = tmp_path_factory.mktemp("site")
    package = folder / "lab.zip"
    shutil.copyfile(lab_package, package)
    sign_package(package, key=make_key(folder, "ann"))
    publish_package(package, folder / "published")
    return folder / "published"


class Links(HTMLParser):
    """Where the links of a page lead."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.found: list[str] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found += [str(value) for name, value in attrs if name in {"href", "src"}]


def test_what_is_laid_out_is_the_package(site: Path, lab_package: Path) -> None:
    """Every file at its path in the package is the package's; the zip is the very file."""
    entries, files = read_zip(lab_package.read_bytes()), files_below(site)
    own = {"index.html", "notebook.html", "report.html", "SHA256SUMS", ".nojekyll"}
    beside = {ZIP, f"{ZIP}.intoto.json", f"{ZIP}.intoto.json.sig"}
    assert own | beside <= set(files)
    for path in set(files) - own - beside:
        assert files[path] == entries[path]
    assert files[ZIP] == lab_package.read_bytes()
    assert files["report.html"] == report_package(lab_package).content
    left = {path for path in entries if path not in files}
    assert left == {path for path in entries if "/checkpoints/" in path}
    for path in ("source/replay_lab.py", "results.json", "notebook.ipynb", "figures/agreement.svg"):
        assert path in files
    assert {place.stat().st_mode & 0o777 for place in site.rglob("*") if place.is_file()} == {0o644}


def test_digests_are_those_of_all_files(site: Path) -> None:
    """Stock sha256sum agrees, and no file is missing from the list."""
    if shutil.which("sha256sum") is None:
        pytest.skip("needs sha256sum, which is not installed")
    done = subprocess.run(
        ["sha256sum", "-c", "SHA256SUMS"], cwd=site, capture_output=True, check=False
    )
    assert done.returncode == 0
    assert done.stderr == b""
    assert len(done.stdout.splitlines()) == len(files_below(site)) - 2


def test_the_package_and_its_signature_hold_where_they_lie(site: Path) -> None:
    """Whoever downloads them checks them there."""
    signers = list_of(site.parent / "signers", ("ann", site.parent / "ann"))
    report = check_package(site / ZIP, fast=True, signers=signers, require_signers=["ann"])
    assert report.signatures is not None
    assert (report.signatures.archive, report.signatures.missing) == ("equal", ())


def test_every_link_leads_to_a_file_that_is_there(site: Path) -> None:
    """Relative, below the folder; every file is linked to from the front page."""
    for name in ("index.html", "notebook.html"):
        page = (site / name).read_text("utf-8")
        for link in Links(page).found:
            if link.startswith(("#", "https://", "data:image/")):
                continue
            assert link.startswith("./")
            assert (site / unquote(link)).is_file()
        assert "default-src &#39;none&#39;" in page
        assert "<script" not in page
    linked = {unquote(link)[2:] for link in Links((site / "index.html").read_text("utf-8")).found}
    assert linked >= set(files_below(site)) - {"index.html", ".nojekyll"}


def test_published_twice_it_is_the_same(site: Path, tmp_path: Path) -> None:
    """Byte for byte, wherever; and it replaces what it published, and nothing else."""
    again = tmp_path / "elsewhere" / "published"
    publish_package(site.parent / "lab.zip", again)
    assert files_below(again) == files_below(site)
    with pytest.raises(UsageError, match="expected a folder that does not exist"):
        publish_package(site.parent / "lab.zip", again)
    (again / "plan.json").write_text("mine")
    with pytest.raises(UsageError, match=r"observed 'plan.json' in it, .* does not list so"):
        publish_package(site.parent / "lab.zip", again, force=True)
    assert (again / "plan.json").read_text() == "mine"
    shutil.copyfile(site / "plan.json", again / "plan.json")
    publish_package(site.parent / "lab.zip", again, force=True)
    assert files_below(again) == files_below(site)
    (again / "mine.txt").write_text("mine")
    with pytest.raises(UsageError, match=r"observed 'mine.txt' in it"):
        publish_package(site.parent / "lab.zip", again, force=True)
    assert (again / "mine.txt").read_text() == "mine"
    other = tmp_path / "downloads"
    other.mkdir()
    (other / "raw.csv").write_text("mine")
    (other / "SHA256SUMS").write_text(f"{'0' * 64}  raw.csv\n")
    with pytest.raises(UsageError, match="expected a folder that `publish` made"):
        publish_package(site.parent / "lab.zip", other, force=True)
    assert (other / "raw.csv").read_text() == "mine"
    assert not list(again.parent.glob(".*"))


def test_a_folder_that_is_a_package_is_published_as_a_zip(
    lab_package: Path, tmp_path: Path
) -> None:
    """The zip that ``build`` makes."""
    folder = tmp_path / "folder"
    main(["unpack", str(lab_package), str(folder)])
    report = publish_package(folder, tmp_path / "site")
    assert (tmp_path / "site" / ZIP).read_bytes() == lab_package.read_bytes()
    assert report.signatures == ()
    with pytest.raises(UsageError, match="apart from the package"):
        publish_package(folder, folder / "site")
    with pytest.raises(UsageError, match="apart from the package"):
        publish_package(folder, tmp_path, force=True)


def test_what_a_browser_would_run_is_left_in_the_package(tmp_path: Path) -> None:
    """Source and outputs may be called as they like; a site shows those that run nowhere."""
    page = "<script>alert(1)</script>"
    project = write_script_project(
        tmp_path / "project",
        'open("out.txt", "w").write("done\\n")\nopen("a.svg", "w").write('
        '\'<svg xmlns="http://www.w3.org/2000/svg" onload="alert(1)"/>\')\n',
        outputs=("out.txt", "a.svg"),
        experiment='source = ["train.py", "web/**", ".hidden"]',
        files={
            "web/a.html": page,
            "web/a.php.txt": page,
            "web/b.txt": page,
            "web/c.txt": "plain",
            ".hidden": "x",
        },
    )
    build_package(project, tmp_path / "p.zip")
    report = publish_package(tmp_path / "p.zip", tmp_path / "site")
    left = {row.path for row in report.left_out}
    assert {
        "source/web/a.html",
        "source/web/a.php.txt",
        "source/web/b.txt",
        "runs/reference/outputs/a.svg",
    } <= left
    files = files_below(tmp_path / "site")
    assert "source/web/c.txt" in files
    assert "source/train.py" in files
    assert left.isdisjoint(files)
    front = files["index.html"].decode("utf-8")
    assert "source/web/a.html" in front
    assert 'href="./source/web/a.html"' not in front


def test_a_statement_that_is_not_of_this_package_is_not_published(
    site: Path, tmp_path: Path
) -> None:
    """And a damaged package is not published at all."""
    for name in ("lab.zip", "lab.zip.intoto.json", "lab.zip.intoto.json.sig"):
        shutil.copyfile(site.parent / name, tmp_path / name)
    package, target = tmp_path / "lab.zip", tmp_path / "site"
    statement = tmp_path / "lab.zip.intoto.json"
    statement.write_bytes(statement.read_bytes().replace(b"1.0.0", b"1.0.1"))
    with pytest.raises(UsageError, match="expected the statement about this very package"):
        publish_package(package, target)
    data = bytearray(package.read_bytes())
    data[len(data) // 2] ^= 1
    package.write_bytes(data)
    with pytest.raises(IntegrityError):
        publish_package(package, target)
    assert not target.exists()


def test_signatures_that_do_not_hold_are_not_published(
    site: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They are named; who cannot judge them publishes nothing, unless there are none."""
    for name in ("lab.zip", "lab.zip.intoto.json", "lab.zip.intoto.json.sig"):
        shutil.copyfile(site.parent / name, tmp_path / name)
    package, base = tmp_path / "lab.zip", tmp_path / "lab.zip.intoto.json"
    other = tmp_path / "other"
    other.write_text("x")
    sign_alone(site.parent / "ann", other).rename(f"{base}.2.sig")
    Path(f"{base}.3.sig").write_text("x")
    Path(f"{base}.4.sig").mkdir()
    report = publish_package(package, tmp_path / "site")
    assert report.signatures == (f"{ZIP}.intoto.json.sig",)
    assert [row.file for row in report.signatures_left_out] == [
        f"lab.zip.intoto.json.{number}.sig" for number in (2, 3, 4)
    ]
    assert files_below(tmp_path / "site") == files_below(site)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert main(["publish", str(package), str(tmp_path / "again")]) == 4
    assert not (tmp_path / "again").exists()
    Path(f"{base}.sig").unlink()
    Path(f"{base}.2.sig").unlink()
    with open_package(package) as unsigned:
        beside = _beside(unsigned)
    assert (list(beside.files), len(beside.left_out)) == ([".intoto.json"], 2)


def test_the_verb(site: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A document for programs, 2 for wrong use."""
    package, target = str(site.parent / "lab.zip"), str(tmp_path / "site")
    assert main(["publish", package, target, "--format", "json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert find_issues("publish-report", schema_bytes("publish-report"), document) == ()
    listed = {row["path"]: row["digest"] for row in document["files"]}
    assert listed["index.html"] == digest_bytes((site / "index.html").read_bytes())
    assert main(["publish", package, target]) == 2
    (tmp_path / "file").write_text("mine")
    assert main(["publish", package, str(tmp_path / "file"), "--force"]) == 2
    Path(tmp_path / "link").symlink_to(target)
    assert main(["publish", package, str(tmp_path / "link"), "--force"]) == 2


def test_a_site_hands_out_what_jekyll_would_not(site: Path) -> None:
    """GitHub Pages takes files as they are; uploads may lose the file, and the digests hold."""
    assert (site / ".nojekyll").read_bytes() == b""
    assert ".nojekyll" not in (site / "SHA256SUMS").read_text("utf-8")
    assert (site / "__main__.py").is_file()
