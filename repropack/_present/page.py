"""The page of a package: one self-contained HTML file for people.

What a page says follows from the package's other entries alone, so that ``check`` can make it again
and refuse another. Without a script all of it is there as text; with one it can be looked into.
"""

from __future__ import annotations

import base64
from typing import Any

from repropack._format.layout import REFERENCE_RUN
from repropack._present.html import Content, Markup, element, lines
from repropack._present.page_agreement import agreement_section
from repropack._present.page_claims import claims_section
from repropack._present.page_data import page_data
from repropack._present.page_explorer import explorer_section
from repropack._present.page_frame import page_frame
from repropack._present.page_package import (
    check_section,
    entries_section,
    masthead,
    outputs_section,
)
from repropack._present.page_parts import words
from repropack._present.page_plan import environment_section, plan_section
from repropack._present.page_printed import printed_section
from repropack._present.page_subject import PageSubject
from repropack._present.page_timeline import timeline_data
from repropack._present.page_verification import verification_section

_NAVIGATION = (
    ("claims", "Claims"),
    ("verification", "Verification"),
    ("check", "Check it"),
    ("agreement", "Agreement"),
    ("outputs", "Outputs"),
    ("printed", "Printed values"),
    ("explorer", "Divergence"),
    ("environment", "Environment"),
    ("plan", "Plan"),
    ("entries", "Entries"),
    ("words", "Words"),
)


def render_page(subject: PageSubject) -> bytes:
    """Write the page of a package.

    Args:
        subject: The package as its page shows it.

    Returns:
        HTML, UTF-8, that needs no other file and no network.

    Determinism:
        The bytes depend on the subject and on this version of repropack: not on the machine, the
        version of Python, or the Unicode data that it has.
    """
    outputs = outputs_section(subject)
    sections = {
        "claims": claims_section(subject),
        "verification": verification_section(subject.verification)
        if subject.verification is not None
        else None,
        "check": check_section(subject),
        "in-your-browser": element("section", id="in-your-browser", hidden=True),
        "agreement": None if outputs is not None else agreement_section(subject),
        "outputs": outputs,
        "printed": printed_section(subject),
        "explorer": explorer_section(subject),
        "environment": environment_section(subject.environment),
        "plan": plan_section(subject),
        "entries": entries_section(subject),
        "words": words(),
    }
    body: list[Content] = [
        element("a", "To the claims", href="#claims", class_="skip"),
        element("header", "\n", lines(masthead(subject)), _navigation(sections), class_="masthead"),
        element("main", "\n", lines(part for part in sections.values() if part is not None)),
        _footer(subject),
    ]
    return page_frame(subject.metadata.title, lines(body), _data(subject), version=subject.version)


def _navigation(sections: dict[str, Markup | None]) -> Markup:
    links = [
        element("a", label, href=f"#{name}")
        for name, label in _NAVIGATION
        if sections[name] is not None
    ]
    return element("nav", links, aria_label="Sections of this page")


def _footer(subject: PageSubject) -> Markup:
    words = (
        "It follows from the package's other entries alone. Nothing in it is fetched, and it "
        "sends nothing."
    )
    if subject.verification is not None:
        words = "Its verification is that of a report which was given beside the package."
    return element("footer", f"Made by repropack {subject.version}. {words}")


def _data(subject: PageSubject) -> dict[str, Any]:
    return page_data(
        subject.metadata,
        subject.plan,
        package_digest=subject.package_digest,
        evidence_digest=subject.evidence_digest,
        lab=subject.lab,
        runs=_runs(subject),
        fingerprints=_fingerprints(subject) if subject.lab else None,
        timeline=timeline_data(subject.timelines, subject.results.reference.last_step),
    )


def _runs(subject: PageSubject) -> list[dict[str, Any]]:
    results, followed = subject.results, {run.run: run for run in subject.timelines.runs}
    rows = [
        {
            "name": REFERENCE_RUN,
            "first_step": 1,
            "last_step": results.reference.last_step,
            "chain": results.reference.chain,
            "identical": True,
        }
    ]
    for outcome in results.comparisons:
        run = followed.get(outcome.run)
        rows.append(
            {
                "name": outcome.run,
                "first_step": outcome.first_step,
                "last_step": outcome.last_step,
                "chain": run.chain if run is not None else None,
                "identical": outcome.identical,
            }
        )
    return rows


def _fingerprints(subject: PageSubject) -> dict[str, Any] | None:
    """Those of the lab's runs, for a replay to be held against; the identical ones left out."""
    held, starts = subject.timelines.fingerprints, subject.timelines.starts
    if not held.whole or not held.rows:
        return None
    identical = {outcome.run for outcome in subject.results.comparisons if outcome.identical}
    return {
        "stages": list(held.stages),
        "components": list(held.components),
        "constants": [list(row) for row in subject.timelines.constants],
        "runs": [
            {
                "name": name,
                "start_chain": starts[name][0],
                "start": [list(row) for row in starts[name][1]],
                "rows": base64.b64encode(rows).decode("ascii"),
            }
            for name, rows in held.rows.items()
            if name not in identical
        ],
    }
