"""Locks have one spelling, and nothing that an installer could take for an option."""

from __future__ import annotations

import tomllib

import pytest

from repropack._format.layout import media_type_of, role_of
from repropack._format.lock import (
    LockedDistribution,
    can_be_locked,
    decode_lock,
    encode_lock,
    encode_pylock,
    python_minor,
    wheel_distribution,
)
from repropack.errors import PackageFormatError
from repropack.models.manifest import Entry

A, B = f"sha256:{'a' * 64}", f"sha256:{'b' * 64}"
TWO = f"""\
numpy==2.4.6 \\
    --hash={A} \\
    --hash={B}
typing-extensions==4.15.0 \\
    --hash={A}
"""
ROWS = (
    LockedDistribution("numpy", "2.4.6", (A, B)),
    LockedDistribution("typing-extensions", "4.15.0", (A,)),
)


def test_a_lock_is_sorted_whatever_order_it_is_made_in() -> None:
    """Rows and digests come in any order, and digests twice."""
    rows = [ROWS[1], LockedDistribution("numpy", "2.4.6", (B, A, B))]
    assert encode_lock(rows) == TWO.encode()


def test_a_lock_is_read_as_it_was_written() -> None:
    """Reading is the inverse of writing; a lock may be empty."""
    assert decode_lock(TWO.encode()) == ROWS
    assert decode_lock(b"") == ()


@pytest.mark.hostile
@pytest.mark.parametrize(
    "text",
    [
        "--index-url http://127.0.0.1/\n",
        f"numpy==2.4.6 --pre \\\n    --hash={A}\n",
        f"numpy==2.4.6 \\\n    --hash={A} --no-binary=:all:\n",
        f"numpy==2.4.6 \\\n    --hash={A} \\\n    --target=/tmp\n",
        f"numpy==2.4.6 \\\n    --hash={A}\n-r /etc/passwd\n",
        f"numpy @ file:///tmp/x.whl \\\n    --hash={A}\n",
        f"numpy>=2 \\\n    --hash={A}\n",
        f"numpy==2.* \\\n    --hash={A}\n",
        f"numpy[all]==2 \\\n    --hash={A}\n",
        f"numpy==2; python_version > '3' \\\n    --hash={A}\n",
        f"Numpy==2 \\\n    --hash={A}\n",
        f"numpy==2 \\\n    --hash={A.upper()}\n",
        f"numpy==2 \\\n    --hash=md5:{'a' * 32}\n",
        "numpy==2\n",
        f"numpy==2 \\\n    --hash={A}",
        f"numpy==2 \\\r\n    --hash={A}\r\n",
        f"# numpy\nnumpy==2 \\\n    --hash={A}\n",
        f"numpy==2 \\\n    --hash={A}\n\n",
        f"numpy==2 \\\n    --hash={B} \\\n    --hash={A}\n",
        f"numpy==2 \\\n    --hash={A} \\\n    --hash={A}\n",
        f"{TWO}numpy==2.4.7 \\\n    --hash={A}\n",
        f"six==1 \\\n    --hash={A}\nnumpy==2 \\\n    --hash={A}\n",
        f"numpy==2 \\\n    --hash={A}\nnumpy==2 \\\n    --hash={A}\n",
        "\ufeff" + TWO,
        "${HOME}==1\n",
        f"numpy==\u0662 \\\n    --hash={A}\n",
    ],
)
def test_everything_else_in_a_lock_is_refused(text: str) -> None:
    """Options, addresses, paths, conditions, other orders and other spellings."""
    with pytest.raises(PackageFormatError) as caught:
        decode_lock(text.encode())
    assert caught.value.rule == "lock.form"


def test_a_refusal_says_where() -> None:
    """The line at which a row cannot be read, and what stands there."""
    with pytest.raises(PackageFormatError, match=r"line 6.*observed '-e .") as caught:
        decode_lock(f"{TWO}-e .\n".encode())
    assert caught.value.entry == "requirements.lock"


@pytest.mark.parametrize(
    ("name", "version", "expected"),
    [
        ("numpy", "2.4.6", True),
        ("torch", "2.9.0+cu130", True),
        ("zz", "1!2.0.post1", True),
        ("zz", "1.0 --pre", False),
        ("zz", "", False),
        ("zz\n-e", "1", False),
        ("zz", "1\n", False),
        ("-e", "1", False),
        ("Zz", "1", False),
        ("zz", "1" * 65, False),
    ],
)
def test_what_a_lock_can_spell(name: str, version: str, *, expected: bool) -> None:
    """Names in normal form and plain versions."""
    assert can_be_locked(name, version) is expected


@pytest.mark.parametrize(
    ("path", "distribution"),
    [
        ("wheels/numpy-2.4.6-cp311-cp311-manylinux_2_27_x86_64.manylinux_2_28_x86_64.whl", "numpy"),
        ("wheels/typing_extensions-4.15.0-py3-none-any.whl", "typing-extensions"),
        ("wheels/ruamel.yaml-0.18-2-py2.py3-none-any.whl", "ruamel-yaml"),
        ("wheels/torch-2.9.0+cu130-cp311-cp311-linux_x86_64.whl", "torch"),
        ("wheels/numpy-2.4.6.tar.gz", ""),
        ("wheels/numpy-2.4.6-py3-none-any.whl.py", ""),
        ("wheels/--target-1.0-py3-none-any.whl", ""),
        ("wheels/a/numpy-2.4.6-py3-none-any.whl", ""),
        ("wheels/.numpy-2.4.6-py3-none-any.whl", ""),
        ("wheels/numpy-py3-none-any.whl", ""),
        ("wheels/numpy-2-py3-none.whl", ""),
        ("wheels/numpy-2.4.6-py3-none-any.whl\n", ""),
        ("wheels/", ""),
    ],
)
def test_what_a_wheel_is_of(path: str, distribution: str) -> None:
    """By its name; a file whose name is no wheel's has no place among the wheels."""
    assert wheel_distribution(path) == distribution
    assert (role_of(path) == "wheel") is bool(distribution)


def test_places_of_locks() -> None:
    """Both locks lie at the top and nowhere else."""
    paths = ("requirements.lock", "pylock.toml", "a/pylock.toml", "pylock.dev.toml", "wheels")
    assert [role_of(path) for path in paths] == ["lock", "lock", None, None, None]
    assert media_type_of("requirements.lock") == "text/plain"
    assert media_type_of("pylock.toml") == "application/toml"
    assert media_type_of("wheels/six-1-py3-none-any.whl") == "application/zip"


@pytest.mark.parametrize(
    ("version", "minor"),
    [
        ("3.11.7", "3.11"),
        ("3.14.0rc1", "3.14"),
        ("3.14", "3.14"),
        ("3.13.1+", "3.13"),
        ("3", None),
        ("latest", None),
        ('3.11"\n[[packages]]', None),
        ("3.11\n", None),
        ("", None),
    ],
)
def test_the_minor_version(version: str, minor: str | None) -> None:
    """Two numbers, or nothing that a document could be written with."""
    assert python_minor(version) == minor


def test_a_pylock_says_where_each_wheel_lies() -> None:
    """By a path relative to it; with size and digest; in TOML that others read."""
    wheels = {
        row.name: Entry(
            path=f"wheels/{row.name.replace('-', '_')}-{row.version}-py3-none-any.whl",
            size=7,
            digest=row.digests[0],
            role="wheel",
            media_type="application/zip",
        )
        for row in ROWS
    }
    written = encode_pylock(reversed(ROWS), wheels, "3.11")
    assert written.startswith(
        b'lock-version = "1.0"\nrequires-python = "==3.11.*"\ncreated-by = "repropack"\n\n'
        b'[[packages]]\nname = "numpy"\nversion = "2.4.6"\nwheels = [{ path = "wheels/numpy-2.4.6-'
    )
    document = tomllib.loads(written.decode())
    assert document == {
        "lock-version": "1.0",
        "requires-python": "==3.11.*",
        "created-by": "repropack",
        "packages": [
            {
                "name": "numpy",
                "version": "2.4.6",
                "wheels": [
                    {
                        "path": "wheels/numpy-2.4.6-py3-none-any.whl",
                        "size": 7,
                        "hashes": {"sha256": "a" * 64},
                    }
                ],
            },
            {
                "name": "typing-extensions",
                "version": "4.15.0",
                "wheels": [
                    {
                        "path": "wheels/typing_extensions-4.15.0-py3-none-any.whl",
                        "size": 7,
                        "hashes": {"sha256": "a" * 64},
                    }
                ],
            },
        ],
    }
