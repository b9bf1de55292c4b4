/**
 * NumPy's SeedSequence and PCG64, from their published algorithms: raw 64-bit words, bit for bit.
 *
 * The generator is a 128-bit linear congruential one with the XSL-RR output (O'Neill 2014). Its
 * state is held in limbs of 24 bits: a product of two is below 2^48, and six of them added are below
 * 2^53, so that doubles hold each sum exactly. That gives four times as many words a second as BigInt.
 */
(function (repropack) {
  "use strict";

  const { breathe } = repropack.bytes;

  const BETWEEN_BREATHS = 65536;
  const MULTIPLIER = 0x2360ed051fc65da44385df649fccf645n;
  const MASK32 = 0xffffffffn;
  const LIMB = 0x1000000;
  const PER_LIMB = 1 / LIMB;

  // ---------------------------------------------------------------- SeedSequence

  /** The constants that a hash walks through: what is xored with, then what is multiplied by. */
  class HashConstants {
    constructor(start, multiplier) {
      this.value = start;
      this.multiplier = multiplier;
    }

    /** @param {number} word @returns {number} the word hashed, 32 bits */
    hash(word) {
      const xored = word ^ this.value;
      this.value = Math.imul(this.value, this.multiplier);
      const product = Math.imul(xored, this.value);
      return (product ^ (product >>> 16)) >>> 0;
    }
  }

  function mix(left, right) {
    const mixed = (Math.imul(left, 0xca01f9dd) - Math.imul(right, 0x4973f715)) | 0;
    return (mixed ^ (mixed >>> 16)) >>> 0;
  }

  /**
   * `SeedSequence(seed).spawn(child + 1)[child].generate_state(4, uint64)`.
   * @param {bigint} seed from 0 on
   * @param {number} child which one of those that are spawned, below 2^32
   * @returns {bigint[]} four words of 64 bits
   */
  function spawnedWords(seed, child) {
    const entropy = [];
    for (let rest = seed; rest > 0n || entropy.length < 4; rest >>= 32n) {
      entropy.push(Number(rest & MASK32));
    }
    entropy.push(child);
    let constants = new HashConstants(0x43b0d7e5, 0x931e8875);
    const pool = entropy.slice(0, 4).map((word) => constants.hash(word));
    for (let source = 0; source < 4; source += 1) {
      for (let target = 0; target < 4; target += 1) {
        if (source !== target) pool[target] = mix(pool[target], constants.hash(pool[source]));
      }
    }
    for (const word of entropy.slice(4)) {
      for (let target = 0; target < 4; target += 1) {
        pool[target] = mix(pool[target], constants.hash(word));
      }
    }
    constants = new HashConstants(0x8b51f9dd, 0x58f38ded);
    const words = Array.from({ length: 8 }, (_, at) => BigInt(constants.hash(pool[at % 4])));
    return [0, 2, 4, 6].map((at) => words[at] | (words[at + 1] << 32n));
  }

  // ---------------------------------------------------------------- PCG64

  /** @param {bigint} value below 2^128 @returns {number[]} six limbs, the least significant first */
  function limbsOf(value) {
    return [0n, 24n, 48n, 72n, 96n, 120n].map((shift) => Number((value >> shift) & 0xffffffn));
  }

  function valueOf(limbs) {
    return limbs.reduceRight((value, limb) => (value << 24n) | BigInt(limb), 0n);
  }

  const [M0, M1, M2, M3, M4, M5] = limbsOf(MULTIPLIER);

  /** PCG64, as NumPy seeds it from a spawned SeedSequence. */
  class Pcg64 {
    /**
     * @param {bigint} state below 2^128
     * @param {bigint} increment odd, below 2^128
     */
    constructor(state, increment) {
      this._limbs = limbsOf(state);
      this._increment = limbsOf(increment);
      this.increment = increment;
      /** the upper and lower half of the word that `next` gave, unsigned */
      this.high = 0;
      this.low = 0;
    }

    /**
     * @param {bigint} seed
     * @param {number} child
     * @returns {Pcg64} `PCG64(SeedSequence(seed).spawn(child + 1)[child])`
     */
    static spawned(seed, child) {
      const [high, low, incrementHigh, incrementLow] = spawnedWords(seed, child);
      const increment = BigInt.asUintN(128, (((incrementHigh << 64n) | incrementLow) << 1n) | 1n);
      const started = BigInt.asUintN(128, increment + ((high << 64n) | low));
      const made = new Pcg64(started, increment);
      made._advance();
      return made;
    }

    /** @returns {bigint} */
    get state() {
      return valueOf(this._limbs);
    }

    /** @returns {Pcg64} another one that goes on from here */
    copy() {
      return new Pcg64(this.state, this.increment);
    }

    _advance() {
      const s = this._limbs;
      const c = this._increment;
      const [s0, s1, s2, s3, s4, s5] = [s[0], s[1], s[2], s[3], s[4], s[5]];
      let sum = s0 * M0 + c[0];
      let carry = Math.floor(sum * PER_LIMB);
      s[0] = sum - carry * LIMB;
      sum = s0 * M1 + s1 * M0 + c[1] + carry;
      carry = Math.floor(sum * PER_LIMB);
      s[1] = sum - carry * LIMB;
      sum = s0 * M2 + s1 * M1 + s2 * M0 + c[2] + carry;
      carry = Math.floor(sum * PER_LIMB);
      s[2] = sum - carry * LIMB;
      sum = s0 * M3 + s1 * M2 + s2 * M1 + s3 * M0 + c[3] + carry;
      carry = Math.floor(sum * PER_LIMB);
      s[3] = sum - carry * LIMB;
      sum = s0 * M4 + s1 * M3 + s2 * M2 + s3 * M1 + s4 * M0 + c[4] + carry;
      carry = Math.floor(sum * PER_LIMB);
      s[4] = sum - carry * LIMB;
      sum = s0 * M5 + s1 * M4 + s2 * M3 + s3 * M2 + s4 * M1 + s5 * M0 + c[5] + carry;
      s[5] = sum - Math.floor(sum / 256) * 256;
    }

    /** Draw the next word into `high` and `low`: the halves of the state xored, then turned. */
    next() {
      this._advance();
      const [s0, s1, s2, s3, s4, s5] = this._limbs;
      const high = ((s1 >>> 8) | (s2 << 16)) ^ (s4 | (s5 << 24));
      const low = (s0 | (s1 << 24)) ^ ((s2 >>> 16) | (s3 << 8));
      const turn = s5 >>> 2;
      const [a, b] = turn & 32 ? [low, high] : [high, low];
      const by = turn & 31;
      this.high = (by ? (a >>> by) | (b << (32 - by)) : a) >>> 0;
      this.low = (by ? (b >>> by) | (a << (32 - by)) : b) >>> 0;
    }

    /** @returns {number} the next uniform in [0, 1): the upper 53 bits of a word */
    uniform() {
      this.next();
      return (this.high * 0x200000 + (this.low >>> 11)) * 2 ** -53;
    }

    /**
     * Approximate normals (Irwin-Hall): twelve uniforms added in order, less 6.
     * @param {number} count
     * @returns {Promise<Float64Array>}
     */
    async normals(count) {
      const found = new Float64Array(count);
      for (let row = 0; row < 12; row += 1) {
        for (let from = 0; from < count; from += BETWEEN_BREATHS) {
          const end = Math.min(count, from + BETWEEN_BREATHS);
          for (let at = from; at < end; at += 1) found[at] += this.uniform();
          await breathe();
        }
      }
      for (let at = 0; at < count; at += 1) found[at] -= 6;
      return found;
    }
  }

  repropack.pcg64 = { Pcg64, spawnedWords };
})((globalThis.repropack ??= {}));
