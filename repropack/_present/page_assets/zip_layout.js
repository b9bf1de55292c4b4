/**
 * The pinned bytes of a zip: each header as a function of what an entry is (7.3 to 7.7).
 *
 * A reader parses a header only to make it again and demand equality, so no field can say anything
 * that a writer would not have said.
 */
(function (repropack) {
  "use strict";

  const { sameBytes } = repropack.bytes;

  const ELSEWHERE = 0xffffffff;
  const LOCAL = 0x04034b50;
  const DIRECTORY = 0x02014b50;
  const END = 0x06054b50;

  const LOCAL_FIELDS = [
    ["signature", 4], ["version needed", 2], ["flags", 2], ["method", 2], ["time", 2], ["date", 2],
    ["checksum", 4], ["stored size", 4], ["size", 4], ["name length", 2], ["extra length", 2],
  ];
  const DIRECTORY_FIELDS = [
    ["signature", 4], ["version made by", 2], ...LOCAL_FIELDS.slice(1), ["comment length", 2],
    ["disk", 2], ["internal attributes", 2], ["external attributes", 4], ["offset", 4],
  ];
  const END_FIELDS = [
    ["signature", 4], ["disk", 2], ["directory disk", 2], ["entries on disk", 2], ["entries", 2],
    ["directory size", 4], ["directory offset", 4], ["comment length", 2],
  ];
  const RULE_OF_FIELD = {
    "version needed": "zip.version",
    "version made by": "zip.version",
    flags: "zip.flags",
    method: "zip.method",
    time: "zip.time",
    date: "zip.time",
    "stored size": "zip.sizes",
    size: "zip.sizes",
    "name length": "zip.name",
    "extra length": "zip.extra-field",
    "comment length": "zip.comment",
    disk: "zip.disk",
    "internal attributes": "zip.attributes",
    "external attributes": "zip.mode",
    offset: "zip.offset",
  };

  /**
   * @typedef {object} Member one entry of a zip; sizes and offsets in bytes
   * @property {string} name
   * @property {Uint8Array} nameBytes
   * @property {number} size of the content
   * @property {number} storedSize of what lies in the zip
   * @property {number} crc
   * @property {boolean} deflated
   * @property {boolean} executable
   * @property {number} offset of the local header
   * @property {number} dataOffset of what lies behind it
   */

  /** Numbers, little-endian, one after the other. */
  function pack(...fields) {
    const length = fields.reduce((sum, [width]) => sum + width, 0);
    const view = new DataView(new ArrayBuffer(length));
    let at = 0;
    for (const [width, value] of fields) {
      if (width === 2) view.setUint16(at, value, true);
      else if (width === 4) view.setUint32(at, value, true);
      else view.setBigUint64(at, BigInt(value), true);
      at += width;
    }
    return new Uint8Array(view.buffer);
  }

  function joined(...parts) {
    const whole = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
    let at = 0;
    for (const part of parts) {
      whole.set(part, at);
      at += part.length;
    }
    return whole;
  }

  function zip64Extra(values) {
    if (!values.length) return new Uint8Array(0);
    return pack([2, 1], [2, 8 * values.length], ...values.map((value) => [8, value]));
  }

  /** What both headers say of a member, from version needed to the sizes. */
  function common(member) {
    const large = Math.max(member.size, member.storedSize) >= ELSEWHERE;
    const version = large || member.offset >= ELSEWHERE ? 45 : 20;
    const sizes = large ? [ELSEWHERE, ELSEWHERE] : [member.storedSize, member.size];
    return {
      version,
      extra: large ? [member.size, member.storedSize] : [],
      fields: [
        [2, version], [2, 0x0800], [2, member.deflated ? 8 : 0], [2, 0], [2, 0x0021],
        [4, member.crc], [4, sizes[0]], [4, sizes[1]], [2, member.nameBytes.length],
      ],
    };
  }

  function localHeader(member) {
    const { extra, fields } = common(member);
    const more = zip64Extra(extra);
    return joined(pack([4, LOCAL], ...fields, [2, more.length]), member.nameBytes, more);
  }

  function directoryHeader(member) {
    const { version, extra, fields } = common(member);
    const far = member.offset >= ELSEWHERE;
    const more = zip64Extra(far ? [...extra, member.offset] : extra);
    const mode = member.executable ? 0x81ed0000 : 0x81a40000;
    const fixed = pack(
      [4, DIRECTORY], [2, 0x0300 + version], ...fields, [2, more.length], [2, 0], [2, 0], [2, 0],
      [4, mode], [4, far ? ELSEWHERE : member.offset],
    );
    return joined(fixed, member.nameBytes, more);
  }

  function endRecords(count, offset, size) {
    let before = new Uint8Array(0);
    if (count >= 0xffff || Math.max(offset, size) >= ELSEWHERE) {
      before = pack(
        [4, 0x06064b50], [8, 44], [2, 0x032d], [2, 45], [4, 0], [4, 0], [8, count], [8, count],
        [8, size], [8, offset], [4, 0x07064b50], [4, 0], [8, offset + size], [4, 1],
      );
    }
    const short = Math.min(count, 0xffff);
    const end = pack(
      [4, END], [2, 0], [2, 0], [2, short], [2, short], [4, Math.min(size, ELSEWHERE)],
      [4, Math.min(offset, ELSEWHERE)], [2, 0],
    );
    return { bytes: joined(before, end), fields: before.length ? [] : END_FIELDS };
  }

  /** Which field of a header differs first, and both its values. */
  function firstDifference(expected, observed, fields) {
    let at = 0;
    for (const [field, width] of fields) {
      const [left, right] = [expected, observed].map((data) => data.subarray(at, at + width));
      if (!sameBytes(left, right)) {
        const cut = right.length < left.length;
        return [field, number(left), cut ? "the end of the file" : number(right)];
      }
      at += width;
    }
    return ["name or extra field", "the pinned ones", "others"];
  }

  function number(bytes) {
    if (!bytes.length) return "the end of the file";
    return `0x${Array.from(bytes).reverse().map((b) => b.toString(16).padStart(2, "0")).join("")}`;
  }

  repropack.zipLayout = {
    ELSEWHERE, LOCAL, DIRECTORY, END, LOCAL_FIELDS, DIRECTORY_FIELDS, RULE_OF_FIELD,
    localHeader, directoryHeader, endRecords, firstDifference, number, joined,
  };
})((globalThis.repropack ??= {}));
