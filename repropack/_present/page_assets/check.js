/**
 * Whether a package is intact, by reading it and nothing else (chapter 9).
 *
 * Container and manifest first, then the files and every digest, then, only where all of that is
 * right, what is in them. Faults are gathered. Nothing of a package is executed.
 */
(function (repropack) {
  "use strict";

  const { Fault, CODES, LIMITS, MEBIBYTE, Sha256, breathe, digestWhole } = repropack.bytes;
  const { parse } = repropack.canonical;
  const { openZip } = repropack.zip;
  const { MANIFEST, REQUIRED, checkPath, checkPathSet, packageOrder, roleOf, mediaTypeOf } =
    repropack.paths;
  const { readManifest, checkPlan, notLater, misfit, isObject } = repropack.manifest;

  const MAX_FAULTS = 1000;
  const WHOLE_BYTES = 64 * MEBIBYTE; // larger entries are digested block by block
  const DOCUMENTS = { plan: "plan.json", environment: "environment.json", results: "results.json" };

  /** What a page does not look at; `check` and `verify` do. */
  const NOT_LOOKED_AT = Object.freeze([
    "whether documents have all members that their schemas ask for",
    "whether __main__.py and the schemas are those that were released",
    "whether results, claims, figures and this page follow from the logs",
    "whether crate and citation follow from the rest",
    "what outputs, notebook, lock and wheels hold",
    "inputs that are held elsewhere",
  ]);

  /**
   * @typedef {object} Report
   * @property {"intact"|"damaged"|"could-not-run"} verdict
   * @property {string} name of the file
   * @property {number} size of the file in bytes
   * @property {Manifest|null} manifest
   * @property {any} plan null where it was not read, or is damaged
   * @property {{entries: number, steps: number, arrays: number}} counts of what was found right
   * @property {Fault[]} faults
   * @property {readonly string[]} notLookedAt
   * @property {Map<string, string>} chains the last one of each run
   * @property {Archive|null} archive for reading on
   */

  /** Ends a check that nobody waits for any more. */
  class Stopped extends Error {}

  /** One check of one file. */
  class Checker {
    constructor(file, name, options) {
      this.file = file;
      this.name = name;
      this.options = options;
      this.archive = null;
      this.manifest = null;
      this.plan = null;
      this.counts = { entries: 0, steps: 0, arrays: 0 };
      /** @type {Map<string, string>} the last chain of each run whose log was read to its end */
      this.chains = new Map();
      this.behind = "every entry and its digest, documents, logs, checkpoints and kept arrays";
      /** @type {Fault[]} */
      this.faults = [];
      /** @type {string[]} entries that are too large for a page */
      this.skipped = [];
      this.done = 0;
      this.total = file.size;
    }

    /** @returns {Promise<Report>} */
    async run() {
      await this.trying(this.name, async () => {
        this.archive = await openZip(this.file, this.name);
        await this.checkPaths(this.archive.members.keys());
        this.archive.checkOrder(packageOrder, "zip.order");
        await this.readManifest();
        await this.checkFiles();
        for (const row of this.manifest.rows) await this.trying(row.path, () => this.checkEntry(row));
        this.behind = "documents, logs, checkpoints and kept arrays";
        if (!this.faults.length) await this.checkContents();
      });
      const unknown = this.faults.some((fault) => fault.code === CODES.NEWER);
      const verdict = unknown ? "could-not-run" : this.faults.length ? "damaged" : "intact";
      const { name, manifest, plan, counts, faults, archive, file, chains } = this;
      const notLookedAt = [...NOT_LOOKED_AT, ...this.skipped.map((path) => `${path}: too large for a page`)];
      if (faults.length) notLookedAt.unshift(`${this.behind}: a fault came before`);
      return { verdict, name, size: file.size, manifest, plan, counts, faults, archive, chains, notLookedAt };
    }

    /** Note a fault that is met inside, and go on behind it. */
    async trying(entry, action) {
      try {
        await action();
      } catch (error) {
        if (error instanceof Stopped) throw error;
        const known = error instanceof Fault;
        this.note(known ? error : unreadable(entry, error));
      }
    }

    note(fault) {
      if (this.faults.length < MAX_FAULTS) this.faults.push(fault);
    }

    integrity(rule, entry, place, expected, observed) {
      this.note(new Fault(CODES.INTEGRITY, rule, entry, place, expected, observed));
    }

    async alive(bytes = 0) {
      this.done += bytes;
      await breathe();
      if (this.options.signal?.aborted) throw new Stopped("stopped");
      this.options.onProgress?.(Math.min(1, this.done / Math.max(1, this.total)));
    }

    async readManifest() {
      if (!this.archive.members.has(MANIFEST)) {
        throw new Fault(CODES.FORMAT, "manifest.missing", MANIFEST, "", "a manifest", "none");
      }
      this.manifest = readManifest(await this.archive.read(MANIFEST, "max_manifest_bytes"));
    }

    async checkPaths(paths) {
      for (const path of paths) {
        checkPath(path);
        await this.alive();
      }
    }

    /** 1.2, 7.9 to 7.11: the files are those that are listed, and safe to store. */
    async checkFiles() {
      const { rows } = this.manifest;
      const stored = [...this.archive.members.keys()];
      const included = rows.filter((row) => row.included).map(({ path }) => path);
      await this.checkPaths(rows.map(({ path }) => path));
      await checkPathSet(new Set([...stored, ...included]));
      const [listed, found] = [new Set(included), new Set(stored)];
      for (const path of included) {
        if (!found.has(path)) this.integrity("manifest.file-missing", path, "", "the entry", "none");
      }
      for (const path of stored) {
        if (path !== MANIFEST && !listed.has(path)) {
          this.integrity("manifest.unlisted", path, "", "entries of the manifest alone", "another");
        }
      }
      for (const path of REQUIRED) {
        if (!listed.has(path)) this.integrity("manifest.required", path, "", "it in the manifest", "none");
      }
      this.checkGiven(rows);
    }

    /** 8.7.1: source and inputs can lie in one folder. */
    checkGiven(rows) {
      const given = new Map();
      for (const { path } of rows) {
        const [, name] = /^(?:source|inputs)\/(.+)$/.exec(path) ?? [];
        if (name === undefined) continue;
        if (given.has(name)) this.meets(path, given.get(name));
        given.set(name, path);
      }
      for (const [name, path] of given) {
        for (let end = name.indexOf("/"); end >= 0; end = name.indexOf("/", end + 1)) {
          const folder = given.get(name.slice(0, end));
          if (folder !== undefined) this.meets(path, folder);
        }
      }
    }

    meets(path, other) {
      this.integrity("manifest.given", path, "", "source and inputs apart in one folder", other);
    }

    /** 8.4: place, role, mode, size and digest of an entry are those that are listed. */
    async checkEntry(row) {
      const { path, role, media_type: media } = row;
      const place = roleOf(path);
      if (place === null) this.integrity("manifest.path", path, "path", "one of 1.3", "another");
      else if (place !== role || mediaTypeOf(path) !== media) {
        const expected = `${place} and ${mediaTypeOf(path)}`;
        this.integrity("manifest.role", path, "role and type", expected, `${role} and ${media}`);
      }
      if (!row.included) {
        if (role !== "input" || !row.location) {
          this.integrity("manifest.reference", path, "held elsewhere", "an input and its place", role);
        }
        return;
      }
      if (row.location !== null) {
        this.integrity("manifest.location", path, "location", "none beside the bytes", row.location);
      }
      const member = this.archive.members.get(path);
      if (!member) return;
      if (member.executable !== row.executable) {
        this.integrity("manifest.mode", path, "executable", row.executable, member.executable);
      }
      const observed = `${await this.digestOf(path, member)} (${member.size} bytes)`;
      const expected = `${row.digest} (${row.size} bytes)`;
      if (observed !== expected) {
        this.integrity("digest.entry", path, "digest differs", expected, observed);
      } else this.counts.entries += 1;
    }

    async digestOf(path, member) {
      if (member.size <= WHOLE_BYTES) {
        const whole = new Uint8Array(member.size);
        let at = 0;
        for await (const block of this.archive.blocks(path)) {
          whole.set(block, at);
          at += block.length;
          await this.alive(member.deflated ? 0 : block.length);
        }
        return digestWhole(whole);
      }
      const hasher = new Sha256();
      for await (const block of this.archive.blocks(path)) {
        hasher.update(block);
        await this.alive(member.deflated ? 0 : block.length);
      }
      return hasher.digest();
    }

    /** The documents, then the runs that the plan has. */
    async checkContents() {
      const values = {};
      for (const [name, path] of Object.entries(DOCUMENTS)) {
        await this.trying(path, async () => {
          values[name] = await this.document(path, `repropack/${name}/v1`);
        });
      }
      for (const path of this.archive.members.keys()) {
        if (/^schemas\/[^/]*\.schema\.json$/.test(path)) {
          await this.trying(path, async () => {
            const data = await this.archive.read(path);
            const schema = parse(data, { entry: path, canonically: false });
            if (!isObject(schema)) throw misfit(path, "", "an object");
          });
        }
      }
      if (this.faults.length) return;
      this.plan = checkPlan(values.plan);
      this.behind = "in a run with a fault what lies behind it, and the runs that resume";
      await repropack.runs.checkRuns(this);
    }

    /** A document, in its one spelling, that names its schema. */
    async document(path, schema) {
      const value = parse(await this.archive.read(path), { entry: path });
      notLater(value, schema, path);
      if (value?.schema !== schema) throw misfit(path, "schema", schema);
      return value;
    }
  }

  /** Bytes that break a reader's assumptions end in errors of all kinds. */
  function unreadable(entry, error) {
    const gone = error?.name === "NotReadableError" || error?.name === "NotFoundError";
    const rule = gone ? "zip.changed" : "document.schema";
    const observed = gone ? "a file that changed or went away" : `${error?.name}: ${error?.message}`;
    return new Fault(CODES.FORMAT, rule, entry, "", "what the format says", observed.slice(0, 200));
  }

  /**
   * Check a package.
   * @param {Blob} file a zip
   * @param {{name?: string, signal?: AbortSignal, onProgress?: (share: number) => void}} [options]
   * @returns {Promise<Report>}
   * @throws {Stopped} where the signal says so
   */
  function checkPackage(file, options = {}) {
    return new Checker(file, options.name ?? /** @type {any} */ (file).name ?? "package", options).run();
  }

  repropack.check = { checkPackage, Stopped, NOT_LOOKED_AT, LIMITS };
})((globalThis.repropack ??= {}));
