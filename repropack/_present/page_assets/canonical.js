/**
 * JSON in and out, as chapter 2 has it: strict reading, and one spelling, that of Python.
 *
 * JavaScript has one type of number where the format has two. An integer is read as a number, a
 * float as a Float, which remembers that it is one: 1 and 1.0 are two values.
 */
(function (repropack) {
  "use strict";

  const { Fault, CODES, LIMITS, beyond, fromUtf8, byCodePoint } = repropack.bytes;

  /** A number that is spelled with a point or an exponent. */
  class Float {
    /** @param {number} value finite */
    constructor(value) {
      this.value = value;
    }
  }

  /** @param {unknown} value @returns {number} the number of an integer or a Float, else NaN */
  function numberOf(value) {
    if (value instanceof Float) return value.value;
    return typeof value === "number" ? value : NaN;
  }

  /**
   * A finite float as Python's repr spells it (2.1).
   *
   * Both languages take the shortest digits that read back as the same float; where the exponent
   * begins and how it looks differs.
   * @param {number} value
   * @returns {string}
   */
  function spellFloat(value) {
    const sign = value < 0 || Object.is(value, -0) ? "-" : "";
    const [mantissa, power] = Math.abs(value).toExponential().split("e");
    const digits = mantissa.replace(".", "");
    const exponent = Number(power);
    if (exponent >= -4 && exponent < 16) {
      if (exponent < 0) return `${sign}0.${"0".repeat(-1 - exponent)}${digits}`;
      const whole = digits.padEnd(exponent + 1, "0");
      return `${sign}${whole.slice(0, exponent + 1)}.${whole.slice(exponent + 1) || "0"}`;
    }
    const point = digits.length > 1 ? `${digits[0]}.${digits.slice(1)}` : digits;
    const size = String(Math.abs(exponent)).padStart(2, "0");
    return `${sign}${point}e${exponent < 0 ? "-" : "+"}${size}`;
  }

  const ESCAPED = /["\\\u0000-\u001f]/g;
  const SHORT = { '"': '\\"', "\\": "\\\\", "\b": "\\b", "\t": "\\t", "\n": "\\n", "\f": "\\f", "\r": "\\r" };

  function spellText(text) {
    const escaped = text.replace(
      ESCAPED,
      (one) => SHORT[one] ?? `\\u${one.charCodeAt(0).toString(16).padStart(4, "0")}`,
    );
    return `"${escaped}"`;
  }

  /**
   * A value in canonical JSON, without the newline at its end.
   * @param {any} value null, boolean, safe integer, Float, text, or arrays and objects of those
   * @returns {string}
   */
  function spell(value) {
    if (value === null || typeof value === "boolean") return String(value);
    if (typeof value === "number") return String(value);
    if (typeof value === "string") return spellText(value);
    if (value instanceof Float) return spellFloat(value.value);
    if (Array.isArray(value)) return `[${value.map(spell).join(",")}]`;
    const names = Object.keys(value).sort(byCodePoint);
    return `{${names.map((name) => `${spellText(name)}:${spell(value[name])}`).join(",")}}`;
  }

  /**
   * Canonical JSON with its newline, as text.
   * @param {any} value
   * @returns {string}
   */
  function canonical(value) {
    return `${spell(value)}\n`;
  }

  const NUMBER = /-?(?:0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?/y;
  const PLAIN = /[^"\\\u0000-\u001f]*/y;
  const BLANKS = /[ \t\n\r]*/y;
  const LONE_SURROGATE = /[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/;
  const UNESCAPED = { '"': '"', "\\": "\\", "/": "/", b: "\b", t: "\t", n: "\n", f: "\f", r: "\r" };

  /** Reads one JSON text, in any spelling that is strict (2.3). */
  class Parser {
    constructor(text, entry, place) {
      this.text = text;
      this.entry = entry;
      this.place = place;
      this.at = 0;
      this.depth = 0;
      this.containers = 0;
      this.items = 0;
    }

    document() {
      const value = this.value();
      this.blanks();
      if (this.at < this.text.length) this.unexpected("the end");
      return value;
    }

    value() {
      this.blanks();
      const first = this.text[this.at];
      if (first === "{") return this.within(() => this.object());
      if (first === "[") return this.within(() => this.array());
      if (first === '"') return this.string();
      if (this.word("true")) return true;
      if (this.word("false")) return false;
      if (this.word("null")) return null;
      for (const constant of ["NaN", "Infinity", "-Infinity"]) {
        if (this.word(constant)) this.refuse("json.constant", `the constant ${constant}`);
      }
      return this.number();
    }

    within(read) {
      this.at += 1;
      this.depth += 1;
      this.containers += 1;
      this.limit("max_json_depth", this.depth);
      this.limit("max_json_containers", this.containers);
      const value = read();
      this.depth -= 1;
      return value;
    }

    object() {
      const found = Object.create(null);
      if (this.closes("}")) return found;
      do {
        this.blanks();
        if (this.text[this.at] !== '"') this.unexpected("a member's name");
        const name = this.string();
        if (name in found) {
          this.refuse("json.duplicate-key", `the key ${JSON.stringify(name.slice(0, 80))} twice`);
        }
        this.blanks();
        if (this.text[this.at] !== ":") this.unexpected("a colon");
        this.at += 1;
        found[name] = this.value();
      } while (this.goesOn("}"));
      return found;
    }

    array() {
      const found = [];
      if (this.closes("]")) return found;
      do found.push(this.value());
      while (this.goesOn("]"));
      return found;
    }

    closes(sign) {
      this.blanks();
      if (this.text[this.at] !== sign) return false;
      this.at += 1;
      return true;
    }

    goesOn(end) {
      this.blanks();
      const sign = this.text[this.at];
      if (sign !== "," && sign !== end) this.unexpected(`a comma or ${end}`);
      this.at += 1;
      if (sign === end) return false;
      this.items += 1;
      this.limit("max_json_items", this.items);
      return true;
    }

    string() {
      let found = "";
      this.at += 1;
      for (;;) {
        found += this.match(PLAIN)[0];
        const sign = this.text[this.at];
        this.at += 1;
        if (sign === '"') break;
        if (sign !== "\\") this.unexpected("a text without control characters, and its end");
        const escape = this.text[this.at];
        this.at += 1;
        if (escape === "u") {
          const hex = this.text.slice(this.at, this.at + 4);
          if (!/^[0-9a-fA-F]{4}$/.test(hex)) this.unexpected("four hexadecimal digits");
          found += String.fromCharCode(parseInt(hex, 16));
          this.at += 4;
        } else if (escape !== undefined && escape in UNESCAPED) found += UNESCAPED[escape];
        else this.unexpected("an escape of JSON");
      }
      if (LONE_SURROGATE.test(found)) this.refuse("json.surrogate", "a lone surrogate");
      return found;
    }

    number() {
      const found = this.match(NUMBER);
      if (found === null) return this.unexpected("a value");
      const [text, fraction, power] = found;
      if (fraction !== undefined || power !== undefined) {
        const value = Number(text);
        if (!Number.isFinite(value)) this.refuse("json.float", `the number ${text.slice(0, 40)}`);
        return new Float(value);
      }
      const value = Number(text);
      if (!Number.isSafeInteger(value) || Object.is(value, -0)) {
        this.refuse("json.integer", `the integer ${text.slice(0, 40)}`);
      }
      return value;
    }

    word(text) {
      if (!this.text.startsWith(text, this.at)) return false;
      this.at += text.length;
      return true;
    }

    blanks() {
      this.match(BLANKS);
    }

    match(pattern) {
      pattern.lastIndex = this.at;
      const found = pattern.exec(this.text);
      if (found !== null) this.at = pattern.lastIndex;
      return found;
    }

    limit(name, observed) {
      if (observed > LIMITS[name]) throw beyond(name, this.entry, this.place, observed);
    }

    unexpected(what) {
      const found = this.text.slice(this.at, this.at + 20);
      const observed = found ? JSON.stringify(found) : "the end";
      return this.refuse("json.syntax", `${observed} where ${what} belongs, at character ${this.at}`);
    }

    refuse(rule, observed) {
      throw new Fault(CODES.FORMAT, rule, this.entry, this.place, "strict JSON", observed);
    }
  }

  /**
   * Read JSON strictly (2.3); objects come without a prototype.
   * @param {Uint8Array} data
   * @param {{entry: string, place?: string, canonically?: boolean, limit?: keyof LIMITS}} about
   *   canonically: whether to refuse every spelling but the canonical one (2.2); true by default
   * @returns {any}
   */
  function parse(data, about) {
    const { entry, place = "", canonically = true, limit = "max_document_bytes" } = about;
    if (data.length > LIMITS[limit]) throw beyond(limit, entry, place, data.length);
    const text = fromUtf8(data);
    const refuse = (rule, expected, observed) =>
      new Fault(CODES.FORMAT, rule, entry, place, expected, observed);
    if (text === null) throw refuse("json.encoding", "UTF-8", "other bytes");
    if (text.startsWith("\ufeff")) {
      throw refuse("json.encoding", "UTF-8 without a byte order mark", "one");
    }
    const value = new Parser(text, entry, place).document();
    if (canonically) checkSpelling(value, text, about);
    return value;
  }

  /**
   * Refuse a text that is not the canonical spelling of its value (2.2).
   * @param {any} value
   * @param {string|null} text that it was read from
   * @param {{entry: string, place?: string}} about
   */
  function checkSpelling(value, text, { entry, place = "" }) {
    if (canonical(value) === text) return;
    const expected = "canonical JSON";
    throw new Fault(CODES.FORMAT, "json.canonical", entry, place, expected, "another spelling");
  }

  // ---------------------------------------------------------------- encoded values (2.4 to 2.7)

  const INTEGER = /^(?:0|-?[1-9][0-9]*)$/;
  const NAN = /^nan:[0-9a-f]{16}$/;

  /** @param {string} text @returns {boolean} whether it is the text of a $float (2.5) */
  function isFloatText(text) {
    if (text === "inf" || text === "-inf" || text === "nan") return true;
    if (typeof text !== "string" || !NAN.test(text)) return false;
    const bits = BigInt(`0x${text.slice(4)}`);
    const exponent = (bits >> 52n) & 0x7ffn;
    const fraction = bits & ((1n << 52n) - 1n);
    return exponent === 0x7ffn && fraction !== 0n && bits !== 0x7ff8000000000000n;
  }

  /** @param {string} text @returns {boolean} whether it is the text of an $int (2.6) */
  function isLargeInteger(text) {
    if (typeof text !== "string" || text.length > 5000 || !INTEGER.test(text)) return false;
    const value = BigInt(text);
    const most = BigInt(Number.MAX_SAFE_INTEGER);
    return value > most || value < -most;
  }

  /** @param {any} value @returns {boolean} whether it is a number in its one encoded form */
  function isEncodedNumber(value) {
    if (typeof value === "number" || value instanceof Float) return true;
    if (value === null || typeof value !== "object") return false;
    const names = Object.keys(value);
    if (names.length !== 1) return false;
    if (names[0] === "$int") return isLargeInteger(value.$int);
    return names[0] === "$float" && isFloatText(value.$float);
  }

  repropack.canonical = {
    Float, numberOf, spellFloat, spell, canonical, parse, checkSpelling, isEncodedNumber,
  };
})((globalThis.repropack ??= {}));
