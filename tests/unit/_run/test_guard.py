"""The start guard passes on IEEE 754 arithmetic, and finds each way in which a process loses it."""

from __future__ import annotations

import hashlib
import json
import platform
import shutil
import struct
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from repropack._run import guard
from repropack._run.fixed_inputs import WORDS, floats32, floats64, many_words, words
from repropack._run.guard import EXPECTED, check_guard, keeps_subnormals, rounding_of
from repropack.errors import CouldNotRunError

ROOT = Path(__file__).parents[3]
X86 = platform.machine() in {"x86_64", "AMD64"} and sys.platform == "linux"

PROGRAM = """
import ctypes, json, sys
sys.path.insert(0, sys.argv[1])
import numpy
from repropack._run.environment import observe_environment
from repropack._run.guard import check_guard
from repropack._run.probe_card import changed_families, probe_card
from repropack.errors import CouldNotRunError

check_guard()
start = probe_card()
exec(sys.argv[2])
message = ""
try:
    check_guard()
except CouldNotRunError as error:
    message = str(error)
end = probe_card()
floats = observe_environment(end).floats.model_dump(mode="json")
again = changed_families(end, probe_card())
print(json.dumps([message, floats, sorted(changed_families(start, end) or {}), again]))
"""


def after(spoiling: str):
    """What a fresh process says once ``spoiling`` was executed in it: message, floats, families."""
    command = [sys.executable, "-W", "ignore", "-c", PROGRAM, str(ROOT), spoiling]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    message, floats, families, again = json.loads(done.stdout)
    assert again is None
    return message, floats, families


# ---------------------------------------------------------------- what holds here


def test_guard_passes_here():
    """Arithmetic of this process is IEEE 754's."""
    check_guard()
    for kind in (np.float32, np.float64):
        assert keeps_subnormals(kind)
        assert rounding_of(kind) == "nearest-even"


def test_guard_does_not_mind_what_numpy_does_on_errors():
    """An experiment that asked for exceptions on underflow is not ended by the guard."""
    with np.errstate(all="raise"):
        check_guard()
        assert np.geterr()["under"] == "raise"


def from_bits(letter: str, bits: int, digits: int, exponent: int) -> float:
    """The float of the same sign and significand, its exponent raised by three bits of its own."""
    sign = bits >> (8 * struct.calcsize(letter) - 1)
    raised = exponent + (bits >> digits) % 8
    pattern = sign << (8 * struct.calcsize(letter) - 1) | raised << digits | bits % 2**digits
    packed = struct.pack({"f": "<I", "d": "<Q"}[letter], pattern)
    return float(struct.unpack(f"<{letter}", packed)[0])


def test_expected_digests_by_other_means():
    """The stored digests follow from SHA-256 and the standard library's floats, without NumPy."""
    data = b"".join(
        hashlib.sha256(b"repropack.inputs.v1\n%d" % number).digest() for number in range(2048 // 4)
    )
    raw = struct.unpack("<2048Q", data)
    singles = [from_bits("f", word >> 32, 23, 119) for word in raw]
    doubles = [from_bits("d", word, 52, 1015) for word in raw]
    wide = [from_bits("d", raw[1024 + k] >> 12, 52, 864 + raw[k] % 260) for k in range(1024)]
    results = {"float32 cast": ("f", wide)}
    for name, letter, values in (("float32", "f", singles), ("float64", "d", doubles)):
        pairs = list(zip(values[:1024], values[1024:], strict=True))
        results[f"{name} +"] = (letter, [left + right for left, right in pairs])
        results[f"{name} *"] = (letter, [left * right for left, right in pairs])
        results[f"{name} /"] = (letter, [left / right for left, right in pairs])
    computed = {}
    for name, (letter, values) in results.items():
        head = b"repropack.array.v1\n<f%d\n1024\n" % struct.calcsize(letter)
        body = struct.pack(f"<1024{letter}", *values)
        computed[name] = f"sha256:{hashlib.sha256(head + body).hexdigest()}"
    assert computed == dict(EXPECTED)


def test_cast_meets_every_size():
    """The vector that is cast holds results that are zero, subnormal, small and large."""
    cast = guard._results()["float32 cast"]
    smallest_normal = np.finfo(np.float32).smallest_normal
    assert np.isfinite(cast).all()
    assert (cast == 0).any()
    assert ((cast > 0) & (cast < smallest_normal)).sum() > 20
    assert cast.max() > 2.0**90


def test_message_names_what_failed(monkeypatch):
    """One digest that differs gives one clause, with both digests."""
    monkeypatch.setattr(guard, "EXPECTED", {**EXPECTED, "float64 /": "sha256:" + "0" * 64})
    with pytest.raises(CouldNotRunError, match="float64 / of a fixed vector: expected") as caught:
        check_guard()
    assert "float32" not in str(caught.value)
    assert EXPECTED["float64 /"] in str(caught.value)
    assert caught.value.code == "could-not-run"
    assert caught.value.hint
    assert "\n" not in str(caught.value)


# ---------------------------------------------------------------- inputs


def test_inputs_are_words_of_sha256():
    """The first words are those of the first digest, and no input can be written to."""
    first = hashlib.sha256(b"repropack.inputs.v1\n0").digest()
    assert words()[:4].tolist() == list(struct.unpack("<4Q", first))
    assert words().shape == (WORDS,)
    assert many_words()[WORDS] == (int(words()[0]) * 0x9E3779B97F4A7C15) % 2**64
    for array in (words(), many_words(), floats32(), floats64()):
        assert not array.flags.writeable


def test_float_inputs_are_made_of_bits():
    """Floats have the words' signs and significands, and magnitudes from 2**-8 to 1."""
    for word, single, double in zip(words()[:99], floats32()[:99], floats64()[:99], strict=True):
        assert single == from_bits("f", int(word) >> 32, 23, 119)
        assert double == from_bits("d", int(word), 52, 1015)
    both: tuple[Any, ...] = (floats32(), floats64())
    for values in both:
        assert 2.0**-8 <= abs(values).min() < abs(values).max() < 1
        assert (values > 0).any()
        assert (values < 0).any()


# ---------------------------------------------------------------- processes that lost it


def compile_library(folder: Path, source: str, *options: str) -> Path:
    if shutil.which("gcc") is None:
        pytest.skip("there is no gcc to compile a library with")
    (folder / "library.c").write_text(source, encoding="ascii")
    library = folder / "library.so"
    command = ["gcc", "-shared", "-fPIC", *options, "-o", str(library), str(folder / "library.c")]
    subprocess.run(command, check=True)
    return library


FLUSHED = {
    "float32 gradual underflow: expected subnormals kept, observed flushed to zero",
    "float64 gradual underflow: expected subnormals kept, observed flushed to zero",
}


def expect_flushing(library: Path) -> None:
    message, floats, families = after(f"ctypes.CDLL({str(library)!r})")
    clauses = message.removeprefix("floating-point arithmetic of this process: ").split("; ")
    assert set(clauses[:2]) == FLUSHED
    assert clauses[2].startswith("float32 cast of a fixed vector: expected sha256:")
    assert len(clauses) == 3
    assert (floats["subnormals_float32"], floats["subnormals_float64"]) == (False, False)
    assert floats["rounding"] == "nearest-even"
    assert "subnormals" in families
    assert not {"arithmetic-f32", "arithmetic-f64", "integers", "exp"}.intersection(families)


@pytest.mark.skipif(not X86, reason="flush-to-zero is switched by x86's own start-up code")
def test_library_built_with_fast_math(tmp_path):
    """Loading a library that was built with -ffast-math is noticed, by what it does to zero."""
    library = compile_library(tmp_path, "int nothing(void) { return 0; }\n", "-ffast-math")
    version = subprocess.run(
        ["gcc", "-dumpversion"], capture_output=True, text=True, check=True
    ).stdout
    if int(version.split(".")[0]) >= 13:
        pytest.skip("gcc 13 and later leave the mode alone in shared libraries")
    expect_flushing(library)


@pytest.mark.skipif(not X86, reason="flush-to-zero is switched by x86's own register")
def test_library_that_flushes_to_zero(tmp_path):
    """The same from a library whose start-up code sets the bits itself, with any compiler."""
    source = (
        "#include <xmmintrin.h>\n"
        "__attribute__((constructor)) static void flush(void)\n"
        "{ _mm_setcsr(_mm_getcsr() | 0x8040); }\n"
    )
    expect_flushing(compile_library(tmp_path, source))


@pytest.mark.skipif(not X86, reason="the modes' numbers are known here for x86 with glibc")
@pytest.mark.parametrize(
    ("number", "rounding"), [(0x800, "up"), (0x400, "down"), (0xC00, "toward-zero")]
)
def test_changed_rounding_mode(number, rounding):
    """A rounding mode that was left changed is named, and every rounded operation with it."""
    message, floats, families = after(f"ctypes.CDLL('libm.so.6').fesetround({number})")
    for kind in ("float32", "float64"):
        assert f"{kind} rounding: expected nearest-even, observed {rounding}" in message
        assert f"{kind} + of a fixed vector: expected sha256:" in message
    assert "underflow" not in message
    assert floats["rounding"] == rounding
    assert floats["subnormals_float32"]
    assert floats["subnormals_float64"]
    assert {"arithmetic-f32", "arithmetic-f64", "casts", "division"} <= set(families)
    assert not {"integers", "raw-words", "stable-sort"}.intersection(families)


def test_rounding_of_ties_away_from_zero(monkeypatch):
    """Rounding to nearest with another rule for ties is none of the known modes."""
    monkeypatch.setattr(guard, "_moved", lambda start, step: True)
    assert rounding_of(np.float64) == "other"
