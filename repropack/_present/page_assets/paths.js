/**
 * Which paths an entry may have (7.9 to 7.11), and what stands where (1.3, 1.4).
 */
(function (repropack) {
  "use strict";

  const { Fault, CODES, LIMITS, utf8, breathe, byCodePoint } = repropack.bytes;

  const MANIFEST = "manifest.json";
  const MAX_COMPONENT_BYTES = 200;
  const OWN = /^[A-Za-z0-9._+-]$/;
  const AUTHORED = /^[ ._+\-=,@()[\]{}#!~&%\p{Lu}\p{Ll}\p{Lt}\p{Lm}\p{Lo}\p{Mn}\p{Mc}\p{Nd}]$/u;
  const INVISIBLE =
    /[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u3164\ufe00-\ufe0f\uffa0\u{e0100}-\u{e01ef}]/u;
  const AUTHORED_FOLDER = /^(?:source|inputs|after|runs\/[^/]+\/outputs)\//;
  const DEVICE = /^(?:con|prn|aux|nul|conin\$|conout\$|(?:com|lpt)[1-9\u00b9\u00b2\u00b3])$/i;
  const GIT = new Set([".git", "git~1"]);
  const LONE_SURROGATE = /\p{Cs}/u;

  /**
   * Refuse a path that is unsafe, or not the same, on some system.
   * @param {string} path
   * @throws {Fault}
   */
  function checkPath(path) {
    const refuse = (rule, place, expected, observed) =>
      new Fault(CODES.UNSAFE, rule, path, place, expected, observed);
    if (LONE_SURROGATE.test(path)) {
      throw refuse("path.encoding", "encoding", "text that UTF-8 can hold", "a lone surrogate");
    }
    const size = utf8(path).length;
    if (size > LIMITS.max_name_bytes) {
      throw refuse("path.length", "length", `at most ${LIMITS.max_name_bytes} bytes`, size);
    }
    const components = path.split("/");
    if (components.length > LIMITS.max_path_depth) {
      const most = `at most ${LIMITS.max_path_depth} components`;
      throw refuse("path.depth", "depth", most, components.length);
    }
    if (path.startsWith("/")) throw refuse("path.absolute", "root", "a relative path", "a leading /");
    for (const component of components) checkComponent(component, refuse);
    const own = (AUTHORED_FOLDER.exec(path)?.[0].split("/").length ?? Infinity) - 1;
    components.forEach((component, place) => {
      for (const character of component) {
        if (OWN.test(character)) continue;
        if (place >= own && AUTHORED.test(character) && !INVISIBLE.test(character)) continue;
        const expected = place >= own
          ? "letters, digits, inner blanks and usual punctuation"
          : "ASCII letters, digits and ._+-";
        const code = character.codePointAt(0).toString(16).toUpperCase().padStart(4, "0");
        throw refuse("path.character", "character", expected, `U+${code}`);
      }
    });
    if (path.normalize("NFC") !== path) {
      throw refuse("path.unicode-form", "Unicode form", "NFC", "another form");
    }
  }

  function checkComponent(component, refuse) {
    const shown = JSON.stringify(component.slice(0, 80));
    if (component === "" || component === "." || component === "..") {
      throw refuse("path.traversal", "component", "a name", shown);
    }
    const size = utf8(component).length;
    if (size > MAX_COMPONENT_BYTES) {
      throw refuse("path.length", "component", `at most ${MAX_COMPONENT_BYTES} bytes`, size);
    }
    if (/^ |[ .]$/.test(component)) {
      throw refuse("path.ends", "component", "no blank at an end and no final dot", shown);
    }
    if (DEVICE.test(component.split(".")[0].replace(/ +$/, ""))) {
      throw refuse("path.device-name", "component", "no Windows device name", shown);
    }
    if (GIT.has(fold(component))) {
      throw refuse("path.git", "component", "no folder of git's", shown);
    }
  }

  const KEPT_BY_FOLDING = new Set(["\u0131"]); // dotless i, whose capital is that of i

  /**
   * The key under which paths are compared: case folded, then NFC (7.11).
   *
   * JavaScript has no case folding. Small, capital, small again, letter by letter, puts the same
   * letters together.
   * @param {string} path
   * @returns {string}
   */
  function fold(path) {
    let folded = "";
    for (const letter of path) {
      folded += KEPT_BY_FOLDING.has(letter) ? letter : foldLetter(letter);
    }
    return folded.normalize("NFC");
  }

  function foldLetter(letter) {
    let folded = "";
    for (const one of letter.toLowerCase().toUpperCase()) folded += one.toLowerCase();
    return folded;
  }

  /**
   * Refuse paths that would meet on a system that ignores case or Unicode form (7.11).
   * @param {Iterable<string>} paths each accepted by checkPath
   * @returns {Promise<void>}
   * @throws {Fault}
   */
  async function checkPathSet(paths) {
    const files = new Map();
    const folders = new Map();
    const keys = new Map();
    const both = (path, other) =>
      new Fault(CODES.UNSAFE, "path.file-and-folder", path, "", "a file or a folder", `both: ${other}`);
    for (const path of paths) {
      const folded = fold(path);
      if (files.has(folded)) {
        const expected = "a path unique under case folding";
        throw new Fault(CODES.UNSAFE, "path.collision", path, "", expected, files.get(folded));
      }
      if (folders.has(folded)) throw both(path, folders.get(folded)[1]);
      files.set(folded, path);
      for (let end = path.indexOf("/"); end >= 0; end = path.indexOf("/", end + 1)) {
        const folder = path.slice(0, end);
        if (!keys.has(folder)) keys.set(folder, fold(folder));
        const key = keys.get(folder);
        if (files.has(key)) throw both(path, files.get(key));
        const [spelled, other] = folders.get(key) ?? [folder, path];
        folders.set(key, [spelled, other]);
        if (spelled !== folder) {
          const expected = `one spelling of ${spelled}`;
          throw new Fault(CODES.UNSAFE, "path.collision", path, "folder", expected, other);
        }
      }
      await breathe();
    }
  }

  /** @param {string} left @param {string} right @returns {number} the order of 7.1 */
  function packageOrder(left, right) {
    if (left === right) return 0;
    if (left === MANIFEST) return -1;
    return right === MANIFEST ? 1 : byCodePoint(left, right);
  }

  // ---------------------------------------------------------------- places

  const RUN = "[a-z0-9][a-z0-9-]{0,63}";
  const WHEEL = new RegExp(
    "^wheels/[A-Za-z0-9][A-Za-z0-9._]*-[0-9][A-Za-z0-9._+]*(?:-[0-9][A-Za-z0-9_.]*)?" +
      "(?:-[A-Za-z0-9_]+(?:\\.[A-Za-z0-9_]+)*){3}\\.whl$",
  );
  const ROLES = [
    [/^README(?:\.author)?\.md$|^README\.author\.txt$/, "readme"],
    [/^LICENSE$/, "license"],
    [/^__main__\.py$/, "checker"],
    [/^plan\.json$/, "plan"],
    [/^environment\.json$/, "environment"],
    [/^results\.json$/, "results"],
    [/^notebook\.ipynb$/, "notebook"],
    [/^index\.html$/, "report"],
    [/^ro-crate-metadata\.json$/, "crate"],
    [/^CITATION\.cff$/, "citation"],
    [/^figures\/./, "figure"],
    [/^schemas\/./, "schema"],
    [/^source\/./, "source"],
    [/^inputs\/./, "input"],
    [/^after\/./, "derived"],
    [/^requirements\.lock$|^pylock\.toml$/, "lock"],
    [WHEEL, "wheel"],
    [new RegExp(`^runs/${RUN}/fingerprints\\.jsonl$`), "log"],
    [new RegExp(`^runs/${RUN}/checkpoints/step-[0-9]{9}\\.(?:json|npz)$`), "checkpoint"],
    [new RegExp(`^runs/${RUN}/kept\\.npz$`), "kept"],
    [new RegExp(`^runs/${RUN}/outputs/.`), "output"],
  ];
  const MEDIA_TYPES = {
    ".json": "application/json",
    ".jsonl": "application/jsonl",
    ".npz": "application/vnd.numpy.npz",
    ".md": "text/markdown",
    ".py": "text/x-python",
    ".ipynb": "application/x-ipynb+json",
    ".whl": "application/zip",
    ".cff": "application/yaml",
    ".toml": "application/toml",
    ".txt": "text/plain",
    ".csv": "text/csv",
    ".svg": "image/svg+xml",
    ".png": "image/png",
    ".lock": "text/plain",
    ".html": "text/html",
  };

  /** @param {string} path @returns {string|null} the role of 1.3; null where no entry may stand */
  function roleOf(path) {
    return ROLES.find(([pattern]) => pattern.test(path))?.[1] ?? null;
  }

  /** @param {string} path @returns {string} the media type of 1.4 */
  function mediaTypeOf(path) {
    if (path === "LICENSE") return "text/plain";
    const end = /[^/](\.[^./]*)$/.exec(path)?.[1] ?? "";
    return Object.hasOwn(MEDIA_TYPES, end) ? MEDIA_TYPES[end] : "application/octet-stream";
  }

  /** Entries that every package has (1.3). */
  const REQUIRED = Object.freeze([
    "CITATION.cff", "LICENSE", "README.md", "__main__.py", "environment.json", "index.html",
    "notebook.ipynb", "plan.json", "results.json", "ro-crate-metadata.json",
    "runs/reference/fingerprints.jsonl",
    ...["checkpoint", "environment", "fingerprint-log", "manifest", "plan", "results"].map(
      (name) => `schemas/${name}.schema.json`,
    ),
  ]);

  repropack.paths = {
    MANIFEST, REQUIRED, checkPath, checkPathSet, fold, packageOrder, roleOf, mediaTypeOf,
  };
})((globalThis.repropack ??= {}));
