"""Load an entry point and fit a configuration to it. Runs in the worker only."""

from __future__ import annotations

import dataclasses
import difflib
import importlib
import inspect
import typing
from collections.abc import Callable, Mapping
from typing import Any

from pydantic import BaseModel, TypeAdapter, ValidationError

from repropack._format.state import decode_value, encode_value
from repropack.errors import ConfigurationError, ExperimentLoadError

_METHODS = ("step", "state_dict", "load_state_dict")


def load_entry_point(entry_point: str) -> Callable[..., Any]:
    """Import ``module:attribute``.

    Returns:
        The class or function, to be called with ``(config, seed)``.

    Raises:
        ExperimentLoadError: the module cannot be imported, or the attribute is missing or cannot
            be called; the message ends with the cause's last line.
    """
    module_name, _, attribute = entry_point.partition(":")
    try:
        module = importlib.import_module(module_name)
    except (Exception, SystemExit) as error:
        raise ExperimentLoadError(
            f"entry point {entry_point!r}: importing {module_name!r} failed: {last_line(error)}"
        ) from error
    target = getattr(module, attribute, None)
    if not callable(target):
        observed = "nothing of that name" if target is None else type(target).__name__
        raise ExperimentLoadError(
            f"entry point {entry_point!r}: expected a class or function {attribute!r} in "
            f"{module_name!r}, observed {observed}"
        )
    return typing.cast("Callable[..., Any]", target)


def make_experiment(target: Callable[..., Any], config: Any, seed: int, entry_point: str) -> Any:
    """Call ``target(config, seed)`` and check that the result follows the protocol.

    Returns:
        The experiment at its first state.

    Raises:
        ExperimentLoadError: the call raised, or a method of the protocol is missing.
    """
    try:
        experiment = target(config, seed)
    except (Exception, SystemExit) as error:
        raise ExperimentLoadError(
            f"entry point {entry_point!r}: calling it with (config, seed) failed: "
            f"{last_line(error)}"
        ) from error
    missing = [name for name in _METHODS if not callable(getattr(experiment, name, None))]
    if missing:
        raise ExperimentLoadError(
            f"entry point {entry_point!r}: expected an object with {', '.join(_METHODS)}, "
            f"observed {type(experiment).__name__} without {', '.join(missing)}"
        )
    return experiment


class Configuration:
    """A configuration fitted to what the entry point declares.

    Attributes:
        value: What is passed to the entry point: an instance of its annotation, or a mapping.
        encoded: The complete configuration as encoded JSON, defaults filled in.
        schema: JSON Schema of the annotation, or ``None`` for a mapping.
    """

    def __init__(self, target: Callable[..., Any], encoded: Mapping[str, Any]) -> None:
        """Validate ``encoded`` against the annotation of ``target``'s first parameter.

        Raises:
            ConfigurationError: unknown names, or values that do not fit; all of them.
        """
        given = {name: decode_value(name, value) for name, value in encoded.items()}
        kind = _annotation(target)
        if kind is None:
            self.value: Any = given
            self.encoded = dict(encoded)
            self.schema: dict[str, Any] | None = None
            return
        _refuse_unknown(kind, given)
        adapter = TypeAdapter(kind)
        try:
            self.value = adapter.validate_python(given)
        except ValidationError as error:
            raise ConfigurationError(f"configuration: {_problems(error)}") from error
        dumped = adapter.dump_python(self.value, mode="python")
        self.encoded = {name: encode_value(name, value) for name, value in dumped.items()}
        self.schema = adapter.json_schema()


def last_line(error: BaseException) -> str:
    """Type and first line of an exception, as the last line of its traceback would show it."""
    text = str(error).strip().split("\n", 1)[0]
    return f"{type(error).__name__}: {text}" if text else type(error).__name__


def _annotation(target: Callable[..., Any]) -> Any:
    function = target.__init__ if inspect.isclass(target) else target
    names = list(inspect.signature(target).parameters)
    if not names:
        return None
    try:
        kind = typing.get_type_hints(function).get(names[0])
    except Exception:  # noqa: BLE001 - an annotation that cannot be resolved declares nothing
        return None
    is_model = inspect.isclass(kind) and issubclass(kind, BaseModel)
    return kind if is_model or (inspect.isclass(kind) and dataclasses.is_dataclass(kind)) else None


def _refuse_unknown(kind: Any, given: Mapping[str, Any]) -> None:
    if issubclass(kind, BaseModel):
        known = [field.alias or name for name, field in kind.model_fields.items()]
        if kind.model_config.get("extra") == "allow":
            return
    else:
        known = [field.name for field in dataclasses.fields(kind) if field.init]
    problems = []
    for name in sorted(given.keys() - set(known)):
        close = difflib.get_close_matches(name, known, n=1)
        hint = f", did you mean {close[0]!r}" if close else f", expected one of {', '.join(known)}"
        problems.append(f"unknown name {name!r}{hint}")
    if problems:
        raise ConfigurationError(f"configuration: {'; '.join(problems)}")


def _problems(error: ValidationError) -> str:
    return "; ".join(
        f"{'.'.join(map(str, issue['loc'])) or 'configuration'}: {issue['msg']}, "
        f"observed {issue['input']!r:.80}"
        for issue in error.errors(include_url=False)
    )
