"""What a build builds, in a form that tells what has changed since it was interrupted."""

from __future__ import annotations

import os
import platform
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from repropack._format.canonical import decode_strict, encode_canonical
from repropack._format.digests import digest_bytes
from repropack._read.project import Project
from repropack._run.distributions import observe_distributions
from repropack._run.durable import replace_document
from repropack._run.folders import digest_files
from repropack._run.materials import Materials
from repropack._run.variables import numeric_variables
from repropack._run.workplace import IDENTITY
from repropack.errors import PackageError, UsageError
from repropack.models.plan import Plan
from repropack.models.work import BuildIdentity

_PACKAGE = Path(__file__).resolve().parents[1]


def identify_build(project: Project, plan: Plan, materials: Materials) -> BuildIdentity:
    """Describe what is built here and now.

    Args:
        project: The project.
        plan: Its plan, with the options of this build.
        materials: The copies of source and inputs that are run.

    Returns:
        Everything that can change the bytes of a package, but the machine: that is observed by
        the workers.

    Raises:
        OSError: a file cannot be read.
    """
    license_text = project.license_text()
    distributions = observe_distributions()
    # what lint may find changes nothing that is recorded: it can be allowed after a long build
    metadata = project.metadata().model_dump(mode="json", exclude={"allowed_findings"})
    # and so it is with claims, which are evaluated on what was recorded
    planned = plan.model_dump(mode="json", exclude={"claims"})
    return BuildIdentity(
        project=dict(_flat("package", metadata)) | dict(_flat("", planned)),
        sources=digest_files(materials.source),
        inputs={} if materials.inputs is None else digest_files(materials.inputs),
        license=None if license_text is None else digest_bytes(license_text),
        repropack=digest_bytes(encode_canonical(digest_files(_PACKAGE, "*.py"))),
        interpreter=f"{platform.python_implementation()} {platform.python_version()}",
        distributions={row.name: f"{row.version} {row.fingerprint}" for row in distributions},
        variables=dict(numeric_variables(os.environ)),
    )


def write_identity(work: Path, identity: BuildIdentity) -> None:
    """Write what is built into its work folder; from then on the folder is worth keeping.

    Raises:
        OSError: it cannot be written.
    """
    replace_document(work / IDENTITY, encode_canonical(identity.model_dump(mode="json")))


def check_identity(work: Path, current: BuildIdentity, target: str) -> None:
    """Refuse to continue a build of anything else.

    Args:
        work: The work folder of the interrupted build.
        current: What is to be built now.
        target: Name of the target, for the message.

    Raises:
        UsageError: something has changed; every change is named.
    """
    try:
        data = (work / IDENTITY).read_bytes()
        decode_strict(data, where=IDENTITY)
        begun = BuildIdentity.model_validate_json(data)
    except (OSError, ValidationError, PackageError) as error:
        raise UsageError(
            f"{target}: what the interrupted build was of cannot be read", hint=_HINT
        ) from error
    changes = list(_changes(begun, current))
    if changes:
        raise UsageError(
            f"{target}: expected to continue the same build, observed changes since it began: "
            f"{'; '.join(changes)}",
            hint=_HINT,
        )


_HINT = "undo the changes to continue it, or begin again with --discard"


def _changes(begun: BuildIdentity, current: BuildIdentity) -> Iterator[str]:
    for what, then, now in (
        ("project", begun.project, current.project),
        ("source", begun.sources, current.sources),
        ("inputs", begun.inputs, current.inputs),
        ("distributions", begun.distributions, current.distributions),
        ("variables", begun.variables, current.variables),
    ):
        names = sorted(name for name in {*then, *now} if then.get(name) != now.get(name))
        if names:
            more = f" and {len(names) - 8} more" if len(names) > 8 else ""
            yield f"{what}: {', '.join(names[:8])}{more}"
    if begun.license != current.license:
        yield "the licence's text"
    if begun.interpreter != current.interpreter:
        yield f"interpreter: {begun.interpreter}, now {current.interpreter}"
    if begun.repropack != current.repropack:
        yield "repropack itself"


def _flat(prefix: str, value: Any) -> Iterator[tuple[str, str]]:
    """Values by dotted key, each as canonical JSON."""
    if isinstance(value, Mapping) and value:
        for key, item in value.items():
            yield from _flat(f"{prefix}.{key}" if prefix else str(key), item)
    elif isinstance(value, list) and value:
        for place, item in enumerate(value):
            yield from _flat(f"{prefix}[{place}]", item)
    else:
        yield prefix, encode_canonical(value).decode("utf-8").strip()
