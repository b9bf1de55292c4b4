/**
 * All runs of a lab's plan made again in this browser, and held against what was recorded.
 *
 * What was recorded comes from the logs of a package that was dropped, or from the fingerprints in
 * the page's own data, which have no metrics and no chains between.
 */
(function (repropack) {
  "use strict";

  const { compare } = repropack.diverge;
  const { openLog } = repropack.log;
  const { SOURCES, ENTRY_POINT, DECLARED, CannotReplay, makeRun } = repropack.lab;

  /**
   * @typedef {object} Recorded what a replay is held against
   * @property {{experiment: any, record: any, comparisons: any[]}} plan
   * @property {boolean} whole whether metrics and every chain are known
   * @property {(run: string) => Promise<Side>} open a run
   * @property {(run: string) => string|null} lastChain of a run, where only that is known
   * @property {number} chainsInLogs chains that the logs have and this does not
   *
   * @typedef {object} RunOutcome
   * @property {string} run
   * @property {number} fingerprints that were recorded
   * @property {number} equal how many of them came out
   * @property {number} steps that were made
   * @property {any} difference what `compare` found
   */

  /** @param {any} report of a check @returns {boolean} whether a package is of the lab */
  function isLab({ verdict, manifest, plan }) {
    return verdict === "intact" && SOURCES.includes(manifest.sourceDigest) &&
      plan.experiment.entry_point === ENTRY_POINT;
  }

  /** @param {any} report of a check that found a package of the lab intact @returns {Recorded} */
  function fromPackage({ archive, plan }) {
    return {
      plan,
      whole: true,
      chainsInLogs: 0,
      lastChain: () => null,
      async open(run) {
        const path = `runs/${run}/fingerprints.jsonl`;
        const log = await openLog(archive.blocks(path), path);
        return { header: log.header, start: log.start, steps: log.steps() };
      },
    };
  }

  /** @param {any} data of the page @returns {Recorded|null} null where it is no lab's */
  function fromPage(data) {
    if (!data?.lab || !data.fingerprints) return null;
    const { plan, fingerprints, runs } = data;
    const rows = new Map(fingerprints.runs.map((row) => [row.name, row]));
    const about = new Map(runs.map((row) => [row.name, row]));
    const { seed, steps, config, record, comparisons } = plan;
    return {
      plan: { experiment: { seed, steps, config }, record, comparisons },
      whole: false,
      chainsInLogs: runs.reduce((sum, row) => sum + chainsLeftOut(row, rows), 0),
      lastChain: (run) => about.get(run).chain,
      async open(run) {
        const { first_step: first, last_step: last } = about.get(run);
        const own = rows.get(run); // a run that is identical to the reference has its rows
        const from = own ?? rows.get("reference");
        const lines = unpacked(fingerprints, from.rows, own ? first : 1);
        const fresh = own || first === 1;
        return {
          header: {
            run, config: "", constants: fingerprints.constants, first_step: first, stages: DECLARED,
          },
          start: {
            chain: fresh ? from.start_chain : null,
            state: fresh ? from.start : lines[first - 2].state,
          },
          steps: lines.filter(({ step }) => step >= first && step <= last),
        };
      },
    };
  }

  /** Chains of a run that its log has, and the page has not. */
  function chainsLeftOut({ name, first_step: first, last_step: last, chain }, rows) {
    const before = rows.has(name) || first === 1 ? 0 : 1;
    return before + (last - first + 1) - (chain === null ? 0 : 1);
  }

  /** Rows of 32 bytes a fingerprint, in base64, as step lines. */
  function unpacked({ stages, components }, rows, first) {
    const bytes = Uint8Array.from(atob(rows), (one) => one.charCodeAt(0));
    const width = 32 * (stages.length + components.length);
    const lines = [];
    for (let at = 0; at < bytes.length; at += width) {
      const print = (place) => {
        const part = bytes.subarray(at + 32 * place, at + 32 * (place + 1));
        return `sha256:${Array.from(part, (b) => b.toString(16).padStart(2, "0")).join("")}`;
      };
      lines.push({
        step: first + at / width,
        metrics: {},
        printed: {},
        stages: stages.map((name, place) => [name, print(place)]),
        state: components.map((name, place) => [name, print(stages.length + place)]),
      });
    }
    return lines;
  }

  /** Counts of the fingerprints that were recorded, and of those that came out. */
  class Tally {
    constructor() {
      this.fingerprints = 0;
      this.equal = 0;
    }

    pairs(expected, observed) {
      const found = new Map(observed);
      for (const [name, one] of expected) this.one(one, found.get(name));
    }

    one(expected, observed) {
      this.fingerprints += 1;
      this.equal += expected === observed ? 1 : 0;
    }
  }

  /**
   * Make every run of a plan again.
   * @param {Recorded} recorded
   * @param {{signal?: AbortSignal, onRun?: (run: string) => void,
   *   onStep?: (run: string, step: number, last: number) => void,
   *   onEnd?: (outcome: RunOutcome) => void}} [told]
   * @returns {Promise<RunOutcome[]>} in the plan's order, the reference first
   * @throws {CannotReplay}
   */
  async function replay(recorded, told = {}) {
    const { plan } = recorded;
    const shared = {
      states: new Map(),
      chains: new Map(),
      needed: new Set(plan.comparisons.map((one) => one.resume_at ?? 0)),
    };
    const outcomes = [];
    for (const comparison of [null, ...plan.comparisons]) {
      const run = comparison?.name ?? "reference";
      told.onRun?.(run);
      const outcome = await replayRun(recorded, comparison, run, shared, told);
      told.onEnd?.(outcome);
      outcomes.push(outcome);
    }
    return outcomes;
  }

  async function replayRun(recorded, comparison, run, shared, told) {
    const left = await recorded.open(run);
    const made = await makeRun(recorded.plan, comparison, shared);
    const tally = new Tally();
    tally.pairs(left.header.constants, made.header.constants);
    tally.pairs(left.start.state, made.start.state);
    if (left.start.chain !== null) tally.one(left.start.chain, made.start.chain);
    let [steps, chain] = [0, made.start.chain];
    const right = { ...made, steps: lines() };
    async function* lines() {
      for await (const line of made.steps) {
        if (told.signal?.aborted) throw new repropack.check.Stopped("stopped");
        steps += 1;
        chain = line.chain;
        told.onStep?.(run, line.step, recorded.plan.experiment.steps);
        yield recorded.whole ? line : { ...line, metrics: {}, printed: {}, chain: undefined };
      }
    }
    const difference = await compare(left, right, (one, other) => {
      tally.pairs(one.stages ?? [], other.stages ?? []);
      tally.pairs(one.state ?? [], other.state ?? []);
      if (recorded.whole) tally.one(one.chain, other.chain);
    });
    const last = recorded.lastChain(run);
    if (last !== null) tally.one(last, chain);
    return { run, fingerprints: tally.fingerprints, equal: tally.equal, steps, difference };
  }

  repropack.replay = { replay, fromPackage, fromPage, isLab, CannotReplay };
})((globalThis.repropack ??= {}));
