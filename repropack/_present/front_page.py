"""The front page of a published package: what lies in its folder, and how to check it.

Its links are relative, so that the folder works at any place of a site. It runs nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from repropack._format.layout import (
    AUTHOR_READMES,
    CHECKER,
    CITATION,
    CRATE,
    ENVIRONMENT,
    FIGURES,
    INPUTS,
    LICENSE,
    LOCK,
    MANIFEST,
    NOTEBOOK,
    PLAN,
    README,
    RESULTS,
    RUNS,
    SOURCE,
)
from repropack._present.certificate_page import facts
from repropack._present.claims import held_sentence
from repropack._present.html import Content, Markup, element, file_link, join, lines, prose
from repropack._present.layout import plural, size
from repropack._present.still_page import still_page
from repropack._version import __version__
from repropack.models.published import PublishedFile, PublishReport

FRONT, NOTEBOOK_PAGE, SUMS, REPORT_PAGE = (
    "index.html",
    "notebook.html",
    "SHA256SUMS",
    "report.html",
)
AS_IT_IS = ".nojekyll"
"""An empty file at the root of a site, by which GitHub Pages hands out every file as it is.

Jekyll, which makes such sites otherwise, drops what begins with ``_``, and takes the first lines of
some texts for settings.
"""
_GROUPS = (
    (SOURCE, "Source", "the experiment's code, exactly what was run"),
    (INPUTS, "Inputs", "the files that it reads"),
    (FIGURES, "Figures", "drawn from what the runs recorded"),
    (RUNS, "Runs", "a fingerprint of every step, what was kept, and what commands wrote"),
    ("after", "Made from the runs", "by the author's own commands"),
    ("schemas", "Schemas", "of every document that is here"),
)
_FIRST = (
    "An experiment with its code, the fingerprint of every step, and what came of it. Begin with "
    "the report. To verify it, download the package and give it to `repropack verify`: it runs "
    "again on your machine and is compared byte for byte."
)
_KNOWN = {
    **dict.fromkeys(AUTHOR_READMES, "what its author says of it, in their own words"),
    CHECKER: "a checker that needs nothing but Python",
    CITATION: "how to cite it, for programs",
    CRATE: "all of this for archives, as an RO-Crate",
    ENVIRONMENT: "what it ran on",
    LICENSE: "what you may do with it",
    LOCK: "the distributions that it ran with",
    MANIFEST: "every entry of the package with size and digest; its SHA-256 is the package digest",
    NOTEBOOK: "the notebook, to be run with Jupyter",
    NOTEBOOK_PAGE: "the notebook as a page",
    PLAN: "experiment, configuration, comparisons, claims",
    README: "what the package claims",
    REPORT_PAGE: "what was compared, and where runs part",
    RESULTS: "what each comparison found",
}
"""What files beside the page are; those of the package file follow from its name."""
_NAMED = 3
_STYLE = """
pre { margin-bottom: .75rem; }
.files { width: 100%; max-width: 46rem; }
.files td { overflow-wrap: anywhere; }
.files td.number { overflow-wrap: normal; }
.files a { text-underline-offset: .3em; }
.files .what { color: var(--quiet); font-size: .875rem; }
.files .digest { font-size: .75rem; line-height: 1.4; }
"""


def front_page(report: PublishReport) -> bytes:
    """Write the front page.

    Args:
        report: What is laid out beside it; the page itself is not among the files.

    Returns:
        HTML, UTF-8.

    Determinism:
        The bytes depend on the report and on this version of repropack alone.
    """
    package = report.package
    authors = ", ".join(author.name for author in package.authors)
    told = [authors, f"{package.name} {package.version}", package.license]
    if package.date is not None:
        told.insert(1, package.date.isoformat())
    header = element(
        "header",
        element("p", "A reproducibility package", class_="kind"),
        element("h1", package.title),
        element("p", " · ".join(told), class_="authors"),
        element("p", package.description, class_="description")
        if package.description is not None
        else None,
        _claims(report),
        class_="masthead",
    )
    main = element(
        "main",
        element("section", element("h2", "What is here"), _main(report)),
        element("section", element("h2", "How to verify it"), _checks(report)),
        element("section", element("h2", "Every file"), *_files(report.files), *_left_out(report)),
    )
    footer = element("footer", f"Laid out by repropack {__version__}. It runs and fetches nothing.")
    return still_page(package.title, lines([header, main, footer]), more_style=_STYLE)


def _claims(report: PublishReport) -> Markup | None:
    """How many claims hold, loud where one does not."""
    if not report.claims:
        return None
    failed = any(claim.held is False for claim in report.claims)
    return element("p", held_sentence(report.claims), class_="bad" if failed else "authors")


def _main(report: PublishReport) -> Markup:
    known = {file.path: file for file in report.files}
    rows: tuple[tuple[str, str, str], ...] = (
        (REPORT_PAGE, "The report", "what was compared, and where runs part"),
        (NOTEBOOK_PAGE, "The notebook", "the experiment told, as a page"),
        (NOTEBOOK, "The notebook as it is", "to be run with Jupyter"),
        (report.package_file, "The package", "everything, in one file"),
        (RESULTS, "The results", "what each comparison found, as a document"),
        (README, "README", "what the package claims"),
        (SUMS, "Digests", "of all files that are here"),
    )
    shown = [row for row in rows if row[0] in known or row[0] == SUMS]
    items = element("ul", (_item(*row, known.get(row[0])) for row in shown))
    return join((element("p", prose(_FIRST)), items))


def _item(path: str, label: str, words: str, file: PublishedFile | None) -> Markup:
    weight = "" if file is None else f" ({size(file.size)})"
    return element("li", element("strong", file_link(path, label)), f": {words}{weight}")


def _checks(report: PublishReport) -> Markup:
    name = report.package_file
    commands = [
        f"sha256sum -c {SUMS}",
        f"repropack check {name} --expect-digest {report.package_digest}",
        f"repropack verify {name}",
    ]
    words = prose(
        "The first compares every file here with its digest. `check` looks at the package and runs "
        "nothing of it; `verify` runs it again, confined, and compares every step byte for byte. "
        "repropack is installed from a checkout or a wheel of `repropack-replay`."
    )
    signed = None
    if report.signatures:
        count = plural(len(report.signatures), "signature lies", "signatures lie")
        signed = element(
            "p",
            prose(f"{count} beside the package: `repropack check --signers` says whose."),
        )
    rows: tuple[tuple[str, str], ...] = (
        ("Package digest", report.package_digest),
        ("Evidence digest", report.evidence_digest),
    )
    return element(
        "div",
        element("pre", element("code", "\n".join(commands))),
        element("p", words),
        signed,
        facts((label, element("code", text)) for label, text in rows),
    )


def _files(files: Sequence[PublishedFile]) -> Iterable[Markup]:
    """Each folder's files as a table, folded but for the first."""
    folders = {folder for folder, _, _ in _GROUPS}
    others = [file for file in files if file.path.partition("/")[0] not in folders]
    groups: list[tuple[str, str, list[PublishedFile]]] = [("Beside this page", "", others)]
    for folder, label, words in _GROUPS:
        inside = [file for file in files if file.path.startswith(f"{folder}/")]
        groups.append((label, words, inside))
    for label, words, inside in groups:
        if inside:
            count = plural(len(inside), "file")
            told = f"{label} ({count})" + (f": {words}" if words else "")
            yield element("details", element("summary", told), _table(inside), open=not words)


def _what(path: str) -> Markup | None:
    """What a file is, where that follows from its name."""
    endings = {
        ".zip": "the package, in one file",
        ".zip.intoto.json": "what signatures of the package sign",
        ".sig": "a signature of the package",
    }
    known = next((told for end, told in endings.items() if path.endswith(end)), None)
    told = _KNOWN.get(path) or (known if "/" not in path else None)
    return None if told is None else element("span", f": {told}", class_="what")


def _table(files: Sequence[PublishedFile]) -> Markup:
    head = element(
        "tr",
        element("th", "file, and its SHA-256", scope="col"),
        element("th", "size", scope="col", class_="number"),
    )
    rows = (
        element(
            "tr",
            element(
                "td",
                file_link(file.path),
                _what(file.path),
                element("div", file.digest.removeprefix("sha256:"), class_="digest"),
            ),
            element("td", size(file.size), class_="number"),
        )
        for file in files
    )
    return element("table", element("thead", head), element("tbody", rows), class_="files")


def left_out_rows(report: PublishReport) -> list[str]:
    """What is in the package alone: each reason with its files, three of them by name."""
    reasons: dict[str, list[str]] = {}
    for one in report.left_out:
        reasons.setdefault(one.reason, []).append(one.path)
    rows = []
    for reason, paths in reasons.items():
        more = len(paths) - _NAMED
        named = ", ".join(paths[:_NAMED]) + (f" and {more} more" if more > 0 else "")
        rows.append(f"{named}: {reason}")
    return rows


def _left_out(report: PublishReport) -> Sequence[Content]:
    if not report.left_out:
        return ()
    items = (element("li", row) for row in left_out_rows(report))
    count = plural(len(report.left_out), "file")
    summary = element("summary", f"In the package alone ({count})")
    return (element("details", summary, element("ul", items)),)
