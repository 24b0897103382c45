// Indents JSON text, one line per value, without parsing the values.
const [quote, backslash, colon, comma, space, lineEnd] = [34, 92, 58, 44, 32, 10];
const [openMap, closeMap, openList, closeList] = [123, 125, 91, 93];

/** Formats as Python's `json.dumps(value, indent=…)` does; the text must be JSON whose only white space is spaces. */
export function indentJson(source: Uint8Array, indent: number): Buffer {
  const end = source.length;
  let out: Buffer = Buffer.allocUnsafeSlow(end * 2 + 64);
  let at = 0;
  let depth = 0;
  for (let i = 0; i < end; i++) {
    const byte = source[i] as number;
    if (byte === quote) {
      out[at++] = byte;
      while (++i < end) {
        const inside = source[i] as number;
        out[at++] = inside;
        if (inside === quote) break;
        if (inside === backslash) out[at++] = source[++i] as number;
      }
      continue;
    }
    if (byte === space) continue;
    const opens = byte === openMap || byte === openList;
    const closes = byte === closeMap || byte === closeList;
    if (!closes) out[at++] = byte;
    if (byte === colon) out[at++] = space;
    if (!opens && !closes && byte !== comma) continue;
    const next = source[i + 1];
    if (opens && (next === closeMap || next === closeList)) {
      out[at++] = next;
      i++;
      continue;
    }
    if (opens) depth++;
    if (closes) depth--;
    const width = indent * depth;
    // Always leaves enough space for the unchanged rest: only line breaks make the text longer.
    if (out.length - at < end - i + width + 16) out = grown(out, at, width);
    out[at++] = lineEnd;
    for (let column = 0; column < width; column++) out[at++] = space;
    if (closes) out[at++] = byte;
  }
  return out.subarray(0, at);
}

function grown(old: Buffer, used: number, more: number): Buffer {
  const larger = Buffer.allocUnsafeSlow(old.length * 2 + more);
  old.copy(larger, 0, 0, used);
  return larger;
}
