"""Locks, and packages that have one: wheels of a few bytes, for which a check does not look."""

from __future__ import annotations

from repropack._format.digests import digest_bytes
from tests.support.hostile import Forgery

LOCK = "requirements.lock"
PYLOCK = "pylock.toml"
OWN = "repropack-replay"


def wheel_path(name: str, version: str) -> str:
    """The entry of a distribution's wheel."""
    return f"wheels/{name.replace('-', '_')}-{version}-py3-none-any.whl"


def wheel_bytes(name: str) -> bytes:
    """What stands for the wheel of a distribution."""
    return f"the wheel of {name}\n".encode()


def lock_text(distributions: dict[str, str]) -> str:
    """A lock in its one spelling, written without the code that is tested."""
    return "".join(
        f"{name}=={distributions[name]} \\\n    --hash={digest_bytes(wheel_bytes(name))}\n"
        for name in sorted(distributions)
    )


def pylock_text(distributions: dict[str, str], minor: str) -> str:
    """The pylock.toml beside that lock, written without the code that is tested."""
    parts = [f'lock-version = "1.0"\nrequires-python = "=={minor}.*"\ncreated-by = "repropack"\n']
    for name in sorted(distributions):
        path, data = wheel_path(name, distributions[name]), wheel_bytes(name)
        digest = digest_bytes(data).removeprefix("sha256:")
        parts.append(
            f'\n[[packages]]\nname = "{name}"\nversion = "{distributions[name]}"\n'
            f'wheels = [{{ path = "{path}", size = {len(data)}, '
            f'hashes = {{ sha256 = "{digest}" }} }}]\n'
        )
    return "".join(parts)


def recorded_distributions(forgery: Forgery) -> dict[str, str]:
    """What the environment record of a package lists, but repropack itself: versions by name."""
    record = forgery.read("environment.json")
    return {row["name"]: row["version"] for row in record["distributions"] if row["name"] != OWN}


def add_lock(forgery: Forgery, *, wheels: bool = True) -> dict[str, str]:
    """Give a package the lock of its environment record, and wheels.

    Returns:
        The locked distributions, versions by name.
    """
    distributions = recorded_distributions(forgery)
    forgery.files[LOCK] = lock_text(distributions).encode()
    if wheels:
        version = forgery.read("environment.json")["interpreter"]["version"]
        minor = ".".join(version.split(".")[:2])
        forgery.files[PYLOCK] = pylock_text(distributions, minor).encode()
        for name, own in distributions.items():
            forgery.files[wheel_path(name, own)] = wheel_bytes(name)
    return distributions
