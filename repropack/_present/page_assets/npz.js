/**
 * Arrays as they are stored, and their fingerprints (chapter 4); states and components (5.4 to 5.6).
 */
(function (repropack) {
  "use strict";

  const { Fault, CODES, LIMITS, Sha256, beyond, breathe, byCodePoint, digest, utf8 } =
    repropack.bytes;
  const { canonical, Float, isEncodedNumber } = repropack.canonical;
  const { openZip } = repropack.zip;

  const TYPE = /^(?:[|][biu]1|<(?:[iu][248]|f[248]|c8|c16))$/;
  const HEADER = /^\{'descr': '(.*)', 'fortran_order': False, 'shape': \(([0-9, ]*)\), \} *\n$/;
  const MEMBER = /^[A-Za-z0-9_][A-Za-z0-9_.+-]{0,199}(?:#[1-9][0-9]*)?\.npy$/;
  const NAME = /^[A-Za-z0-9_][A-Za-z0-9_.+-]{0,199}$/;
  const MAX_DEPTH = 48;
  const MOST_BYTES = 2n ** 63n - 1n;

  /**
   * The bytes that stand before the elements in an array's fingerprint (4.3).
   * @param {string} dtype such as <f4
   * @param {number[]} shape
   * @returns {Uint8Array}
   */
  function fingerprintHead(dtype, shape) {
    return utf8(`repropack.array.v1\n${dtype}\n${shape.join(",")}\n`);
  }

  /**
   * The fingerprint of an array that is there as a whole (4.3).
   * @param {string} dtype
   * @param {number[]} shape
   * @param {Uint8Array} elements little-endian, C order
   * @returns {string}
   */
  function fingerprint(dtype, shape, elements) {
    return digest(fingerprintHead(dtype, shape), elements);
  }

  /** One array of an npz, whose elements are read once, in order. */
  class StoredArray {
    constructor(name, dtype, shape, blocks, refuse) {
      /** @type {string} */ this.name = name;
      /** @type {string} */ this.dtype = dtype;
      /** @type {number[]} */ this.shape = shape;
      this._blocks = blocks;
      this._refuse = refuse;
      this._rest = new Uint8Array(0);
    }

    /**
     * The fingerprint of the next elements, as an array of this shape.
     * @param {number[]} [shape] all of it by default; else that of a row
     * @returns {Promise<string>}
     */
    async fingerprint(shape = this.shape) {
      const hasher = new Sha256().update(fingerprintHead(this.dtype, shape));
      let missing = bytesOf(this.dtype, shape);
      while (missing > 0) {
        const block = await this._next(missing);
        if (this.dtype === "|b1" && block.some((byte) => byte > 1)) {
          throw this._refuse("npy.bool", "bytes of 0 and 1", "another");
        }
        hasher.update(block);
        missing -= block.length;
      }
      return hasher.digest();
    }

    /** Read what is left, so that size and checksum are held against the zip. */
    async finish() {
      this._rest = new Uint8Array(0);
      while (!(await this._blocks.next()).done);
    }

    async _next(most) {
      if (!this._rest.length) {
        const { done, value } = await this._blocks.next();
        if (done) throw this._refuse("npy.cut", "more elements", "the end");
        this._rest = value;
      }
      const block = this._rest.subarray(0, most);
      this._rest = this._rest.subarray(block.length);
      return block;
    }
  }

  /** @param {string} dtype @param {number[]} shape @returns {number} bytes of the elements */
  function bytesOf(dtype, shape) {
    return shape.reduce((product, axis) => product * axis, Number(dtype.slice(2)));
  }

  /** The arrays of an npz (4.4 to 4.6). */
  class Npz {
    constructor(archive, entry) {
      this._archive = archive;
      this._entry = entry;
      for (const [name, member] of archive.members) {
        if (!MEMBER.test(name) || name.slice(0, -4).endsWith(".npy")) {
          throw refusal("npz.name", entry, "", "<array name>.npy", JSON.stringify(name.slice(0, 80)));
        }
        if (member.deflated || member.executable) {
          throw refusal("npz.member", entry, name, "a stored member of mode 0644", "another");
        }
      }
      archive.checkOrder();
      /** @type {string[]} names of the arrays, in stored order */
      this.names = Array.from(archive.members.keys(), (name) => name.slice(0, -4));
    }

    /** @param {string} name @returns {boolean} */
    has(name) {
      return this._archive.members.has(`${name}.npy`);
    }

    /**
     * @param {string} name
     * @returns {Promise<StoredArray>} behind its header
     */
    async array(name) {
      const member = this._archive.member(`${name}.npy`);
      const blocks = this._archive.blocks(`${name}.npy`);
      const first = (await blocks.next()).value ?? new Uint8Array(0);
      const refuse = (rule, expected, observed, place = "") =>
        refusal(rule, this._entry, `${name}${place && `: ${place}`}`, expected, observed);
      const { dtype, shape, length } = readHeader(first, refuse, this._entry);
      const size = length + bytesOf(dtype, shape);
      if (member.size !== size) {
        const rule = member.size < size ? "npy.cut" : "npy.trailing-bytes";
        throw refuse(rule, `${size} bytes`, member.size);
      }
      const found = new StoredArray(name, dtype, shape, blocks, refuse);
      found._rest = first.subarray(length);
      return found;
    }
  }

  /** Type, shape and length of the one header that an array may have (4.4). */
  function readHeader(data, refuse, entry) {
    const length = 10 + (data.length < 10 ? 0 : data[8] | (data[9] << 8));
    if (length - 10 > LIMITS.max_npy_header_bytes) {
      throw beyond("max_npy_header_bytes", entry, "header of an array", length - 10);
    }
    const text = Array.from(data.subarray(10, length), (byte) => String.fromCharCode(byte)).join("");
    const [, dtype, axes] = HEADER.exec(text) ?? [];
    if (dtype === undefined || !TYPE.test(dtype)) {
      throw refuse("npy.header", "the header of an array of a type of 4.1", JSON.stringify(text.slice(0, 80)));
    }
    const lengths = axes.replace(/,$/, "").split(", ").filter(Boolean);
    if (lengths.length > LIMITS.max_array_rank) {
      throw beyond("max_array_rank", entry, "axes of an array", lengths.length);
    }
    const pinnedLengths = lengths.every((one) => /^(?:0|[1-9][0-9]*)$/.test(one));
    const listed = lengths.join(", ") + (lengths.length === 1 ? "," : "");
    const dictionary = `{'descr': '${dtype}', 'fortran_order': False, 'shape': (${listed}), }`;
    const blanks = (64 - ((dictionary.length + 11) % 64)) % 64;
    const pinned = `${dictionary}${" ".repeat(blanks)}\n`;
    const opening = [0x93, 0x4e, 0x55, 0x4d, 0x50, 0x59, 1, 0];
    if (!pinnedLengths || text !== pinned || opening.some((byte, at) => data[at] !== byte)) {
      throw refuse("npy.header", "the pinned header", JSON.stringify(text.slice(0, 80)));
    }
    const most = lengths.reduce(
      (product, axis) => product * (BigInt(axis) || 1n), BigInt(dtype.slice(2)),
    );
    if (most > MOST_BYTES) {
      throw refuse("npy.shape", "a shape that an array can have", `(${listed.slice(0, 200)})`);
    }
    return { dtype, shape: lengths.map(Number), length };
  }

  function refusal(rule, entry, place, expected, observed) {
    return new Fault(CODES.FORMAT, rule, entry, place, expected, observed);
  }

  /**
   * @param {Blob} blob
   * @param {string} entry its path in the package
   * @returns {Promise<Npz>}
   */
  async function openNpz(blob, entry) {
    return new Npz(await openZip(blob, entry, entry), entry);
  }

  // ---------------------------------------------------------------- states

  /**
   * Fingerprints of the components of a state (5.4 to 5.6).
   * @param {Map<string, string>} arrays the fingerprint of each array, by name
   * @param {Record<string, any>} values encoded values by name
   * @param {string} entry
   * @returns {Promise<[string, string][]>} sorted by component
   */
  async function components(arrays, values, entry) {
    const used = new Set();
    const rows = new Map();
    const names = [...arrays.keys()].filter((name) => !name.includes("#"));
    for (const name of [...names, ...Object.keys(values)].sort(byCodePoint)) {
      if (!NAME.test(name) || name.endsWith(".npy")) {
        throw refusal("state.name", entry, "", "a name (5.2)", JSON.stringify(name.slice(0, 80)));
      }
      const own = arrays.has(name);
      if (own && Object.hasOwn(values, name)) {
        throw refusal("state.name", entry, name, "an array or a value", "both");
      }
      const value = own ? { $array: take(name) } : encoded(values[name], name, { count: 0 }, 0);
      const component = name.split(".")[0];
      if (!rows.has(component)) rows.set(component, []);
      rows.get(component).push([name, value]);
    }
    for (const name of arrays.keys()) {
      if (!used.has(name)) {
        throw new Fault(
          CODES.INTEGRITY, "state.array", entry, name, "a value that holds the array", "none",
        );
      }
    }
    const found = [];
    for (const component of [...rows.keys()].sort(byCodePoint)) {
      const text = canonical(rows.get(component));
      found.push([component, digest("repropack.state.v1\n", text)]);
      await breathe();
    }
    return found;

    function take(name) {
      used.add(name);
      return arrays.get(name);
    }

    function encoded(value, name, counter, depth) {
      const nests = value !== null && typeof value === "object" && !(value instanceof Float);
      if (nests && depth >= MAX_DEPTH) {
        const most = `at most ${MAX_DEPTH} lists and objects`;
        throw refusal("state.value-depth", entry, name, most, "more");
      }
      if (Array.isArray(value)) {
        return value.map((item) => encoded(item, name, counter, depth + 1));
      }
      if (!nests) return value;
      const members = Object.keys(value).sort(byCodePoint);
      if (!members.some((member) => member.startsWith("$"))) {
        const copy = Object.create(null);
        for (const member of members) copy[member] = encoded(value[member], name, counter, depth + 1);
        return copy;
      }
      if (members.length === 1 && members[0] === "$array") {
        counter.count += 1;
        const expected = `${name}#${counter.count}`;
        if (value.$array !== expected || !arrays.has(expected)) {
          throw new Fault(
            CODES.INTEGRITY, "state.array", entry, name, `the array ${expected}`,
            JSON.stringify(value.$array ?? null)?.slice(0, 80),
          );
        }
        return { $array: take(expected) };
      }
      if (!isEncodedNumber(value)) {
        throw refusal("state.value", entry, name, "a form of 2.4 to 2.6", members.join(", ").slice(0, 80));
      }
      return value;
    }
  }

  repropack.npz = { openNpz, fingerprint, fingerprintHead, bytesOf, components, NAME };
})((globalThis.repropack ??= {}));
