"""The rule by which each case is refused; docs/refusals.md says what each rule asks for."""

from __future__ import annotations

_CASES = {
    "limit.max_faults": "manifest-files/missing-many",
    "crate.differs": """
        crate/digest crate/size crate/author crate/license crate/date crate/file-more
        crate/file-less crate/run-identical crate/time crate/spelling crate/no-json crate/depth
        crate/list crate/escape crate/stale
    """,
    "citation.differs": """
        citation/author citation/source citation/line citation/empty citation/binary
    """,
    "manifest.orcid": "orcid/check-digit",
    "limit.max_json_containers": "bomb/json-lists",
    "notebook.form": "notebook/list notebook/format-3 notebook/cells",
    "plan.keep": "plan/keep-twice",
    "plan.form": """
        form/both form/neither form/loop-of-nothing form/outputs-of-nothing form/command-of-steps
        form/command-no-outputs form/command-resumes form/command-keeps form/command-prints
        form/unknown-name form/after-unknown-name form/imports-outside form/imports-absolute
    """,
    "manifest.given": "held/same-path held/below-source",
    "manifest.reference": """
        manifest-row/by-reference held/reference-no-place held/reference-source held/reference-log
        held/reference-plan
    """,
    "run.outputs": """
        output/entry-point-has output/after-has output/after-lacks output/changed
        output/cell-spelled output/removed output/added output/added-pickle output/added-elsewhere
        output/none-for-pattern output/patterns-many output/not-an-npz output/twin-stores
        output/differing-spares output/log-stage output/log-order output/log-less
        output/log-made-of output/log-metric output/log-finish form/command-becomes-loop
    """,
    "lock.form": """
        lock/index lock/option-behind lock/include lock/editable lock/address lock/path lock/marker
        lock/no-digest lock/md5 lock/range lock/comment lock/control lock/windows lock/order
        lock/twice lock/digest-twice lock/cut lock/capitals
    """,
    "lock.distributions": "lock/row-less lock/row-more lock/version",
    "lock.wheel": "lock/wheel-other lock/wheel-second lock/wheel-missing lock/wheel-evil",
    "lock.missing": "lock/no-pylock lock/no-lock lock/pylock-alone",
    "lock.pylock": """
        lock/pylock-digest lock/pylock-path lock/pylock-address lock/pylock-more lock/pylock-python
    """,
    "plan.notebook": "notebook/executed",
    "checkpoint.array": """
        npy/type npy/shape npy/elements npz/no-array npz/extension-twice npz/array-more
        npz/array-less npz/swapped stored/checkpoint-fingerprint stored/checkpoint-shape
        stored/checkpoint-shape-huge bomb/arrays
    """,
    "checkpoint.chain": "stored/checkpoint-chain",
    "checkpoint.components": "bomb/values value/unlisted stored/checkpoint-components",
    "checkpoint.pair": "stored/checkpoint-no-arrays stored/checkpoint-no-document",
    "checkpoint.state": """
        history/state-checkpoint log-head/start-state log-head/start-component log-head/not-reset
        stored/checkpoint-array stored/checkpoint-value stored/checkpoint-component
    """,
    "checkpoint.step": "stored/checkpoint-step stored/checkpoint-copied",
    "checkpoint.unlogged": "log/last-line",
    "digest.entry": """
        directory/edited directory/edited-same-size directory/cut directory/emptied
        directory/zeros directory/swapped manifest-files/content manifest-files/rows-swapped
        manifest-row/size-more manifest-row/size-less directory/sparse-document
    """,
    "directory.kind": """
        directory/link-inside directory/link-same-content directory/link-outside
        directory/link-dangling directory/link-itself directory/link-memory directory/link-endless
        directory/link-manifest directory/link-folder directory/link-loop directory/fifo
        directory/fifo-listed directory/fifo-manifest directory/socket directory/device
    """,
    "document.object": "document/config-schema-array",
    "document.schema": """
        bomb/json-escapes bomb/names-long json/float-million json/fraction json/exponent
        json/true-for-one json/text-for-number json/null-for-number json/list-for-number json/list
        json/null json/text document/results-member document/results-lacks document/results-schema
        document/results-are-plan document/plan-member document/plan-lacks document/plan-no-schema
        document/plan-entry-point document/plan-entry-point-newline document/plan-steps-none
        document/plan-steps-many document/plan-seed-negative document/plan-comparison-name
        document/plan-comparison-empty document/plan-print-format document/plan-print-code
        document/plan-keep-path document/plan-hash-seed document/plan-notebook
        document/plan-issues document/environment-member document/environment-card
        document/environment-list document/environment-threads document/checkpoint-member
        document/checkpoint-lacks document/checkpoint-step document/checkpoint-shape
        document/checkpoint-type document/checkpoint-digest manifest-row/path-empty
        manifest-row/path-number manifest-row/path-long manifest-row/size-float
        manifest-row/size-true manifest-row/size-negative manifest-row/size-text
        manifest-row/digest-capitals manifest-row/digest-cut manifest-row/digest-bare
        manifest-row/digest-md5 manifest-row/digest-sha512 manifest-row/digest-newline
        manifest-row/digest-null manifest-row/digest-empty manifest-row/digest-script
        manifest-row/digest-lacks manifest-row/role-unknown manifest-row/media-type-control
        manifest-row/executable-number manifest-row/member manifest-row/list manifest/version-zero
        manifest/version-negative manifest/version-true manifest/version-float
        manifest/version-text manifest/version-none manifest/schema manifest/member
        manifest/no-entries manifest/entries-object manifest/no-package metadata/title-escape
        metadata/title-c1 metadata/title-line metadata/title-return metadata/title-backspace
        metadata/title-reversed metadata/title-isolate metadata/title-separator
        metadata/title-invisible metadata/title-mark metadata/title-empty metadata/title-long
        metadata/title-number metadata/title-delete metadata/author-escape metadata/author-link
        metadata/affiliation-line metadata/orcid metadata/orcid-newline metadata/no-author
        metadata/name-path metadata/name-script metadata/name-long metadata/version-blank
        metadata/version-option metadata/license-line metadata/date metadata/date-time
        metadata/date-number metadata/description-escape metadata/member bomb/json-numbers
        bomb/rows
    """,
    "json.canonical": """
        spelling/pretty spelling/blank spelling/order spelling/no-newline spelling/two-newlines
        spelling/return spelling/escape spelling/slash spelling/not-ascii spelling/float
        spelling/float-digits spelling/default-left-out spelling/results spelling/environment
        spelling/checkpoint log/chain-last log/return log/blank manifest/pretty manifest/order
        manifest/default-left-out
    """,
    "json.constant": """
        json/nan json/infinity json/minus-infinity document/results-nan log/nan manifest/nan
    """,
    "json.duplicate-key": """
        bomb/json-same-keys json/key-twice json/key-twice-escaped json/key-twice-inside
        document/results-key-twice document/environment-key-twice document/checkpoint-key-twice
        document/config-schema-twice log/key-twice manifest/key-twice
    """,
    "json.encoding": """
        json/byte-order-mark log/byte-order-mark manifest/byte-order-mark
        json/utf-16 json/utf-32 json/latin-1 json/overlong json/encoded-surrogate
        json/beyond-unicode log/binary manifest/noise
    """,
    "json.float": "json/overflow",
    "json.integer": """
        json/integer-too-large json/integer-4301 json/integer-million json/minus-zero
    """,
    "json.surrogate": "json/surrogate json/surrogate-key json/surrogates-swapped",
    "json.syntax": """
        bomb/log-newlines bomb/json-quotes bomb/json-backslashes json/leading-zero json/plus
        json/hexadecimal json/utf-16-plain json/control json/nul json/bad-escape
        json/bad-unicode-escape json/trailing-comma json/comment json/single-quotes json/bare-key
        json/cut json/two-documents json/zeros json/all-zeros json/empty json/blank
        json/depth-hidden log/zero-page log/newline log/blank-line log/blank-last log/utf-16
        log/two-in-a-line manifest/empty manifest/cut
    """,
    "kept.row": """
        history/steps-swapped history/stage-less history/stage-kept stored/kept-row
        stored/kept-rows-swapped stored/kept-type bomb/kept-stages
    """,
    "kept.rows": """
        stored/kept-row-more stored/kept-row-less stored/kept-no-row stored/kept-empty
    """,
    "kept.unplanned": "npz/kept-stage plan/keep-none stored/kept-other-name",
    "limit.max_array_rank": "npy/shape-rank",
    "limit.max_deflate_ratio": """
        bomb/ratio bomb/ratio-manifest bomb/ratio-small bomb/size-claim
    """,
    "limit.max_document_bytes": "bomb/document",
    "limit.max_entries": "bomb/entries",
    "limit.max_json_items": "bomb/json-containers json/containers",
    "limit.max_json_depth": """
        bomb/json-depth json/depth json/depth-objects json/depth-million json/depth-open
        document/checkpoint-depth document/config-schema-depth log/deep-line manifest/depth
    """,
    "limit.max_log_line_bytes": """
        bomb/log-line log/long-line log/endless-line history/long-line
    """,
    "limit.max_manifest_bytes": "directory/sparse-manifest",
    "limit.max_name_bytes": "zip-name/long-path",
    "limit.max_npy_header_bytes": "npy/length-limit",
    "log.chain": "log/edited log/chain log-head/start-chain",
    "log.cut": "log/torn log/no-newline log/zeros log/empty log/header-alone log/return-alone",
    "log.empty": "history/declares-none",
    "log.finish": "history/finish-and-on",
    "log.member": """
        history/finish-empty
        log/chain-capitals log/no-header log/no-start log/header-twice log/header-later log/array
        log/null-line history/step-negative history/step-float history/step-true history/step-text
        history/finish-long history/member history/metrics-missing history/metric-text
        history/metric-true history/metric-name history/printed-long history/stage-digest
        history/stage-name log-head/run-path log-head/schema log-head/first-step-zero
        log-head/member log-head/start-chain-form log-head/start-member
    """,
    "log.component": "history/state-dot",
    "log.repeat": "history/stage-again history/stage-once history/metric-again",
    "log.name-order": "history/state-order log-head/constants-order",
    "log.name-twice": "history/stage-twice history/state-twice log-head/stages-twice",
    "log.null": "history/null",
    "log.number": "history/metric-mark",
    "log.sequence": """
        bomb/log-lines log/line log/repeated log/swapped history/step-zero history/step-next
        log-head/first-step log-head/first-step-huge log-head/resumed-first
    """,
    "manifest.file-missing": """
        directory/less directory/folder-for-file manifest-files/missing manifest-files/path-case

    """,
    "manifest.foreign": "foreign/other-tool manifest/other-tool",
    "manifest.format": """
        manifest/format manifest/format-list manifest/format-none manifest/list
    """,
    "manifest.location": "manifest-row/location manifest-row/location-file",
    "manifest.missing": """
        zip-structure/no-entry zip-structure/no-manifest foreign/package-in-zip foreign/npz
        directory/less-manifest directory/less-all directory/manifest-folder bomb/nested
    """,
    "manifest.mode": """
        zip-mode/executable zip-mode/not-executable directory/executable directory/not-executable
        manifest-row/executable
    """,
    "manifest.order": "manifest-row/order manifest-row/twice",
    "manifest.path": """
        place/top-level place/sitecustomize place/path-file place/bytecode place/run-name
        place/run-case place/run-file place/checkpoint-name place/checkpoint-kind
        place/folder-of-nothing place/run-as-file manifest-files/lists-itself lock/wheel-name
        lock/wheel-folder lock/wheel-option
    """,
    "manifest.required": """
        crate/none citation/none
        manifest-files/no-license manifest-files/no-readme manifest-files/no-checker
        manifest-files/no-notebook manifest-files/no-plan manifest-files/no-results
        manifest-files/no-page
        manifest-files/no-environment manifest-files/no-log manifest-files/no-schema
    """,
    "manifest.role": "manifest-row/role manifest-row/role-source manifest-row/media-type",
    "manifest.unlisted": """
        directory/more directory/more-top directory/more-bytecode directory/more-hidden
        directory/more-empty directory/name-option directory/case-files directory/sparse
        manifest-files/unlisted manifest-files/unlisted-path-file
        manifest-files/unlisted-customize manifest-files/unlisted-bytecode
        manifest-files/unlisted-hidden manifest-files/unlisted-checkpoint
        manifest-files/unlisted-run directory/file-for-folder
    """,
    "npy.bool": "npy/bool npy/bool-255",
    "npy.cut": "npy/shape-large npy/short",
    "npy.header": """
        npy/object npy/big-endian npy/native-order npy/fortran npy/long-double npy/unknown-float
        npy/nothing npy/void npy/text npy/bytes npy/date npy/structure npy/aligned npy/upper-case
        npy/version-2 npy/version-3 npy/version-0 npy/magic npy/code npy/code-in-shape
        npy/parentheses npy/minus npy/key-more npy/key-less npy/key-twice npy/key-order npy/quotes
        npy/comment npy/blanks npy/padding npy/padding-tab npy/no-newline npy/two-lines
        npy/length-more npy/length-none npy/shape-negative npy/shape-plus npy/shape-float
        npy/shape-true npy/shape-long npy/shape-hexadecimal npy/shape-octal npy/shape-underscore
        npy/shape-script npy/shape-list npy/shape-number npy/shape-no-comma npy/empty npy/cut
        npz/nested
    """,
    "npy.shape": "npy/shape-wraps npy/shape-huge npy/shape-empty-huge",
    "npy.trailing-bytes": "npy/trailing",
    "npz.member": "npz/deflated npz/executable",
    "npz.name": """
        npz/parent npz/folder npz/no-name npz/no-array-name npz/script-name npz/control-name
        npz/long-name
    """,
    "npz.order": "npz/unsorted",
    "path.absolute": "zip-name/absolute zip-name/double-slash manifest-row/path-absolute",
    "path.character": """
        zip-name/drive zip-name/drive-relative zip-name/stream zip-name/backslash
        zip-name/backslash-share zip-name/nul zip-name/reversed zip-name/isolate
        zip-name/invisible zip-name/joiner zip-name/byte-order-mark zip-name/variation
        zip-name/filler zip-name/private zip-name/unassigned zip-name/tag zip-name/line-separator
        zip-name/no-break-space zip-name/fullwidth-slash zip-name/star zip-name/question
        zip-name/quote zip-name/pipe zip-name/angle zip-name/backtick zip-name/dollar
        zip-name/semicolon zip-name/script-outside zip-name/blank-outside directory/more-backup
        directory/name-escape directory/name-line directory/name-backslash
        manifest-row/path-backslash manifest-row/path-control manifest-row/path-nul
    """,
    "path.collision": """
        collision/case collision/folder-case collision/long-s collision/sharp-s collision/ligature
        collision/greek collision/cherokee collision/readme-case collision/manifest-case
        collision/folder-of-ours directory/case-documents manifest-row/path-case-twice
    """,
    "path.depth": "zip-name/deep-path directory/deep directory/very-deep",
    "path.device-name": """
        zip-name/device zip-name/device-with-extension zip-name/device-port
        zip-name/device-superscript zip-name/device-blank zip-name/device-folder
        zip-name/device-console directory/name-device
    """,
    "path.encoding": "directory/name-bytes",
    "path.ends": "zip-name/blank-first zip-name/blank-last zip-name/dot-last",
    "path.file-and-folder": "collision/file-and-folder collision/file-and-folder-case",
    "path.git": "zip-name/git zip-name/git-case zip-name/git-short directory/more-git",
    "path.length": "zip-name/long-component zip-name/long-component-letters",
    "path.traversal": """
        zip-name/parent zip-name/parent-later zip-name/parent-inside zip-name/parent-last
        zip-name/dot zip-name/dot-inside zip-name/empty-component zip-name/folder-entry
        zip-name/empty-name manifest-row/path-parent
    """,
    "path.unicode-form": "zip-name/decomposed directory/name-decomposed",
    "plan.claim": """
        claim/plan-code claim/plan-attribute claim/plan-private claim/plan-deep claim/plan-parts
        claim/plan-run claim/plan-changed-run claim/plan-stage claim/plan-kind claim/plan-states
        claim/plan-brace claim/plan-id-twice
    """,
    "results.claim": """
        claim/value claim/value-float claim/text claim/sentence claim/failed claim/not-resumed
        claim/held claim/expected claim/limit claim/evidence claim/evidence-less claim/kind
        claim/no-value claim/no-divisor
    """,
    "results.claims": "claim/left-out claim/added claim/order claim/all-left-out",
    "plan.config": "plan/config-array plan/config-key",
    "plan.name": "plan/name-twice plan/name-reference",
    "plan.reset": "plan/reset-ghost plan/reset-fresh plan/reset-twice",
    "plan.resume-at": "plan/resume-late plan/resume-huge",
    "released.checker": """
        manifest-files/checker-replaced manifest-files/checker-line manifest-files/checker-empty
    """,
    "page.content": """
        manifest-files/page-replaced manifest-files/page-byte manifest-files/page-script
    """,
    "page.head": "manifest-files/page-no-version manifest-files/page-empty",
    "released.schema": "manifest-files/schema-replaced",
    "results.comparisons": "results/left-out results/more results/order results/twice",
    "results.outcome": """
        history/metric-moved log-head/constants-more results/identical results/not-identical
        results/no-divergence results/divergence-step results/divergence-stage
        results/divergence-kind results/held results/expected results/printed results/stages
        results/components results/kept results/final-metric results/final-state
        results/config-equal results/last-step results/float-for-integer results/chain
        results/reference-step results/reference-state results/reference-finish
        results/reference-metric plan/expectation
    """,
    "run.chain": "history/begun-elsewhere history/resumed-afresh",
    "run.checkpoints": "plan/checkpoints-more plan/checkpoints-less",
    "run.config": """
        bomb/json-text log-head/config plan/config plan/config-comparison bomb/json-keys
    """,
    "run.declaration": """
        history/stage-more history/stage-order history/declares-again history/declares-later
        history/declares-order history/declares-ghost history/declares-escape
        log-head/stages-less log-head/stages-of-themselves
    """,
    "document.environment": """
        document/environment-twice document/environment-order document/environment-no-change
    """,
    "run.first-step": "history/begins-nowhere plan/resume plan/resume-none stored/runs-swapped",
    "run.kept": "plan/keep-more stored/twin-stores stored/kept-dropped stored/kept-no-array",
    "run.missing": "plan/comparison-more stored/run-less plan/comparisons-many",
    "run.name": "history/another-run log-head/run",
    "run.printed": """
        history/metric-gone history/printed history/printed-more history/printed-control
        plan/print-none plan/print-other plan/print-wide
    """,
    "run.recording": """
        history/stages-forgotten history/state-forgotten plan/stages-less plan/state-less
    """,
    "run.resume": "stored/checkpoint-start",
    "run.stages": "log-head/stages-more log-head/resumed-stages",
    "run.start": "log-head/resumed-state plan/reset-none plan/reset-other",
    "run.steps": """
        history/cut history/cut-comparison plan/steps-less plan/steps-more plan/steps-billion
    """,
    "run.unplanned": "plan/comparison-left-out stored/run-more stored/run-files",
    "state.array": "value/array-of-nothing",
    "state.name": "value/name value/name-control value/name-twice",
    "state.value": """
        value/int-small value/int-plus value/int-zeros value/int-text value/int-script
        value/int-underscore value/float-plain value/float-infinity value/float-bits
        value/float-canonical value/float-capitals value/two-marks value/unknown-mark
        value/mark-beside value/array-of-another plan/config-mark
    """,
    "state.value-depth": "value/depth",
    "version.array": "document/checkpoint-logical-type document/checkpoint-same-as",
    "version.document": """
        document/results-newer document/plan-newer document/environment-newer
        document/checkpoint-newer manifest/schema-newer log-head/newer
    """,
    "version.format": "manifest/version-newer manifest/version-newest",
    "version.role": "manifest-row/role-reserved",
    "zip.attributes": "zip-mode/internal",
    "zip.checksum": "zip-structure/checksum deflate/other-content npz/checksum",
    "zip.comment": """
        zip-structure/comment zip-structure/comment-end-record zip-structure/comment-cut
        zip-feature/entry-comment npz/comment
    """,
    "zip.cut": """
        zip-structure/size-beyond-file zip-structure/zip64-huge zip-structure/cut-half
        zip-structure/cut-directory foreign/local-signature
    """,
    "zip.deflate": """
        deflate/longer deflate/shorter deflate/cut deflate/surplus deflate/two-streams
        deflate/noise deflate/flipped deflate/wrapped deflate/dictionary bomb/size-lie
    """,
    "zip.directory-header": """
        zip-structure/hidden zip-structure/local-name zip-structure/local-checksum
        zip-structure/listed-checksum zip-structure/directory-order npz/hidden
    """,
    "zip.disk": "zip-structure/disk zip-structure/entry-disk",
    "zip.end": """
        zip-structure/listed-twice zip-structure/absent zip-structure/nested zip-structure/overlap
        zip-structure/gap-end zip-structure/count-less zip-structure/count-more
        zip-structure/count-none zip-structure/directory-offset zip-structure/directory-size
        zip-structure/directory-disk zip-structure/zip64-end zip-structure/zip64-locator
        zip-structure/zip64-masked zip-feature/signature-record foreign/end-record bomb/overlap
    """,
    "zip.extra-field": """
        zip-structure/zip64-beside zip-feature/extra-local zip-feature/extra-listed
        zip-feature/extra-owner zip-feature/extra-broken zip-feature/extra-large
        zip-feature/unicode-path npz/extra
    """,
    "zip.flags": """
        zip-name/no-utf-8-flag zip-structure/listed-flags zip-feature/encrypted
        zip-feature/strongly-encrypted zip-feature/masked-headers zip-feature/patched-data
        zip-feature/descriptor zip-feature/reserved-flag
    """,
    "zip.gap": """
        zip-structure/local-size-more zip-structure/local-size-less zip-structure/gap-first
        zip-structure/gap-hidden-file zip-structure/gap-directory zip-structure/zeros
        zip-structure/text-mode zip-feature/decryption-header
    """,
    "zip.method": """
        zip-structure/listed-method zip-feature/method-shrink zip-feature/method-deflate64
        zip-feature/method-bzip2 zip-feature/method-lzma zip-feature/method-zstd
        zip-feature/method-encrypted zip-feature/method-unknown
    """,
    "zip.mode": """
        zip-mode/link zip-mode/folder zip-mode/fifo zip-mode/socket zip-mode/character-device
        zip-mode/block-device zip-mode/set-user zip-mode/set-group zip-mode/sticky
        zip-mode/world-writable zip-mode/unreadable zip-mode/no-kind zip-mode/hidden
        zip-mode/folder-bit zip-mode/none
    """,
    "zip.name": """
        zip-name/not-utf-8 zip-name/overlong zip-name/surrogate zip-name/code-page
        zip-structure/local-name-longer
    """,
    "zip.name-twice": """
        zip-structure/name-twice zip-structure/name-twice-hidden zip-structure/manifest-twice
        npz/twice
    """,
    "zip.not-a-zip": """
        zip-structure/prefix zip-structure/prefix-unknown zip-structure/spanned foreign/empty
        foreign/text foreign/gzip foreign/tar foreign/seven-zip foreign/pointer foreign/array
        foreign/manifest-alone npz/array-alone npz/empty npz/pickle npz/prefix
        foreign/masked-offset
    """,
    "zip.offset": "zip-structure/listed-offset",
    "zip.order": """
        zip-structure/manifest-last zip-structure/unsorted zip-structure/one-folder-down
    """,
    "zip.sizes": """
        zip-structure/listed-size zip-structure/sizes-differ deflate/not-smaller
        deflate/method-stored
    """,
    "zip.time": """
        zip-structure/listed-time zip-feature/time zip-feature/date zip-feature/date-none
    """,
    "zip.trailing-bytes": """
        zip-structure/suffix zip-structure/suffix-newline zip-structure/two-ends
        zip-structure/two-zips zip-structure/comment-unsaid npz/suffix
    """,
    "zip.version": """
        zip-mode/made-by zip-mode/made-by-mac zip-structure/zip64-sizes zip-feature/version-needed
    """,
}

RULES: dict[str, str] = {name: rule for rule, names in _CASES.items() for name in names.split()}
"""By name of the case. One that is missing may be refused by several rules of its code."""
