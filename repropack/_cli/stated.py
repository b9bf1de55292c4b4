"""What arguments state: limits, and what the code of a package is allowed."""

# ruff: noqa: PLC0415 - a verb imports what it needs and nothing else

from __future__ import annotations

from argparse import Namespace
from typing import TYPE_CHECKING

from repropack.errors import UsageError

if TYPE_CHECKING:
    from repropack._format.limits import Limits, RunLimits
    from repropack._run.confinement.consent import Consent


def reading_limits(arguments: Namespace) -> Limits:
    """The limits on reading, as the arguments state them."""
    from repropack._cli.limits import check_names, with_stated
    from repropack._format.limits import DEFAULT_LIMITS

    check_names(arguments.limit, DEFAULT_LIMITS)
    return with_stated(DEFAULT_LIMITS, arguments.limit)


def stated_limits(arguments: Namespace) -> tuple[Limits, RunLimits]:
    """The limits on reading and on running, as the arguments state them."""
    from repropack._cli.limits import check_names, with_stated
    from repropack._format.limits import DEFAULT_LIMITS, DEFAULT_RUN_LIMITS

    stated = arguments.limit
    check_names(stated, DEFAULT_LIMITS, DEFAULT_RUN_LIMITS)
    return with_stated(DEFAULT_LIMITS, stated), with_stated(DEFAULT_RUN_LIMITS, stated)


def stated_consent(arguments: Namespace, run_limits: RunLimits) -> Consent:
    """What the arguments allow the package's code."""
    from repropack._run.confinement.consent import Consent

    if arguments.no_sandbox and arguments.sandbox != "auto":
        raise UsageError("expected --sandbox or --no-sandbox, observed both")
    if arguments.no_sandbox != (arguments.trust is not None):
        raise UsageError(
            "expected --no-sandbox and --trust together, observed one of them",
            hint="--no-sandbox --trust PACKAGE-DIGEST runs this very package unconfined",
        )
    level = None if arguments.sandbox == "auto" else arguments.sandbox
    trust = arguments.trust if isinstance(arguments.trust, str) else None
    return Consent(sandbox=level, trust=trust, run_limits=run_limits)
