"""Files that the code opens by a name written out, against those that a run will see."""

from __future__ import annotations

import ast
import posixpath
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import PurePosixPath

from repropack._lint.code import Call, Module
from repropack._lint.subject import LintedFile, Subject, found
from repropack._read.named_files import TEXT_SUFFIXES, words_of
from repropack.models.lint import LintFinding

_READERS = frozenset(
    {"open", "io.open", "numpy.load", "numpy.loadtxt", "numpy.genfromtxt", "numpy.fromfile"}
    | {"torch.load", "PIL.Image.open", "h5py.File", "scipy.io.loadmat", "xarray.open_dataset"}
    | {"matplotlib.pyplot.imread", "imageio.imread", "imageio.v2.imread", "imageio.v3.imread"}
    | {"joblib.load", "netCDF4.Dataset", "soundfile.read", "safetensors.numpy.load_file"}
    | {"safetensors.torch.load_file", "gzip.open", "bz2.open", "lzma.open", "cv2.imread"}
)
_READER = re.compile(r"(?:pandas|polars)\.read_\w+")
_PATH_READERS = frozenset({".read_text", ".read_bytes"})
_WRITERS = frozenset(
    {"numpy.save", "numpy.savez", "numpy.savez_compressed", "numpy.savetxt"}
    | {"matplotlib.pyplot.savefig"}
)
_METHOD_WRITERS = re.compile(r"\.(?:to_\w+|savefig|save|tofile|write_\w+|imwrite|dump)")
_PATHS = frozenset({"pathlib.Path", "pathlib.PurePath", "os.path.join", "str", "os.fspath"})
_LISTING = (b"glob", b"iterdir", b"listdir", b"scandir", b"os.walk", b"rglob")
_MAX_SEARCHED_BYTES = 32 << 20
_MAX_PATH_DEPTH = 64


@dataclass(frozen=True)
class _Named:
    """A path written out; ``whole`` is false where what stands before it is not known."""

    name: str
    whole: bool


def check_opened(subject: Subject, modules: tuple[Module, ...]) -> Iterator[LintFinding]:
    """Yield files that are opened and will not be there.

    Args:
        subject: What is looked at.
        modules: Its parsed source.
    """
    own = [module for module in modules if not module.is_test]
    written = {name for module in own for call in module.calls for name in _written(call, module)}
    for module in own:
        guarded = _guarded(module)
        for call in module.calls:
            named = _read(call, module)
            if named is None or id(call.node) in guarded or _is_elsewhere(named.name):
                continue
            yield from _judge(subject, module, call, named, written)


def _judge(
    subject: Subject, module: Module, call: Call, named: _Named, written: set[str]
) -> Iterator[LintFinding]:
    name = posixpath.normpath(named.name)
    folder = posixpath.dirname(module.file.name)
    places = [name, posixpath.normpath(posixpath.join(folder, name))]
    seen = any(place in subject.names for place in places)
    ends = any(other.endswith(f"/{name}") for other in subject.names)
    if seen or ends or name in written or any(map(subject.is_output, places)):
        return
    where = next((place for place in places if subject.left_out(place)), None)
    if where is not None:
        problem = f"opens {name!r}, which is in the project and not packed"
        yield found("input-missing", module.file.path, problem, call.line)
    elif named.whole:
        problem = f"opens {name!r}, which is neither source, input nor output"
        yield found("input-unknown", module.file.path, problem, call.line)


def check_unused(subject: Subject) -> Iterator[LintFinding]:
    """Yield inputs that neither source, command nor another packed input's text mentions.

    Args:
        subject: What is looked at.
    """
    if not subject.inputs:
        return
    searched = "\n".join(subject.plan_texts()).encode("utf-8", "surrogatepass")
    for file in subject.sources:
        data = file.read() if file.is_text else None
        if data is not None and len(searched) < _MAX_SEARCHED_BYTES:
            searched += b"\n" + data
    lists = any(word in searched for word in _LISTING)
    named = _named_by_inputs(subject)
    for name in subject.inputs:
        path = PurePosixPath(name)
        if named.get(path.name, set()) - {name}:
            continue
        words = {path.name, path.stem, *(path.parts[:-1] if lists else ())}
        if lists and len(path.parts) == 1:
            words.add(path.suffix or path.name)
        if not any(word.encode() in searched for word in words):
            problem = f"no source, no command and no other input mentions {path.name!r}"
            yield found("input-unused", _path_of(name, subject), problem)


def _named_by_inputs(subject: Subject) -> dict[str, set[str]]:
    """Which packed inputs name a file of some name, where their text can be read whole."""
    named: dict[str, set[str]] = {}
    for file in subject.files:
        if file.kind != "input" or not file.packed or file.suffix not in TEXT_SUFFIXES:
            continue
        text = (file.read() or b"").decode("utf-8", "replace")
        for word in words_of(text):
            named.setdefault(word.rpartition("/")[2], set()).add(file.name)
    return named


def _path_of(name: str, subject: Subject) -> str:
    def same(file: LintedFile) -> bool:
        return file.kind == "input" and file.name == name

    return next((file.path for file in subject.files if same(file)), name)


def _read(call: Call, module: Module) -> _Named | None:
    """The path that a call reads, where that is written out."""
    if call.name in _READERS or _READER.fullmatch(call.name):
        place, mode = call.argument(0), _mode(call, 1)
    elif call.name in _PATH_READERS or (call.name == ".open"):
        place, mode = _receiver(call), _mode(call, 0)
    else:
        return None
    if place is None or set(mode) & set("wax+"):
        return None
    return _literal_path(place, module)


def _written(call: Call, module: Module) -> Iterator[str]:
    """Names of what a call writes, where they are written out."""
    place: ast.expr | None = None
    if call.name in _READERS and set(_mode(call, 1)) & set("wax+"):
        place = call.argument(0)
    elif call.name in {".write_text", ".write_bytes"} or (
        call.name == ".open" and set(_mode(call, 0)) & set("wax+")
    ):
        place = _receiver(call)
    elif call.name == "torch.save":
        place = call.argument(1, "f")
    elif call.name in _WRITERS or _METHOD_WRITERS.fullmatch(call.name):
        place = call.argument(0)
    named = _literal_path(place, module) if place is not None else None
    if named is not None:
        name = posixpath.normpath(named.name)
        yield from (name, f"{name}.npy", f"{name}.npz")


def _mode(call: Call, position: int) -> str:
    given = call.argument(position, "mode")
    return str(given.value) if isinstance(given, ast.Constant) else "r"


def _receiver(call: Call) -> ast.expr | None:
    return call.node.func.value if isinstance(call.node.func, ast.Attribute) else None


def _literal_path(node: ast.expr, module: Module, depth: int = 0) -> _Named | None:
    """A path of literal parts: a text, ``Path("a") / "b"``, ``os.path.join("a", "b")``."""
    if isinstance(node, ast.Constant):
        return _Named(node.value, whole=True) if isinstance(node.value, str) else None
    parts: list[ast.expr] = []
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Div):
        parts = [node.left, node.right]
    elif isinstance(node, ast.Call) and module.names.get(id(node), "") in _PATHS:
        parts = node.args
    if not parts or depth == _MAX_PATH_DEPTH:  # no path is that deep
        return None
    return _joined([_literal_path(part, module, depth + 1) for part in parts])


def _joined(parts: list[_Named | None]) -> _Named | None:
    """Join parts; those before the last unknown one are unknown too."""
    known: list[str] = []
    whole = True
    for part in parts:
        if part is None:
            known, whole = [], False
        else:
            known.append(part.name)
            whole = whole and part.whole
    return _Named("/".join(known), whole) if known and all(known) else None


def _is_elsewhere(name: str) -> bool:
    """Whether a name is no file of the project: absolute, of a home, an address, or nothing."""
    return not name or name[0] in "/~\\" or ":" in name or any(mark in name for mark in "*?{}$\n")


def _guarded(module: Module) -> set[int]:
    """Calls for which the code is prepared that the file is not there."""
    guarded: set[int] = set()
    for node in module.nodes:
        tried = node.body if isinstance(node, ast.Try) else []
        if isinstance(node, ast.If) and _asks(node.test):
            tried = [*node.body, *node.orelse]
        for statement in tried:
            guarded.update(id(inner) for inner in ast.walk(statement))
    return guarded


def _asks(test: ast.expr) -> bool:
    names = {node.attr for node in ast.walk(test) if isinstance(node, ast.Attribute)}
    return bool(names & {"exists", "is_file", "isfile", "isdir", "is_dir"})
