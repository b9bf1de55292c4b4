/**
 * Zips of exactly the form of chapter 7, every byte of them accounted for.
 *
 * Local headers are read back to back from byte 0. Then the directory and the end records are made
 * from what was read, and compared with the rest of the file: there is no second tree that another
 * reader could see. Contents are read later, and held against size and CRC-32 then.
 */
(function (repropack) {
  "use strict";

  const {
    Fault, CODES, LIMITS, MEBIBYTE, BlobReader, beyond, breathe, byCodePoint, crc32, fromUtf8,
    sameBytes,
  } = repropack.bytes;

  const {
    ELSEWHERE, LOCAL, DIRECTORY, END, LOCAL_FIELDS, DIRECTORY_FIELDS, RULE_OF_FIELD,
    localHeader, directoryHeader, endRecords, firstDifference, number, joined,
  } = repropack.zipLayout;

  const PIECE_BYTES = 16 * 1024; // deflated bytes given at once: at most 16 MiB come of them

  const FIRST_BYTES = 8; // shown of a file that is no zip

  /** @param {Uint8Array} bytes @returns {string} in the order of the file */
  function hex(bytes) {
    return Array.from(bytes, (one) => one.toString(16).padStart(2, "0")).join(" ");
  }

  /** A zip whose headers were all found right. */
  class Archive {
    /**
     * @param {Blob} blob
     * @param {string} name of the file, for faults that are in no entry
     * @param {string} [entry] the entry that the zip is, where it lies in a package
     */
    constructor(blob, name, entry = "") {
      this.blob = blob;
      this.name = entry || name;
      this.entry = entry;
      /** @type {Map<string, Member>} in stored order */
      this.members = new Map();
    }

    /** Read every header, once. @returns {Promise<Archive>} itself */
    async open() {
      const reader = new BlobReader(this.blob);
      let offset = 0;
      let inflated = 0;
      while (await this._begins(reader, offset)) {
        if (this.members.size >= LIMITS.max_entries) {
          throw beyond("max_entries", this.name, "entries", `more than ${LIMITS.max_entries}`);
        }
        const member = await this._member(reader, offset);
        if (this.members.has(member.name)) {
          const observed = `another at byte ${offset}`;
          throw new Fault(
            CODES.UNSAFE, "zip.name-twice", this._place(member.name), "", "one entry of this name",
            observed,
          );
        }
        this.members.set(member.name, member);
        inflated += member.deflated ? member.size : 0;
        if (inflated > LIMITS.max_inflated_bytes) {
          throw beyond("max_inflated_bytes", this.name, "deflated entries", inflated);
        }
        offset = member.dataOffset + member.storedSize;
        await breathe();
      }
      await this._directory(reader, offset);
      return this;
    }

    async _begins(reader, offset) {
      const found = await reader.read(offset, 4);
      const signature = found.length === 4 ? view(found).getUint32(0, true) : 0;
      if (signature === LOCAL) return true;
      if (signature === (this.members.size ? DIRECTORY : END)) return false;
      if (offset === 0) {
        const first = hex(await reader.read(0, FIRST_BYTES));
        const expected = "a zip, whose first bytes are 50 4b 03 04";
        const observed = first ? `not a zip: its first bytes are ${first}` : "an empty file";
        throw this._fault("zip.not-a-zip", "", "", expected, observed);
      }
      const observed = number(found);
      const [last] = Array.from(this.members.keys()).slice(-1);
      const expected = `another entry or the directory at byte ${offset}, where this one ends`;
      throw this._fault("zip.gap", last, "", expected, observed);
    }

    /** @returns {Promise<Member>} */
    async _member(reader, offset) {
      const fixed = await reader.read(offset, 30);
      if (fixed.length < 30) throw this._cut(offset);
      const fields = view(fixed);
      const [method, crc] = [fields.getUint16(8, true), fields.getUint32(14, true)];
      let [storedSize, size] = [fields.getUint32(18, true), fields.getUint32(22, true)];
      const [nameLength, extraLength] = [fields.getUint16(26, true), fields.getUint16(28, true)];
      if (nameLength > LIMITS.max_name_bytes) {
        throw beyond("max_name_bytes", this.name, `entry at byte ${offset}`, nameLength);
      }
      const header = await reader.read(offset, 30 + nameLength + extraLength);
      if (header.length < 30 + nameLength + extraLength) throw this._cut(offset);
      const nameBytes = header.slice(30, 30 + nameLength);
      const name = fromUtf8(nameBytes);
      if (name === null) throw this._header("", offset, ["name length", "UTF-8", "other bytes"]);
      if ((size === ELSEWHERE || storedSize === ELSEWHERE) && extraLength === 20) {
        const extra = view(header.subarray(30 + nameLength));
        [size, storedSize] = [4, 12].map((at) => Number(extra.getBigUint64(at, true)));
      }
      const deflated = method === 8;
      const dataOffset = offset + header.length;
      const member = {
        name, nameBytes, size, storedSize, crc, deflated, executable: false, offset, dataOffset,
      };
      const difference = this._wrong(member, method, header);
      if (difference) throw this._header(name, offset, difference);
      if (dataOffset + storedSize > this.blob.size) {
        const short = dataOffset + storedSize - this.blob.size;
        const observed = `the end of the file ${short} bytes earlier`;
        throw this._fault("zip.cut", name, "", `${storedSize} bytes of content`, observed);
      }
      return member;
    }

    /** What a local header lies about; null where it is the one that a writer makes. */
    _wrong(member, method, header) {
      if (method !== 0 && method !== 8) return ["method", "0 (stored) or 8 (deflated)", method];
      const expected = localHeader(member);
      if (!sameBytes(expected, header)) return firstDifference(expected, header, LOCAL_FIELDS);
      const { deflated, size, storedSize } = member;
      const lies = deflated ? storedSize >= size : storedSize !== size;
      return lies ? ["stored size", deflated ? `less than ${size}` : size, storedSize] : null;
    }

    async _directory(reader, start) {
      let position = start;
      for (const member of this.members.values()) {
        const expected = directoryHeader(member);
        const observed = await reader.read(position, expected.length);
        if (!sameBytes(expected, observed)) {
          member.executable = true;
          if (!sameBytes(directoryHeader(member), observed)) {
            const difference = firstDifference(expected, observed, DIRECTORY_FIELDS);
            throw this._header(member.name, position, difference, "directory");
          }
        }
        position += expected.length;
      }
      const end = endRecords(this.members.size, start, position - start);
      const observed = await reader.read(position, end.bytes.length);
      if (!sameBytes(end.bytes, observed)) {
        const [field, right, wrong] = firstDifference(end.bytes, observed, end.fields);
        const rule = RULE_OF_FIELD[field] ?? "zip.end";
        throw this._fault(rule, "", `end of the zip at byte ${position}: ${field}`, right, wrong);
      }
      const surplus = this.blob.size - position - end.bytes.length;
      if (surplus) {
        const expected = `the end of the file at byte ${position + end.bytes.length}`;
        throw this._fault("zip.trailing-bytes", "", "", expected, `${surplus} bytes more`);
      }
    }

    /** Refuse members that are not in the order of 7.1 or 4.5. */
    checkOrder(compare = byCodePoint, rule = "npz.order") {
      let before = null;
      for (const name of this.members.keys()) {
        if (before !== null && compare(before, name) > 0) {
          throw this._fault(rule, name, "order", `it before ${before}`, "it behind");
        }
        before = name;
      }
    }

    /** @param {string} name @returns {Member} */
    member(name) {
      const found = this.members.get(name);
      if (found) return found;
      throw new Fault(CODES.INTEGRITY, "manifest.file-missing", name, "", "an entry", "none");
    }

    /**
     * A member's content, block by block, held against its size and checksum (7.8).
     * @param {string} name
     * @yields {Uint8Array<ArrayBuffer>}
     */
    async *blocks(name) {
      const member = this.member(name);
      let [crc, seen] = [0, 0];
      for await (const block of member.deflated ? this._inflated(member) : this._stored(member)) {
        crc = crc32(block, crc);
        seen += block.length;
        yield block;
        await breathe();
      }
      if (seen !== member.size) {
        throw this._fault("zip.deflate", name, "", `${member.size} bytes`, `${seen}`);
      }
      if (crc !== member.crc) {
        throw this._fault(
          "zip.checksum", name, "checksum", member.crc.toString(16), crc.toString(16),
        );
      }
    }

    async *_stored(member) {
      const end = member.dataOffset + member.size;
      for (let at = member.dataOffset; at < end; at += MEBIBYTE) {
        const part = this.blob.slice(at, Math.min(end, at + MEBIBYTE));
        yield new Uint8Array(await part.arrayBuffer());
      }
    }

    async *_inflated(member) {
      const { name, size, storedSize, dataOffset } = member;
      const ratio = Math.ceil(size / Math.max(storedSize, 1));
      if (size > MEBIBYTE && ratio > LIMITS.max_deflate_ratio) {
        throw beyond("max_deflate_ratio", this._place(name), "", ratio);
      }
      const inflater = new DecompressionStream("deflate-raw");
      const [reader, writer] = [inflater.readable.getReader(), inflater.writable.getWriter()];
      const deflated = this.blob.slice(dataOffset, dataOffset + storedSize);
      const given = feed(writer, new BlobReader(deflated));
      let seen = 0;
      try {
        for (;;) {
          const { done, value } = await reader.read();
          if (done) break;
          seen += value.length;
          if (seen > size) throw this._fault("zip.deflate", name, "", `${size} bytes`, "more");
          yield value;
        }
        await given;
      } catch (error) {
        if (error instanceof Fault) throw error;
        const expected = `a stream of ${storedSize} bytes that gives ${size}`;
        throw this._fault("zip.deflate", name, "", expected, "another stream");
      } finally {
        reader.cancel().catch(() => {});
      }
    }

    /**
     * A member as a blob; of a stored one nothing is read.
     * @param {string} name
     * @param {number} maxBytes of a deflated one, which is held in memory
     * @returns {Promise<Blob|null>} null where it is larger
     */
    async blobOf(name, maxBytes) {
      const member = this.member(name);
      if (!member.deflated) {
        return this.blob.slice(member.dataOffset, member.dataOffset + member.size);
      }
      if (member.size > maxBytes) return null;
      const parts = [];
      for await (const block of this.blocks(name)) parts.push(block);
      return new Blob(parts);
    }

    /**
     * A member as bytes.
     * @param {string} name
     * @param {keyof LIMITS} limit
     * @returns {Promise<Uint8Array<ArrayBuffer>>}
     */
    async read(name, limit = "max_document_bytes") {
      const { size } = this.member(name);
      if (size > LIMITS[limit]) throw beyond(limit, this._place(name), "", size);
      const parts = [];
      for await (const block of this.blocks(name)) parts.push(block);
      return parts.length === 1 ? parts[0] : joined(...parts);
    }

    _place(name) {
      return this.entry || name || this.name;
    }

    _fault(rule, name, place, expected, observed) {
      const inside = this.entry && name ? `${name}${place ? `: ${place}` : ""}` : place;
      return new Fault(CODES.FORMAT, rule, this._place(name), inside, expected, observed);
    }

    _header(name, offset, [field, expected, observed], kind = "local") {
      const place = `${kind} header at byte ${offset}: ${field}`;
      const rule = RULE_OF_FIELD[field] ?? `zip.${kind}-header`;
      return this._fault(rule, name, place, expected, observed);
    }

    _cut(offset) {
      const observed = `the end of the file at byte ${this.blob.size}`;
      return this._fault("zip.cut", "", `entry at byte ${offset}`, "a whole header", observed);
    }
  }

  async function feed(writer, deflated) {
    try {
      for (let at = 0; at < deflated.size; at += PIECE_BYTES) {
        await writer.write(await deflated.read(at, PIECE_BYTES));
      }
      await writer.close();
    } catch {
      // the reader meets the same error, and says it
    }
  }

  function view(bytes) {
    return new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  }

  /**
   * @param {Blob} blob
   * @param {string} name
   * @param {string} [entry]
   * @returns {Promise<Archive>}
   */
  function openZip(blob, name, entry = "") {
    return new Archive(blob, name, entry).open();
  }

  repropack.zip = { Archive, openZip };
})((globalThis.repropack ??= {}));
