"""Cases that the packed checker accepts and ``check`` refuses.

It says of itself what it does not look at; that is the first list. The second is what it should see
and does not yet.
"""

from __future__ import annotations

_RESULTS = """
    history/metric-moved log-head/constants-more results/identical results/not-identical
    results/no-divergence results/divergence-step results/divergence-stage
    results/divergence-kind results/held results/expected results/printed results/stages
    results/components results/kept results/final-metric results/final-state
    results/config-equal results/last-step results/float-for-integer results/left-out
    results/more results/order results/twice results/chain results/reference-step
    results/reference-state results/reference-finish results/reference-metric
"""
"""Whether results follow from the logs."""

_PLAN = """
    bomb/json-text history/metric-gone history/printed history/printed-more
    history/printed-control history/stage-more history/stage-order history/stages-forgotten
    history/state-forgotten history/declares-again history/declares-later log-head/config
    log-head/stages-more log-head/stages-less log-head/stages-of-themselves
    log-head/resumed-stages notebook/executed notebook/no-notebook notebook/list
    notebook/format-3 notebook/cells notebook/depth plan/config plan/config-comparison
    plan/config-mark plan/config-array plan/config-key plan/reset-fresh plan/expectation
    plan/name-twice plan/name-reference plan/keep-none plan/keep-more plan/print-none
    plan/keep-twice plan/reset-twice
    plan/print-other plan/print-wide plan/checkpoints-more plan/checkpoints-less
    plan/stages-less plan/state-less stored/twin-stores stored/checkpoint-dropped
    stored/kept-dropped stored/kept-no-array history/declares-order history/declares-ghost
    history/declares-escape
"""
"""Whether the logs and stored files are all that the plan asks for, and in its words."""

_ROLES = """
    place/top-level place/sitecustomize place/path-file place/bytecode place/folder-of-nothing
    manifest-files/checker-replaced manifest-files/checker-line manifest-files/checker-empty
    manifest-files/schema-replaced manifest-row/role manifest-row/role-source
    manifest-row/role-unknown manifest-row/media-type manifest-row/media-type-control
    manifest-row/location manifest-row/location-file manifest-files/page-replaced
    manifest-files/page-byte manifest-files/page-script manifest-files/page-no-version
    manifest-files/page-empty
"""
"""Places, roles and media types, whether checker and schemas are released ones, and the page."""

_SCHEMAS = """
    bomb/names-long json/fraction json/true-for-one json/text-for-number json/null-for-number
    json/list-for-number spelling/default-left-out document/results-member
    document/results-lacks document/results-schema document/results-are-plan
    document/plan-member document/plan-no-schema document/plan-entry-point
    document/plan-entry-point-newline document/plan-seed-negative document/plan-print-format
    document/plan-print-code document/plan-keep-path document/plan-hash-seed
    document/plan-notebook document/plan-issues document/environment-member
    document/environment-card document/environment-list document/environment-threads
    document/checkpoint-member document/config-schema-array history/step-float
    history/step-true history/finish-empty history/finish-long history/member history/null
    history/metrics-missing history/metric-text history/metric-true history/metric-mark
    history/metric-name history/printed-long history/stage-twice history/stage-digest
    history/stage-name history/state-order history/state-twice history/declares-none
    history/stage-again history/stage-once history/metric-again history/state-dot
    document/environment-twice document/environment-order document/environment-no-change
    log-head/schema log-head/constants-order log-head/stages-twice log-head/member
    log-head/start-member manifest-row/size-text manifest-row/member manifest/version-float
    manifest/schema manifest/member metadata/title-escape metadata/title-c1
    metadata/title-line metadata/title-return metadata/title-backspace metadata/title-reversed
    metadata/title-isolate metadata/title-separator metadata/title-invisible
    metadata/title-mark metadata/title-empty metadata/title-long metadata/title-number
    metadata/title-delete metadata/author-escape metadata/author-link
    metadata/affiliation-line metadata/orcid metadata/orcid-newline metadata/no-author
    metadata/name-path metadata/name-script metadata/name-long metadata/version-blank
    metadata/version-option metadata/license-line metadata/date metadata/date-time
    metadata/date-number metadata/description-escape metadata/member form/imports-pattern
    form/after-entry-point form/after-no-words form/empty-pattern form/empty-word
    form/many-words form/no-time form/no-words form/text-command form/variable-name
    form/variable-value form/zero-word held/reference-escape held/reference-size
"""
"""Schemas: members, types and forms of values in documents, lines and the manifest."""

_NOT_YET = """
    zip-name/variation zip-name/filler zip-name/fullwidth-slash collision/file-and-folder
    collision/folder-case collision/file-and-folder-case collision/folder-of-ours deflate/cut
    deflate/surplus deflate/two-streams bomb/json-depth json/depth json/depth-objects
    document/results-newer document/plan-newer document/environment-newer
    document/checkpoint-newer document/config-schema-twice document/config-schema-depth
    log-head/newer manifest-files/no-checker manifest-files/no-notebook
    manifest-files/no-schema manifest/schema-newer held/reference-path held/same-path
    held/below-source
"""
"""Invisible letters, files that are folders, ends of deflate streams, depth, later versions,
paths of rows that have no file, inputs in the place of source."""

_LOCKS = """
    lock/index lock/option-behind lock/include lock/editable lock/address lock/path lock/marker
    lock/no-digest lock/md5 lock/range lock/comment lock/control lock/windows lock/order lock/twice
    lock/digest-twice lock/cut lock/capitals lock/row-less lock/row-more lock/version
    lock/wheel-other lock/wheel-second lock/wheel-missing lock/wheel-evil lock/wheel-name
    lock/wheel-folder lock/wheel-option lock/no-pylock lock/no-lock lock/pylock-alone
    lock/pylock-digest lock/pylock-path lock/pylock-address lock/pylock-more lock/pylock-python
"""
"""Whether lock, wheels and environment record agree."""

_FORMS = """
    form/imports-outside form/imports-absolute
    form/after-unknown-name form/both form/command-becomes-loop form/command-keeps
    form/command-no-outputs form/command-of-steps form/command-prints form/command-resumes
    form/loop-of-nothing form/neither form/outputs-of-nothing form/unknown-name output/added
    output/added-elsewhere output/added-pickle output/after-has output/after-lacks
    output/cell-spelled output/changed output/differing-spares output/entry-point-has
    output/log-finish output/log-less output/log-made-of output/log-metric output/log-order
    output/log-stage output/none-for-pattern output/not-an-npz output/patterns-many
    output/removed output/twin-stores
"""
"""Whether a plan has one of the three forms, and outputs are those of log and plan."""

_CLAIMS = """
    claim/value claim/value-float claim/text claim/sentence claim/failed claim/not-resumed
    claim/held claim/expected claim/limit claim/evidence claim/evidence-less claim/kind
    claim/left-out claim/added claim/order claim/all-left-out claim/value-list
    claim/held-text claim/more-than-a-thousand claim/plan-code claim/plan-attribute
    claim/plan-private claim/plan-deep claim/plan-parts claim/plan-long claim/plan-newline
    claim/plan-unicode claim/plan-run claim/plan-changed-run claim/plan-stage
    claim/plan-kind claim/plan-states claim/plan-brace claim/plan-rounding claim/plan-id
    claim/plan-id-twice claim/no-value claim/no-divisor
"""
"""Whether claims can be evaluated, and what came of them is what is said."""

_DESCRIPTIONS = """
    crate/digest crate/size crate/author crate/license crate/date crate/file-more crate/file-less
    crate/run-identical crate/time crate/spelling crate/no-json crate/depth crate/list crate/escape
    crate/none crate/stale citation/author citation/source citation/line citation/empty
    citation/binary citation/none orcid/check-digit
"""
"""Whether crate and citation follow from the rest, and check digits."""

NOT_LOOKED_AT = frozenset(
    f"{_FORMS}{_RESULTS}{_PLAN}{_ROLES}{_SCHEMAS}{_LOCKS}{_CLAIMS}{_DESCRIPTIONS}".split()
)
"""Names of cases of which the checker says that it does not look there."""

NOT_YET = frozenset(_NOT_YET.split())
"""Names of cases that it accepts although it should not."""
