"""T1 and T4: names that leave the folder, that no system may hold, or that meet another name."""

# ruff: noqa: E501 - one line a lie

from __future__ import annotations

import unicodedata

from tests.hostile.corpus.bases import Base
from tests.hostile.corpus.case import (
    BOTH,
    FORMAT,
    INTEGRITY,
    LIMIT,
    UNSAFE,
    Case,
    Write,
    lie,
    raw,
    rows,
    told,
)
from tests.hostile.corpus.raw_zip import Raw, RawZip, unpinned
from tests.support.hostile import Forgery


def added(*names: str) -> Write:
    """Entries of these names, listed in the manifest with right digests."""

    def tell(base: Base, forgery: Forgery) -> None:
        for name in names:
            forgery.files[name] = b"x = 1\n"

    return told(tell)


def bytes_added(name: bytes, flags: int = 0x0800) -> Write:
    """An entry whose name is no text, in the zip alone: no manifest can list it."""

    def make(base: Base) -> bytes:
        zipped = unpinned(base)
        one = Raw(name, b"x = 1\n")
        one.both(flags=flags)
        zipped.members.append(one)
        return zipped.pack()

    return raw(make)


DEEP = "source/" + "/".join("d" * 32) + "/x.py"
DECOMPOSED = "source/" + unicodedata.normalize("NFD", "é") + ".py"

NAMES = rows(
    "T1",
    "zip-name",
    lie("parent", "An entry lies beside the folder.", added("../evil.py"), UNSAFE, "'..'"),
    lie("parent-later", "An entry climbs out from below a folder.", added("source/../../evil.py"), UNSAFE, "'..'"),
    lie("parent-inside", "A path goes up and stays inside.", added("source/../evil.py"), UNSAFE, "'..'"),
    lie("parent-last", "A path ends by going up.", added("source/a/.."), UNSAFE, "'..'"),
    lie("absolute", "A path begins at the root of the file system.", added("/etc/cron.d/evil"), UNSAFE, "relative path"),
    lie("double-slash", "A path is the share of another machine.", added("//server/share/x"), UNSAFE, "relative path"),
    lie("drive", "A path names a drive.", added("C:/evil.py"), UNSAFE, "U+003A"),
    lie("drive-relative", "A path is relative to a drive.", added("C:evil.py"), UNSAFE, "U+003A"),
    lie("stream", "A name has a second stream on NTFS.", added("source/a.py:hidden"), UNSAFE, "U+003A"),
    lie("backslash", "A backslash separates folders on one system.", added("source\\..\\..\\evil.py"), UNSAFE, "U+005C"),
    lie("backslash-share", "Backslashes name a share.", added("\\\\server\\share\\x"), UNSAFE, "U+005C"),
    lie("nul", "A name ends earlier for programs in C.", added("source/a.py\0.txt"), UNSAFE, "U+0000"),
    lie("dot", "A path begins in its own folder.", added("./evil.py"), UNSAFE, "'.'"),
    lie("dot-inside", "A path has a component that is no name.", added("source/./a.py"), UNSAFE, "'.'"),
    lie("empty-component", "Two slashes follow each other.", added("source//a.py"), UNSAFE, "''"),
    lie("folder-entry", "An entry is a folder.", added("source/folder/"), UNSAFE, "''"),
    lie("empty-name", "An entry has no name.", raw(lambda base: _with(base, Raw(b"", b"x")).pack()), UNSAFE, "''"),
    lie("blank-first", "A name begins with a blank.", added("source/ a.py"), UNSAFE, "no blank at an end"),
    lie("blank-last", "A name ends with a blank.", added("source/a.py "), UNSAFE, "no blank at an end"),
    lie("dot-last", "A name ends with a dot.", added("source/a.py."), UNSAFE, "no final dot"),
    lie("device", "A name is a device of Windows.", added("source/NUL"), UNSAFE, "Windows device name"),
    lie("device-with-extension", "A device's name has an extension.", added("source/con.py"), UNSAFE, "Windows device name"),
    lie("device-port", "A name is a port.", added("source/COM1.txt"), UNSAFE, "Windows device name"),
    lie("device-superscript", "A port's digit is a superscript.", added("source/lpt\u00b9.txt"), UNSAFE, "Windows device name"),
    lie("device-blank", "A blank stands between device and extension.", added("source/aux .txt"), UNSAFE, "Windows device name"),
    lie("device-folder", "A folder is a device.", added("source/prn/a.py"), UNSAFE, "Windows device name"),
    lie("device-console", "A name is the console.", added("source/CONIN$"), UNSAFE, "Windows device name"),
    lie("git", "A file lies in git's own folder.", added("source/.git/config"), UNSAFE, "folder of git's"),
    lie("git-case", "Git's folder is spelled otherwise.", added("source/.GiT/hooks/post-checkout"), UNSAFE, "folder of git's"),
    lie("git-short", "Git's folder has its short name.", added("source/git~1/config"), UNSAFE, "folder of git's"),
    lie("decomposed", "A letter and its accent are two characters.", added(DECOMPOSED), UNSAFE, "NFC"),
    lie("reversed", "A name is drawn backwards.", added("source/a\u202eyp.exe"), UNSAFE, "U+202E"),
    lie("isolate", "A name is drawn in another order.", added("source/a\u2066b.py"), UNSAFE, "U+2066"),
    lie("invisible", "A name has a blank of no width.", added("source/a\u200bb.py"), UNSAFE, "U+200B"),
    lie("joiner", "A name has a joiner that nobody sees.", added("source/a\u200db.py"), UNSAFE, "U+200D"),
    lie("byte-order-mark", "A name begins with a byte order mark.", added("source/\ufeffa.py"), UNSAFE, "U+FEFF"),
    lie("variation", "A name has a variation selector.", added("source/a\ufe0f.py"), UNSAFE, "U+FE0F"),
    lie("filler", "A name has a letter without a shape.", added("source/a\u3164.py"), UNSAFE, "U+3164"),
    lie("private", "A name has a character for private use.", added("source/a\ue000.py"), UNSAFE, "U+E000"),
    lie("unassigned", "A name has a character that does not exist.", added("source/a\u0378.py"), UNSAFE, "U+0378"),
    lie("tag", "A name has invisible tag characters.", added("source/a\U000e0041.py"), UNSAFE, "U+E0041"),
    lie("line-separator", "A name has a line separator.", added("source/a\u2028b.py"), UNSAFE, "U+2028"),
    lie("no-break-space", "A name has a space that is none.", added("source/a\u00a0b.py"), UNSAFE, "U+00A0"),
    lie("fullwidth-slash", "A name has a slash of another width.", added("source/..\uff0fevil.py"), UNSAFE, "U+FF0F"),
    lie("star", "A name is a pattern.", added("source/*.py"), UNSAFE, "U+002A"),
    lie("question", "A name has a question mark.", added("source/a?.py"), UNSAFE, "U+003F"),
    lie("quote", "A name has a quote.", added('source/a".py'), UNSAFE, "U+0022"),
    lie("pipe", "A name has a pipe.", added("source/a|b.py"), UNSAFE, "U+007C"),
    lie("angle", "A name is the beginning of markup.", added("source/<script>.py"), UNSAFE, "U+003C"),
    lie("backtick", "A name runs a command in a shell.", added("source/`id`.py"), UNSAFE, "U+0060"),
    lie("dollar", "A name is a variable of a shell.", added("source/$HOME.py"), UNSAFE, "U+0024"),
    lie("semicolon", "A name ends a command.", added("source/a;b.py"), UNSAFE, "U+003B"),
    lie("script-outside", "A letter beyond ASCII in a name of ours.", added("figures/\u00e9.svg"), UNSAFE, "U+00E9"),
    lie("blank-outside", "A blank in a name of ours.", added("figures/a b.svg"), UNSAFE, "U+0020"),
    lie("long-component", "A component is longer than systems allow.", added("source/" + "a" * 201), UNSAFE, "at most 200 bytes"),
    lie("long-component-letters", "A component is short in letters and long in bytes.", added("source/" + "\u00e9" * 101), UNSAFE, "at most 200 bytes"),
    lie("long-path", "A path is longer than is allowed.", bytes_added(b"source/" + b"/".join([b"a" * 100] * 11)), LIMIT, "max_name_bytes"),
    lie("deep-path", "A path is deeper than is allowed.", added(DEEP), UNSAFE, "depth"),
    lie("not-utf-8", "A name is Latin-1.", bytes_added(b"source/\xe9.py"), FORMAT, "expected UTF-8"),
    lie("overlong", "A slash is spelled in two bytes.", bytes_added(b"source/..\xc0\xaf..\xc0\xafevil"), FORMAT, "expected UTF-8"),
    lie("surrogate", "A name has half a character.", bytes_added(b"source/\xed\xa0\x80.py"), FORMAT, "expected UTF-8"),
    lie("code-page", "A name is in the code page of an old system.", bytes_added(b"source/\x82.py", 0), FORMAT, "expected UTF-8"),
    lie("no-utf-8-flag", "A plain name does not say its encoding.", bytes_added(b"source/zz.py", 0), FORMAT, "flags"),
)  # fmt: skip


def _with(base: Base, *members: Raw) -> RawZip:
    zipped = unpinned(base)
    zipped.members += members
    return zipped


def other_case(base: Base) -> str:
    """The source under a name that differs from it in case alone."""
    folder, _, name = base.source.partition("/")
    return f"{folder}/{name.capitalize()}"


def case_collision(base: Base, forgery: Forgery) -> None:
    forgery.files[other_case(base)] = b"x = 2\n"


def below_file(base: Base, forgery: Forgery) -> None:
    forgery.files[f"{base.source}/x.py"] = b"x = 2\n"


COLLISIONS = rows(
    "T4",
    "collision",
    lie("case", "Two sources differ in case alone.", told(case_collision), UNSAFE, "unique under case folding", forms=BOTH),
    lie("file-and-folder", "A file is a folder too.", told(below_file), UNSAFE, "observed both"),
    lie("folder-case", "A folder is spelled in two ways.", added("source/Part/a.py", "source/part/b.py"), UNSAFE, "one spelling", forms=BOTH),
    lie("long-s", "Two names differ in an old letter.", added("source/s.py", "source/\u017f.py"), UNSAFE, "unique under case folding", forms=BOTH),
    lie("sharp-s", "One letter folds to two.", added("source/stra\u00dfe.py", "source/strasse.py"), UNSAFE, "unique under case folding", forms=BOTH),
    lie("ligature", "A ligature folds to its letters.", added("source/\ufb01.py", "source/fi.py"), UNSAFE, "unique under case folding"),
    lie("greek", "A final sigma folds to a sigma.", added("source/\u03c3.py", "source/\u03c2.py"), UNSAFE, "unique under case folding"),
    lie("cherokee", "A small letter of a script folds to a large one.", added("source/\u13a0.py", "source/\uab70.py"), UNSAFE, "unique under case folding"),
    lie("readme-case", "A second README in lower case.", added("readme.md"), UNSAFE, "unique under case folding"),
    lie("manifest-case", "A second manifest in another case.", added("Manifest.json"), UNSAFE, "unique under case folding"),
    lie("file-and-folder-case", "A file is a folder in another case.", added("source/a/x.py", "source/A"), UNSAFE, "observed both"),
    lie("folder-of-ours", "A folder of ours in another case.", added("Source/a.py"), UNSAFE, "one spelling"),
)  # fmt: skip

PLACES = rows(
    "T10",
    "place",
    lie("top-level", "A module beside the documents.", added("numpy.py"), INTEGRITY, "path", forms=BOTH),
    lie("sitecustomize", "A module that Python imports by itself.", added("sitecustomize.py"), INTEGRITY, "path"),
    lie("path-file", "A file that adds to the module path.", added("evil.pth"), INTEGRITY, "path"),
    lie("bytecode", "Bytecode beside the checker.", added("__pycache__/__main__.cpython-311.pyc"), INTEGRITY, "path"),
    lie("run-name", "A run whose name no comparison may have.", added("runs/-x/fingerprints.jsonl"), INTEGRITY, "path"),
    lie("run-case", "A run in capitals.", added("runs/Extra/fingerprints.jsonl"), INTEGRITY, "path"),
    lie("run-file", "A file of a run that a run does not have.", added("runs/reference/notes.txt"), INTEGRITY, "path"),
    lie("checkpoint-name", "A checkpoint whose step has too few digits.", added("runs/reference/checkpoints/step-1.npz"), INTEGRITY, "path"),
    lie("checkpoint-kind", "A pickle among the checkpoints.", added("runs/reference/checkpoints/step-000000003.pkl"), INTEGRITY, "path"),
    lie("folder-of-nothing", "An entry in a folder that no package has.", added("hooks/post-install.py"), INTEGRITY, "path"),
    lie("run-as-file", "A run is a file.", added("runs/extra"), INTEGRITY, "path"),
)  # fmt: skip

CASES: tuple[Case, ...] = (*NAMES, *COLLISIONS, *PLACES)
