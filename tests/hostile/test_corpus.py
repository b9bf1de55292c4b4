"""The hostile corpus, told to ``check`` in this process: each case as expected, nothing unescaped.

``tools/run_corpus.py`` tells the same cases to real processes, and measures time and memory.
"""

from __future__ import annotations

import os
import shutil
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from zlib import crc32

import pytest

from repropack._cli.status import STATUS_BY_VERDICT, status_of_error
from repropack._format.rules import RULES
from repropack._present.text import check_text
from repropack.check import check_package
from repropack.checker import Package
from repropack.errors import RepropackError
from tests.hostile.corpus.bases import Base
from tests.hostile.corpus.case import Variant
from tests.hostile.corpus.catalogue import CASES, VARIANTS, Fault, complaint
from tests.hostile.corpus.checker import NOT_LOOKED_AT, NOT_YET
from tests.support.thinning import EVERY_CASE

pytestmark = pytest.mark.hostile

THREATS = {f"T{number}" for number in range(1, 13)} - {"T11"}
"""T11 is about signatures, which packages do not have yet."""


NOT_IN_A_PACKAGE = {
    "digest.package",  # the call asks for it
    "directory.changed",  # while it is read
    "zip.changed",  # while it is read
    "write.changed",  # while it is packed
    "limit.max_inflated_bytes",  # 8 GiB: too large for a test
    "limit.max_claim_elements",  # a thousand claims on a million lines: likewise
    "limit.max_path_depth",  # refused as path.depth
    "zip.local-header",  # every field of it has a rule of its own
}
"""Rules that no case breaks."""


def parameters() -> Iterator[object]:
    """One test a variant; those of the lab repeat a user's package, and are left to slow runs.

    There one of eight is told, chosen by name; ``REPROPACK_EVERY_CASE=1`` tells all, as
    ``tools/run_corpus.py`` does.
    """
    for variant in VARIANTS:
        if variant.base == "lab" and not EVERY_CASE and crc32(variant.name.encode()) % 8:
            continue
        marks = [pytest.mark.slow] if variant.base == "lab" else []
        if not variant.case.heavy:
            yield pytest.param(variant, id=variant.name, marks=marks)


@pytest.mark.parametrize("variant", list(parameters()))
def test_every_case_ends_as_expected(
    variant: Variant, bases: Mapping[str, Base], tmp_path: Path
) -> None:
    """Accepted, or refused for the one lie that it tells; and no text of it gets out as it is."""
    if variant.case.needs == "root" and os.geteuid() != 0:
        pytest.skip("needs root, who alone may make devices")
    path = variant.case.write(bases[variant.base], variant.form, tmp_path)
    faults: list[Fault]
    try:
        report = check_package(path)
    except RepropackError as error:
        faults = [(error.code, "", error.message, getattr(error, "rule", None))]
        status = status_of_error(error)
    else:
        faults = [(f.code, f.entry, f.problem, getattr(f, "rule", None)) for f in report.faults]
        status = STATUS_BY_VERDICT[report.verdict]
        text = check_text(report)
        assert all(one.isprintable() for one in text.splitlines()), ascii(text)
    assert complaint(variant.case, status, faults) == ""


@pytest.mark.slow
def test_the_packed_checker_accepts_no_more_than_it_says(
    bases: Mapping[str, Base], tmp_path: Path
) -> None:
    """It refuses no honest package, and accepts of the others only what it does not look at."""
    for variant in VARIANTS:
        if variant.base == "lab" or variant.case.heavy or variant.case.needs:
            continue
        folder = tmp_path / "case"
        folder.mkdir()
        package = Package(variant.case.write(bases[variant.base], variant.form, folder))
        package.check()
        if variant.case.code is None:
            assert not package.faults, (variant.name, package.faults[:3])
        elif not package.faults:
            assert variant.case.name in NOT_LOOKED_AT | NOT_YET, variant.name
        shutil.rmtree(folder)
        for path in tmp_path.iterdir():
            path.unlink() if path.is_symlink() or path.is_file() else shutil.rmtree(path)


def test_the_corpus_covers_every_threat() -> None:
    """At least 280 lies and 15 honest packages, each with a name of its own."""
    names = Counter(case.name for case in CASES)
    assert [name for name, count in names.items() if count > 1] == []
    lies = [case for case in CASES if case.code is not None]
    assert len(lies) >= 280
    assert len(CASES) - len(lies) >= 15
    assert {case.threat for case in CASES} >= THREATS
    assert all(case.lie.endswith(".") for case in CASES)


def test_every_rule_has_a_case() -> None:
    """Each rule by which a package can be refused is the expected one somewhere in the corpus."""
    expected = {case.rule for case in CASES if case.rule is not None}
    assert expected <= set(RULES)
    assert set(RULES) - expected == NOT_IN_A_PACKAGE
