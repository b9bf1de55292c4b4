"""What names a package on its page, how to check it, a command's outputs, and the entries."""

from __future__ import annotations

from collections.abc import Iterator

from repropack._format.contents import read_output_stage
from repropack._present.html import Content, Markup, element, join
from repropack._present.layout import ENTRY, plural, size
from repropack._present.page_parts import (
    code,
    details,
    digest,
    facts,
    paragraph,
    section,
    table,
    term,
)
from repropack._present.page_subject import PageSubject
from repropack.models.authored import Author

_MAX_ENTRIES = 1000
_MAX_OUTPUTS = 400


def check_section(subject: PageSubject) -> Markup:
    """How to find out oneself, in three commands."""
    name = f"{subject.metadata.name}-{subject.metadata.version}.zip"
    expect = f" --expect-digest {subject.package_digest}" if subject.package_digest else ""
    rows = [
        (
            f"repropack check {name}{expect}",
            "digests, log chains, arrays, results and this page: reads everything, runs nothing",
        ),
        (f"repropack verify {name}", "checks, then runs it again and compares byte for byte"),
        (
            f"python {name}",
            "checks digests, chains and arrays without repropack; it runs a program of the package",
        ),
    ]
    return section(
        "check",
        "How to check it, and how to verify it",
        paragraph(
            "Nothing on this page has to be believed: a page proves nothing. With repropack, which "
            "is installed from a checkout or a wheel of ",
            code("repropack-replay"),
            ":",
        ),
        element(
            "ol",
            (element("li", element("pre", code(command)), paragraph(why)) for command, why in rows),
            class_="commands",
        ),
        paragraph(
            "The ",
            term("evidence digest"),
            " above says whether it is the experiment that is meant, wherever it was built; the ",
            term("package digest"),
            " names this very package, and is the SHA-256 of its ",
            code("manifest.json"),
            ".",
        ),
    )


def outputs_section(subject: PageSubject) -> Markup | None:
    """What a command wrote, output by output and run by run; ``None`` for anything else."""
    outcomes = subject.results.comparisons
    names = list(dict.fromkeys(row.name for outcome in outcomes for row in outcome.stages))
    if not names or not all(read_output_stage(name) for name in names):
        return None
    found = [{row.name: row.differing for row in outcome.stages} for outcome in outcomes]
    rows: list[list[Content]] = []
    for name in names[:_MAX_OUTPUTS]:
        path, array = read_output_stage(name) or ("", None)
        shown: Content = [code(path), f" · {array}" if array else ""]
        rows.append([shown, *(_output_words(one.get(name)) for one in found)])
    header: list[Content] = ["output", *(code(outcome.run) for outcome in outcomes)]
    more = len(names) - len(rows)
    return section(
        "outputs",
        "Where each run wrote what the reference wrote",
        paragraph(
            "Outputs are compared by what they are: arrays by type, shape and bytes, JSON, tables "
            "and images by what they hold, everything else by bytes."
        ),
        table("Outputs, run by run", header, rows, class_="outputs"),
        paragraph(f"And {plural(more, 'more output')}, in results.json.") if more else None,
    )


def _output_words(differing: int | None) -> Content:
    if differing is None:
        return "-"
    return element("span", "differs", class_="bad") if differing else "equal"


def entries_section(subject: PageSubject) -> Markup:
    """Every entry but the page itself and what is made after it."""
    entries = subject.entries
    shown = entries[:_MAX_ENTRIES]
    total = size(sum(entry.size for entry in entries if entry.included))
    rows = (
        (code(entry.path), entry.role, size(entry.size), _place(entry.digest, entry.location))
        for entry in shown
    )
    return section(
        "entries",
        "What is in it",
        paragraph(
            f"{plural(len(entries), *ENTRY)}, {total}. Each ",
            term("entry"),
            " has its ",
            term("digest"),
            " in ",
            code("manifest.json"),
            "; this page and what is made after it are not listed here.",
        ),
        details(
            "All entries" if len(shown) == len(entries) else f"The first {len(shown):,} entries",
            table(
                "Entries", ("entry", "role", "size", "digest"), rows, right=(2,), class_="entries"
            ),
        ),
    )


def _place(value: str, location: str | None) -> Content:
    if location is None:
        return digest(value)
    return [digest(value), element("br"), f"not in the package: {location}"]


def masthead(subject: PageSubject) -> Iterator[Markup]:
    """Title, authors, and what names the package."""
    metadata = subject.metadata
    yield paragraph("Reproducibility package", class_="kind")
    yield element("h1", metadata.title)
    yield paragraph(_authors(subject), class_="authors")
    if metadata.description is not None:
        yield paragraph(metadata.description, class_="description")
    origin = metadata.origin
    commit: Content = None
    if origin is not None:
        state = "" if origin.clean else ", with changes that are in no commit"
        commit = join([code(origin.commit), state])
    yield facts(
        [
            ("package", f"{metadata.name} {metadata.version}"),
            ("date", metadata.date.isoformat() if metadata.date is not None else None),
            ("licence", metadata.license),
            ([term("evidence digest")], digest(subject.evidence_digest)),
            (
                [term("package digest")],
                digest(subject.package_digest) if subject.package_digest else None,
            ),
            ("supersedes", digest(metadata.supersedes) if metadata.supersedes else None),
            ("commit", commit),
        ]
    )


def _authors(subject: PageSubject) -> Content:
    return join(
        ["; " if k else "", _author(author)] for k, author in enumerate(subject.metadata.authors)
    )


def _author(author: Author) -> Content:
    parts: list[Content] = [element("span", author.name, class_="author")]
    if author.orcid is not None:
        link = f"https://orcid.org/{author.orcid}"
        name = f"ORCID of {author.name}"
        parts += [" ", element("a", "ORCID", href=link, rel="noreferrer", aria_label=name)]
    if author.affiliation is not None:
        parts.append(f", {author.affiliation}")
    return parts
