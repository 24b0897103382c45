// The header of an RPM package: an index of tags, and a store with their values.

/** Types of values: number, size of one, alignment. */
const types = {
  int16: { code: 3, size: 2, write: (buffer, value, at) => buffer.writeUInt16BE(value, at) },
  int32: { code: 4, size: 4, write: (buffer, value, at) => buffer.writeUInt32BE(value, at) },
  text: { code: 6 },
  bytes: { code: 7 },
  texts: { code: 8 },
  localText: { code: 9 },
};

function encode(type, value) {
  if (type === 'bytes') return { data: value, count: value.length };
  if (type === 'text' || type === 'localText') return { data: Buffer.from(`${value}\0`), count: 1 };
  if (type === 'texts') return { data: Buffer.from(value.map((text) => `${text}\0`).join('')), count: value.length };
  const { size, write } = types[type];
  const data = Buffer.alloc(size * value.length);
  for (const [at, item] of value.entries()) write(data, item, at * size);
  return { data, count: value.length };
}

/**
 * `tags`: number, type and value. `region`: the tag that says which part is signed, here all of it; its entry comes first,
 * its data, an entry that points back, last.
 */
export function header(region, tags) {
  const index = [];
  const store = [];
  let at = 0;
  for (const [tag, type, value] of [...tags].sort(([one], [other]) => one - other)) {
    const { data, count } = encode(type, value);
    const gap = (types[type].size ?? 1) - 1;
    const start = (at + gap) & ~gap;
    store.push(Buffer.alloc(start - at), data);
    index.push([tag, types[type].code, start, count]);
    at = start + data.length;
  }
  const entry = (tag, type, offset, count) => {
    const buffer = Buffer.alloc(16);
    for (const [word, value] of [tag, type, offset, count].entries()) buffer.writeInt32BE(value, word * 4);
    return buffer;
  };
  const all = [[region, types.bytes.code, at, 16], ...index];
  store.push(entry(region, types.bytes.code, -16 * all.length, 16));
  const intro = Buffer.alloc(16);
  intro.writeUInt32BE(0x8eade801, 0);
  intro.writeUInt32BE(all.length, 8);
  intro.writeUInt32BE(at + 16, 12);
  return Buffer.concat([intro, ...all.map((fields) => entry(...fields)), ...store]);
}

/** What begins a package; programs of today read only the first bytes. */
export function lead(name, architecture) {
  const buffer = Buffer.alloc(96);
  buffer.writeUInt32BE(0xedabeedb, 0);
  buffer.writeUInt8(3, 4);
  buffer.writeUInt16BE({ x64: 1, arm64: 19 }[architecture], 8);
  buffer.write(name.slice(0, 65), 10);
  buffer.writeUInt16BE(1, 76);
  buffer.writeUInt16BE(5, 78);
  return buffer;
}
