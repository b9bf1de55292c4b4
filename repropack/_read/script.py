"""What a script seems to take and to give: its seed's flag, the files that it reads and writes.

A look at the script's syntax, for a proposal that its author corrects. Nothing is imported or
run. Names are followed where a value can be told from the text alone; what cannot be told inside
a path becomes ``*``.
"""

from __future__ import annotations

import ast
import re
import warnings
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from repropack._read.named_files import words_of

UNKNOWN = "*"
_SEED_NAMES = frozenset({"seed", "random-seed", "rng-seed"})
_FORMAT_FIELD = re.compile(r"%[-+ #0-9.]*[a-zA-Z]|\{[^{}]*\}")

_WRITING: Mapping[str, tuple[int, str]] = {
    "save": (0, ".npy"),
    "savez": (0, ".npz"),
    "savez_compressed": (0, ".npz"),
    "savetxt": (0, ""),
    "savefig": (0, ".png"),
    "imsave": (0, ""),
    "imwrite": (0, ""),
    "tofile": (0, ""),
    "to_csv": (0, ""),
    "to_excel": (0, ""),
    "to_feather": (0, ""),
    "to_html": (0, ""),
    "to_json": (0, ""),
    "to_latex": (0, ""),
    "to_netcdf": (0, ""),
    "to_parquet": (0, ""),
}
"""Functions and methods that write: place of the path among the arguments, and the suffix that is
added where the path has none."""
_READING: Mapping[str, int] = {
    "load": 0,
    "loadtxt": 0,
    "genfromtxt": 0,
    "fromfile": 0,
    "imread": 0,
    "open_dataset": 0,
    "read_csv": 0,
    "read_excel": 0,
    "read_feather": 0,
    "read_json": 0,
    "read_parquet": 0,
    "read_table": 0,
}
_NAMED = ("file", "fname", "path_or_buf", "path", "filepath_or_buffer", "filename", "f")
_OPENING_MODULES = frozenset({"gzip", "bz2", "lzma", "io", "codecs"})
_STARTING = frozenset({"system", "popen", "run", "Popen", "call", "check_call", "check_output"})
_WRITING_NAME = re.compile(r"(?:^|_)(?:write|save|dump|export|store)", re.IGNORECASE)
"""What functions of the script's own are called that write."""
_SAME_PLACE = frozenset({"resolve", "absolute", "expanduser", "as_posix", "abspath", "realpath"})


@dataclass(frozen=True)
class ScriptFacts:
    """What can be told of a script by reading it.

    Attributes:
        seed_flag: The option that sets the seed, such as ``--seed``.
        seed: Its default, at least 0; 0 where there is none.
        reads: Relative paths and patterns that it reads, sorted.
        writes: The same of what it writes.
        named: Every text in it that may be the path of a file, less what it writes, sorted.
        absolute: Absolute paths, and those in a home folder, that it names, sorted.
        required: Arguments that it does not run without.
        takes_words: Whether it takes words of ``sys.argv`` by their place.
        attaches: Whether it calls ``repropack.attach``, as a script with a loop of its own does.
        steps: How many steps that loop makes, at least 1; ``None`` where its text does not tell.
        unread: Why it cannot be read as Python, where it cannot.
    """

    seed_flag: str | None = None
    seed: int = 0
    reads: tuple[str, ...] = ()
    writes: tuple[str, ...] = ()
    named: tuple[str, ...] = ()
    absolute: tuple[str, ...] = ()
    required: tuple[str, ...] = ()
    takes_words: bool = False
    attaches: bool = False
    steps: int | None = None
    unread: str | None = None


def read_script(source: bytes, path: str) -> ScriptFacts:
    """Tell what can be told of a Python script.

    Args:
        source: Its bytes.
        path: Its path in the project, for what it makes of ``__file__``.

    Returns:
        The facts; none where the source cannot be parsed.
    """
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = ast.parse(source)
    except SyntaxError as error:
        return ScriptFacts(
            unread=f"line {error.lineno}: {error.msg}" if error.lineno else error.msg
        )
    except (ValueError, RecursionError, MemoryError) as error:
        return ScriptFacts(unread=str(error) or type(error).__name__)
    nodes = sorted(
        (node for node in ast.walk(tree) if isinstance(node, ast.expr | ast.stmt)),
        key=lambda node: (node.lineno, node.col_offset),
    )
    calls = [node for node in nodes if isinstance(node, ast.Call)]
    options = [option for call in calls for option in _options(call)]
    values = _Values(path, {option.name: option.default for option in options})
    values.learn([node for node in nodes if isinstance(node, ast.Assign)])
    reads, writes = set[str](), set[str]()
    for call in calls:
        for found, is_written in values.files_of(call):
            (writes if is_written else reads).add(found)
    relative = [{one for one in paths if one[:1] not in {"/", "~"}} for paths in (reads, writes)]
    seed = next((option for option in options if option.is_seed), None)
    attaches = b"repropack" in source and any(_name_of(call.func) == "attach" for call in calls)
    return ScriptFacts(
        seed_flag=None if seed is None else seed.flag,
        seed=0 if seed is None else seed.number,
        reads=tuple(sorted(relative[0] - relative[1])),
        writes=tuple(sorted(relative[1])),
        named=tuple(sorted(_named(nodes, values, options))),
        absolute=tuple(sorted(one for one in reads | writes if one[:1] in {"/", "~"})),
        required=tuple(option.flag for option in options if option.required),
        takes_words=any(map(_is_word, nodes)),
        attaches=attaches,
        steps=_steps(nodes, options) if attaches else None,
    )


def _steps(nodes: list[ast.expr | ast.stmt], options: list[_Option]) -> int | None:
    """The n of the first ``run.steps(n)``: a number, a name for one, or an option's default."""
    numbers: dict[str, object] = {option.name: option.number for option in options}
    for node in nodes:
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Constant):
            numbers |= {_name_of(target): node.value.value for target in node.targets}
    for node in nodes:
        if isinstance(node, ast.Call) and _name_of(node.func) == "steps" and node.args:
            count = node.args[0]
            number = (
                count.value if isinstance(count, ast.Constant) else numbers.get(_name_of(count))
            )
            return number if type(number) is int and number > 0 else None
    return None


def _is_word(node: ast.expr | ast.stmt) -> bool:
    """Whether it is ``argv[1]`` or the like: not the script's own name, and no slice."""
    if not isinstance(node, ast.Subscript) or not isinstance(node.slice, ast.Constant):
        return False
    return _name_of(node.value) == "argv" and node.slice.value != 0


def _named(nodes: list[ast.expr | ast.stmt], values: _Values, options: list[_Option]) -> set[str]:
    """Texts of the script: constants that are no docstrings, and what paths are joined to."""
    docstrings = {id(node.value) for node in nodes if isinstance(node, ast.Expr)}
    found = set[str]()
    written = {option.default for option in options if option.is_output}
    for node in nodes:
        if isinstance(node, ast.Call) and _WRITING_NAME.search(_name_of(node.func)):
            given = [*node.args, *(one.value for one in node.keywords)]
            written.update(values.ending(one) for one in given)
        if isinstance(node, ast.Call) and _name_of(node.func) in _STARTING and node.args:
            found |= words_of(values.ending(node.args[0]) or "")
        if isinstance(node, ast.Constant | ast.BinOp | ast.JoinedStr | ast.Call):
            ending = values.ending(node)
            if ending is not None and id(node) not in docstrings:
                found.add(ending)
    return {one for one in found if one not in written}


@dataclass(frozen=True)
class _Option:
    """An option of the command line, as argparse and click declare one."""

    flag: str
    name: str
    default: str | None
    number: int
    required: bool

    @property
    def is_seed(self) -> bool:
        plain = self.flag.lstrip("-").replace("_", "-").lower()
        return self.flag.startswith("--") and plain in _SEED_NAMES

    @property
    def is_output(self) -> bool:
        return self.flag == "-o" or self.flag.lstrip("-").lower().startswith(("out", "save"))


def _options(call: ast.Call) -> Iterator[_Option]:
    if not isinstance(call.func, ast.Attribute) or call.func.attr not in {"add_argument", "option"}:
        return
    words = [one.value for one in call.args if isinstance(one, ast.Constant)]
    flags = [word for word in words if isinstance(word, str)]
    if not flags:
        return
    flag = next((word for word in flags if word.startswith("--")), flags[0])
    given = {
        one.arg: one.value.value for one in call.keywords if isinstance(one.value, ast.Constant)
    }
    named = {one.arg for one in call.keywords}
    default, name = given.get("default"), given.get("dest")
    is_number = type(default) is int and default >= 0
    optional = flag.startswith("-") or bool({"default", "nargs"} & named)
    yield _Option(
        flag=flag,
        name=name if isinstance(name, str) else flag.lstrip("-").replace("-", "_"),
        default=default if isinstance(default, str) else None,
        number=default if is_number and isinstance(default, int) else 0,
        required=given.get("required") is True or not optional,
    )


class _Values:
    """Texts that names and expressions stand for, as far as the script's text tells."""

    def __init__(self, path: str, options: Mapping[str, str | None]) -> None:
        self._names: dict[str, str | None] = {"__file__": path}
        self._options = options

    def learn(self, assignments: list[ast.Assign]) -> None:
        """Remember what names are set to; one that is set to several texts is not known."""
        for assignment in assignments:
            for target in assignment.targets:
                if isinstance(target, ast.Name):
                    value = self._text(assignment.value)
                    known = self._names.get(target.id, value)
                    self._names[target.id] = value if value == known else None

    def ending(self, node: ast.expr) -> str | None:
        """The end of a path, behind a folder that is not known; ``None`` where nothing is."""
        try:
            text = self._text(node)
        except RecursionError:  # a sum of very many texts is no path
            return None
        ending = None if text is None else text.removeprefix(f"{UNKNOWN}/")
        return None if not ending or UNKNOWN in ending else ending

    def files_of(self, call: ast.Call) -> Iterator[tuple[str, bool]]:
        """Yield the path that a call reads or writes, and whether it writes."""
        name = _name_of(call.func)
        owner = call.func.value if isinstance(call.func, ast.Attribute) else None
        if name == "open":
            yield from self._opened(call, owner)
        elif name in {"read_text", "read_bytes", "write_text", "write_bytes"} and owner is not None:
            yield from self._told(self._text(owner), is_written=name.startswith("write"))
        elif name == "File":
            yield from self._told(self._argument(call, 0), is_written=_mode(call, 1) != "r")
        elif name == "save" and owner is not None and _name_of(owner) == "torch":
            yield from self._told(self._argument(call, 1), is_written=True)
        elif name in _WRITING and owner is not None:
            place, suffix = _WRITING[name]
            path = self._argument(call, place)
            if path is not None and name == "save" and _name_of(owner) not in {"np", "numpy"}:
                suffix = ""
                path = path if PurePosixPath(path).suffix else None
            if path is not None and not PurePosixPath(path).suffix:
                path += suffix
            yield from self._told(path, is_written=True)
        elif name in _READING and owner is not None:
            yield from self._told(self._argument(call, _READING[name]), is_written=False)

    def _opened(self, call: ast.Call, owner: ast.expr | None) -> Iterator[tuple[str, bool]]:
        """``open(path, mode)``, also of a module; else a method of a path."""
        is_method = owner is not None and _name_of(owner) not in _OPENING_MODULES | {"Image"}
        path = self._text(owner) if is_method and owner is not None else self._argument(call, 0)
        mode = _mode(call, 0 if is_method else 1)
        yield from self._told(path, is_written=bool(set(mode) & set("wax+")))

    @staticmethod
    def _told(path: str | None, *, is_written: bool) -> Iterator[tuple[str, bool]]:
        if path is None or not path.strip(f"{UNKNOWN}/."):
            return
        plain = str(PurePosixPath(re.sub(r"\*+", UNKNOWN, path)))
        if ".." not in PurePosixPath(plain).parts:
            yield plain, is_written

    def _argument(self, call: ast.Call, place: int) -> str | None:
        for keyword in call.keywords:
            if keyword.arg in _NAMED:
                return self._text(keyword.value)
        return self._text(call.args[place]) if len(call.args) > place else None

    def _text(self, node: ast.expr) -> str | None:
        """The text that an expression stands for; ``None`` where nothing of it can be told."""
        match node:
            case ast.Constant(value=str(text)):
                return text
            case ast.Name(id=name):
                return self._names.get(name)
            case ast.JoinedStr(values=parts):
                return "".join(map(self._part, parts))
            case ast.FormattedValue(value=value):
                return self._text(value)
            case ast.BinOp():
                return self._of_operator(node)
            case ast.Attribute(value=value, attr="parent"):
                return _folder(self._text(value))
            case ast.Attribute(attr=name) if name in self._options:
                return self._options[name]
            case ast.Call():
                return self._of_call(node)
        return None

    def _of_operator(self, node: ast.BinOp) -> str | None:
        if isinstance(node.op, ast.Div):
            return self._joined([node.left, node.right])
        left, right = self._text(node.left), self._text(node.right)
        if isinstance(node.op, ast.Mod):
            return _without_fields(left)
        if not isinstance(node.op, ast.Add) or left is right is None:
            return None
        return (left or UNKNOWN) + (right or UNKNOWN)

    def _of_call(self, call: ast.Call) -> str | None:
        name = _name_of(call.func)
        owner = call.func.value if isinstance(call.func, ast.Attribute) else None
        if name in {"Path", "PurePath", "join"}:
            return self._joined(call.args)
        if name in {"str", "fspath"} and call.args:
            return self._text(call.args[0])
        if name == "dirname" and call.args:
            return _folder(self._text(call.args[0]))
        if name in _SAME_PLACE:
            inner = call.args[0] if call.args else owner
            return None if inner is None else self._text(inner)
        if name == "joinpath" and owner is not None:
            return self._joined([owner, *call.args])
        if name == "format" and owner is not None:
            return _without_fields(self._text(owner))
        return None

    def _part(self, node: ast.expr) -> str:
        return self._text(node) or UNKNOWN

    def _joined(self, nodes: list[ast.expr]) -> str | None:
        told = [self._text(node) for node in nodes]
        if not any(told):
            return None
        return str(PurePosixPath(*(UNKNOWN if one is None else one for one in told)))


def _name_of(node: ast.expr) -> str:
    if isinstance(node, ast.Attribute):
        return node.attr
    return node.id if isinstance(node, ast.Name) else ""


def _mode(call: ast.Call, place: int) -> str:
    """The mode of an ``open``; reading where none is given, or none that can be told."""
    node = next((one.value for one in call.keywords if one.arg == "mode"), None)
    if node is None and len(call.args) > place:
        node = call.args[place]
    value = node.value if isinstance(node, ast.Constant) else None
    return value if isinstance(value, str) else "r"


def _without_fields(text: str | None) -> str | None:
    return None if text is None else _FORMAT_FIELD.sub(UNKNOWN, text)


def _folder(text: str | None) -> str | None:
    return None if text is None else str(Path(text).parent)
