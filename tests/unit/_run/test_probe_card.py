"""The probe card: the same in every process, portable where it has to be, and undisturbing."""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from repropack._compare.families import FAMILIES as EXPLAINED
from repropack._format.fingerprints import fingerprint_array
from repropack._run import probe_card as module
from repropack._run.probe_card import changed_families, probe_card
from repropack._run.probe_families import FAMILIES

ROOT = Path(__file__).parents[3]
PROGRAM = (
    "import sys; sys.path.insert(0, sys.argv[1]); import json; "
    "from repropack._run.probe_card import probe_card; print(json.dumps(probe_card()))"
)

PORTABLE = {
    "arithmetic-f32": "sha256:43c5f020619d6dc423d544d9a19327af789b9e7532c7c1e1ebeaee0817c4af36",
    "arithmetic-f64": "sha256:ebd773165b395ea50add2baf4dd768df96d41ec99fc9bb9baf40c9d6971a1428",
    "division": "sha256:507b34e69b7240855ce56b9bf5aae1449f44d1eb6e687dfc6a4a08d176808d7d",
    "subnormals": "sha256:9d4dbe965c1431bac99cb24b3011a32fa9ecba8a3e5347cfe271e14243b58065",
    "casts": "sha256:b872ce97c944d81a60f471e6dad302c14e564bf30b6fcc1f34e34dc2d6292609",
    "integers": "sha256:2653898b32e82e8e095db45e5a380ef75c244167ba8bf2bf180d806e1d10ca34",
    "ordered-sums": "sha256:b338fd386e2c9c07ad64efa13f7267c1af36868130f41e6f5c1d66c259aace57",
    "python-arithmetic": "sha256:cd5c7ac63666840c971d9b2069c72aceaf711bdbfb189629498b88396837fa90",
    "stable-sort": "sha256:36a97d54043c0f77cbfb63edaf947c5d679281b236da12ce6617aacc9412a166",
    "raw-words": "sha256:528b721cb8a31eef1efcdf892d11f23e5057a8ba69ddc6ae3234cdc30fab43c9",
    "text": "sha256:5218d460c27deafade59047d7bb485671b964b3924f38350353ffbe5c0605ef9",
}
"""Fixed by IEEE 754, integer arithmetic and promises of NumPy and Python: one digest anywhere."""


def card_of(folder: Path, **variables: str) -> dict[str, str]:
    """The card of a fresh process in ``folder``."""
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, str(ROOT)],
        cwd=folder,
        env=os.environ | variables,
        capture_output=True,
        text=True,
        check=True,
    )
    card: dict[str, str] = json.loads(done.stdout)
    return card


@pytest.fixture(scope="module")
def card() -> dict[str, str]:
    return probe_card()


@pytest.mark.parametrize("family", PORTABLE)
def test_portable_family_has_its_digest(card, family):
    """What IEEE 754, integers, stable sorts and raw words fix is the same anywhere."""
    assert card[family] == PORTABLE[family]


def test_card_is_the_same_in_any_process(card, tmp_path):
    """Hash seed, time zone, locale and folder leave no trace, nor does being asked again."""
    first = card_of(tmp_path, PYTHONHASHSEED="1", TZ="UTC", LC_ALL="C")
    second = card_of(ROOT, PYTHONHASHSEED="2", TZ="Asia/Tokyo", LC_ALL="C.UTF-8")
    assert first == second
    assert card == probe_card()
    assert list(first) == list(card) == list(FAMILIES)


@pytest.mark.parametrize("family", FAMILIES)
def test_family_computes_without_raising(family):
    """Every family gives results that can be fingerprinted, finite ones but for NaN."""
    with np.errstate(all="ignore"):
        results = list(FAMILIES[family]())
    assert results
    for result in results:
        if isinstance(result, str):
            continue
        fingerprint_array(family, result)
        assert isinstance(result, np.ndarray)
        assert 0 < result.nbytes <= 200_000
        if family != "nan-bits" and result.dtype.kind in "fc":
            assert np.isfinite(result).all()


def test_families_are_explained():
    """Comparison knows every family of the card, in the same order."""
    assert list(EXPLAINED) == list(FAMILIES)
    assert len(FAMILIES) >= 30


def test_card_disturbs_nothing_of_the_experiment():
    """Generators and what NumPy does on errors are as they were."""
    random.seed(7)
    np.random.seed(7)  # noqa: NPY002 - the state that must not move
    before = random.getstate(), str(np.random.get_state())  # noqa: NPY002
    with np.errstate(all="raise"):
        first = probe_card()
        assert set(np.geterr().values()) == {"raise"}
    after = random.getstate(), str(np.random.get_state())  # noqa: NPY002
    assert before == after
    assert first == probe_card()


def test_family_that_raises_has_a_digest_of_its_own(monkeypatch, card):
    """An import that broke part of NumPy changes that family alone and ends nothing."""

    def refuse(*args: object, **options: object) -> None:
        raise RuntimeError("canary")

    monkeypatch.setattr(np.linalg, "solve", refuse)
    changed = changed_families(card, probe_card())
    assert changed is not None
    assert list(changed) == ["linear-algebra"]
    monkeypatch.setattr(np.linalg, "solve", None)
    assert probe_card()["linear-algebra"] != changed["linear-algebra"]


def test_digest_depends_on_name_order_and_kind(monkeypatch):
    """Two families with one result have two digests, and text is no array."""
    one, two = np.array([1.0]), np.array([2.0])
    families = {
        "a": lambda: [one, two],
        "b": lambda: [two, one],
        "c": lambda: [one, two],
        "d": lambda: ["1.0"],
        "e": list,
    }
    monkeypatch.setattr(module, "FAMILIES", families)
    assert len(set(probe_card().values())) == 5


def test_changed_families_at_the_end():
    """Null where the cards are equal, else what the end gave; a family from nowhere is a change."""
    assert changed_families({"exp": "a"}, {"exp": "a"}) is None
    assert changed_families({"exp": "a", "log": "b"}, {"exp": "c", "log": "b"}) == {"exp": "c"}
    assert changed_families({}, {"exp": "c"}) == {"exp": "c"}
