"""What the page's scripts know of a package: one block of JSON beside the page's own text.

``repropack.panel.mount(section, data)`` and ``page.js`` are given it. Its members:

``package_digest``   of the package, or null in a package's own page, which cannot know it
``evidence_digest``  of the package
``name``, ``version``
``lab``              whether the packaged source is one that repropack ships
``plan``             ``{"config", "seed", "steps", "record", "comparisons": [{"name", "resume_at",
                     "reset", "config"}]}``, members and values as in ``plan.json``
``runs``             the reference, then the comparisons in the plan's order: ``{"name",
                     "first_step", "last_step", "chain", "identical"}``; ``chain`` is that of the
                     last step that both have, null where it is not known
``fingerprints``     null, or for the lab ``{"stages": [name], "components": [name], "constants":
                     [[name, fingerprint]], "runs": [{"name", "start_chain", "start": [[component,
                     fingerprint]], "rows"}]}``. ``start_chain`` is the chain before its first step,
                     ``start`` the state. ``rows`` is base64 of one row a step, in order: the
                     32 bytes of each stage's fingerprint, then those of each component after the
                     step. A run that is identical to the reference is left out: its rows are the
                     reference's from its first step on, and so is its chain
``timeline``         what hover and focus show (``page_timeline``)
"""

from __future__ import annotations

from typing import Any

from repropack.models.manifest import PackageMetadata
from repropack.models.plan import Plan


def page_data(  # noqa: PLR0913 - the members of the document
    metadata: PackageMetadata,
    plan: Plan,
    *,
    package_digest: str | None,
    evidence_digest: str,
    lab: bool,
    runs: list[dict[str, Any]],
    fingerprints: dict[str, Any] | None,
    timeline: dict[str, Any],
) -> dict[str, Any]:
    """Put the data of a page together.

    Args:
        metadata: What the author says of the package.
        plan: The plan.
        package_digest: Digest of the package; ``None`` in its own page.
        evidence_digest: Its evidence digest.
        lab: Whether the packaged source is one that repropack ships.
        runs: One row a run.
        fingerprints: Those of the lab's runs.
        timeline: What hover and focus show.

    Returns:
        What ``html.json_block`` writes.
    """
    experiment = plan.experiment
    return {
        "package_digest": package_digest,
        "evidence_digest": evidence_digest,
        "name": metadata.name,
        "version": metadata.version,
        "lab": lab,
        "plan": {
            "config": experiment.config,
            "seed": experiment.seed,
            "steps": experiment.steps,
            "record": plan.record.model_dump(mode="json"),
            "comparisons": [
                {
                    "name": row.name,
                    "resume_at": row.resume_at,
                    "reset": list(row.reset),
                    "config": row.config,
                }
                for row in plan.comparisons
            ],
        },
        "runs": runs,
        "fingerprints": fingerprints,
        "timeline": timeline,
    }
