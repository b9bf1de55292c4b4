"""Load an entry point and fit a configuration to it. Runs in the worker only."""

from __future__ import annotations

import dataclasses
import difflib
import importlib
import inspect
import math
import sys
import tempfile
import typing
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from pydantic import BaseModel, PydanticUserError, TypeAdapter, ValidationError
from pydantic.errors import PydanticUndefinedAnnotation

from repropack._format.canonical import encode_canonical
from repropack._format.state import decode_value, encode_value
from repropack._run.origins import modules_outside
from repropack.errors import ConfigurationError, ExperimentLoadError, PackageFormatError

MAX_LINE_CHARACTERS = 400
_MAX_NAMED = 5
_METHODS = ("step", "state_dict", "load_state_dict")


def load_entry_point(entry_point: str) -> Callable[..., Any]:
    """Import ``module:attribute``.

    Args:
        entry_point: As the plan has it; the module is found like any other.

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
            f"{module_name!r}, observed {observed}",
            hint=_names_meant(attribute, module_name),
        )
    return typing.cast("Callable[..., Any]", target)


def _names_meant(attribute: str, module_name: str) -> str | None:
    """The classes and functions of a module that may have been meant; the like one, if any is."""
    names = [
        name
        for name, value in vars(sys.modules[module_name]).items()
        if (inspect.isclass(value) or inspect.isfunction(value))
        and value.__module__ == module_name
        and not name.startswith("_")
    ]
    close = difflib.get_close_matches(attribute, names, n=1)
    if close:
        return f"did you mean {close[0]!r}?"
    more = " and more" if len(names) > _MAX_NAMED else ""
    return f"{module_name!r} has {', '.join(names[:_MAX_NAMED])}{more}" if names else None


def check_origin(entry_point: str, source: Path) -> None:
    """See to it that what runs is what is packed: the entry point's module lies in the source.

    An installed module, or one of the standard library, may have the same name.

    Args:
        entry_point: One that ``load_entry_point`` imported.
        source: Root of the experiment's source.

    Raises:
        ExperimentLoadError: the module was imported from somewhere else.
    """
    module_name = entry_point.partition(":")[0]
    file = getattr(sys.modules[module_name], "__file__", None)
    if file is None or not Path(file).resolve().is_relative_to(source.resolve()):
        raise ExperimentLoadError(
            f"entry point {entry_point!r}: expected module {module_name!r} in the experiment's "
            "source, observed one of that name elsewhere",
            hint="list the module's files under source, relative to the folder it is imported from",
        )


def check_modules(source: Path, known: frozenset[str]) -> None:
    """See to it that every module that was imported is packed or installed.

    Modules that the run itself made, in its working or temporary folder, are its own.

    Args:
        source: Root of the experiment's source.
        known: Names of the modules that were there before the experiment.

    Raises:
        ExperimentLoadError: a module is from somewhere else; all of them are named.
    """
    found = modules_outside(source, (Path.cwd(), Path(tempfile.gettempdir())), known)
    if found:
        named = [f"{name} ({'/'.join(Path(file).parts[-2:])})" for name, file in found.items()]
        more = f" and {len(named) - _MAX_NAMED} more" if len(named) > _MAX_NAMED else ""
        raise ExperimentLoadError(
            "expected every imported module packed or installed, observed from elsewhere: "
            f"{', '.join(named[:_MAX_NAMED])}{more}",
            hint="pack its file with source, or install its distribution without -e",
        )


def make_experiment(target: Callable[..., Any], config: Any, seed: int, entry_point: str) -> Any:
    """Call ``target(config, seed)`` and check that the result follows the protocol.

    Args:
        target: What ``load_entry_point`` returned.
        config: Value of a ``Configuration`` for it.
        seed: The plan's seed, at least 0.
        entry_point: Its name, for error messages.

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

    What is recorded can be given again: fitting ``encoded`` a second time changes nothing.

    Attributes:
        value: What is passed to the entry point: an instance of its annotation, or a mapping.
        encoded: The complete configuration as encoded JSON, defaults filled in.
        schema: JSON Schema of the annotation, or ``None`` for a mapping.
    """

    def __init__(self, target: Callable[..., Any], encoded: Mapping[str, Any]) -> None:
        """Validate ``encoded`` against the annotation of ``target``'s first parameter.

        Args:
            target: The entry point. An annotation that is no dataclass and no pydantic model, or
                that cannot be resolved, declares nothing.
            encoded: Encoded JSON values by name, defaults left out or not.

        Raises:
            ConfigurationError: unknown names, or values that do not fit, all of them; or an
                annotation whose instances cannot be written as JSON and read back.
            StateError: a value that cannot be stored.
        """
        given = _decoded(encoded)
        kind = _annotation(target)
        self.value: Any = given
        self.encoded: dict[str, Any] = dict(encoded)
        self.schema: dict[str, Any] | None = None
        if kind is None:
            return
        known = _known_names(kind)
        if known is not None:
            _refuse_unknown(known, given)
        try:
            adapter = TypeAdapter(kind)
            self.schema = _encode_schema(adapter.json_schema())
        except (PydanticUserError, PydanticUndefinedAnnotation) as error:
            raise ConfigurationError(
                f"configuration: {kind.__name__} cannot be validated: {last_line(error)}"
            ) from error
        self.value = _validated(adapter, given)
        self.encoded = _encoded(adapter, self.value, known)
        again = _encoded(adapter, _validated(adapter, _decoded(self.encoded)), known)
        lost = sorted(given.keys() - self.encoded.keys())
        if encode_canonical(again) != encode_canonical(self.encoded) or lost:
            names = lost or [
                name
                for name in self.encoded
                if encode_canonical(again.get(name)) != encode_canonical(self.encoded[name])
            ]
            raise ConfigurationError(
                f"configuration: expected {kind.__name__} to read back what it writes, observed "
                f"another value of {', '.join(names)}"
            )


def last_line(error: BaseException) -> str:
    """Type and first line of an exception, as the last line of its traceback would show it."""
    try:
        lines = str(error).strip().splitlines()
    except Exception:  # noqa: BLE001 - an exception of the experiment that cannot be shown
        lines = []
    return one_line(f"{type(error).__name__}: {lines[0]}" if lines else type(error).__name__)


def one_line(text: str) -> str:
    r"""Escape what is not printable in ``text``, and cut it to 400 characters.

    Returns:
        One line.

    Example:
        >>> one_line("a\nb")
        'a\\nb'
    """
    shown = "".join(
        character if character.isprintable() else character.encode("unicode_escape").decode()
        for character in text[: MAX_LINE_CHARACTERS + 1]
    )
    if len(shown) <= MAX_LINE_CHARACTERS:
        return shown
    return shown[: MAX_LINE_CHARACTERS - 3] + "..."


def _annotation(target: Callable[..., Any]) -> Any:
    function = target.__init__ if inspect.isclass(target) else target
    try:
        names = list(inspect.signature(target).parameters)
        kind = typing.get_type_hints(function).get(names[0]) if names else None
    except Exception:  # noqa: BLE001 - an annotation that cannot be resolved declares nothing
        return None
    is_model = inspect.isclass(kind) and issubclass(kind, BaseModel)
    return kind if is_model or (inspect.isclass(kind) and dataclasses.is_dataclass(kind)) else None


def _known_names(kind: Any) -> tuple[str, ...] | None:
    """Names that a configuration may have; ``None`` where the annotation takes any."""
    if not issubclass(kind, BaseModel):
        return tuple(field.name for field in dataclasses.fields(kind) if field.init)
    if kind.model_config.get("extra") == "allow":
        return None
    return tuple(field.alias or name for name, field in kind.model_fields.items())


def _refuse_unknown(known: tuple[str, ...], given: Mapping[str, Any]) -> None:
    problems = []
    for name in sorted(given.keys() - set(known)):
        close = difflib.get_close_matches(name, known, n=1)
        hint = f", did you mean {close[0]!r}" if close else f", expected one of {', '.join(known)}"
        problems.append(f"unknown name {name!r}{hint}")
    if problems:
        raise ConfigurationError(f"configuration: {'; '.join(problems)}")


def _decoded(encoded: Mapping[str, Any]) -> dict[str, Any]:
    try:
        return {name: decode_value(name, value) for name, value in encoded.items()}
    except PackageFormatError as error:
        raise ConfigurationError(f"configuration: {error}") from error


def _validated(adapter: TypeAdapter[Any], given: Mapping[str, Any]) -> Any:
    try:
        return adapter.validate_python(given)
    except ValidationError as error:
        raise ConfigurationError(f"configuration: {_problems(error)}") from error
    except (Exception, SystemExit) as error:
        raise ConfigurationError(
            f"configuration: validating it raised {last_line(error)}"
        ) from error


def _encoded(
    adapter: TypeAdapter[Any], value: Any, known: tuple[str, ...] | None
) -> dict[str, Any]:
    """A validated configuration as encoded JSON under the names that validation takes."""
    for name, member in adapter.dump_python(value, mode="python", by_alias=True).items():
        if _holds_set(member):
            raise ConfigurationError(
                f"configuration: {name}: expected a value with an order, observed a set"
            )
    dumped = adapter.dump_python(value, mode="json", by_alias=True)
    return {
        name: encode_value(name, member)
        for name, member in dumped.items()
        if known is None or name in known
    }


def _holds_set(value: Any) -> bool:
    if isinstance(value, Mapping):
        return any(map(_holds_set, value.values()))
    if isinstance(value, list | tuple):
        return any(map(_holds_set, value))
    return isinstance(value, set | frozenset)


def _encode_schema(schema: Any) -> Any:
    """A JSON Schema without NaN and infinities, which stand there as they do in a state."""
    if isinstance(schema, dict):
        return {name: _encode_schema(member) for name, member in schema.items()}
    if isinstance(schema, list):
        return [_encode_schema(member) for member in schema]
    if isinstance(schema, float) and not math.isfinite(schema):
        return encode_value("default", schema)
    return schema


def _problems(error: ValidationError) -> str:
    return one_line("; ".join(map(_problem, error.errors(include_url=False))))


def _problem(issue: Any) -> str:
    """One issue; a rule of the whole configuration says itself what it observed."""
    place = ".".join(map(str, issue["loc"]))
    if not place:
        return str(issue["msg"])
    return f"{place}: {issue['msg']}, observed {issue['input']!r:.80}"
