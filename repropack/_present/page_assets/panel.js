/**
 * The panel in the page: packages are dropped and checked, two of them compared, the lab replayed.
 *
 * All text is put in as text. Nothing is fetched and nothing of a package is executed.
 */
(function (repropack) {
  "use strict";

  const { checkPackage, Stopped } = repropack.check;
  const { replay, fromPackage, fromPage, isLab, CannotReplay } = repropack.replay;
  const { escapeText, number, plural, size, divergencePlace, divergenceEvidence } = repropack.words;

  const MAX_FAULTS_SHOWN = 20;
  const MAX_FILES = 2; // checked at a time: two are compared with each other
  const NO_PACKAGE = "not a package";
  const OPEN = ["could-not-run", NO_PACKAGE, "not compared"]; // neither good nor bad
  const MANIFEST_SAYS = "its manifest says: ";

  /** Whether what was dropped is another kind of file altogether. */
  function isNoZip(faults) {
    return faults.some(({ rule }) => rule === "zip.not-a-zip");
  }

  /** What is said of a file: a verdict, or that there is no package whose verdict it could be. */
  function wordOf({ verdict, faults }) {
    return isNoZip(faults) ? NO_PACKAGE : verdict;
  }

  /**
   * An element; attributes that are true stand alone, those that are false or null are left out.
   * @param {string} tag
   * @param {Record<string, any>} [attributes]
   * @param {...(Node|string|null)} children texts become text
   * @returns {any}
   */
  function element(tag, attributes = {}, ...children) {
    const made = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) {
      if (value === null || value === false) continue;
      made.setAttribute(name, value === true ? "" : String(value));
    }
    made.append(...children.filter((child) => child !== null));
    return made;
  }

  /** A list of terms and what is said of them; those without a text are left out. */
  function terms(pairs) {
    const rows = pairs.filter(([, said]) => said);
    return element(
      "dl", { class: "panel-terms" },
      ...rows.flatMap(([term, said]) => [
        element("dt", {}, term),
        element("dd", {}, said instanceof Node ? said : String(said)),
      ]),
    );
  }

  function code(text) {
    return element("code", {}, text);
  }

  function verdictMark(verdict) {
    const good = verdict === "intact" || verdict === "identical";
    const kind = good ? "good" : OPEN.includes(verdict) ? "open" : "bad";
    return element("strong", { class: `panel-verdict panel-${kind}` }, verdict);
  }

  /** The panel of one page. */
  class Panel {
    constructor(section, data) {
      this.section = section;
      this.data = data ?? {};
      this.reports = [];
      this.articles = new WeakMap(); // of each report what is shown of it
      this.busy = null;
    }

    mount() {
      this.status = element("p", { class: "panel-status", role: "status", "aria-live": "polite" });
      this.progress = element("progress", { max: 1, value: 0, hidden: true, "aria-label": "Progress" });
      this.stop = element("button", { type: "button", hidden: true }, "Stop");
      this.stop.addEventListener("click", () => this.busy?.abort());
      this.results = element("div", { class: "panel-results" });
      this.section.classList.add("panel");
      this.section.replaceChildren(
        element("h2", {}, "In your browser"),
        element(
          "p", { class: "panel-lead" },
          (fromPage(this.data)
            ? "This page can check a package, say where two of them part, and replay the lab. "
            : "This page can check a package, and say where two of them part. ") +
            "It does so here: it has no network, and executes nothing of a package.",
        ),
        ...this.replaySection(),
        this.dropZone(),
        element("div", { class: "panel-doing" }, this.status, this.progress, this.stop),
        this.results,
      );
      this.section.hidden = false;
    }

    // -------------------------------------------------------------- files in

    dropZone() {
      const input = element("input", {
        type: "file", id: "panel-files", multiple: true, accept: ".zip", "aria-describedby": "panel-hint",
      });
      input.addEventListener("change", () => {
        this.take([...input.files]);
        input.value = "";
      });
      const zone = element(
        "div", { class: "panel-drop" },
        input,
        element("label", { for: "panel-files" }, "Choose a package, or two"),
        element("p", { id: "panel-hint" }, "Or drop zips on the page. Two are compared with each other, also one that comes after another."),
      );
      const lit = (on) => (event) => {
        if (!event.dataTransfer?.types.includes("Files")) return;
        event.preventDefault();
        zone.classList.toggle("panel-lit", on);
      };
      // the whole page takes a drop: a browser would open the file in place of the page
      document.addEventListener("dragover", lit(true));
      document.addEventListener("dragleave", lit(false));
      document.addEventListener("drop", (event) => {
        lit(false)(event);
        const items = [...(event.dataTransfer?.items ?? [])];
        if (items.some((item) => item.webkitGetAsEntry?.()?.isDirectory)) {
          this.say("A page reads packages as a zip. For a folder there is: repropack check FOLDER");
          return;
        }
        this.take([...(event.dataTransfer?.files ?? [])]);
      });
      return zone;
    }

    /** Check files, one after the other; one alone is compared with one that was intact before. */
    async take(files) {
      if (!files.length) return;
      await this.doing(async (signal) => {
        const intact = this.reports.filter(({ verdict }) => verdict === "intact");
        this.reports = files.length === 1 && intact.length === 1 ? intact : [];
        this.results.replaceChildren(...this.reports.map((one) => this.articles.get(one)));
        for (const file of files.slice(0, MAX_FILES)) {
          this.say(`Checking ${escapeText(file.name, 80)} (${size(file.size)}) ...`);
          const onProgress = (share) => {
            this.progress.value = share;
          };
          const report = await checkPackage(file, { signal, onProgress });
          if (signal.aborted) throw new Stopped();
          this.reports.push(report);
          this.articles.set(report, this.article(report));
          this.results.append(this.articles.get(report));
        }
        const said = this.reports.map((one) => `${escapeText(one.name, 80)}: ${wordOf(one)}`).join("; ");
        const more = files.length - MAX_FILES;
        this.say(more > 0 ? `${said}; ${plural(more, "more file")} not looked at: two at a time` : said);
        this.compareSection();
      });
    }

    /** Do one thing at a time, and let it be stopped. */
    async doing(action) {
      this.busy?.abort();
      const controller = new AbortController();
      this.busy = controller;
      this.progress.value = 0;
      this.progress.hidden = this.stop.hidden = false;
      try {
        await action(controller.signal);
      } catch (error) {
        if (this.busy !== controller) return; // something else has begun, and has the word
        if (error instanceof Stopped) this.say("Stopped.");
        else if (error instanceof CannotReplay) this.say(`It cannot be replayed here: ${error.message}.`);
        else this.say(`It ended with an error of this page: ${escapeText(error?.message ?? error)}`);
      } finally {
        if (this.busy === controller) {
          this.busy = null;
          this.progress.hidden = this.stop.hidden = true;
        }
      }
    }

    say(text) {
      this.status.textContent = text;
    }

    // -------------------------------------------------------------- one package

    article(report) {
      const { verdict, name, manifest, counts, faults, notLookedAt } = report;
      const about = manifest?.about;
      const said = faults.length ? MANIFEST_SAYS : "";
      const right = `${plural(counts.entries, "entry", "entries")}, ` +
        `${plural(counts.steps, "step")} of fingerprint logs and ${plural(counts.arrays, "array")}`;
      const found = element(
        "article", { class: "panel-report" },
        element("h3", {}, verdictMark(wordOf(report)), " ", escapeText(name, 120)),
        element(
          "p", {},
          faults.length
            ? `${isNoZip(faults) ? "It is not a zip. " : ""}Faults: ${faults.length}. ` +
              "Nothing of the package was executed."
            : `${right} are what the package says they are.`,
        ),
        faults.length ? this.faultList(faults) : null,
        terms([
          [`${said}title`, about && escapeText(about.title)],
          [`${said}package`, about && `${escapeText(about.name, 80)} ${escapeText(about.version, 80)}`],
          [`${said}package digest`, manifest && code(manifest.packageDigest)],
          [`${said}evidence digest`, manifest && code(manifest.evidenceDigest)],
          ["this page", manifest && this.ofThisPage(manifest, verdict)],
        ]),
      );
      if (isLab(report)) found.append(this.replayBlock(fromPackage(report), "Replay the runs of this package"));
      found.append(this.limits(notLookedAt, faults.length > 0));
      return found;
    }

    /** Whether a package is the one that the page is of; of one with faults what its manifest says. */
    ofThisPage({ packageDigest, evidenceDigest }, verdict) {
      const { package_digest: one, evidence_digest: evidence } = this.data;
      if (verdict !== "intact") {
        if (!evidence) return "";
        const which = evidence === evidenceDigest ? "the evidence digest of this page" : "another evidence digest";
        return `its manifest says ${which}; what the package holds is not shown to be that`;
      }
      if (one && one === packageDigest) return "is of this very package: the package digest is equal";
      if (evidence && evidence === evidenceDigest) {
        const same = "plan, source, inputs and runs are those that this page is of";
        return one ? `${same}; the package digest is another` : same;
      }
      return evidence ? "is of another package: the evidence digest differs" : "";
    }

    faultList(faults) {
      const items = faults.slice(0, MAX_FAULTS_SHOWN).map((fault) =>
        element(
          "li", {},
          code(escapeText(fault.entry, 160)), " ",
          escapeText(fault.place, 160),
          element(
            "dl", { class: "panel-fault" },
            element("dt", {}, "expected"), element("dd", {}, escapeText(fault.expected)),
            element("dt", {}, "observed"), element("dd", {}, escapeText(fault.observed)),
            element("dt", {}, "rule"), element("dd", {}, `${fault.rule} (${fault.code})`),
          ),
        ));
      const more = faults.length - MAX_FAULTS_SHOWN;
      if (more > 0) items.push(element("li", {}, `and ${more} more`));
      return element("ol", { class: "panel-faults" }, ...items);
    }

    /** What nobody looked at: unfolded where there are faults, since more of it was left. */
    limits(notLookedAt, faulty) {
      return element(
        "details", { class: "panel-limits", open: faulty },
        element("summary", {}, "What was not looked at"),
        element("ul", {}, ...notLookedAt.map((one) => element("li", {}, escapeText(one)))),
        faulty ? null : element(
          "p", {}, "Nothing of the package was executed. Whether it can be reproduced is for ",
          code("repropack verify"), " to find out.",
        ),
      );
    }

    // -------------------------------------------------------------- two runs

    compareSection() {
      this.comparison?.remove();
      const readable = this.reports.filter(({ verdict }) => verdict === "intact");
      if (readable.length < this.reports.length) {
        if (readable.length) {
          this.comparison = element(
            "p", { class: "panel-uncompared" },
            "The two are not compared: one of them is not intact. " +
              `One that comes next is compared with ${escapeText(readable[0].name, 80)}.`,
          );
          this.results.append(this.comparison);
        }
        return;
      }
      if (!readable.length) return;
      const { section } = repropack.comparing.comparing(readable, (action) => this.doing(action));
      this.comparison = section;
      if (section) this.results.append(section);
    }

    // -------------------------------------------------------------- the lab

    replaySection() {
      const recorded = fromPage(this.data);
      if (!recorded) return [];
      const runs = recorded.plan.comparisons.length + 1;
      const block = this.replayBlock(recorded, `Replay all ${runs} runs`);
      block.prepend(element(
        "p", {}, "The page holds the fingerprints of every stage and state of the lab's runs, and the " +
          "last chain of each. Your browser can compute them again, from the seed on, and compare. " +
          `The package's logs have ${plural(recorded.chainsInLogs, "fingerprint")} more, which the replay ` +
          "of a dropped package compares too: the chains before each run's last one, which covers them.",
      ));
      return [block];
    }

    replayBlock(recorded, label) {
      const button = element("button", { type: "button", class: "panel-main" }, label);
      const list = element("ul", { class: "panel-runs" });
      const result = element("p", { class: "panel-result", role: "status", "aria-live": "polite" });
      button.addEventListener("click", () => this.doing(async (signal) => {
        list.replaceChildren();
        result.replaceChildren();
        this.say("Replaying ...");
        const started = performance.now();
        const outcomes = await replay(recorded, { signal, ...this.progressOf(list) });
        const seconds = (performance.now() - started) / 1000;
        result.replaceChildren(...this.replaySummary(outcomes, seconds));
        this.say("");
      }));
      return element("div", { class: "panel-replay" }, button, list, result);
    }

    /** A line for each run, which fills while it is made. */
    progressOf(list) {
      let bar = /** @type {any} */ (null);
      let said = /** @type {any} */ (null);
      return {
        onRun: (run) => {
          bar = element("progress", { max: 1, value: 0, "aria-label": run });
          said = element("span", {});
          list.append(element("li", {}, element("span", { class: "panel-name" }, escapeText(run, 80)), bar, said));
        },
        onStep: (_run, step, last) => {
          bar.value = step / last;
        },
        onEnd: (outcome) => {
          bar.remove();
          said.textContent = this.runSentence(outcome);
        },
      };
    }

    runSentence({ fingerprints, equal, steps, difference }) {
      const counted = `${number(equal)} of ${plural(fingerprints, "fingerprint")} equal, ${plural(steps, "step")}`;
      if (difference.divergence === null) return counted;
      const { divergence } = difference;
      return `${counted}; first divergence: ${divergencePlace(divergence)}, ${divergenceEvidence(divergence)}`;
    }

    replaySummary(outcomes, seconds) {
      const total = outcomes.reduce((sum, { fingerprints }) => sum + fingerprints, 0);
      const equal = outcomes.reduce((sum, one) => sum + one.equal, 0);
      const same = equal === total && outcomes.every(({ difference }) => difference.verdict === "identical");
      return [
        verdictMark(same ? "identical" : "differs"),
        ` ${number(equal)} of ${plural(total, "fingerprint")} equal, in ${plural(outcomes.length, "run")}, ` +
          `computed here in ${seconds.toFixed(1)} s.`,
      ];
    }
  }

  /**
   * Fill the section of a page, and show it.
   * @param {HTMLElement} section
   * @param {any} data of the page: digests, whether it is the lab, its plan and fingerprints
   */
  function mount(section, data) {
    new Panel(section, data).mount();
  }

  repropack.panel = { mount, element, terms, verdictMark };
})((globalThis.repropack ??= {}));
