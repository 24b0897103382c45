// Versions of Python packages: their order, and whether one meets conditions such as `>=1.2,!=1.3`.

interface Version {
  readonly epoch: number;
  readonly release: readonly number[];
  readonly pre: readonly [string, number] | undefined;
  readonly post: number | undefined;
  readonly dev: number | undefined;
  readonly local: readonly (string | number)[] | undefined;
}

export interface Condition {
  readonly operator: string;
  readonly version: string;
}

const pattern =
  /^\s*v?(?:(\d+)!)?(\d+(?:\.\d+)*)(?:[-_.]?(alpha|a|beta|b|preview|pre|c|rc)[-_.]?(\d+)?)?(?:-(\d+)|[-_.]?(post|rev|r)[-_.]?(\d+)?)?(?:[-_.]?(dev)[-_.]?(\d+)?)?(?:\+([a-z0-9]+(?:[-_.][a-z0-9]+)*))?\s*$/i;
const preNames: Readonly<Record<string, string>> = { alpha: 'a', beta: 'b', c: 'rc', pre: 'rc', preview: 'rc' };

function parse(text: string): Version | undefined {
  const match = pattern.exec(text);
  if (!match) return undefined;
  const [, epoch, release, preName, preNumber, dashed, postName, postNumber, devName, devNumber, local] = match;
  const pre = preName?.toLowerCase();
  return {
    epoch: Number(epoch ?? 0),
    release: (release ?? '0').split('.').map(Number),
    pre: pre === undefined ? undefined : [preNames[pre] ?? pre, Number(preNumber ?? 0)],
    post: dashed === undefined && postName === undefined ? undefined : Number(dashed ?? postNumber ?? 0),
    dev: devName === undefined ? undefined : Number(devNumber ?? 0),
    local: local
      ?.toLowerCase()
      .split(/[-_.]/)
      .map((part) => (/^\d+$/.test(part) ? Number(part) : part)),
  };
}

function compareLists(a: readonly number[], b: readonly number[]): number {
  for (let i = 0; i < Math.max(a.length, b.length); i++) {
    const order = (a[i] ?? 0) - (b[i] ?? 0);
    if (order !== 0) return order;
  }
  return 0;
}

/** The rank of a version among those with the same numbers: development, pre-release, release, post-release. */
function preKey(version: Version): readonly [number, string, number] {
  if (version.pre) return [0, version.pre[0], version.pre[1]];
  return version.post === undefined && version.dev !== undefined ? [-1, '', 0] : [1, '', 0];
}

function compareLocal(a: Version['local'], b: Version['local']): number {
  if (a === undefined || b === undefined) return a === b ? 0 : a === undefined ? -1 : 1;
  for (let i = 0; i < Math.max(a.length, b.length); i++) {
    const [left, right] = [a[i], b[i]];
    if (left === undefined || right === undefined) return left === undefined ? -1 : 1;
    if (left === right) continue;
    if (typeof left === 'number' && typeof right === 'number') return left - right;
    if (typeof left !== typeof right) return typeof left === 'number' ? 1 : -1;
    return left < right ? -1 : 1;
  }
  return 0;
}

function comparePublic(a: Version, b: Version): number {
  const numbers = a.epoch - b.epoch || compareLists(a.release, b.release);
  if (numbers !== 0) return numbers;
  const [left, right] = [preKey(a), preKey(b)];
  const before = left[0] - right[0] || (left[1] < right[1] ? -1 : left[1] > right[1] ? 1 : left[2] - right[2]);
  return (
    before ||
    (a.post ?? -1) - (b.post ?? -1) ||
    (a.dev ?? Number.POSITIVE_INFINITY) - (b.dev ?? Number.POSITIVE_INFINITY) ||
    0
  );
}

const compare = (a: Version, b: Version): number => comparePublic(a, b) || compareLocal(a.local, b.local);
const isEarly = (version: Version): boolean => version.pre !== undefined || version.dev !== undefined;
const sameBase = (a: Version, b: Version): boolean => a.epoch === b.epoch && compareLists(a.release, b.release) === 0;

/** -1, 0 or 1; undefined when one of them is no version. */
export function comparePythonVersions(a: string, b: string): -1 | 0 | 1 | undefined {
  const [left, right] = [parse(a), parse(b)];
  if (!left || !right) return undefined;
  const order = compare(left, right);
  return order < 0 ? -1 : order > 0 ? 1 : 0;
}

/** Versions in ascending order; invalid versions come first. */
export const byVersion = (a: string, b: string): number =>
  comparePythonVersions(a, b) ?? Number(parse(a) !== undefined) - Number(parse(b) !== undefined);

/** `==1.2.*`: a prefix of the numbers. */
function hasPrefix(version: Version, text: string): boolean {
  const prefix = parse(text);
  if (!prefix || prefix.epoch !== version.epoch) return false;
  return prefix.release.every((number, i) => number === (version.release[i] ?? 0));
}

function fitsOne(text: string, version: Version, { operator, version: wanted }: Condition): boolean {
  if (operator === '===') return text.toLowerCase() === wanted.toLowerCase();
  if (wanted.endsWith('.*')) return hasPrefix(version, wanted.slice(0, -2)) === (operator === '==');
  const limit = parse(wanted);
  if (!limit) return false;
  const order = comparePublic(version, limit);
  const equal = limit.local === undefined ? order === 0 : compare(version, limit) === 0;
  switch (operator) {
    case '==':
      return equal;
    case '!=':
      return !equal;
    case '<=':
      return order <= 0;
    case '>=':
      return order >= 0;
    case '<':
      return order < 0 && !(isEarly(version) && !isEarly(limit) && sameBase(version, limit));
    case '>': {
      const laterOnly = version.post !== undefined && limit.post === undefined;
      return order > 0 && !((laterOnly || version.local !== undefined) && sameBase(version, limit));
    }
    case '~=':
      return order >= 0 && hasPrefix(version, `${limit.epoch}!${limit.release.slice(0, -1).join('.')}`);
    default:
      return false;
  }
}

/** Whether an installed version meets all conditions. Pre-releases only match when a condition names one. */
export function fitsConditions(text: string, conditions: readonly Condition[]): boolean {
  if (conditions.length === 0) return true;
  const version = parse(text);
  if (!version) return conditions.every((condition) => condition.operator === '===' && condition.version === text);
  const early = conditions.some(({ operator, version: wanted }) => {
    const limit = ['==', '>=', '<=', '~=', '==='].includes(operator) ? parse(wanted.replace(/\.\*$/, '')) : undefined;
    return limit !== undefined && isEarly(limit);
  });
  if (isEarly(version) && !early) return false;
  return conditions.every((condition) => fitsOne(text, version, condition));
}
