"""The limits under which hostile files are read, in one value that can be printed and raised.

Stored entries and streamed logs may be of any size, for they cannot expand. A limit never makes
a reader skip or shorten anything: what would exceed it is refused, by the limit's name.
"""

from __future__ import annotations

from dataclasses import dataclass

MEBIBYTE = 1024 * 1024


@dataclass(frozen=True, slots=True)
class Limits:
    """Upper bounds, each inclusive; ``LimitExceededError.limit`` is the attribute's name."""

    max_entries: int = 20_000
    """Entries of one container; in a directory, its files and folders together."""

    max_document_bytes: int = 16 * MEBIBYTE
    """Bytes of a document that is parsed whole (every JSON document but the manifest)."""

    max_manifest_bytes: int = 16 * MEBIBYTE
    """Bytes of ``manifest.json``."""

    max_json_depth: int = 64
    """Nesting depth of objects and arrays in a document or log line."""

    max_json_containers: int = 100_000
    """Objects and arrays in a document: an empty one takes two bytes there and fifty in memory."""

    max_json_items: int = 1_000_000
    """Commas in a document outside its texts: each parts two members or elements."""

    max_log_line_bytes: int = MEBIBYTE
    """Bytes of one line of a fingerprint log, its newline included."""

    max_npy_header_bytes: int = 4096
    """Bytes before the elements of an array in an npz: magic, length and header text."""

    max_array_rank: int = 32
    """Dimensions of an array (NumPy 1 knows no more)."""

    max_deflate_ratio: int = 200
    """Bytes that one deflated byte may become, asked of entries of more than a mebibyte."""

    max_inflated_bytes: int = 8192 * MEBIBYTE
    """Bytes that all deflated entries of a zip together become, and likewise all outputs that are
    looked at by content."""

    max_claim_elements: int = 2_000_000_000
    """Elements of arrays that all claims of a package together read; a line of a log counts as a
    thousand, and so does an array or value that a checkpoint describes."""

    max_faults: int = 1000
    """Faults that are listed; what comes after is not."""

    max_name_bytes: int = 1024
    """Bytes of an entry's whole path in UTF-8."""

    max_path_depth: int = 32
    """Components of an entry's path."""


DEFAULT_LIMITS = Limits()
"""The limits that apply unless a caller states others."""


@dataclass(frozen=True, slots=True)
class RunLimits:
    """What a run may take where its code is not the caller's own; a limit ends it by its name."""

    max_run_seconds: int = 3600
    """Seconds of wall time of one run."""

    max_run_memory_bytes: int = 8 * 1024 * MEBIBYTE
    """Bytes in memory of all processes of a run together, tables of pages included; one may map
    twice as many."""

    max_run_processes: int = 1024
    """Processes of a run, each thread counted: a BLAS starts one for each processor."""

    max_run_scratch_bytes: int = 8 * 1024 * MEBIBYTE
    """Bytes on disk of all files of a run together, and the size of one."""

    max_run_files: int = 100_000
    """Files and folders of a run, and likewise its open descriptors."""

    max_run_depth: int = 128
    """Folders of a run within each other."""

    max_run_output_bytes: int = 64 * 1024
    """Bytes of prints that are kept, the last ones; more is read and forgotten."""


DEFAULT_RUN_LIMITS = RunLimits()
"""The limits on running that apply unless a caller states others."""
