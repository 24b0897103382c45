// Debian package versions: order and conditions.

/** Weight of a character where no digits are: `~` before everything, then the end, letters, and the rest. */
function weight(char: string | undefined): number {
  if (char === undefined || /\d/.test(char)) return 0;
  if (char === '~') return -1;
  return /[a-zA-Z]/.test(char) ? char.charCodeAt(0) : char.charCodeAt(0) + 256;
}

function compareParts(a: string, b: string): number {
  let [i, j] = [0, 0];
  while (i < a.length || j < b.length) {
    while ((i < a.length && !/\d/.test(a.charAt(i))) || (j < b.length && !/\d/.test(b.charAt(j)))) {
      const difference = weight(a[i]) - weight(b[j]);
      if (difference !== 0) return difference;
      i++;
      j++;
    }
    const left = /^\d*/.exec(a.slice(i))?.[0] ?? '';
    const right = /^\d*/.exec(b.slice(j))?.[0] ?? '';
    const difference = BigInt(left || 0) - BigInt(right || 0);
    if (difference !== 0n) return difference < 0n ? -1 : 1;
    i += left.length;
    j += right.length;
  }
  return 0;
}

function split(version: string): [number, string, string] {
  const epoch = /^(\d+):/.exec(version);
  const rest = epoch ? version.slice(epoch[0].length) : version;
  const dash = rest.lastIndexOf('-');
  return [Number(epoch?.[1] ?? 0), dash < 0 ? rest : rest.slice(0, dash), dash < 0 ? '' : rest.slice(dash + 1)];
}

/** -1, 0 or 1, as `dpkg --compare-versions` orders them. */
export function compareVersions(a: string, b: string): -1 | 0 | 1 {
  const [left, right] = [split(a.trim()), split(b.trim())];
  const order = left[0] - right[0] || compareParts(left[1], right[1]) || compareParts(left[2], right[2]);
  return order < 0 ? -1 : order > 0 ? 1 : 0;
}

/** Whether a version meets a condition such as `>=1.2`; without an operator it must be equal. */
export function fitsVersion(version: string, condition: string, ignoreEpoch = false): boolean {
  const match = /^\s*(<=|>=|==|!=|<|>|=)?\s*(.*)$/s.exec(condition);
  const bare = (text: string): string => (ignoreEpoch ? text.replace(/^\d+:/, '') : text);
  const order = compareVersions(bare(version), bare((match?.[2] ?? '').trim()));
  switch (match?.[1] ?? '=') {
    case '<':
      return order < 0;
    case '<=':
      return order <= 0;
    case '>':
      return order > 0;
    case '>=':
      return order >= 0;
    case '!=':
      return order !== 0;
    default:
      return order === 0;
  }
}

/** The newest candidate that meets all conditions (comma-separated). */
export function newestFitting(
  conditions: string,
  candidates: readonly string[],
  ignoreEpoch: boolean,
): string | undefined {
  const wanted = conditions.split(',').filter((part) => part.trim() !== '');
  return [...candidates]
    .sort((a, b) => compareVersions(b, a))
    .find((version) => wanted.every((condition) => fitsVersion(version, condition, ignoreEpoch)));
}
