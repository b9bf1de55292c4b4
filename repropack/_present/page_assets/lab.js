/**
 * The replay lab in JavaScript: the same bytes at every stage of every step.
 *
 * float32 arithmetic is double arithmetic that is rounded once: of two float32 numbers the double
 * result of + - * / and of the square root, rounded by Math.fround, is the float32 result, because
 * 53 >= 2 * 24 + 2. Where an order of operations is written out as a loop, it is part of the result.
 */
(function (repropack) {
  "use strict";

  const { breathe, digest, utf8 } = repropack.bytes;
  const { Float, numberOf, canonical, spell } = repropack.canonical;
  const { fingerprintHead } = repropack.npz;
  const { chainOf, CHAIN_START } = repropack.log;
  const { Pcg64 } = repropack.pcg64;
  const { printMetric } = repropack.printed;

  const f32 = Math.fround;

  /** Digests of the packaged sources that this is a copy of (3.5). */
  const SOURCES = Object.freeze([
    "sha256:28a4a1e902b34a85fe93d1e6c4d5c49122bb10d230039217ddf49aad9119c803",
  ]);
  const ENTRY_POINT = "replay_lab:ReplayLab";

  const DEFAULTS = Object.freeze({
    rows: 512, features: 24, batch_size: 64, signal_scale: 0.4, sine_amplitude: 0.3,
    noise_scale: 0.12, learning_rate: 0.04, beta1: 0.9, beta2: 0.999, epsilon: 1e-8,
    initial_scale: 0.1, reduction: "forward",
  });
  const WHOLE = ["rows", "features", "batch_size"];

  const DECLARED = [
    ["batch", ["state:sampler"]],
    ["contributions", ["batch", "state:weights"]],
    ["gradient", ["contributions"]],
    ["weights", ["gradient", "state:weights", "state:adam"]],
  ];

  /** A run that cannot be made here, and why. */
  class CannotReplay extends Error {}

  /**
   * @param {Record<string, any>} config encoded
   * @returns {typeof DEFAULTS}
   */
  function readConfig(config) {
    const found = { ...DEFAULTS };
    for (const [name, value] of Object.entries(config)) {
      if (!(name in DEFAULTS)) throw new CannotReplay(`the lab has no setting ${name}`);
      if (name === "reduction") {
        if (value !== "forward" && value !== "reverse") throw new CannotReplay("no such reduction");
        found.reduction = value;
        continue;
      }
      const number = numberOf(value);
      const whole = WHOLE.includes(name);
      if (!Number.isFinite(number) || (whole && !(Number.isSafeInteger(number) && number >= 1))) {
        throw new CannotReplay(`${name}: expected ${whole ? "1 or more" : "a number"}`);
      }
      found[name] = number;
    }
    if (found.batch_size > found.rows) throw new CannotReplay("a batch that has more than all rows");
    if (found.rows * found.features > 2 ** 24) throw new CannotReplay("a data set too large for a page");
    return found;
  }

  /** Bytes of typed arrays are those of the machine; every browser's is little-endian so far. */
  function checkByteOrder() {
    if (new Uint8Array(new Uint16Array([1]).buffer)[0] !== 1) {
      throw new CannotReplay("this machine is big-endian");
    }
  }

  function print(dtype, shape, array) {
    const bytes = new Uint8Array(array.buffer, array.byteOffset, array.byteLength);
    return digest(fingerprintHead(dtype, shape), bytes);
  }

  function rounded(values, scale = 1) {
    return Float32Array.from(values, (value) => value * scale);
  }

  /** A float64 power by squaring, least significant bit first. */
  function power(base, exponent) {
    let result = 1;
    for (let rest = exponent; rest; rest = Math.floor(rest / 2)) {
      if (rest % 2) result *= base;
      base *= base;
    }
    return result;
  }

  /** The odd Taylor polynomial of the sine through x^15, by Horner's scheme. */
  function sine(x) {
    const square = x * x;
    let result = 0;
    for (let odd = 15; odd > 0; odd -= 2) {
      let factorial = 1;
      for (let n = 2; n <= odd; n += 1) factorial *= n;
      result = result * square + (odd % 4 === 1 ? 1 : -1) / factorial;
    }
    return result * x;
  }

  /** The sum of a vector that is not empty, halves added until one element is left; in place. */
  function treeSum(values) {
    let length = values.length;
    while (length > 1) {
      const half = Math.floor(length / 2);
      for (let i = 0; i < half; i += 1) values[i] += values[half + i];
      if (length % 2) values[half] = values[length - 1];
      length = half + (length % 2);
    }
    return values[0];
  }

  /** The experiment: data, weights, optimizer and sampler, advanced one update at a time. */
  class Lab {
    constructor(config, seed) {
      this.config = config;
      this.sampler = Pcg64.spawned(seed, 2);
      this.features = this.targets = this.weights = new Float32Array(0);
      this.first = new Float32Array(config.features);
      this.second = new Float32Array(config.features);
      this.updates = 0;
    }

    /**
     * Make data and the state at step 0; data, weights and sampler have a source each.
     * @param {typeof DEFAULTS} config
     * @param {bigint} seed
     * @returns {Promise<Lab>}
     */
    static async make(config, seed) {
      const { rows, features, initial_scale: scale } = config;
      const [lab, data] = [new Lab(config, seed), Pcg64.spawned(seed, 0)];
      lab.features = rounded(await data.normals(rows * features));
      const weights = await data.normals(features);
      lab.targets = lab.makeTargets(weights, await data.normals(rows));
      lab.weights = rounded(await Pcg64.spawned(seed, 1).normals(features), scale);
      return lab;
    }

    makeTargets(normals, noise) {
      const { rows, features, signal_scale: scale, sine_amplitude: bend, noise_scale } = this.config;
      const weights = normals.map((value) => value * scale);
      const targets = new Float32Array(rows);
      for (let row = 0; row < rows; row += 1) {
        let total = 0;
        for (let j = 0; j < features; j += 1) total += this.features[row * features + j] * weights[j];
        const x = this.features[row * features];
        total += bend * sine(x < -3 ? -3 : x > 3 ? 3 : x);
        targets[row] = total + noise_scale * noise[row];
      }
      return targets;
    }

    /** @returns {[string, string][]} */
    constants() {
      const { rows, features } = this.config;
      return [
        ["features", print("<f4", [rows, features], this.features)],
        ["targets", print("<f4", [rows], this.targets)],
      ];
    }

    /** The complete state, copied. */
    save() {
      const { weights, first, second, updates, sampler } = this;
      return {
        weights: weights.slice(), first: first.slice(), second: second.slice(), updates,
        sampler: sampler.copy(),
      };
    }

    /** Continue from a state; components that are reset come from another one. */
    load(state, initial, reset) {
      const from = (component) => (reset.includes(component) ? initial : state);
      this.weights = from("weights").weights.slice();
      this.sampler = from("sampler").sampler.copy();
      const adam = from("adam");
      [this.first, this.second, this.updates] = [adam.first.slice(), adam.second.slice(), adam.updates];
    }

    /** Fingerprints of the components (5.6), sorted. @returns {[string, string][]} */
    state() {
      const shape = [this.config.features];
      const array = (values) => ({ $array: print("<f4", shape, values) });
      const component = (rows) => digest("repropack.state.v1\n", canonical(rows));
      const { state, increment } = this.sampler;
      return [
        ["adam", component([
          ["adam.first_moment", array(this.first)], ["adam.second_moment", array(this.second)],
          ["adam.updates", this.updates],
        ])],
        ["sampler", component([["sampler", {
          bit_generator: "PCG64", has_uint32: 0,
          state: { inc: encodedInteger(increment), state: encodedInteger(state) }, uinteger: 0,
        }]])],
        ["weights", component([["weights", array(this.weights)]])],
      ];
    }

    /** Advance by one update. @returns {[string, string][]} fingerprints of its stages */
    step() {
      const { batch_size: size, features } = this.config;
      const batch = this.drawBatch();
      const contributions = this.contributionsOf(batch);
      const gradient = this.addRows(contributions);
      this.updateWeights(gradient);
      const wide = new Int32Array(2 * size); // int64, little-endian; no row has a number so large
      for (let i = 0; i < size; i += 1) wide[2 * i] = batch[i];
      return [
        ["batch", print("<i8", [size], wide)],
        ["contributions", print("<f4", [size, features], contributions)],
        ["gradient", print("<f4", [features], gradient)],
        ["weights", print("<f4", [features], this.weights)],
      ];
    }

    /** The rows of the smallest keys, in order of their keys; a key a row. */
    drawBatch() {
      const { rows, batch_size: size } = this.config;
      const [high, low] = [new Uint32Array(rows), new Uint32Array(rows)];
      for (let row = 0; row < rows; row += 1) {
        this.sampler.next();
        high[row] = this.sampler.high;
        low[row] = this.sampler.low;
      }
      const order = Uint32Array.from(high, (_, row) => row);
      return order.sort((a, b) => high[a] - high[b] || low[a] - low[b] || a - b).subarray(0, size);
    }

    contributionsOf(batch) {
      const { features } = this.config;
      const found = new Float32Array(batch.length * features);
      const scale = f32(2 / batch.length);
      batch.forEach((row, at) => {
        const x = this.features.subarray(row * features, (row + 1) * features);
        let prediction = 0;
        for (let j = 0; j < features; j += 1) {
          prediction = f32(prediction + f32(x[j] * this.weights[j]));
        }
        const error = f32(f32(prediction - this.targets[row]) * scale);
        for (let j = 0; j < features; j += 1) found[at * features + j] = error * x[j];
      });
      return found;
    }

    addRows(contributions) {
      const { features, batch_size: size, reduction } = this.config;
      const total = new Float32Array(features);
      for (let n = 0; n < size; n += 1) {
        const row = (reduction === "forward" ? n : size - 1 - n) * features;
        for (let j = 0; j < features; j += 1) total[j] += contributions[row + j];
      }
      return total;
    }

    /** Adam, every operation of it rounded once to float32. */
    updateWeights(gradient) {
      const { beta1, beta2, epsilon, learning_rate: rate, features } = this.config;
      const [keep1, add1, keep2, add2] = [beta1, 1 - beta1, beta2, 1 - beta2].map(f32);
      this.updates += 1;
      const correct1 = f32(1 - power(beta1, this.updates));
      const correct2 = f32(1 - power(beta2, this.updates));
      for (let j = 0; j < features; j += 1) {
        const g = gradient[j];
        this.first[j] = f32(keep1 * this.first[j]) + f32(add1 * g);
        this.second[j] = f32(keep2 * this.second[j]) + f32(add2 * f32(g * g));
        const divisor = f32(f32(Math.sqrt(f32(this.second[j] / correct2))) + f32(epsilon));
        const change = f32(f32(f32(rate) * f32(this.first[j] / correct1)) / divisor);
        this.weights[j] -= change;
      }
    }

    /** The mean squared error over all rows, in float64. */
    loss() {
      const { rows, features } = this.config;
      const squares = new Float64Array(rows);
      for (let row = 0; row < rows; row += 1) {
        let total = 0;
        for (let j = 0; j < features; j += 1) {
          total += this.features[row * features + j] * this.weights[j];
        }
        const error = total - this.targets[row];
        squares[row] = error * error;
      }
      return treeSum(squares) / rows;
    }
  }

  function encodedInteger(value) {
    return value > BigInt(Number.MAX_SAFE_INTEGER) ? { $int: String(value) } : Number(value);
  }

  /** A loss as a metric; a NaN has bits that no language fixes. */
  function encodedLoss(loss, step) {
    if (Number.isNaN(loss)) {
      const why = "and the bits of a NaN differ from machine to machine";
      throw new CannotReplay(`the loss of step ${step} is not a number, ${why}`);
    }
    return Number.isFinite(loss) ? new Float(loss) : { $float: loss > 0 ? "inf" : "-inf" };
  }

  /**
   * Make a run of a plan: lines as a log has them, one by one.
   * @param {{experiment: any, record: any}} plan seed, steps, configuration and recording
   * @param {any} comparison its row of the plan; null for the reference
   * @param {{config: string, states: Map<number, any>, chains: Map<number, string>, needed: Set<number>}}
   *   shared what the reference leaves for those that resume from it
   * @returns {Promise<Side>}
   * @throws {CannotReplay}
   */
  async function makeRun(plan, comparison, shared) {
    checkByteOrder();
    const { experiment, record } = plan;
    const config = Object.assign({}, experiment.config, comparison?.config);
    const lab = await Lab.make(readConfig(config), BigInt(experiment.seed));
    const after = comparison?.resume_at ?? 0;
    if (after) lab.load(shared.states.get(after), shared.states.get(0), comparison.reset);
    else if (comparison?.reset.length) throw new CannotReplay("a reset at the first step");
    const run = comparison?.name ?? "reference";
    const chain = after ? shared.chains.get(after) : CHAIN_START;
    if (comparison === null) shared.states.set(0, lab.save());
    const header = {
      run, config: digest(canonical(config)), constants: lab.constants(), first_step: after + 1,
      stages: DECLARED,
    };
    const start = { chain, state: lab.state() };
    return { header, start, steps: makeSteps(lab, plan, after, chain, comparison === null ? shared : null) };
  }

  /** @param {any} shared where the states of the reference go; null for any other run */
  async function* makeSteps(lab, { experiment, record }, after, before, shared) {
    let chain = before;
    for (let step = after + 1; step <= experiment.steps; step += 1) {
      const line = { metrics: {}, printed: {}, step };
      const stages = lab.step();
      const last = step === experiment.steps;
      const every = record.checkpoint_every;
      line.metrics.loss = encodedLoss(lab.loss(), step);
      if ("loss" in record.printed) {
        line.printed.loss = printMetric(line.metrics.loss, record.printed.loss);
      }
      if (last || step % record.stages_every === 0) line.stages = stages;
      if (last || step % record.state_every === 0 || (every !== null && step % every === 0)) {
        line.state = lab.state();
      }
      chain = chainOf(chain, utf8(spell(line).slice(1)));
      if (shared?.needed.has(step)) {
        shared.states.set(step, lab.save());
        shared.chains.set(step, chain);
      }
      yield { ...line, chain };
      await breathe();
    }
  }

  repropack.lab = {
    SOURCES, ENTRY_POINT, DEFAULTS, DECLARED, Lab, CannotReplay, readConfig, makeRun, power, sine, treeSum,
  };
})((globalThis.repropack ??= {}));
