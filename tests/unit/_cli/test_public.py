"""What ``import repropack`` offers, and what it does not cost."""

from __future__ import annotations

import runpy
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import repropack
from repropack import errors

ROOT = Path(__file__).resolve().parents[3]


def test_every_public_name_is_there() -> None:
    """Each name can be had and is listed; errors are the same classes as in their module."""
    for name in repropack.__all__:
        assert getattr(repropack, name) is not None
        assert name in dir(repropack)
    assert repropack.UsageError is errors.UsageError
    assert {name for name in vars(errors) if name.endswith("Error")} <= set(repropack.__all__)
    assert repropack.__all__ == sorted(repropack.__all__)
    assert {name for name in repropack.__all__ if "_" in name} == {
        "audit_project",
        "build_package",
        "certify_package",
        "check_package",
        "diff_arrays",
        "diff_packages",
        "diff_runs",
        "export_package",
        "lint_path",
        "open_package",
        "publish_package",
        "record_verification",
        "sign_package",
        "package_values",
        "proofread_article",
        "report_package",
        "verify_package",
        "zoom_difference",
    }


def test_an_unknown_name_is_an_attribute_error() -> None:
    """The lazy import does not hide a spelling mistake."""
    with pytest.raises(AttributeError, match="module 'repropack' has no attribute 'verifi'"):
        _ = repropack.verifi


def test_one_version() -> None:
    """The version in the code is the distribution's."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    assert repropack.__version__ == project["version"]


def test_a_name_is_imported_when_it_is_used() -> None:
    """NumPy comes with the first name that needs it, and not before."""
    code = (
        "import sys, repropack\n"
        "assert 'numpy' not in sys.modules\n"
        "repropack.Trace\n"
        "assert 'numpy' in sys.modules\n"
        "assert 'Trace' in vars(repropack)\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_the_module_runs_and_exits_with_the_status(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """``python -m repropack`` is the command."""
    monkeypatch.setattr(sys, "argv", ["repropack", "no-such-verb"])
    with pytest.raises(SystemExit) as caught:
        runpy.run_module("repropack", run_name="__main__")
    assert caught.value.code == 2
    assert "invalid choice: 'no-such-verb'" in capsys.readouterr().err
