"""The scripts of the page, value by value, against Python: the browser is their only engine."""

from __future__ import annotations

import hashlib
import io
import math
import struct
import sys
import zlib
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from playwright.sync_api import Page

from repropack._format.canonical import decode_strict, encode_canonical
from repropack._format.fingerprints import fingerprint_array
from repropack._format.npz import write_npz
from repropack._present.page_assets import SCRIPTS, page_script, page_style
from repropack.errors import LimitExceededError, PackageFormatError
from repropack.lab import SHIPPED_SOURCES
from tests import strategies
from tests.strategies import STORABLE_TYPES
from tests.support.in_browser import in_base64

pytestmark = pytest.mark.slow

ASSETS = Path(sys.modules[page_script.__module__].__file__ or "").parent
FEW = settings(max_examples=5, deadline=None)
BYTES = "const bytes = (text) => Uint8Array.from(atob(text), (one) => one.charCodeAt(0));"


def test_scripts_stand_alone_and_in_order() -> None:
    """Strict, below 400 lines each, all of them in the page, with nothing that ends an element."""
    own = [name for name in SCRIPTS if name != "page.js"]
    assert sorted(path.name for path in ASSETS.glob("*.js")) == sorted(SCRIPTS)
    for name in own:
        text = (ASSETS / name).read_text("utf-8")
        assert len(text.splitlines()) < 400, name
        assert text.count('"use strict";') == 1, name
        assert text.endswith("})((globalThis.repropack ??= {}));\n"), name
        for word in ("innerHTML", "eval(", "new Function", "fetch(", "XMLHttpRequest", "import("):
            assert word not in text, (name, word)
    for word in ("</script", "<!--", "\r"):
        assert word not in page_script().lower()
    assert "url(" not in page_style()


def test_sha256(tool: Page) -> None:
    """Every length around a block, in one piece and in two, and the vectors of FIPS 180-4."""
    data = bytes(k * 7 % 256 for k in range(300))
    found = tool.evaluate(
        f"""(data) => {{ {BYTES}
        const {{Sha256, digest}} = repropack.bytes;
        const whole = bytes(data);
        return Array.from(whole, (_, length) => [
          digest(whole.subarray(0, length)),
          new Sha256().update(whole.subarray(0, length >> 1))
            .update(whole.subarray(length >> 1, length)).digest(),
        ]); }}""",
        in_base64(data),
    )
    for length, pair in enumerate(found):
        assert pair == ["sha256:" + hashlib.sha256(data[:length]).hexdigest()] * 2, length
    vectors = tool.evaluate(
        """() => ["", "abc", "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
        "a".repeat(1000000)].map((text) => repropack.bytes.digest(text).slice(7))"""
    )
    assert vectors == [
        "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
        "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad",
        "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1",
        "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0",
    ]
    assert tool.evaluate(
        """async () => {
        const data = crypto.getRandomValues(new Uint8Array(65536));
        return await repropack.bytes.digestWhole(data) === repropack.bytes.digest(data); }"""
    )


def test_crc32(tool: Page) -> None:
    """Of every length around eight bytes, and continued."""
    data = bytes(k * 31 % 256 for k in range(40))
    found = tool.evaluate(
        f"""(data) => {{ {BYTES}
        const {{crc32}} = repropack.bytes;
        return Array.from(bytes(data), (_, k) =>
          crc32(bytes(data).subarray(k), crc32(bytes(data).subarray(0, k)))).concat(
          Array.from(bytes(data), (_, k) => crc32(bytes(data).subarray(0, k)))); }}""",
        in_base64(data),
    )
    assert found == [zlib.crc32(data)] * 40 + [zlib.crc32(data[:k]) for k in range(40)]


def test_floats_are_spelled_as_python_spells_them(tool: Page) -> None:
    """At each change of form, at each power of ten, and wherever Hypothesis looks."""
    powers = [
        float(f"{mantissa}e{power}") for power in range(-325, 308) for mantissa in ("1", "9.5")
    ]
    fixed = [0.0, -0.0, 1e-7, 1e-5, 0.0001, 1e15, 1e16, 123456789012345680.0, 0.1 + 0.2, 5e-324]

    @FEW
    @given(st.lists(strategies.finite_floats(), min_size=200, max_size=300))
    def law(drawn: list[float]) -> None:
        assert spelled(drawn) == [repr(value) for value in drawn]

    def spelled(values: list[float]) -> list[str]:
        bits = [str(struct.unpack("<Q", struct.pack("<d", value))[0]) for value in values]
        result: list[str] = tool.evaluate(
            """(all) => all.map((bits) => {
            const view = new DataView(new ArrayBuffer(8));
            view.setBigUint64(0, BigInt(bits));
            return repropack.canonical.spellFloat(view.getFloat64(0)); })""",
            bits,
        )
        return result

    every = [*fixed, *powers, *(-value for value in powers)]
    assert spelled(every) == [repr(value) for value in every]
    law()


def test_canonical_json_is_read_and_written_again(tool: Page) -> None:
    """Any value, to the byte; members are sorted by code point and not by UTF-16."""
    read = f"""(data) => {{ {BYTES}
        const {{parse, canonical}} = repropack.canonical;
        return canonical(parse(bytes(data), {{entry: "a.json"}})); }}"""
    odd = {"\U00010000": 1, "\uffff": 2, "__proto__": 3, "toString": [1.0, 1], "9": 0, "10": -0.0}

    @settings(max_examples=40, deadline=None)
    @given(strategies.json_values())
    def law(value: Any) -> None:
        data = encode_canonical(value)
        assert tool.evaluate(read, in_base64(data)).encode() == data

    assert tool.evaluate(read, in_base64(encode_canonical(odd))).encode() == encode_canonical(odd)
    law()


@pytest.mark.parametrize("canonically", [False, True])
def test_other_json_is_refused_by_the_same_rule(tool: Page, canonically: bool) -> None:
    """As the library refuses it, or as another spelling."""
    texts = [
        b"",
        b"{",
        b"[1,]",
        b'{"a":1,"a":2}',
        b"[NaN]",
        b"[-Infinity]",
        b"[1e999]",
        b"[-0]",
        b"[01]",
        b"[9007199254740992]",
        b"[-9007199254740991]",
        b'"\\ud800"',
        b'"\\ud83d\\ude00"',
        b"\xef\xbb\xbf1",
        b"\xff",
        b'"\x01"',
        b'"\\x"',
        b'"\\u12"',
        b"[1] 2",
        b"nul",
        b"[1 2]",
        b'{"a" 1}',
        b"{1:2}",
        b"[" * 64 + b"]" * 64,
        b"[" * 65 + b"]" * 65,
        b" [ 1 , 2.50 ] ",
        b'{"b":1,"a":2}',
        b"[1.5E3]",
        b"[" + b"[]," * 100_000 + b"1]",
    ]
    found = tool.evaluate(
        f"""([texts, canonically]) => {{ {BYTES}
        return texts.map((text) => {{
          try {{ repropack.canonical.parse(bytes(text), {{entry: "a.json", canonically}}); }}
          catch (fault) {{ return fault.rule ?? String(fault); }}
          return null; }}); }}""",
        [[in_base64(text) for text in texts], canonically],
    )
    for text, rule in zip(texts, found, strict=True):
        assert rule == rule_of_json(text, canonically=canonically), text[:80]


def rule_of_json(data: bytes, *, canonically: bool) -> str | None:
    try:
        value = decode_strict(data, where="a.json")
    except (PackageFormatError, LimitExceededError) as error:
        return error.rule
    other = canonically and encode_canonical(value) != data
    return "json.canonical" if other else None


def test_numbers_are_printed_as_python_prints_them(tool: Page) -> None:
    """Halves to even, as `format` has it; every form that a plan may use."""
    ties = [0.5, 1.5, 2.5, 0.03125, 0.09375, 1e22, 123456.5, 9.9995, 99999.5, 0.00012345, 5e-324]
    special = [0.0, -0.0, math.inf, -math.inf, math.nan, 1e16, 1e-5, 1.7976931348623157e308]
    specs = [
        ".4f",
        ".0f",
        ".1f",
        "+.3e",
        " .2E",
        "8.2f",
        "08.2f",
        ".3g",
        "G",
        "f",
        "-.0e",
        ".12g",
        "12.0g",
    ]

    @FEW
    @given(st.lists(strategies.any_floats(), min_size=50, max_size=80))
    def law(drawn: list[float]) -> None:
        compare(drawn)

    def compare(values: list[float]) -> None:
        found = tool.evaluate(
            """([all, specs]) => all.map((text) => specs.map(
            (spec) => repropack.printed.format(Number(text), spec)))""",
            [
                [repr(value).replace("inf", "Infinity").replace("nan", "NaN") for value in values],
                specs,
            ],
        )
        for value, texts in zip(values, found, strict=True):
            assert texts == [format(value, spec) for spec in specs], value

    compare([*ties, *special, *(-value for value in ties)])
    law()
    assert tool.evaluate("repropack.printed.format(1, 'd')") is None
    assert (
        tool.evaluate("repropack.printed.printMetric({$int: '1' + '0'.repeat(400)}, '.1f')")
        == "inf"
    )


def test_generators_are_numpys(tool: Page) -> None:
    """Words and states of PCG64, seeded by any seed and spawned."""

    def expected(seed: int, child: int) -> list[str]:
        generator = np.random.PCG64(np.random.SeedSequence(seed).spawn(3)[child])
        words = generator.random_raw(20)
        state: Any = generator.state["state"]
        return [*map(str, words.tolist()), str(state["state"]), str(state["inc"])]

    def observed(seeds: list[int]) -> Any:
        return tool.evaluate(
            """(seeds) => seeds.map((seed) => [0, 1, 2].map((child) => {
            const made = repropack.pcg64.Pcg64.spawned(BigInt(seed), child);
            const words = Array.from({length: 20}, () => {
              made.next(); return String((BigInt(made.high) << 32n) | BigInt(made.low)); });
            return [...words, String(made.state), String(made.increment)]; }))""",
            list(map(str, seeds)),
        )

    @FEW
    @given(st.lists(st.integers(0, 2**200), min_size=8, max_size=8))
    def law(seeds: list[int]) -> None:
        assert observed(seeds) == [[expected(seed, child) for child in range(3)] for seed in seeds]

    edges = [0, 1, 7, 2**32 - 1, 2**32, 2**128 - 1, 2**128]
    assert observed(edges) == [[expected(seed, child) for child in range(3)] for seed in edges]
    assert observed([7])[0][2][0] == "11659158256815307285"
    law()


def test_arrays_of_every_type(tool: Page) -> None:
    """Fingerprints of an npz that the library wrote, row by row and whole."""
    arrays: dict[str, Any] = {
        f"a{k}": (np.arange(6).reshape(2, 3) % 2).astype(name)
        for k, name in enumerate(STORABLE_TYPES)
    }
    arrays |= {
        "scalar": np.float32(-0.0),
        "none": np.zeros((2, 0)),
        "large": np.ones((3, 400_000), "|u1"),
    }
    stream = io.BytesIO()
    write_npz(stream, {name: np.asarray(array) for name, array in arrays.items()})
    read = f"""async ([data, rows]) => {{ {BYTES}
        const npz = await repropack.npz.openNpz(new Blob([bytes(data)]), "a.npz");
        const found = {{}};
        for (const name of npz.names) {{
          const array = await npz.array(name);
          const [count] = array.shape;
          if (!rows) found[name] = await array.fingerprint();
          else for (found[name] = []; found[name].length < (count ?? 0);) {{
            found[name].push(await array.fingerprint(array.shape.slice(1)));
          }}
          await array.finish();
        }}
        return found; }}"""
    whole = tool.evaluate(read, [in_base64(stream.getvalue()), False])
    assert whole == {name: fingerprint_array(name, array) for name, array in arrays.items()}
    rows = tool.evaluate(read, [in_base64(stream.getvalue()), True])
    for name, array in arrays.items():
        parts = array if np.ndim(array) else []
        assert rows[name] == [fingerprint_array(name, row) for row in parts], name
    changed = stream.getvalue().replace(b"\x01\x00\x01", b"\x01\x00\x02", 1)
    refused = read.replace("return found;", "return 'read';")
    with pytest.raises(Exception, match=r"checksum|expected bytes of 0 and 1"):
        tool.evaluate(refused, [in_base64(changed), False])


def test_the_lab_is_the_one_that_is_shipped(tool: Page) -> None:
    """What the page replays as the lab is what the library trusts as the lab."""
    sources = tool.evaluate("repropack.lab.SOURCES")
    assert sorted(sources) == sorted(SHIPPED_SOURCES)
    entries = {shipped.entry_point for shipped in SHIPPED_SOURCES.values()}
    assert entries == {tool.evaluate("repropack.lab.ENTRY_POINT")}


def test_limits_are_those_of_the_format(tool: Page) -> None:
    """All of 7.13, by name and value."""
    text = (ASSETS.parents[2] / "docs" / "format.md").read_text("utf-8")
    rows = [line.split("|") for line in text.splitlines() if line.startswith("| `max_")]
    expected = {row[1].strip(" `"): int(row[2].replace(",", "")) for row in rows}
    assert len(expected) == 13
    assert tool.evaluate("repropack.bytes.LIMITS") == expected
