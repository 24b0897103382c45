var __defProp = Object.defineProperty;
var __getOwnPropNames = Object.getOwnPropertyNames;
var __esm = (fn, res, err) => function __init() {
  if (err) throw err[0];
  try {
    return fn && (res = (0, fn[__getOwnPropNames(fn)[0]])(fn = 0)), res;
  } catch (e) {
    throw err = [e], e;
  }
};
var __export = (target, all) => {
  for (var name in all)
    __defProp(target, name, { get: all[name], enumerable: true });
};

// src/base/codec/msgpack/datetime.ts
function parseDateTime(text) {
  const found = FORM.exec(text);
  if (!found) return void 0;
  const part = (index) => Number(found[index]);
  const micros = Number((found[7] ?? "").padEnd(6, "0"));
  const date = new PreciseDate(0, micros % 1e3);
  date.setUTCFullYear(part(1), part(2) - 1, part(3));
  date.setUTCHours(part(4), part(5), part(6), Math.trunc(micros / 1e3));
  return formatDateTime(date) === `${text.slice(0, 18)}${String(micros).padStart(6, "0")}` ? date : void 0;
}
function formatDateTime(date) {
  const pad = (value, width) => String(value).padStart(width, "0");
  const micros = microsOf(date);
  return pad(date.getUTCFullYear(), 4) + pad(date.getUTCMonth() + 1, 2) + pad(date.getUTCDate(), 2) + `T${pad(date.getUTCHours(), 2)}:${pad(date.getUTCMinutes(), 2)}:${pad(date.getUTCSeconds(), 2)}.${pad(micros, 6)}`;
}
function microsOf(date) {
  return date.getUTCMilliseconds() * 1e3 + (date instanceof PreciseDate ? date.micros : 0);
}
var PreciseDate, FORM;
var init_datetime = __esm({
  "src/base/codec/msgpack/datetime.ts"() {
    "use strict";
    PreciseDate = class extends Date {
      /** Microseconds below the millisecond, 0 to 999. */
      micros;
      constructor(millis, micros) {
        super(millis);
        this.micros = micros;
      }
    };
    FORM = /^(\d{4})(\d\d)(\d\d)T(\d\d):(\d\d):(\d\d)\.(\d{1,6})$/;
  }
});

// src/base/errors/codes.ts
var init_codes = __esm({
  "src/base/errors/codes.ts"() {
    "use strict";
  }
});

// src/base/errors/error.ts
function messageOf(thrown) {
  return thrown instanceof Error ? thrown.message : String(thrown);
}
var HaliteError;
var init_error = __esm({
  "src/base/errors/error.ts"() {
    "use strict";
    HaliteError = class extends Error {
      code;
      hint;
      details;
      constructor(code, message, extras = {}) {
        super(message, extras.cause === void 0 ? void 0 : { cause: extras.cause });
        this.name = "HaliteError";
        this.code = code;
        this.hint = extras.hint;
        this.details = extras.details ?? {};
      }
    };
  }
});

// src/base/errors/index.ts
var init_errors = __esm({
  "src/base/errors/index.ts"() {
    "use strict";
    init_codes();
    init_error();
  }
});

// src/base/codec/value.ts
function newDict(entries) {
  const dict = /* @__PURE__ */ Object.create(null);
  if (entries) for (const [key, value] of entries) dict[key] = value;
  return dict;
}
function isDict(value) {
  if (value === null || typeof value !== "object") return false;
  if (value instanceof Map) return true;
  return !Array.isArray(value) && !(value instanceof Uint8Array) && !(value instanceof Date) && !(value instanceof PyFloat);
}
function isReorderedKey(key) {
  if (key.length === 0 || key.length > 10) return false;
  const first = key.charCodeAt(0);
  if (first < 48 || first > 57) return false;
  return String(Number(key) >>> 0) === key && key !== "4294967295";
}
function dictGet(dict, key) {
  if (dict instanceof Map) return dict.get(key);
  return typeof key === "string" && Object.hasOwn(dict, key) ? dict[key] : void 0;
}
var PyFloat;
var init_value = __esm({
  "src/base/codec/value.ts"() {
    "use strict";
    PyFloat = class {
      value;
      constructor(value) {
        this.value = value;
      }
      valueOf() {
        return this.value;
      }
      toJSON() {
        return this.value;
      }
    };
  }
});

// src/base/codec/msgpack/text-cache.ts
function textCache(slots) {
  const table = new Array(slots).fill(void 0);
  const mask = slots - 1;
  return (buf, start2, end) => {
    let hash = end - start2;
    let all = 0;
    for (let i = start2; i < end; i++) {
      const byte = buf[i];
      all |= byte;
      hash = Math.imul(hash, 31) + byte | 0;
    }
    if (all > 127) return void 0;
    const slot = (hash ^ hash >>> 15) & mask;
    const known = table[slot];
    if (known !== void 0 && sameBytes(known, buf, start2, end)) return known;
    const text = buf.toString("latin1", start2, end);
    table[slot] = text;
    return text;
  };
}
function sameBytes(text, buf, start2, end) {
  if (text.length !== end - start2) return false;
  for (let i = 0; i < text.length; i++) if (text.charCodeAt(i) !== buf[start2 + i]) return false;
  return true;
}
var init_text_cache = __esm({
  "src/base/codec/msgpack/text-cache.ts"() {
    "use strict";
  }
});

// src/base/codec/msgpack/decode.ts
import { isUtf8 } from "node:buffer";
function unpack(bytes, options = {}) {
  const maxBytes = options.maxBytes ?? defaultLimits.maxBytes;
  if (bytes.length > maxBytes) throw new HaliteError("codec.limit", `A message is larger than ${maxBytes} bytes`);
  const reader = new Reader(bytes, options);
  const value = reader.read(0);
  if (reader.at !== bytes.length) throw malformed("bytes follow the value", reader.at);
  return value;
}
function malformed(what, at2) {
  return new HaliteError("codec.malformed", `Not valid msgpack: ${what} at byte ${at2}`);
}
function textWidth(code) {
  if (code >= 196 && code <= 198) return 1 << code - 196;
  return code >= 217 && code <= 219 ? 1 << code - 217 : 0;
}
var defaultLimits, COPY_BELOW, HIGH, keyCache, valueCache, Reader;
var init_decode = __esm({
  "src/base/codec/msgpack/decode.ts"() {
    "use strict";
    init_errors();
    init_value();
    init_datetime();
    init_text_cache();
    defaultLimits = { maxDepth: 256, maxBytes: 100 * 1024 * 1024, maxItems: 8e6 };
    COPY_BELOW = 4096;
    HIGH = 4294967296;
    keyCache = textCache(2048);
    valueCache = textCache(1024);
    Reader = class _Reader {
      at = 0;
      buf;
      raw;
      keepFloats;
      maxDepth;
      items;
      constructor(bytes, options) {
        this.buf = Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
        this.raw = options.raw === true;
        this.keepFloats = options.keepFloats !== false;
        this.maxDepth = options.maxDepth ?? defaultLimits.maxDepth;
        this.items = options.maxItems ?? defaultLimits.maxItems;
      }
      read(depth) {
        const buf = this.buf;
        if (this.at >= buf.length) throw malformed("the data ends early", this.at);
        const code = buf[this.at++];
        if (code < 128) return code;
        if (code >= 224) return code - 256;
        if (code >= 160 && code < 192) return this.text(code & 31, valueCache);
        if (code < 144) return this.map(code & 15, depth);
        if (code < 160) return this.array(code & 15, depth);
        return this.wide(code, depth);
      }
      wide(code, depth) {
        switch (code) {
          case 192:
            return null;
          case 194:
            return false;
          case 195:
            return true;
          case 199:
          case 200:
          case 201:
            return this.extension(this.uint(1 << code - 199), depth);
          case 202:
            this.need(4);
            this.at += 4;
            return this.float(this.buf.readFloatBE(this.at - 4));
          case 203:
            this.need(8);
            this.at += 8;
            return this.float(this.buf.readDoubleBE(this.at - 8));
          case 204:
          case 205:
          case 206:
            return this.uint(1 << code - 204);
          case 207:
            return this.uint64();
          case 208:
          case 209:
          case 210:
            return this.int(1 << code - 208);
          case 211:
            return this.int64();
          case 220:
          case 221:
            return this.array(this.uint(code === 220 ? 2 : 4), depth);
          case 222:
          case 223:
            return this.map(this.uint(code === 222 ? 2 : 4), depth);
          default: {
            if (code >= 212 && code <= 216) return this.extension(1 << code - 212, depth);
            const width = textWidth(code);
            if (width === 0) throw malformed(`no such type 0x${code.toString(16)}`, this.at - 1);
            return this.text(this.uint(width), valueCache);
          }
        }
      }
      need(bytes) {
        if (this.at + bytes > this.buf.length) throw malformed("the data ends early", this.at);
      }
      uint(width) {
        this.need(width);
        const at2 = this.at;
        this.at += width;
        if (width === 1) return this.buf[at2];
        return width === 2 ? this.buf.readUInt16BE(at2) : this.buf.readUInt32BE(at2);
      }
      int(width) {
        this.need(width);
        const at2 = this.at;
        this.at += width;
        if (width === 1) return this.buf.readInt8(at2);
        return width === 2 ? this.buf.readInt16BE(at2) : this.buf.readInt32BE(at2);
      }
      uint64() {
        const high = this.uint(4);
        const low = this.uint(4);
        return high < 2097152 ? high * HIGH + low : this.buf.readBigUInt64BE(this.at - 8);
      }
      int64() {
        this.need(8);
        const value = this.buf.readBigInt64BE(this.at);
        this.at += 8;
        return value >= -9007199254740991n && value <= 9007199254740991n ? Number(value) : value;
      }
      float(value) {
        return this.keepFloats && Number.isInteger(value) ? new PyFloat(value) : value;
      }
      bytes(length) {
        this.need(length);
        const view = this.buf.subarray(this.at, this.at + length);
        this.at += length;
        return length < COPY_BELOW ? Buffer.from(view) : view;
      }
      text(length, cache2) {
        if (this.raw && cache2 === valueCache) return this.bytes(length);
        this.need(length);
        const start2 = this.at;
        const end = start2 + length;
        const cached = length < 32 ? cache2(this.buf, start2, end) : void 0;
        if (cached !== void 0) {
          this.at = end;
          return cached;
        }
        const text = this.buf.toString("utf8", start2, end);
        if (text.includes("\uFFFD") && !isUtf8(this.buf.subarray(start2, end))) return this.bytes(length);
        this.at = end;
        return text;
      }
      key(depth) {
        const code = this.at < this.buf.length ? this.buf[this.at] : 0;
        if (code >= 160 && code < 192) {
          this.at++;
          return this.text(code & 31, keyCache);
        }
        const width = textWidth(code);
        if (width === 0) return this.read(depth);
        this.at++;
        return this.text(this.uint(width), keyCache);
      }
      open(count, minimum, depth) {
        if (depth >= this.maxDepth)
          throw new HaliteError("codec.limit", `A message is nested deeper than ${this.maxDepth}`);
        if (count * minimum > this.buf.length - this.at) throw malformed("the data ends early", this.at);
        this.items -= count;
        if (this.items < 0) throw new HaliteError("codec.limit", "A message has too many items");
      }
      array(count, depth) {
        this.open(count, 1, depth);
        const items = new Array(count);
        for (let i = 0; i < count; i++) items[i] = this.read(depth + 1);
        return items;
      }
      map(count, depth) {
        this.open(count, 2, depth);
        const dict = newDict();
        for (let i = 0; i < count; i++) {
          const key = this.key(depth + 1);
          if (typeof key !== "string" || isReorderedKey(key)) return this.mapRest(dict, key, count - i, depth);
          dict[key] = this.read(depth + 1);
        }
        return dict;
      }
      /** The rest of a map that turned out to need a Map, from the value of `key` on. */
      mapRest(start2, key, left, depth) {
        const map = new Map(Object.entries(start2));
        map.set(key, this.read(depth + 1));
        for (let i = 1; i < left; i++) {
          const next = this.key(depth + 1);
          map.set(next, this.read(depth + 1));
        }
        return map;
      }
      extension(length, depth) {
        this.need(length + 1);
        const type = this.buf.readInt8(this.at++);
        const start2 = this.at;
        if (type === 78) {
          this.at += length;
          const text = this.buf.toString("latin1", start2, this.at);
          return parseDateTime(text) ?? text;
        }
        if (type === 79) return this.constant(start2, start2 + length, depth);
        return this.text(length, valueCache);
      }
      /** Salt's internal constants, `[name, value]`: only the value means anything outside Python. */
      constant(start2, end, depth) {
        try {
          const inner = new _Reader(this.buf.subarray(start2, end), {
            raw: this.raw,
            maxDepth: this.maxDepth,
            maxItems: this.items
          });
          const pair = inner.read(depth + 1);
          return Array.isArray(pair) && pair.length === 2 ? pair[1] : null;
        } catch (thrown) {
          if (thrown instanceof HaliteError && thrown.code === "codec.limit") throw thrown;
          return null;
        } finally {
          this.at = end;
        }
      }
    };
  }
});

// src/base/codec/msgpack/encode.ts
function pack(value, options = {}) {
  at = 0;
  bin = options.bin === true;
  datesAsText = options.dates === "text";
  try {
    write(value, 0);
    const used = out.subarray(0, at);
    if (out.length <= KEEP_SCRATCH) return Buffer.from(used);
    return at > out.length >> 1 ? used : Buffer.from(used);
  } finally {
    if (out.length > KEEP_SCRATCH) out = Buffer.allocUnsafeSlow(KEEP_SCRATCH);
  }
}
function reserve(bytes) {
  if (at + bytes <= out.length) return;
  const grown = Buffer.allocUnsafeSlow(Math.max(out.length * 2, at + bytes));
  out.copy(grown, 0, 0, at);
  out = grown;
}
function write(value, depth) {
  if (typeof value === "string") writeText(value);
  else if (typeof value === "number") writeNumber(value);
  else if (value === null || value === void 0) writeByte(192);
  else if (typeof value === "boolean") writeByte(value ? 195 : 194);
  else if (typeof value === "bigint") writeBigInt(value);
  else if (typeof value === "object") writeObject(value, depth);
  else throw new HaliteError("codec.malformed", `A ${typeof value} cannot be written as msgpack`);
}
function writeByte(byte) {
  reserve(1);
  out[at++] = byte;
}
function writeObject(value, depth) {
  if (Array.isArray(value)) {
    checkDepth(depth);
    writeHeader(value.length, 144, 220);
    for (let i = 0; i < value.length; i++) write(value[i], depth + 1);
  } else if (value instanceof Uint8Array) writeBytes(value);
  else if (value instanceof PyFloat) writeFloat(value.value);
  else if (value instanceof Date) writeDate(value);
  else if (value instanceof Map) {
    checkDepth(depth);
    writeHeader(value.size, 128, 222);
    for (const [key, item] of value) {
      write(key, depth + 1);
      write(item, depth + 1);
    }
  } else {
    checkDepth(depth);
    const keys = Object.keys(value);
    writeHeader(keys.length, 128, 222);
    for (let i = 0; i < keys.length; i++) {
      const key = keys[i];
      writeText(key);
      write(value[key], depth + 1);
    }
  }
}
function checkDepth(depth) {
  if (depth >= MAX_DEPTH) throw new HaliteError("codec.limit", `A value is nested deeper than ${MAX_DEPTH} levels`);
}
function writeHeader(count, short, wide) {
  reserve(5);
  if (count < 16) {
    out[at++] = short | count;
  } else if (count < 65536) {
    out[at] = wide;
    at = out.writeUInt16BE(count, at + 1);
  } else {
    out[at] = wide + 1;
    at = out.writeUInt32BE(count, at + 1);
  }
}
function writeTextHeader(length) {
  reserve(5 + length);
  if (length < 32) {
    out[at++] = 160 | length;
  } else if (length < 256 && bin) {
    out[at++] = 217;
    out[at++] = length;
  } else if (length < 65536) {
    out[at] = 218;
    at = out.writeUInt16BE(length, at + 1);
  } else {
    out[at] = 219;
    at = out.writeUInt32BE(length, at + 1);
  }
}
function writeText(text) {
  const length = text.length;
  if (length < 32) {
    reserve(length + 1);
    const start2 = at + 1;
    let i = 0;
    for (; i < length; i++) {
      const code = text.charCodeAt(i);
      if (code > 127) break;
      out[start2 + i] = code;
    }
    if (i === length) {
      out[at] = 160 | length;
      at = start2 + length;
      return;
    }
  }
  const bytes = Buffer.byteLength(text);
  writeTextHeader(bytes);
  at += out.write(text, at, bytes, "utf8");
}
function writeBytes(bytes) {
  const length = bytes.length;
  if (!bin) {
    writeTextHeader(length);
  } else {
    reserve(5 + length);
    if (length < 256) {
      out[at++] = 196;
      out[at++] = length;
    } else if (length < 65536) {
      out[at] = 197;
      at = out.writeUInt16BE(length, at + 1);
    } else {
      out[at] = 198;
      at = out.writeUInt32BE(length, at + 1);
    }
  }
  out.set(bytes, at);
  at += length;
}
function writeFloat(value) {
  reserve(9);
  out[at] = 203;
  at = out.writeDoubleBE(value, at + 1);
}
function writeNumber(value) {
  reserve(9);
  if (!Number.isInteger(value)) {
    writeFloat(value);
  } else if (value >= 0) {
    if (value < 128) {
      out[at++] = value;
    } else if (value < 256) {
      out[at++] = 204;
      out[at++] = value;
    } else if (value < 65536) {
      out[at] = 205;
      at = out.writeUInt16BE(value, at + 1);
    } else if (value < HIGH2) {
      out[at] = 206;
      at = out.writeUInt32BE(value, at + 1);
    } else if (value <= Number.MAX_SAFE_INTEGER) {
      out[at] = 207;
      at = out.writeUInt32BE(Math.floor(value / HIGH2), at + 1);
      at = out.writeUInt32BE(value % HIGH2, at);
    } else {
      writeHuge(value);
    }
  } else if (value >= -32) {
    out[at++] = value & 255;
  } else if (value >= -128) {
    out[at] = 208;
    at = out.writeInt8(value, at + 1);
  } else if (value >= -32768) {
    out[at] = 209;
    at = out.writeInt16BE(value, at + 1);
  } else if (value >= -2147483648) {
    out[at] = 210;
    at = out.writeInt32BE(value, at + 1);
  } else {
    writeHuge(value);
  }
}
function writeHuge(value) {
  if (value >= 2 ** 64 || value < -(2 ** 63)) writeFloat(value);
  else writeBigInt(BigInt(value));
}
function writeBigInt(value) {
  if (value >= -0x80000000n && value <= 9007199254740991n) {
    writeNumber(Number(value));
  } else if (value >= 1n << 64n || value < -(1n << 63n)) {
    writeText(value.toString());
  } else {
    reserve(9);
    out[at] = value < 0n ? 211 : 207;
    at = value < 0n ? out.writeBigInt64BE(value, at + 1) : out.writeBigUInt64BE(value, at + 1);
  }
}
function writeDate(date) {
  const year = date.getUTCFullYear();
  if (Number.isNaN(year)) writeByte(192);
  else if (datesAsText || year < 0 || year > 9999) writeText(date.toISOString());
  else {
    reserve(27);
    out[at++] = 199;
    out[at++] = 24;
    out[at++] = 78;
    at += out.write(formatDateTime(date), at, 24, "latin1");
  }
}
var MAX_DEPTH, KEEP_SCRATCH, HIGH2, out, at, bin, datesAsText;
var init_encode = __esm({
  "src/base/codec/msgpack/encode.ts"() {
    "use strict";
    init_errors();
    init_value();
    init_datetime();
    MAX_DEPTH = 512;
    KEEP_SCRATCH = 1 << 16;
    HIGH2 = 4294967296;
    out = Buffer.allocUnsafeSlow(KEEP_SCRATCH);
    at = 0;
    bin = false;
    datesAsText = false;
  }
});

// src/base/codec/msgpack/unpacker.ts
var init_unpacker = __esm({
  "src/base/codec/msgpack/unpacker.ts"() {
    "use strict";
    init_errors();
    init_decode();
  }
});

// src/base/codec/msgpack/index.ts
var init_msgpack = __esm({
  "src/base/codec/msgpack/index.ts"() {
    "use strict";
    init_datetime();
    init_decode();
    init_encode();
    init_unpacker();
  }
});

// src/protocol/wire/link/paced-queue.ts
var SLICE_MS, MAX_ITEMS, MAX_BYTES, PacedQueue;
var init_paced_queue = __esm({
  "src/protocol/wire/link/paced-queue.ts"() {
    "use strict";
    init_errors();
    SLICE_MS = 8;
    MAX_ITEMS = 1e5;
    MAX_BYTES = 512 * 1024 * 1024;
    PacedQueue = class {
      send;
      burst;
      items = [];
      head = 0;
      bytes = 0;
      scheduled = false;
      /**
       * `hwm` is how many messages the socket holds, 0 for no bound: at most a quarter of it is sent per millisecond,
       * because ZeroMQ silently drops what goes beyond.
       */
      constructor(hwm, send) {
        this.burst = hwm > 0 ? Math.max(1, hwm >> 2) : Number.POSITIVE_INFINITY;
        this.send = send;
      }
      /** Sends the first message at once when nothing waits; never blocks. */
      push(targets, payload) {
        if (targets.length === 0) return;
        if (this.items.length - this.head >= MAX_ITEMS || this.bytes + payload.length > MAX_BYTES) {
          throw new HaliteError("codec.limit", `Too many publishes wait to be sent (${this.items.length - this.head})`, {
            hint: "Publish fewer jobs at once."
          });
        }
        this.items.push({ targets, payload, next: 0 });
        this.bytes += payload.length;
        if (this.scheduled) return;
        this.sendOne();
        this.schedule(0);
      }
      /** Sends all that waits, whatever the pace: for the end of the daemon. */
      flush() {
        while (this.waiting) this.sendOne();
      }
      get waiting() {
        return this.head < this.items.length;
      }
      schedule(sent) {
        this.scheduled = true;
        if (sent >= this.burst) setTimeout(() => this.drain(), 1);
        else setImmediate(() => this.drain());
      }
      drain() {
        const until = performance.now() + SLICE_MS;
        let sent = 0;
        while (this.waiting && sent < this.burst && performance.now() < until) {
          this.sendOne();
          sent += 1;
        }
        this.scheduled = false;
        if (this.waiting) this.schedule(sent);
      }
      sendOne() {
        const item = this.items[this.head];
        const target = item.targets[item.next];
        item.next += 1;
        if (item.next >= item.targets.length) this.shift(item);
        this.send(target, item.payload);
      }
      shift(item) {
        this.bytes -= item.payload.length;
        this.head += 1;
        if (this.head === this.items.length || this.head > 4096) {
          this.items = this.items.slice(this.head);
          this.head = 0;
        }
      }
    };
  }
});

// src/protocol/wire/presence-topic.ts
function readPresenceTopic(topic) {
  if (!topic.startsWith(prefix) || topic.length > 1024) return void 0;
  const parts = topic.slice(prefix.length).split("/");
  const [id, boot, proof] = parts;
  if (parts.length !== 3 || !id || !boot || !proof) return void 0;
  try {
    return { id: decodeURIComponent(id), boot, proof };
  } catch {
    return void 0;
  }
}
var prefix;
var init_presence_topic = __esm({
  "src/protocol/wire/presence-topic.ts"() {
    "use strict";
    prefix = "halite1/";
  }
});

// src/protocol/wire/link/bind-error.ts
function bindError(where, thrown) {
  const code = thrown.code ?? String(thrown);
  if (code === "EADDRINUSE") {
    return new HaliteError("daemon.running", `The address ${where} is already in use`, {
      hint: "Stop the other daemon, or choose other ports with publish_port and ret_port.",
      cause: thrown
    });
  }
  return new HaliteError("config.value", `Cannot listen on ${where} (${code})`, {
    hint: "Check the option interface, and that the port may be used by this user.",
    cause: thrown
  });
}
var init_bind_error = __esm({
  "src/protocol/wire/link/bind-error.ts"() {
    "use strict";
    init_errors();
  }
});

// src/protocol/wire/link/deferred.ts
function deferred() {
  let resolve2 = () => void 0;
  let reject = () => void 0;
  const promise = new Promise((yes, no) => {
    resolve2 = yes;
    reject = no;
  });
  return { promise, resolve: resolve2, reject };
}
var init_deferred = __esm({
  "src/protocol/wire/link/deferred.ts"() {
    "use strict";
  }
});

// src/protocol/wire/link/resolve.ts
import { lookup } from "node:dns/promises";
import { isIP } from "node:net";
function bareHost(host) {
  return host.startsWith("[") && host.endsWith("]") ? host.slice(1, -1) : host;
}
function endpoint(address, port) {
  return address.includes(":") ? `[${address}]:${port}` : `${address}:${port}`;
}
async function resolveAddress(host, ipv6, attempt) {
  const name = bareHost(host);
  const literal = isIP(name);
  if (literal !== 0) return { address: name, family: literal === 6 ? 6 : 4 };
  const found = await lookup(name, { all: true, family: ipv6 ? 0 : 4 }).catch((thrown) => {
    throw new HaliteError("wire.closed", `The name ${name} cannot be resolved (${thrown.code ?? thrown.message})`, {
      hint: "Check the name in the configuration and the DNS of this machine.",
      cause: thrown
    });
  });
  const pick = found[attempt % Math.max(1, found.length)];
  if (!pick) throw new HaliteError("wire.closed", `The name ${name} has no address`);
  return { address: pick.address, family: pick.family === 6 ? 6 : 4 };
}
var init_resolve = __esm({
  "src/protocol/wire/link/resolve.ts"() {
    "use strict";
    init_errors();
  }
});

// src/protocol/wire/zeromq/settings.ts
import { context } from "zeromq";
function heartbeat(on) {
  return on === false ? {} : { heartbeatInterval: 1e4, heartbeatTimeout: 3e4 };
}
function keepAlive(given, standard) {
  if (given === false) return { tcpKeepalive: 0 };
  const { idleSeconds, count, intervalSeconds } = given ?? standard;
  return {
    tcpKeepalive: 1,
    tcpKeepaliveIdle: idleSeconds,
    tcpKeepaliveCount: count,
    tcpKeepaliveInterval: intervalSeconds
  };
}
async function bind(socket, options) {
  const wanted = `tcp://${endpoint(bareHost(options.interface), options.port)}`;
  try {
    await socket.bind(wanted);
  } catch (thrown) {
    socket.close();
    throw bindError(wanted, thrown);
  }
  const bound = socket.lastEndpoint ?? wanted;
  return new Bound(socket, bound);
}
var RELEASE_MS, requestKeepAlive, publishKeepAlive, Bound;
var init_settings = __esm({
  "src/protocol/wire/zeromq/settings.ts"() {
    "use strict";
    init_bind_error();
    init_deferred();
    init_resolve();
    RELEASE_MS = 2e3;
    context.maxSockets = 16384;
    requestKeepAlive = { idleSeconds: 60, count: 3, intervalSeconds: 15 };
    publishKeepAlive = { idleSeconds: 300, count: -1, intervalSeconds: -1 };
    Bound = class {
      socket;
      port;
      released = deferred();
      constructor(socket, endpoint2) {
        this.socket = socket;
        this.port = Number(endpoint2.slice(endpoint2.lastIndexOf(":") + 1));
        const { events } = socket;
        events.on("close", () => this.released.resolve());
        events.on("end", () => this.released.resolve());
      }
      async close() {
        if (!this.socket.closed) this.socket.close();
        const deadline = setTimeout(() => this.released.resolve(), RELEASE_MS);
        await this.released.promise;
        clearTimeout(deadline);
      }
    };
  }
});

// src/protocol/wire/zeromq/publisher.ts
import { createHash } from "node:crypto";
import { XPublisher } from "zeromq";
function minionTopic(id) {
  return createHash("sha1").update(id).digest("hex");
}
async function listenPublish(options) {
  const socket = new XPublisher({
    linger: 1e3,
    sendTimeout: 0,
    sendHighWaterMark: options.hwm,
    receiveHighWaterMark: 0,
    backlog: options.backlog ?? 1e3,
    ipv6: options.ipv6 === true || options.interface.includes(":"),
    maxMessageSize: MAX_SUBSCRIPTION_BYTES,
    ...heartbeat(options.heartbeat),
    ...keepAlive(options.keepAlive, publishKeepAlive)
  });
  const bound = await bind(socket, options);
  const queue = new PacedQueue(options.hwm, (topic, payload) => {
    if (!socket.closed) socket.send(topic === noTopic ? payload : [topic, payload]).catch(() => void 0);
  });
  const done = watch(bound, options);
  return {
    port: bound.port,
    publish(payload, ids) {
      if (!options.filtering) return queue.push([noTopic], payload);
      if (!ids?.length) return queue.push(["broadcast"], payload);
      const topics = ids.map(minionTopic);
      if (options.syndics) topics.push("syndic");
      queue.push(topics, payload);
    },
    async close() {
      queue.flush();
      await bound.close();
      await done;
    }
  };
}
async function watch(bound, options) {
  for await (const [message] of bound.socket) {
    const sign2 = message?.[0];
    if (!message || sign2 !== 0 && sign2 !== 1) continue;
    const topic = message.toString("utf8", 1);
    if (!options.onSubscriber || readPresenceTopic(topic) === void 0) continue;
    try {
      options.onSubscriber({ kind: sign2 === 1 ? "joined" : "left", topic, peer: "zeromq" });
    } catch (thrown) {
      options.onProblem?.({ kind: "handler", peer: "zeromq", detail: String(thrown) });
    }
  }
}
var MAX_SUBSCRIPTION_BYTES, noTopic;
var init_publisher = __esm({
  "src/protocol/wire/zeromq/publisher.ts"() {
    "use strict";
    init_paced_queue();
    init_presence_topic();
    init_settings();
    MAX_SUBSCRIPTION_BYTES = 4096;
    noTopic = "";
  }
});

// src/protocol/wire/link/answers.ts
var defaultMaxMessageBytes, badLoad, serverError, maxOutstanding;
var init_answers = __esm({
  "src/protocol/wire/link/answers.ts"() {
    "use strict";
    init_msgpack();
    defaultMaxMessageBytes = 100 * 1024 * 1024;
    badLoad = pack("bad load");
    serverError = pack("Server-side exception handling payload");
    maxOutstanding = { count: 1e4, bytes: 512 * 1024 * 1024 };
  }
});

// src/base/util/backoff.ts
function backoff(options = {}) {
  const { base = 1e3, max = 6e4, factor = 2, jitter = 0.5, random = Math.random } = options;
  let attempts = 0;
  return {
    next() {
      const full = Math.min(max, base * factor ** attempts);
      attempts++;
      return Math.round(full * (1 - jitter * random()));
    },
    reset() {
      attempts = 0;
    },
    get attempts() {
      return attempts;
    }
  };
}
var init_backoff = __esm({
  "src/base/util/backoff.ts"() {
    "use strict";
  }
});

// src/base/util/py-equals.ts
var init_py_equals = __esm({
  "src/base/util/py-equals.ts"() {
    "use strict";
    init_value();
  }
});

// src/base/util/deep-merge.ts
var init_deep_merge = __esm({
  "src/base/util/deep-merge.ts"() {
    "use strict";
    init_value();
    init_py_equals();
  }
});

// src/base/codec/python/repr.ts
var init_repr = __esm({
  "src/base/codec/python/repr.ts"() {
    "use strict";
    init_datetime();
    init_value();
  }
});

// src/base/util/fnmatch.ts
var init_fnmatch = __esm({
  "src/base/util/fnmatch.ts"() {
    "use strict";
  }
});

// src/base/util/pyregex-cursor.ts
var init_pyregex_cursor = __esm({
  "src/base/util/pyregex-cursor.ts"() {
    "use strict";
    init_errors();
  }
});

// src/base/util/pyregex-class.ts
var init_pyregex_class = __esm({
  "src/base/util/pyregex-class.ts"() {
    "use strict";
    init_pyregex_cursor();
  }
});

// src/base/util/pyregex-translate.ts
var init_pyregex_translate = __esm({
  "src/base/util/pyregex-translate.ts"() {
    "use strict";
    init_pyregex_class();
    init_pyregex_cursor();
  }
});

// src/base/util/pyregex.ts
var init_pyregex = __esm({
  "src/base/util/pyregex.ts"() {
    "use strict";
    init_errors();
    init_pyregex_translate();
  }
});

// src/base/util/yaml-key.ts
function casesOf(word) {
  return [word, word[0]?.toUpperCase() + word.slice(1), word.toUpperCase()];
}
var WORDS;
var init_yaml_key = __esm({
  "src/base/util/yaml-key.ts"() {
    "use strict";
    init_value();
    WORDS = new Map([
      ...["~", "null", "Null", "NULL", "None"].map((word) => [word, null]),
      ...["true", "yes", "on"].flatMap((word) => casesOf(word).map((form) => [form, true])),
      ...["false", "no", "off"].flatMap((word) => casesOf(word).map((form) => [form, false]))
    ]);
  }
});

// src/base/util/dict-path.ts
var init_dict_path = __esm({
  "src/base/util/dict-path.ts"() {
    "use strict";
    init_repr();
    init_value();
    init_fnmatch();
    init_py_equals();
    init_pyregex();
    init_yaml_key();
  }
});

// src/base/util/durations.ts
var init_durations = __esm({
  "src/base/util/durations.ts"() {
    "use strict";
    init_errors();
  }
});

// src/base/util/exit-codes.ts
var init_exit_codes = __esm({
  "src/base/util/exit-codes.ts"() {
    "use strict";
  }
});

// src/base/util/jid.ts
var offset;
var init_jid = __esm({
  "src/base/util/jid.ts"() {
    "use strict";
    offset = Date.now() - performance.now();
  }
});

// src/base/util/nearest.ts
var init_nearest = __esm({
  "src/base/util/nearest.ts"() {
    "use strict";
  }
});

// src/base/util/safe-join.ts
var init_safe_join = __esm({
  "src/base/util/safe-join.ts"() {
    "use strict";
    init_errors();
  }
});

// src/base/util/valid-id.ts
var init_valid_id = __esm({
  "src/base/util/valid-id.ts"() {
    "use strict";
  }
});

// src/base/util/index.ts
var init_util = __esm({
  "src/base/util/index.ts"() {
    "use strict";
    init_backoff();
    init_deep_merge();
    init_dict_path();
    init_durations();
    init_exit_codes();
    init_fnmatch();
    init_jid();
    init_nearest();
    init_py_equals();
    init_pyregex();
    init_safe_join();
    init_valid_id();
    init_yaml_key();
  }
});

// src/protocol/wire/link/request-pool.ts
var MAX_TIMER_MS, MAX_TRIES, RequestPool;
var init_request_pool = __esm({
  "src/protocol/wire/link/request-pool.ts"() {
    "use strict";
    init_errors();
    init_util();
    MAX_TIMER_MS = 2 ** 31 - 1;
    MAX_TRIES = 3;
    RequestPool = class {
      options;
      waits = backoff({ base: 100, max: 5e3 });
      waiting = /* @__PURE__ */ new Map();
      slots = [];
      owners = /* @__PURE__ */ new Map();
      dialing = 0;
      attempt = 0;
      retryTimer;
      lastFailure = "";
      nextTicket = 1;
      closed = false;
      constructor(options) {
        this.options = options;
      }
      request(payload, options) {
        return new Promise((resolve2, reject) => {
          const { signal } = options;
          if (this.closed) return reject(new HaliteError("wire.closed", "The connection was closed by its owner"));
          if (signal?.aborted) return reject(new HaliteError("wire.closed", "The request was cancelled"));
          const ticket = this.nextTicket++;
          const onAbort = () => this.giveUp(job, new HaliteError("wire.closed", "The request was cancelled"));
          const timeoutMs = Math.min(options.timeoutMs, MAX_TIMER_MS);
          const timer = setTimeout(() => this.giveUp(job, this.timeout(timeoutMs)), timeoutMs);
          const job = {
            ticket,
            payload,
            sentAt: 0,
            tries: 0,
            settle: (result) => {
              clearTimeout(timer);
              signal?.removeEventListener("abort", onAbort);
              if (result instanceof HaliteError) reject(result);
              else resolve2(result);
            }
          };
          signal?.addEventListener("abort", onAbort, { once: true });
          this.waiting.set(ticket, job);
          this.pump();
        });
      }
      close() {
        if (this.closed) return;
        this.closed = true;
        clearTimeout(this.retryTimer);
        const error = () => new HaliteError("wire.closed", "The connection was closed by its owner");
        for (const slot of /* @__PURE__ */ new Set([...this.slots, ...this.owners.values()])) this.drop(slot, error);
        for (const job of this.waiting.values()) job.settle(error());
        this.waiting.clear();
      }
      timeout(ms) {
        const unreached = this.slots.length === 0;
        const why = unreached && this.lastFailure ? `: ${this.lastFailure}` : "";
        return new HaliteError("wire.timeout", `No answer from ${this.options.target} in ${ms} ms${why}`, {
          hint: unreached ? "Check that the master runs and that its ports can be reached from here." : void 0
        });
      }
      /** Hands waiting requests to free links, newest link first so that extra ones fall idle, and dials for the rest. */
      pump() {
        for (const job of this.waiting.values()) {
          const slot = this.slots.findLast((candidate) => candidate.jobs.size < candidate.link.capacity);
          if (!slot) break;
          this.waiting.delete(job.ticket);
          this.give(slot, job);
        }
        while (this.mayDial()) this.dial();
      }
      mayDial() {
        if (this.closed || this.retryTimer || this.waiting.size <= this.dialing) return false;
        const limit = this.attempt > 0 ? 1 : this.options.maxLinks - this.slots.length;
        return this.dialing < limit;
      }
      give(slot, job) {
        clearTimeout(slot.idleTimer);
        slot.idleTimer = void 0;
        slot.jobs.set(job.ticket, job);
        this.owners.set(job.ticket, slot);
        job.sentAt = performance.now();
        try {
          slot.link.send(job.ticket, job.payload);
        } catch (thrown) {
          this.leave(slot, job);
          job.tries += 1;
          if (job.tries >= MAX_TRIES) job.settle(this.lost(messageOf(thrown)));
          else this.waiting.set(job.ticket, job);
          this.drop(slot, () => this.lost(messageOf(thrown)));
        }
      }
      lost(reason) {
        return new HaliteError("wire.closed", `The connection to ${this.options.target} was lost: ${reason}`);
      }
      dial() {
        this.dialing += 1;
        let slot;
        let early;
        const events = {
          onReply: (ticket, payload) => this.reply(ticket, payload),
          onClosed: (reason) => {
            if (slot) this.drop(slot, () => this.lost(reason));
            else early = reason;
          }
        };
        this.options.open(events, this.attempt).then(
          (link) => {
            this.dialing -= 1;
            if (this.closed) return link.close();
            if (early !== void 0) return this.dialFailed(early);
            this.attempt = 0;
            this.waits.reset();
            slot = { link, jobs: /* @__PURE__ */ new Map(), idleTimer: void 0, lastHeard: performance.now(), gone: false };
            this.slots.push(slot);
            this.rest(slot);
            this.pump();
          },
          (thrown) => {
            this.dialing -= 1;
            if (!this.closed) this.dialFailed(messageOf(thrown));
          }
        );
      }
      dialFailed(reason) {
        this.lastFailure = reason;
        this.attempt += 1;
        if (this.retryTimer || this.waiting.size === 0) return;
        this.retryTimer = setTimeout(() => {
          this.retryTimer = void 0;
          this.pump();
        }, this.waits.next());
      }
      reply(ticket, payload) {
        const slot = this.owners.get(ticket);
        const job = slot?.jobs.get(ticket);
        if (!slot || !job) return;
        slot.lastHeard = performance.now();
        this.leave(slot, job);
        job.settle(payload);
        this.rest(slot);
        this.pump();
      }
      leave(slot, job) {
        slot.jobs.delete(job.ticket);
        this.owners.delete(job.ticket);
      }
      /** Deadline or cancellation. A link that was silent since the request was sent may be half open: no more on it. */
      giveUp(job, error) {
        this.waiting.delete(job.ticket);
        const slot = this.owners.get(job.ticket);
        if (slot) {
          this.leave(slot, job);
          const silent = error.code === "wire.timeout" && slot.lastHeard <= job.sentAt;
          if (!slot.link.forget(job.ticket) || silent) this.remove(slot);
          this.rest(slot);
        }
        job.settle(error);
        this.pump();
      }
      /** A link without work is closed after a while, and at once when it is no longer among the usable ones. */
      rest(slot) {
        if (slot.jobs.size > 0 || slot.gone) return;
        if (!this.slots.includes(slot)) {
          this.drop(slot, () => this.lost("it went silent"));
          return;
        }
        clearTimeout(slot.idleTimer);
        slot.idleTimer = setTimeout(() => this.drop(slot, () => this.lost("idle")), this.options.idleMs ?? 3e4);
        slot.idleTimer.unref();
      }
      remove(slot) {
        const index = this.slots.indexOf(slot);
        if (index >= 0) this.slots.splice(index, 1);
      }
      drop(slot, error) {
        if (slot.gone) return;
        slot.gone = true;
        clearTimeout(slot.idleTimer);
        this.remove(slot);
        slot.link.close();
        for (const job of [...slot.jobs.values()]) {
          this.leave(slot, job);
          job.settle(error());
        }
        if (!this.closed) this.pump();
      }
    };
  }
});

// src/protocol/wire/zeromq/connect.ts
async function connect(target, attempt, make, signal) {
  const { address, family } = await resolveAddress(target.host, target.ipv6 === true, attempt);
  if (signal?.aborted) throw new HaliteError("wire.closed", "closed by its owner");
  const remote = endpoint(address, target.port);
  const socket = make(family);
  const ready2 = deferred();
  const gone = deferred();
  const lose = (reason) => {
    ready2.reject(new HaliteError("wire.closed", `${remote}: ${reason}`));
    gone.resolve(`${remote}: ${reason}`);
  };
  observe(socket, () => ready2.resolve(), lose);
  const timer = setTimeout(() => lose("no ZeroMQ handshake"), HANDSHAKE_MS);
  const onAbort = () => lose("closed by its owner");
  signal?.addEventListener("abort", onAbort, { once: true });
  try {
    socket.connect(`tcp://${source(target)}${remote}`);
    await ready2.promise;
    return { socket, address: remote, gone: gone.promise };
  } catch (thrown) {
    if (!socket.closed) socket.close();
    throw thrown;
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener("abort", onAbort);
  }
}
function source(target) {
  return target.sourceAddress ? `${endpoint(bareHost(target.sourceAddress), 0)};` : "";
}
function observe(socket, onReady, lose) {
  const { events } = socket;
  events.on("handshake", onReady);
  events.on("disconnect", () => lose("the connection was lost"));
  events.on("close", () => lose("the connection was refused or timed out"));
  events.on("handshake:error:protocol", () => lose("the peer does not speak ZeroMQ"));
  events.on("handshake:error:auth", () => lose("the peer refused the ZeroMQ handshake"));
  events.on("handshake:error:other", () => lose("the ZeroMQ handshake failed"));
  events.on("end", () => lose("closed"));
}
var NEVER_MS, singleUse, HANDSHAKE_MS;
var init_connect = __esm({
  "src/protocol/wire/zeromq/connect.ts"() {
    "use strict";
    init_errors();
    init_deferred();
    init_resolve();
    NEVER_MS = 2 ** 31 - 1;
    singleUse = { reconnectInterval: NEVER_MS, linger: 0, connectTimeout: 1e4 };
    HANDSHAKE_MS = 15e3;
  }
});

// src/protocol/wire/zeromq/request-client.ts
import { Dealer } from "zeromq";
function dial(options) {
  return new RequestPool({
    target: `tcp://${endpoint(options.host, options.port)}`,
    maxLinks: MAX_LINKS,
    open: (events, attempt) => openLink(options, events, attempt)
  });
}
async function openLink(options, events, attempt) {
  const { socket, gone } = await connect(
    options,
    attempt,
    (family) => new Dealer({
      ...singleUse,
      sendTimeout: 0,
      ipv6: family === 6,
      maxMessageSize: defaultMaxMessageBytes * 2,
      ...heartbeat(options.heartbeat),
      ...keepAlive(options.keepAlive, requestKeepAlive)
    })
  );
  let current;
  let closed = false;
  const close = () => {
    closed = true;
    if (!socket.closed) socket.close();
  };
  const end = (reason) => {
    if (closed) return;
    close();
    events.onClosed(reason);
  };
  void gone.then(end);
  void (async () => {
    for await (const frames of socket) {
      const ticket = current;
      current = void 0;
      const payload = frames[1];
      if (frames.length !== 2 || frames[0]?.length !== 0 || !payload) return end("the master sent a malformed reply");
      if (ticket === void 0) return end("the master sent a reply nobody asked for");
      events.onReply(ticket, payload);
    }
  })();
  return {
    capacity: 1,
    send(ticket, payload) {
      if (closed) throw new HaliteError("wire.closed", "the connection is closed");
      current = ticket;
      socket.send(["", payload]).catch(() => end("the request could not be sent"));
    },
    forget: () => false,
    close
  };
}
var MAX_LINKS;
var init_request_client = __esm({
  "src/protocol/wire/zeromq/request-client.ts"() {
    "use strict";
    init_errors();
    init_answers();
    init_request_pool();
    init_resolve();
    init_connect();
    init_settings();
    MAX_LINKS = 16;
  }
});

// src/protocol/wire/link/gate.ts
var Gate;
var init_gate = __esm({
  "src/protocol/wire/link/gate.ts"() {
    "use strict";
    Gate = class {
      maxCount;
      maxBytes;
      count = 0;
      bytes = 0;
      waiting = [];
      constructor(maxCount, maxBytes) {
        this.maxCount = maxCount;
        this.maxBytes = maxBytes;
      }
      get full() {
        return this.count >= this.maxCount || this.bytes >= this.maxBytes;
      }
      /** Counts one more; the result gives it back, and does so only once. */
      enter(bytes) {
        this.count += 1;
        this.bytes += bytes;
        let inside = true;
        return () => {
          if (!inside) return;
          inside = false;
          this.count -= 1;
          this.bytes -= bytes;
          if (!this.full) this.release();
        };
      }
      /** Resolves when there is room. */
      async room() {
        while (this.full) await new Promise((resolve2) => this.waiting.push(resolve2));
      }
      release() {
        const woken = this.waiting;
        this.waiting = [];
        for (const wake of woken) wake();
      }
    };
  }
});

// src/protocol/wire/zeromq/request-server.ts
import { Router } from "zeromq";
async function listenRequests(options, handler) {
  const limit = options.maxMessageBytes ?? defaultMaxMessageBytes;
  const router = new Router({
    // Salt: a client that reconnects under its old identity takes over its route.
    handover: true,
    linger: 1e3,
    sendTimeout: 0,
    backlog: options.backlog ?? 1e3,
    ipv6: options.ipv6 === true || options.interface.includes(":"),
    maxMessageSize: limit * 2,
    ...keepAlive(options.keepAlive, requestKeepAlive)
  });
  const bound = await bind(router, options);
  const done = serve(bound, limit, handler, options.onProblem);
  return {
    port: bound.port,
    async close() {
      await bound.close();
      await done;
    }
  };
}
async function serve(bound, limit, handler, onProblem) {
  const gate = new Gate(maxOutstanding.count, maxOutstanding.bytes);
  for await (const frames of bound.socket) {
    const at2 = delimiter(frames);
    const peer = nameOf(frames[0]);
    const payload = frames[at2 + 1];
    if (at2 < 1 || payload === void 0 || frames.length !== at2 + 2) {
      onProblem?.({ kind: "malformed", peer, detail: `a message of ${frames.length} frames is no request` });
      continue;
    }
    const route = frames.slice(0, at2 + 1);
    const leave = gate.enter(payload.length);
    let answered = false;
    const reply = (answer) => {
      if (answered) return;
      answered = true;
      leave();
      if (bound.socket.closed) return;
      bound.socket.send([...route, answer]).catch((thrown) => {
        onProblem?.({ kind: "slow", peer, detail: `reply dropped: ${messageOf(thrown)}` });
      });
    };
    if (payload.length > limit) {
      onProblem?.({ kind: "too-large", peer, detail: `a request of ${payload.length} bytes` });
      reply(badLoad);
      continue;
    }
    try {
      handler({ payload, peer, reply });
    } catch (thrown) {
      onProblem?.({ kind: "handler", peer, detail: messageOf(thrown) });
      reply(serverError);
    }
    if (gate.full) await gate.room();
  }
}
function delimiter(frames) {
  const end = Math.min(frames.length, MAX_HOPS + 1);
  for (let i = 1; i < end; i++) if (frames[i]?.length === 0) return i;
  return -1;
}
function nameOf(identity) {
  if (!identity) return "zeromq";
  const text = identity.toString("latin1");
  return `zeromq:${/^[\x21-\x7e]{1,200}$/.test(text) ? text : identity.toString("hex").slice(0, 64)}`;
}
var MAX_HOPS;
var init_request_server = __esm({
  "src/protocol/wire/zeromq/request-server.ts"() {
    "use strict";
    init_errors();
    init_answers();
    init_gate();
    init_settings();
    MAX_HOPS = 8;
  }
});

// src/protocol/wire/link/keep-connected.ts
import { setTimeout as delay } from "node:timers/promises";
function keepConnected(options) {
  const abort = new AbortController();
  void run2(options, abort.signal);
  return { close: () => abort.abort() };
}
async function run2(options, signal) {
  const waits = backoff({ base: options.minMs, max: options.maxMs });
  let attempt = 0;
  while (!signal.aborted) {
    const context2 = {
      signal,
      attempt,
      connected(detail) {
        attempt = -1;
        waits.reset();
        if (!signal.aborted) options.onState("connected", detail);
      }
    };
    const reason = await options.session(context2).catch(messageOf);
    if (signal.aborted) return;
    options.onState("disconnected", reason);
    attempt += 1;
    await delay(waits.next(), void 0, { signal }).catch(() => void 0);
  }
}
var init_keep_connected = __esm({
  "src/protocol/wire/link/keep-connected.ts"() {
    "use strict";
    init_errors();
    init_util();
  }
});

// src/protocol/wire/zeromq/subscriber.ts
import { Subscriber } from "zeromq";
async function subscribe(options) {
  const own = /* @__PURE__ */ new Set(["broadcast", options.syndic ? "syndic" : minionTopic(options.id)]);
  let presence = options.presenceTopic;
  let live;
  const session = async (context2) => {
    const { socket, address, gone } = await connect(
      options,
      context2.attempt,
      (family) => newSocket(options, family, [...options.filtering ? own : [""], ...presence ? [presence] : []]),
      context2.signal
    );
    live = socket;
    const onAbort = () => socket.close();
    context2.signal.addEventListener("abort", onAbort, { once: true });
    context2.connected(address);
    const reading = read(socket, own, options);
    const reason = await gone;
    context2.signal.removeEventListener("abort", onAbort);
    live = void 0;
    if (!socket.closed) socket.close();
    await reading;
    return reason;
  };
  const running = keepConnected({
    minMs: options.reconnectMinMs,
    maxMs: options.reconnectMaxMs,
    session,
    onState: options.onState
  });
  return {
    setPresence(topic) {
      const before = presence;
      presence = topic;
      if (!live || live.closed || before === topic) return;
      if (before) live.unsubscribe(before);
      live.subscribe(topic);
    },
    close: running.close
  };
}
function newSocket(options, family, topics) {
  const socket = new Subscriber({
    ...singleUse,
    ipv6: family === 6,
    receiveHighWaterMark: 1e4,
    maxMessageSize: defaultMaxMessageBytes,
    ...heartbeat(options.heartbeat),
    ...keepAlive(options.keepAlive, publishKeepAlive)
  });
  socket.subscribe(...topics);
  return socket;
}
async function read(socket, own, options) {
  for await (const frames of socket) {
    const payload = frames.at(-1);
    if (!payload || frames.length > 2) continue;
    if (frames.length === 2 && !own.has(String(frames[0]))) continue;
    try {
      options.onPublish(payload);
    } catch (thrown) {
      options.onProblem?.({ kind: "handler", peer: options.host, detail: messageOf(thrown) });
    }
  }
}
var init_subscriber = __esm({
  "src/protocol/wire/zeromq/subscriber.ts"() {
    "use strict";
    init_errors();
    init_answers();
    init_keep_connected();
    init_connect();
    init_publisher();
    init_settings();
  }
});

// src/protocol/wire/zeromq.ts
var zeromq_exports = {};
__export(zeromq_exports, {
  zeromqTransport: () => zeromqTransport
});
var zeromqTransport;
var init_zeromq = __esm({
  "src/protocol/wire/zeromq.ts"() {
    "use strict";
    init_publisher();
    init_request_client();
    init_request_server();
    init_subscriber();
    zeromqTransport = { name: "zeromq", listenRequests, listenPublish, dial, subscribe };
  }
});

// src/protocol/wire/link/roster.ts
var Roster;
var init_roster = __esm({
  "src/protocol/wire/link/roster.ts"() {
    "use strict";
    init_presence_topic();
    Roster = class {
      entries = /* @__PURE__ */ new Map();
      byId = /* @__PURE__ */ new Map();
      unknown = /* @__PURE__ */ new Set();
      present = /* @__PURE__ */ new Map();
      tell;
      constructor(tell) {
        this.tell = tell;
      }
      add(member) {
        this.entries.set(member, { id: void 0, topic: "" });
        this.unknown.add(member);
      }
      all() {
        return [...this.entries.keys()];
      }
      /**
       * Those who proved one of the ids, and those who proved none: a real minion may reconnect with keys of before a restart,
       * and only a publish it cannot open makes it sign in again.
       */
      withIds(ids) {
        const found = new Set(this.unknown);
        for (const id of ids) for (const member of this.byId.get(id) ?? []) found.add(member);
        return [...found];
      }
      /** What an identification frame proved (`id`) and claimed (`topic`); a later one replaces an earlier one. */
      identify(member, id, topic) {
        const entry = this.entries.get(member);
        if (!entry) return;
        const known = readPresenceTopic(topic) ? topic : "";
        if (entry.id === id && entry.topic === known) return;
        this.leave(member, entry);
        entry.id = id;
        entry.topic = known;
        if (id === void 0) this.unknown.add(member);
        else {
          this.unknown.delete(member);
          const members = this.byId.get(id) ?? /* @__PURE__ */ new Set();
          this.byId.set(id, members.add(member));
        }
        this.count(member, entry, 1);
      }
      remove(member) {
        const entry = this.entries.get(member);
        if (!entry) return;
        this.entries.delete(member);
        this.unknown.delete(member);
        this.leave(member, entry);
      }
      leave(member, entry) {
        if (entry.id !== void 0) {
          const members = this.byId.get(entry.id);
          members?.delete(member);
          if (members?.size === 0) this.byId.delete(entry.id);
        }
        this.count(member, entry, -1);
      }
      /** Tells only of the first and the last connection with the same identity, as ZeroMQ does for a topic. */
      count(member, entry, step) {
        if (entry.id === void 0 && entry.topic === "") return;
        const key = `${entry.id ?? ""}\0${entry.topic}`;
        const before = this.present.get(key) ?? 0;
        const after = before + step;
        if (after <= 0) this.present.delete(key);
        else this.present.set(key, after);
        if (before !== 0 && after !== 0) return;
        const who = entry.id === void 0 ? {} : { id: entry.id };
        this.tell({ kind: step === 1 ? "joined" : "left", topic: entry.topic, ...who, peer: member.peer });
      }
    };
  }
});

// src/protocol/wire/tcp/skip.ts
function readHead(buf, at2) {
  const code = buf[at2];
  if (code === void 0) return void 0;
  if (code < 128 || code >= 224) return { size: 1, content: 0, inside: 0 };
  if (code < 144) return { size: 1, content: 0, inside: (code & 15) * 2 };
  if (code < 160) return { size: 1, content: 0, inside: code & 15 };
  if (code < 192) return { size: 1, content: code & 31, inside: 0 };
  const kind = kinds[code - 192];
  if (!kind) throw new HaliteError("codec.malformed", "Not valid msgpack: no such type 0xc1");
  const [width, extra, perItem] = kind;
  if (width === 0) return { size: 1, content: extra, inside: 0 };
  if (at2 + 1 + width > buf.length) return void 0;
  const count = buf.readUIntBE(at2 + 1, width);
  const size = 1 + width;
  return perItem > 0 ? { size, content: 0, inside: count * perItem } : { size, content: count + extra, inside: 0 };
}
function skipValue(buf, at2) {
  let missing = 1;
  let position = at2;
  while (missing > 0) {
    const head = readHead(buf, position);
    if (!head) return -1;
    position += head.size + head.content;
    missing += head.inside - 1;
  }
  return position <= buf.length ? position : -1;
}
var kinds;
var init_skip = __esm({
  "src/protocol/wire/tcp/skip.ts"() {
    "use strict";
    init_errors();
    kinds = [
      [0, 0, 0],
      // nil
      void 0,
      [0, 0, 0],
      // false
      [0, 0, 0],
      // true
      [1, 0, 0],
      // bin
      [2, 0, 0],
      [4, 0, 0],
      [1, 1, 0],
      // ext: one more byte for its type
      [2, 1, 0],
      [4, 1, 0],
      [0, 4, 0],
      // float
      [0, 8, 0],
      [0, 1, 0],
      // uint
      [0, 2, 0],
      [0, 4, 0],
      [0, 8, 0],
      [0, 1, 0],
      // int
      [0, 2, 0],
      [0, 4, 0],
      [0, 8, 0],
      [0, 2, 0],
      // fixext
      [0, 3, 0],
      [0, 5, 0],
      [0, 9, 0],
      [0, 17, 0],
      [1, 0, 0],
      // str
      [2, 0, 0],
      [4, 0, 0],
      [2, 0, 1],
      // array
      [4, 0, 1],
      [2, 0, 2],
      // map
      [4, 0, 2]
    ];
  }
});

// src/protocol/wire/tcp/frame.ts
function splitFrame(frame) {
  const map = readHead(frame, 0);
  if (!map) return void 0;
  let at2 = map.size;
  let head;
  let body;
  for (let i = 0; i < map.inside / 2; i++) {
    const afterKey = skipValue(frame, at2);
    const afterValue = afterKey < 0 ? -1 : skipValue(frame, afterKey);
    if (afterValue < 0) return void 0;
    const key = textOf(frame, at2, afterKey);
    if (key === "head") head = frame.subarray(afterKey, afterValue);
    else if (key === "body") body = frame.subarray(afterKey, afterValue);
    at2 = afterValue;
  }
  if (!head || !body || head.length > MAX_HEAD_BYTES) return void 0;
  return { head, body };
}
function textOf(frame, at2, end) {
  const key = readHead(frame, at2);
  return key && key.content === 4 ? frame.toString("latin1", at2 + key.size, end) : void 0;
}
function joinFrame(head, body) {
  return Buffer.concat([start, head, middle, body]);
}
function publishFrame(payload) {
  return Buffer.concat([start, emptyHead, middle, rawHeader(payload.length), payload]);
}
function rawHeader(length) {
  if (length < 32) return Buffer.from([160 | length]);
  const header = Buffer.alloc(length < 65536 ? 3 : 5);
  header[0] = length < 65536 ? 218 : 219;
  header.writeUIntBE(length, 1, header.length - 1);
  return header;
}
function publishBody(body) {
  const code = body[0];
  const isString = code >= 160 && code < 192 || code >= 196 && code <= 198 || code >= 217 && code <= 219;
  return isString ? body.subarray(readHead(body, 0)?.size ?? 0) : body;
}
function headText(head, key) {
  try {
    const map = unpack(head, { maxDepth: 4, maxBytes: MAX_HEAD_BYTES });
    if (!isDict(map) || map instanceof Map) return void 0;
    const value = map[key];
    return typeof value === "string" ? value : void 0;
  } catch {
    return void 0;
  }
}
var MAX_HEAD_BYTES, start, middle, emptyHead;
var init_frame = __esm({
  "src/protocol/wire/tcp/frame.ts"() {
    "use strict";
    init_msgpack();
    init_value();
    init_skip();
    MAX_HEAD_BYTES = 4096;
    start = Buffer.from([130, 164, ...Buffer.from("head")]);
    middle = Buffer.from([164, ...Buffer.from("body")]);
    emptyHead = Buffer.from([128]);
  }
});

// src/protocol/wire/tcp/frame-reader.ts
var empty, FrameReader;
var init_frame_reader = __esm({
  "src/protocol/wire/tcp/frame-reader.ts"() {
    "use strict";
    init_errors();
    init_skip();
    empty = Buffer.alloc(0);
    FrameReader = class {
      maxBytes;
      /** Chunks of the frame not yet complete. */
      parts = [];
      held = 0;
      /** Values still missing in it, and content bytes still to be passed over. */
      missing = 1;
      content = 0;
      /** A value head that was cut in two. */
      cut = empty;
      started = false;
      constructor(maxBytes) {
        this.maxBytes = maxBytes;
      }
      /** Bytes held that belong to a frame not yet complete. */
      get pending() {
        return this.held;
      }
      /** Throws when the stream is no stream of frames, or a frame is or will be too large: the connection is then useless. */
      feed(chunk) {
        const frames = [];
        let rest = chunk;
        while (rest.length > 0) {
          const end = this.scan(rest);
          if (end < 0) {
            this.hold(rest);
            break;
          }
          this.hold(rest.subarray(0, end));
          frames.push(this.parts.length === 1 ? this.parts[0] : Buffer.concat(this.parts, this.held));
          this.reset();
          rest = rest.subarray(end);
        }
        return frames;
      }
      hold(bytes) {
        if (bytes.length === 0) return;
        this.held += bytes.length;
        this.parts.push(bytes);
        if (this.held > this.maxBytes) this.tooLarge();
      }
      reset() {
        this.parts = [];
        this.held = 0;
        this.missing = 1;
        this.content = 0;
        this.started = false;
      }
      tooLarge() {
        throw new HaliteError("codec.limit", `A frame is larger than ${this.maxBytes} bytes`);
      }
      /** Moves over the chunk; the position where the frame ends, or -1. */
      scan(chunk) {
        let position = 0;
        while (this.missing > 0 || this.content > 0) {
          if (this.content > 0) {
            const step = Math.min(this.content, chunk.length - position);
            this.content -= step;
            position += step;
            if (this.content > 0) return -1;
            continue;
          }
          const next = this.head(chunk, position);
          if (next < 0) return -1;
          position = next;
        }
        return position;
      }
      /** Takes one value head, which may have begun in an earlier chunk; the position after it, or -1. */
      head(chunk, position) {
        const before = this.cut.length;
        const buf = before > 0 ? Buffer.concat([this.cut, chunk.subarray(position, position + 9)]) : chunk;
        const at2 = before > 0 ? 0 : position;
        const head = readHead(buf, at2);
        if (!head) {
          this.cut = before > 0 ? buf : Buffer.from(chunk.subarray(position));
          return -1;
        }
        this.cut = empty;
        if (!this.started) {
          this.started = true;
          const code = buf[at2];
          if (!(code >= 128 && code < 144) && code !== 222 && code !== 223) {
            throw new HaliteError("codec.malformed", "The stream does not consist of message frames");
          }
        }
        this.missing += head.inside - 1;
        this.content = head.content;
        if (this.held + head.content + this.missing > this.maxBytes) this.tooLarge();
        return position + head.size - before;
      }
    };
  }
});

// src/protocol/wire/tcp/tls.ts
import { readdir, readFile } from "node:fs/promises";
import { join as join3 } from "node:path";
async function serverTls(given) {
  const options = given === true ? {} : given;
  if (!options.certfile) {
    throw new HaliteError("config.value", "The option ssl has no certfile, which a server needs", {
      hint: "Set ssl to a map with certfile and keyfile."
    });
  }
  const wanted = requirement(options) ?? "CERT_NONE";
  return {
    ...await common(options),
    requestCert: wanted !== "CERT_NONE",
    rejectUnauthorized: wanted === "CERT_REQUIRED",
    handshakeTimeout: 3e4
  };
}
async function clientTls(given) {
  const options = given === true ? {} : given;
  return { ...await common(options), rejectUnauthorized: requirement(options) !== "CERT_NONE" };
}
function requirement(options) {
  const name = options.cert_reqs;
  if (name !== void 0 && !requirements.has(name)) {
    throw wrong("cert_reqs", `one of ${[...requirements].join(", ")}`);
  }
  return name;
}
async function common(options) {
  const name = options.ssl_version;
  if (name !== void 0 && !Object.hasOwn(versions, name)) {
    throw wrong("ssl_version", `one of ${Object.keys(versions).join(", ")}`);
  }
  const version = name === void 0 ? void 0 : versions[name];
  if (options.verify_flags?.some((flag) => /CRL/i.test(flag))) throw wrong("verify_flags", "without revocation lists");
  const ca = await authorities(options);
  return {
    ...options.certfile ? { cert: await read2("certfile", options.certfile) } : {},
    // Salt: the key may stand in the certificate file.
    ...options.certfile ? { key: await read2("keyfile", options.keyfile ?? options.certfile) } : {},
    ...ca.length > 0 ? { ca } : {},
    ...options.ciphers ? { ciphers: options.ciphers } : {},
    ...version ? { minVersion: version, maxVersion: version } : {}
  };
}
async function authorities(options) {
  const texts = [];
  if (options.ca_certs) texts.push(await read2("ca_certs", options.ca_certs));
  for (const place of options.verify_locations ?? []) {
    const { cafile, capath, cadata } = typeof place === "string" ? { cafile: place } : place;
    if (cafile) texts.push(await read2("verify_locations", cafile));
    if (cadata) texts.push(cadata);
    if (capath) texts.push(...await readFolder(capath));
  }
  return texts;
}
async function readFolder(folder) {
  const names = await readdir(folder).catch((thrown) => {
    throw unreadable("verify_locations", folder, thrown);
  });
  const texts = await Promise.all(names.map((name) => readFile(join3(folder, name), "utf8").catch(() => "")));
  return texts.filter((text) => text.includes("BEGIN CERTIFICATE"));
}
async function read2(option, file) {
  return readFile(file, "utf8").catch((thrown) => {
    throw unreadable(option, file, thrown);
  });
}
function unreadable(option, path, cause) {
  return new HaliteError("config.value", `The ${option} of the option ssl cannot be read: ${path}`, {
    hint: "Check the path and its permissions.",
    cause
  });
}
function wrong(key, expected) {
  return new HaliteError("config.value", `The ${key} of the option ssl must be ${expected}`);
}
var versions, requirements;
var init_tls = __esm({
  "src/protocol/wire/tcp/tls.ts"() {
    "use strict";
    init_errors();
    versions = {
      PROTOCOL_TLS: void 0,
      PROTOCOL_SSLv23: void 0,
      PROTOCOL_TLS_SERVER: void 0,
      PROTOCOL_TLS_CLIENT: void 0,
      PROTOCOL_TLSv1: "TLSv1",
      PROTOCOL_TLSv1_1: "TLSv1.1",
      PROTOCOL_TLSv1_2: "TLSv1.2"
    };
    requirements = /* @__PURE__ */ new Set(["CERT_NONE", "CERT_OPTIONAL", "CERT_REQUIRED"]);
  }
});

// src/protocol/wire/tcp/listen.ts
import { createServer as createServer2 } from "node:net";
import { createServer as createTlsServer } from "node:tls";
async function listenStream(options, accept) {
  const open = /* @__PURE__ */ new Set();
  const keep = options.keepAlive;
  const plain = {
    noDelay: true,
    keepAlive: keep !== false,
    keepAliveInitialDelay: (keep ? keep.idleSeconds : 60) * 1e3
  };
  const onSocket = (socket) => {
    open.add(socket);
    socket.on("close", () => open.delete(socket));
    socket.on("error", () => void 0);
    accept(socket, peerOf(socket));
  };
  const server = options.tls ? createTlsServer({ ...await serverTls(options.tls), ...plain }, onSocket) : createServer2(plain, onSocket);
  server.on("tlsClientError", (error, socket) => {
    options.onProblem?.({ kind: "malformed", peer: peerOf(socket), detail: `TLS: ${error.message}` });
    socket.destroy();
  });
  await bindServer(server, options);
  return boundServer(server, options, open);
}
function boundServer(server, options, open) {
  const address = server.address();
  return {
    port: typeof address === "object" && address ? address.port : options.port,
    close: () => new Promise((resolve2) => {
      server.close(() => resolve2());
      for (const socket of open) socket.destroy();
    })
  };
}
function bindServer(server, options) {
  const host = bareHost(options.interface);
  return new Promise((resolve2, reject) => {
    server.once("error", (thrown) => reject(bindError(`tcp://${endpoint(host, options.port)}`, thrown)));
    server.listen({ host, port: options.port, backlog: options.backlog ?? 1e3, ipv6Only: false }, () => {
      server.removeAllListeners("error");
      server.on("error", (thrown) => {
        options.onProblem?.({ kind: "overload", peer: "", detail: thrown.message });
      });
      resolve2();
    });
  });
}
function peerOf(socket) {
  return socket.remoteAddress ? `tcp://${endpoint(socket.remoteAddress, socket.remotePort ?? 0)}` : "tcp";
}
var init_listen = __esm({
  "src/protocol/wire/tcp/listen.ts"() {
    "use strict";
    init_bind_error();
    init_resolve();
    init_tls();
  }
});

// src/protocol/wire/tcp/publisher.ts
async function listenPublish2(options) {
  const roster = new Roster((event) => {
    try {
      options.onSubscriber?.(event);
    } catch (thrown) {
      options.onProblem?.({ kind: "handler", peer: event.peer, detail: messageOf(thrown) });
    }
  });
  const queue = new PacedQueue(0, (subscriber, frame) => subscriber.send(frame));
  const server = await listenStream(options, (socket, peer) => {
    const subscriber = new Subscriber2(socket, peer, options, roster);
    roster.add(subscriber);
  });
  return {
    port: server.port,
    publish(payload, ids) {
      const targets = ids?.length && !options.syndics ? roster.withIds(ids) : roster.all();
      if (targets.length > 0) queue.push(targets, publishFrame(payload));
    },
    close() {
      queue.flush();
      return server.close();
    }
  };
}
var MAX_IDENTIFICATION_BYTES, MAX_IDENTIFICATIONS, MAX_UNSENT_BYTES, STALLED_MS, Subscriber2;
var init_publisher2 = __esm({
  "src/protocol/wire/tcp/publisher.ts"() {
    "use strict";
    init_msgpack();
    init_errors();
    init_paced_queue();
    init_roster();
    init_frame();
    init_frame_reader();
    init_listen();
    MAX_IDENTIFICATION_BYTES = 64 * 1024;
    MAX_IDENTIFICATIONS = 64;
    MAX_UNSENT_BYTES = 64 * 1024 * 1024;
    STALLED_MS = 6e4;
    Subscriber2 = class {
      peer;
      socket;
      options;
      roster;
      reader = new FrameReader(MAX_IDENTIFICATION_BYTES);
      identifying = Promise.resolve();
      identifications = 0;
      constructor(socket, peer, options, roster) {
        this.socket = socket;
        this.peer = peer;
        this.options = options;
        this.roster = roster;
        socket.on("data", (chunk) => this.take(chunk));
        socket.on("close", () => roster.remove(this));
        socket.setTimeout(STALLED_MS, () => {
          if (this.reader.pending > 0) this.cut("idle", "stalled in its identification");
          else if (socket.writableLength > 0) this.cut("slow", "takes no publishes");
        });
      }
      send(frame) {
        if (this.socket.destroyed) return;
        this.socket.write(frame);
        if (this.socket.writableLength > MAX_UNSENT_BYTES) this.cut("slow", "takes publishes too slowly");
      }
      take(chunk) {
        try {
          for (const bytes of this.reader.feed(chunk)) {
            this.identifications += 1;
            if (this.identifications > MAX_IDENTIFICATIONS) throw new Error("too many identifications");
            this.identifying = this.identifying.then(() => this.identify(bytes));
          }
        } catch (thrown) {
          this.cut("malformed", messageOf(thrown));
        }
      }
      /** Never throws: whatever a peer sends, it is at worst nobody. */
      async identify(bytes) {
        const frame = splitFrame(bytes);
        if (!frame || this.socket.destroyed) return;
        const topic = headText(frame.head, "presence") ?? "";
        let id;
        try {
          id = await this.options.identify?.(unpack(frame.body, { maxDepth: 16 }));
        } catch (thrown) {
          this.options.onProblem?.({ kind: "malformed", peer: this.peer, detail: messageOf(thrown) });
        }
        if (!this.socket.destroyed) this.roster.identify(this, id, topic);
      }
      cut(kind, detail) {
        if (this.socket.destroyed) return;
        this.socket.destroy();
        this.options.onProblem?.({ kind, peer: this.peer, detail });
      }
    };
  }
});

// src/protocol/wire/tcp/connect.ts
import { connect as connectPlain } from "node:net";
import { connect as connectTls } from "node:tls";
async function connectStream(target, attempt, signal) {
  const { address, family } = await resolveAddress(target.host, target.ipv6 === true, attempt);
  const remote = endpoint(address, target.port);
  const secure = target.tls ? await clientTls(target.tls) : void 0;
  if (signal?.aborted) throw new HaliteError("wire.closed", "closed by its owner");
  const base = {
    host: address,
    port: target.port,
    family,
    noDelay: true,
    ...target.sourceAddress ? { localAddress: bareHost(target.sourceAddress) } : {},
    keepAlive: target.keepAlive !== false,
    keepAliveInitialDelay: (target.keepAlive ? target.keepAlive.idleSeconds : 60) * 1e3
  };
  const socket = secure ? connectTls({ ...base, ...secure, servername: serverName(target.host) }) : connectPlain(base);
  await ready(socket, secure ? "secureConnect" : "connect", remote, signal);
  return { socket, address: remote };
}
function serverName(host) {
  return /[:[]|^[\d.]+$/.test(host) ? "" : host;
}
function ready(socket, event, remote, signal) {
  return new Promise((resolve2, reject) => {
    const fail = (reason, hint) => {
      socket.destroy();
      reject(new HaliteError("wire.closed", `${remote}: ${reason}`, { hint }));
    };
    const timer = setTimeout(() => fail("the connection timed out"), CONNECT_MS);
    const onAbort = () => fail("closed by its owner");
    const done = () => {
      clearTimeout(timer);
      signal?.removeEventListener("abort", onAbort);
    };
    signal?.addEventListener("abort", onAbort, { once: true });
    socket.once(event, () => {
      done();
      resolve2();
    });
    socket.on("error", (thrown) => {
      fail(reasonOf(thrown), tlsHint(thrown));
    });
    socket.once("close", () => {
      done();
      fail("the connection was closed during its set-up");
    });
  });
}
function reasonOf(thrown) {
  return thrown.code === "ECONNREFUSED" ? "the connection was refused" : thrown.message;
}
function tlsHint(thrown) {
  if (!/CERT|SIGNED|ALTNAME/.test(thrown.code ?? "")) return void 0;
  return "Set ca_certs in the option ssl to the authority that signed the master certificate, or cert_reqs to CERT_NONE.";
}
var CONNECT_MS;
var init_connect2 = __esm({
  "src/protocol/wire/tcp/connect.ts"() {
    "use strict";
    init_errors();
    init_resolve();
    init_tls();
    CONNECT_MS = 1e4;
  }
});

// src/protocol/wire/tcp/request-client.ts
import { randomUUID } from "node:crypto";
function dial2(options) {
  return new RequestPool({
    target: `tcp://${endpoint(options.host, options.port)}`,
    maxLinks: 1,
    open: (events, attempt) => openLink2(options, events, attempt)
  });
}
async function openLink2(options, events, attempt) {
  const { socket } = await connectStream(options, attempt);
  const reader = new FrameReader(defaultMaxMessageBytes * 2);
  const tickets = /* @__PURE__ */ new Map();
  const ids = /* @__PURE__ */ new Map();
  let closed = false;
  const end = (reason) => {
    if (closed) return;
    closed = true;
    socket.destroy();
    events.onClosed(reason);
  };
  const take = (bytes) => {
    const frame = splitFrame(bytes);
    const id = frame && headText(frame.head, "mid");
    if (!frame || id === void 0) return;
    const ticket = tickets.get(id);
    if (ticket === void 0) return;
    tickets.delete(id);
    ids.delete(ticket);
    events.onReply(ticket, frame.body);
  };
  socket.on("data", (chunk) => {
    try {
      for (const bytes of reader.feed(chunk)) take(bytes);
    } catch (thrown) {
      end(messageOf(thrown));
    }
  });
  socket.on("close", () => end("the connection was closed"));
  return {
    capacity: MAX_IN_FLIGHT,
    send(ticket, payload) {
      if (closed || socket.destroyed) throw new HaliteError("wire.closed", "the connection is closed");
      const id = randomUUID();
      tickets.set(id, ticket);
      ids.set(ticket, id);
      socket.write(joinFrame(pack({ mid: id }), payload));
    },
    forget(ticket) {
      tickets.delete(ids.get(ticket) ?? "");
      ids.delete(ticket);
      return true;
    },
    close() {
      closed = true;
      socket.destroy();
    }
  };
}
var MAX_IN_FLIGHT;
var init_request_client2 = __esm({
  "src/protocol/wire/tcp/request-client.ts"() {
    "use strict";
    init_msgpack();
    init_errors();
    init_answers();
    init_request_pool();
    init_resolve();
    init_connect2();
    init_frame();
    init_frame_reader();
    MAX_IN_FLIGHT = 1024;
  }
});

// src/protocol/wire/tcp/request-server.ts
async function listenRequests2(options, handler) {
  const shared = {
    limit: options.maxMessageBytes ?? defaultMaxMessageBytes,
    handler,
    gate: new Gate(maxOutstanding.count, maxOutstanding.bytes),
    onProblem: (kind, peer, detail) => options.onProblem?.({ kind, peer, detail }),
    unfinished: 0
  };
  return listenStream(options, (socket, peer) => new RequestConnection(socket, peer, shared));
}
var STALLED_MS2, MAX_PER_CONNECTION, MAX_UNSENT_BYTES2, MAX_UNFINISHED_FRAMES, RequestConnection;
var init_request_server2 = __esm({
  "src/protocol/wire/tcp/request-server.ts"() {
    "use strict";
    init_errors();
    init_answers();
    init_gate();
    init_frame();
    init_frame_reader();
    init_listen();
    STALLED_MS2 = 3e4;
    MAX_PER_CONNECTION = 512;
    MAX_UNSENT_BYTES2 = 256 * 1024 * 1024;
    MAX_UNFINISHED_FRAMES = 4;
    RequestConnection = class {
      socket;
      peer;
      shared;
      reader;
      outstanding = 0;
      unfinished = 0;
      constructor(socket, peer, shared) {
        this.socket = socket;
        this.peer = peer;
        this.shared = shared;
        this.reader = new FrameReader(shared.limit + 8192);
        socket.on("data", (chunk) => this.take(chunk));
        socket.on("close", () => this.count(0));
        socket.setTimeout(STALLED_MS2, () => {
          if (socket.isPaused()) return;
          if (this.reader.pending > 0 || socket.writableLength > 0) this.cut("idle", "stalled in a message");
        });
      }
      take(chunk) {
        try {
          for (const frame of this.reader.feed(chunk)) this.serve(frame);
        } catch (thrown) {
          const code = thrown.code;
          this.cut(code === "codec.limit" ? "too-large" : "malformed", messageOf(thrown));
          return;
        }
        this.count(this.reader.pending);
        if (this.shared.unfinished > this.shared.limit * MAX_UNFINISHED_FRAMES) {
          this.cut("overload", "too many unfinished messages at once");
        } else if (this.outstanding >= MAX_PER_CONNECTION || this.shared.gate.full) {
          this.socket.pause();
          void this.shared.gate.room().then(() => this.resume());
        }
      }
      count(pending) {
        this.shared.unfinished += pending - this.unfinished;
        this.unfinished = pending;
      }
      serve(bytes) {
        const frame = splitFrame(bytes);
        if (!frame) throw new HaliteError("codec.malformed", "A frame has no head or no body");
        const leave = this.shared.gate.enter(frame.body.length);
        this.outstanding += 1;
        let answered = false;
        const reply = (payload) => {
          if (answered) return;
          answered = true;
          this.outstanding -= 1;
          leave();
          this.write(joinFrame(frame.head, payload));
          this.resume();
        };
        try {
          this.shared.handler({ payload: frame.body, peer: this.peer, reply });
        } catch (thrown) {
          this.shared.onProblem("handler", this.peer, messageOf(thrown));
          reply(serverError);
        }
      }
      write(frame) {
        if (this.socket.destroyed) return;
        this.socket.write(frame);
        if (this.socket.writableLength > MAX_UNSENT_BYTES2) this.cut("slow", "does not take its replies");
      }
      resume() {
        if (!this.socket.isPaused() || this.shared.gate.full) return;
        if (this.outstanding < MAX_PER_CONNECTION / 2) this.socket.resume();
      }
      cut(kind, detail) {
        if (this.socket.destroyed) return;
        this.socket.destroy();
        this.shared.onProblem(kind, this.peer, detail);
      }
    };
  }
});

// src/protocol/wire/tcp/subscriber.ts
async function subscribe2(options) {
  let presence = options.presenceTopic;
  let live;
  const identify = async (socket) => {
    if (!options.identification && !presence) return;
    const body = options.identification ? await options.identification() : anonymous;
    const head = presence ? { presence } : {};
    if (!socket.destroyed) socket.write(joinFrame(pack(head), pack(body)));
  };
  const session = async (context2) => {
    const { socket, address } = await connectStream(options, context2.attempt, context2.signal);
    const onAbort = () => socket.destroy();
    context2.signal.addEventListener("abort", onAbort, { once: true });
    const gone = receive(socket, options);
    try {
      await identify(socket);
      if (!socket.destroyed) {
        live = socket;
        context2.connected(address);
      }
      return `${address}: ${await gone}`;
    } finally {
      live = void 0;
      context2.signal.removeEventListener("abort", onAbort);
      socket.destroy();
    }
  };
  const running = keepConnected({
    minMs: options.reconnectMinMs,
    maxMs: options.reconnectMaxMs,
    session,
    onState: options.onState
  });
  return {
    setPresence(topic) {
      if (presence === topic) return;
      presence = topic;
      const socket = live;
      if (socket) identify(socket).catch(() => socket.destroy());
    },
    close: running.close
  };
}
function receive(socket, options) {
  const reader = new FrameReader(defaultMaxMessageBytes);
  return new Promise((resolve2) => {
    socket.on("close", () => resolve2("the connection was closed"));
    socket.on("data", (chunk) => {
      try {
        for (const bytes of reader.feed(chunk)) deliver(bytes, options);
      } catch (thrown) {
        resolve2(messageOf(thrown));
        socket.destroy();
      }
    });
  });
}
function deliver(bytes, options) {
  const frame = splitFrame(bytes);
  try {
    if (!frame) throw new HaliteError("codec.malformed", "A frame has no head or no body");
    options.onPublish(publishBody(frame.body));
  } catch (thrown) {
    options.onProblem?.({ kind: frame ? "handler" : "malformed", peer: options.host, detail: messageOf(thrown) });
  }
}
var anonymous;
var init_subscriber2 = __esm({
  "src/protocol/wire/tcp/subscriber.ts"() {
    "use strict";
    init_msgpack();
    init_errors();
    init_answers();
    init_keep_connected();
    init_connect2();
    init_frame();
    init_frame_reader();
    anonymous = { enc: "none" };
  }
});

// src/protocol/wire/tcp.ts
var tcp_exports = {};
__export(tcp_exports, {
  tcpTransport: () => tcpTransport
});
var tcpTransport;
var init_tcp = __esm({
  "src/protocol/wire/tcp.ts"() {
    "use strict";
    init_publisher2();
    init_request_client2();
    init_request_server2();
    init_subscriber2();
    tcpTransport = { name: "tcp", listenRequests: listenRequests2, listenPublish: listenPublish2, dial: dial2, subscribe: subscribe2 };
  }
});

// src/protocol/wire/link/byte-queue.ts
var ByteQueue;
var init_byte_queue = __esm({
  "src/protocol/wire/link/byte-queue.ts"() {
    "use strict";
    ByteQueue = class {
      parts = [];
      held = 0;
      get length() {
        return this.held;
      }
      push(chunk) {
        if (chunk.length === 0) return;
        this.parts.push(chunk);
        this.held += chunk.length;
      }
      /** The first `count` bytes, which must be there. */
      take(count) {
        const first = this.parts[0];
        if (first && first.length >= count) {
          if (first.length === count) this.parts.shift();
          else this.parts[0] = first.subarray(count);
          this.held -= count;
          return first.subarray(0, count);
        }
        const all = Buffer.concat(this.parts, this.held);
        this.parts = all.length > count ? [all.subarray(count)] : [];
        this.held -= count;
        return all.subarray(0, count);
      }
      /** Gives bytes back that were taken too early. */
      unread(bytes) {
        this.parts.unshift(bytes);
        this.held += bytes.length;
      }
    };
  }
});

// src/protocol/wire/ws/codec.ts
import { randomBytes as randomBytes2 } from "node:crypto";
function encodeFrame(opcode, data, masked) {
  const lengthBytes = data.length < 126 ? 0 : data.length < 65536 ? 2 : 8;
  const head = 2 + lengthBytes + (masked ? 4 : 0);
  const frame = Buffer.allocUnsafe(head + data.length);
  frame[0] = 128 | opcode;
  frame[1] = (masked ? 128 : 0) | (lengthBytes === 0 ? data.length : lengthBytes === 2 ? 126 : 127);
  if (lengthBytes === 2) frame.writeUInt16BE(data.length, 2);
  if (lengthBytes === 8) frame.writeBigUInt64BE(BigInt(data.length), 2);
  frame.set(data, head);
  if (masked) {
    const key = randomBytes2(4);
    frame.set(key, head - 4);
    applyMask(frame.subarray(head), key);
  }
  return frame;
}
function applyMask(bytes, key) {
  for (let i = 0; i < bytes.length; i++) bytes[i] = bytes[i] ^ key[i & 3];
}
function wrong2(what) {
  return new HaliteError("codec.malformed", `Not a valid WebSocket frame: ${what}`);
}
var opcodes, WsReader;
var init_codec = __esm({
  "src/protocol/wire/ws/codec.ts"() {
    "use strict";
    init_errors();
    init_byte_queue();
    opcodes = { more: 0, text: 1, binary: 2, close: 8, ping: 9, pong: 10 };
    WsReader = class {
      bytes = new ByteQueue();
      maxBytes;
      /** True on a server, where every frame must be masked; on a client none may be. */
      masked;
      head;
      fragments = [];
      fragmentBytes = 0;
      started = -1;
      constructor(maxBytes, masked) {
        this.maxBytes = maxBytes;
        this.masked = masked;
      }
      /** Bytes held that belong to a message not yet complete. */
      get pending() {
        return this.bytes.length + this.fragmentBytes;
      }
      feed(chunk) {
        this.bytes.push(chunk);
        const messages = [];
        for (; ; ) {
          this.head ??= this.readHead();
          if (!this.head) return messages;
          const size = this.head.length + (this.masked ? 4 : 0);
          if (this.bytes.length < size) return messages;
          const { opcode, fin, length } = this.head;
          this.head = void 0;
          const message = this.join(opcode, fin, this.payload(length));
          if (message) messages.push(message);
        }
      }
      payload(length) {
        if (!this.masked) return this.bytes.take(length);
        const key = this.bytes.take(4);
        const data = this.bytes.take(length);
        applyMask(data, key);
        return data;
      }
      readHead() {
        if (this.bytes.length < 2) return void 0;
        const start2 = this.bytes.take(2);
        const first = start2[0];
        const second = start2[1];
        const short = second & 127;
        const lengthBytes = short === 126 ? 2 : short === 127 ? 8 : 0;
        if (this.bytes.length < lengthBytes) {
          this.bytes.unread(start2);
          return void 0;
        }
        const opcode = first & 15;
        const fin = (first & 128) !== 0;
        const wide = lengthBytes > 0 ? this.bytes.take(lengthBytes) : void 0;
        const length = !wide ? short : lengthBytes === 2 ? wide.readUInt16BE() : Number(wide.readBigUInt64BE());
        this.check(first, opcode, fin, length, (second & 128) !== 0);
        return { opcode, fin, length };
      }
      check(first, opcode, fin, length, masked) {
        if ((first & 112) !== 0) throw wrong2("reserved bits are set");
        if (masked !== this.masked) throw wrong2(masked ? "a server must not mask" : "a client must mask");
        if (opcode > 2 && (opcode < 8 || opcode > 10)) throw wrong2(`no such opcode ${opcode}`);
        if (opcode >= 8 && (!fin || length > 125)) throw wrong2("a control frame is cut or too long");
        if (opcode === 0 ? this.started < 0 : opcode < 8 && this.started >= 0) throw wrong2("fragments are out of order");
        if (opcode < 8 && this.fragmentBytes + length > this.maxBytes) {
          throw new HaliteError("codec.limit", `A message is larger than ${this.maxBytes} bytes`);
        }
      }
      join(opcode, fin, data) {
        if (opcode >= 8) return { opcode, data };
        if (fin && opcode !== 0) return { opcode, data };
        if (opcode !== 0) this.started = opcode;
        this.fragments.push(data);
        this.fragmentBytes += data.length;
        if (this.fragments.length > 65536) throw new HaliteError("codec.limit", "A message has too many fragments");
        if (!fin) return void 0;
        const message = { opcode: this.started, data: Buffer.concat(this.fragments, this.fragmentBytes) };
        this.fragments = [];
        this.fragmentBytes = 0;
        this.started = -1;
        return message;
      }
    };
  }
});

// src/protocol/wire/ws/connection.ts
function closeReason(data) {
  if (data.length < 2) return "";
  const text = data.toString("utf8", 2).replace(/[^\x20-\x7e]/g, "?");
  return ` (${`${data.readUInt16BE()} ${text}`.trim()})`;
}
var nothing, PING_MS, MISSED_PINGS, CLOSE_MS, WsConnection;
var init_connection = __esm({
  "src/protocol/wire/ws/connection.ts"() {
    "use strict";
    init_errors();
    init_codec();
    nothing = Buffer.alloc(0);
    PING_MS = 3e4;
    MISSED_PINGS = 3;
    CLOSE_MS = 2e3;
    WsConnection = class {
      socket;
      client;
      events;
      reader;
      pingTimer;
      unanswered = 0;
      over = false;
      /** `head` are bytes that came right behind the handshake. Only servers ping: not every Salt server answers. */
      constructor(socket, head, options, events) {
        this.socket = socket;
        this.client = options.client;
        this.events = events;
        this.reader = new WsReader(options.maxBytes, !options.client);
        socket.on("data", (chunk) => this.take(chunk));
        socket.on("close", () => this.end("the connection was closed"));
        if (!options.client) {
          this.pingTimer = setInterval(() => this.ping(), PING_MS);
          this.pingTimer.unref();
        }
        if (head.length > 0) queueMicrotask(() => this.take(head));
      }
      get open() {
        return !this.over && !this.socket.destroyed;
      }
      /** Bytes written and not yet taken by the system. */
      get unsent() {
        return this.socket.writableLength;
      }
      /** Bytes of a message that is not complete. */
      get pending() {
        return this.reader.pending;
      }
      send(data) {
        this.write(encodeFrame(opcodes.binary, data, this.client));
      }
      /** For frames that were encoded once for many. */
      write(frame) {
        if (this.open) this.socket.write(frame);
      }
      pause() {
        this.socket.pause();
      }
      resume() {
        if (this.open) this.socket.resume();
      }
      /** Says good-bye and goes, without waiting long for the answer. */
      close(reason = "closed by its owner") {
        if (this.open) this.socket.end(encodeFrame(opcodes.close, nothing, this.client));
        this.end(reason);
        setTimeout(() => this.socket.destroy(), CLOSE_MS).unref();
      }
      destroy() {
        this.socket.destroy();
        this.end("closed by its owner");
      }
      take(chunk) {
        if (this.over) return;
        try {
          for (const { opcode, data } of this.reader.feed(chunk)) {
            this.unanswered = 0;
            if (opcode === opcodes.binary) this.events.onMessage(data);
            else if (opcode === opcodes.ping) this.write(encodeFrame(opcodes.pong, data, this.client));
            else if (opcode === opcodes.close || opcode === opcodes.text && data.toString() === "close") {
              this.close(`the peer closed it${opcode === opcodes.close ? closeReason(data) : ""}`);
              return;
            }
          }
        } catch (thrown) {
          this.socket.destroy();
          this.end(messageOf(thrown), thrown);
        }
      }
      ping() {
        if (this.unanswered >= MISSED_PINGS) {
          this.socket.destroy();
          this.end("it answers no pings");
          return;
        }
        this.unanswered += 1;
        this.write(encodeFrame(opcodes.ping, nothing, this.client));
      }
      end(reason, error) {
        if (this.over) return;
        this.over = true;
        clearInterval(this.pingTimer);
        this.events.onClosed(reason, error);
      }
    };
  }
});

// src/protocol/wire/ws/handshake.ts
import { createHash as createHash2, randomBytes as randomBytes3 } from "node:crypto";
import { createServer as createServer3 } from "node:http";
import { createServer as createTlsServer2 } from "node:https";
function acceptKey(key) {
  return createHash2("sha1").update(`${key}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`).digest("base64");
}
async function listenWs(options, accept) {
  const limits = { headersTimeout: HANDSHAKE_MS2, requestTimeout: HANDSHAKE_MS2, maxHeaderSize: MAX_HEAD_BYTES2 };
  const server = options.tls ? createTlsServer2({ ...limits, ...await serverTls(options.tls) }) : createServer3(limits);
  const open = /* @__PURE__ */ new Set();
  const event = options.tls ? "secureConnection" : "connection";
  server.on(event, (socket) => {
    open.add(socket);
    socket.on("close", () => open.delete(socket));
    socket.on("error", () => void 0);
  });
  server.on("request", (_request, response) => {
    response.writeHead(426, { Upgrade: "websocket", Connection: "close" }).end("WebSocket expected\n");
  });
  server.on("clientError", (error, socket) => {
    options.onProblem?.({ kind: "malformed", peer: peerOf(socket), detail: error.message });
    socket.destroy();
  });
  server.on("upgrade", (request, socket, head) => {
    const key = request.headers["sec-websocket-key"];
    const version = request.headers["sec-websocket-version"];
    if (!isUpgrade(request) || !key || key.length > 64 || version !== "13") {
      socket.end("HTTP/1.1 400 Bad Request\r\nSec-WebSocket-Version: 13\r\nConnection: close\r\n\r\n");
      return;
    }
    const plain = socket;
    const idle = options.keepAlive ? options.keepAlive.idleSeconds : 60;
    plain.setNoDelay(true);
    plain.setTimeout(0);
    plain.setKeepAlive(options.keepAlive !== false, idle * 1e3);
    plain.write(
      `HTTP/1.1 101 Switching Protocols\r
Upgrade: websocket\r
Connection: Upgrade\r
Sec-WebSocket-Accept: ${acceptKey(key)}\r
\r
`
    );
    accept({ socket: plain, peer: peerOf(plain), head, headers: request.headers });
  });
  await bindServer(server, options);
  return boundServer(server, options, open);
}
function isUpgrade(request) {
  return request.method === "GET" && request.headers.upgrade?.toLowerCase() === "websocket";
}
async function connectWs(target, attempt, signal) {
  const { socket, address } = await connectStream(target, attempt, signal);
  const key = randomBytes3(16).toString("base64");
  const lines = [
    `GET ${target.path} HTTP/1.1`,
    `Host: ${endpoint(target.host, target.port)}`,
    "Upgrade: websocket",
    "Connection: Upgrade",
    `Sec-WebSocket-Key: ${key}`,
    "Sec-WebSocket-Version: 13",
    ...Object.entries(target.headers ?? {}).map(([name, value]) => `${name}: ${value}`)
  ];
  socket.write(`${lines.join("\r\n")}\r
\r
`);
  try {
    const { text, rest } = await readAnswer(socket, signal);
    const accepted = /^sec-websocket-accept:[ \t]*(\S+)/im.exec(text)?.[1];
    if (!/^HTTP\/1\.1 101[ \r]/.test(text) || accepted !== acceptKey(key)) {
      throw new HaliteError("wire.closed", `${address}: the peer does not speak WebSocket`);
    }
    return { socket, head: rest, address };
  } catch (thrown) {
    socket.destroy();
    throw thrown;
  }
}
function readAnswer(socket, signal) {
  const bytes = new ByteQueue();
  return new Promise((resolve2, reject) => {
    const fail = (reason) => done(() => reject(new HaliteError("wire.closed", reason)));
    const onClose = () => fail("the connection was closed during the WebSocket handshake");
    const onAbort = () => fail("closed by its owner");
    const timer = setTimeout(() => fail("no WebSocket handshake"), HANDSHAKE_MS2);
    const onData = (chunk) => {
      bytes.push(chunk);
      const all = bytes.take(bytes.length);
      const end = all.indexOf("\r\n\r\n");
      if (end >= 0) {
        done(() => resolve2({ text: all.toString("latin1", 0, end + 2), rest: all.subarray(end + 4) }));
      } else if (all.length > MAX_HEAD_BYTES2) fail("the WebSocket handshake is too long");
      else bytes.unread(all);
    };
    const done = (settle) => {
      clearTimeout(timer);
      socket.off("data", onData).off("close", onClose).pause();
      signal?.removeEventListener("abort", onAbort);
      settle();
    };
    socket.on("data", onData).on("close", onClose);
    signal?.addEventListener("abort", onAbort, { once: true });
  });
}
var HANDSHAKE_MS2, MAX_HEAD_BYTES2;
var init_handshake = __esm({
  "src/protocol/wire/ws/handshake.ts"() {
    "use strict";
    init_errors();
    init_byte_queue();
    init_resolve();
    init_connect2();
    init_listen();
    init_tls();
    HANDSHAKE_MS2 = 15e3;
    MAX_HEAD_BYTES2 = 16 * 1024;
  }
});

// src/protocol/wire/ws/publisher.ts
async function listenPublish3(options) {
  const roster = new Roster((event) => {
    try {
      options.onSubscriber?.(event);
    } catch (thrown) {
      options.onProblem?.({ kind: "handler", peer: event.peer, detail: messageOf(thrown) });
    }
  });
  const queue = new PacedQueue(0, ({ peer, connection }, frame) => {
    connection.write(frame);
    if (connection.unsent <= MAX_UNSENT_BYTES3) return;
    options.onProblem?.({ kind: "slow", peer, detail: "takes publishes too slowly" });
    connection.destroy();
  });
  const server = await listenWs(options, ({ socket, peer, head, headers }) => {
    const connection = new WsConnection(
      socket,
      head,
      { client: false, maxBytes: MAX_MESSAGE_BYTES },
      {
        onMessage: () => void 0,
        onClosed(_reason, error) {
          roster.remove(member);
          if (error) options.onProblem?.({ kind: "malformed", peer, detail: messageOf(error) });
        }
      }
    );
    const member = { peer, connection };
    roster.add(member);
    const topic = headers[presenceHeader];
    if (typeof topic === "string") roster.identify(member, void 0, topic);
  });
  return {
    port: server.port,
    publish(payload) {
      const targets = roster.all();
      if (targets.length > 0) queue.push(targets, encodeFrame(opcodes.binary, asBin(payload), false));
    },
    close() {
      queue.flush();
      return server.close();
    }
  };
}
function asBin(payload) {
  const width = payload.length < 256 ? 1 : payload.length < 65536 ? 2 : 4;
  const header = Buffer.alloc(1 + width);
  header[0] = width === 1 ? 196 : width === 2 ? 197 : 198;
  header.writeUIntBE(payload.length, 1, width);
  return Buffer.concat([header, payload]);
}
var MAX_MESSAGE_BYTES, MAX_UNSENT_BYTES3, presenceHeader;
var init_publisher3 = __esm({
  "src/protocol/wire/ws/publisher.ts"() {
    "use strict";
    init_errors();
    init_paced_queue();
    init_roster();
    init_codec();
    init_connection();
    init_handshake();
    MAX_MESSAGE_BYTES = 4096;
    MAX_UNSENT_BYTES3 = 64 * 1024 * 1024;
    presenceHeader = "x-halite-presence";
  }
});

// src/protocol/wire/ws/request-client.ts
function dial3(options) {
  return new RequestPool({
    target: `ws://${endpoint(options.host, options.port)}`,
    maxLinks: MAX_LINKS2,
    open: (events, attempt) => openLink3(options, events, attempt)
  });
}
async function openLink3(options, events, attempt) {
  const { socket, head } = await connectWs({ ...options, path: "/ws" }, attempt);
  let current;
  let closing = false;
  const connection = new WsConnection(
    socket,
    head,
    { client: true, maxBytes: defaultMaxMessageBytes * 2 },
    {
      onMessage(data) {
        const ticket = current;
        current = void 0;
        if (ticket === void 0) connection.destroy();
        else events.onReply(ticket, data);
      },
      onClosed(reason) {
        if (!closing) events.onClosed(reason);
      }
    }
  );
  connection.resume();
  return {
    capacity: 1,
    send(ticket, payload) {
      if (!connection.open) throw new HaliteError("wire.closed", "the connection is closed");
      current = ticket;
      connection.send(payload);
    },
    forget: () => false,
    close() {
      closing = true;
      connection.close();
    }
  };
}
var MAX_LINKS2;
var init_request_client3 = __esm({
  "src/protocol/wire/ws/request-client.ts"() {
    "use strict";
    init_errors();
    init_answers();
    init_request_pool();
    init_resolve();
    init_connection();
    init_handshake();
    MAX_LINKS2 = 16;
  }
});

// src/protocol/wire/ws/request-server.ts
async function listenRequests3(options, handler) {
  const maxBytes = options.maxMessageBytes ?? defaultMaxMessageBytes;
  const gate = new Gate(maxOutstanding.count, maxOutstanding.bytes);
  return listenWs(options, ({ socket, peer, head }) => {
    const waiting = [];
    let busy = false;
    const serveNext = async () => {
      if (gate.full) await gate.room();
      const payload = waiting.shift();
      if (!payload) {
        busy = false;
        return;
      }
      if (waiting.length < MAX_WAITING / 2) connection.resume();
      const leave = gate.enter(payload.length);
      let answered = false;
      const reply = (answer) => {
        if (answered) return;
        answered = true;
        leave();
        connection.send(answer);
        void serveNext();
      };
      try {
        handler({ payload, peer, reply });
      } catch (thrown) {
        options.onProblem?.({ kind: "handler", peer, detail: messageOf(thrown) });
        reply(serverError);
      }
    };
    const connection = new WsConnection(
      socket,
      head,
      { client: false, maxBytes },
      {
        onMessage(data) {
          waiting.push(data);
          if (waiting.length >= MAX_WAITING) connection.pause();
          if (busy) return;
          busy = true;
          void serveNext();
        },
        onClosed(_reason, error) {
          if (!error) return;
          const kind = error instanceof HaliteError && error.code === "codec.limit" ? "too-large" : "malformed";
          options.onProblem?.({ kind, peer, detail: messageOf(error) });
        }
      }
    );
    socket.setTimeout(STALLED_MS3, () => {
      if (connection.pending === 0 && connection.unsent === 0 || socket.isPaused()) return;
      options.onProblem?.({ kind: "idle", peer, detail: "stalled in a message" });
      connection.destroy();
    });
  });
}
var MAX_WAITING, STALLED_MS3;
var init_request_server3 = __esm({
  "src/protocol/wire/ws/request-server.ts"() {
    "use strict";
    init_errors();
    init_answers();
    init_gate();
    init_connection();
    init_handshake();
    MAX_WAITING = 64;
    STALLED_MS3 = 3e4;
  }
});

// src/protocol/wire/ws/subscriber.ts
async function subscribe3(options) {
  let presence = options.presenceTopic;
  let live;
  const session = async (context2) => {
    const headers = presence ? { [presenceHeader]: presence } : {};
    const target = { ...options, path: "/ws", headers };
    const { socket, head, address } = await connectWs(target, context2.attempt, context2.signal);
    return new Promise((resolve2) => {
      const onAbort = () => connection.close();
      const connection = new WsConnection(
        socket,
        head,
        { client: true, maxBytes: defaultMaxMessageBytes },
        {
          onMessage: (data) => deliver2(data, options),
          onClosed(reason) {
            live = void 0;
            context2.signal.removeEventListener("abort", onAbort);
            resolve2(`${address}: ${reason}`);
          }
        }
      );
      context2.signal.addEventListener("abort", onAbort, { once: true });
      live = connection;
      context2.connected(address);
      connection.resume();
    });
  };
  const running = keepConnected({
    minMs: options.reconnectMinMs,
    maxMs: options.reconnectMaxMs,
    session,
    onState: options.onState
  });
  return {
    setPresence(topic) {
      if (presence === topic) return;
      presence = topic;
      live?.close();
    },
    close: running.close
  };
}
function deliver2(data, options) {
  try {
    options.onPublish(publishBody(data));
  } catch (thrown) {
    options.onProblem?.({ kind: "handler", peer: options.host, detail: messageOf(thrown) });
  }
}
var init_subscriber3 = __esm({
  "src/protocol/wire/ws/subscriber.ts"() {
    "use strict";
    init_errors();
    init_answers();
    init_keep_connected();
    init_frame();
    init_connection();
    init_handshake();
    init_publisher3();
  }
});

// src/protocol/wire/ws.ts
var ws_exports = {};
__export(ws_exports, {
  wsTransport: () => wsTransport
});
var wsTransport;
var init_ws = __esm({
  "src/protocol/wire/ws.ts"() {
    "use strict";
    init_publisher3();
    init_request_client3();
    init_request_server3();
    init_subscriber3();
    wsTransport = { name: "ws", listenRequests: listenRequests3, listenPublish: listenPublish3, dial: dial3, subscribe: subscribe3 };
  }
});

// test/bench/foundation.ts
import { readdirSync, readFileSync as readFileSync2 } from "node:fs";

// test/support/deployment.ts
import { spawn } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";

// test/support/eventually.ts
async function eventually(what, test, options = {}) {
  const deadline = Date.now() + (options.timeoutMs ?? 3e4);
  for (; ; ) {
    if (await test()) return;
    const hopeless = options.abort?.() ?? false;
    if (hopeless || Date.now() > deadline) {
      throw new Error(
        `${hopeless ? "no use waiting for" : "waited in vain for"} ${what}
${options.describe?.() ?? ""}`
      );
    }
    await new Promise((resolve2) => setTimeout(resolve2, 50));
  }
}

// test/support/deployment.ts
var halite = { name: "halite", bin: resolve("/work/main/test/support", "../../bin") };
async function freePorts(count) {
  const servers = await Promise.all(
    Array.from({ length: count }, () => {
      const server = createServer();
      return new Promise((done) => server.listen(0, "127.0.0.1", () => done(server)));
    })
  );
  const ports = servers.map((server) => server.address().port);
  await Promise.all(servers.map((server) => new Promise((done) => server.close(done))));
  return ports;
}
function runProgram(file, args, options = {}) {
  return new Promise((done) => {
    const child = spawn(file, args, {
      env: { ...process.env, NO_COLOR: "1", ...options.env },
      stdio: ["pipe", "pipe", "pipe"]
    });
    let stdout = "";
    let stderr = "";
    child.stdout.setEncoding("utf8").on("data", (text) => stdout += text);
    child.stderr.setEncoding("utf8").on("data", (text) => stderr += text);
    const timer = setTimeout(() => child.kill("SIGKILL"), options.timeoutMs ?? 6e4);
    child.on("error", (error) => done({ stdout, stderr: `${stderr}${error.message}`, code: 127 }));
    child.on("close", (code) => {
      clearTimeout(timer);
      done({ stdout, stderr, code });
    });
    child.stdin.end(options.input ?? "");
  });
}
var Daemon = class {
  log;
  #child;
  constructor(implementation, command, configDir, log) {
    this.log = log;
    writeFileSync(log, "", { flag: "a" });
    const script = `exec "$0" "$@" >>"${log}" 2>&1`;
    const args = ["-c", script, join(implementation.bin, command), "-c", configDir, "-l", "info"];
    this.#child = spawn("/bin/sh", args, { stdio: "ignore", detached: true });
  }
  get pid() {
    return this.#child.pid ?? 0;
  }
  get running() {
    return this.#child.exitCode === null && this.#child.signalCode === null;
  }
  output() {
    return readFileSync(this.log, "utf8");
  }
  async stop(signal = "SIGTERM") {
    if (!this.running) return;
    const ended = new Promise((done) => this.#child.once("exit", () => done()));
    signalGroup(this.pid, signal);
    const hard = setTimeout(() => signalGroup(this.pid, "SIGKILL"), 1e4);
    await ended;
    clearTimeout(hard);
    signalGroup(this.pid, "SIGKILL");
  }
};
function signalGroup(pid, signal) {
  try {
    process.kill(-pid, signal);
  } catch {
  }
}
var Deployment = class _Deployment {
  root;
  ports;
  #options;
  #minions = /* @__PURE__ */ new Map();
  #implementation;
  #master;
  constructor(root, ports, options) {
    this.root = root;
    this.ports = ports;
    this.#options = options;
    this.#implementation = options.master ?? halite;
  }
  static async create(options = {}) {
    const [publish, requests] = await freePorts(2);
    const root = mkdtempSync(join(tmpdir(), "halite-test-"));
    const deployment = new _Deployment(root, { publish, requests }, options);
    deployment.#writeMasterConfig();
    return deployment;
  }
  get masterConfigDir() {
    return join(this.root, "etc");
  }
  path(...parts) {
    return join(this.root, ...parts);
  }
  get master() {
    if (!this.#master) throw new Error("the master was not started");
    return this.#master;
  }
  minion(id) {
    const daemon = this.#minions.get(id);
    if (!daemon) throw new Error(`minion ${id} was not started`);
    return daemon;
  }
  #writeMasterConfig() {
    const { publish, requests } = this.ports;
    for (const folder of ["etc/master.d", "srv/salt", "srv/pillar", "log", "run"])
      mkdirSync(this.path(folder), { recursive: true });
    const lines = [
      "user: root",
      `root_dir: ${this.root}`,
      "interface: 127.0.0.1",
      `publish_port: ${publish}`,
      `ret_port: ${requests}`,
      `pki_dir: ${this.path("etc/pki/master")}`,
      `cachedir: ${this.path("cache/master")}`,
      `sock_dir: ${this.path("run/master")}`,
      `log_file: ${this.path("log/master")}`,
      `key_logfile: ${this.path("log/key")}`,
      `pidfile: ${this.path("run/master.pid")}`,
      `auto_accept: ${this.#options.autoAccept === false ? "False" : "True"}`,
      `transport: ${this.#options.transport ?? "zeromq"}`,
      `file_roots: {base: [${this.path("srv/salt")}]}`,
      `pillar_roots: {base: [${this.path("srv/pillar")}]}`,
      "gather_job_timeout: 1",
      "worker_threads: 2",
      this.#options.masterConfig ?? ""
    ];
    writeFileSync(this.path("etc/master"), `${lines.join("\n")}
`);
  }
  async startMaster(implementation = this.#implementation) {
    this.#implementation = implementation;
    this.#master = new Daemon(implementation, "salt-master", this.masterConfigDir, this.path("log/master.out"));
    await eventually("the master to listen", () => reachable(this.ports.requests), {
      describe: () => this.#master?.output() ?? "",
      abort: () => !this.#master?.running
    });
  }
  /** Writes a minion's configuration without starting it. */
  configureMinion(id, extra = "") {
    const configDir = this.path(id, "etc");
    mkdirSync(configDir, { recursive: true });
    const lines = [
      `id: ${id}`,
      "user: root",
      `root_dir: ${this.path(id)}`,
      "master: 127.0.0.1",
      `master_port: ${this.ports.requests}`,
      `pki_dir: ${this.path(id, "pki")}`,
      `cachedir: ${this.path(id, "cache")}`,
      `sock_dir: ${this.path(id, "run")}`,
      `log_file: ${this.path(id, "log")}`,
      `pidfile: ${this.path(id, "pid")}`,
      `transport: ${this.#options.transport ?? "zeromq"}`,
      "acceptance_wait_time: 1",
      "auth_timeout: 5",
      "random_reauth_delay: 1",
      "recon_default: 100",
      "recon_max: 1000",
      extra
    ];
    writeFileSync(join(configDir, "minion"), `${lines.join("\n")}
`);
    return configDir;
  }
  startMinion(id, implementation = halite, extra = "") {
    const configDir = this.configureMinion(id, extra);
    const daemon = new Daemon(implementation, "salt-minion", configDir, this.path("log", `${id}.out`));
    this.#minions.set(id, daemon);
    return daemon;
  }
  /** A command of the master's side (`salt`, `salt-key`, `salt-run`). */
  run(command, args, options = {}) {
    const { implementation = this.#implementation, ...rest } = options;
    return runProgram(join(implementation.bin, command), ["-c", this.masterConfigDir, ...args], rest);
  }
  salt(...args) {
    return this.run("salt", args);
  }
  /** Result of a job by minion, through `--out=json --static`. */
  async json(...args) {
    const { stdout, stderr } = await this.salt(...args, "--out=json", "--static");
    try {
      return JSON.parse(stdout);
    } catch {
      throw new Error(`salt ${args.join(" ")} printed no JSON:
${stdout}
${stderr}`);
    }
  }
  /** Waits until each of these minions answers a ping. */
  async answering(...ids) {
    const missing = async () => {
      const answers = await this.json("-L", ids.join(","), "test.ping", "-t", "1").catch(
        () => ({})
      );
      return ids.filter((id) => answers[id] !== true);
    };
    await eventually(`${ids.join(", ")} to answer`, async () => (await missing()).length === 0, {
      timeoutMs: 9e4,
      describe: () => [this.#master, ...this.#minions.values()].map((daemon) => daemon && `--- ${daemon.log}
${daemon.output().slice(-3e3)}`).join("\n")
    });
  }
  /** Ends every process and removes the folder (kept with HALITE_KEEP=1, to look at). */
  async destroy() {
    await Promise.all([...this.#minions.values()].map((daemon) => daemon.stop()));
    await this.#master?.stop();
    if (!process.env["HALITE_KEEP"] && existsSync(this.root))
      rmSync(this.root, { recursive: true, force: true, maxRetries: 5 });
  }
};
async function reachable(port) {
  const { connect: connect2 } = await import("node:net");
  return new Promise((done) => {
    const socket = connect2(port, "127.0.0.1", () => {
      socket.destroy();
      done(true);
    });
    socket.on("error", () => done(false));
  });
}

// test/support/salt-release.ts
import { spawnSync } from "node:child_process";
import { existsSync as existsSync2, mkdirSync as mkdirSync2, rmSync as rmSync2, writeFileSync as writeFileSync2 } from "node:fs";
import { homedir } from "node:os";
import { join as join2 } from "node:path";
var undeclared = {
  "3007.14": [
    "tornado",
    "PyYAML",
    "msgpack",
    "pyzmq",
    "Jinja2",
    "MarkupSafe",
    "distro",
    "psutil",
    "requests",
    "packaging==24.0",
    "looseversion",
    "jmespath",
    "cryptography",
    "pycryptodomex",
    "python-dateutil",
    "aiohttp",
    "croniter",
    "backports.tarfile",
    "certifi",
    "setproctitle"
  ]
};
var cache = process.env["HALITE_TEST_CACHE"] ?? join2(homedir(), ".cache", "halite-test");
function saltRelease(version) {
  const folder = join2(cache, `salt-${version}`);
  const marker = join2(folder, ".complete");
  if (!existsSync2(marker)) {
    if (!works(folder)) install(folder, version);
    writeFileSync2(marker, "");
  }
  return { name: `salt ${version}`, bin: join2(folder, "bin") };
}
function works(folder) {
  const command = join2(folder, "bin", "salt-call");
  return existsSync2(command) && spawnSync(command, ["--version"]).status === 0;
}
function install(folder, version) {
  mkdirSync2(cache, { recursive: true });
  rmSync2(folder, { recursive: true, force: true });
  run("python3", ["-m", "venv", folder]);
  run(join2(folder, "bin", "pip"), [
    "install",
    "--quiet",
    "--disable-pip-version-check",
    `salt==${version}`,
    ...undeclared[version] ?? []
  ]);
}
function run(file, args) {
  const done = spawnSync(file, args, { encoding: "utf8", maxBuffer: 1 << 26 });
  if (done.status !== 0)
    throw new Error(
      `${file} ${args.join(" ")} failed:
${done.stdout ?? ""}${done.stderr ?? done.error?.message ?? ""}`
    );
}

// test/bench/simulated-fleet.ts
init_msgpack();
import { generateKeyPairSync, randomUUID as randomUUID2 } from "node:crypto";

// src/base/crypto/crypticle.ts
init_msgpack();
init_value();
init_errors();
import {
  createCipheriv,
  createDecipheriv,
  createHmac,
  createSecretKey,
  randomBytes,
  timingSafeEqual
} from "node:crypto";
var IV = 16;
var BLOCK = 16;
var MAC = 32;
var PREFIX = Buffer.from("pickle::");
var NONCE = 32;
function withoutPadding(plain) {
  const count = plain.at(-1) ?? 0;
  const padding = plain.subarray(plain.length - count);
  if (count < 1 || count > BLOCK || padding.some((byte) => byte !== count)) {
    throw new HaliteError("crypto.verify", "An encrypted message has wrong padding");
  }
  return plain.subarray(0, plain.length - count);
}
var Crypticle = class {
  keyString;
  aes;
  hmac;
  lastSerial = 0;
  constructor(keyString) {
    this.keyString = typeof keyString === "string" ? keyString : Buffer.from(keyString).toString("latin1");
    const bytes = Buffer.from(this.keyString, "base64");
    if (bytes.length !== 56) throw new HaliteError("crypto.key", "A key string must hold 56 bytes in base64");
    this.aes = createSecretKey(bytes.subarray(0, 24));
    this.hmac = createSecretKey(bytes.subarray(24));
  }
  static generateKeyString() {
    return randomBytes(56).toString("base64");
  }
  /** `iv` is for tests with recorded bytes only. */
  encrypt(plain, iv = randomBytes(IV)) {
    return this.encryptParts([plain], iv);
  }
  encryptParts(parts, iv = randomBytes(IV)) {
    const cipher = createCipheriv("aes-192-cbc", this.aes, iv);
    const pieces = [iv];
    for (const part of parts) pieces.push(cipher.update(part));
    pieces.push(cipher.final());
    const mac = createHmac("sha256", this.hmac);
    for (const piece of pieces) mac.update(piece);
    pieces.push(mac.digest());
    return Buffer.concat(pieces);
  }
  decrypt(message) {
    const end = message.length - MAC;
    if (end < 2 * IV) throw new HaliteError("crypto.verify", "An encrypted message is too short");
    const mac = createHmac("sha256", this.hmac).update(message.subarray(0, end)).digest();
    if (!timingSafeEqual(mac, message.subarray(end))) {
      throw new HaliteError(
        "crypto.verify",
        "An encrypted message does not authenticate: it was made with another key"
      );
    }
    if ((end - IV) % BLOCK !== 0) throw new HaliteError("crypto.verify", "An encrypted message has an odd length");
    const decipher = createDecipheriv("aes-192-cbc", this.aes, message.subarray(0, IV)).setAutoPadding(false);
    const plain = decipher.update(message.subarray(IV, end));
    decipher.final();
    return withoutPadding(plain);
  }
  /** Serializes and encrypts: replies carry the request's nonce, other messages none. */
  seal(value, nonce2, iv) {
    const parts = nonce2 ? [PREFIX, Buffer.from(nonce2), pack(value)] : [PREFIX, pack(value)];
    return this.encryptParts(parts, iv);
  }
  /** Decrypts and deserializes; a plaintext without the prefix counts as an empty map, as in Salt. */
  open(message, options = {}) {
    const plain = this.decrypt(message);
    if (!plain.subarray(0, PREFIX.length).equals(PREFIX)) return newDict();
    let start2 = PREFIX.length;
    if (options.nonce) {
      const expected = Buffer.from(options.nonce);
      start2 += NONCE;
      const found = plain.subarray(PREFIX.length, start2);
      if (found.length !== expected.length || !timingSafeEqual(found, expected)) {
        throw new HaliteError("crypto.verify", "A reply carries another nonce than the request", {
          details: { what: "nonce" }
        });
      }
    }
    return unpack(plain.subarray(start2), options);
  }
  /** Opens a publish: takes `serial` out, and gives undefined for one not newer than the last under this key. */
  openPublish(message, options = {}) {
    const job = this.open(message, options);
    if (!isDict(job)) return void 0;
    const serial = dictGet(job, "serial");
    if (serial === void 0) return job;
    if (typeof serial !== "number" || serial <= this.lastSerial) return void 0;
    this.lastSerial = serial;
    if (job instanceof Map) job.delete("serial");
    else delete job["serial"];
    return job;
  }
};

// src/base/crypto/fingerprint.ts
init_errors();

// src/base/crypto/keys.ts
import { createPrivateKey, createPublicKey, generateKeyPair } from "node:crypto";
init_errors();
function publicPem(key) {
  const publicKey = key.type === "private" ? createPublicKey(key) : key;
  return publicKey.export({ type: "spki", format: "pem" });
}

// src/base/crypto/rsa.ts
init_errors();
import { constants, privateDecrypt, publicEncrypt, sign, verify } from "node:crypto";
var encHashes = { "OAEP-SHA1": "sha1", "OAEP-SHA224": "sha224" };
var defaultEncAlgo = "OAEP-SHA1";
var bytesOf = (data) => typeof data === "string" ? Buffer.from(data) : data;
function oaepDecrypt(key, data, algo = defaultEncAlgo) {
  const options = { key, padding: constants.RSA_PKCS1_OAEP_PADDING, oaepHash: encHashes[algo] };
  try {
    return privateDecrypt(options, bytesOf(data));
  } catch (cause) {
    throw new HaliteError("crypto.verify", "Data was not encrypted for this key", { cause });
  }
}

// src/base/crypto/x931.ts
init_errors();
import {
  constants as constants2,
  createPublicKey as createPublicKey2,
  privateDecrypt as privateDecrypt2,
  publicEncrypt as publicEncrypt2,
  timingSafeEqual as timingSafeEqual2
} from "node:crypto";
var moduli = /* @__PURE__ */ new WeakMap();
var TOKEN = Buffer.from("salt");
var toBig = (bytes) => BigInt(`0x${Buffer.from(bytes).toString("hex")}`);
var fromBig = (value, size) => Buffer.from(value.toString(16).padStart(size * 2, "0"), "hex");
function modulusOf(key) {
  const known = moduli.get(key);
  if (known) return known;
  const publicKey = key.type === "private" ? createPublicKey2(key) : key;
  const bytes = Buffer.from(publicKey.export({ format: "jwk" }).n ?? "", "base64url");
  if (bytes.length === 0) throw new HaliteError("crypto.key", "Not an RSA key");
  const modulus = { size: bytes.length, value: toBig(bytes) };
  moduli.set(key, modulus);
  return modulus;
}
function x931Sign(key, message) {
  const { size, value } = modulusOf(key);
  const padding = size - message.length - 2;
  if (padding < 0) throw new HaliteError("crypto.key", "A message is too long for this key");
  const block = Buffer.alloc(size, 187);
  block[0] = padding === 0 ? 106 : 107;
  if (padding > 0) block[padding] = 186;
  block.set(message, size - message.length - 1);
  block[size - 1] = 204;
  const signed = toBig(privateDecrypt2({ key, padding: constants2.RSA_NO_PADDING }, block));
  return fromBig(signed * 2n > value ? value - signed : signed, size);
}
function makeToken(key) {
  return x931Sign(key, TOKEN);
}

// src/protocol/wire/transports.ts
init_errors();
var loaders = {
  zeromq: async () => (await Promise.resolve().then(() => (init_zeromq(), zeromq_exports))).zeromqTransport,
  tcp: async () => (await Promise.resolve().then(() => (init_tcp(), tcp_exports))).tcpTransport,
  ws: async () => (await Promise.resolve().then(() => (init_ws(), ws_exports))).wsTransport
};
async function getTransport(name) {
  if (!Object.hasOwn(loaders, name)) {
    throw new HaliteError("config.value", `There is no transport "${name}"`, {
      hint: `Set the option transport to one of ${Object.keys(loaders).join(", ")}, the same on master and minions.`
    });
  }
  return loaders[name]();
}

// test/bench/simulated-fleet.ts
var nonce = () => randomUUID2().replaceAll("-", "");
var SimulatedFleet = class _SimulatedFleet {
  #minions = [];
  #subscriptions = [];
  #clients;
  #key;
  #pem;
  #token;
  #aes;
  #publishPort = 0;
  /** Answers sent and acknowledged. */
  answered = 0;
  constructor(clients) {
    this.#clients = clients;
    const { privateKey, publicKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });
    this.#key = privateKey;
    this.#pem = publicPem(publicKey);
    this.#token = makeToken(privateKey);
  }
  static async start(port, count) {
    const transport = await getTransport("zeromq");
    const fleet = new _SimulatedFleet(Array.from({ length: 4 }, () => transport.dial({ host: "127.0.0.1", port })));
    for (let at2 = 0; at2 < count; at2++) await fleet.#signIn(`sim-${String(at2).padStart(4, "0")}`);
    for (const minion of fleet.#minions) await fleet.#subscribe(transport, minion);
    return fleet;
  }
  close() {
    for (const subscription of this.#subscriptions) subscription.close();
    for (const client of this.#clients) client.close();
  }
  #client() {
    return this.#clients[Math.floor(Math.random() * this.#clients.length)];
  }
  async #signIn(id) {
    const load = { cmd: "_auth", id, pub: this.#pem, nonce: nonce(), enc_algo: "OAEP-SHA1", sig_algo: "PKCS1v15-SHA1" };
    const reply = unpack(
      await this.#client().request(pack({ enc: "clear", load, version: 3 }), { timeoutMs: 3e4 }),
      { raw: true }
    );
    const inner = unpack(reply["load"], { raw: true });
    const open = (name) => oaepDecrypt(this.#key, inner[name]).toString();
    this.#aes = new Crypticle(open("aes"));
    this.#publishPort = Number(inner["publish_port"]);
    this.#minions.push({ id, session: new Crypticle(open("session")) });
  }
  async #subscribe(transport, minion) {
    const subscription = await new Promise((resolve2, reject) => {
      let made;
      const ready2 = () => {
        if (made) resolve2(made);
      };
      transport.subscribe({
        host: "127.0.0.1",
        port: this.#publishPort,
        id: minion.id,
        reconnectMinMs: 100,
        reconnectMaxMs: 1e3,
        onPublish: (payload) => void this.#receive(minion, payload),
        onState: (state) => state === "connected" && setImmediate(ready2)
      }).then((result) => {
        made = result;
      }, reject);
    });
    this.#subscriptions.push(subscription);
  }
  async #receive(minion, payload) {
    const envelope = unpack(payload, { raw: true });
    const job = this.#aes.open(envelope["load"]);
    const tgt = job["tgt"];
    if (Array.isArray(tgt) && !tgt.includes(minion.id)) return;
    const value = job["fun"] === "test.ping" ? true : {};
    const load = {
      cmd: "_return",
      id: minion.id,
      jid: job["jid"],
      fun: job["fun"],
      fun_args: [],
      return: value,
      retcode: 0,
      success: true,
      nonce: nonce(),
      ts: Math.floor(Date.now() / 1e3),
      tok: this.#token
    };
    const request = pack({
      enc: "aes",
      load: minion.session.seal(load),
      version: 3,
      id: minion.id,
      enc_algo: "OAEP-SHA1",
      sig_algo: "PKCS1v15-SHA1"
    });
    await this.#client().request(request, { timeoutMs: 6e4 });
    this.answered++;
  }
};

// test/bench/foundation.ts
var median = (values) => [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;
function memoryOf(root) {
  const parents = /* @__PURE__ */ new Map();
  for (const name of readdirSync("/proc")) {
    if (!/^\d+$/.test(name)) continue;
    try {
      const stat = readFileSync2(`/proc/${name}/stat`, "utf8");
      parents.set(Number(name), Number(stat.slice(stat.lastIndexOf(")") + 2).split(" ")[1]));
    } catch {
    }
  }
  const mine = (pid) => pid === root || parents.has(pid) && pid > 1 && mine(parents.get(pid) ?? 0);
  let kb = 0;
  for (const pid of parents.keys()) {
    if (!mine(pid)) continue;
    const status = readFileSync2(`/proc/${pid}/status`, "utf8");
    kb += Number(/^VmRSS:\s+(\d+)/m.exec(status)?.[1] ?? 0);
  }
  return kb / 1024;
}
async function oneMinion(implementation, figures) {
  const fleet = await Deployment.create({ master: implementation });
  try {
    await fleet.startMaster();
    fleet.startMinion("m1", implementation);
    await fleet.answering("m1");
    const times = [];
    for (let round = 0; round < 9; round++) {
      const started = performance.now();
      const { code } = await fleet.salt("*", "test.ping");
      if (code !== 0) throw new Error(`${implementation.name}: ping failed`);
      times.push((performance.now() - started) / 1e3);
    }
    figures.pingSeconds = median(times);
    await new Promise((resolve2) => setTimeout(resolve2, 35e3));
    figures.masterMb = memoryOf(fleet.master.pid);
    figures.minionMb = memoryOf(fleet.minion("m1").pid);
  } finally {
    await fleet.destroy();
  }
}
async function manyCommands(implementation, figures) {
  const fleet = await Deployment.create({ master: implementation });
  let simulated;
  try {
    await fleet.startMaster();
    simulated = await SimulatedFleet.start(fleet.ports.requests, 50);
    await fleet.salt("*", "test.ping");
    const started = performance.now();
    const results = await Promise.all(
      Array.from(
        { length: 50 },
        () => fleet.run("salt", ["*", "test.ping", "--out=json", "--static"], { timeoutMs: 18e4 })
      )
    );
    figures.atOnceSeconds = (performance.now() - started) / 1e3;
    figures.atOnceComplete = results.filter(({ stdout }) => complete(stdout)).length;
  } finally {
    simulated?.close();
    await fleet.destroy();
  }
}
function complete(stdout) {
  try {
    return Object.values(JSON.parse(stdout)).filter((value) => value === true).length === 50;
  } catch {
    return false;
  }
}
async function measure(implementation) {
  const figures = {
    name: implementation.name,
    pingSeconds: 0,
    masterMb: 0,
    minionMb: 0,
    atOnceComplete: 0,
    atOnceSeconds: 0
  };
  await oneMinion(implementation, figures);
  await manyCommands(implementation, figures);
  return figures;
}
var ours = await measure(halite);
var real = await measure(saltRelease("3006.27"));
var row = (label, pick, unit) => {
  const [a, b] = [pick(ours), pick(real)];
  return `| ${label} | ${a.toFixed(2)} ${unit} | ${b.toFixed(2)} ${unit} | ${(b / a).toFixed(1)} \xD7 |`;
};
console.log(`| | Halite | ${real.name} | Salt / Halite |
| --- | ---: | ---: | ---: |`);
console.log(row("`salt '*' test.ping`, one minion", (f) => f.pingSeconds, "s"));
console.log(row("master, idle, resident", (f) => f.masterMb, "MB"));
console.log(row("minion, idle, resident", (f) => f.minionMb, "MB"));
console.log(row("50 commands at once, 50 minions", (f) => f.atOnceSeconds, "s"));
console.log(`| of these complete | ${ours.atOnceComplete} of 50 | ${real.atOnceComplete} of 50 | |`);
