// Installed packages, available upgrades and versions.
import { commandError, isDict, type ModuleContext, newDict, type PlainDict, type Value } from 'halite/sdk';
import { lines } from 'halite/sdk/text';
import { isAtLeast, type PipResult, pipVersion, runPip, succeeded, type Where } from '../../shared/pip/command.ts';
import { byVersion } from '../../shared/pip/pep440.ts';

export const protocols = /^(?:https?|ftp|file):\/\/./i;

/** The list pip prints with `--format=json`. */
function jsonList(result: PipResult): PlainDict[] {
  try {
    const data: unknown = JSON.parse(result.stdout);
    if (Array.isArray(data)) return data.filter((item) => isDict(item as Value)) as PlainDict[];
  } catch {
    // Handled below.
  }
  throw commandError('Invalid JSON');
}

const begins = (name: string, prefix: string | null): boolean =>
  !prefix || name.toLowerCase().startsWith(prefix.toLowerCase());

export async function freeze(at: Where, vars: Value, extra: PlainDict, ctx: ModuleContext): Promise<string[]> {
  const all = isAtLeast(await pipVersion(at, ctx), '8.0.3') ? ['--all'] : [];
  const result = await runPip(['freeze', ...all, '--disable-pip-version-check'], at, ctx, vars, extra);
  return lines(succeeded(result).stdout);
}

/** `name==1.0` and `-e address#egg=name` as name and version. */
function frozen(line: string): [string, string] | undefined {
  if (/^(?:-f|#|-e hg\+not trust)/.test(line)) return undefined;
  const bare = line.replace(/^-e /, '');
  const egg = bare.indexOf('#egg=');
  if (line.startsWith('-e') && egg >= 0) return [bare.slice(egg + 5), bare.slice(0, egg)];
  const parts = bare.includes('===') ? bare.split('===') : bare.split('==');
  return parts[0] !== undefined && parts[1] !== undefined ? [parts[0], parts[1]] : undefined;
}

export async function listFrozen(
  prefix: string | null,
  at: Where,
  vars: Value,
  extra: PlainDict,
  ctx: ModuleContext,
): Promise<PlainDict> {
  const found = newDict();
  if (prefix === null || 'pip'.startsWith(prefix)) found['pip'] = await pipVersion(at, ctx);
  for (const line of await freeze(at, vars, extra, ctx)) {
    const [name, version] = frozen(line) ?? [];
    if (name !== undefined && version !== undefined && begins(name, prefix)) found[name] = version;
  }
  return found;
}

export async function listInstalled(
  prefix: string | null,
  at: Where,
  vars: Value,
  extra: PlainDict,
  ctx: ModuleContext,
): Promise<PlainDict> {
  if (!isAtLeast(await pipVersion(at, ctx), '9.0')) return listFrozen(prefix, at, vars, extra, ctx);
  const result = await runPip(['list', '--format=json', '--disable-pip-version-check'], at, ctx, vars, extra);
  const found = newDict();
  for (const { name, version } of jsonList(succeeded(result)) as { name?: Value; version?: Value }[])
    if (typeof name === 'string' && begins(name, prefix)) found[name] = version ?? null;
  return found;
}

export async function listUpgrades(at: Where, ctx: ModuleContext): Promise<PlainDict> {
  const version = await pipVersion(at, ctx);
  const json = isAtLeast(version, '9.0');
  const args = ['list', '--outdated', '--disable-pip-version-check', ...(json ? ['--format=json'] : [])];
  const result = succeeded(await runPip(args, at, ctx));
  const found = newDict();
  if (json) {
    for (const item of jsonList(result) as { name: string; latest_version: string; latest_filetype: string }[])
      found[item.name] = `${item.latest_version} [${item.latest_filetype}]`;
    return found;
  }
  const pattern = isAtLeast(version, '8.0.0') ? /(\S*)\s+\(.*\)\s+-\s+Latest:\s+(.*)/ : /(\S*)\s+\(.*Latest:\s+(.*)\)/;
  for (const line of lines(result.stdout)) {
    const match = pattern.exec(line);
    if (match) found[match[1] ?? ''] = match[2] ?? '';
  }
  return found;
}

export interface VersionQuery {
  readonly alpha: boolean;
  readonly beta: boolean;
  readonly rc: boolean;
  readonly index: string | null;
  readonly extraIndex: string | null;
}

/** `--index-url` and `--extra-index-url`, checked. */
export function indexOptions(index: string | null, extraIndex: string | null): string[] {
  const options: string[] = [];
  for (const [option, url] of [
    ['--index-url', index],
    ['--extra-index-url', extraIndex],
  ] as const) {
    if (!url) continue;
    if (!protocols.test(url)) throw commandError(`'${url}' is not a valid URL`);
    options.push(option, url);
  }
  return options;
}

/** Every version of a package, in ascending order; null when there are none. */
export async function allVersions(
  name: string,
  query: VersionQuery,
  at: Where,
  ctx: ModuleContext,
): Promise<string[] | null> {
  const version = await pipVersion(at, ctx);
  const modern = isAtLeast(version, '21.2');
  const legacy = !modern && isAtLeast(version, '20.3') ? ['--use-deprecated=legacy-resolver'] : [];
  const args = [
    '--disable-pip-version-check',
    ...(modern ? ['index', 'versions', name] : [...legacy, 'install', `${name}==versions`]),
    ...indexOptions(query.index, query.extraIndex),
  ];
  const extra = newDict([
    ['output_loglevel', 'quiet'],
    ['redirect_stderr', true],
  ]);
  const { stdout } = await runPip(args, at, ctx, null, extra);
  const pattern = modern ? /\s*Available versions: (.*)/ : /\s*Could not find a version.* \(from versions: (.*)\)/;
  const unwanted = [...(query.alpha ? [] : ['a']), ...(query.beta ? [] : ['b']), ...(query.rc ? [] : ['rc'])];
  const found = (pattern.exec(stdout)?.[1] ?? '')
    .split(', ')
    .filter((item) => item !== '' && !unwanted.some((part) => item.includes(part)));
  return found.length > 0 ? found.sort(byVersion) : null;
}
