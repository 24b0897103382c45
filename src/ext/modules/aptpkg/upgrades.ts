import {
  asNumber,
  cleanKwargs,
  commandError,
  invocationError,
  isTrue,
  type ModuleContext,
  newDict,
  type PlainDict,
  pyStr,
  type Value,
} from 'halite/sdk';
import { lines } from 'halite/sdk/text';
import { callApt, candidateOf, refreshDb } from './apt.ts';
import { nameList, readPackages } from './dpkg.ts';
import { compareVersions } from './versions.ts';

export const validTime = (kwargs: PlainDict): number => asNumber(kwargs['cache_valid_time'] ?? 0) ?? 0;
export async function latest(args: { names: readonly Value[]; kwargs: PlainDict }, ctx: ModuleContext): Promise<Value> {
  const options = cleanKwargs(args.kwargs);
  if ('repo' in options) throw invocationError("The 'repo' argument is invalid, use 'fromrepo' instead");
  const wanted = nameList(args.names);
  if (wanted.length === 0) return '';
  if (isTrue(options['refresh'] ?? true)) await refreshDb(ctx, validTime(options));
  const { installed } = await readPackages(ctx);
  const found = newDict();
  for (const name of wanted) {
    const candidate = await candidateOf(name, options['fromrepo'] ? pyStr(options['fromrepo']) : null, ctx);
    const present = installed.get(name) ?? [];
    const isNew =
      present.length === 0 ||
      isTrue(options['show_installed'] ?? false) ||
      !present.some((version) => compareVersions(version, candidate) >= 0);
    found[name] = isNew ? candidate : '';
  }
  return wanted.length === 1 ? (found[wanted[0] as string] ?? '') : found;
}

export async function upgrades(distUpgrade: boolean, options: PlainDict, ctx: ModuleContext): Promise<PlainDict> {
  const repo = options['fromrepo'] ? ['-o', `APT::Default-Release=${pyStr(options['fromrepo'])}`] : [];
  const { retcode, stdout, stderr } = await callApt(ctx, [
    'apt-get',
    '--just-print',
    distUpgrade ? 'dist-upgrade' : 'upgrade',
    ...repo,
  ]);
  if (retcode !== 0)
    throw commandError(`Failed to get upgrades${stderr || stdout ? `: ${(stderr || stdout).trim()}` : ''}`);
  return newDict(
    [...stdout.matchAll(/^Conf ([^ ]+) \(([^ ]+)/gm)].map((match) => [match[1] as string, match[2] as string]),
  );
}

/** Records of `apt-cache show`, by name and version. */
export function parseShow(text: string, filter: readonly string[]): PlainDict {
  const found = newDict();
  for (const record of text.split(/\n\s*\n/)) {
    const fields = newDict();
    for (const line of lines(record)) {
      const at = line.indexOf(':');
      const key = line.slice(0, at).trim();
      const wanted = filter.length === 0 || ['package', 'version', ...filter].includes(key.toLowerCase());
      if (at > 0 && wanted) fields[key] = line.slice(at + 1).trim();
    }
    const { Package: name, Version: version, ...rest } = fields;
    if (name === undefined || version === undefined) continue;
    found[pyStr(name)] ??= newDict();
    const versions = found[pyStr(name)] as PlainDict;
    versions[pyStr(version)] = newDict([
      ...Object.entries((versions[pyStr(version)] as PlainDict | undefined) ?? {}),
      ...Object.entries(rest),
    ]);
  }
  return found;
}
