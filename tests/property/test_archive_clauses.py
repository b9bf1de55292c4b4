"""Chapter 12 of docs/format.md: citation and crate, made again from the text alone.

What follows knows the document and nothing of repropack: it reads a package with the standard
library, writes both files as the clauses say, and compares the bytes. Classes quote their clause.
"""

from __future__ import annotations

import hashlib
import json
import zipfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

from repropack._export.files import DESCRIPTIONS
from tests.support.hostile import take_apart

Json = Any
FORMAT = Path(__file__).resolve().parents[2] / "docs" / "format.md"


class Reading:
    """A package read with other eyes: its files, its documents, and which files may be executed."""

    def __init__(self, path: Path) -> None:
        with zipfile.ZipFile(path) as archive:
            self.files = {name: archive.read(name) for name in archive.namelist()}
            self.executable = {
                info.filename for info in archive.infolist() if info.external_attr >> 16 & 0o100
            }
        self.package = self.read("manifest.json")["package"]
        self.entries = self.read("manifest.json")["entries"]
        self.plan, self.results = self.read("plan.json"), self.read("results.json")
        self.environment = self.read("environment.json")

    def read(self, path: str) -> Json:
        return json.loads(self.files[path])


@pytest.fixture(scope="module", params=["lab", "lake"])
def package(request: pytest.FixtureRequest) -> Reading:
    """The lab, and a command whose author says everything that there is to say."""
    return Reading(request.getfixturevalue(f"{request.param}_package"))


def canonical(value: Json) -> bytes:
    """2.1."""
    text = json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return text.encode("utf-8") + b"\n"


def enc(text: str) -> str:
    """12.3: all but ASCII letters, digits and ``-._~/`` is encoded."""
    return quote(text, safe="/")


def refs(ids: list[str]) -> Json:
    """12.3: one value stands alone, several are a list, and each comes once."""
    rows = [{"@id": one} for one in dict.fromkeys(ids)]
    return rows[0] if len(rows) == 1 else rows or None


def is_person(author: Json) -> bool:
    """8.3.1."""
    if author["kind"] is not None:
        return bool(author["kind"] == "person")
    return any(author[key] is not None for key in ("given_names", "family_names", "orcid"))


# ---------------------------------------------------------------- 12.2, the citation


def yaml(value: Mapping[str, Json], indent: str = "") -> Iterator[str]:
    """12.2: a key and a text a line, maps and lists two blanks deeper."""
    for key, inner in value.items():
        if isinstance(inner, str):
            yield f"{indent}{key}: {json.dumps(inner, ensure_ascii=False)}"
        elif inner:
            yield f"{indent}{key}:"
            for item in inner:
                if isinstance(item, str):
                    yield f"{indent}  - {json.dumps(item, ensure_ascii=False)}"
                else:
                    lines = list(yaml(item, f"{indent}    "))
                    yield f"{indent}  - {lines[0].strip()}"
                    yield from lines[1:]


def people(authors: list[Json]) -> list[Json]:
    """12.2, ``authors``: equal rows come once."""
    rows: list[Json] = []
    for author in authors:
        parts = {"family-names": author["family_names"], "given-names": author["given_names"]}
        row = {"name": author["name"]}
        if is_person(author) and any(parts.values()):
            row = {**parts, "affiliation": author["affiliation"]}
        orcid = author["orcid"]
        row["orcid"] = orcid and f"https://orcid.org/{orcid}"
        row = {key: value for key, value in row.items() if value is not None}
        if row not in rows:
            rows.append(row)
    return rows


def tree_id(files: Mapping[str, tuple[bytes, bool]]) -> bytes:
    """12.2.1: the id that git gives a tree."""
    rows = []
    for name in {path.partition("/")[0] for path in files}:
        below = {
            path.removeprefix(f"{name}/"): files[path]
            for path in files
            if path.startswith(f"{name}/")
        }
        if below:
            rows.append((f"{name}/".encode(), b"40000", name.encode(), tree_id(below)))
        else:
            content, executable = files[name]
            one = hashlib.sha1(b"blob %d\0" % len(content) + content).digest()
            mode = b"100755" if executable else b"100644"
            rows.append((name.encode(), mode, name.encode(), one))
    body = b"".join(mode + b" " + name + b"\0" + one for _, mode, name, one in sorted(rows))
    return hashlib.sha1(b"tree %d\0" % len(body) + body).digest()


def evidence_digest(entries: list[Json]) -> str:
    """3.4."""
    folders = ("source/", "inputs/", "runs/")
    rows = [r for r in entries if r["path"] == "plan.json" or r["path"].startswith(folders)]
    data = b"repropack.evidence.v1\n" + canonical(rows)
    return f"sha256:{hashlib.sha256(data).hexdigest()}"


def citation(package: Reading) -> str:
    """12.2, key by key. Both packages have licences that the format's schema knows."""
    one = package.package
    source = {
        path.removeprefix("source/"): (data, path in package.executable)
        for path, data in package.files.items()
        if path.startswith("source/")
    }
    choice = one["license"].split(" OR ")
    article = one["article"]
    references = []
    if article and article["authors"]:
        told = {"type": "article", **{k: article[k] for k in ("title", "doi", "url")}}
        told = {key: value for key, value in told.items() if value is not None}
        references.append({**told, "authors": people(article["authors"])})
    contact = one["contact"] and {
        ours: one["contact"][theirs]
        for ours, theirs in (("name", "name"), ("email", "email"), ("website", "url"))
        if one["contact"][theirs] is not None
    }
    document = {
        "cff-version": "1.2.0",
        "message": "To cite this reproducibility package, use what follows.",
        "type": one["type"],
        "title": one["title"],
        "version": one["version"],
        "date-released": one["date"],
        "authors": people(one["authors"]),
        "contact": [contact] if contact else [],
        "abstract": one["description"],
        "keywords": one["keywords"],
        "license": choice[0] if len(choice) == 1 else choice,
        "doi": one["doi"],
        "repository-code": one["repository"],
        "identifiers": [
            {
                "description": "The source of the experiment",
                "type": "swh",
                "value": f"swh:1:dir:{tree_id(source).hex()}",
            },
            {
                "description": "The evidence digest: plan, source, inputs and runs",
                "type": "other",
                "value": evidence_digest(package.entries),
            },
        ],
        "references": references,
    }
    return "".join(f"{line}\n" for line in yaml(document))


# ---------------------------------------------------------------- 12.3 to 12.9, the crate


def descriptions() -> dict[str, str]:
    """12.5: the table of descriptions by role."""
    chapter = FORMAT.read_text("utf-8").partition("**12.5**")[2].partition("**12.6**")[0]
    rows = (line.split("|") for line in chapter.splitlines() if line.startswith("| "))
    return {row[1].strip(" `"): row[2].strip(" `") for row in rows}


class Crate:
    """Entities by id; one that comes again is the one that came first (12.6)."""

    def __init__(self, package: Reading) -> None:
        self.package = package
        self.entities: dict[str, Json] = {}

    def add(self, entity_id: str, kind: Json, **members: Json) -> str:
        told = {key: value for key, value in members.items() if value not in (None, [], "")}
        self.entities.setdefault(entity_id, {"@id": entity_id, "@type": kind, **told})
        return entity_id

    def bytes(self) -> bytes:
        """12.3."""
        context = [
            "https://w3id.org/ro/crate/1.2/context",
            "https://w3id.org/ro/terms/workflow-run/context",
        ]
        graph = [self.entities[name] for name in sorted(self.entities)]
        return canonical({"@context": context, "@graph": graph})

    def organization(self, name: str, entity_id: str | None, url: str | None = None) -> str:
        made = entity_id or f"#organization/{enc(name)}"
        return self.add(made, "Organization", name=name, url=url)

    def authors(self, rows: list[Json], prefix: str) -> list[str]:
        made = []
        for place, row in enumerate(rows, start=1):
            where = None
            if row["affiliation"]:
                where = refs([self.organization(row["affiliation"], row["affiliation_ror"])])
            kind = "Organization" if row["kind"] == "organization" else "Thing"
            made.append(
                self.add(
                    f"https://orcid.org/{row['orcid']}" if row["orcid"] else f"{prefix}/{place}",
                    "Person" if is_person(row) else kind,
                    name=row["name"],
                    givenName=row["given_names"],
                    familyName=row["family_names"],
                    affiliation=where,
                )
            )
        return made

    def around(self) -> Json:
        """12.6."""
        one = self.package.package
        authors = self.authors(one["authors"], "#author")
        members = {"author": refs(authors)}
        name = one["license"]
        told = f"The licence with the SPDX identifier {name}"
        if " " in name:
            told = f"The SPDX expression {name}; LICENSE holds the text or the expression"
        spdx = "#license" if " " in name else f"https://spdx.org/licenses/{name}"
        members["license"] = refs([self.add(spdx, "CreativeWork", name=name, description=told)])
        if one["publisher"]:
            row = one["publisher"]
            made = self.organization(row["name"], row["ror"] or row["url"], row["url"])
            members["publisher"] = refs([made])
        if one["repository"]:
            address, told = one["repository"], "Where the code is developed"
            made = self.add(address, "CreativeWork", name=address, description=told)
            members["isBasedOn"] = refs([made])
        if one["article"]:
            row = one["article"]
            writers = refs(self.authors(row["authors"], "#article-author"))
            address = f"https://doi.org/{row['doi']}" if row["doi"] else row["url"] or "#article"
            made = self.add(address, "ScholarlyArticle", name=row["title"], author=writers)
            members["citation"] = refs([made])
        if one["contact"]:
            row = one["contact"]
            self.add("#contact", "ContactPoint", **{k: row[k] for k in ("name", "email", "url")})
            first = next(k for k, a in enumerate(one["authors"]) if a["name"] == row["name"])
            self.entities[authors[first]]["contactPoint"] = refs(["#contact"])
        funders, grants = [], []
        for place, row in enumerate(one["funding"], start=1):
            funders.append(self.organization(row["funder"], None))
            grants.append(
                self.add(
                    row["url"] or f"#grant/{place}",
                    "Grant",
                    name=row["award"],
                    identifier=row["award"],
                    funder=refs(funders[-1:]),
                )
            )
        return {**members, "funder": refs(funders), "funding": refs(grants)}

    def held(self, row: Json) -> str:
        return enc(row["path"]) if row["included"] else f"#held/{enc(row['path'])}"

    def files(self) -> list[str]:
        """12.5."""
        told, media = descriptions(), "application/json"
        first = told["(the manifest)"]
        name = "manifest.json"
        parts = [self.add(name, "File", name=name, description=first, encodingFormat=media)]
        for row in self.package.entries:
            if row["path"] == "ro-crate-metadata.json":
                continue
            code = row["role"] == "source" and row["media_type"] == "text/x-python"
            kind: Json = ["File", "SoftwareSourceCode"] if code else "File"
            description = told[row["role"]]
            if not row["included"]:
                kind, description = (
                    "CreativeWork",
                    f"{description}, held elsewhere: {row['location']}",
                )
            made = self.add(
                self.held(row),
                kind,
                name=row["path"],
                description=description,
                encodingFormat=row["media_type"],
                contentSize=str(row["size"]),
                sha256=row["digest"][7:],
                programmingLanguage=refs(["#python"]) if code else None,
            )
            if row["included"]:
                parts.append(made)
        return sorted(parts)

    def below(self, folder: str) -> Json:
        return refs([self.held(r) for r in self.package.entries if r["path"].startswith(folder)])

    def program(self) -> None:
        """12.7."""
        environment, one = self.package.environment, self.package.package
        experiment = self.package.plan["experiment"]
        needed = [
            self.add(
                "#python",
                ["ComputerLanguage", "SoftwareApplication"],
                name="Python",
                alternateName=environment["interpreter"]["implementation"],
                version=environment["interpreter"]["version"],
                url="https://www.python.org/",
            )
        ]
        needed += [
            self.add(
                f"#distribution/{enc(row['name'])}",
                "SoftwareApplication",
                name=row["name"],
                version=row["version"],
                url=refs(["environment.json"]),
            )
            for row in environment["distributions"]
        ]
        self.add(
            "#experiment",
            "SoftwareApplication",
            name=experiment["entry_point"] or " ".join(experiment["command"]),
            description="What is run: its source lies in this package",
            version=one["version"],
            url=one["repository"] or refs(["README.md"]),
            hasPart=self.below("source/"),
            softwareRequirements=refs(needed),
        )

    def told(self, row: Json | None) -> str:
        """12.8, ``description``."""
        plan = self.package.plan
        if row is None:
            experiment = plan["experiment"]
            return f"The reference: seed {experiment['seed']}, steps {experiment['steps']}"
        changes = []
        if row["resume_at"] is not None:
            changes.append(f"resumed after step {row['resume_at']}")
        if row["reset"]:
            changes.append(f"reset {', '.join(row['reset'])}")
        if row["config"]:
            changes.append(f"configuration {canonical(row['config']).decode().strip()}")
        if row["hash_seed"] is not None:
            changes.append(f"hash seed {row['hash_seed']}")
        told = f"Against the reference: {'; '.join(changes) or 'nothing changed'}"
        found = next(r for r in self.package.results["comparisons"] if r["run"] == row["name"])
        if found["identical"]:
            return f"{told}. Identical in steps {found['first_step']} to {found['last_step']}"
        return f"{told}. Differs first in step {found['divergence']['step']}"

    def action(self, row: Json | None, agents: Json) -> str:
        """12.8."""
        plan, name = self.package.plan, "reference" if row is None else row["name"]
        given = ["plan.json"]
        given += [self.held(r) for r in self.package.entries if r["role"] == "input"]
        if row is not None and row["resume_at"] is not None:
            for step in (row["resume_at"], *([0] if row["reset"] else [])):
                stem = f"runs/reference/checkpoints/step-{step:09d}"
                given += [f"{stem}.json", f"{stem}.npz"]
        seed = "0" if row is None else str(row["hash_seed"] or 0)
        values = {
            **self.package.environment["variables"],
            **plan["experiment"]["environment"],
            "PYTHONHASHSEED": seed,
        }
        variables = [
            self.add(
                f"#variable/{enc(k)}/{enc(values[k])}", "PropertyValue", name=k, value=values[k]
            )
            for k in sorted(values)
        ]
        return self.add(
            f"#run/{name}",
            "CreateAction",
            name=f"run {name}",
            description=self.told(row),
            instrument=refs(["#experiment"]),
            agent=agents,
            object=refs(given),
            result=self.below(f"runs/{name}/"),
            environment=refs(variables),
            actionStatus="http://schema.org/CompletedActionStatus",
        )

    def after(self, agents: Json) -> str:
        """12.9."""
        commands = "; ".join(" ".join(row["command"]) for row in self.package.plan["after"])
        self.add(
            "#after-commands",
            "SoftwareApplication",
            name=commands,
            description="Commands that come after the runs",
            version=self.package.package["version"],
            url=refs(["README.md"]),
            softwareRequirements=refs(["#python"]),
        )
        return self.add(
            "#after",
            "CreateAction",
            name="after the runs",
            description=f"On the finished runs: {commands}",
            instrument=refs(["#after-commands"]),
            agent=agents,
            object=self.below("runs/"),
            result=self.below("after/"),
            actionStatus="http://schema.org/CompletedActionStatus",
        )


def crate(package: Reading) -> bytes:
    """12.4, of everything else."""
    made, one = Crate(package), package.package
    members = made.around()
    parts = made.files()
    made.program()
    actions = [made.action(row, members["author"]) for row in (None, *package.plan["comparisons"])]
    if package.plan["after"]:
        actions.append(made.after(members["author"]))
    profile, kinds = "https://w3id.org/ro/wfrun/process/0.5", ["CreativeWork", "Profile"]
    made.add(profile, kinds, name="Process Run Crate", version="0.5")
    keywords = one["keywords"]
    made.add(
        "./",
        "Dataset",
        name=one["title"],
        description=one["description"],
        datePublished=one["date"],
        version=one["version"],
        identifier=one["doi"] and f"https://doi.org/{one['doi']}",
        keywords=keywords[0] if len(keywords) == 1 else keywords,
        conformsTo=refs([profile]),
        hasPart=refs(parts),
        mentions=refs(actions),
        **members,
    )
    versions = ["https://w3id.org/ro/crate/1.2", "https://w3id.org/ro/crate/1.1"]
    name = "ro-crate-metadata.json"
    made.add(name, "CreativeWork", about=refs(["./"]), conformsTo=refs(versions))
    return made.bytes()


class TestCitation:
    """`CITATION.cff` has the Citation File Format 1.2.0, in YAML of one spelling."""

    def test_it_follows_from_the_text(self, package: Reading) -> None:
        """Byte for byte."""
        assert package.files["CITATION.cff"].decode() == citation(package)


class TestCrate:
    """`ro-crate-metadata.json` is an RO-Crate 1.2 that names version 1.1 as well."""

    def test_it_follows_from_the_text(self, package: Reading) -> None:
        """Entity for entity, and then byte for byte."""
        expected, observed = crate(package), package.files["ro-crate-metadata.json"]
        assert json.loads(observed) == json.loads(expected)
        assert observed == expected

    def test_it_lists_every_entry_but_itself(self, package: Reading) -> None:
        """Each stored entry but the crate, and the manifest; the manifest without a digest."""
        graph = {row["@id"]: row for row in package.read("ro-crate-metadata.json")["@graph"]}
        stored = {row["path"]: row for row in package.entries if row["included"]}
        parts = {row["@id"] for row in graph["./"]["hasPart"]}
        assert parts == {enc(path) for path in (*stored, "manifest.json")} - {
            "ro-crate-metadata.json"
        }
        assert graph["manifest.json"].keys().isdisjoint({"sha256", "contentSize"})
        for path in parts - {"manifest.json"}:
            row = next(row for name, row in stored.items() if enc(name) == path)
            assert graph[path]["sha256"] == row["digest"].removeprefix("sha256:")

    def test_no_action_has_a_time(self, package: Reading) -> None:
        """No action has a time: a package has none."""
        text = package.files["ro-crate-metadata.json"].decode()
        assert "endTime" not in text
        assert "startTime" not in text


def test_descriptions_are_those_of_the_document() -> None:
    """12.5: a text that follows from the role."""
    told = descriptions()
    assert {role: told.get(role) for role in DESCRIPTIONS if role != "crate"} == {
        role: text for role, text in DESCRIPTIONS.items() if role != "crate"
    }


def test_the_writer_of_forgeries_describes_as_the_format_says(lab_package: Path) -> None:
    """What the hostile corpus makes right again is what a build writes."""
    forgery = take_apart(lab_package)
    before = dict(forgery.files)
    forgery.seal()
    assert forgery.files == before
