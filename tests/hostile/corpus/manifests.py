"""T10: what a manifest leaves out, adds, or says of the files that are there."""

# ruff: noqa: E501 - one line a lie

from __future__ import annotations

import hashlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.hostile.corpus.bases import Base
from tests.hostile.corpus.case import (
    BOTH,
    FORMAT,
    INTEGRITY,
    LIMIT,
    NEWER,
    SCHEMA,
    UNSAFE,
    Case,
    Form,
    Write,
    lie,
    rows,
    seal,
    sealed,
    spelled,
    told,
)
from tests.hostile.corpus.documents import added, backwards, pretty
from tests.support.hostile import OTHER_PAGE, Forgery

OTHER = "sha256:" + "0" * 64


def row_of(manifest: Any, path: str) -> Any:
    """The row of a path."""
    return next(row for row in manifest["entries"] if row["path"] == path)


def row(change: Callable[[Any], object], path: str = "LICENSE") -> Write:
    """Change one row after sealing."""
    return sealed(lambda base, manifest: change(row_of(manifest, path)))


def member(**members: Any) -> Write:
    """Other members of the manifest."""
    return sealed(lambda base, manifest: manifest.update(members))


def about(**members: Any) -> Write:
    """Other metadata."""
    return told(lambda base, forgery: forgery.manifest["package"].update(members))


def author(**members: Any) -> Write:
    """Another first author."""
    return told(lambda base, forgery: forgery.manifest["package"]["authors"][0].update(members))


def unlisted(path: str, content: bytes = b"x = 1\n") -> Write:
    """A file that is there and that no row lists."""

    def write(base: Base, form: Form, folder: Path) -> Path:
        forgery = base.forgery()
        manifest = forgery.seal()
        forgery.files[path] = content
        return seal(forgery, form, folder, manifest)

    return write


def dropped(path: str) -> Write:
    """An entry that a package must have is neither there nor listed."""
    return told(lambda base, forgery: forgery.files.pop(path))


def removed(path: str) -> Write:
    """An entry that is listed is not there."""

    def change(base: Base, manifest: Any) -> None:
        manifest["entries"].append({**row_of(manifest, "LICENSE"), "path": path})
        manifest["entries"].sort(key=lambda one: str(one["path"]).encode())

    return sealed(change)


def replaced(path: str, content: bytes) -> Write:
    """An entry with another content, its row made right."""
    return told(lambda base, forgery: forgery.files.update({path: content}))


def page(change: Callable[[bytes], bytes]) -> Write:
    """Another page, which still says that this release made it."""

    def tell(base: Base, forgery: Forgery) -> None:
        changed = change(forgery.files["index.html"])
        assert changed != forgery.files["index.html"]
        forgery.files["index.html"] = changed

    return told(tell)


def md5(base: Base, manifest: Any) -> None:
    content = base.forgery().files["LICENSE"]
    row_of(manifest, "LICENSE")["digest"] = "md5:" + hashlib.md5(content).hexdigest()


def case_of_path(base: Base, manifest: Any) -> None:
    one = row_of(manifest, "LICENSE")
    one["path"] = "License"


def many_missing(base: Base, manifest: Any) -> None:
    """Ten thousand rows of files that are not there."""
    like = row_of(manifest, base.source)
    manifest["entries"] += [{**like, "path": f"source/zz{k:05d}.py"} for k in range(10_000)]


def swapped_rows(base: Base, manifest: Any) -> None:
    one, other = row_of(manifest, "LICENSE"), row_of(manifest, "README.md")
    for name in ("size", "digest"):
        one[name], other[name] = other[name], one[name]


FILES = rows(
    "T10",
    "manifest-files",
    lie("unlisted", "A source that no row lists.", unlisted("source/numpy.py"), INTEGRITY, "unexpected", forms=BOTH),
    lie("unlisted-path-file", "A file that adds to the module path.", unlisted("source/evil.pth"), INTEGRITY, "unexpected", forms=BOTH),
    lie("unlisted-customize", "A module that Python imports by itself.", unlisted("source/sitecustomize.py"), INTEGRITY, "unexpected", forms=BOTH),
    lie("unlisted-bytecode", "Bytecode beside a source.", unlisted("source/__pycache__/tally.cpython-311.pyc"), INTEGRITY, "unexpected", forms=BOTH),
    lie("unlisted-hidden", "A hidden file.", unlisted("source/.hidden"), INTEGRITY, "unexpected", forms=BOTH),
    lie("unlisted-checkpoint", "A checkpoint that no row lists.", unlisted("runs/reference/checkpoints/step-000000003.npz"), INTEGRITY, "unexpected"),
    lie("unlisted-run", "A run that no row lists.", unlisted("runs/extra/fingerprints.jsonl"), INTEGRITY, "unexpected"),
    lie("missing", "A row lists a source that is not there.", removed("source/zz.py"), INTEGRITY, "missing", forms=BOTH),
    lie("missing-many", "Ten thousand rows list what is not there.", sealed(many_missing), LIMIT, "max_faults", faults=None, heavy=True),
    lie("no-license", "There is no license.", dropped("LICENSE"), INTEGRITY, "every package has"),
    lie("no-readme", "There is no README.", dropped("README.md"), INTEGRITY, "every package has"),
    lie("no-checker", "There is no checker.", dropped("__main__.py"), INTEGRITY, "every package has"),
    lie("no-notebook", "There is no notebook.", dropped("notebook.ipynb"), INTEGRITY, "every package has"),
    lie("no-page", "There is no page.", dropped("index.html"), INTEGRITY, "every package has"),
    lie("page-replaced", "The page says that a comparison came out otherwise.", page(lambda p: p.replace(b"as expected", b"not as expected", 1)), INTEGRITY, "against the package's other entries", forms=BOTH),
    lie("page-byte", "The page has a line more.", page(lambda p: p + b"\n"), INTEGRITY, "against the package's other entries"),
    lie("page-script", "The page runs a script of its own.", page(lambda p: p.replace(b"</main>", b"<script>alert(1)</script></main>")), INTEGRITY, "against the package's other entries"),
    lie("page-no-version", "The page does not say who made it.", page(lambda p: p.replace(b'name="generator"', b'name="author"', 1)), INTEGRITY, "the first lines that every page has"),
    lie("page-empty", "The page is empty.", replaced("index.html", b""), INTEGRITY, "the first lines that every page has"),
    lie("page-of-another-release", "The page says that another release made it, and nobody can tell.", replaced("index.html", OTHER_PAGE + b"<script>alert(1)</script>"), None, "", forms=BOTH),
    lie("no-plan", "There is no plan.", dropped("plan.json"), INTEGRITY, "every package has"),
    lie("no-results", "There are no results.", dropped("results.json"), INTEGRITY, "every package has"),
    lie("no-environment", "There is no environment.", dropped("environment.json"), INTEGRITY, "every package has"),
    lie("no-log", "There is no log of the reference.", dropped("runs/reference/fingerprints.jsonl"), INTEGRITY, "every package has"),
    lie("no-schema", "A schema of a document is not there.", dropped("schemas/plan.schema.json"), INTEGRITY, "every package has"),
    lie("checker-replaced", "The checker always says that all is well.", replaced("__main__.py", b"print('intact')\n"), INTEGRITY, "a checker that repropack ships", forms=BOTH),
    lie("checker-line", "The checker has a line more.", told(lambda b, f: f.files.update({"__main__.py": f.files["__main__.py"] + b"\n"})), INTEGRITY, "a checker that repropack ships"),
    lie("checker-empty", "The checker is empty.", replaced("__main__.py", b""), INTEGRITY, "a checker that repropack ships"),
    lie("schema-replaced", "A schema that accepts everything.", replaced("schemas/results.schema.json", b"{}\n"), INTEGRITY, "the released schema"),
    lie("content", "A README of another content.", sealed(lambda b, m: row_of(m, "README.md").update(digest=OTHER)), INTEGRITY, "differs", forms=BOTH),
    lie("rows-swapped", "Two rows have each other's digest.", sealed(swapped_rows), INTEGRITY, "differs", faults=2),
    lie("lists-itself", "The manifest lists itself.", removed("manifest.json"), INTEGRITY, "", faults=None),
    lie("path-case", "A row spells a path otherwise.", sealed(case_of_path), INTEGRITY, "missing", faults=None),
)  # fmt: skip

ROWS = rows(
    "T10",
    "manifest-row",
    lie("order", "Rows in another order.", sealed(lambda b, m: m["entries"].reverse()), INTEGRITY, "another order"),
    lie("twice", "A row comes twice.", sealed(lambda b, m: m["entries"].insert(0, m["entries"][0])), INTEGRITY, "each path once", faults=None),
    lie("path-parent", "A row lists what lies beside the folder.", removed("../evil.py"), UNSAFE, "'..'", faults=None),
    lie("path-absolute", "A row lists what lies at the root.", removed("/etc/passwd"), UNSAFE, "relative path", faults=None),
    lie("path-backslash", "A row lists a path of another system.", removed("source\\x.py"), UNSAFE, "U+005C", faults=None),
    lie("path-control", "A row lists a path that clears the screen.", removed("source/\x1b[2J.py"), UNSAFE, "U+001B", faults=None),
    lie("path-nul", "A row lists a path with a NUL.", removed("source/a\0b.py"), UNSAFE, "U+0000", faults=None),
    lie("path-case-twice", "Two rows meet on other systems.", removed("license"), UNSAFE, "unique under case folding", faults=None),
    lie("path-empty", "A row lists no path.", row(lambda r: r.update(path="")), SCHEMA, "path"),
    lie("path-number", "A row lists a number.", row(lambda r: r.update(path=7)), SCHEMA, "path"),
    lie("path-long", "A row lists a path of a page.", row(lambda r: r.update(path="source/" + "a" * 2000)), SCHEMA, "path"),
    lie("size-more", "A row has a size that is one too large.", row(lambda r: r.update(size=r["size"] + 1)), INTEGRITY, "bytes", forms=BOTH),
    lie("size-less", "A row has a size that is one too small.", row(lambda r: r.update(size=r["size"] - 1)), INTEGRITY, "bytes"),
    lie("size-float", "A size with a point.", row(lambda r: r.update(size=float(r["size"]))), SCHEMA, "size"),
    lie("size-true", "A size that is true.", row(lambda r: r.update(size=True)), SCHEMA, "size"),
    lie("size-negative", "A size below 0.", row(lambda r: r.update(size=-1)), SCHEMA, "size"),
    lie("size-text", "A size that is text.", row(lambda r: r.update(size=str(r["size"]))), SCHEMA, "size"),
    lie("digest-capitals", "A digest in capitals.", row(lambda r: r.update(digest=r["digest"].upper())), SCHEMA, "digest"),
    lie("digest-cut", "A digest of half its length.", row(lambda r: r.update(digest=r["digest"][:39])), SCHEMA, "digest"),
    lie("digest-bare", "A digest without its algorithm.", row(lambda r: r.update(digest=r["digest"][7:])), SCHEMA, "digest"),
    lie("digest-md5", "A digest of an algorithm that is broken.", sealed(md5), SCHEMA, "digest"),
    lie("digest-sha512", "A digest of another algorithm.", row(lambda r: r.update(digest="sha512:" + "0" * 128)), SCHEMA, "digest"),
    lie("digest-newline", "A digest with a line end.", row(lambda r: r.update(digest=r["digest"] + "\n")), SCHEMA, "digest"),
    lie("digest-null", "No digest.", row(lambda r: r.update(digest=None)), SCHEMA, "digest"),
    lie("digest-empty", "A digest of nothing.", row(lambda r: r.update(digest="")), SCHEMA, "digest"),
    lie("digest-script", "A digest in the digits of another script.", row(lambda r: r.update(digest="sha256:" + "\u0660" * 64)), SCHEMA, "digest"),
    lie("digest-lacks", "A row without a digest.", row(lambda r: r.pop("digest")), SCHEMA, "digest"),
    lie("role", "A license that calls itself a figure.", row(lambda r: r.update(role="figure")), INTEGRITY, "license", forms=BOTH),
    lie("role-source", "A document that calls itself a source.", row(lambda r: r.update(role="source"), "plan.json"), INTEGRITY, "plan"),
    lie("role-unknown", "A role that nobody knows.", row(lambda r: r.update(role="virus")), SCHEMA, "role"),
    lie("role-reserved", "A role of a later release.", row(lambda r: r.update(role="scope")), NEWER, "role scope"),
    lie("media-type", "A text that calls itself a page.", row(lambda r: r.update(media_type="text/html"), "README.md"), INTEGRITY, "readme"),
    lie("media-type-control", "A media type with a line end.", row(lambda r: r.update(media_type="text/plain\r\nX: 1")), SCHEMA, "media_type"),
    lie("executable", "A text that is listed as executable.", row(lambda r: r.update(executable=True)), INTEGRITY, "executable", forms=BOTH),
    lie("executable-number", "A truth that is a number.", row(lambda r: r.update(executable=1)), SCHEMA, "executable"),
    lie("by-reference", "A license that is said to lie elsewhere.", row(lambda r: r.update(included=False, location="https://example.org/x")), INTEGRITY, "an input with a location", faults=None),
    lie("location", "An entry that is here and elsewhere.", row(lambda r: r.update(location="https://example.org/x")), INTEGRITY, "location"),
    lie("location-file", "An entry that lies on the reader's disk.", row(lambda r: r.update(location="file:///etc/passwd")), INTEGRITY, "location"),
    lie("member", "A row with a member that nobody knows.", row(lambda r: r.update(post_install="sh")), SCHEMA, "post_install"),
    lie("list", "A row that is a list.", sealed(lambda b, m: m["entries"].append(["x"])), SCHEMA, "entries"),
)  # fmt: skip

FORM = rows(
    "T10",
    "manifest",
    lie("format", "A manifest of another format.", member(format="zip"), FORMAT, "expected format"),
    lie("format-list", "A format that is a list.", member(format=["replay-package"]), FORMAT, "expected format"),
    lie("format-none", "A manifest of no format.", sealed(lambda b, m: m.pop("format")), FORMAT, "expected format"),
    lie("other-tool", "A manifest of another tool of this name.", member(format="repropack"), FORMAT, "another tool"),
    lie("version-newer", "A manifest of format 2.", member(format_version=2), NEWER, "format version"),
    lie("version-newest", "A manifest of a format far away.", member(format_version=2**53 - 1), NEWER, "format version"),
    lie("version-zero", "A manifest of format 0.", member(format_version=0), SCHEMA, "format_version"),
    lie("version-negative", "A manifest of format -1.", member(format_version=-1), SCHEMA, "format_version"),
    lie("version-true", "A manifest of format true.", member(format_version=True), SCHEMA, "format_version"),
    lie("version-float", "A manifest of format 1.0.", member(format_version=1.0), SCHEMA, "format_version"),
    lie("version-text", "A manifest of format \"1\".", member(format_version="1"), SCHEMA, "format_version"),
    lie("version-none", "A manifest of no format version.", sealed(lambda b, m: m.pop("format_version")), SCHEMA, "format_version"),
    lie("schema", "A manifest that calls itself a plan.", member(schema="repropack/plan/v1"), SCHEMA, "schema"),
    lie("schema-newer", "A manifest of a later schema.", member(schema="repropack/manifest/v2"), NEWER, "repropack/manifest/v2"),
    lie("member", "A manifest with a member more.", member(signature="trust me"), SCHEMA, "signature"),
    lie("no-entries", "A manifest without entries.", sealed(lambda b, m: m.pop("entries")), SCHEMA, "entries"),
    lie("entries-object", "Entries that are an object.", member(entries={}), SCHEMA, "entries"),
    lie("no-package", "A manifest without metadata.", sealed(lambda b, m: m.pop("package")), SCHEMA, "package"),
    lie("list", "A manifest that is a list.", spelled(lambda d: b"[]\n"), FORMAT, "expected format", forms=BOTH),
    lie("empty", "A manifest of nothing.", spelled(lambda d: b"\n"), FORMAT, "strict JSON", forms=BOTH),
    lie("noise", "A manifest of noise.", spelled(lambda d: bytes(range(256))), FORMAT, "expected UTF-8"),
    lie("cut", "A manifest that ends early.", spelled(lambda d: d[: len(d) // 2]), FORMAT, "strict JSON"),
    lie("key-twice", "A manifest with a member twice.", spelled(added(b'"format":"zip"')), FORMAT, "twice"),
    lie("pretty", "A manifest for people.", spelled(pretty), FORMAT, "canonical"),
    lie("order", "A manifest with its members in another order.", spelled(backwards), FORMAT, "canonical"),
    lie("byte-order-mark", "A manifest with a byte order mark.", spelled(lambda d: b"\xef\xbb\xbf" + d), FORMAT, "byte order mark"),
    lie("depth", "A manifest of ten thousand brackets.", spelled(lambda d: b"[" * 10_000), LIMIT, "max_json_depth"),
    lie("nan", "A manifest with a number that is none.", spelled(lambda d: d.replace(b'"format_version":1', b'"format_version":NaN')), FORMAT, "NaN"),
    lie("default-left-out", "A manifest with a default left out.", sealed(lambda b, m: m["entries"][0].pop("included")), FORMAT, "every member"),
)  # fmt: skip

ABOUT = rows(
    "T12",
    "metadata",
    lie("title-escape", "A title that clears the screen.", about(title="A\x1b[2J\x1b[HB"), SCHEMA, "title"),
    lie("title-c1", "A title with an escape of one byte.", about(title="A\x9b2JB"), SCHEMA, "title"),
    lie("title-line", "A title of two lines, the second a verdict.", about(title="A\nidentical"), SCHEMA, "title"),
    lie("title-return", "A title that writes over itself.", about(title="damaged\ridentical"), SCHEMA, "title"),
    lie("title-backspace", "A title that takes letters back.", about(title="A\b\b\bB"), SCHEMA, "title"),
    lie("title-reversed", "A title that is drawn backwards.", about(title="A \u202ekcatta"), SCHEMA, "title"),
    lie("title-isolate", "A title that is drawn in another order.", about(title="A \u2066B\u2069"), SCHEMA, "title"),
    lie("title-separator", "A title with a line separator.", about(title="A\u2028B"), SCHEMA, "title"),
    lie("title-invisible", "A title with a blank of no width.", about(title="A\u200bB"), SCHEMA, "title"),
    lie("title-mark", "A title with a byte order mark.", about(title="A\ufeffB"), SCHEMA, "title"),
    lie("title-empty", "A title of nothing.", about(title=""), SCHEMA, "title"),
    lie("title-long", "A title of a page.", about(title="x" * 501), SCHEMA, "title"),
    lie("title-number", "A title that is a number.", about(title=7), SCHEMA, "title"),
    lie("title-delete", "A title with a control character.", about(title="A\x7fB"), SCHEMA, "title"),
    lie("author-escape", "An author who colours the screen.", author(name="\x1b[31mA"), SCHEMA, "authors"),
    lie("author-link", "An author with a link that terminals follow.", author(name="\x1b]8;;http://x\x07A"), SCHEMA, "authors"),
    lie("affiliation-line", "An affiliation of two lines.", author(affiliation="A\nB"), SCHEMA, "affiliation"),
    lie("orcid", "An ORCID iD that is a link.", author(orcid="https://example.org/"), SCHEMA, "orcid"),
    lie("orcid-newline", "An ORCID iD with a line end.", author(orcid="0000-0002-1825-0097\n"), SCHEMA, "orcid"),
    lie("no-author", "A package of nobody.", about(authors=[]), SCHEMA, "authors"),
    lie("name-path", "A package named like a path.", about(name="../../x"), SCHEMA, "name"),
    lie("name-script", "A package named in another script.", about(name="t\u0430lly"), SCHEMA, "name"),
    lie("name-long", "A package with a long name.", about(name="a" * 65), SCHEMA, "name"),
    lie("version-blank", "A version with a blank.", about(version="1.0 final"), SCHEMA, "version"),
    lie("version-option", "A version like an option.", about(version="--force"), SCHEMA, "version"),
    lie("license-line", "A license of two lines.", about(license="MIT\nBSD"), SCHEMA, "license"),
    lie("date", "A day that does not exist.", about(date="2026-02-30"), SCHEMA, "date"),
    lie("date-time", "A day with a time.", about(date="2026-11-30T04:00:00Z"), SCHEMA, "date"),
    lie("date-number", "A day as a number.", about(date=20_000), SCHEMA, "date"),
    lie("description-escape", "A description that sets a title.", about(description="\x1b]0;x\x07"), SCHEMA, "description"),
    lie("member", "Metadata with a member more.", about(homepage="javascript:alert(1)"), SCHEMA, "homepage"),
)  # fmt: skip

CASES: tuple[Case, ...] = (*FILES, *ROWS, *FORM, *ABOUT)
