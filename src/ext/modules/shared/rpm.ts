// Packages of RPM: what is installed, and how versions compare.
import { type Dict, dictGet, type ModuleContext, pyStr } from 'halite/sdk';
import { askTool } from 'halite/sdk/system';
import { lines } from 'halite/sdk/text';

const format = '%{NAME}_|-%{EPOCH}_|-%{VERSION}_|-%{RELEASE}_|-%{ARCH}_|-%{INSTALLTIME}\\n';

export interface RpmPackage {
  readonly name: string;
  /** `epoch:version-release`; an epoch of 0 is left out. */
  readonly version: string;
  readonly arch: string;
}

/** `zsh` for packages of this machine, `zsh.i686` for others. */
export function resolveName(name: string, arch: string, grains: Dict): string {
  const own = pyStr(dictGet(grains, 'osarch') ?? 'x86_64');
  const fits =
    arch === 'noarch' || arch === '(none)' || arch === own || (/^i[3456]86$/.test(arch) && /^i[3456]86$/.test(own));
  return fits ? name : `${name}.${arch}`;
}

function parseRpmLine(line: string, grains: Dict): RpmPackage | undefined {
  const [name, epoch = '', version = '', release = '', arch = ''] = line.split('_|-');
  if (name === undefined || version === '' || name === 'gpg-pubkey') return undefined;
  const full = release === '' ? version : `${version}-${release}`;
  return {
    name: resolveName(name, arch, grains),
    version: epoch === '(none)' || epoch === '0' || epoch === '' ? full : `${epoch}:${full}`,
    arch,
  };
}

/** Versions of installed packages by name. */
export async function installedRpms(ctx: ModuleContext): Promise<Map<string, string[]>> {
  const { stdout } = await askTool(ctx, 'rpm', ['-qa', '--nodigest', '--nosignature', '--queryformat', format]);
  const found = new Map<string, string[]>();
  for (const line of lines(stdout)) {
    const parsed = parseRpmLine(line, ctx.grains);
    if (parsed) found.set(parsed.name, [...(found.get(parsed.name) ?? []), parsed.version].sort(compareRpm));
  }
  return new Map([...found].sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** RPM's own comparison of two parts: runs of digits by value, of letters by order; `~` sorts before everything. */
function compareParts(a: string, b: string): number {
  const token = /~|\^|\d+|[a-zA-Z]+/g;
  const [left, right] = [a.match(token) ?? [], b.match(token) ?? []];
  for (let i = 0; i < Math.max(left.length, right.length); i++) {
    const [x, y] = [left[i], right[i]];
    if (x === y) continue;
    if (x === '~' || y === '~') return x === '~' ? -1 : 1;
    if (x === undefined) return y === '^' ? -1 : -1;
    if (y === undefined) return 1;
    if (x === '^' || y === '^') return x === '^' ? -1 : 1;
    const [m, n] = [/^\d/.test(x), /^\d/.test(y)];
    if (m !== n) return m ? 1 : -1;
    const difference = m ? Number(BigInt(x) > BigInt(y)) - Number(BigInt(x) < BigInt(y)) : x < y ? -1 : 1;
    if (difference !== 0) return difference;
  }
  return 0;
}

function parts(version: string): { epoch: string; version: string; release: string } {
  const [, epoch = '0', rest = version] = /^(\d+):(.*)$/.exec(version) ?? [];
  const at = rest.indexOf('-');
  return { epoch, version: at < 0 ? rest : rest.slice(0, at), release: at < 0 ? '' : rest.slice(at + 1) };
}

/** -1, 0 or 1. A version without a release equals every release of it. */
export function compareRpm(first: string, second: string): -1 | 0 | 1 {
  const [a, b] = [parts(first), parts(second)];
  const steps = [
    () => compareParts(a.epoch, b.epoch),
    () => compareParts(a.version, b.version),
    () => (a.release === '' || b.release === '' ? 0 : compareParts(a.release, b.release)),
  ];
  for (const step of steps) {
    const difference = step();
    if (difference !== 0) return difference < 0 ? -1 : 1;
  }
  return 0;
}

/** A condition such as `>=1.2`. */
export function fitsRpm(version: string, condition: string): boolean {
  const [, operator = '=', wanted = condition] = /^([<>]=?|==?|!=)\s*(.*)$/.exec(condition) ?? [];
  const order = compareRpm(version, wanted);
  if (operator === '!=') return order !== 0;
  return (
    (operator.includes('=') && order === 0) ||
    (operator.startsWith('<') && order < 0) ||
    (operator.startsWith('>') && order > 0)
  );
}
