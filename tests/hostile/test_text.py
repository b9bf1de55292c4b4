"""Text that attacks its reader: every field, every payload, every verb; nothing gets out as it is.

Where a field refuses a payload the refusal quotes it, so that the output is looked at all the same.
"""

from __future__ import annotations

import ast
import json
import re
import shutil
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from markdown_it import MarkdownIt

from repropack._cli.main import main
from repropack.build import build_package
from repropack.errors import CouldNotRunError, RepropackError
from tests.fuzz.targets import slim
from tests.hostile.corpus.bases import TALLY, TALLY_PROJECT, Base
from tests.support.hostile import Forgery, take_apart
from tests.support.thinning import EVERY_CASE

pytestmark = pytest.mark.hostile

PAYLOADS: Mapping[str, str] = {
    "clear": "\x1b[2J\x1b[Hidentical",
    "title": "\x1b]0;owned\x07",
    "link": "\x1b]8;;https://example.org\x1b\\click\x1b]8;;\x1b\\",
    "clipboard": "\x1b]52;c;aWQ=\x07",
    "answer": "\x1b[6n\x1b[c\x05",
    "c1": "\x9b2J\x9d0;x\x9c",
    "line": "\nidentical  case.zip",
    "return": "\ridentical",
    "erase": "\b\b\b\b\x7f\x7f",
    "tab": "\t\v\f",
    "nul": "\0",
    "reversed": "\u202elacitnedi",
    "isolate": "\u2066a\u2069\u2067b",
    "arabic-mark": "\u061cdegamad",
    "separator": "\u2028identical\u2029",
    "next-line": "\x85identical",
    "invisible": "\u200b\u200d\u2060\ufeff\u00ad\u180e",
    "tags": "\U000e0069\U000e0064",
    "filler": "\u3164\u115f\u2800",
    "tower": "e" + "\u0301" * 80,
    "long": "x" * 20_000,
    "markup": "<script>alert(1)</script><img src=x onerror=alert(1)>",
    "markdown": "[x](javascript:alert(1)) ![](https://example.org/p.png) `a` **b** | c |",
    "rich": "[red]x[/red] [link=https://example.org]y[/link]",
    "format": "{0} {x!r} %s %n ${HOME} $(id) `id`",
}

Put = Callable[[Base, Forgery, str], object]


def in_manifest(change: Callable[[Any, str], object]) -> Put:
    return lambda base, forgery, text: change(forgery.manifest["package"], text)


def in_document(path: str, change: Callable[[Any, str], object]) -> Put:
    return lambda base, forgery, text: forgery.edit(path, lambda value: change(value, text))


def in_finish(base: Base, forgery: Forgery, text: str) -> None:
    for run in ("reference", base.resumed):
        log = forgery.log(run)
        log.steps[-1]["finish"] = text
        forgery.put_log(run, log)
    forgery.rechain_all()
    with suppress(RepropackError):
        forgery.recompute_results()  # a reason that no log may have gives no results


def in_last_step(change: Callable[[Any, str], object]) -> Put:
    """Change the reference's last line; chains are made right."""

    def put(base: Base, forgery: Forgery, text: str) -> None:
        log = forgery.log()
        change(log.steps[-1], text)
        forgery.put_log("reference", log)
        forgery.rechain_all()

    return put


def in_header(base: Base, forgery: Forgery, text: str) -> None:
    log = forgery.log()
    log.header["run"] = text
    forgery.put_log("reference", log)


def in_state(base: Base, forgery: Forgery, text: str) -> None:
    path = f"runs/reference/checkpoints/step-{base.middle:09d}.json"
    forgery.edit(path, lambda value: value["values"].update({text: text}))


def in_array(base: Base, forgery: Forgery, text: str) -> None:
    path = f"runs/reference/checkpoints/step-{base.middle:09d}.json"
    forgery.edit(path, lambda value: value["arrays"].update({text: value["arrays"][base.array]}))


def in_row(base: Base, forgery: Forgery, text: str) -> None:
    forgery.rows["LICENSE"] = {"path": f"source/{text}"}


FIELDS: Mapping[str, Put] = {
    "title": in_manifest(lambda about, text: about.update(title=text)),
    "name": in_manifest(lambda about, text: about.update(name=text)),
    "version": in_manifest(lambda about, text: about.update(version=text)),
    "license": in_manifest(lambda about, text: about.update(license=text)),
    "author": in_manifest(lambda about, text: about["authors"][0].update(name=text)),
    "affiliation": in_manifest(lambda about, text: about["authors"][0].update(affiliation=text)),
    "description": in_manifest(lambda about, text: about.update(description=text)),
    "path": in_row,
    "media-type": lambda b, f, text: f.rows.update({"LICENSE": {"media_type": text}}),
    "member": lambda b, f, text: f.manifest.update({text: 1}),
    "format": lambda b, f, text: f.manifest.update(format=text),
    "compiler": in_document("environment.json", lambda v, t: v["interpreter"].update(compiler=t)),
    "processor": in_document("environment.json", lambda v, t: v["cpu"].update(model=t)),
    "system": in_document("environment.json", lambda v, t: v["platform"].update(system=t)),
    "distribution": in_document(
        "environment.json", lambda v, t: v["distributions"][0].update(name=t, version=t)
    ),
    "variable": in_document("environment.json", lambda v, t: v["variables"].update({t: t})),
    "entry-point": in_document("plan.json", lambda v, t: v["experiment"].update(entry_point=t)),
    "config": in_document("plan.json", lambda v, t: v["experiment"]["config"].update({"zz": t})),
    "config-key": in_document("plan.json", lambda v, t: v["experiment"]["config"].update({t: 1})),
    "comparison": in_document("plan.json", lambda v, t: v["comparisons"][0].update(name=t)),
    "reset": in_document("plan.json", lambda v, t: v["comparisons"][1]["reset"].append(t)),
    "kept": in_document("plan.json", lambda v, t: v["record"]["keep"].append(t)),
    "print-format": in_document("plan.json", lambda v, t: v["record"]["printed"].update(zz=t)),
    "result": in_document("results.json", lambda v, t: v["reference"].update(finish=t)),
    "result-member": in_document("results.json", lambda v, t: v.update({t: t})),
    "finish": in_finish,
    "stage": in_last_step(lambda line, text: line["stages"].append([text, "sha256:" + "0" * 64])),
    "component": in_last_step(lambda line, text: line["state"].append([text, "sha256:0"])),
    "metric": in_last_step(lambda line, text: line["metrics"].update({text: 1})),
    "printed": in_last_step(lambda line, text: line["printed"].update({"share": text})),
    "log-member": in_last_step(lambda line, text: line.update({text: text})),
    "run": in_header,
    "state-name": in_state,
    "array-name": in_array,
    "config-schema": lambda b, f, text: f.files.update(
        {"schemas/config.schema.json": json.dumps({text: [text]}).encode()}
    ),
}

VERBS: tuple[tuple[str, ...], ...] = (
    ("check", "PACKAGE"),
    ("check", "PACKAGE", "--format", "json"),
    ("inspect", "PACKAGE"),
    ("inspect", "PACKAGE", "--format", "json"),
    ("export", "PACKAGE", "--to", "swhid"),
)
"""Whether every verb meets every payload in every field, and not one verb in turn."""


@pytest.fixture(autouse=True)
def no_process(monkeypatch: pytest.MonkeyPatch) -> None:
    """``inspect`` looks at this machine in a process of its own; what it finds is not at issue."""

    def refuse() -> None:
        raise CouldNotRunError("not here")

    monkeypatch.setattr("repropack.inspect.observe_here", refuse)


def call(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> str:
    """Run one verb in this process and return all that it printed."""
    status = main(arguments)
    out, err = capsys.readouterr()
    assert status in {0, 2, 3, 4}
    assert "bug in repropack" not in err, err
    return out + err


def is_safe(text: str) -> bool:
    """Lines of printable characters, with at most two marks on one."""
    lines = text.split("\n")
    return all(line.isprintable() for line in lines) and not re.search("\u0301{3}", text)


QUICK = ("title", "path", "compiler", "config", "finish", "stage")


@pytest.mark.parametrize(
    "field",
    [pytest.param(f, marks=[] if f in QUICK else [pytest.mark.slow]) for f in FIELDS],
)
def test_no_field_reaches_a_terminal_unescaped(
    field: str,
    bases: Mapping[str, Base],
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Whatever is accepted is escaped, and whatever is refused is quoted as an escape."""
    place = list(FIELDS).index(field)
    cases = list(enumerate(PAYLOADS.items(), start=place))
    for turn, (name, payload) in cases if EVERY_CASE else cases[place % 2 :: 2]:
        forgery = slim(bases["own"].forgery())
        FIELDS[field](bases["own"], forgery, payload)
        folder = tmp_path / name
        known = {"PACKAGE": str(forgery.write_directory(folder / "case"))}
        for verb in VERBS if EVERY_CASE else (VERBS[turn % len(VERBS)],):
            shown = call([known.get(word, word) for word in verb], capsys)
            assert shown
            assert is_safe(shown), (name, verb, ascii(shown[:2000]))
            assert len(shown) < 50_000 or "json" in verb
        shutil.rmtree(folder)


@pytest.mark.parametrize("payload", PAYLOADS)
@pytest.mark.parametrize("verb", ["check", "export", "inspect", "unpack", "verify"])
def test_no_path_reaches_a_terminal_unescaped(
    payload: str,
    verb: str,
    bases: Mapping[str, Base],
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """The package's own name is its author's as well: a download is called as they please."""
    name = PAYLOADS[payload].replace("/", "").replace("\0", "")[:60] + ".zip"
    path = tmp_path / name
    path.write_bytes(b"no zip")
    more = {"unpack": [str(tmp_path / "unpacked")], "export": ["--to", "swhid"]}.get(verb, [])
    for options in ([], ["--format", "json"]):
        shown = call([verb, str(path), *more, *options], capsys)
        assert "zip" in shown
        assert is_safe(shown), ascii(shown)


# ---------------------------------------------------------------- pages that build makes

HOSTILE = {
    "title": "</title><script>alert(1)</script> [a](javascript:alert(1)) ![](https://e.org/p)",
    "author": "<img src=x onerror=alert(1)> | `x` $\\input{x}$",
    "description": "{{7*7}} <iframe src=javascript:alert(1)> [b]: https://example.org",
    "config": "</code><script>alert(2)</script> ``` \n# a title\n[c](data:text/html,x)",
    "finish": "<svg onload=alert(3)> [d](javascript:alert(4)) ---",
}


@pytest.fixture(scope="module")
def hostile_package(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An author's own package, whose every text is markup."""
    folder = tmp_path_factory.mktemp("hostile-project")
    (folder / "tools").mkdir()
    (folder / "tools" / "plot.sh").write_text("#!/bin/sh\n")
    finish = f"\n        if self.done == 6:\n            trace.finish({HOSTILE['finish']!r})\n"
    source = TALLY.replace("\n    def state_dict", f"{finish}\n    def state_dict", 1)
    (folder / "tally.py").write_text(source, "utf-8")
    project = TALLY_PROJECT.replace('"A walk and its middle"', json.dumps(HOSTILE["title"]))
    project = project.replace('"A. Tester"', json.dumps(HOSTILE["author"]))
    project = project.replace(
        "date = 2026-11-30",
        f"date = 2026-11-30\ndescription = {json.dumps(HOSTILE['description'])}",
    )
    project = project.replace("rate = 2\n", f"rate = 2\nnote = {json.dumps(HOSTILE['config'])}\n")
    (folder / "repropack.toml").write_text(project, "utf-8")
    package = folder / "hostile.zip"
    build_package(folder, package, unexecuted_notebook=True)
    return package


def tokens_of(text: str) -> list[Any]:
    """Every token of a Markdown text, as a viewer that allows markup reads it."""
    found = []
    for token in MarkdownIt("commonmark").parse(text):
        found += [token, *(token.children or ())]
    return found


def assert_inert(text: str) -> None:
    """No markup, no link but to https or inside, no image from elsewhere."""
    for token in tokens_of(text):
        assert token.type not in {"html_block", "html_inline"}, token.content
        target = str(token.attrGet("href") or token.attrGet("src") or "")
        assert not re.match("(?i)javascript:|data:|http:", target), target
        assert "example.org" not in target, target


def test_the_readme_of_a_package_is_inert(hostile_package: Path) -> None:
    """Texts of an author are shown in it letter by letter."""
    readme = take_apart(hostile_package).files["README.md"].decode()
    assert "alert" in readme
    assert_inert(readme)


def test_the_notebook_of_a_package_is_inert(hostile_package: Path) -> None:
    """Its words are inert, and in its code an author's texts are never more than texts."""
    notebook = json.loads(take_apart(hostile_package).files["notebook.ipynb"])
    words = ["".join(c["source"]) for c in notebook["cells"] if c["cell_type"] == "markdown"]
    code = ["".join(c["source"]) for c in notebook["cells"] if c["cell_type"] == "code"]
    assert any("alert" in text for text in words)
    for text in words:
        assert_inert(text)
    for text in code:
        names = {node.id for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Name)}
        assert "alert" not in names
    for cell in notebook["cells"]:
        for output in cell.get("outputs", ()):
            assert not {"text/html", "application/javascript"} & set(output.get("data", ()))
