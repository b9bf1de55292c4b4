/**
 * What was found, in the words of `repropack check` and `repropack diff`.
 *
 * Text of a package gets here as it is, and gets out escaped: what would hide itself or reverse a
 * line is shown as an escape.
 */
(function (repropack) {
  "use strict";

  const HIDDEN =
    /[\p{C}\p{Zl}\p{Zp}\u00a0\u034f\u115f\u1160\u1680\u17b4\u17b5\u180b-\u180f\u2000-\u200a\u202f\u205f\u2800\u3000\u3164\ufe00-\ufe0f\uffa0\u{e0100}-\u{e01ef}]/u;
  const MARK = /[\p{Mn}\p{Me}]/u;
  const MAX_MARKS = 2;

  /**
   * A text of a package as one line of printable characters.
   * @param {unknown} text
   * @param {number} [most] characters at which it is cut, escapes counted as they are written
   * @returns {string}
   */
  function escapeText(text, most = 240) {
    let shown = "";
    let length = 0;
    let marks = MAX_MARKS;
    const letters = [...String(text)];
    for (let at = 0; at < letters.length; at += 1) {
      const letter = letters[at];
      marks = MARK.test(letter) ? marks + 1 : 0;
      const visible = !HIDDEN.test(letter) && marks <= MAX_MARKS;
      const piece = visible ? letter : escaped(letter.codePointAt(0));
      length += visible ? 1 : piece.length;
      if (length > most) return `${shown}... (${letters.length - at} more characters)`;
      shown += piece;
    }
    return shown;
  }

  function escaped(code) {
    const hex = code.toString(16);
    if (code <= 0xff) return `\\x${hex.padStart(2, "0")}`;
    return code <= 0xffff ? `\\u${hex.padStart(4, "0")}` : `\\U${hex.padStart(8, "0")}`;
  }

  /** @param {string[]} names @param {number} [most] @returns {string} what exceeds it is counted */
  function joinNames(names, most = 8) {
    const shown = names.slice(0, most).map((name) => escapeText(name, 80));
    if (names.length > most) shown.push(`${names.length - most} more`);
    return shown.join(", ");
  }

  /** @param {number} count @param {string} noun @param {string} [nouns] @returns {string} */
  function plural(count, noun, nouns = `${noun}s`) {
    return `${number(count)} ${count === 1 ? noun : nouns}`;
  }

  /** @param {number} value @returns {string} with commas between thousands */
  function number(value) {
    return value.toLocaleString("en-US");
  }

  /** @param {number} bytes @returns {string} in decimal units */
  function size(bytes) {
    if (bytes < 1000) return plural(bytes, "byte");
    let [value, unit] = [bytes / 1000, "kB"];
    for (const larger of ["MB", "GB", "TB"]) {
      if (value < 999.95) break;
      [value, unit] = [value / 1000, larger];
    }
    return `${value.toFixed(1)} ${unit}`;
  }

  const OUTPUT = /^output:([^:]*)(?::(.*))?$/;

  /** @param {string} stage @returns {string} an output as `output out/a.npz · loss` */
  function stageText(stage) {
    const [, path, array] = OUTPUT.exec(stage) ?? [];
    if (path === undefined) return escapeText(stage, 80);
    const shown = `output ${escapeText(unquoted(path), 80)}`;
    return array === undefined ? shown : `${shown} · ${escapeText(unquoted(array), 40)}`;
  }

  function unquoted(text) {
    try {
      return decodeURIComponent(text);
    } catch {
      return text;
    }
  }

  // ---------------------------------------------------------------- a divergence

  function isOutput(divergence) {
    return (divergence.stage ?? "").startsWith("output:");
  }

  function blamed({ stage, inputs, state_after: after }) {
    if (stage === null) return after?.differing ?? [];
    return inputs
      .filter(({ name, equal }) => equal === false && name.startsWith("state:"))
      .map(({ name }) => name.slice("state:".length));
  }

  /**
   * Where two logs part: `step 41 · batch`.
   * @param {any} divergence
   * @returns {string}
   */
  function divergencePlace(divergence) {
    if (isOutput(divergence)) return stageText(divergence.stage);
    const { kind, step, last_equal_step: equal } = divergence;
    const narrowed = equal + 1 < step && kind !== "length";
    const steps = narrowed ? `steps ${equal + 1}..${step}` : `step ${step}`;
    const what = whatOf(divergence);
    return what ? `${steps} · ${what}` : steps;
  }

  function whatOf(divergence) {
    const { stage, kind, metrics } = divergence;
    if (stage !== null) return stageText(stage);
    if (kind === "state") return `state ${joinNames(blamed(divergence), 4)}`.trimEnd();
    if (kind === "metric") return `metric ${joinNames(metrics.differing, 4)}`.trimEnd();
    return kind === "length" ? "end of the run" : "";
  }

  /**
   * What was observed there, and nothing else.
   * @param {any} divergence
   * @returns {string}
   */
  function divergenceEvidence(divergence) {
    const { kind, inputs, stages, metrics } = divergence;
    const named = (equal) => inputs.filter((one) => one.equal === equal).map(({ name }) => name);
    if (isOutput(divergence) && kind === "output") {
      const differing = stages.differing.length;
      const parts = plural(stages.equal.length + differing, "output or array", "outputs and arrays");
      return `${differing} of ${parts} ${differing === 1 ? "differs" : "differ"}`;
    }
    if (kind === "output" || kind === "undetermined") {
      const [equal, unknown] = [joinNames(named(true)), joinNames(named(null))];
      const unrecorded = unknown ? `inputs not recorded (${unknown}), ` : "";
      return `${equal ? `inputs equal (${equal}), ` : ""}${unrecorded}output differs`;
    }
    if (kind === "state") return stateEvidence(divergence, named(true));
    if (kind === "structure") return structureEvidence(divergence);
    if (kind === "metric") {
      const names = joinNames(metrics.differing) || "a metric";
      const verb = metrics.differing.length > 1 ? "differ" : "differs";
      return `every recorded stage and component is equal, ${names} ${verb}`;
    }
    return lengthEvidence(divergence);
  }

  function stateEvidence(divergence, equal) {
    const components = joinNames(blamed(divergence)) || "a component";
    if (divergence.stage === null) {
      return `every recorded stage is equal, state differs after the step: ${components}`;
    }
    return `state differs: ${components}${equal.length ? `; equal: ${joinNames(equal)}` : ""}`;
  }

  function structureEvidence({ missing, unexpected }) {
    const parts = [];
    if (missing.length) parts.push(`missing: ${joinNames(missing)}`);
    if (unexpected.length) parts.push(`unexpected: ${joinNames(unexpected)}`);
    return `other stages (${parts.join("; ") || "in another order, or made of other inputs"})`;
  }

  function lengthEvidence({ step, missing, unexpected }) {
    if (missing.length) {
      return `the run ended before step ${step}, the one it is held against did not`;
    }
    if (unexpected.length) {
      return `the run went on to step ${step}, the one it is held against had ended`;
    }
    return "every recorded value is equal, whether and why the run ended there differs";
  }

  /** @param {any} counts @returns {string} how many steps, stages and components differ */
  function howFar({ differing, compared, stages, components }) {
    const parts = [["stage", stages], ["component", components]]
      .filter(([, rows]) => rows.length)
      .map(([noun, rows]) => {
        const some = rows.filter((row) => row.differing > 0).length;
        return `${some} of ${plural(rows.length, noun)}`;
      });
    const verb = differing === 1 ? "differs" : "differ";
    const steps = `${number(differing)} of ${plural(compared, "step")} ${verb}`;
    return parts.length ? `${steps}, in ${parts.join(" and ")}` : steps;
  }

  /** @param {any} counts @returns {string} whether two runs meet again */
  function meeting({ meets_again: again, equal_between: between }) {
    const stretch = ({ first_step: first, last_step: last }) =>
      first === last ? `step ${first}` : `steps ${first}..${last}`;
    if (again) return `yes: all that both recorded is equal at ${stretch(again)}, to the end`;
    if (between) return `for a while: all that both recorded is equal at ${stretch(between)}`;
    return "no: there is no later step at which all that both recorded is equal";
  }

  /**
   * What comparing two runs found, in a sentence.
   * @param {any} report of `compare`
   * @returns {string}
   */
  function summary(report) {
    const { verdict, comparable, divergence, counts } = report;
    if (!comparable) return "These two cannot be compared, so this says nothing of where they part.";
    if (verdict === "identical") {
      const whole = report.chains_equal ? "one history" : "equal line by line";
      return `On all the steps that both have they are ${whole}.`;
    }
    if (divergence === null) {
      return report.recorded_alike
        ? "No step differs that both have; what was there before them does."
        : "No divergence where both were recorded; but they were not recorded at the same steps, " +
            "so that this is less than identical.";
    }
    const how = isOutput(divergence) ? divergenceEvidence(divergence) : howFar(counts);
    return `They part at ${divergencePlace(divergence)}; ${how}.`;
  }

  /** @param {any} reason @returns {string} why two runs cannot be compared */
  function whyNot({ reason, left, right }) {
    if (reason === "no-step-in-common") return "they have no step in common";
    if (reason === "no-name-in-common") {
      return "no stage and no component of one is in the other, so that they are of different " +
        `experiments: left has ${joinNames(left)}; right ${joinNames(right)}`;
    }
    return "there is no step of which both recorded stages or both the state: they were recorded " +
      "at different steps";
  }

  repropack.words = {
    escapeText, joinNames, plural, number, size, stageText, divergencePlace, divergenceEvidence,
    howFar, meeting, summary, whyNot,
  };
})((globalThis.repropack ??= {}));
