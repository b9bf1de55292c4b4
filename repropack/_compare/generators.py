"""The forms in which generators are stored in a state, read as positions of streams."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from operator import index
from typing import Any

import numpy as np

from repropack.models.patterns import GeneratorKind

MT_WORDS = 624
"""32-bit words of a Mersenne Twister's block; position 624 is the end of a block."""
_WORD_BITS: dict[GeneratorKind, int] = {"MT19937": 32}
_TORCH_BYTES = 5056
_TORCH = np.dtype(
    [
        ("seed", "<u8"),
        ("left", "<i4"),
        ("seeded", "<i4"),
        ("next", "<u8"),
        ("words", "<u8", (MT_WORDS,)),
        ("former", "V32"),
        ("normal", "<f4"),
        ("has_normal", "|u1"),
        ("padding", "V3"),
    ]
)


@dataclass(frozen=True)
class GeneratorState:
    """One generator: where it is in its stream, and what it holds back.

    Attributes:
        kind: The algorithm.
        numbers: Its own state as unsigned integers: PCG64's state and increment; Philox's counter
            and key, four and two words; SFC64's four words; the 624 words of a Mersenne Twister.
        place: How many numbers of the current block are used up; 0 where there are no blocks.
        held_back: The half of a word, or the normal number, that the next call gives; else
            ``None``.
    """

    kind: GeneratorKind
    numbers: tuple[int, ...]
    place: int = 0
    held_back: object = None

    @property
    def word_bits(self) -> int:
        """How long a raw word is."""
        return _WORD_BITS.get(self.kind, 64)


def read_generator(value: object) -> GeneratorState | None:
    """Read a generator in one of the forms in which they are stored.

    Args:
        value: What ``BitGenerator.state``, ``RandomState.get_state`` or ``random.getstate`` gives,
            tuples as lists; what a loop's component ``random`` holds; what
            ``torch.get_rng_state`` gives, as an array of bytes.

    Returns:
        The generator; ``None`` where it is anything else, or malformed.
    """
    try:
        if isinstance(value, Mapping):
            return _of_mapping(value)
        if isinstance(value, list):
            return _of_list(value)
        return _of_torch(value) if isinstance(value, np.ndarray) else None
    except (KeyError, TypeError, ValueError, OverflowError):
        return None


def _of_mapping(value: Mapping[str, Any]) -> GeneratorState | None:
    if value.keys() >= {"version", "words", "gauss"}:
        return _of_list([value["version"], value["words"], value["gauss"]])
    read = _NUMPY.get(value["bit_generator"]) if "bit_generator" in value else None
    return None if read is None else read(value)


def _of_list(value: list[Any]) -> GeneratorState | None:
    if len(value) == 3 and value[0] in {2, 3}:
        words = _integers(value[1], 32, MT_WORDS + 1)
        return _twister(words[:-1], words[-1], value[2])
    if len(value) == 5 and value[0] == "MT19937":
        words = _integers(value[1], 32, MT_WORDS)
        return _twister(words, index(value[2]), value[4] if value[3] else None)
    return None


def _twister(words: tuple[int, ...], place: int, held_back: object) -> GeneratorState | None:
    if not 0 <= place <= MT_WORDS:
        return None
    return GeneratorState("MT19937", words, place, _comparable(held_back))


def _of_torch(array: np.ndarray[Any, Any]) -> GeneratorState | None:
    if array.dtype != np.uint8 or array.shape != (_TORCH_BYTES,):
        return None
    row = np.frombuffer(array.tobytes(), _TORCH)[0]
    words = _integers(row["words"], 32, MT_WORDS)
    held_back = row["normal"].tobytes() if row["has_normal"] else None
    return _twister(words, MT_WORDS + 1 - int(row["left"]), held_back)


def _of_pcg(value: Mapping[str, Any]) -> GeneratorState | None:
    state = value["state"]
    numbers = _integers([state["state"], state["inc"]], 128, 2)
    if numbers[1] % 2 == 0:
        return None
    return GeneratorState(value["bit_generator"], numbers, 0, _half_word(value))


def _of_philox(value: Mapping[str, Any]) -> GeneratorState | None:
    place = index(value["buffer_pos"])
    if not 0 <= place <= 4:
        return None
    counter = _integers(value["state"]["counter"], 64, 4)
    numbers = (*counter, *_integers(value["state"]["key"], 64, 2))
    return GeneratorState("Philox", numbers, place, _half_word(value))


def _of_sfc(value: Mapping[str, Any]) -> GeneratorState:
    return GeneratorState("SFC64", _integers(value["state"]["state"], 64, 4), 0, _half_word(value))


def _of_random_state(value: Mapping[str, Any]) -> GeneratorState | None:
    state = value["state"]
    held_back = value.get("gauss") if value.get("has_gauss") else None
    return _twister(_integers(state["key"], 32, MT_WORDS), index(state["pos"]), held_back)


_NUMPY: Mapping[str, Callable[[Mapping[str, Any]], GeneratorState | None]] = {
    "PCG64": _of_pcg,
    "PCG64DXSM": _of_pcg,
    "Philox": _of_philox,
    "SFC64": _of_sfc,
    "MT19937": _of_random_state,
}


def _half_word(value: Mapping[str, Any]) -> object:
    """NumPy keeps the upper half of a word for the next call that asks for 32 bits."""
    return index(value["uinteger"]) if value.get("has_uint32") else None


def _comparable(value: object) -> object:
    """A number held back, so that equal ones compare equal, also where they are not numbers."""
    return np.float64(value).tobytes() if isinstance(value, float | np.floating) else value


def _integers(value: Any, bits: int, count: int) -> tuple[int, ...]:
    numbers = tuple(index(item) for item in value)
    if len(numbers) != count or not all(0 <= number < 2**bits for number in numbers):
        raise ValueError(f"expected {count} unsigned integers of {bits} bits")
    return numbers
