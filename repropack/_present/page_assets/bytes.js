/**
 * Bytes: reading a file in pieces, SHA-256, CRC-32, faults, and letting the page breathe.
 *
 * Numbers such as 7.3 in these scripts are clauses of the package format (docs/format.md).
 */
(function (repropack) {
  "use strict";

  const MEBIBYTE = 1 << 20;

  /** Limits of 7.13, and those that a page adds; each is inclusive. */
  const LIMITS = Object.freeze({
    max_entries: 20000,
    max_document_bytes: 16 * MEBIBYTE,
    max_manifest_bytes: 16 * MEBIBYTE,
    max_json_depth: 64,
    max_json_containers: 100000,
    max_json_items: 1000000,
    max_log_line_bytes: MEBIBYTE,
    max_npy_header_bytes: 4096,
    max_array_rank: 32,
    max_deflate_ratio: 200,
    max_inflated_bytes: 8 * 1024 * MEBIBYTE,
    max_name_bytes: 1024,
    max_path_depth: 32,
  });

  /** The codes of chapter 9. */
  const CODES = Object.freeze({
    FORMAT: "package.format",
    UNSAFE: "package.unsafe-entry",
    LIMIT: "package.limit-exceeded",
    SCHEMA: "package.schema",
    INTEGRITY: "package.integrity",
    NEWER: "package.unsupported-version",
  });

  /** One thing that is wrong with a package, as data. */
  class Fault extends Error {
    /**
     * @param {string} code one of CODES
     * @param {string} rule an id of docs/refusals.md
     * @param {string} entry the entry's path, or the name of the file itself
     * @param {string} place where in the entry, or what of it; may be empty
     * @param {unknown} expected what the rule asks for
     * @param {unknown} observed what was found
     */
    constructor(code, rule, entry, place, expected, observed) {
      const problem = `${place ? `${place}: ` : ""}expected ${expected}, observed ${observed}`;
      super(problem);
      this.name = "Fault";
      this.code = code;
      this.rule = rule;
      this.entry = entry;
      this.place = place;
      this.expected = String(expected);
      this.observed = String(observed);
      this.problem = problem;
    }
  }

  /**
   * Refuse by a limit of 7.13.
   * @param {keyof typeof LIMITS} limit
   * @param {string} entry
   * @param {string} place
   * @param {number} observed
   * @returns {Fault}
   */
  function beyond(limit, entry, place, observed) {
    const allowed = `at most ${LIMITS[limit]} (${limit})`;
    return new Fault(CODES.LIMIT, `limit.${limit}`, entry, place, allowed, observed);
  }

  // ---------------------------------------------------------------- SHA-256 (FIPS 180-4)

  const ROUND_CONSTANTS = new Int32Array(64);
  const FIRST_STATE = new Int32Array(8);
  (function () {
    // the fractional parts of roots of the first primes, in integers: no library's arithmetic
    let found = 0;
    for (let candidate = 2n; found < 64; candidate += 1n) {
      let prime = true;
      for (let d = 2n; d * d <= candidate; d += 1n) prime = prime && candidate % d !== 0n;
      if (!prime) continue;
      ROUND_CONSTANTS[found] = Number(BigInt.asIntN(32, root(candidate << 96n, 3n)));
      if (found < 8) FIRST_STATE[found] = Number(BigInt.asIntN(32, root(candidate << 64n, 2n)));
      found += 1;
    }
    function root(value, degree) {
      let low = 0n;
      let high = 1n << 40n;
      while (high - low > 1n) {
        const middle = (low + high) >> 1n;
        if (middle ** degree <= value) low = middle;
        else high = middle;
      }
      return low;
    }
  })();

  const SCHEDULE = new Int32Array(64);

  /** SHA-256 in one thread and without promises: many small values, or a stream of any length. */
  class Sha256 {
    constructor() {
      this._state = FIRST_STATE.slice();
      this._block = new Uint8Array(64);
      this._filled = 0;
      this._bytes = 0;
    }

    /**
     * @param {Uint8Array} data
     * @returns {Sha256} itself
     */
    update(data) {
      let position = 0;
      this._bytes += data.length;
      if (this._filled) {
        position = Math.min(64 - this._filled, data.length);
        this._block.set(data.subarray(0, position), this._filled);
        this._filled += position;
        if (this._filled < 64) return this;
        compress(this._state, this._block, 0, 64);
        this._filled = 0;
      }
      const whole = position + ((data.length - position) & ~63);
      compress(this._state, data, position, whole);
      this._block.set(data.subarray(whole));
      this._filled = data.length - whole;
      return this;
    }

    /** @returns {string} 64 lower-case hexadecimal digits; the object is used up */
    hex() {
      const bytes = this._bytes;
      const end = new Uint8Array(this._filled < 56 ? 64 : 128);
      end.set(this._block.subarray(0, this._filled));
      end[this._filled] = 0x80;
      const view = new DataView(end.buffer);
      view.setUint32(end.length - 8, Math.floor(bytes / 0x20000000));
      view.setUint32(end.length - 4, (bytes * 8) >>> 0);
      compress(this._state, end, 0, end.length);
      return Array.from(this._state, (word) => hex32(word)).join("");
    }

    /** @returns {string} a digest (3.1) */
    digest() {
      return `sha256:${this.hex()}`;
    }
  }

  /**
   * Take the blocks of data[start..end) into the state.
   *
   * Each sum of two is cut to 32 bits at once: so the browser's compiler stays with integers, which
   * is six times as fast.
   */
  function compress(state, data, start, end) {
    const w = SCHEDULE;
    const k = ROUND_CONSTANTS;
    for (let at = start; at < end; at += 64) {
      for (let i = 0, p = at; i < 16; i += 1, p += 4) {
        w[i] = (data[p] << 24) | (data[p + 1] << 16) | (data[p + 2] << 8) | data[p + 3];
      }
      for (let i = 16; i < 64; i += 1) {
        const x = w[i - 15];
        const y = w[i - 2];
        const left = ((x >>> 7) | (x << 25)) ^ ((x >>> 18) | (x << 14)) ^ (x >>> 3);
        const right = ((y >>> 17) | (y << 15)) ^ ((y >>> 19) | (y << 13)) ^ (y >>> 10);
        w[i] = (((w[i - 16] + left) | 0) + ((w[i - 7] + right) | 0)) | 0;
      }
      let a = state[0] | 0;
      let b = state[1] | 0;
      let c = state[2] | 0;
      let d = state[3] | 0;
      let e = state[4] | 0;
      let f = state[5] | 0;
      let g = state[6] | 0;
      let h = state[7] | 0;
      for (let i = 0; i < 64; i += 1) {
        const sum1 = ((e >>> 6) | (e << 26)) ^ ((e >>> 11) | (e << 21)) ^ ((e >>> 25) | (e << 7));
        const chosen = g ^ (e & (f ^ g));
        const one = (((((h + sum1) | 0) + chosen) | 0) + ((k[i] + w[i]) | 0)) | 0;
        const sum0 = ((a >>> 2) | (a << 30)) ^ ((a >>> 13) | (a << 19)) ^ ((a >>> 22) | (a << 10));
        const two = (sum0 + ((a & b) | (c & (a | b)))) | 0;
        h = g;
        g = f;
        f = e;
        e = (d + one) | 0;
        d = c;
        c = b;
        b = a;
        a = (one + two) | 0;
      }
      state[0] = (state[0] + a) | 0;
      state[1] = (state[1] + b) | 0;
      state[2] = (state[2] + c) | 0;
      state[3] = (state[3] + d) | 0;
      state[4] = (state[4] + e) | 0;
      state[5] = (state[5] + f) | 0;
      state[6] = (state[6] + g) | 0;
      state[7] = (state[7] + h) | 0;
    }
  }

  function hex32(word) {
    return (word >>> 0).toString(16).padStart(8, "0");
  }

  /**
   * The digest (3.1) of bytes and texts, one after the other.
   * @param {...(Uint8Array|string)} parts texts as UTF-8
   * @returns {string}
   */
  function digest(...parts) {
    const hasher = new Sha256();
    for (const part of parts) hasher.update(typeof part === "string" ? utf8(part) : part);
    return hasher.digest();
  }

  const SYNCHRONOUS_BYTES = 32 * 1024;

  /**
   * The digest of bytes that are there as a whole, by the browser's own SHA-256 where it has one.
   * @param {Uint8Array<ArrayBuffer>} data
   * @returns {Promise<string>}
   */
  async function digestWhole(data) {
    if (data.length <= SYNCHRONOUS_BYTES || !globalThis.crypto?.subtle) return digest(data);
    const found = new DataView(await crypto.subtle.digest("SHA-256", data));
    let text = "sha256:";
    for (let i = 0; i < 32; i += 4) text += hex32(found.getUint32(i));
    return text;
  }

  // ---------------------------------------------------------------- CRC-32 (ISO 3309)

  const CRC_TABLES = new Int32Array(8 * 256);
  for (let n = 0; n < 256; n += 1) {
    let c = n;
    for (let k = 0; k < 8; k += 1) c = c & 1 ? (c >>> 1) ^ 0xedb88320 : c >>> 1;
    CRC_TABLES[n] = c;
  }
  for (let n = 256; n < 8 * 256; n += 1) {
    const before = CRC_TABLES[n - 256];
    CRC_TABLES[n] = (before >>> 8) ^ CRC_TABLES[before & 0xff];
  }

  /**
   * @param {Uint8Array} data
   * @param {number} [before] the checksum of what stands before it
   * @returns {number} an unsigned 32-bit integer
   */
  function crc32(data, before = 0) {
    const t = CRC_TABLES;
    const whole = data.length & ~7;
    let crc = ~before;
    let i = 0;
    for (; i < whole; i += 8) {
      crc ^= data[i] | (data[i + 1] << 8) | (data[i + 2] << 16) | (data[i + 3] << 24);
      crc =
        t[1792 + (crc & 0xff)] ^ t[1536 + ((crc >>> 8) & 0xff)] ^
        t[1280 + ((crc >>> 16) & 0xff)] ^ t[1024 + (crc >>> 24)] ^
        t[768 + data[i + 4]] ^ t[512 + data[i + 5]] ^ t[256 + data[i + 6]] ^ t[data[i + 7]];
    }
    for (; i < data.length; i += 1) crc = (crc >>> 8) ^ t[(crc ^ data[i]) & 0xff];
    return ~crc >>> 0;
  }

  // ---------------------------------------------------------------- text and files

  const ENCODER = new TextEncoder();
  const DECODER = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

  /** @param {string} text @returns {Uint8Array<ArrayBuffer>} */
  function utf8(text) {
    return ENCODER.encode(text);
  }

  /**
   * @param {Uint8Array} data
   * @returns {string|null} null where it is no UTF-8; a byte order mark stays
   */
  function fromUtf8(data) {
    try {
      return DECODER.decode(data);
    } catch {
      return null;
    }
  }

  /**
   * Which of two texts comes first, by code point, which is by bytes of their UTF-8.
   * @param {string} left
   * @param {string} right
   * @returns {number} below 0, 0 or above 0
   */
  function byCodePoint(left, right) {
    const shorter = Math.min(left.length, right.length);
    for (let i = 0; i < shorter; i += 1) {
      let a = left.charCodeAt(i);
      let b = right.charCodeAt(i);
      if (a === b) continue;
      if (a >= 0xd800 && b >= 0xd800) {
        a = a >= 0xe000 ? a - 0x800 : a + 0x2000; // surrogates stand for what is above U+FFFF
        b = b >= 0xe000 ? b - 0x800 : b + 0x2000;
      }
      return a - b;
    }
    return left.length - right.length;
  }

  /** @param {Uint8Array} left @param {Uint8Array} right @returns {boolean} */
  function sameBytes(left, right) {
    if (left.length !== right.length) return false;
    for (let i = 0; i < left.length; i += 1) if (left[i] !== right[i]) return false;
    return true;
  }

  const WINDOW_BYTES = MEBIBYTE;

  /** A file that is read in pieces, a window of it at a time. */
  class BlobReader {
    /** @param {Blob} blob */
    constructor(blob) {
      this.blob = blob;
      this.size = blob.size;
      this._from = 0;
      this._window = new Uint8Array(0);
    }

    /**
     * @param {number} offset
     * @param {number} length
     * @returns {Promise<Uint8Array<ArrayBuffer>>} fewer bytes where the file ends
     */
    async read(offset, length) {
      const end = Math.min(offset + length, this.size);
      if (end <= offset) return new Uint8Array(0);
      if (offset < this._from || end > this._from + this._window.length) {
        const to = Math.min(Math.max(end, offset + WINDOW_BYTES), this.size);
        this._window = new Uint8Array(await this.blob.slice(offset, to).arrayBuffer());
        this._from = offset;
      }
      return this._window.subarray(offset - this._from, end - this._from);
    }
  }

  let breathed = 0;

  /**
   * Let the page draw and take input, where it is a while since it last could.
   * @returns {Promise<void>}
   */
  async function breathe() {
    const now = performance.now();
    if (now - breathed < 24) return;
    await new Promise((resolve) => {
      setTimeout(resolve, 0);
    });
    breathed = performance.now();
  }

  repropack.bytes = {
    MEBIBYTE, LIMITS, CODES, Fault, beyond, Sha256, digest, digestWhole, crc32,
    utf8, fromUtf8, byCodePoint, sameBytes, BlobReader, breathe,
  };
})((globalThis.repropack ??= {}));
