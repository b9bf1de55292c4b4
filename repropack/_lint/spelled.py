"""What must not be published, by how it is spelled: keys, tokens, passwords, homes, names.

The shapes are those that issuers document, so that a finding is one; a random-looking text alone is
none. A secret is never repeated in a finding.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from repropack._lint.person import COMMON_NAMES, Person

_Accept = Callable[[re.Match[bytes]], bool]


@dataclass(frozen=True)
class Shape:
    """A thing to find: its rule, words for it, texts of which one must be there, its pattern.

    With ``any_case`` the needles are in lower case and found in either. Where ``group`` is given,
    the words end with what the group matched. ``text_only`` shapes are looked for in text alone.
    """

    rule: str
    words: str
    needles: tuple[bytes, ...]
    pattern: re.Pattern[bytes]
    accept: _Accept = lambda _: True
    group: int | None = None
    text_only: bool = False
    any_case: bool = False

    def find(self, data: bytes) -> Iterator[re.Match[bytes]]:
        """Yield every place where it stands."""
        searched = data.lower() if self.any_case else data
        if any(needle in searched for needle in self.needles):
            yield from filter(self.accept, self.pattern.finditer(data))


_PLACEHOLDERS = (
    b"example", b"change", b"your", b"xxx", b"placeholder", b"dummy", b"redacted", b"test", b"fake",
    b"sample", b"mock", b"todo", b"insert", b"secret", b"password", b"passwd", b"0123456789",
    b"123456", b"...", b"***", b"foobar", b"none",
)  # fmt: skip


def _is_literal(value: bytes) -> bool:
    """Whether a value is one that somebody uses, and no word that stands for one."""
    low = value.lower()
    mixed = re.search(rb"[0-9]", value) and re.search(rb"[A-Za-z]", value)
    stands_for = any(word in low for word in _PLACEHOLDERS) or re.search(rb"[<>{}$\[\]|()%]", value)
    return bool(mixed) and not stands_for and len(set(value)) > 4


def _token(words: str, needles: tuple[bytes, ...], pattern: bytes) -> Shape:
    compiled = re.compile(rb"(?<![A-Za-z0-9_-])" + pattern + rb"(?![A-Za-z0-9])")
    return Shape("secret", words, needles, compiled, lambda found: b"EXAMPLE" not in found[0])


_NEEDLES = (b"passw", b"passphrase", b"secret", b"key", b"token")
_NAMES_OF_SECRETS = (
    rb"(?:pass(?:word|wd|phrase)|secret|(?:api|access|private|secret|auth|account)[_-]?key|"
    rb"(?:access|auth|api|bearer|refresh|github|gitlab|hf|wandb|slack)[_-]?token|client[_-]?secret)"
)
SECRETS = (
    Shape(
        "secret",
        "a private key",
        (b"PRIVATE KEY",),
        re.compile(
            rb"-----BEGIN (?:[A-Z]+ )*PRIVATE KEY(?: BLOCK)?-----(?:\\n|\s|[A-Za-z-]+: [^\n]*\n)+"
            rb"[A-Za-z0-9+/=]{20}"
        ),
    ),
    _token("a token of GitHub", (b"gh", b"github_pat_"),
           rb"(?:gh[pousr]_[A-Za-z0-9]{36,}|github_pat_[A-Za-z0-9_]{40,})"),
    _token("a token of GitLab", (b"glpat-",), rb"glpat-[A-Za-z0-9_-]{20,}"),
    _token("an access key of AWS", (b"AKIA", b"ASIA"), rb"(?:AKIA|ASIA)[A-Z2-7]{16}"),
    _token("a token of Slack", (b"xox",), rb"xox[abeoprs]-[A-Za-z0-9-]{20,}"),
    _token("a key of Google", (b"AIza",), rb"AIza[0-9A-Za-z_-]{35}"),
    _token("a token of Hugging Face", (b"hf_",), rb"hf_[A-Za-z0-9]{34,}"),
    _token("a token of PyPI", (b"pypi-AgE",), rb"pypi-AgE[A-Za-z0-9_-]{50,}"),
    _token("a key of a language model's service", (b"sk-",),
           rb"sk-(?:proj-|ant-[a-z0-9]+-|or-v1-)[A-Za-z0-9_-]{20,}"),
    _token("a key of Stripe", (b"_live_",), rb"[sr]k_live_[0-9a-zA-Z]{24,}"),
    _token("a JSON web token", (b"eyJ",),
           rb"eyJ[A-Za-z0-9_-]{10,}\.eyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{20,}"),
    Shape(
        "secret",
        "an address with a password",
        (b"://",),
        re.compile(rb"://[^\s/:@'\"]{1,100}:([^\s/:@'\"]{6,100})@[A-Za-z0-9]"),
        lambda found: _is_literal(found[1]),
        text_only=True,
    ),
    Shape(
        "secret",
        "a password or key in an assignment",
        _NEEDLES,
        re.compile(
            rb"(?i:" + _NAMES_OF_SECRETS + rb")[A-Za-z0-9_]{0,20}[\\\"'\])]{0,4}\s{0,4}"
            rb"(?::=|[:=])\s{0,4}\\?[\"']([^\"'\s\\]{8,200})\\?[\"']"
        ),
        lambda found: _is_literal(found[1]),
        text_only=True,
        any_case=True,
    ),
)  # fmt: skip
UNQUOTED_SECRET = Shape(
    "secret",
    "a password or key in an assignment",
    _NEEDLES,
    re.compile(
        rb"(?im)^[ \t]*(?:export[ \t]+)?[A-Z0-9_.-]*"
        + _NAMES_OF_SECRETS
        + rb"[A-Z0-9_]{0,20}\s*[:=]\s*([^\"'\s#\\]{8,200})\s*$"
    ),
    lambda found: _is_literal(found[1]),
    text_only=True,
    any_case=True,
)
"""In files of settings, where values need no quotes."""

_BEGIN = rb"(?:(?<![A-Za-z0-9_.~%*/\\-])|(?<=\\[nrt])|(?<=-[ILR])|(?<=file://))"
_NAME = rb"([A-Za-z0-9][A-Za-z0-9._-]{0,63})"


def _names_somebody(found: re.Match[bytes]) -> bool:
    name = found[1].decode("ascii").rstrip(".").lower()
    return name not in COMMON_NAMES and re.sub(r"[0-9]+$", "", name) not in COMMON_NAMES


HOMES = (
    Shape(
        "personal-path",
        "a path in the home folder of",
        (b"/home/", b"/Users/"),
        re.compile(_BEGIN + rb"/(?:export/|var/)?(?:home|Users)/" + _NAME),
        _names_somebody,
        group=1,
    ),
    Shape(
        "personal-path",
        "a path in the home folder of",
        (b"%2Fhome%2F", b"%2FUsers%2F", b"%2fhome%2f", b"%2fUsers%2f"),
        re.compile(rb"(?i:%2F(?:home|Users)%2F)" + _NAME),
        _names_somebody,
        group=1,
    ),
    Shape(
        "personal-path",
        "a path in the home folder of",
        (b":\\", b":/"),
        re.compile(
            rb"(?<![A-Za-z0-9])[A-Za-z]:[\\/]{1,4}(?:Users|Documents and Settings)[\\/]{1,4}"
            + _NAME
        ),
        _names_somebody,
        group=1,
    ),
)


def shapes_of(person: Person, told: str) -> tuple[Shape, ...]:
    """Everything that is looked for on behalf of somebody.

    Args:
        person: This account and machine.
        told: What the author tells of themselves; a name in it is no secret.

    Returns:
        The shapes of secrets, of homes, and of the names of account and machine.
    """
    shapes = [*SECRETS, *HOMES]
    folders = (
        (person.home, "a path in the home folder of this account"),
        (person.work, "a path of this machine, below the folder of this build"),
    )
    for folder, words in folders:
        if folder is not None:
            path = folder.encode("utf-8", "surrogateescape")
            pattern = re.compile(re.escape(path) + rb"(?![A-Za-z0-9])")
            shapes.append(Shape("personal-path", words, (path,), pattern))
    names = ((person.user, "the name of this account"), (person.host, "the name of this machine"))
    for name, words in names:
        if name is not None and name.lower() not in told.lower():
            one = name.encode("utf-8", "surrogateescape")
            pattern = re.compile(rb"(?<![A-Za-z0-9_])" + re.escape(one) + rb"(?![A-Za-z0-9_])")
            shapes.append(Shape("personal-name", words, (one,), pattern, text_only=True))
    return tuple(shapes)
