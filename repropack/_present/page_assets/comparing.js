/**
 * Two runs of the packages that were dropped, chosen and compared.
 */
(function (repropack) {
  "use strict";

  const { compare } = repropack.diverge;
  const { openLog } = repropack.log;
  const {
    escapeText, joinNames, number, plural, stageText, divergencePlace, divergenceEvidence, meeting,
    summary, whyNot,
  } = repropack.words;

  const MAX_ROWS = 30;

  /** Every run of the packages: its package, its name, and what it is called in a choice. */
  function choices(reports) {
    return reports.flatMap((report, at) => {
      const runs = ["reference", ...report.plan.comparisons.map(({ name }) => name)];
      const before = reports.length > 1 ? `${at + 1}: ${escapeText(report.name, 60)} · ` : "";
      return runs.map((run) => ({ report, at, run, label: `${before}${run}` }));
    });
  }

  async function openRun({ report, run }) {
    const path = `runs/${run}/fingerprints.jsonl`;
    const log = await openLog(report.archive.blocks(path), path);
    return { header: log.header, start: log.start, steps: log.steps() };
  }

  /**
   * A choice of two runs, and what comparing them gives.
   * @param {any[]} reports of one package or of two, found intact
   * @param {(action: (signal: AbortSignal) => Promise<void>) => Promise<void>} doing
   * @returns {{section: HTMLElement|null}} nothing where there is one run alone
   */
  function comparing(reports, doing) {
    const { element } = repropack.panel;
    const all = choices(reports);
    if (all.length < 2) return { section: null };
    const second = all.findIndex(({ at, run }) => at === 1 && run === "reference");
    const other = all.findIndex(({ report: { chains }, run }) => chains.get(run) !== chains.get("reference"));
    const select = (id, chosen) => {
      const options = all.map(({ label }, at) =>
        element("option", { value: at, selected: at === chosen }, label));
      return element("select", { id }, ...options);
    };
    const left = select("panel-left", 0);
    const right = select("panel-right", second < 0 ? Math.max(1, other) : second);
    const found = element("div", { class: "panel-found", role: "status", "aria-live": "polite" });
    const show = () => doing(async () => {
      const sides = [left, right].map(({ value }) => all[Number(value)]);
      const report = await compare(await openRun(sides[0]), await openRun(sides[1]));
      found.replaceChildren(...told(report));
    });
    left.addEventListener("change", show);
    right.addEventListener("change", show);
    const section = element(
      "article", { class: "panel-report panel-compare" },
      element("h3", {}, "Where two runs part"),
      element(
        "p", { class: "panel-choice" },
        element("label", { for: "panel-left" }, "left"), left,
        element("label", { for: "panel-right" }, "right"), right,
      ),
      found,
    );
    show();
    return { section };
  }

  /** What was found of two runs: the verdict first, then the evidence. */
  function told(report) {
    const { element, terms, verdictMark } = repropack.panel;
    const { divergence, counts } = report;
    const shown = [element("p", {}, verdictMark(report.comparable ? report.verdict : "not compared"), ` ${summary(report)}`)];
    if (!report.comparable) {
      return [...shown, terms(report.reasons.map((why) => ["no comparison", whyNot(why)]))];
    }
    const compared = report.last_step - report.first_step + 1;
    const steps = `${plural(compared, "step")} that both have, ${report.first_step}..${report.last_step}`;
    const rows = [["compared", steps], ...beginnings(report)];
    if (divergence) {
      rows.push(
        ["first divergence", divergencePlace(divergence)],
        ["evidence", divergenceEvidence(divergence)],
        ["inputs", inputsOf(divergence)],
        ["stages there", parted(divergence.stages, stageText)],
        ["state before it", parted(divergence.state_before)],
        ["state after it", parted(divergence.state_after)],
        ["other stages", report.structure && otherStages(report.structure)],
        ["differing", `${number(counts.differing)} of ${plural(counts.compared, "step")}`],
        ["meet again", divergence.step < report.last_step && meeting(counts)],
        ["printed alike", printedAlike(counts)],
      );
    }
    shown.push(terms(rows));
    if (divergence) shown.push(...table(counts));
    return shown;
  }

  /** What was another before any step. */
  function beginnings(report) {
    const rows = [["configuration", !report.configurations_equal && "they ran with another configuration"]];
    for (const [label, parts] of [
      ["constants", report.constants],
      ["first state", report.start],
      ["declared stages", report.declared],
    ]) {
      if (parts?.differing.length) rows.push([label, parted(parts, stageText)]);
    }
    return rows;
  }

  function parted(parts, text = escapeText) {
    if (!parts) return "";
    const said = [];
    if (parts.differing.length) said.push(`differing: ${joinNames(parts.differing.map((one) => text(one)))}`);
    if (parts.equal.length) said.push(`equal: ${joinNames(parts.equal.map((one) => text(one)))}`);
    return said.join("; ");
  }

  function inputsOf({ inputs }) {
    const word = (equal) => (equal === null ? "not recorded" : equal ? "equal" : "differs");
    return inputs.slice(0, 12).map(({ name, equal }) => `${escapeText(name, 80)} ${word(equal)}`).join("; ");
  }

  function otherStages({ step, steps, missing, extra, reordered, redeclared }) {
    const said = [
      ["missing on the right", missing], ["extra on the right", extra],
      ["in another order", reordered], ["made of other inputs", redeclared],
    ].filter(([, names]) => names.length).map(([what, names]) => `${what}: ${joinNames(names)}`);
    return `from step ${step} on, at ${plural(steps, "step")}: ${said.join("; ")}`;
  }

  function printedAlike({ printed }) {
    const alike = printed.filter(({ compared, equal }) => compared && compared === equal);
    if (!alike.length) return "";
    return `${joinNames(alike.map(({ metric }) => metric))} at every step; proves nothing`;
  }

  /** A row for each stage, component and metric that differs. */
  function table(counts) {
    const { element } = repropack.panel;
    const rows = [["stage", counts.stages], ["component", counts.components], ["metric", counts.metrics]]
      .flatMap(([what, tallies]) => tallies.map((row) => [what, row]))
      .filter(([, row]) => row.differing);
    if (!rows.length) return [];
    const cells = ([what, row]) => [
      what, stageText(row.name), `${number(row.differing)} of ${number(row.compared)}`,
      `step ${row.first_step}`,
    ];
    const head = ["what", "name", "differs at", "first at"].map((text) => element("th", { scope: "col" }, text));
    const body = rows.slice(0, MAX_ROWS).map((row) =>
      element("tr", {}, ...cells(row).map((text) => element("td", {}, text))));
    const more = rows.length - MAX_ROWS;
    const shown = element(
      "div", { class: "panel-wide", tabindex: 0, role: "region", "aria-label": "What differs" },
      element("table", {}, element("thead", {}, element("tr", {}, ...head)), element("tbody", {}, ...body)),
    );
    return more > 0 ? [shown, element("p", {}, `and ${more} more`)] : [shown];
  }

  repropack.comparing = { comparing, told };
})((globalThis.repropack ??= {}));
