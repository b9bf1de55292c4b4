/**
 * Where one run parts from another, by their logs (8.10 to 8.12).
 *
 * Same words and same members as the report of `repropack diff`: the finding is decided, not
 * guessed. A stage that differs while everything it was made of is equal is an "output"
 * divergence; one whose named component differs is a "state" divergence.
 */
(function (repropack) {
  "use strict";

  const { byCodePoint } = repropack.bytes;
  const { spell } = repropack.canonical;

  const MAX_NAMES = 1000;
  const MAX_TOLD = 8;

  /**
   * @typedef {object} Side a log from its first step on
   * @property {HeaderLine} header
   * @property {StartLine} start
   * @property {AsyncIterable<any>|Iterable<any>} steps step lines in order
   *
   * @typedef {{equal: string[], differing: string[]}} Split
   */

  /**
   * Sort names into equal and differing; a name that one side lacks differs.
   * @param {Map<string, string>} left
   * @param {Map<string, string>} right
   * @returns {Split}
   */
  function split(left, right) {
    const found = { equal: [], differing: [] };
    for (const name of [...new Set([...left.keys(), ...right.keys()])].sort(byCodePoint)) {
      found[left.get(name) === right.get(name) ? "equal" : "differing"].push(name);
    }
    return found;
  }

  function inOrder(lefts, rights) {
    const both = [...lefts.keys()].filter((name) => rights.has(name));
    const equal = both.filter((name) => lefts.get(name) === rights.get(name));
    return { equal, differing: both.filter((name) => !equal.includes(name)) };
  }

  function metricTexts({ metrics, printed }) {
    return new Map(
      Object.keys(metrics).map((name) => [name, spell([metrics[name], printed[name] ?? null])]),
    );
  }

  /** At how many steps each name differs, in the order in which the names came. */
  class Tallies {
    constructor() {
      this.rows = new Map();
      this.leftOut = false;
    }

    add(name, step, differs) {
      let row = this.rows.get(name);
      if (!row) {
        if (this.rows.size >= MAX_NAMES) {
          this.leftOut = true;
          return;
        }
        row = { name, compared: 0, differing: 0, first_step: null };
        this.rows.set(name, row);
      }
      row.compared += 1;
      if (!differs) return;
      row.differing += 1;
      row.first_step ??= step;
    }

    counts(sorted) {
      const rows = [...this.rows.values()];
      return sorted ? rows.sort((a, b) => byCodePoint(a.name, b.name)) : rows;
    }
  }

  /** Equal steps after the divergence, one after the other. */
  class Stretches {
    constructor() {
      this.withState = false;
      this.begin = null;
      this.longest = null;
    }

    add(step, differs, stateKnown, stagesKnown) {
      this.withState ||= stateKnown;
      if (differs) this.keep(step - 1);
      else if (this.begin === null && (stateKnown || (stagesKnown && !this.withState))) {
        this.begin = step;
      }
    }

    keep(last) {
      if (this.begin === null) return;
      const found = { first_step: this.begin, last_step: last };
      const length = ({ first_step: a, last_step: b }) => b - a + 1;
      if (this.longest === null || length(found) > length(this.longest)) this.longest = found;
      this.begin = null;
    }

    ended(last) {
      const again = this.begin === null ? null : { first_step: this.begin, last_step: last };
      return { meets_again: again, equal_between: this.longest };
    }
  }

  /** Walks two logs together, to the end of the shorter one. */
  class Walk {
    constructor(left, right, firstStep) {
      this.declared = [left, right].map(({ header }) => new Map(header.stages));
      this.declaredAlike = spell(sorted(left.header.stages)) === spell(sorted(right.header.stages));
      this.before = null;
      this.divergence = null;
      this.structure = null;
      this.firstStep = firstStep;
      this.lastStep = firstStep - 1;
      this.lastEqual = firstStep - 1;
      this.compared = 0;
      this.differing = 0;
      this.unrecorded = 0;
      this.recordedAlike = true;
      this.together = false;
      this.chainsEqual = true;
      [this.stages, this.components, this.metrics] = [new Tallies(), new Tallies(), new Tallies()];
      this.printed = new Map();
      this.stretches = new Stretches();
      this.names = [new Set(), new Set()];
      this.common = false;
    }

    pair(left, right) {
      const [lefts, rights] = [left, right].map(({ stages }) => stages && new Map(stages));
      const bothStages = lefts !== undefined && rights !== undefined;
      const after = left.state && right.state
        ? split(new Map(left.state), new Map(right.state)) : null;
      const metrics = split(metricTexts(left), metricTexts(right));
      const stagesDiffer = bothStages && this.tallyStages(lefts, rights, left.step);
      for (const name of after?.equal ?? []) this.components.add(name, left.step, false);
      for (const name of after?.differing ?? []) this.components.add(name, left.step, true);
      this.tallyMetrics(left, right, metrics);
      this.noteRecording(left, right, bothStages, after);
      const otherStages = bothStages && this.noteStructure(left, right, lefts, rights);
      const printedDiffer = spell(left.printed) !== spell(right.printed);
      const differs = otherStages || stagesDiffer || metrics.differing.length > 0 ||
        printedDiffer || left.finish !== right.finish || (after?.differing.length ?? 0) > 0;
      this.differing += differs ? 1 : 0;
      if (this.divergence === null) {
        this.divergence = this.inside(left, right, { lefts, rights, after, metrics });
        if (this.divergence === null && after !== null) this.lastEqual = left.step;
      }
      if (this.divergence !== null) {
        this.stretches.add(left.step, differs, after !== null, bothStages);
      } else if (after !== null) this.stretches.withState = true;
      this.before = after;
      this.lastStep = left.step;
      this.chainsEqual = left.chain === right.chain;
    }

    tallyStages(lefts, rights, step) {
      let differ = false;
      for (const name of new Set([...lefts.keys(), ...rights.keys()])) {
        const differs = lefts.get(name) !== rights.get(name);
        this.stages.add(name, step, differs);
        differ ||= differs;
      }
      return differ;
    }

    tallyMetrics(left, right, { equal, differing }) {
      for (const name of equal) this.metrics.add(name, left.step, false);
      for (const name of differing) this.metrics.add(name, left.step, true);
      for (const name of Object.keys(left.printed)) {
        if (!(name in right.printed)) continue;
        if (!this.printed.has(name) && this.printed.size >= MAX_NAMES) continue;
        const row = this.printed.get(name) ?? { metric: name, compared: 0, equal: 0 };
        row.compared += 1;
        row.equal += left.printed[name] === right.printed[name] ? 1 : 0;
        this.printed.set(name, row);
      }
    }

    noteRecording(left, right, bothStages, after) {
      const alike = !left.stages === !right.stages && !left.state === !right.state;
      this.recordedAlike &&= alike;
      this.together ||= bothStages || after !== null;
      this.unrecorded += bothStages || after !== null ? 0 : 1;
      this.compared += 1;
      if (this.common) return;
      [left, right].forEach(({ stages = [], state = [] }, side) => {
        if (this.names[side].size >= MAX_NAMES) return;
        for (const [name] of stages) this.names[side].add(name);
        for (const [name] of state) this.names[side].add(`state:${name}`);
      });
      this.common = [...this.names[0]].some((name) => this.names[1].has(name));
    }

    declaredIn(side, line, stage) {
      const own = line.declares?.find(([name]) => name === stage);
      const found = own ? own[1] : this.declared[side].get(stage);
      return found === undefined ? null : found;
    }

    redeclared(left, right, stage) {
      return spell(this.declaredIn(0, left, stage)) !== spell(this.declaredIn(1, right, stage));
    }

    /** Stages that are missing, extra, in another order, or made of other inputs. */
    noteStructure(left, right, lefts, rights) {
      const [names, others] = [[...lefts.keys()], [...rights.keys()]];
      const same = this.declaredAlike && spell(left.declares ?? null) === spell(right.declares ?? null);
      const redeclared = same
        ? [] : names.filter((name) => rights.has(name) && this.redeclared(left, right, name));
      if (spell(names) === spell(others) && !redeclared.length) return false;
      const [commonLeft, commonRight] = [
        names.filter((name) => rights.has(name)), others.filter((name) => lefts.has(name)),
      ];
      this.structure ??= {
        step: left.step,
        missing: names.filter((name) => !rights.has(name)),
        extra: others.filter((name) => !lefts.has(name)),
        reordered: commonRight.filter((name, at) => commonLeft[at] !== name),
        redeclared,
        steps: 0,
      };
      this.structure.steps += 1;
      return true;
    }

    /** The first difference inside one step, or null (8.11). */
    inside(left, right, { lefts, rights, after, metrics }) {
      const about = {
        step: left.step,
        last_equal_step: this.lastEqual,
        stages: inOrder(lefts ?? new Map(), rights ?? new Map()),
        missing: [...(lefts?.keys() ?? [])].filter((name) => !rights?.has(name)),
        unexpected: [...(rights?.keys() ?? [])].filter((name) => !lefts?.has(name)),
        metrics,
        state_before: this.before,
        state_after: after,
      };
      const found = (kind, stage = null, inputs = []) => ({ kind, stage, inputs, ...about });
      if (left.stages && right.stages) {
        const most = Math.max(left.stages.length, right.stages.length);
        for (let at = 0; at < most; at += 1) {
          const [one, other] = [left.stages[at], right.stages[at]];
          const stage = (one ?? other)[0];
          if (one?.[0] !== other?.[0] || this.redeclared(left, right, stage)) {
            return found("structure", stage);
          }
          if (one[1] === other[1]) continue;
          const earlier = left.stages.slice(0, at).map(([name]) => name);
          const inputs = this.inputs(left, stage, earlier);
          const kind = inputs.some(({ equal }) => equal === false)
            ? "state" : inputs.some(({ equal }) => equal === null) ? "undetermined" : "output";
          return found(kind, stage, inputs);
        }
      }
      if (after?.differing.length) return found("state");
      const stored = ({ metrics: values, printed }) => spell([values, printed]);
      if (stored(left) !== stored(right)) return found("metric");
      return left.finish !== right.finish ? found("length") : null;
    }

    /** Whether what a stage was made of is equal (8.12). */
    inputs(line, stage, earlier) {
      const { before } = this;
      let names = this.declaredIn(0, line, stage);
      if (names === null) {
        const state = before ? [...before.equal, ...before.differing].sort(byCodePoint) : ["*"];
        names = [...earlier, ...state.map((name) => `state:${name}`)];
      }
      const known = new Map(earlier.map((name) => [name, true]));
      for (const name of before?.equal ?? []) known.set(`state:${name}`, true);
      for (const name of before?.differing ?? []) known.set(`state:${name}`, false);
      return names.map((name) => ({ name, equal: known.get(name) ?? null }));
    }

    /** One log ends before the other. */
    ends(left, right) {
      const longer = left ?? right;
      if (!longer || this.divergence !== null) return;
      const none = () => ({ equal: [], differing: [] });
      const further = [`step ${longer.step}`];
      this.divergence = {
        kind: "length", stage: null, inputs: [], step: longer.step, last_equal_step: this.lastEqual,
        stages: none(), missing: left ? further : [], unexpected: right ? further : [],
        metrics: none(), state_before: this.before, state_after: null,
      };
    }
  }

  function sorted(pairs) {
    return [...pairs].sort(([a], [b]) => byCodePoint(a, b));
  }

  /** A log as lines that are asked for one by one; first those before a step are passed by. */
  async function viewFrom({ start, steps }, firstStep) {
    const lines = steps[Symbol.asyncIterator]?.() ?? steps[Symbol.iterator]();
    let state = start.state;
    let { value, done } = await lines.next();
    while (!done && value.step < firstStep) {
      state = value.state ?? null;
      ({ value, done } = await lines.next());
    }
    return {
      before: state === null ? null : new Map(state),
      line: done ? undefined : value,
      async next() {
        ({ value, done } = await lines.next());
        this.line = done ? undefined : value;
      },
    };
  }

  /**
   * Compare two runs on the steps that both have.
   * @param {Side} left what is expected
   * @param {Side} right what is held against it
   * @param {(left: any, right: any) => void} [onPair] called with each pair of lines
   * @returns {Promise<any>} members of the report of `diff`: verdict, divergence, counts, ...
   */
  async function compare(left, right, onPair) {
    const firstStep = Math.max(left.header.first_step, right.header.first_step);
    const [one, other] = [await viewFrom(left, firstStep), await viewFrom(right, firstStep)];
    const start = one.before && other.before ? split(one.before, other.before) : null;
    const walk = new Walk(left, right, firstStep);
    walk.before = start;
    while (one.line && other.line) {
      onPair?.(one.line, other.line);
      walk.pair(one.line, other.line);
      await one.next();
      await other.next();
    }
    walk.ends(one.line, other.line);
    for (const side of [one, other]) while (side.line) await side.next();
    return report(left, right, walk, start);
  }

  function report(left, right, walk, start) {
    const [header, other] = [left.header, right.header];
    const sameBegin = header.first_step === other.first_step;
    const declarations = ({ stages }) => new Map(stages.map(([name, of]) => [name, spell([of])]));
    const common = {
      configurations_equal: header.config === other.config,
      constants: split(new Map(header.constants), new Map(other.constants)),
      declared: sameBegin ? split(declarations(header), declarations(other)) : null,
    };
    const reason = why(walk);
    if (reason) return { verdict: "differs", comparable: false, reasons: [reason], ...common };
    const parts = [common.constants, start, common.declared];
    const same = walk.divergence === null && walk.recordedAlike &&
      !parts.some((part) => part?.differing.length);
    return {
      verdict: same ? "identical" : "differs",
      comparable: true,
      reasons: [],
      ...common,
      first_step: walk.firstStep,
      last_step: walk.lastStep,
      start,
      recorded_alike: walk.recordedAlike,
      chains_equal: walk.chainsEqual,
      divergence: walk.divergence,
      structure: walk.structure,
      counts: {
        compared: walk.compared,
        differing: walk.differing,
        unrecorded: walk.unrecorded,
        stages: walk.stages.counts(false),
        components: walk.components.counts(true),
        metrics: walk.metrics.counts(true),
        printed: [...walk.printed.values()].sort((a, b) => byCodePoint(a.metric, b.metric)),
        names_left_out: walk.stages.leftOut || walk.components.leftOut || walk.metrics.leftOut,
        ...walk.stretches.ended(walk.lastStep),
      },
    };
  }

  /** Why nothing follows from what was walked; nothing where something does. */
  function why(walk) {
    if (walk.lastStep < walk.firstStep) return { reason: "no-step-in-common", left: [], right: [] };
    const [left, right] = walk.names.map((names) => [...names].slice(0, MAX_TOLD));
    if (left.length && right.length && !walk.common) {
      return { reason: "no-name-in-common", left, right };
    }
    const telling = walk.divergence !== null && walk.divergence.kind !== "length";
    if (!walk.together && !walk.recordedAlike && !telling) {
      return { reason: "never-recorded-together", left: [], right: [] };
    }
    return null;
  }

  repropack.diverge = { compare, split };
})((globalThis.repropack ??= {}));
