/**
 * The runs of a package, against its plan and against themselves (chapters 5 and 6).
 *
 * Order and chain of each log, the state that it starts from, checkpoints and kept arrays.
 */
(function (repropack) {
  "use strict";

  const { Fault, CODES, MEBIBYTE, digest } = repropack.bytes;
  const { canonical } = repropack.canonical;
  const { openNpz, components } = repropack.npz;
  const { openLog, CHAIN_START } = repropack.log;
  const { configOf, isObject, misfit } = repropack.manifest;
  const { printMetric } = repropack.printed;

  const HELD_BYTES = 256 * MEBIBYTE; // of a deflated npz, which is inflated into memory

  /** One run: its log, and the files that belong to steps of it. */
  class RunCheck {
    /**
     * @param {any} checker the check that it is part of
     * @param {string} run
     * @param {any} comparison its row in the plan; null for the reference
     * @param {any} shared what the reference leaves for those that resume from it
     */
    constructor(checker, run, comparison, shared) {
      this.checker = checker;
      this.run = run;
      this.comparison = comparison;
      this.shared = shared;
      this.path = `runs/${run}/fingerprints.jsonl`;
      this.keptPath = `runs/${run}/kept.npz`;
      this.after = comparison?.resume_at ?? 0;
      this.first = /** @type {any} */ (null);
      this.rows = 0;
    }

    get plan() {
      return this.checker.plan;
    }

    async check() {
      const { archive } = this.checker;
      const log = await openLog(archive.blocks(this.path), this.path);
      this.checkHeader(log);
      const kept = await this.openKept();
      await this.checkpoint(this.after, log.start.chain, log.start.state);
      let [step, finished, line] = [this.after, false, /** @type {any} */ (log.start)];
      for await (line of log.steps()) {
        step = line.step;
        if (this.first === null) this.first = line;
        this.rows += "stages" in line ? 1 : 0;
        finished = "finish" in line;
        this.checkRecorded(line);
        await this.checkRow(kept, line);
        await this.checkpoint(step, line.chain, line.state);
        this.checker.counts.steps += 1;
        await this.checker.alive();
      }
      const { steps } = this.plan.experiment;
      if (step > steps || (step < steps && !finished)) {
        throw this.fault("run.steps", this.path, "", `${steps} steps`, step);
      }
      this.checkStages(log.header);
      this.checker.chains.set(this.run, line.chain);
      await this.endKept(kept);
      this.shared.unread.delete(this.path);
      this.checkStored(step);
    }

    checkHeader({ header, start }) {
      if (header.run !== this.run) {
        throw this.fault("run.name", this.path, "run", this.run, header.run);
      }
      if (header.first_step !== this.after + 1) {
        throw this.fault("run.first-step", this.path, "", this.after + 1, header.first_step);
      }
      const config = digest(canonical(configOf(this.plan, this.comparison)));
      if (header.config !== config) {
        throw this.fault("run.config", this.path, "configuration", config, header.config);
      }
      const { states, chains } = this.shared;
      if (this.comparison !== null && this.after && !chains.has(this.after)) {
        throw this.fault("run.resume", this.path, `resumes at ${this.after}`, "a checkpoint", "none");
      }
      const chain = this.after ? chains.get(this.after) : CHAIN_START;
      if (start.chain !== chain) {
        throw this.fault("run.chain", this.path, "chain at the start", chain, start.chain);
      }
      if (this.comparison?.resume_at !== null && this.comparison) {
        this.checkStart(new Map(start.state), states.get(0), states.get(this.after));
      }
    }

    /** 5.11: a resumed run starts from the checkpoint, with what is reset taken from step 0. */
    checkStart(observed, initial, stored) {
      const { reset } = this.comparison;
      for (const component of reset) {
        if (!initial.has(component) || !stored.has(component)) {
          throw this.fault("plan.reset", "plan.json", this.run, "a component of the state", component);
        }
      }
      for (const name of new Set([...stored.keys(), ...observed.keys()])) {
        const due = stored.has(name) ? (reset.includes(name) ? initial : stored).get(name) : "none";
        const found = observed.get(name) ?? "none";
        if (due !== found) {
          throw this.fault("run.start", this.path, `component ${name} at the start`, due, found);
        }
      }
    }

    /** 6.5: a step tells what the plan says is recorded, no more and no less. */
    checkRecorded(line) {
      const { record, experiment } = this.plan;
      const last = line.step === experiment.steps;
      const stored = last || "finish" in line ||
        (record.checkpoint_every !== null && line.step % record.checkpoint_every === 0);
      for (const [member, planned] of [
        ["stages", last || line.step % record.stages_every === 0],
        ["state", stored || line.step % record.state_every === 0],
      ]) {
        if (member in line !== planned) {
          const [expected, observed] = planned ? ["them", "none"] : ["none", "some"];
          const place = `${member} of step ${line.step}`;
          throw this.fault("run.recording", this.path, place, expected, observed);
        }
      }
      for (const metric of new Set([...Object.keys(line.printed), ...Object.keys(record.printed)])) {
        const there = metric in line.metrics && metric in record.printed;
        const due = there ? printMetric(line.metrics[metric], record.printed[metric]) : null;
        const found = line.printed[metric] ?? null;
        if (due !== found) {
          const place = `metric ${metric} of step ${line.step}`;
          throw this.fault("run.printed", this.path, place, due ?? "no text", found ?? "none");
        }
      }
    }

    /** 6.7: a fresh run declares the stages of its first step, a resumed one the reference's. */
    checkStages(header) {
      const declared = this.after ? canonical(header.stages) : canonical(header.stages.map(([name]) => name));
      if (this.run === "reference") this.shared.declared = canonical(header.stages);
      const names = (this.first?.stages ?? []).map(([name]) => name);
      const due = this.after ? this.shared.declared : canonical(names);
      if (declared !== due) {
        const [expected, observed] = [due, declared].map((text) => text.trim().slice(0, 200));
        throw this.fault("run.stages", this.path, "header", expected, observed);
      }
    }

    // -------------------------------------------------------------- kept arrays (5.12)

    async openKept() {
      const { archive } = this.checker;
      if (!archive.members.has(this.keptPath)) return null;
      const blob = await archive.blobOf(this.keptPath, HELD_BYTES);
      if (blob === null) return this.skip(this.keptPath);
      const npz = await openNpz(blob, this.keptPath);
      const arrays = new Map();
      for (const name of npz.names) {
        if (!this.plan.record.keep.includes(name)) {
          throw this.fault("kept.unplanned", this.keptPath, name, "stages that the plan keeps", "another");
        }
        const array = await npz.array(name);
        if (!array.shape.length) {
          throw this.fault("kept.rows", this.keptPath, name, "a row a step", "rank 0");
        }
        arrays.set(name, { array, rows: 0 });
      }
      if (arrays.size !== new Set(this.plan.record.keep).size) {
        const expected = this.plan.record.keep.join(", ");
        throw this.fault("run.kept", this.keptPath, "arrays", expected, npz.names.join(", "));
      }
      return arrays;
    }

    async checkRow(kept, line) {
      if (!kept || !line.stages) return;
      const stages = new Map(line.stages);
      for (const [name, held] of kept) {
        if (held.rows >= held.array.shape[0]) {
          throw this.fault("kept.rows", this.keptPath, name, "a row for each step", held.rows);
        }
        const found = await held.array.fingerprint(held.array.shape.slice(1));
        held.rows += 1;
        if (found !== stages.get(name)) {
          const place = `${name}, row of step ${line.step}`;
          throw this.fault("kept.row", this.keptPath, place, stages.get(name) ?? "none", found);
        }
        this.checker.counts.arrays += 1;
      }
    }

    async endKept(kept) {
      this.shared.unread.delete(this.keptPath);
      for (const [name, { array, rows }] of kept ?? []) {
        await array.finish();
        if (rows !== array.shape[0]) {
          throw this.fault("kept.rows", this.keptPath, name, `${rows} rows`, array.shape[0]);
        }
      }
    }

    // -------------------------------------------------------------- checkpoints (5.7 to 5.9)

    /** The checkpoint after a step, if there is one, is what it and the log say. */
    async checkpoint(step, chain, state) {
      if (this.run === "reference" && state) this.keepForLater(step, chain, state);
      const stem = `runs/${this.run}/checkpoints/step-${String(step).padStart(9, "0")}`;
      const [path, npzPath] = [`${stem}.json`, `${stem}.npz`];
      const { archive } = this.checker;
      const there = [path, npzPath].filter((one) => archive.members.has(one));
      if (!there.length) return;
      if (there.length === 1) {
        throw this.fault("checkpoint.pair", there[0], "", "a .json and an .npz", "one of them");
      }
      const stored = await this.checker.document(path, "repropack/checkpoint/v1");
      if (!isObject(stored.arrays) || !isObject(stored.values)) throw misfit(path, "", "a checkpoint");
      if (stored.step !== step) throw this.fault("checkpoint.step", path, "step", step, stored.step);
      if (stored.chain !== chain) {
        throw this.fault("checkpoint.chain", path, "chain", chain, stored.chain);
      }
      const blob = await archive.blobOf(npzPath, HELD_BYTES);
      this.shared.unread.delete(path);
      this.shared.unread.delete(npzPath);
      if (blob === null) {
        this.skip(npzPath);
        return;
      }
      const arrays = await this.readArrays(blob, npzPath, stored.arrays, path);
      const found = await components(arrays, stored.values, path);
      for (const [rule, observed] of [
        ["checkpoint.components", stored.components],
        ["checkpoint.state", state],
      ]) {
        if (canonical(found) !== canonical(observed ?? null)) {
          const expected = "the fingerprints that follow from arrays and values";
          throw this.fault(rule, path, "components", expected, "others");
        }
      }
    }

    keepForLater(step, chain, state) {
      const { needed, states, chains } = this.shared;
      if (!needed.has(step)) return;
      states.set(step, new Map(state));
      const path = `runs/reference/checkpoints/step-${String(step).padStart(9, "0")}.json`;
      if (this.checker.archive.members.has(path)) chains.set(step, chain);
    }

    async readArrays(blob, npzPath, described, path) {
      const npz = await openNpz(blob, npzPath);
      const prints = new Map();
      for (const name of npz.names) {
        const row = described[name];
        if (row && (row.same_as !== null || row.logical_type !== null)) {
          throw new Fault(CODES.NEWER, "version.array", path, name, "no reserved member", "one");
        }
        const array = await npz.array(name);
        const found = await array.fingerprint();
        await array.finish();
        const expected = {
          dtype: array.dtype, shape: array.shape, fingerprint: found, logical_type: null, same_as: null,
        };
        if (canonical(row ?? null) !== canonical(expected)) {
          throw this.fault("checkpoint.array", npzPath, name, `as ${path} describes it`, "another");
        }
        prints.set(name, found);
        this.checker.counts.arrays += 1;
        await this.checker.alive();
      }
      const missing = Object.keys(described).find((name) => !prints.has(name));
      if (missing !== undefined) {
        throw this.fault("checkpoint.array", npzPath, missing, "the array", "none");
      }
      return prints;
    }

    // -------------------------------------------------------------- what is stored (5.10, 8.13)

    /** A run stores all that the plan asks for; one that is the reference again only its log. */
    checkStored(last) {
      const { archive } = this.checker;
      const { record } = this.plan;
      const every = record.checkpoint_every;
      const folder = `runs/${this.run}/checkpoints/`;
      const stored = [...archive.members.keys()].filter((one) => one.startsWith(folder)).length / 2;
      const kept = archive.members.has(this.keptPath);
      if (this.run !== "reference" && !stored && !kept) return;
      const keeps = this.rows > 0 && record.keep.length > 0;
      if (kept !== keeps) {
        const [expected, observed] = keeps ? ["an array a kept stage", "none"] : ["none", "some"];
        throw this.fault("run.kept", this.path, "kept arrays", expected, observed);
      }
      let due = last > this.after ? 2 : 1;
      if (every !== null) {
        due += Math.max(0, Math.floor((last - 1) / every) - Math.floor(this.after / every));
      }
      if (stored !== due) {
        throw this.fault("run.checkpoints", this.path, "checkpoints", due, stored);
      }
    }

    skip(path) {
      this.checker.skipped.push(path);
      this.shared.unread.delete(path);
      return null;
    }

    fault(rule, entry, place, expected, observed) {
      const code = rule === "npy.bool" ? CODES.FORMAT : CODES.INTEGRITY;
      return new Fault(code, rule, entry, place, expected, observed);
    }
  }

  /**
   * Hold every run of the plan against it and against itself; faults go to the checker.
   * @param {any} checker a check whose documents were read
   * @returns {Promise<void>}
   */
  async function checkRuns(checker) {
    const { comparisons } = checker.plan;
    const paths = [...checker.archive.members.keys()].filter((path) => path.startsWith("runs/"));
    const planned = new Set(["reference", ...comparisons.map(({ name }) => name)]);
    const stored = new Set(paths.map((path) => path.split("/")[1]));
    for (const run of planned) {
      if (!stored.has(run)) checker.integrity("run.missing", `runs/${run}`, "", "the run", "none");
    }
    for (const run of stored) {
      if (!planned.has(run)) {
        checker.integrity("run.unplanned", `runs/${run}`, "", "runs of the plan alone", "another");
      }
    }
    if (checker.faults.length) return;
    const shared = {
      states: new Map(),
      chains: new Map(),
      needed: new Set([0, ...comparisons.map((one) => one.resume_at ?? 0)]),
      unread: new Set(paths.filter((path) => !/^runs\/[^/]+\/outputs\//.test(path))),
      declared: "",
    };
    const runs = [null, ...comparisons];
    for (const comparison of runs) {
      const run = comparison?.name ?? "reference";
      const whole = !checker.faults.length || comparison?.resume_at === null;
      if (whole) await checker.trying(`runs/${run}`, () => new RunCheck(checker, run, comparison, shared).check());
    }
    if (checker.faults.length) return;
    for (const path of shared.unread) {
      checker.integrity("checkpoint.unlogged", path, "", "files of steps of the log", "another");
    }
  }

  repropack.runs = { checkRuns };
})((globalThis.repropack ??= {}));
