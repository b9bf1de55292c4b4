/* The page starts here: the figures come alive, and what the other scripts define is mounted.
   All that is shown is text of this page or numbers of its data, put in as text. */
"use strict";
var repropack = globalThis.repropack || (globalThis.repropack = {});

repropack.page = (() => {
  /** @param {string} id @returns {HTMLElement | null} */
  const byId = (id) => document.getElementById(id);

  /** @returns {object} what the page knows of its package */
  const readData = () => JSON.parse(byId("package-data").textContent);

  /** An element with text, and children.
   * @param {string} name @param {string} text @param {...Node} children @returns {HTMLElement} */
  function make(name, text, ...children) {
    const made = document.createElement(name);
    made.append(text, ...children);
    return made;
  }

  const counted = (number) => number.toLocaleString("en-US");

  /** The steps of a column, as the page's tables say them. */
  function columnText(timeline, column) {
    const first = column * timeline.width + 1;
    const last = Math.min((column + 1) * timeline.width, timeline.last_step);
    return first === last
      ? `step ${counted(first)}`
      : `steps ${counted(first)} to ${counted(last)}`;
  }

  /** What one column of one run shows, in the words of the page's table. */
  function cellText(timeline, cell, subject) {
    if (!cell || !cell[1]) {
      return "-";
    }
    const [, compared, differing, first, name, absolute, absoluteStep, ulp] = cell;
    if (!differing) {
      return "equal";
    }
    const one = timeline.width === 1;
    const what = (name || "a metric").replace("state:", "state ");
    const parts = [
      one
        ? `${what} differs first`
        : `${counted(differing)} of ${counted(compared)} differ, first step ${counted(first)}: ${what}`,
    ];
    if (absolute !== null) {
      const far = `${subject} by ${absolute}`;
      parts.push(one ? far : `${far} at step ${counted(absoluteStep)}`);
    }
    if (ulp !== null) {
      parts.push(ulp);
    }
    return parts.join("; ");
  }

  /** One cursor over all strips and the plot: by pointer, by touch, by arrow keys. */
  function followTimeline(timeline) {
    const frame = byId("timeline");
    if (!frame) {
      return;
    }
    const cells = timeline.runs.map((run) => new Map(run.cells.map((cell) => [cell[0], cell])));
    const columns = Math.ceil(timeline.last_step / timeline.width);
    const rows = [...frame.querySelectorAll("[data-run], [data-plot]")];
    const cursor = frame.appendChild(make("div", ""));
    const told = document.body.appendChild(make("div", ""));
    cursor.className = "cursor";
    told.className = "told";
    cursor.hidden = told.hidden = true;
    told.id = "told";
    told.setAttribute("aria-hidden", "true");
    frame.querySelectorAll("title").forEach((title) => title.remove());
    let place = firstDifference();

    function firstDifference() {
      const found = timeline.runs.flatMap((run) => run.cells.filter((cell) => cell[2]));
      return found.length ? Math.min(...found.map((cell) => cell[0])) : 0;
    }

    /** What a row says of a column: one run, or every run with a difference. */
    function linesOf(row, column) {
      if (row.dataset.run !== undefined) {
        const k = row.dataset.run;
        return [[null, cellText(timeline, cells[k].get(column), timeline.runs[k].subject)]];
      }
      return timeline.runs
        .map((run, k) => [run.name, cellText(timeline, cells[k].get(column), run.subject)])
        .filter(([, text]) => text !== "-" && text !== "equal");
    }

    function describe(row, column) {
      const where = columnText(timeline, column);
      const lines = linesOf(row, column);
      const text = lines.map(([name, told]) => (name ? `${name}: ${told}` : told)).join(". ");
      row.setAttribute("aria-valuenow", column + 1);
      row.setAttribute("aria-valuetext", `${where}: ${text || "no run differs"}`);
      return [where, lines];
    }

    function show(row, column, x, y) {
      place = column;
      const [where, lines] = describe(row, column);
      const box = row.getBoundingClientRect();
      const within = box.left + ((column + 0.5) / columns) * box.width;
      cursor.style.left = `${within - frame.getBoundingClientRect().left}px`;
      const title = row.dataset.run !== undefined ? `${row.dataset.label}, ${where}` : where;
      const list = make("ul", "");
      for (const [name, text] of lines) {
        list.append(name ? make("li", "", make("b", name), ` ${text}`) : make("li", text));
      }
      told.replaceChildren(make("b", title), list);
      cursor.hidden = told.hidden = false;
      const left = x === undefined ? within : x;
      const top = y === undefined ? box.bottom : y;
      const size = told.getBoundingClientRect();
      const far = left + 16 + size.width > document.documentElement.clientWidth - 8;
      told.style.left = `${Math.max(8, far ? left - size.width - 16 : left + 16)}px`;
      const low = top + 12 + size.height > document.documentElement.clientHeight - 8;
      told.style.top = `${Math.max(8, low ? top - size.height - 12 : top + 12)}px`;
    }

    function hide() {
      cursor.hidden = told.hidden = true;
    }

    function columnAt(row, x) {
      const box = row.getBoundingClientRect();
      const part = Math.floor(((x - box.left) / box.width) * columns);
      return Math.min(columns - 1, Math.max(0, part));
    }

    function move(event, row) {
      const at = rows.indexOf(row);
      const keys = {
        ArrowLeft: place - 1,
        ArrowRight: place + 1,
        PageUp: place - 10,
        PageDown: place + 10,
        Home: 0,
        End: columns - 1,
      };
      if (event.key === "ArrowUp" || event.key === "ArrowDown") {
        const next = rows[at + (event.key === "ArrowUp" ? -1 : 1)];
        if (next) {
          next.focus();
        }
      } else if (event.key in keys) {
        place = Math.min(columns - 1, Math.max(0, keys[event.key]));
        show(row, place);
      } else if (event.key === "Escape") {
        hide();
        return;
      } else {
        return;
      }
      event.preventDefault();
    }

    rows.forEach((row, k) => {
      row.tabIndex = k ? -1 : 0;
      row.setAttribute("role", "slider");
      row.setAttribute("aria-label", `${row.dataset.label}, step`);
      row.setAttribute("aria-valuemin", 1);
      row.setAttribute("aria-valuemax", columns);
      describe(row, place);
      row.addEventListener("pointermove", (event) => {
        show(row, columnAt(row, event.clientX), event.clientX, event.clientY);
      });
      row.addEventListener("pointerdown", (event) => {
        show(row, columnAt(row, event.clientX), event.clientX, event.clientY);
      });
      row.addEventListener("pointerleave", hide);
      row.addEventListener("blur", hide);
      row.addEventListener("focus", () => {
        rows.forEach((other) => { other.tabIndex = other === row ? 0 : -1; });
        if (row.matches(":focus-visible")) {
          show(row, place);
        }
      });
      row.addEventListener("keydown", (event) => move(event, row));
    });
    document.addEventListener("keydown", (event) => {
      if (event.key === "Escape") {
        hide();
      }
    });
  }

  /** Two runs are chosen, and their pair alone is shown. */
  function followChoice() {
    const choice = byId("choice");
    if (!choice) {
      return;
    }
    const [left, right] = [byId("left-run"), byId("right-run")];
    const pairs = [...document.querySelectorAll("article.pair")];
    const others = byId("other-pairs");
    if (others) {
      const holder = others.parentElement;
      byId("pairs").append(...others.children);
      holder.remove();
    }
    const none = byId("pairs").appendChild(make("p", ""));
    function showPair() {
      const wanted = [left.value, right.value];
      let found = false;
      for (const pair of pairs) {
        const { left: one, right: other } = pair.dataset;
        pair.hidden = !(wanted.includes(one) && wanted.includes(other) && one !== other
          && wanted[0] !== wanted[1]);
        found = found || !pair.hidden;
      }
      none.hidden = found;
      none.textContent = wanted[0] === wanted[1]
        ? "One run and itself: choose another."
        : "This pair is not on the page.";
    }
    choice.hidden = false;
    byId("pairs").setAttribute("aria-live", "polite");
    left.addEventListener("change", showPair);
    right.addEventListener("change", showPair);
    showPair();
  }

  /** Meanings of words stay within the window, and go away on Escape. */
  function followWords() {
    const words = document.querySelectorAll(".term");
    for (const word of words) {
      const place = () => {
        const tip = word.querySelector(".tip");
        word.classList.remove("dismissed");
        tip.classList.remove("left");
        if (tip.getBoundingClientRect().right > document.documentElement.clientWidth) {
          tip.classList.add("left");
        }
      };
      word.addEventListener("pointerenter", place);
      word.addEventListener("focusin", place);
    }
    document.addEventListener("keydown", (event) => {
      if (event.key === "Escape") {
        words.forEach((word) => word.classList.add("dismissed"));
      }
    });
  }

  function start() {
    const data = readData();
    followTimeline(data.timeline);
    followChoice();
    followWords();
    if (repropack.panel) {
      repropack.panel.mount(byId("in-your-browser"), data);
    }
  }

  return { cellText, columnText, readData, start };
})();

repropack.page.start();
