"""What is locked is what is installed, with the digests that an index has for it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from repropack._format.digests import digest_bytes
from repropack._format.lock import LockedDistribution
from repropack._run import locking as module
from repropack._run.distributions import wheel_fingerprint
from repropack._run.installers import find_pip, find_uv
from repropack._run.locking import LockedEnvironment, lock_environment
from repropack.errors import CouldNotRunError
from repropack.models.environment import Distribution, EnvironmentRecord
from repropack.models.reports import LockReport
from tests.support.environments import RECORD
from tests.support.wheels import simple_index, tiny_wheel

OWN = Distribution(name="repropack-replay", version="0.1.0", origin="editable", fingerprint=None)


@pytest.fixture
def house(tmp_path: Path) -> Path:
    """Wheels of two distributions."""
    folder = tmp_path / "house"
    folder.mkdir()
    tiny_wheel(folder, "zz-first", "1.0")
    tiny_wheel(folder, "zz-second", "2.5.0")
    return folder


@pytest.fixture
def index(house: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An index of the two, known to both installers."""
    address = simple_index(house, tmp_path / "simple")
    for name in ("PIP_EXTRA_INDEX_URL", "PIP_FIND_LINKS", "PIP_NO_INDEX", "UV_FIND_LINKS"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("PIP_CONFIG_FILE", "/dev/null")
    monkeypatch.setenv("PIP_INDEX_URL", address)
    monkeypatch.setenv("UV_DEFAULT_INDEX", address)
    monkeypatch.setenv("UV_CACHE_DIR", str(tmp_path / "cache"))


def installed(monkeypatch: pytest.MonkeyPatch, *rows: Distribution) -> EnvironmentRecord:
    """Say what is installed here."""
    record = RECORD.model_copy(update={"distributions": rows})
    monkeypatch.setattr(module, "observe_here", lambda: record)
    return record


def two(house: Path) -> tuple[Distribution, ...]:
    """The two distributions as they would be installed."""
    files = {path.name.split("-")[0].replace("_", "-"): path for path in house.iterdir()}
    return tuple(
        Distribution(
            name=name, version=version, origin="wheel", fingerprint=wheel_fingerprint(files[name])
        )
        for name, version in (("zz-first", "1.0"), ("zz-second", "2.5.0"))
    )


def only(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    """Leave one installer; skip where it is not there."""
    finders: dict[str, Any] = {"uv": find_uv, "pip": find_pip}
    if finders[name]() is None:
        pytest.skip(f"needs {name}")
    for other in set(finders) - {name}:
        monkeypatch.setattr(module, f"find_{other}", lambda: None)


@pytest.mark.parametrize("name", ["uv", "pip"])
def test_a_lock_has_what_the_index_has(
    name: str, house: Path, index: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each distribution once, repropack itself left out, twice the same."""
    only(monkeypatch, name)
    installed(monkeypatch, OWN, *two(house))
    expected = "".join(
        f"{row} \\\n    --hash={digest_bytes(wheel.read_bytes())}\n"
        for row, wheel in zip(
            ("zz-first==1.0", "zz-second==2.5.0"), sorted(house.iterdir()), strict=True
        )
    )
    for _ in range(2):
        locked = lock_environment(tmp_path, wheels=False)
        assert locked.documents() == {"requirements.lock": expected.encode()}
        assert locked.folders() == {}
        assert locked.report() == LockReport(distributions=2, wheels_packed=False)


def test_wheels_are_fetched_and_held_against_what_is_installed(
    house: Path, index: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They are the index's, byte for byte."""
    only(monkeypatch, "pip")
    installed(monkeypatch, *two(house))
    locked = lock_environment(tmp_path, wheels=True)
    assert locked.report() == LockReport(distributions=2, wheels_packed=True)
    fetched = locked.folders()["wheels"]
    assert {path.name: path.read_bytes() for path in fetched.iterdir()} == {
        path.name: path.read_bytes() for path in house.iterdir()
    }
    pylock = locked.documents()["pylock.toml"].decode()
    assert 'requires-python = "==3.11.*"' in pylock
    assert 'path = "wheels/zz_second-2.5.0-py3-none-any.whl"' in pylock


def test_other_files_than_the_wheels_are_not_packed(
    house: Path, index: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An installed distribution that was edited, or came from another index, is named."""
    only(monkeypatch, "pip")
    first, second = two(house)
    other = second.model_copy(update={"fingerprint": "sha256:" + "0" * 64})
    installed(monkeypatch, first, other)
    with pytest.raises(
        CouldNotRunError, match=r"distribution zz-second 2\.5\.0: expected the files"
    ):
        lock_environment(tmp_path, wheels=True)


def test_a_distribution_that_the_index_does_not_have_is_named(
    house: Path, index: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By whoever looked for it."""
    only(monkeypatch, "pip")
    missing = Distribution(name="zz-third", version="1.0", origin="wheel", fingerprint=None)
    installed(monkeypatch, *two(house), missing)
    with pytest.raises(CouldNotRunError, match="environment: distribution zz-third: ") as caught:
        lock_environment(tmp_path, wheels=False)
    assert "zz-third==1.0" in caught.value.message


def test_what_no_index_gave_cannot_be_locked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All of them are named at once, and nothing is asked of any index."""
    rows = [
        Distribution(name=name, version="1.0", origin=origin, fingerprint=None)  # type: ignore[arg-type]
        for name, origin in (("a", "editable"), ("b", "sdist"), ("c", "system"), ("d", "wheel"))
    ]
    odd = Distribution(name="e", version="1 --pre", origin="wheel", fingerprint=None)
    installed(monkeypatch, *rows, odd, OWN)
    monkeypatch.setattr(module, "find_uv", lambda: pytest.fail("an installer was looked for"))
    with pytest.raises(CouldNotRunError) as caught:
        lock_environment(tmp_path, wheels=False)
    assert caught.value.message == (
        "environment: expected distributions that were installed as wheels from an index, observed "
        "others: a (editable), b (sdist), c (system), e (wheel)"
    )
    assert "virtual environment" in str(caught.value.hint)


def test_pip_stands_in_where_uv_does_not_know_the_files(
    house: Path, index: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """uv gives no digests of files in a plain folder, and may be told of another index."""
    if find_uv() is None or find_pip() is None:
        pytest.skip("needs uv and pip")
    installed(monkeypatch, *two(house))
    whole = lock_environment(tmp_path, wheels=False)
    monkeypatch.delenv("UV_DEFAULT_INDEX")
    monkeypatch.setenv("UV_NO_INDEX", "1")
    assert lock_environment(tmp_path, wheels=False).rows == whole.rows
    monkeypatch.setenv("UV_FIND_LINKS", str(house))
    assert lock_environment(tmp_path, wheels=False).rows == whole.rows


def test_pips_report_may_be_of_another_form(
    house: Path, index: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A pip of another age is an answer, not a crash."""
    only(monkeypatch, "pip")
    installed(monkeypatch, *two(house))
    monkeypatch.setattr(module, "decode_strict", lambda data, where: {"install": [{}]})
    with pytest.raises(CouldNotRunError, match="pip's report is not understood: KeyError"):
        lock_environment(tmp_path, wheels=False)


def test_a_lock_is_of_the_environment_that_ran(house: Path) -> None:
    """An environment that was changed meanwhile is named by what changed."""
    rows = [
        LockedDistribution(row.name, row.version, (f"sha256:{'0' * 64}",)) for row in two(house)
    ]
    locked = LockedEnvironment(tuple(rows), "3.11", None)
    record = RECORD.model_copy(update={"distributions": (OWN, *two(house))})
    locked.require_same(record)
    newer = two(house)[0].model_copy(update={"version": "1.1"})
    changed = record.model_copy(update={"distributions": (newer, two(house)[1])})
    with pytest.raises(CouldNotRunError, match=r"observed others: zz-first$"):
        locked.require_same(changed)
