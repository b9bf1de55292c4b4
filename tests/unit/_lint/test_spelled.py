"""Secrets and personal paths: what is one, and what only looks like one."""

from __future__ import annotations

import gzip
import json
import struct
import zlib
from base64 import b64encode
from io import BytesIO

import numpy as np
import pytest

from repropack._lint.person import Person
from repropack._lint.privacy import check_privacy
from tests.support.lint import file, findings, found, subject

# Joined at run time, so that no scanner takes this file for a leak.
GITHUB = "gh" + "p_" + "aB3dE6gH9jK2mN5pQ8sT1vW4yZ7bC0eF3hI6"
KEY = "-----BEGIN " + "PRIVATE KEY-----\nMIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSj\n"
HOME = "/home/" + "mgarcia"

SECRETS = {
    "github": (f"token = '{GITHUB}'", "a token of GitHub"),
    "github-fine": ("x github_" + "pat_" + "11ABCDEFG0" * 5, "a token of GitHub"),
    "gitlab": ("gl" + "pat-" + "aB3dE6gH9jK2mN5pQ8sT", "a token of GitLab"),
    "aws": ("id: AK" + "IA" + "QWERTYUIOPASDFGH", "an access key of AWS"),
    "slack": ("xox" + "b-123456789012-abcdefABCDEF", "a token of Slack"),
    "google": ("AI" + "za" + "SyA1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6Q", "a key of Google"),
    "hugging-face": ("h" + "f_" + "abcdefghijklmnopqrstuvwxyzABCDEFGH", "a token of Hugging Face"),
    "model": ("sk" + "-proj-" + "aB3dE6gH9jK2mN5pQ8sT", "a key of a language model's service"),
    "stripe": ("sk" + "_live_" + "aB3dE6gH9jK2mN5pQ8sT1vW4", "a key of Stripe"),
    "jwt": ("ey" + "JhbGciOiJIUzI1." + "eyJzdWIiOiIxMjM0." + "SflKxwRJSMeKKF2QT4fw", "a JSON web"),
    "key": (KEY, "a private key"),
    "rsa": (KEY.replace("PRIVATE", "RSA PRIVATE"), "a private key"),
    "escaped": (json.dumps(KEY), "a private key"),
    "password": ("db_password = 'k7Rm2xPq9'", "a password or key in an assignment"),
    "environ": ("os.environ['WANDB_API_KEY'] = 'a8f5f167f44f4964'", "a password or key in an"),
    "json": ('{"client_secret": "Zx81Qw93kd"}', "a password or key in an assignment"),
    "url": ("postgres://ada:k7Rm2xPq9@db.org/x", "an address with a password"),
}  # fmt: skip


@pytest.mark.parametrize(("text", "words"), SECRETS.values(), ids=SECRETS)
def test_a_secret_is_found(text: str, words: str) -> None:
    """Each shape, with its line, and without the secret itself."""
    rows = findings(subject({"a.py": f'"""Doc."""\n{text}\n'}))
    assert [(row.rule, row.severity, row.path, row.line) for row in rows] == [
        ("secret", "error", "a.py", 2)
    ]
    assert rows[0].problem.startswith(words)
    assert GITHUB not in rows[0].problem


HARMLESS = (
    "password = getpass.getpass()",
    "password = 'your-password1'",
    "api_key = os.environ['API_KEY']",
    "api_key = '<YOUR_API_KEY_1>'",
    "pad_token = '<extra_id_0>'",
    "secret_name = 'weights_layer'",
    "token = 'abcdef1234567890abcdef'",
    "sha256 = 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855'",
    "-----BEGIN " + "PRIVATE KEY-----",
    "AK" + "IA" + "IOSFODNN7EXAMPLE",
    "http://user:password1@host/",
    "https://example.org/a:b@c",
    "password: str = field(default='')",
    "gh" + "p_short",
    "risk-projection-aB3dE6gH9jK2mN5pQ8sT",
)


@pytest.mark.parametrize("text", HARMLESS)
def test_what_only_looks_like_a_secret_is_none(text: str) -> None:
    """Placeholders, digests, lookups and words."""
    assert findings(subject({"a.md": f"{text}\n"})) == ()


def test_settings_need_no_quotes() -> None:
    """In a file of settings a value stands bare; in code that would be a name."""
    line = "DB_PASSWORD=k7Rm2xPq9\n"
    assert found(subject({".env": line})) == [("secret", ".env", 1)]
    assert found(subject({"run.py": "DB_PASSWORD=k7Rm2xPq9\n"})) == []


HOMES = {
    "python": f"open_later('{HOME}/data.csv')",
    "macos": "see /Users/" + "mgarcia/Documents",
    "windows": r"C:\Users" + r"\mgarcia\data",
    "windows-escaped": r'"C:\\Users' + r'\\mgarcia\\data"',
    "file-address": f"file://{HOME}/x.html",
    "flag": f"-L{HOME}/lib",
    "escaped-newline": rf'"text\n{HOME}/x"',
    "percent": "%2Fhome%2F" + "mgarcia%2Fx",
    "terminal": f"\x1b[32m{HOME}/x.py\x1b[0m",
}


@pytest.mark.parametrize("text", HOMES.values(), ids=HOMES)
def test_a_path_in_a_home_folder_is_found(text: str) -> None:
    """However it is spelled, with the name that it tells."""
    rows = findings(subject({"notes.txt": f"first\n{text}\n"}))
    assert [(row.rule, row.line) for row in rows] == [("personal-path", 2)]
    assert rows[0].problem == "a path in the home folder of 'mgarcia'"


@pytest.mark.parametrize(
    "text",
    [
        "https://example.org/home/" + "mgarcia/x",
        "docs/home/" + "mgarcia",
        "/home/<name>/x",
        "/home/$USER/x",
        "/home/user/x",
        "/home/runner/x",
        "/home/user1/x",
        "the /home folder",
        "C:\\Users\\Public\\x",
    ],
)
def test_a_path_that_names_nobody_is_not_personal(text: str) -> None:
    """Addresses, placeholders and accounts of images."""
    rules = {row.rule for row in findings(subject({"notes.txt": text}))}
    assert "personal-path" not in rules


PERSON = Person(home="/data/people/mgarcia", user="mgarcia", host="vesuvius")


def test_this_account_and_machine_are_looked_for() -> None:
    """Their names in words, and the home folder wherever it lies."""
    one = subject({"a.py": "# on vesuvius by mgarcia\n", "b.py": "p = '/data/people/mgarcia/x'\n"})
    assert found(one, PERSON) == [
        ("personal-path", "b.py", 1),
        ("absolute-path", "b.py", 1),
        ("personal-name", "a.py", 1),
        ("personal-name", "a.py", 1),
        ("personal-name", "b.py", 1),
    ]


def test_a_name_that_the_author_tells_is_no_secret() -> None:
    """An account called smith, of an author called Smith."""
    person = Person(user="smith")
    assert found(subject({"a.py": "# smith\n"}), person) == []
    assert found(subject({"a.py": "# blacksmith smithy\n"}), Person(user="smit")) == []


# ---------------------------------------------------------------- wrapped


def png(*chunks: tuple[bytes, bytes], behind: bytes = b"") -> bytes:
    """A PNG of given chunks."""
    data = b"\x89PNG\r\n\x1a\n"
    for kind, content in (*chunks, (b"IEND", b"")):
        crc = zlib.crc32(kind + content)
        data += struct.pack(">I", len(content)) + kind + content + struct.pack(">I", crc)
    return data + behind


def npz(**arrays: np.ndarray) -> bytes:
    stream = BytesIO()
    np.savez_compressed(stream, **arrays)  # type: ignore[arg-type]
    return stream.getvalue()


def npy(array: np.ndarray) -> bytes:
    stream = BytesIO()
    np.save(stream, array)
    return stream.getvalue()


PATH = f"{HOME}/run.py".encode()
TEXTS = np.array(["left", PATH.decode()])
NOTEBOOK = {
    "cells": [
        {"outputs": [{"data": {"image/png": b64encode(png((b"tEXt", b"c\0" + PATH))).decode()}}]}
    ]
}
TRACEBACK = {"cells": [{"outputs": [{"traceback": [f"\x1b[32m{HOME}/x.py\x1b[39m"]}]}]}
WRAPPED = {
    "a.npz": npz(names=TEXTS, x=np.zeros(3)),
    "name.npz": npz(**{PATH.decode(): np.zeros(1)}),
    "bytes.npz": npz(raw=np.frombuffer(PATH, np.uint8)),
    "a.npy": npy(TEXTS),
    "text.png": png((b"tEXt", b"Comment\0" + PATH)),
    "deflated.png": png((b"zTXt", b"Comment\0\0" + zlib.compress(PATH))),
    "international.png": png((b"iTXt", b"Comment\0\1\0\0\0" + zlib.compress(PATH))),
    "behind.png": png(behind=PATH),
    "a.csv.gz": gzip.compress(b"x," + PATH),
    "utf16.txt": PATH.decode().encode("utf-16"),
    "utf32.txt": PATH.decode().encode("utf-32-le"),
    "image.ipynb": json.dumps(NOTEBOOK).encode(),
    "traceback.ipynb": json.dumps(TRACEBACK).encode(),
    "a.svg": b"<svg><metadata>" + b" " + PATH + b"</metadata></svg>",
    "late.bin": b"x" * 3_000_000 + b" " + PATH,
    "edge.bin": b"x" * (1 << 20) + b" " + PATH,
    "across.bin": b"x" * ((1 << 20) - 10) + b" " + PATH,
}


@pytest.mark.parametrize("name", WRAPPED)
def test_what_is_wrapped_is_found(name: str) -> None:
    """In members, chunks, arrays, other encodings, and across blocks."""
    one = subject({}, file(name, WRAPPED[name], "input"), inputs=())
    rows = [row for row in check_privacy(one, Person()) if row.rule == "personal-path"]
    assert len(rows) == 1
    assert "'mgarcia'" in rows[0].problem


@pytest.mark.hostile
@pytest.mark.parametrize(
    "data",
    [
        b"PK\x03\x04" + b"\xff" * 400,
        npz(x=np.zeros(3))[:-30],
        npz(x=np.zeros(3))[:60],
        b"\x89PNG\r\n\x1a\n" + b"\xff\xff\xff\xfftEXt",
        b"\x1f\x8b" + b"\0" * 40,
        b"\x93NUMPY\x01\x00\xff\xff{",
        b'{"cells": ' + b"[" * 5000,
        b"",
    ],
)
def test_damaged_files_are_passed_over(data: bytes) -> None:
    """Nothing is trusted, and nothing fails."""
    for name in ("a.npz", "a.png", "a.ipynb"):
        assert list(check_privacy(subject({}, file(name, data, "input")), Person())) == []


@pytest.mark.hostile
def test_a_bomb_is_not_unpacked_for_ever() -> None:
    """A limit ends what deflated bytes may become."""
    from dataclasses import replace

    from repropack._format.limits import DEFAULT_LIMITS

    bomb = gzip.compress(b"\0" * 50_000_000 + PATH)
    one = subject({}, file("a.gz", bomb, "input"))
    small = replace(one, limits=replace(DEFAULT_LIMITS, max_inflated_bytes=1_000_000))
    assert list(check_privacy(small, Person())) == []
    assert len(list(check_privacy(one, Person()))) == 1


def test_a_line_is_that_of_the_file() -> None:
    """Also where the file is read in blocks."""
    data = b"line\n" * 500_000 + b"x = " + PATH + b"\n"
    rows = findings(subject({}, file("a.log", data, "input")))
    assert [(row.rule, row.line) for row in rows] == [("personal-path", 500_001)]


def test_a_thing_is_told_once_a_file() -> None:
    """A file with thousands of paths is one to make again, not thousands of findings."""
    many = "".join("/home/" + f"mgarcia/{n}\n" for n in range(3000))
    more = "".join("/home/" + f"person-{chr(97 + n)}\n" for n in range(20))
    assert len(findings(subject({"a.txt": many}))) == 1
    assert len(findings(subject({"a.txt": more}))) == 10
