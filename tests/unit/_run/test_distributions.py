"""Distributions are told by name, version, origin and files, and by no address or folder."""

from __future__ import annotations

import hashlib
import importlib.metadata

import numpy as np
import pytest

from repropack._run import distributions
from repropack._run.distributions import check_own_name, observe_distributions
from repropack.errors import CouldNotRunError
from repropack.models.environment import Distribution

RECORD = """demo/__init__.py,sha256=AAA,10
demo/data.txt,sha256=BBB,20
demo/__pycache__/__init__.cpython-311.pyc,,
demo/old.pyc,sha256=CCC,30
../../../bin/demo,sha256=DDD,40
/etc/demo.conf,sha256=EEE,50
"demo/a,b.txt",sha256=FFF,60
demo-1.0.dist-info/INSTALLER,sha256=GGG,4
demo-1.0.dist-info/METADATA,sha256=HHH,70
demo-1.0.dist-info/RECORD,,
demo-1.0.dist-info/REQUESTED,sha256=III,0
demo-1.0.dist-info/WHEEL,sha256=JJJ,80
"""
ROWS = (
    b'"demo/a,b.txt",sha256=FFF,60\n'
    b"demo-1.0.dist-info/METADATA,sha256=HHH,70\n"
    b"demo-1.0.dist-info/WHEEL,sha256=JJJ,80\n"
    b"demo/__init__.py,sha256=AAA,10\n"
    b"demo/data.txt,sha256=BBB,20\n"
)
FINGERPRINT = "sha256:" + hashlib.sha256(b"repropack.installed.v1\n" + ROWS).hexdigest()
DIRECT = "demo-1.0.dist-info/direct_url.json,sha256=KKK,90\n"


class Installed:
    """A distribution made of texts; ``None`` is a file that it does not have."""

    def __init__(self, metadata: str | None, **files: str | None) -> None:
        self.files = {"METADATA": metadata} | {
            name.replace("direct_url", "direct_url.json"): text for name, text in files.items()
        }

    def read_text(self, name: str) -> str | None:
        return self.files.get(name)


def observe(monkeypatch: pytest.MonkeyPatch, *installed: Installed) -> tuple[Distribution, ...]:
    monkeypatch.setattr(importlib.metadata, "distributions", lambda: installed)
    return observe_distributions()


def demo(direct_url: str | None = None, installer: str | None = "pip\n") -> Installed:
    record = RECORD if direct_url is None else RECORD + DIRECT
    head = "Name: demo\nVersion: 1.0\n"
    return Installed(head, RECORD=record, INSTALLER=installer, direct_url=direct_url)


def test_names_are_in_normal_form(monkeypatch):
    """Names in normal form, sorted; of two with one name the first, which is imported."""
    found = observe(
        monkeypatch,
        Installed("Metadata-Version: 2.1\nName: Zope.Interface\nVersion: 6.0\n"),
        Installed("Name: typing_extensions\nVersion: 4.9\n\nName: other\n"),
        Installed("Name: Typing-Extensions\nVersion: 3.0\n"),
        Installed("Name: broken\n\nVersion: 1.0\n"),
        Installed("Name:\nVersion: 1.0\n"),
        Installed(None, **{"PKG-INFO": "Name: egg\nVersion: 0.1\n"}),
        Installed(None),
    )
    assert [(row.name, row.version) for row in found] == [
        ("egg", "0.1"),
        ("typing-extensions", "4.9"),
        ("zope-interface", "6.0"),
    ]
    assert {(row.origin, row.fingerprint) for row in found} == {("system", None)}


def test_fingerprint_is_of_the_rows_of_the_wheel(monkeypatch):
    """Rows with a digest, sorted; no byte code, no scripts, nothing of how it was installed."""
    (row,) = observe(monkeypatch, demo())
    assert row == Distribution(name="demo", version="1.0", origin="wheel", fingerprint=FINGERPRINT)


@pytest.mark.parametrize(
    ("before", "after", "same"),
    [
        ("sha256=BBB", "sha256=ZZZ", False),
        ("BBB,20", "BBB,21", False),
        ("demo/data.txt", "demo/date.txt", False),
        ("demo/data.txt,sha256=BBB,20\n", "", False),
        ("sha256=DDD", "sha256=ZZZ", True),
        ("INSTALLER,sha256=GGG,4", "INSTALLER,sha256=ZZZ,2", True),
        ("demo/__pycache__/__init__.cpython-311.pyc,,\n", "", True),
        ("demo-1.0.dist-info/REQUESTED,sha256=III,0\n", "", True),
    ],
)
def test_fingerprint_follows_the_files(monkeypatch, before, after, same):
    """Another digest, size or path of a file is another fingerprint; the installer's are not."""
    assert before in RECORD
    changed = demo()
    changed.files["RECORD"] = RECORD.replace(before, after)
    (row,) = observe(monkeypatch, changed)
    assert (row.fingerprint == FINGERPRINT) is same


@pytest.mark.parametrize(
    ("direct_url", "origin"),
    [
        ('{"dir_info": {"editable": true}, "url": "file:///home/ada/canary"}', "editable"),
        ('{"dir_info": {}, "url": "file:///home/ada/canary"}', "sdist"),
        ('{"dir_info": {"editable": false}, "url": "file:///canary"}', "sdist"),
        ('{"archive_info": {}, "url": "https://x.y/canary-1.0.tar.gz#egg=x"}', "sdist"),
        ('{"archive_info": {}, "url": "https://x.y/canary-1.0.zip"}', "sdist"),
        ('{"archive_info": {}, "url": "https://x.y/canary-1.0-py3-none-any.whl"}', "wheel"),
        ('{"vcs_info": {"vcs": "git"}, "url": "https://t:canary@x.y/r"}', "sdist"),
        ('{"url": 3}', "wheel"),
        ("[]", "wheel"),
        ("canary", "wheel"),
    ],
)
def test_origin_by_what_was_named(monkeypatch, direct_url, origin):
    """An address decides about one word, and nothing of it is kept."""
    (row,) = observe(monkeypatch, demo(direct_url))
    assert row.origin == origin
    assert "canary" not in row.model_dump_json()
    assert row.fingerprint == (None if origin == "editable" else FINGERPRINT)


@pytest.mark.parametrize(
    ("installer", "origin"),
    [("uv", "wheel"), (None, "wheel"), ("conda\n", "system"), ("debian", "system")],
)
def test_origin_by_installer(monkeypatch, installer, origin):
    """Package managers of a system say so, whatever address their build left."""
    (row,) = observe(monkeypatch, demo(installer=installer))
    assert row.origin == origin
    assert row.fingerprint == FINGERPRINT


def test_distributions_of_this_environment():
    """What is installed here is listed, once a name, and nothing of where."""
    found = observe_distributions()
    rows = {row.name: row for row in found}
    assert list(rows) == sorted(rows)
    assert len(rows) == len(found)
    assert rows["numpy"].version == np.__version__
    assert rows["numpy"].origin != "editable"
    assert found == distributions.observe_distributions()


# ---------------------------------------------------------------- in the place of repropack


@pytest.mark.parametrize(
    "other",
    [
        Installed("Name: repropack\nVersion: 0.3\n", RECORD="repropack/__init__.py,sha256=A,1\n"),
        Installed("Name: repropack\nVersion: 0.3\n", RECORD="a.py,,\nrepropack/__init__.py,,\n"),
        Installed("Name: repropack\nVersion: 0.3\n", **{"top_level.txt": "x\nrepropack\n"}),
    ],
    ids=["first", "listed", "without a list"],
)
def test_another_distribution_of_our_name(monkeypatch, other):
    """A module of our name from elsewhere is refused; the words say how to be rid of it."""
    monkeypatch.setattr(importlib.metadata, "distributions", lambda: [demo(), other])
    with pytest.raises(CouldNotRunError) as caught:
        check_own_name()
    assert caught.value.message == (
        "expected repropack-replay alone to provide a module named 'repropack', observed one in "
        "the distribution repropack 0.3"
    )
    assert caught.value.hint == (
        "`pip uninstall repropack`, then install repropack-replay again from its checkout or "
        "wheel, for they share a folder"
    )


def test_distributions_that_are_not_in_our_place(monkeypatch):
    """Ours, one that is only called so, and one with a module of a longer name."""
    ours = Installed("Name: Repropack_Replay\nVersion: 1\n", RECORD="repropack/__init__.py,,\n")
    named = Installed("Name: repropack\nVersion: 0.3\n", RECORD="other/__init__.py,,\n")
    longer = Installed("Name: b\nVersion: 1\n", RECORD="x/repropack/__init__.py,,\n")
    monkeypatch.setattr(importlib.metadata, "distributions", lambda: [ours, named, longer])
    check_own_name()
