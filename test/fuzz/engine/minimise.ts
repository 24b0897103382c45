// Finds smaller inputs with the same effect.

/** Leaves out pieces, then makes the rest plain, as long as `same` says yes. At most `tries` questions. */
export async function minimise(
  input: Uint8Array,
  same: (candidate: Uint8Array) => Promise<boolean>,
  tries = 2000,
): Promise<Uint8Array> {
  let best = input;
  let left = tries;
  const attempt = async (candidate: Uint8Array): Promise<boolean> => {
    if (left-- <= 0 || !(await same(candidate))) return false;
    best = candidate;
    return true;
  };
  for (let size = Math.max(1, best.length >> 1); left > 0; size >>= 1) {
    for (let at = 0; at < best.length && left > 0; ) {
      const shorter = Buffer.concat([best.subarray(0, at), best.subarray(at + size)]);
      if (!(await attempt(shorter))) at += size;
    }
    if (size <= 1) break;
  }
  for (let at = 0; at < best.length && left > 0; at++) {
    if (best[at] === 0x61) continue;
    const plainer = Uint8Array.from(best);
    plainer[at] = 0x61;
    await attempt(plainer);
  }
  return best;
}
