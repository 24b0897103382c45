// src/protocol/wire/zeromq/publisher.ts
import { createHash } from "node:crypto";

// src/protocol/wire/link/delivery.ts
var patienceMs = 1e3;
var mostBytesEach = 32 * 1024 * 1024;
var mostBytesAll = 128 * 1024 * 1024;
var SharedFrame = class {
  length;
  holders = 0;
  #encode;
  #forms = [];
  constructor(length, encode) {
    this.length = length;
    this.#encode = encode;
  }
  bytes(form) {
    const known = this.#forms[form];
    if (known) return known;
    const made = this.#encode(form);
    this.#forms[form] = made;
    return made;
  }
};
var Waiting = class {
  #bytes = 0;
  get full() {
    return this.#bytes > mostBytesAll;
  }
  hold(frame) {
    frame.holders += 1;
    if (frame.holders === 1) this.#bytes += frame.length;
  }
  release(frame) {
    frame.holders -= 1;
    if (frame.holders === 0) this.#bytes -= frame.length;
  }
};
var Delivery = class {
  #connection;
  #waiting;
  #hwm;
  #form;
  #queue = [];
  #head = 0;
  #bytes = 0;
  #missed = 0;
  constructor(connection, waiting, hwm, form = 0) {
    this.#connection = connection;
    this.#waiting = waiting;
    this.#hwm = hwm > 0 ? hwm : Number.POSITIVE_INFINITY;
    this.#form = form;
  }
  send(frame) {
    const { out: out2, socket } = this.#connection;
    if (socket.destroyed) return;
    if (out2.unsent === 0) out2.write(frame.bytes(this.#form));
    else if (this.#mustMiss(frame)) this.#miss();
    else this.#keep(frame);
  }
  #keep(frame) {
    this.#queue.push(frame);
    this.#bytes += frame.length;
    this.#waiting.hold(frame);
    if (this.#waiting.full) this.#connection.guard.cutSlowest();
  }
  /** The subscriber took what it was given. */
  drained() {
    const { out: out2 } = this.#connection;
    for (let frame = this.#queue[this.#head]; frame && out2.unsent === 0; frame = this.#queue[this.#head]) {
      this.#head += 1;
      this.#bytes -= frame.length;
      this.#waiting.release(frame);
      out2.write(frame.bytes(this.#form));
    }
    if (this.#head < this.#queue.length && this.#head < 1024) return;
    this.#queue = this.#queue.slice(this.#head);
    this.#head = 0;
    if (this.#queue.length === 0) this.#missed = 0;
  }
  closed() {
    for (const frame of this.#queue.slice(this.#head)) this.#waiting.release(frame);
    this.#queue = [];
    this.#head = 0;
    this.#bytes = 0;
  }
  #mustMiss(frame) {
    if (this.#bytes + frame.length > mostBytesEach && this.#bytes > 0) return true;
    if (this.#queue.length - this.#head < this.#hwm) return false;
    return performance.now() - this.#connection.out.progressAt > patienceMs;
  }
  #miss() {
    this.#missed += 1;
    if (this.#missed > 1) return;
    const { guard, peer } = this.#connection;
    guard.problem({ kind: "slow", peer, detail: "takes publishes too slowly and misses some" });
  }
};

// src/protocol/wire/link/listen.ts
import { createServer } from "node:net";
import { createServer as createTlsServer } from "node:tls";

// src/protocol/wire/tcp/tls.ts
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";

// src/base/errors/error.ts
var HaliteError = class extends Error {
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
function messageOf(thrown) {
  return thrown instanceof Error ? thrown.message : String(thrown);
}

// src/protocol/wire/tcp/tls.ts
var versions = {
  PROTOCOL_TLS: void 0,
  PROTOCOL_SSLv23: void 0,
  PROTOCOL_TLS_SERVER: void 0,
  PROTOCOL_TLS_CLIENT: void 0,
  PROTOCOL_TLSv1: "TLSv1",
  PROTOCOL_TLSv1_1: "TLSv1.1",
  PROTOCOL_TLSv1_2: "TLSv1.2"
};
var requirements = /* @__PURE__ */ new Set(["CERT_NONE", "CERT_OPTIONAL", "CERT_REQUIRED"]);
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
    handshakeTimeout: 15e3
  };
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
    ...options.certfile ? { cert: await read("certfile", options.certfile) } : {},
    // Salt: the key may stand in the certificate file.
    ...options.certfile ? { key: await read("keyfile", options.keyfile ?? options.certfile) } : {},
    ...ca.length > 0 ? { ca } : {},
    ...options.ciphers ? { ciphers: options.ciphers } : {},
    ...version ? { minVersion: version, maxVersion: version } : {}
  };
}
async function authorities(options) {
  const texts = [];
  if (options.ca_certs) texts.push(await read("ca_certs", options.ca_certs));
  for (const place of options.verify_locations ?? []) {
    const { cafile, capath, cadata } = typeof place === "string" ? { cafile: place } : place;
    if (cafile) texts.push(await read("verify_locations", cafile));
    if (cadata) texts.push(cadata);
    if (capath) texts.push(...await readFolder(capath));
  }
  return texts;
}
async function readFolder(folder) {
  const names = await readdir(folder).catch((thrown) => {
    throw unreadable("verify_locations", folder, thrown);
  });
  const texts = await Promise.all(names.map((name) => readFile(join(folder, name), "utf8").catch(() => "")));
  return texts.filter((text) => text.includes("BEGIN CERTIFICATE"));
}
async function read(option, file) {
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

// src/base/codec/msgpack/datetime.ts
var PreciseDate = class extends Date {
  /** Microseconds below the millisecond, 0 to 999. */
  micros;
  constructor(millis, micros) {
    super(millis);
    this.micros = micros;
  }
};
function formatDateTime(date) {
  const pad = (value, width) => String(value).padStart(width, "0");
  const micros = microsOf(date);
  return pad(date.getUTCFullYear(), 4) + pad(date.getUTCMonth() + 1, 2) + pad(date.getUTCDate(), 2) + `T${pad(date.getUTCHours(), 2)}:${pad(date.getUTCMinutes(), 2)}:${pad(date.getUTCSeconds(), 2)}.${pad(micros, 6)}`;
}
function microsOf(date) {
  return date.getUTCMilliseconds() * 1e3 + (date instanceof PreciseDate ? date.micros : 0);
}

// src/base/codec/value.ts
var PyFloat = class {
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
function newDict(entries) {
  const dict = /* @__PURE__ */ Object.create(null);
  if (entries) for (const entry of entries) dict[entry[0]] = entry[1];
  return dict;
}
function isReorderedKey(key) {
  if (key.length === 0 || key.length > 10) return false;
  const first = key.charCodeAt(0);
  if (first < 48 || first > 57) return false;
  return String(Number(key) >>> 0) === key && key !== "4294967295";
}

// src/base/codec/json/load.ts
var NUMBER = /-?(?:0|[1-9]\d*)(\.\d+)?([eE][-+]?\d+)?/y;
var SPACE = /[ \t\n\r]*/y;
var PLAIN_TEXT = /[^"\\\x00-\x1f]*/y;
var WORDS = [
  ["null", null],
  ["true", true],
  ["false", false],
  ["NaN", Number.NaN],
  ["Infinity", Number.POSITIVE_INFINITY],
  ["-Infinity", Number.NEGATIVE_INFINITY]
];
var ESCAPES = {
  '"': '"',
  "\\": "\\",
  "/": "/",
  b: "\b",
  f: "\f",
  n: "\n",
  r: "\r",
  t: "	"
};
function loadJson(text, options = {}) {
  return new JsonReader(text, options).document();
}
var JsonReader = class {
  text;
  maxDepth;
  keepFloats;
  at = 0;
  constructor(text, options) {
    this.text = text;
    this.maxDepth = options.maxDepth ?? 256;
    this.keepFloats = options.keepFloats !== false;
  }
  document() {
    this.space();
    const value = this.value(0);
    this.space();
    if (this.at < this.text.length) throw this.malformed("text follows the value");
    return value;
  }
  malformed(what) {
    const before = this.text.slice(0, this.at).split("\n");
    const line = before.length;
    const column = (before.at(-1)?.length ?? 0) + 1;
    return new HaliteError("codec.malformed", `Not valid JSON: ${what} at line ${line}, column ${column}`, {
      details: { line, column }
    });
  }
  space() {
    const code = this.text.charCodeAt(this.at);
    if (code > 32) return;
    SPACE.lastIndex = this.at;
    SPACE.test(this.text);
    this.at = SPACE.lastIndex;
  }
  value(depth) {
    const first = this.text[this.at];
    if (first === '"') return this.string();
    if (first === "{") return this.object(depth);
    if (first === "[") return this.array(depth);
    return this.number() ?? this.word();
  }
  word() {
    for (const [word, value] of WORDS) {
      if (this.text.startsWith(word, this.at)) {
        this.at += word.length;
        return value;
      }
    }
    throw this.malformed(this.at < this.text.length ? "a value was expected" : "the text ends early");
  }
  number() {
    NUMBER.lastIndex = this.at;
    const found = NUMBER.exec(this.text);
    if (!found) return void 0;
    this.at = NUMBER.lastIndex;
    const value = Number(found[0]);
    if (found[1] !== void 0 || found[2] !== void 0) {
      return this.keepFloats && Number.isInteger(value) ? new PyFloat(value) : value;
    }
    return Number.isSafeInteger(value) ? value + 0 : BigInt(found[0]);
  }
  string() {
    const { text } = this;
    let out2 = "";
    this.at++;
    for (; ; ) {
      PLAIN_TEXT.lastIndex = this.at;
      PLAIN_TEXT.test(text);
      out2 += text.slice(this.at, PLAIN_TEXT.lastIndex);
      this.at = PLAIN_TEXT.lastIndex;
      const stop = text[this.at];
      if (stop === '"') break;
      if (stop !== "\\")
        throw this.malformed(stop === void 0 ? "a string is not closed" : "a control character in a string");
      out2 += this.escape();
    }
    this.at++;
    return out2;
  }
  escape() {
    const letter = this.text[this.at + 1] ?? "";
    const simple = ESCAPES[letter];
    if (simple !== void 0) {
      this.at += 2;
      return simple;
    }
    const digits = this.text.slice(this.at + 2, this.at + 6);
    if (letter !== "u" || !/^[0-9a-fA-F]{4}$/.test(digits)) throw this.malformed("a wrong escape");
    this.at += 6;
    return String.fromCharCode(Number.parseInt(digits, 16));
  }
  open(depth) {
    if (depth >= this.maxDepth)
      throw new HaliteError("codec.limit", `JSON is nested deeper than ${this.maxDepth} levels`);
    this.at++;
    this.space();
  }
  /** After an item: true when another follows. */
  more(close) {
    this.space();
    const next = this.text[this.at];
    if (next !== "," && next !== close) throw this.malformed(`"," or "${close}" was expected`);
    this.at++;
    if (next === close) return false;
    this.space();
    return true;
  }
  array(depth) {
    this.open(depth);
    const items = [];
    if (this.text[this.at] === "]") {
      this.at++;
      return items;
    }
    do
      items.push(this.value(depth + 1));
    while (this.more("]"));
    return items;
  }
  object(depth) {
    this.open(depth);
    const plain = newDict();
    let map;
    if (this.text[this.at] === "}") {
      this.at++;
      return plain;
    }
    do {
      if (this.text[this.at] !== '"') throw this.malformed("a key in quotes was expected");
      const key = this.string();
      this.space();
      if (this.text[this.at] !== ":") throw this.malformed('":" was expected');
      this.at++;
      this.space();
      const value = this.value(depth + 1);
      if (!map && isReorderedKey(key)) map = new Map(Object.entries(plain));
      if (map) map.set(key, value);
      else plain[key] = value;
    } while (this.more("}"));
    return map ?? plain;
  }
};

// src/base/codec/json/parse.ts
var number = "-?(?:\\d{16}|\\d+\\.(?:0+(?!\\d)|\\d{15})|\\d+(?:\\.\\d+)?[eE]|NaN|Infinity)";
var special = new RegExp(`[[:,]\\s*${number}|^\\s*${number}|"\\d{1,10}"\\s*:`);
function parseValue(text) {
  return special.test(text) ? loadJson(text) : parsePlain(text);
}
function parsePlain(text) {
  const value = JSON.parse(text);
  bare(value);
  return value;
}
function bare(value) {
  if (typeof value !== "object" || value === null) return;
  if (Array.isArray(value)) {
    for (const item of value) if (typeof item === "object") bare(item);
    return;
  }
  Object.setPrototypeOf(value, null);
  for (const key in value) {
    const item = value[key];
    if (typeof item === "object") bare(item);
  }
}

// src/base/codec/json/json-text.ts
var JsonText = class _JsonText {
  /** The text in UTF-8, in one piece or several, with nothing escaped that need not be. */
  pieces;
  facts;
  constructor(pieces, facts) {
    this.pieces = pieces;
    this.facts = facts;
  }
  get length() {
    return this.pieces.reduce((sum, piece) => sum + piece.length, 0);
  }
  get bytes() {
    return this.pieces.length === 1 ? this.pieces[0] : Buffer.concat(this.pieces);
  }
  get text() {
    const { buffer, byteOffset, length } = this.bytes;
    return Buffer.from(buffer, byteOffset, length).toString();
  }
  /** The value of the text alone. */
  data() {
    return this.facts.plain ? parsePlain(this.text) : parseValue(this.text);
  }
  /** What it stands for. */
  value() {
    const { outputter } = this.facts;
    const data = this.data();
    return outputter === void 0 ? data : newDict([
      ["outputter", outputter],
      ["data", data]
    ]);
  }
  withOutputter(outputter) {
    return outputter ? new _JsonText(this.pieces, { ...this.facts, outputter }) : this;
  }
};

// src/base/codec/msgpack/encode.ts
var jsonTextType = 74;
var MAX_DEPTH = 512;
var KEEP_SCRATCH = 1 << 16;
var HIGH = 4294967296;
var out = Buffer.allocUnsafeSlow(KEEP_SCRATCH);
var at = 0;
var bin = false;
var datesAsText = false;
var jsonTexts = false;
function pack(value, options = {}) {
  at = options.room ?? 0;
  jsonTexts = options.jsonTexts === true;
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
  } else if (value instanceof JsonText) writeJsonText(value, depth);
  else {
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
function writeJsonText(written, depth) {
  const name = Buffer.from(written.facts.outputter ?? "");
  if (!jsonTexts || name.length > 255) {
    write(written.value(), depth);
    return;
  }
  const length = 2 + name.length + written.length;
  reserve(1024 + length);
  out[at] = 201;
  at = out.writeUInt32BE(length, at + 1);
  out[at++] = jsonTextType;
  out[at++] = written.facts.plain ? 1 : 0;
  out[at++] = name.length;
  for (const piece of [name, ...written.pieces]) {
    out.set(piece, at);
    at += piece.length;
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
    const start = at + 1;
    let i = 0;
    for (; i < length; i++) {
      const code = text.charCodeAt(i);
      if (code > 127) break;
      out[start + i] = code;
    }
    if (i === length) {
      out[at] = 160 | length;
      at = start + length;
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
    } else if (value < HIGH) {
      out[at] = 206;
      at = out.writeUInt32BE(value, at + 1);
    } else if (value <= Number.MAX_SAFE_INTEGER) {
      out[at] = 207;
      at = out.writeUInt32BE(Math.floor(value / HIGH), at + 1);
      at = out.writeUInt32BE(value % HIGH, at);
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

// src/base/codec/msgpack/text-cache.ts
function textCache(slots) {
  const table = new Array(slots).fill(void 0);
  const mask = slots - 1;
  return (buf, start, end) => {
    let hash = end - start;
    let all = 0;
    for (let i = start; i < end; i++) {
      const byte = buf[i];
      all |= byte;
      hash = Math.imul(hash, 31) + byte | 0;
    }
    if (all > 127) return void 0;
    const slot = (hash ^ hash >>> 15) & mask;
    const known = table[slot];
    if (known !== void 0 && sameBytes(known, buf, start, end)) return known;
    const text = buf.toString("latin1", start, end);
    table[slot] = text;
    return text;
  };
}
function sameBytes(text, buf, start, end) {
  if (text.length !== end - start) return false;
  for (let i = 0; i < text.length; i++) if (text.charCodeAt(i) !== buf[start + i]) return false;
  return true;
}

// src/base/codec/msgpack/decode.ts
var defaultLimits = { maxDepth: 256, maxBytes: 100 * 1024 * 1024, maxItems: 8e6 };
var keyCache = textCache(2048);
var valueCache = textCache(1024);

// src/protocol/wire/link/answers.ts
var defaultMaxMessageBytes = 100 * 1024 * 1024;
var badLoad = pack("bad load");
var serverError = pack("Server-side exception handling payload");

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

// src/protocol/wire/link/limits.ts
var kB = 1024;
var MB = 1024 * 1024;
var unproven = {
  freeBytes: 16 * kB,
  inWorkEach: 4,
  inWorkAll: 2e3,
  unsentPause: 64 * kB,
  unsentAll: 64 * MB,
  unsentMs: 15e3,
  stalledMs: 1e4,
  messageMs: 15e3,
  bytesPerSecond: 64 * kB,
  contendedBytesPerSecond: MB
};
var proven = {
  freeBytes: 64 * kB,
  inWorkEach: 512,
  inWorkAll: 1e4,
  unsentPause: MB,
  unsentAll: 256 * MB,
  unsentMs: 6e4,
  stalledMs: 3e4,
  messageMs: 6e4,
  bytesPerSecond: 8 * kB,
  contendedBytesPerSecond: 64 * kB
};
var pools = {
  /** Of strangers up to `mediumBytes` each. */
  medium: 32 * MB,
  mediumBytes: 4 * MB,
  /** Of strangers, larger: one or few at a time. */
  large: 64 * MB,
  proven: 256 * MB
};
var handshakeMs = 1e4;
var roomMs = 6e4;
var idleMs = 10 * 6e4;
var lingerMs = 1e3;
var pieceBytes = 256 * kB;
var mostUnproven = 2048;
var filesShare = 0.4;

// src/protocol/wire/link/handshakes.ts
var most = 1024;
var Handshakes = class {
  #guard;
  /** By the address of the peer: a TLS socket is another object than the one it came over. In the order they came. */
  #open = /* @__PURE__ */ new Map();
  constructor(guard) {
    this.#guard = guard;
  }
  begin(socket) {
    const key = keyOf(socket);
    socket.on("error", () => void 0);
    socket.on("close", () => this.#forget(key));
    const timer = setTimeout(() => this.#cut(key, "idle", "no handshake"), handshakeMs);
    timer.unref();
    this.#open.set(key, { socket, timer });
    if (this.#open.size <= most) return;
    const [oldest] = this.#open.keys();
    if (oldest !== void 0) this.#cut(oldest, "overload", "too many handshakes at once");
  }
  done(socket) {
    this.#forget(keyOf(socket));
  }
  /** For the end of the server. */
  destroyAll() {
    for (const { socket } of this.#open.values()) socket.destroy();
  }
  #cut(key, kind, detail) {
    const entry = this.#open.get(key);
    this.#forget(key);
    entry?.socket.destroy();
    this.#guard.problem({ kind, peer: `tcp://${key}`, detail });
  }
  #forget(key) {
    clearTimeout(this.#open.get(key)?.timer);
    this.#open.delete(key);
  }
};
var keyOf = (socket) => `${socket.remoteAddress}:${socket.remotePort}`;

// src/protocol/wire/link/byte-pool.ts
var BytePool = class {
  #capacity;
  #line = [];
  #used = 0;
  constructor(capacity) {
    this.#capacity = capacity;
  }
  get used() {
    return this.#used;
  }
  /** True while somebody waits: who holds a part should hurry. */
  get contended() {
    return this.#line.length > 0;
  }
  /** Takes a part at once, or (false) calls `granted` when it has been taken. More than the capacity enters alone. */
  take(bytes, granted) {
    if (this.#line.length === 0 && this.#fits(bytes)) {
      this.#used += bytes;
      return true;
    }
    this.#line.push({ bytes, granted });
    return false;
  }
  give(bytes) {
    this.#used -= bytes;
    this.#admit();
  }
  /** One that waits no longer. */
  leave(granted) {
    const at2 = this.#line.findIndex((waiter) => waiter.granted === granted);
    if (at2 < 0) return;
    this.#line.splice(at2, 1);
    this.#admit();
  }
  #fits(bytes) {
    return this.#used === 0 || this.#used + bytes <= this.#capacity;
  }
  #admit() {
    for (let next = this.#line[0]; next && this.#fits(next.bytes); next = this.#line[0]) {
      this.#line.shift();
      this.#used += next.bytes;
      next.granted();
    }
  }
};

// src/protocol/wire/link/open-files.ts
import { readFileSync } from "node:fs";
var fallback = 4096;
function openFilesLimit() {
  try {
    const line = /^Max open files\s+(\d+)/m.exec(readFileSync("/proc/self/limits", "latin1"));
    return line ? Number(line[1]) : fallback;
  } catch {
    return fallback;
  }
}

// src/protocol/wire/link/problems.ts
var windowMs = 6e4;
var toldEach = 10;
function limitProblems(tell) {
  if (!tell) return () => void 0;
  const kinds = /* @__PURE__ */ new Map();
  return (problem) => {
    const now = performance.now();
    let seen = kinds.get(problem.kind);
    if (!seen || now - seen.since > windowMs) {
      const more = seen?.more ?? 0;
      seen = { since: now, told: 0, more: 0 };
      kinds.set(problem.kind, seen);
      if (more > 0) tell({ ...problem, detail: `${problem.detail} (and ${more} more of this kind before)` });
      else tell(problem);
      seen.told = 1;
    } else if (seen.told < toldEach) {
      seen.told += 1;
      tell(problem);
    } else seen.more += 1;
  };
}

// src/protocol/wire/link/port-guard.ts
var sweepMs = 1e3;
var summingMs = 20;
var classOf = (connection) => connection.proven ? "proven" : "unproven";
var PortGuard = class {
  problem;
  maxMessageBytes;
  handshakeMs;
  #options;
  #all = /* @__PURE__ */ new Set();
  /** In the order they came. */
  #unproven = /* @__PURE__ */ new Set();
  #unready = /* @__PURE__ */ new Set();
  #byAddress = /* @__PURE__ */ new Map();
  #medium;
  #large;
  #proven;
  #inWork = { unproven: 0, proven: 0 };
  /** Left unread because too many requests await their reply. */
  #crowd = /* @__PURE__ */ new Set();
  #most;
  #mostUnproven;
  #timer;
  #sweptAt = performance.now();
  #summedAt = 0;
  constructor(options) {
    this.#options = options;
    this.problem = limitProblems(options.onProblem);
    this.maxMessageBytes = options.maxMessageBytes;
    this.handshakeMs = options.handshakeMs ?? handshakeMs;
    const largest = options.maxMessageBytes;
    this.#medium = new BytePool(pools.medium);
    this.#large = new BytePool(Math.max(pools.large, largest));
    this.#proven = new BytePool(Math.max(pools.proven, largest));
    this.#most = options.mostConnections ?? Math.floor(openFilesLimit() * filesShare);
    this.#mostUnproven = options.port === "request" ? Math.min(mostUnproven, this.#most >> 1) : this.#most;
    this.#timer = setInterval(() => this.#sweep(), sweepMs);
    this.#timer.unref();
  }
  get connections() {
    return this.#all;
  }
  /** Takes a new connection in; where there are too many, a stranger goes for it. False: it has been refused. */
  add(connection) {
    if (this.#all.size >= this.#most && !this.#evict()) {
      connection.cut("overload", "too many connections");
      return false;
    }
    if (this.#unproven.size >= this.#mostUnproven) this.#evict();
    this.#all.add(connection);
    this.#unproven.add(connection);
    this.#unready.add(connection);
    const same = this.#byAddress.get(connection.address);
    if (same) same.add(connection);
    else this.#byAddress.set(connection.address, /* @__PURE__ */ new Set([connection]));
    return true;
  }
  readied(connection) {
    this.#unready.delete(connection);
  }
  trusted(connection) {
    this.#noStranger(connection);
  }
  gone(connection) {
    this.#all.delete(connection);
    this.#crowd.delete(connection);
    this.#noStranger(connection);
  }
  #noStranger(connection) {
    this.#unproven.delete(connection);
    this.#unready.delete(connection);
    const same = this.#byAddress.get(connection.address);
    same?.delete(connection);
    if (same?.size === 0) this.#byAddress.delete(connection.address);
  }
  #evict() {
    const victim = this.#options.port === "request" ? this.#oldestIdle() : this.#ofBusiestAddress();
    victim?.cut("overload", "makes room for another connection");
    return victim !== void 0;
  }
  /** A good client on the request port asks at once: who has been there longest without a request under way is none. */
  #oldestIdle() {
    let first;
    for (const connection of this.#unproven) {
      if (connection.idle) return connection;
      first ??= connection;
    }
    return first;
  }
  /** On the publish port the established stay, and no address takes what others need. */
  #ofBusiestAddress() {
    for (const connection of this.#unready) return connection;
    let busiest;
    for (const same of this.#byAddress.values()) if (same.size > (busiest?.size ?? 0)) busiest = same;
    let newest;
    for (const connection of busiest ?? []) newest = connection;
    return newest;
  }
  poolFor(connection, bytes) {
    if (connection.proven) return this.#proven;
    return bytes <= pools.mediumBytes ? this.#medium : this.#large;
  }
  /** True while the class of this connection has as many requests under way as it may. */
  crowded(connection) {
    return this.#inWork[classOf(connection)] >= connection.limits.inWorkAll;
  }
  wait(connection) {
    this.#crowd.add(connection);
  }
  /** Counts a request that begins, in the class that `ended` must name. */
  begun(connection) {
    const kind = classOf(connection);
    this.#inWork[kind] += 1;
    connection.inWork += 1;
    return kind;
  }
  ended(connection, kind) {
    this.#inWork[kind] -= 1;
    connection.inWork -= 1;
    for (const waiting of this.#crowd) {
      if (this.crowded(waiting)) break;
      this.#crowd.delete(waiting);
      waiting.update();
    }
  }
  /** Somebody does not take its replies at once. When all of a class keep too much waiting, the one with the most goes. */
  unsentGrew(connection) {
    if (this.#options.port === "publish") return;
    const { limits: bounds } = connection;
    const now = performance.now();
    if (connection.out.unsent <= bounds.unsentPause || now - this.#summedAt < summingMs) return;
    this.#summedAt = now;
    let sum = 0;
    let most2 = connection;
    for (const other of this.#all) {
      if (other.limits !== bounds) continue;
      sum += other.out.unsent;
      if (other.out.unsent > most2.out.unsent) most2 = other;
    }
    if (sum > bounds.unsentAll) most2.cut("slow", "does not take what is sent to it");
  }
  #sweep() {
    const now = performance.now();
    const late = now - this.#sweptAt - sweepMs;
    this.#sweptAt = now;
    const maxIdleMs = this.#options.port === "request" ? idleMs : Number.POSITIVE_INFINITY;
    for (const connection of this.#all) {
      if (late > sweepMs) connection.forgive(late);
      try {
        connection.check(now, maxIdleMs);
      } catch (thrown) {
        connection.cut("malformed", messageOf(thrown));
      }
    }
  }
  /** The one that has taken nothing for the longest time, of those for whom something waits. */
  cutSlowest() {
    let slowest;
    for (const connection of this.#all) {
      if (connection.out.unsent === 0) continue;
      if (!slowest || connection.out.progressAt < slowest.out.progressAt) slowest = connection;
    }
    slowest?.cut("slow", "does not take what is published");
  }
  /** Lets everybody take the last bytes, for a moment, and ends all connections. */
  async close() {
    clearInterval(this.#timer);
    const left = [...this.#all];
    if (left.length === 0) return;
    await new Promise((resolve) => {
      const force = setTimeout(() => {
        for (const connection of left) connection.socket.destroy();
        resolve();
      }, lingerMs);
      let open = left.length;
      for (const { socket, out: out2 } of left) {
        socket.once("close", () => {
          open -= 1;
          if (open > 0) return;
          clearTimeout(force);
          resolve();
        });
        socket.removeAllListeners("data");
        socket.resume();
        out2.end();
      }
    });
  }
};

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

// src/protocol/wire/link/outgoing.ts
var Outgoing = class {
  /** When the peer last took something, or something began to wait. */
  progressAt = 0;
  #socket;
  #drained;
  #queue = [];
  #queued = 0;
  #waiting = false;
  #ending = false;
  /** `drained` is called when the peer took something while more or nothing waits. */
  constructor(socket, drained) {
    this.#socket = socket;
    this.#drained = drained;
  }
  /** Bytes that the system has not taken. */
  get unsent() {
    return this.#queued + this.#socket.writableLength;
  }
  write(bytes) {
    if (this.#socket.destroyed || !this.#socket.writable) return;
    if (this.#queued > 0 || this.#socket.writableLength > 0) this.#keep(bytes);
    else this.#hand(bytes);
  }
  /** Ends the connection when the last byte has been taken. */
  end() {
    this.#ending = true;
    if (this.#queued === 0) this.#socket.end();
  }
  #keep(bytes) {
    this.#queue.push(bytes);
    this.#queued += bytes.length;
  }
  /** Most peers have room: then all of it leaves at once and nothing is kept. */
  #hand(bytes) {
    for (let at2 = 0; at2 < bytes.length; at2 += pieceBytes) {
      const end = at2 + pieceBytes;
      this.#socket.write(bytes.length <= pieceBytes ? bytes : bytes.subarray(at2, end), this.#taken);
      if (this.#socket.writableLength === 0) continue;
      if (!this.#waiting) this.progressAt = performance.now();
      this.#waiting = true;
      if (end < bytes.length) {
        this.#queue.unshift(bytes.subarray(end));
        this.#queued += bytes.length - end;
      }
      return;
    }
  }
  #taken = () => {
    if (!this.#waiting || this.#socket.writableLength > 0) return;
    this.progressAt = performance.now();
    this.#waiting = false;
    while (this.#queue.length > 0 && this.#socket.writableLength === 0) this.#hand(this.#next());
    if (this.#ending && this.#queued === 0) this.#socket.end();
    else this.#drained();
  };
  /** The next bytes to hand over; small ones are joined. */
  #next() {
    const first = this.#queue[0];
    let count = 1;
    let size = first.length;
    for (let next = this.#queue[count]; next && size + next.length <= pieceBytes; next = this.#queue[++count])
      size += next.length;
    const parts = this.#queue.splice(0, count);
    this.#queued -= size;
    return count === 1 ? first : Buffer.concat(parts, size);
  }
};

// src/protocol/wire/link/server-connection.ts
var Share = class {
  pool;
  bytes;
  constructor(pool, bytes) {
    this.pool = pool;
    this.bytes = bytes;
  }
  release() {
    this.pool.give(this.bytes);
  }
};
var ServerConnection = class {
  socket;
  guard;
  address;
  /** For logs; a transport may add what the peer says about itself. */
  peer;
  protocol;
  out;
  limits = unproven;
  inWork = 0;
  /** Requests of it that may be under way at once, where the transport has a bound of its own. */
  mostInWork = Number.POSITIVE_INFINITY;
  #ready = false;
  #since = performance.now();
  #heardAt = this.#since;
  /** When the message began that is being received; 0 between messages. */
  #messageSince = 0;
  #expected = 0;
  #share;
  #waiting;
  #pausedAt = 0;
  #taking = false;
  constructor(socket, peer, guard) {
    this.socket = socket;
    this.peer = peer;
    this.guard = guard;
    this.address = socket.remoteAddress ?? "";
    this.out = new Outgoing(socket, () => {
      this.protocol?.drained?.();
      this.update();
    });
    socket.on("error", () => void 0);
    socket.on("close", () => this.#closed());
  }
  /** Begins to read, by this protocol. */
  start(protocol) {
    this.protocol = protocol;
    this.socket.on("data", (chunk) => this.#run(chunk));
  }
  get proven() {
    return this.limits === proven;
  }
  get ready() {
    return this.#ready;
  }
  get heardAt() {
    return this.#heardAt;
  }
  /** Nothing of it is under way. */
  get idle() {
    return this.inWork === 0 && this.out.unsent === 0 && this.#messageSince === 0;
  }
  /** The handshake of the transport is complete. */
  setReady() {
    this.#ready = true;
    this.guard.readied(this);
  }
  /** The peer has shown who it is. */
  trust() {
    if (this.limits === proven) return;
    this.limits = proven;
    this.guard.trusted(this);
  }
  /** True while nothing more may be taken from this peer. */
  get blocked() {
    if (this.socket.destroyed || this.#waiting) return true;
    if (this.inWork >= Math.min(this.limits.inWorkEach, this.mostInWork)) return true;
    if (this.out.unsent > this.limits.unsentPause) return true;
    return this.guard.crowded(this);
  }
  /**
   * Asks for room for a message that will have at least `total` bytes. False: there is none now, `take` is called again
   * when there is.
   */
  admit(total) {
    this.#expected = total;
    if (total <= this.limits.freeBytes || this.#share && total <= this.#share.bytes) return true;
    const bytes = Math.max(total, Math.min(2 * (this.#share?.bytes ?? 0), this.guard.maxMessageBytes));
    const pool = this.guard.poolFor(this, bytes);
    const share = new Share(pool, bytes);
    const more = this.#share?.pool === pool ? bytes - this.#share.bytes : bytes;
    const granted = () => {
      const old = this.#share;
      if (old && old.pool !== pool) old.release();
      this.#share = share;
    };
    const later = () => {
      this.#waiting = void 0;
      granted();
      this.update();
    };
    if (pool.take(more, later)) granted();
    else this.#waiting = { pool, granted: later, since: performance.now() };
    return this.#waiting === void 0;
  }
  /** The message is complete; the part of the pool that it holds goes on with it. */
  completed() {
    const share = this.#share;
    this.#share = void 0;
    this.#messageSince = 0;
    this.#expected = 0;
    return share;
  }
  /** Goes on reading when what stood in the way is gone. */
  update() {
    if (this.#pausedAt > 0 && !this.blocked) this.#run();
  }
  write(bytes) {
    this.out.write(bytes);
    if (this.out.unsent > 0) this.guard.unsentGrew(this);
  }
  cut(kind, detail) {
    if (this.socket.destroyed) return;
    this.socket.destroy();
    this.guard.problem({ kind, peer: this.peer, detail });
  }
  #run(chunk) {
    const now = performance.now();
    if (chunk) this.#heardAt = now;
    const { protocol } = this;
    if (this.#taking || !protocol) return;
    this.#taking = true;
    try {
      if (chunk) protocol.push(chunk);
      protocol.take();
    } catch (thrown) {
      const tooLarge = thrown instanceof HaliteError && thrown.code === "codec.limit";
      this.cut(tooLarge ? "too-large" : "malformed", messageOf(thrown));
      return;
    } finally {
      this.#taking = false;
    }
    if (protocol.pending === 0) this.#messageSince = 0;
    else if (this.#messageSince === 0) this.#messageSince = now;
    this.#flow(now);
  }
  /** Pauses or resumes the socket. Time in which we did not read does not count against the peer. */
  #flow(now) {
    if (this.blocked) {
      if (this.#pausedAt > 0) return;
      this.#pausedAt = now;
      this.socket.pause();
      if (this.guard.crowded(this)) this.guard.wait(this);
    } else if (this.#pausedAt > 0) {
      const away = now - this.#pausedAt;
      this.#pausedAt = 0;
      if (this.#messageSince > 0) this.#messageSince += away;
      this.#heardAt += away;
      this.socket.resume();
    }
  }
  /** Time in which this whole process stood still is nobody's fault. */
  forgive(ms) {
    this.#since += ms;
    this.#heardAt += ms;
    if (this.#messageSince > 0) this.#messageSince += ms;
    if (this.#waiting) this.#waiting.since += ms;
    this.out.progressAt += ms;
  }
  /** Ends the connection when it is past one of its deadlines. */
  check(now, maxIdleMs) {
    const late = this.#late(now, maxIdleMs);
    if (late) this.cut(...late);
    else if (this.#pausedAt === 0) this.protocol?.tick?.(now);
  }
  #late(now, maxIdleMs) {
    const { limits, out: out2 } = this;
    if (!this.#ready && now - this.#since > this.guard.handshakeMs) return ["idle", "no handshake"];
    if (this.#waiting && now - this.#waiting.since > roomMs) return ["overload", "a message found no room"];
    if (out2.unsent > 0 && now - out2.progressAt > limits.unsentMs) return ["slow", "does not take what is sent to it"];
    const silent = now - this.#heardAt;
    if (this.#messageSince === 0) {
      return !this.proven && this.idle && silent > maxIdleMs ? ["idle", "says nothing"] : void 0;
    }
    if (this.#pausedAt > 0) return void 0;
    if (silent > limits.stalledMs) return ["idle", "stalled in a message"];
    const rate = this.#share?.pool.contended ? limits.contendedBytesPerSecond : limits.bytesPerSecond;
    const allowed = limits.messageMs + this.#expected / rate * 1e3;
    return now - this.#messageSince > allowed ? ["idle", "sends a message too slowly"] : void 0;
  }
  #closed() {
    if (this.#waiting) this.#waiting.pool.leave(this.#waiting.granted);
    this.#waiting = void 0;
    this.#share?.release();
    this.#share = void 0;
    this.guard.gone(this);
    this.protocol?.closed();
  }
};

// src/protocol/wire/link/listen.ts
function guardOf(options, port, handshakeMs2) {
  const { maxMessageBytes = defaultMaxMessageBytes, onProblem: onProblem2 } = options;
  return new PortGuard({ port, maxMessageBytes, onProblem: onProblem2, ...handshakeMs2 ? { handshakeMs: handshakeMs2 } : {} });
}
async function listenGuarded(options, port, accept, handshakeMs2) {
  const guard = guardOf(options, port, handshakeMs2);
  const onSocket = (socket) => {
    socket.setNoDelay(true);
    const connection = new ServerConnection(socket, peerOf(socket), guard);
    if (guard.add(connection)) connection.start(accept(connection));
  };
  const { tls } = options;
  const server = tls ? createTlsServer({ ...await serverTls(tls), ...keepAliveOf(options) }, onSocket) : createServer(keepAliveOf(options), onSocket);
  const handshakes = new Handshakes(guard);
  if (tls) {
    server.on("connection", (socket) => handshakes.begin(socket));
    server.prependListener("secureConnection", (socket) => handshakes.done(socket));
    server.on("tlsClientError", (error, socket) => {
      guard.problem({ kind: "malformed", peer: peerOf(socket), detail: `TLS: ${error.message}` });
      socket.destroy();
    });
  }
  return bindGuarded(server, options, guard, handshakes);
}
function keepAliveOf(options) {
  const keep = options.keepAlive;
  return { keepAlive: keep !== false, keepAliveInitialDelay: (keep ? keep.idleSeconds : 60) * 1e3 };
}
async function bindGuarded(server, options, guard, handshakes) {
  try {
    await bind(server, options, guard);
  } catch (thrown) {
    await guard.close();
    throw thrown;
  }
  const address = server.address();
  return {
    port: typeof address === "object" && address ? address.port : options.port,
    guard,
    async close() {
      const closed = new Promise((resolve) => server.close(() => resolve()));
      handshakes.destroyAll();
      await guard.close();
      await closed;
    }
  };
}
function bind(server, options, guard) {
  const host = bareHost(options.interface);
  return new Promise((resolve, reject) => {
    server.once("error", (thrown) => reject(bindError(`tcp://${endpoint(host, options.port)}`, thrown)));
    server.listen({ host, port: options.port, backlog: options.backlog ?? 1e3, ipv6Only: false }, () => {
      server.removeAllListeners("error");
      server.on("error", (thrown) => guard.problem({ kind: "overload", peer: "", detail: thrown.message }));
      resolve();
    });
  });
}
function peerOf(socket) {
  return socket.remoteAddress ? `tcp://${endpoint(socket.remoteAddress, socket.remotePort ?? 0)}` : "tcp";
}

// src/protocol/wire/link/backlog.ts
var mostItems = 1e5;
var mostBytes = 512 * 1024 * 1024;
var Backlog = class {
  items = [];
  head = 0;
  bytes = 0;
  push(targets, payload) {
    if (typeof targets !== "function" && targets.length === 0) return;
    const waiting = this.items.length - this.head;
    if (waiting >= mostItems || this.bytes + payload.length > mostBytes) {
      throw new HaliteError("codec.limit", `Too many publishes wait to be sent (${waiting})`, {
        hint: "Publish fewer jobs at once."
      });
    }
    this.items.push({ targets, payload, next: 0 });
    this.bytes += payload.length;
  }
  get waiting() {
    return this.head < this.items.length;
  }
  /** The next message, taken out; undefined when none waits. */
  take() {
    for (let item = this.items[this.head]; item; item = this.items[this.head]) {
      if (typeof item.targets === "function") item.targets = item.targets();
      const { targets, payload, next } = item;
      item.next += 1;
      if (item.next >= targets.length) this.shift(item);
      if (next < targets.length) return { target: targets[next], payload };
    }
    return void 0;
  }
  shift(item) {
    this.bytes -= item.payload.length;
    this.head += 1;
    if (this.head < this.items.length && this.head <= 4096) return;
    this.items = this.items.slice(this.head);
    this.head = 0;
  }
};

// src/protocol/wire/link/paced-queue.ts
var sliceMs = 8;
var PacedQueue = class {
  send;
  backlog = new Backlog();
  scheduled = false;
  constructor(send) {
    this.send = send;
  }
  /** Sends the first message at once when nothing waits; never blocks. */
  push(targets, payload) {
    this.backlog.push(targets, payload);
    if (this.scheduled || !this.backlog.waiting) return;
    this.sendOne();
    this.schedule();
  }
  /** Sends all that waits, whatever the pace: for the end of the daemon. */
  flush() {
    while (this.backlog.waiting) this.sendOne();
  }
  schedule() {
    this.scheduled = true;
    setImmediate(() => this.drain());
  }
  drain() {
    const until = performance.now() + sliceMs;
    while (this.backlog.waiting && performance.now() < until) this.sendOne();
    this.scheduled = false;
    if (this.backlog.waiting) this.schedule();
  }
  sendOne() {
    const message = this.backlog.take();
    if (message) this.send(message.target, message.payload);
  }
};

// src/protocol/wire/presence-topic.ts
var prefix = "halite1/";
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

// src/protocol/wire/link/presence.ts
var Presence = class {
  #options;
  #counts = /* @__PURE__ */ new Map();
  constructor(options) {
    this.#options = options;
  }
  /** Counts a text; false when it is none, or proves nothing. Who proved nothing is never told as `left` either. */
  joined(topic, peer) {
    if (!provenPresence(topic, this.#options)) return false;
    const before = this.#counts.get(topic) ?? 0;
    this.#counts.set(topic, before + 1);
    if (before === 0) tellSubscriber(this.#options, { kind: "joined", topic, peer });
    return true;
  }
  /** A text that is not subscribed to any more. */
  left(topic, peer) {
    const before = this.#counts.get(topic);
    if (before === void 0) return;
    if (before > 1) this.#counts.set(topic, before - 1);
    else {
      this.#counts.delete(topic);
      tellSubscriber(this.#options, { kind: "left", topic, peer });
    }
  }
};
function provenPresence(topic, options) {
  return readPresenceTopic(topic) !== void 0 && (options.provesPresence?.(topic) ?? true);
}
function tellSubscriber(options, event) {
  try {
    options.onSubscriber?.(event);
  } catch (thrown) {
    options.onProblem?.({ kind: "handler", peer: event.peer, detail: messageOf(thrown) });
  }
}

// src/protocol/wire/zeromq/keep-alive.ts
var requestKeepAlive = { idleSeconds: 60, count: 3, intervalSeconds: 15 };
var publishKeepAlive = { idleSeconds: 300, count: -1, intervalSeconds: -1 };

// src/protocol/wire/zeromq/topic-index.ts
var TopicIndex = class {
  /** Topics as latin1 text, one character a byte. */
  #members = /* @__PURE__ */ new Map();
  /** How many topics there are of each length: only those are looked up. */
  #lengths = /* @__PURE__ */ new Map();
  add(topic, member) {
    const members = this.#members.get(topic);
    if (members) {
      members.add(member);
      return;
    }
    this.#members.set(topic, /* @__PURE__ */ new Set([member]));
    this.#lengths.set(topic.length, (this.#lengths.get(topic.length) ?? 0) + 1);
  }
  remove(topic, member) {
    const members = this.#members.get(topic);
    if (!members?.delete(member) || members.size > 0) return;
    this.#members.delete(topic);
    const left = (this.#lengths.get(topic.length) ?? 1) - 1;
    if (left > 0) this.#lengths.set(topic.length, left);
    else this.#lengths.delete(topic.length);
  }
  /** Everybody who wants a message that begins with these bytes, once each. */
  match(start) {
    const bytes = Buffer.from(start.buffer, start.byteOffset, start.byteLength);
    const found = [];
    for (const length of this.#lengths.keys()) {
      const members = length > bytes.length ? void 0 : this.#members.get(bytes.toString("latin1", 0, length));
      if (members) found.push(members);
    }
    const [first, ...others] = found;
    if (!first) return [];
    if (others.length === 0) return [...first];
    const all = new Set(first);
    for (const members of others) for (const member of members) all.add(member);
    return [...all];
  }
};

// src/protocol/wire/zeromq/zmtp/frames.ts
var flags = { more: 1, long: 2, command: 4 };
var joinedBytes = 64 * 1024;
function frameHead(generation, length, more) {
  const flag = more ? flags.more : 0;
  if (generation === 1) {
    if (length < 254) return Buffer.from([length + 1, flag]);
    const head2 = Buffer.alloc(10);
    head2[0] = 255;
    head2.writeBigUInt64BE(BigInt(length + 1), 1);
    head2[9] = flag;
    return head2;
  }
  if (length < 256) return Buffer.from([flag, length]);
  const head = Buffer.alloc(9);
  head[0] = flag | flags.long;
  head.writeBigUInt64BE(BigInt(length), 1);
  return head;
}
function encodeMessage(generation, frames) {
  const parts = [];
  const last = frames.length - 1;
  for (let i = 0; i <= last; i++) {
    const frame = frames[i];
    parts.push(frameHead(generation, frame.length, i < last), frame);
  }
  const content = parts.pop();
  const head = Buffer.concat(parts);
  return content.length > joinedBytes ? [head, content] : [Buffer.concat([head, content])];
}

// src/protocol/wire/zeromq/zmtp/commands.ts
var maxContext = 16;
function readCommand(frame) {
  const size = frame[0];
  if (size === void 0 || size === 0 || 1 + size > frame.length) throw malformed("a command has no name");
  return { name: frame.toString("latin1", 1, 1 + size), body: frame.subarray(1 + size) };
}
function commandFrame(name, body) {
  return Buffer.concat([
    Buffer.from([flags.command, 1 + name.length + body.length, name.length]),
    Buffer.from(name),
    body
  ]);
}
function property(name, value) {
  const size = Buffer.alloc(4);
  size.writeUInt32BE(value.length);
  return Buffer.concat([Buffer.from([name.length]), Buffer.from(name), size, Buffer.from(value)]);
}
function readyCommand(own) {
  return commandFrame("READY", Buffer.concat([property("Socket-Type", own.name), property("Identity", "")]));
}
function errorCommand(reason) {
  return commandFrame("ERROR", Buffer.concat([Buffer.from([reason.length]), Buffer.from(reason)]));
}
var pingCommand = commandFrame("PING", Buffer.alloc(2));
function readPing(body) {
  if (body.length < 2) throw malformed("a PING has no time to live");
  if (body.length > 2 + maxContext) throw malformed("a PING has too long a context");
  return { ttlMs: body.readUInt16BE(0) * 100, pong: commandFrame("PONG", body.subarray(2)) };
}
function readReady(body) {
  let socketType = "";
  let identity = Buffer.alloc(0);
  let at2 = 0;
  while (at2 < body.length) {
    const nameEnd = at2 + 1 + body[at2];
    if (nameEnd === at2 + 1 || nameEnd + 4 > body.length) throw malformed("a property of READY is cut");
    const name = body.toString("latin1", at2 + 1, nameEnd).toLowerCase();
    const end = nameEnd + 4 + body.readUInt32BE(nameEnd);
    if (end > body.length) throw malformed("a property of READY is cut");
    const value = body.subarray(nameEnd + 4, end);
    if (name === "socket-type") socketType = value.toString("latin1");
    else if (name === "identity") identity = value;
    at2 = end;
  }
  if (identity.length > 255) throw malformed("an identity is too long");
  return { socketType, identity };
}
function malformed(what) {
  return new HaliteError("codec.malformed", `Not valid ZMTP: ${what}`);
}

// src/protocol/wire/zeromq/zmtp/greeting.ts
var routerType = { name: "ROUTER", number: 6, accepts: /* @__PURE__ */ new Set(["REQ", "DEALER", "ROUTER"]) };
var xpubType = { name: "XPUB", number: 9, accepts: /* @__PURE__ */ new Set(["SUB", "XSUB"]) };
var signatureBytes = 10;
var fullBytes = 64;
var version2Bytes = 12;
var signature = Buffer.from([255, 0, 0, 0, 0, 0, 0, 0, 1, 127]);
var rest3 = Buffer.alloc(fullBytes - signatureBytes);
rest3.set([3, 1, ...Buffer.from("NULL")]);
function readGreeting(bytes) {
  if (bytes.length === 0) return void 0;
  if (bytes[0] !== 255) return { generation: 1, minor: 0, unversioned: true, length: 0 };
  if (bytes.length < signatureBytes) return void 0;
  if ((bytes[9] & 1) === 0) return { generation: 1, minor: 0, unversioned: true, length: 0 };
  const major = bytes[10];
  if (major === void 0 || bytes.length < version2Bytes) return void 0;
  if (major === 0) return { generation: 1, minor: 0, unversioned: false, length: version2Bytes };
  if (major < 3) return { generation: 2, minor: 0, unversioned: false, length: version2Bytes };
  if (bytes.length < fullBytes) return void 0;
  const mechanism = bytes.toString("latin1", 12, 32).replace(/\0+$/, "");
  if (mechanism !== "NULL") throw new HaliteError("codec.malformed", "The peer asks for a mechanism other than NULL");
  return { generation: 3, minor: bytes[11], unversioned: false, length: fullBytes };
}
var GreetingAnswer = class {
  #own;
  #sent = "signature";
  constructor(own) {
    this.#own = own;
  }
  /** The bytes that may be sent after what has come so far; empty when there are none. */
  next(bytes) {
    const parts = [];
    const versioned = bytes.length >= signatureBytes && bytes[0] === 255 && (bytes[9] & 1) === 1;
    if (versioned && this.#sent === "signature") {
      this.#sent = "version";
      parts.push(rest3.subarray(0, 1));
    }
    const major = bytes[10];
    if (this.#sent === "version" && major !== void 0) {
      this.#sent = "all";
      parts.push(major < 3 ? Buffer.from([this.#own.number]) : rest3.subarray(1));
    }
    return Buffer.concat(parts);
  }
};

// src/protocol/wire/link/gather.ts
var empty = Buffer.alloc(0);
var smallest = 512;
var Gather = class {
  #buffer = empty;
  #held = 0;
  get length() {
    return this.#held;
  }
  /** Copies `chunk`; `expected` is the size that the whole will have, as far as it is known. */
  add(chunk, expected) {
    const needed = this.#held + chunk.length;
    if (needed > this.#buffer.length) this.#grow(needed, expected);
    chunk.copy(this.#buffer, this.#held);
    this.#held = needed;
  }
  /** The whole; the next message begins with nothing. */
  take() {
    const whole = this.#buffer.subarray(0, this.#held);
    this.#buffer = empty;
    this.#held = 0;
    return whole;
  }
  /** Four times what has come, up to the expected size: few copies, and never much more than one message in memory. */
  #grow(needed, expected) {
    const wanted = Math.max(expected, Math.ceil(needed * 1.5));
    const size = Math.max(needed, Math.min(wanted, Math.max(needed * 4, smallest)));
    const larger = Buffer.allocUnsafeSlow(size);
    this.#buffer.copy(larger, 0, 0, this.#held);
    this.#buffer = larger;
  }
};

// src/protocol/wire/zeromq/zmtp/frame-reader.ts
var empty2 = Buffer.alloc(0);
var FrameReader = class {
  #generation;
  /** Bytes that were pushed, and how many of them have been taken. */
  #chunk = empty2;
  #at = 0;
  #head;
  #gather = new Gather();
  #skipped = 0;
  constructor(generation) {
    this.#generation = generation;
  }
  push(chunk) {
    this.#chunk = this.#left === 0 ? chunk : Buffer.concat([this.#chunk.subarray(this.#at), chunk]);
    this.#at = 0;
  }
  get #left() {
    return this.#chunk.length - this.#at;
  }
  /** Bytes of a frame that is not complete, or that nobody has asked for. */
  get pending() {
    return this.#left + this.#gather.length + this.#skipped + (this.#head ? 1 : 0);
  }
  /** The head of the frame that comes next; undefined when it is not there. */
  head() {
    this.#head ??= this.#generation === 1 ? this.#readHead1() : this.#readHead2();
    return this.#head;
  }
  /** The content of the frame whose head was seen, when all of it is there. What comes in pieces is put together. */
  body() {
    const { length } = this.#head;
    const held = this.#gather.length;
    if (held === 0 && this.#left >= length) {
      this.#head = void 0;
      return this.#cut(length);
    }
    this.#gather.add(this.#cut(Math.min(length - held, this.#left)), length);
    if (this.#gather.length < length) return void 0;
    this.#head = void 0;
    return this.#gather.take();
  }
  /** Passes over the content of the frame whose head was seen, keeping nothing; false when more has to come. */
  skip() {
    const { length } = this.#head;
    const step = Math.min(length - this.#skipped, this.#left);
    this.#cut(step);
    this.#skipped += step;
    if (this.#skipped < length) return false;
    this.#skipped = 0;
    this.#head = void 0;
    return true;
  }
  #cut(count) {
    const start = this.#at;
    const chunk = this.#chunk;
    this.#at += count;
    if (this.#at === chunk.length) {
      this.#chunk = empty2;
      this.#at = 0;
    }
    return count === 0 ? empty2 : chunk.subarray(start, start + count);
  }
  #readHead1() {
    const first = this.#chunk[this.#at];
    if (first === void 0) return void 0;
    const width = first === 255 ? 9 : 1;
    if (this.#left < width + 1) return void 0;
    const length = width === 1 ? first : Number(this.#chunk.readBigUInt64BE(this.#at + 1));
    if (length === 0) throw malformed("a frame without flags");
    const flag = this.#chunk[this.#at + width];
    this.#cut(width + 1);
    return { length: length - 1, more: (flag & flags.more) !== 0, command: false };
  }
  #readHead2() {
    const flag = this.#chunk[this.#at];
    if (flag === void 0) return void 0;
    if (flag > 7 || (flag & 5) === 5) throw malformed("a frame has unknown flags");
    if (this.#generation === 2 && (flag & flags.command) !== 0) throw malformed("a command in ZMTP 2.0");
    const width = (flag & flags.long) === 0 ? 1 : 8;
    if (this.#left < 1 + width) return void 0;
    const at2 = this.#at + 1;
    const length = width === 1 ? this.#chunk[at2] : Number(this.#chunk.readBigUInt64BE(at2));
    this.#cut(1 + width);
    return { length, more: (flag & flags.more) !== 0, command: (flag & flags.command) !== 0 };
  }
};

// src/protocol/wire/zeromq/zmtp/peer.ts
var maxCommandBytes = 8192;
var maxIdentityBytes = 255;
var heartbeatMs = 1e4;
var heartbeatTimeoutMs = 3e4;
var none = Buffer.alloc(0);
var ZmtpPeer = class {
  connection;
  /** Of ZMTP 1.0 without a signature: such peers (libzmq 2.x) filter what is published to them themselves. */
  unversioned = false;
  #role;
  #answer;
  #greetingBytes = none;
  #greeting;
  #reader;
  #frames = [];
  #total = 0;
  #tooLarge = false;
  /** The frame whose head has been judged. */
  #judged;
  #ttlMs = 0;
  #pings = false;
  #pingedAt = 0;
  constructor(connection, role) {
    this.connection = connection;
    this.#role = role;
    this.#answer = new GreetingAnswer(role.type);
    connection.write(signature);
  }
  get pending() {
    return (this.#reader?.pending ?? 0) + this.#total + this.#greetingBytes.length;
  }
  get generation() {
    return this.#greeting?.generation ?? 3;
  }
  send(frames) {
    for (const part of encodeMessage(this.generation, frames)) this.connection.write(part);
  }
  push(chunk) {
    if (this.#reader) this.#reader.push(chunk);
    else this.#greetingBytes = Buffer.concat([this.#greetingBytes, chunk]);
  }
  take() {
    const reader = this.#reader ?? this.#greet();
    if (!reader) return;
    while (!this.connection.blocked) {
      const head = reader.head();
      if (!head) return;
      if (this.#judged !== head) {
        this.#judge(head);
        this.#judged = head;
      }
      if (this.#tooLarge && !head.command) {
        if (!reader.skip()) return;
        this.#frame(none, head);
        continue;
      }
      if (!head.command && !this.connection.admit(this.#total)) return;
      const body = reader.body();
      if (!body) return;
      if (head.command) this.#command(body);
      else this.#frame(body, head);
    }
  }
  /** The greeting, in any pieces; gives the reader of what follows when it is complete. */
  #greet() {
    const next = this.#answer.next(this.#greetingBytes);
    if (next.length > 0) this.connection.write(next);
    const greeting = readGreeting(this.#greetingBytes);
    if (!greeting) return void 0;
    this.#greeting = greeting;
    this.unversioned = greeting.unversioned;
    if (greeting.generation === 3) this.connection.write(readyCommand(this.#role.type));
    else if (!greeting.unversioned) this.send([none]);
    this.#reader = new FrameReader(greeting.generation);
    this.#reader.push(this.#greetingBytes.subarray(greeting.length));
    this.#greetingBytes = none;
    return this.#reader;
  }
  /** Decides by its head what becomes of a frame. */
  #judge(head) {
    if (head.command) {
      if (head.length > maxCommandBytes) throw malformed("a command is too long");
      if (this.#frames.length > 0) throw malformed("a command inside a message");
      return;
    }
    if (!this.connection.ready) {
      if (this.generation === 3) throw malformed("a message before READY");
      if (head.length > maxIdentityBytes) throw malformed("an identity is too long");
      return;
    }
    const total = this.#total + head.length + 1;
    if (total > this.#role.hardBytes) {
      throw new HaliteError("codec.limit", `A message is larger than ${this.#role.hardBytes} bytes`);
    }
    if (this.#frames.length >= this.#role.maxFrames) throw malformed("a message has too many frames");
    this.#total = total;
    if (total > this.#role.maxBytes) this.#tooLarge = true;
  }
  #frame(body, head) {
    this.#frames.push(body);
    if (head.more) return;
    const frames = this.#frames;
    const tooLarge = this.#tooLarge ? this.#total : 0;
    this.#frames = [];
    this.#total = 0;
    this.#tooLarge = false;
    if (this.connection.ready) this.#role.message(this, frames, tooLarge);
    else this.#ready(body);
  }
  #ready(identity) {
    const text = identity.toString("latin1");
    if (/^[\x21-\x7e]{1,200}$/.test(text)) this.connection.peer += ` (${text})`;
    this.connection.setReady();
    this.connection.completed();
    this.#role.ready(this);
  }
  #command(frame) {
    const { name, body } = readCommand(frame);
    if (name === "ERROR") throw new HaliteError("wire.closed", "The peer refused the handshake");
    if (!this.connection.ready) this.#handshake(name, body);
    else if (name === "PING") {
      const { ttlMs, pong } = readPing(body);
      this.#ttlMs = ttlMs;
      this.#pings = true;
      this.connection.write(pong);
    } else if (name !== "PONG") this.#role.command(this, name, body);
  }
  #handshake(name, body) {
    if (name !== "READY") throw malformed("a command before READY");
    const { socketType, identity } = readReady(body);
    if (!this.#role.type.accepts.has(socketType)) {
      this.connection.write(errorCommand(`This port is for ${[...this.#role.type.accepts].join(", ")} sockets`));
      throw malformed("a socket of this type does not belong on this port");
    }
    this.#ready(identity);
  }
  tick(now) {
    const { heardAt, out: out2 } = this.connection;
    const silent = now - heardAt;
    const unanswered = this.#pingedAt > heardAt;
    if (this.#ttlMs > 0 && silent > this.#ttlMs) this.connection.cut("idle", "is not heard of any more");
    else if (!this.#canAnswer) return;
    else if (unanswered && now - this.#pingedAt > heartbeatTimeoutMs - heartbeatMs) {
      this.connection.cut("idle", "answers no heartbeat");
    } else if (!unanswered && silent > heartbeatMs && out2.unsent === 0) {
      this.#pingedAt = now;
      this.connection.write(pingCommand);
    }
  }
  /** Peers before ZMTP 3.1 may take a PING for a message: they get one only when they sent one. */
  get #canAnswer() {
    const greeting = this.#greeting;
    if (!this.#role.heartbeat || !this.connection.ready || greeting?.generation !== 3) return false;
    return greeting.minor > 0 || this.#pings;
  }
  drained() {
    this.#role.drained?.(this);
  }
  closed() {
    this.#frames = [];
    this.#role.closed(this);
  }
};

// src/protocol/wire/zeromq/publisher.ts
var MAX_SUBSCRIPTION_BYTES = 4096;
var MAX_TOPICS = 64;
var MAX_TOPIC_BYTES = 16 * 1024;
var MAX_CHANGES = 1e3;
var MINUTE_MS = 6e4;
function minionTopic(id) {
  return createHash("sha1").update(id).digest("hex");
}
async function listenPublish(options) {
  const index = new TopicIndex();
  const waiting = new Waiting();
  const presence = new Presence(options);
  const subscribers = /* @__PURE__ */ new Map();
  const queue = new PacedQueue((subscriber, frame) => subscriber.delivery.send(frame));
  const role = {
    type: xpubType,
    maxFrames: 1,
    maxBytes: MAX_SUBSCRIPTION_BYTES,
    hardBytes: MAX_SUBSCRIPTION_BYTES,
    heartbeat: options.heartbeat !== false,
    ready(peer) {
      const delivery = new Delivery(peer.connection, waiting, options.hwm, Math.min(peer.generation, 2));
      const subscriber = new Subscriber(peer, delivery, index, presence);
      subscribers.set(peer, subscriber);
      if (peer.unversioned) subscriber.change(true, Buffer.alloc(0));
    },
    message(peer, [frame]) {
      peer.connection.completed();
      const sign = frame?.[0];
      if (frame && (sign === 0 || sign === 1)) subscribers.get(peer)?.change(sign === 1, frame.subarray(1));
    },
    command(peer, name, body) {
      if (name === "SUBSCRIBE" || name === "CANCEL") subscribers.get(peer)?.change(name === "SUBSCRIBE", body);
    },
    drained: (peer) => subscribers.get(peer)?.delivery.drained(),
    closed(peer) {
      subscribers.get(peer)?.closed();
      subscribers.delete(peer);
    }
  };
  const server = await listenGuarded(
    { keepAlive: publishKeepAlive, ...options, tls: void 0 },
    "publish",
    (connection) => new ZmtpPeer(connection, role)
  );
  return {
    port: server.port,
    publish(payload, ids) {
      if (!options.filtering) return queue.push(() => index.match(payload), frameOf([payload]));
      for (const topic of topicsOf(ids, options)) {
        const start = Buffer.from(topic);
        queue.push(() => index.match(start), frameOf([start, payload]));
      }
    },
    async close() {
      queue.flush();
      await server.close();
    }
  };
}
function topicsOf(ids, options) {
  if (!ids?.length) return ["broadcast"];
  return [...ids.map(minionTopic), ...options.syndics ? ["syndic"] : []];
}
function frameOf(frames) {
  let length = 0;
  for (const frame of frames) length += frame.length;
  return new SharedFrame(length, (form) => Buffer.concat(encodeMessage(form, frames)));
}
var Subscriber = class {
  delivery;
  #peer;
  #index;
  #presence;
  /** With whether the topic is a presence text that was proven. */
  #topics = /* @__PURE__ */ new Map();
  #topicBytes = 0;
  #changes = 0;
  #changesSince = 0;
  constructor(peer, delivery, index, presence) {
    this.#peer = peer;
    this.delivery = delivery;
    this.#index = index;
    this.#presence = presence;
  }
  /** Throws when it is too much: that ends the connection. */
  change(subscribe2, bytes) {
    this.#countChange();
    const topic = bytes.toString("latin1");
    if (subscribe2 === this.#topics.has(topic)) return;
    if (subscribe2) {
      this.#topicBytes += topic.length;
      if (this.#topics.size >= MAX_TOPICS || this.#topicBytes > MAX_TOPIC_BYTES)
        throw malformed("too many subscriptions");
      this.#index.add(topic, this);
      const present = this.#presence.joined(bytes.toString("utf8"), this.#peer.connection.peer);
      this.#topics.set(topic, present);
      if (present) this.#peer.connection.trust();
    } else this.#drop(topic, this.#topics.get(topic) === true);
  }
  closed() {
    for (const [topic, present] of this.#topics) this.#drop(topic, present);
    this.delivery.closed();
  }
  #drop(topic, present) {
    this.#topics.delete(topic);
    this.#topicBytes -= topic.length;
    this.#index.remove(topic, this);
    if (present) this.#presence.left(Buffer.from(topic, "latin1").toString("utf8"), this.#peer.connection.peer);
  }
  #countChange() {
    const now = performance.now();
    if (now - this.#changesSince > MINUTE_MS) {
      this.#changesSince = now;
      this.#changes = 0;
    }
    this.#changes += 1;
    if (this.#changes > MAX_CHANGES) throw malformed("too many changes of subscriptions");
  }
};

// src/protocol/wire/zeromq/request-client.ts
import { Dealer } from "zeromq";

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

// src/base/util/yaml-key.ts
var WORDS2 = new Map([
  ...["~", "null", "Null", "NULL", "None"].map((word) => [word, null]),
  ...["true", "yes", "on"].flatMap((word) => casesOf(word).map((form) => [form, true])),
  ...["false", "no", "off"].flatMap((word) => casesOf(word).map((form) => [form, false]))
]);
function casesOf(word) {
  return [word, word[0]?.toUpperCase() + word.slice(1), word.toUpperCase()];
}

// src/base/util/jid.ts
function ticks() {
  const [seconds, nanos] = process.hrtime();
  return seconds * 1e3 + nanos / 1e6;
}
var offset = Date.now() - ticks();

// src/protocol/wire/link/request-pool.ts
var MAX_TIMER_MS = 2 ** 31 - 1;
var MAX_TRIES = 3;
var RequestPool = class {
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
    return new Promise((resolve, reject) => {
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
          else resolve(result);
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

// src/protocol/wire/link/deferred.ts
function deferred() {
  let resolve = () => void 0;
  let reject = () => void 0;
  const promise = new Promise((yes, no) => {
    resolve = yes;
    reject = no;
  });
  return { promise, resolve, reject };
}

// src/protocol/wire/zeromq/connect.ts
var NEVER_MS = 2 ** 31 - 1;
var singleUse = { reconnectInterval: NEVER_MS, linger: 0, connectTimeout: 1e4 };
var HANDSHAKE_MS = 15e3;
async function connect(target, attempt, make, signal) {
  const { address, family } = await resolveAddress(target.host, target.ipv6 === true, attempt);
  if (signal?.aborted) throw new HaliteError("wire.closed", "closed by its owner");
  const remote = endpoint(address, target.port);
  const socket = make(family);
  const ready = deferred();
  const gone = deferred();
  const lose = (reason) => {
    ready.reject(new HaliteError("wire.closed", `${remote}: ${reason}`));
    gone.resolve(`${remote}: ${reason}`);
  };
  observe(socket, () => ready.resolve(), lose);
  const timer = setTimeout(() => lose("no ZeroMQ handshake"), HANDSHAKE_MS);
  const onAbort = () => lose("closed by its owner");
  signal?.addEventListener("abort", onAbort, { once: true });
  try {
    socket.connect(`tcp://${source(target)}${remote}`);
    await ready.promise;
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

// src/protocol/wire/zeromq/settings.ts
import { context } from "zeromq";
context.maxSockets = 16384;
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

// src/protocol/wire/zeromq/request-client.ts
var MAX_LINKS = 16;
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

// src/protocol/wire/link/server-request.ts
var ServerRequest = class {
  payload;
  #connection;
  #share;
  #kind;
  #send;
  #answered = false;
  /** `send` writes the reply in the form of the transport. */
  constructor(connection, payload, send) {
    this.payload = payload;
    this.#connection = connection;
    this.#share = connection.completed();
    this.#kind = connection.guard.begun(connection);
    this.#send = send;
  }
  get peer() {
    return this.#connection.peer;
  }
  trust() {
    this.#connection.trust();
  }
  reply(answer) {
    if (this.#answered) return;
    this.#answered = true;
    const connection = this.#connection;
    if (!connection.socket.destroyed) this.#send(answer);
    this.#share?.release();
    connection.guard.ended(connection, this.#kind);
    connection.update();
  }
  /** Gives it to its handler; whatever happens there, it is answered. */
  serve(handler) {
    try {
      handler(this);
    } catch (thrown) {
      this.#connection.guard.problem({ kind: "handler", peer: this.peer, detail: messageOf(thrown) });
      this.reply(serverError);
    }
  }
};

// src/protocol/wire/zeromq/request-server.ts
var MAX_HOPS = 8;
var MAX_FRAMES = 16;
async function listenRequests(options, handler) {
  const limit = options.maxMessageBytes ?? defaultMaxMessageBytes;
  const role = {
    type: routerType,
    maxFrames: MAX_FRAMES,
    // Room for the route around the largest payload.
    maxBytes: limit + 4096,
    hardBytes: limit * 2 + 4096,
    heartbeat: false,
    ready: () => void 0,
    command: () => void 0,
    closed: () => void 0,
    message: (peer, frames, tooLarge) => serve(peer, frames, tooLarge, limit, handler)
  };
  return listenGuarded({ keepAlive: requestKeepAlive, ...options, tls: void 0 }, "request", (connection) => {
    return new ZmtpPeer(connection, role);
  });
}
function serve(peer, frames, tooLarge, limit, handler) {
  const { connection } = peer;
  const at2 = delimiter(frames);
  const payload = frames[at2 + 1];
  if (at2 < 0 || payload === void 0 || frames.length !== at2 + 2) {
    connection.completed()?.release();
    const detail = `a message of ${frames.length} frames is no request`;
    connection.guard.problem({ kind: "malformed", peer: connection.peer, detail });
    return;
  }
  const route = frames.slice(0, at2 + 1);
  const request = new ServerRequest(connection, payload, (answer) => peer.send([...route, answer]));
  if (tooLarge > 0 || payload.length > limit) {
    const detail = `a request of ${Math.max(tooLarge, payload.length)} bytes`;
    connection.guard.problem({ kind: "too-large", peer: connection.peer, detail });
    request.reply(badLoad);
  } else request.serve(handler);
}
function delimiter(frames) {
  const end = Math.min(frames.length, MAX_HOPS + 1);
  for (let i = 0; i < end; i++) if (frames[i]?.length === 0) return i;
  return -1;
}

// src/protocol/wire/zeromq/subscriber.ts
import { Subscriber as Subscriber2 } from "zeromq";

// src/protocol/wire/link/keep-connected.ts
import { setTimeout as delay } from "node:timers/promises";
function keepConnected(options) {
  const abort = new AbortController();
  void run(options, abort.signal);
  return { close: () => abort.abort() };
}
async function run(options, signal) {
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

// src/protocol/wire/zeromq/subscriber.ts
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
    const reading = read2(socket, own, options);
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
  const socket = new Subscriber2({
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
async function read2(socket, own, options) {
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

// src/protocol/wire/zeromq.ts
var zeromqTransport = { name: "zeromq", listenRequests, listenPublish, dial, subscribe };

// ../../../tmp/transport-int/server.ts
var onProblem = (p2) => console.log("problem", JSON.stringify(p2));
var s = await zeromqTransport.listenRequests({ interface: "127.0.0.1", port: 28580, onProblem }, (r) => {
  r.reply(Buffer.from(r.payload).toString() === "who" ? Buffer.from(r.peer) : r.payload);
});
var p = await zeromqTransport.listenPublish({ interface: "127.0.0.1", port: 28581, hwm: 1e3, onProblem });
setInterval(() => {
  p.publish(Buffer.from("alpha one"));
  p.publish(Buffer.from("beta two"));
  p.publish(Buffer.concat([Buffer.from("gamma"), Buffer.alloc(4e5)]));
}, 100);
setTimeout(() => process.exit(0), 6e4);
