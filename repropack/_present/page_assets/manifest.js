/**
 * The manifest, and the plan, as far as a reader must trust their form before it reads on.
 */
(function (repropack) {
  "use strict";

  const { Fault, CODES, byCodePoint, digest, fromUtf8 } = repropack.bytes;
  const { canonical, checkSpelling, parse } = repropack.canonical;
  const { isLater, isDigest } = repropack.log;
  const { MANIFEST } = repropack.paths;

  const RESERVED_ROLES = new Set(["scope", "claims"]);
  const EVIDENCE = /^(?:source|inputs|runs)\//;
  const RUN = /^[a-z0-9][a-z0-9-]{0,63}$/;

  /**
   * @typedef {object} Row one entry of a manifest (8.4)
   * @property {string} path
   * @property {number} size in bytes
   * @property {string} digest
   * @property {string} role
   * @property {string} media_type
   * @property {boolean} executable
   * @property {boolean} included
   * @property {string|null} location
   *
   * @typedef {object} Manifest
   * @property {Record<string, any>} about what the author says: name, version, title, authors, ...
   * @property {Row[]} rows
   * @property {string} packageDigest (3.3)
   * @property {string} evidenceDigest (3.4)
   * @property {string} sourceDigest (3.5)
   */

  /**
   * Read a manifest; format and version come before anything else (10.4).
   * @param {Uint8Array} data
   * @returns {Manifest}
   */
  function readManifest(data) {
    const limit = "max_manifest_bytes";
    const manifest = parse(data, { entry: MANIFEST, canonically: false, limit });
    const { format, format_version: version } = isObject(manifest) ? manifest : {};
    if (format === "repropack") {
      throw formatFault("manifest.foreign", "format", "replay-package", "another tool's: repropack");
    }
    if (format !== "replay-package") {
      throw formatFault("manifest.format", "format", "replay-package", shown(format));
    }
    if (typeof version === "number" && version > 1) {
      throw new Fault(CODES.NEWER, "version.format", MANIFEST, "format version", 1, version);
    }
    if (version !== 1) throw misfit(MANIFEST, "format_version", "1");
    notLater(manifest, "repropack/manifest/v1", MANIFEST);
    checkSpelling(manifest, fromUtf8(data), { entry: MANIFEST });
    checkForm(manifest);
    const rows = manifest.entries;
    const covered = rows.filter(({ path }) => path === "plan.json" || EVIDENCE.test(path));
    return {
      about: manifest.package,
      rows,
      packageDigest: digest(data),
      evidenceDigest: digest("repropack.evidence.v1\n", canonical(covered)),
      sourceDigest: sourceDigest(rows),
    };
  }

  function sourceDigest(rows) {
    const listed = rows
      .filter(({ path }) => path.startsWith("source/"))
      .map(({ path, digest: one }) => [path.slice("source/".length), one]);
    return digest("repropack.source.v1\n", canonical(listed.sort(([a], [b]) => byCodePoint(a, b))));
  }

  function checkForm({ schema, package: about, entries }) {
    if (schema !== "repropack/manifest/v1") throw misfit(MANIFEST, "schema", "repropack/manifest/v1");
    if (!isObject(about)) throw misfit(MANIFEST, "package", "an object");
    for (const name of ["name", "version", "title", "license"]) {
      if (typeof about[name] !== "string") throw misfit(MANIFEST, `package/${name}`, "a text");
    }
    if (!Array.isArray(entries)) throw misfit(MANIFEST, "entries", "a list");
    let before = null;
    entries.forEach((row, at) => {
      const wrong = isObject(row) ? wrongMember(row) : "an object";
      if (wrong) throw misfit(MANIFEST, `entries/${at}`, wrong);
      if (RESERVED_ROLES.has(row.role)) {
        throw new Fault(CODES.NEWER, "version.role", row.path, "role", "one of 1.3", shown(row.role));
      }
      if (before !== null && byCodePoint(before, row.path) >= 0) {
        throw new Fault(
          CODES.INTEGRITY, "manifest.order", MANIFEST, "entries", "each path once, sorted by bytes",
          `${row.path} behind ${before}`,
        );
      }
      before = row.path;
    });
  }

  function wrongMember(row) {
    const { path, size, digest: one, role, media_type: media, executable, included, location } = row;
    if (Object.keys(row).length !== 8) return "the members of 8.4 and no other";
    if (typeof path !== "string") return "a text as path";
    if (!Number.isSafeInteger(size) || size < 0) return "a whole number of bytes as size";
    if (!isDigest(one)) return "a digest";
    if (typeof role !== "string" || typeof media !== "string") return "texts as role and media_type";
    if (typeof executable !== "boolean" || typeof included !== "boolean") return "true or false";
    return location === null || typeof location === "string" ? "" : "a text or null as location";
  }

  /**
   * Read `plan.json`, as far as runs are looked at by it (8.6, 8.7).
   * @param {any} plan the document's value
   * @returns {any} it, found to have the members that are used
   */
  function checkPlan(plan) {
    const entry = "plan.json";
    const need = (holds, place, expected) => {
      if (!holds) throw misfit(entry, place, expected);
    };
    need(isObject(plan) && isObject(plan.experiment) && isObject(plan.record), "", "a plan (8.6)");
    const { experiment, record, comparisons } = plan;
    need(isStep(experiment.steps) && experiment.steps >= 1, "experiment/steps", "1 to 999999999");
    need(isObject(experiment.config), "experiment/config", "an object");
    for (const name of ["stages_every", "state_every"]) {
      need(isStep(record[name]) && record[name] >= 1, `record/${name}`, "1 or more");
    }
    const every = record.checkpoint_every;
    need(every === null || (isStep(every) && every >= 1), "record/checkpoint_every", "1 or more");
    need(areTexts(record.keep), "record/keep", "a list of stages");
    need(isObject(record.printed), "record/printed", "an object");
    need(Array.isArray(comparisons), "comparisons", "a list");
    const names = new Set(["reference"]);
    comparisons.forEach((one, at) => {
      const place = `comparisons/${at}`;
      need(isObject(one) && typeof one.name === "string" && RUN.test(one.name), place, "a run's name");
      need(areTexts(one.reset) && isObject(one.config), place, "reset and config");
      need(one.resume_at === null || isStep(one.resume_at), `${place}/resume_at`, "a step or null");
      if (names.has(one.name)) {
        throw new Fault(CODES.INTEGRITY, "plan.name", entry, place, "a name of its own", one.name);
      }
      names.add(one.name);
      if (one.resume_at !== null && one.resume_at >= experiment.steps) {
        throw new Fault(
          CODES.INTEGRITY, "plan.resume-at", entry, place, `a step before ${experiment.steps}`,
          one.resume_at,
        );
      }
      if (one.reset.length && one.resume_at === null) {
        throw new Fault(CODES.INTEGRITY, "plan.reset", entry, place, "resume_at beside reset", "none");
      }
    });
    return plan;
  }

  /**
   * The complete configuration of a run, encoded (8.7).
   * @param {any} plan
   * @param {any} comparison null for the reference
   * @returns {Record<string, any>}
   */
  function configOf(plan, comparison) {
    return Object.assign(Object.create(null), plan.experiment.config, comparison?.config);
  }

  /**
   * Refuse a document that names a later version of its schema (9.6), or another schema.
   * @param {any} value
   * @param {string} schema
   * @param {string} entry
   */
  function notLater(value, schema, entry) {
    if (isLater(value?.schema, schema)) {
      throw new Fault(CODES.NEWER, "version.document", entry, "schema", schema, shown(value.schema));
    }
  }

  function misfit(entry, place, expected) {
    return new Fault(CODES.SCHEMA, "document.schema", entry, place, expected, "another form");
  }

  function formatFault(rule, place, expected, observed) {
    return new Fault(CODES.FORMAT, rule, MANIFEST, place, expected, observed);
  }

  function shown(value) {
    return JSON.stringify(value ?? null).slice(0, 80);
  }

  function isObject(value) {
    return value !== null && typeof value === "object" && Object.getPrototypeOf(value) === null;
  }

  function isStep(value) {
    return Number.isInteger(value) && value >= 0 && value <= 999999999;
  }

  function areTexts(value) {
    return Array.isArray(value) && value.every((item) => typeof item === "string");
  }

  repropack.manifest = { readManifest, checkPlan, configOf, notLater, misfit, isObject };
})((globalThis.repropack ??= {}));
