"""Every rule that a package can be refused by: a stable id and one sentence.

The ids are public: they stand in reports and errors, and a rule keeps its id. Each sentence says
what a package must be. docs/refusals.md lists them, and a test sees to it that every rule that is
used stands here, and every one that stands here is used.
"""

from __future__ import annotations

from dataclasses import fields
from typing import Final

from repropack._format.limits import Limits

_RULES: Final = {
    # the zip
    "zip.not-a-zip": "The file begins with the local header of an entry.",
    "zip.name-twice": "A zip has one entry of each name.",
    "zip.gap": "Entries stand back to back: where one ends, the next or the directory begins.",
    "zip.cut": "Headers and contents are there to their last byte.",
    "zip.local-header": "A local header is what the writer makes of its entry.",
    "zip.directory-header": "A directory record is what the writer makes of its entry.",
    "zip.version": "The versions in a header are those of the pinned form.",
    "zip.flags": "A header's flags say UTF-8 and nothing else: no encryption, no descriptor.",
    "zip.method": "An entry is stored or deflated.",
    "zip.time": "A header's time and date are those of the pinned form.",
    "zip.sizes": "The sizes in a header are true, the same in both headers, and deflating saved.",
    "zip.name": "A name is UTF-8, and the same in both headers.",
    "zip.extra-field": "A header has no extra field but zip64's, and that only where it is needed.",
    "zip.comment": "Neither an entry nor the zip has a comment.",
    "zip.disk": "A zip lies on one disk.",
    "zip.attributes": "An entry's internal attributes are zero.",
    "zip.mode": "An entry is a plain file of mode 0644 or 0755.",
    "zip.offset": "A directory record points at its entry's local header: no overlap, no gap.",
    "zip.end": "The end records are what the writer makes of the directory.",
    "zip.trailing-bytes": "Nothing stands behind the end record.",
    "zip.changed": "A zip does not change while it is read.",
    "zip.order": "manifest.json is the first entry; the others are sorted by bytes of their path.",
    "zip.checksum": "An entry's content has its CRC-32.",
    "zip.deflate": "A deflated content ends at its stated sizes, both of them.",
    # paths
    "path.length": "A path has at most 1024 bytes in UTF-8, each component 1 to 200.",
    "path.depth": "A path has at most 32 components.",
    "path.absolute": "A path is relative.",
    "path.traversal": "No component of a path is empty, `.` or `..`.",
    "path.ends": "No component begins with a blank, or ends with a blank or a dot.",
    "path.device-name": "No component is the name of a device on Windows.",
    "path.git": "No component is the folder that git keeps.",
    "path.character": "A path has the characters that its folder allows.",
    "path.unicode-form": "A path is in Unicode's form NFC.",
    "path.encoding": "A path can be written as UTF-8.",
    "path.collision": "Paths are unique under case folding, and a folder has one spelling.",
    "path.file-and-folder": "No file is also a folder.",
    # directories
    "directory.kind": "A directory holds regular files and folders: no link, device, fifo, socket.",
    "directory.changed": "A file is, when it is read, what it was when it was listed.",
    # JSON
    "json.encoding": "JSON is UTF-8 without a byte order mark.",
    "json.syntax": "JSON has the syntax of RFC 8259.",
    "json.duplicate-key": "An object has each key once.",
    "json.constant": "NaN and Infinity are not JSON.",
    "json.float": "A number fits a 64-bit float.",
    "json.integer": "A plain integer lies within +-(2^53 - 1) and is not spelled -0.",
    "json.surrogate": "Text holds no lone surrogate.",
    "json.canonical": "A document of the format is canonical JSON with all of its members.",
    "document.schema": "A document fits its JSON Schema.",
    "document.environment": "An environment's lists are sorted; its last card is of what changed.",
    "document.object": "The schema of a configuration is an object.",
    # arrays
    "npz.name": "A member of an npz is called <array name>.npy.",
    "npz.order": "The members of an npz are sorted by name.",
    "npz.member": "A member of an npz is stored, and not executable.",
    "npy.header": "An array's header is what the writer makes of a type and a shape.",
    "npy.shape": "A shape is one that an array can have.",
    "npy.trailing-bytes": "Nothing stands behind the elements of an array.",
    "npy.cut": "The elements of an array are there to the last byte.",
    "npy.bool": "A bool is 0 or 1 in its byte.",
    # states
    "state.name": "A state value has a valid name, once.",
    "state.array": "Each array within a value is named by it, and each that is named is there.",
    "state.value": "A value is in its one encoded form.",
    "state.value-depth": "A value nests at most 48 lists and objects.",
    "checkpoint.array": "A checkpoint's arrays are those that its companion describes.",
    "checkpoint.components": "A checkpoint's components have their fingerprints.",
    "checkpoint.step": "A checkpoint's companion has the step that its name says.",
    "checkpoint.pair": "Each checkpoint is a .json and an .npz.",
    "checkpoint.unlogged": "Each checkpoint belongs to a step of the log.",
    "checkpoint.chain": "A checkpoint's chain is the log's after its step.",
    "checkpoint.state": "A checkpoint's components are those in the log after its step.",
    # logs
    "log.cut": "A log has a header and a start line, and every line ends with a newline.",
    "log.finish": "No line follows the one that says why the run ended.",
    "log.sequence": "Steps follow each other without a gap.",
    "log.chain": "Each line's chain follows from the line before.",
    "log.null": "A member that was not recorded is absent.",
    "log.member": "A line has the members that its schema says.",
    "log.empty": "A list of declarations is not empty.",
    "log.number": "A metric is a number in its one encoded form.",
    "log.name-twice": "Each stage, component and constant is named once in a list.",
    "log.name-order": "Components and constants are sorted by name.",
    "log.component": "A component's name has no dot.",
    "log.repeat": "What a step records again is called name#2, then name#3, in this order.",
    # the manifest
    "manifest.missing": "A package has a manifest.json.",
    "manifest.format": "The manifest names the format replay-package.",
    "manifest.foreign": "The manifest is not that of the other tool called ReproPack.",
    "manifest.order": "The manifest lists each path once, sorted by bytes.",
    "manifest.file-missing": "Every entry that is listed is there.",
    "manifest.unlisted": "Every file that is there is listed.",
    "manifest.required": "The entries that every package has are listed.",
    "manifest.path": "An entry stands where the format has a place for it.",
    "manifest.reference": "An entry held by reference is an input, and says where to get it.",
    "manifest.given": "No source file and input have one path in the folder of a run.",
    "manifest.role": "An entry has the role and the media type of its path.",
    "manifest.mode": "An entry is executable if and only if the manifest says so.",
    "manifest.location": "An entry whose bytes are there names no other place for them.",
    "digest.entry": "An entry has the size and the digest that the manifest lists.",
    "digest.package": "The package has the digest that was asked for.",
    "released.schema": "The schemas of a package's documents are the released ones.",
    "released.checker": "The checker in a package is one that was released.",
    # the plan, runs, results
    "plan.form": "An experiment is an entry point, a command with outputs, or a loop.",
    "plan.config": "A configuration holds encoded values and no array.",
    "plan.name": "Each comparison has a name of its own.",
    "plan.keep": "A plan keeps each stage once.",
    "plan.reset": "Only a resumed run resets components, each once, and only such as exist.",
    "plan.resume-at": "A comparison resumes before the last step.",
    "plan.notebook": "The notebook was executed if and only if the plan says so.",
    "run.missing": "Every run of the plan is there.",
    "run.unplanned": "Every run that is there is one of the plan.",
    "run.name": "A log's header has the name of its run.",
    "run.first-step": "A log begins at the step that the plan says.",
    "run.config": "A log has the digest of the configuration that the plan gives.",
    "run.recording": "A step records what the plan says, no more and no less.",
    "run.printed": "A metric is printed as the plan says.",
    "run.declaration": "A stage is declared once, in order, of earlier stages and the state.",
    "run.steps": "A log has the steps of the plan, unless it says why it ended.",
    "run.stages": "A log's header declares the stages of its first step, or the reference's.",
    "run.resume": "A resumed run starts from a checkpoint of the reference.",
    "run.start": "A resumed run's start has the components that plan and checkpoints give.",
    "run.chain": "A log starts from the chain that it continues.",
    "run.checkpoints": "The checkpoints of a run are those of the plan.",
    "run.outputs": "Stored outputs are those of log and plan, and all that a command's log tells.",
    "run.kept": "The kept arrays of a run are those of the plan.",
    "kept.unplanned": "A kept array is of a stage that the plan keeps.",
    "kept.rows": "A kept array has a row for each recorded step.",
    "kept.row": "A row of a kept array has the fingerprint in the log.",
    "results.comparisons": "The results have an outcome for each comparison, in its order.",
    "results.outcome": "The results are what the logs give.",
    "notebook.form": "A notebook is of format 4.",
    # the lock
    "lock.form": "A lock has one spelling: name==version and sha256 digests, sorted, nothing else.",
    "lock.missing": "Wheels and pylock.toml stand beside requirements.lock, and beside each other.",
    "lock.distributions": "A lock lists what the environment lists, but repropack itself.",
    "lock.wheel": "Packed wheels are one for each locked distribution, with one of its digests.",
    "lock.pylock": "pylock.toml is what the lock, the wheels and the interpreter's version give.",
    # later releases: status 4
    "version.format": "The format version is one that this release reads.",
    "version.document": "A document's schema is of a version that this release reads.",
    "version.role": "No entry has a role reserved for later releases.",
    "version.array": "No array uses a member reserved for later releases.",
    # writing
    "write.changed": "What is packed does not change meanwhile.",
}

RULES: Final[dict[str, str]] = {
    **_RULES,
    **{
        f"limit.{limit.name}": f"At most {limit.default}, unless --limit says otherwise."
        for limit in fields(Limits)
    },
}
"""Every rule by its id, in the order of the families."""
