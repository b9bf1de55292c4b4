/**
 * Fingerprint logs, line by line (chapter 6): form, order and chain are looked at while reading.
 */
(function (repropack) {
  "use strict";

  const {
    Fault, CODES, LIMITS, beyond, breathe, byCodePoint, digest,
  } = repropack.bytes;
  const { parse, isEncodedNumber } = repropack.canonical;

  const SCHEMA = "repropack/fingerprint-log/v1";
  const CHAIN_DOMAIN = "repropack.chain.v1\n";
  const CHAIN_START = digest(CHAIN_DOMAIN);
  const PREFIX_BYTES = '{"chain":"sha256:'.length + 64 + '",'.length;
  const DIGEST = /^sha256:[0-9a-f]{64}$/;
  const NAME = /^[A-Za-z0-9_][A-Za-z0-9_.+-]{0,199}$/;
  const RECORDED = /^(?=.{1,210}$)[A-Za-z0-9_][A-Za-z0-9_.+-]*(?:#[1-9][0-9]*)?$/;
  const OUTPUT = /^(?=.{1,1000}$)output:[A-Za-z0-9_.%/-]+(?::[A-Za-z0-9_.%-]*)?$/;
  const STEP_MEMBERS = new Set([
    "chain", "step", "metrics", "printed", "stages", "state", "declares", "finish",
  ]);

  /**
   * @typedef {[string, string][]} Named pairs of a name and a digest
   * @typedef {object} HeaderLine
   * @property {string} run
   * @property {string} config
   * @property {Named} constants
   * @property {number} first_step
   * @property {[string, string[]|null][]} stages
   * @typedef {{chain: string, state: Named}} StartLine
   * @typedef {object} StepLine
   * @property {string} chain
   * @property {number} step
   * @property {Record<string, any>} metrics
   * @property {Record<string, string>} printed
   * @property {Named} [stages]
   * @property {Named} [state]
   * @property {[string, string[]|null][]} [declares]
   * @property {string} [finish]
   */

  /**
   * The chain of a step line (6.8).
   * @param {string} before the chain before, as a digest
   * @param {Uint8Array|string} rest the stored line behind its chain member, without the newline
   * @returns {string}
   */
  function chainOf(before, rest) {
    return digest(`${CHAIN_DOMAIN}${before.slice(7)}\n{`, rest);
  }

  /** One log, read once from its beginning. */
  class LogReader {
    /**
     * @param {AsyncIterable<Uint8Array>} blocks the log's bytes
     * @param {string} entry its path
     */
    constructor(blocks, entry) {
      this.entry = entry;
      this._lines = lines(blocks, entry);
      this._number = 0;
      /** @type {HeaderLine} */ this.header = /** @type {any} */ (null);
      /** @type {StartLine} */ this.start = /** @type {any} */ (null);
      /** the chain of the last step that was read; at first the start line's */
      this.chain = "";
    }

    /** Read header and start line. @returns {Promise<LogReader>} itself */
    async open() {
      const header = await this._read("a header");
      this._later(header);
      this._form(header, headerForm);
      const start = await this._read("a start line");
      this._form(start, startForm);
      [this.header, this.start, this.chain] = [header, start, start.chain];
      return this;
    }

    /**
     * Every step in order, after its number and chain were found right.
     * @yields {StepLine}
     */
    async *steps() {
      let expected = this.header.first_step;
      let finished = false;
      for (;;) {
        const { done, value: raw } = await this._lines.next();
        if (done) return;
        this._number += 1;
        const line = this._parse(raw);
        this._form(line, stepForm);
        if (finished) throw this._fault("log.finish", "", "no line after finish", "one");
        if (line.step !== expected) {
          throw this._fault("log.sequence", "", `step ${expected}`, `step ${line.step}`);
        }
        const computed = chainOf(this.chain, raw.subarray(PREFIX_BYTES, -1));
        if (computed !== line.chain) {
          const place = ` (step ${line.step}): the chain is broken here`;
          throw this._fault("log.chain", place, computed, line.chain);
        }
        this.chain = line.chain;
        finished = "finish" in line;
        expected += 1;
        yield line;
        await breathe();
      }
    }

    async _read(what) {
      const { done, value: raw } = await this._lines.next();
      this._number += 1;
      if (done) throw this._fault("log.cut", "", what, "the end of the log");
      return this._parse(raw);
    }

    _parse(raw) {
      if (raw[raw.length - 1] !== 0x0a) {
        throw this._fault("log.cut", "", "a newline at its end", "a cut line");
      }
      return parse(raw, { entry: this.entry, place: `line ${this._number}` });
    }

    _later(header) {
      const schema = header?.schema;
      if (isLater(schema, SCHEMA)) {
        throw new Fault(CODES.NEWER, "version.document", this.entry, "schema", SCHEMA, schema);
      }
    }

    _form(line, form) {
      const wrong = line === null || typeof line !== "object" ? "all of it" : form(line);
      if (!wrong) return;
      const [rule, place] = Array.isArray(wrong) ? wrong : ["log.member", wrong];
      throw this._fault(rule, `: ${place}`, "what chapter 6 says", "another form");
    }

    _fault(rule, place, expected, observed) {
      const where = `line ${this._number}${place}`;
      return new Fault(CODES.FORMAT, rule, this.entry, where, expected, observed);
    }
  }

  /** Lines with their newline, none longer than the limit. */
  async function* lines(blocks, entry) {
    let rest = [];
    let held = 0;
    for await (const block of blocks) {
      let from = 0;
      for (let end = block.indexOf(10); end >= 0; end = block.indexOf(10, from)) {
        yield whole(rest, block.subarray(from, end + 1));
        [rest, held, from] = [[], 0, end + 1];
      }
      rest.push(block.slice(from));
      held += block.length - from;
      if (held > LIMITS.max_log_line_bytes) throw beyond("max_log_line_bytes", entry, "a line", held);
    }
    if (held) yield whole(rest, new Uint8Array(0));

    function whole(parts, last) {
      const line = parts.length ? repropack.zipLayout.joined(...parts, last) : last;
      if (line.length <= LIMITS.max_log_line_bytes) return line;
      throw beyond("max_log_line_bytes", entry, "a line", line.length);
    }
  }

  // ------------------------------------------------- forms: the member that is wrong, or nothing

  function headerForm(line) {
    if (!exactly(line, ["schema", "run", "config", "constants", "first_step", "stages"])) return "members";
    if (line.schema !== SCHEMA) return "schema";
    if (typeof line.run !== "string") return "run";
    if (!isDigest(line.config)) return "config";
    if (!isNamed(line.constants, isName)) return "constants";
    if (!Number.isInteger(line.first_step) || line.first_step < 1) return "first_step";
    if (!isDeclared(line.stages)) return "stages";
    if (repeats(line.stages)) return ["log.name-twice", "stages"];
    if (!numbered(line.stages.map(([name]) => name))) return ["log.repeat", "stages"];
    return ordered(line.constants, "constants");
  }

  function startForm(line) {
    if (!exactly(line, ["chain", "state"])) return "members";
    if (!isDigest(line.chain)) return "chain";
    return stateForm(line.state);
  }

  function stepForm(line) {
    for (const member of STEP_MEMBERS) {
      if (line[member] === null) return ["log.null", member];
    }
    if (Object.keys(line).some((member) => !STEP_MEMBERS.has(member))) return "members";
    if (!isDigest(line.chain)) return "chain";
    if (!Number.isInteger(line.step) || line.step < 0) return "step";
    if (!isMapping(line.metrics)) return "metrics";
    for (const [name, value] of Object.entries(line.metrics)) {
      if (!RECORDED.test(name)) return "metrics";
      if (!isEncodedNumber(value)) return ["log.number", "metrics"];
    }
    if (!isMapping(line.printed)) return "printed";
    for (const [name, text] of Object.entries(line.printed)) {
      if (!RECORDED.test(name) || typeof text !== "string" || [...text].length > 512) return "printed";
    }
    if ("stages" in line) {
      if (!isNamed(line.stages, isStage)) return "stages";
      if (repeats(line.stages)) return ["log.name-twice", "stages"];
    }
    if ("declares" in line) {
      if (!isDeclared(line.declares)) return "declares";
      if (!line.declares.length) return ["log.empty", "declares"];
      if (repeats(line.declares)) return ["log.name-twice", "declares"];
    }
    if ("finish" in line) {
      const length = typeof line.finish === "string" ? [...line.finish].length : 0;
      if (length < 1 || length > 400) return "finish";
    }
    if (!numbered((line.stages ?? []).map(([name]) => name))) return ["log.repeat", "stages"];
    if (!numbered(Object.keys(line.metrics).sort(byTimes))) return ["log.repeat", "metrics"];
    return "state" in line ? stateForm(line.state) : "";
  }

  function stateForm(state) {
    if (!isNamed(state, isName)) return "state";
    if (state.some(([name]) => name.includes("."))) return ["log.component", "state"];
    return ordered(state, "state");
  }

  /** What is recorded again is called name#2, then name#3, behind the one before (6.5). */
  function numbered(names) {
    const times = new Map();
    return names.every((name) => {
      const [own, count] = parted(name);
      const expected = (times.get(own) ?? 0) + 1;
      times.set(own, count);
      return count === expected && name !== `${own}#1`;
    });
  }

  function parted(name) {
    const [own, count] = name.split("#");
    return [own, Number(count ?? 1)];
  }

  function byTimes(left, right) {
    const [[own, count], [other, number]] = [parted(left), parted(right)];
    return byCodePoint(own, other) || count - number;
  }

  function ordered(pairs, place) {
    for (let i = 1; i < pairs.length; i += 1) {
      const order = byCodePoint(pairs[i - 1][0], pairs[i][0]);
      if (order === 0) return ["log.name-twice", place];
      if (order > 0) return ["log.name-order", place];
    }
    return "";
  }

  function repeats(pairs) {
    return new Set(pairs.map(([name]) => name)).size < pairs.length;
  }

  function exactly(line, members) {
    const found = Object.keys(line);
    return found.length === members.length && members.every((member) => member in line);
  }

  function isMapping(value) {
    return value !== null && typeof value === "object" && Object.getPrototypeOf(value) === null;
  }

  function isDigest(value) {
    return typeof value === "string" && DIGEST.test(value);
  }

  function isName(text) {
    return NAME.test(text);
  }

  function isStage(text) {
    return RECORDED.test(text) || OUTPUT.test(text);
  }

  function isNamed(value, fits) {
    return Array.isArray(value) && value.every(
      (pair) => Array.isArray(pair) && pair.length === 2 && typeof pair[0] === "string" &&
        fits(pair[0]) && isDigest(pair[1]),
    );
  }

  function isDeclared(value) {
    return Array.isArray(value) && value.every(
      (pair) => Array.isArray(pair) && pair.length === 2 && typeof pair[0] === "string" &&
        isStage(pair[0]) && (pair[1] === null || (Array.isArray(pair[1]) && pair[1].every(
          (input) => typeof input === "string" && input.length > 0 && input.length <= 220,
        ))),
    );
  }

  /**
   * Whether a document names a later version of its schema (9.6).
   * @param {unknown} observed
   * @param {string} known such as repropack/plan/v1
   * @returns {boolean}
   */
  function isLater(observed, known) {
    if (typeof observed !== "string") return false;
    const [stem, version] = [known.slice(0, known.lastIndexOf("/v") + 2), known.split("/v").pop()];
    if (!observed.startsWith(stem) || !/^[1-9][0-9]{0,8}$/.test(observed.slice(stem.length))) return false;
    return Number(observed.slice(stem.length)) > Number(version);
  }

  /**
   * @param {AsyncIterable<Uint8Array>} blocks
   * @param {string} entry
   * @returns {Promise<LogReader>} behind its start line
   */
  function openLog(blocks, entry) {
    return new LogReader(blocks, entry).open();
  }

  repropack.log = { openLog, chainOf, CHAIN_START, isLater, isDigest };
})((globalThis.repropack ??= {}));
