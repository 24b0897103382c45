// Data of dpkg: installed packages, their files and selections.
// biome-ignore-all lint/suspicious/noTemplateCurlyInString: dpkg-query has its own placeholders, which look like templates
import {
  commandError,
  type Dict,
  dictGet,
  type ModuleContext,
  newDict,
  type PlainDict,
  pyStr,
  type Value,
} from 'halite/sdk';
import { compareText } from 'halite/sdk/codec';
import { isFile, readText } from 'halite/sdk/fs';
import { askTool, runTool } from 'halite/sdk/system';
import { lines, words } from 'halite/sdk/text';

export interface Packages {
  readonly installed: Map<string, string[]>;
  readonly removed: Map<string, string[]>;
  readonly purgeDesired: Map<string, string[]>;
}

/** The name of a package of another architecture includes the architecture. */
function withArchitecture(name: string, arch: string, grains: Dict): string {
  const foreign =
    dictGet(grains, 'cpuarch') === 'x86_64' &&
    dictGet(grains, 'osarch') === 'amd64' &&
    arch !== 'all' &&
    arch !== 'amd64';
  return foreign ? `${name}:${arch}` : name;
}

export function parsePackages(output: string, grains: Dict): Packages {
  const found: Packages = { installed: new Map(), removed: new Map(), purgeDesired: new Map() };
  const add = (list: Map<string, string[]>, name: string, version: string): void => {
    list.set(name, [...new Set([...(list.get(name) ?? []), version])].sort(compareText));
  };
  for (const line of lines(output)) {
    const [wanted = '', , status = '', bare, version, arch] = words(line);
    if (bare === undefined || version === undefined || arch === undefined) continue;
    const name = withArchitecture(bare, arch, grains);
    if ((wanted === 'install' || wanted === 'hold') && status.includes('installed'))
      add(found.installed, name, version);
    else if (wanted === 'deinstall') add(found.removed, name, version);
    else if (wanted === 'purge' && status === 'installed') add(found.purgeDesired, name, version);
  }
  return found;
}

export async function readPackages(ctx: ModuleContext): Promise<Packages> {
  const format = '${Status} ${Package} ${Version} ${Architecture}\n';
  const { stdout } = await askTool(ctx, 'dpkg-query', ['--showformat', format, '-W']);
  return parsePackages(stdout, ctx.grains);
}

/** Name → version, several joined by commas. */
export function versionTexts(list: Map<string, string[]>): PlainDict {
  return newDict([...list].map(([name, versions]) => [name, versions.join(',')]));
}

export async function installedVersions(ctx: ModuleContext): Promise<PlainDict> {
  const { installed, purgeDesired } = await readPackages(ctx);
  return versionTexts(new Map([...purgeDesired, ...installed]));
}

/** What changed between two lists: `{name: {old, new}}`. */
export function changes(before: PlainDict, after: PlainDict): PlainDict {
  const found = newDict();
  for (const name of new Set([...Object.keys(before), ...Object.keys(after)])) {
    if (before[name] !== after[name])
      found[name] = newDict([
        ['old', before[name] ?? ''],
        ['new', after[name] ?? ''],
      ]);
  }
  return found;
}

/** Installed packages that match the patterns, or the text of an error. */
async function installedNames(patterns: readonly string[], ctx: ModuleContext): Promise<string[] | string> {
  const { retcode, stdout, stderr } = await runTool(ctx, 'dpkg-query', [
    '-f=${db:Status-Status}\t${binary:Package}\n',
    '-W',
    ...patterns,
  ]);
  if (retcode !== 0) return `Error:  ${stderr.trim()}`;
  return lines(stdout)
    .map((line) => line.split('\t'))
    .flatMap(([status, name]) => (status === 'installed' && name ? [name] : []));
}

export async function packageFiles(
  patterns: readonly string[],
  ctx: ModuleContext,
): Promise<Map<string, string[]> | string> {
  const names = await installedNames(patterns, ctx);
  if (typeof names === 'string') return names;
  const found = new Map<string, string[]>();
  for (const name of names) found.set(name, lines((await askTool(ctx, 'dpkg', ['-L', name])).stdout));
  return found;
}

const infoFields = [
  ...['package:${Package}', 'revision:${binary:Revision}', 'architecture:${Architecture}', 'maintainer:${Maintainer}'],
  ...['summary:${Summary}', 'source:${source:Package}', 'version:${Version}', 'section:${Section}', 'size:${Size}'],
  ...['MD5:${MD5sum}', 'SHA1:${SHA1}', 'SHA256:${SHA256}', 'origin:${Origin}', 'homepage:${Homepage}'],
  ...['status:${db:Status-Abbrev}', 'install_date:${db-fsys:Last-Modified}', 'description:${Description}'],
];
const recordEnd = '*/~^\\*';
/** Names of the fields in pkg.info_installed. */
const infoNames: Readonly<Record<string, string>> = {
  package: 'name',
  origin: 'vendor',
  section: 'group',
  maintainer: 'packager',
  homepage: 'url',
};

function licenseOf(name: string): string {
  const text = readText(`/usr/share/doc/${name}/copyright`) ?? '';
  const found = lines(text).flatMap((line) =>
    line.startsWith('License:') ? [line.slice('License:'.length).trim()] : [],
  );
  return [...new Set(found)].sort(compareText).join(', ');
}

/** One package as dpkg-query describes it, with dpkg's own field names. */
function parseRecord(record: string): PlainDict {
  const at = record.indexOf('\ndescription:');
  const info = newDict();
  for (const line of lines(record.slice(0, at)).filter((row) => row.trim() !== '')) {
    const colon = line.indexOf(':');
    const [key, value] = [line.slice(0, colon).trim(), line.slice(colon + 1).trim()];
    if (value === '') continue;
    info[key] = key === 'install_date' ? `${new Date(Number(value) * 1000).toISOString().slice(0, 19)}Z` : value;
  }
  info['description'] = record.slice(at + '\ndescription:'.length);
  const license = licenseOf(pyStr(info['package'] ?? ''));
  if (license) info['license'] = license;
  return info;
}

/** All packages that dpkg knows, installed or not (`lowpkg.info`). */
export async function packageRecords(
  names: readonly string[],
  failHard: boolean,
  ctx: ModuleContext,
): Promise<PlainDict[]> {
  const format = `-f=${infoFields.join('\\n')}\\n\\n${recordEnd.replaceAll('\\', '\\\\')}\\n`;
  const { retcode, stdout, stderr } = await runTool(ctx, 'dpkg-query', ['-W', format, ...names]);
  if (retcode !== 0) {
    if (failHard) throw commandError(`Error getting packages information: ${stderr.trim()}`);
    return [];
  }
  return stdout
    .split(`\n${recordEnd}\n`)
    .filter((record) => record.trim() !== '')
    .map(parseRecord);
}

/** Installed packages, with the field names of `pkg.info_installed`. */
export async function packageInfo(names: readonly string[], failHard: boolean, ctx: ModuleContext): Promise<PlainDict> {
  const records = await packageRecords(names, failHard, ctx);
  const installed = records.filter(({ status }) => typeof status !== 'string' || status.charAt(1) === 'i');
  return newDict(
    installed.map(({ status, ...fields }) => [
      pyStr(fields['package'] ?? ''),
      newDict(
        Object.entries(fields).flatMap(([key, value]) =>
          key === 'package' ? [['name', value]] : [[infoNames[key] ?? key, value]],
        ) as [string, Value][],
      ),
    ]),
  );
}

/** Packages by the state an operator selected for them. */
export async function selections(pattern: string | null, ctx: ModuleContext): Promise<Map<string, string[]>> {
  const { stdout } = await askTool(ctx, 'dpkg', ['--get-selections', pattern || '*']);
  return parseSelections(stdout);
}

export function parseSelections(text: string): Map<string, string[]> {
  const found = new Map<string, string[]>();
  for (const [name, state] of lines(text).map(words)) {
    if (name && state) found.set(state, [...(found.get(state) ?? []), name]);
  }
  return found;
}

export const selectionsValue = (map: Map<string, string[]>): PlainDict => newDict([...map] as [string, Value][]);

/** Name, version and architecture of a package file. */
export async function packageFileInfo(
  path: string,
  ctx: ModuleContext,
): Promise<{ name: string; version: string; arch: string }> {
  if (!isFile(path)) throw commandError(`${path} does not exist on minion`);
  const { retcode, stdout, stderr } = await askTool(ctx, 'dpkg', ['-I', path]);
  if (retcode !== 0) throw commandError(`Unable to get info for ${path}${stderr ? `: ${stderr.trim()}` : ''}`);
  const field = (name: string): string => new RegExp(`^\\s*${name} *:.*?(\\S+)\\s*$`, 'm').exec(stdout)?.[1] ?? '';
  const [bare, version, arch] = [field('Package'), field('Version'), field('Architecture')];
  if (!bare || !version || !arch) throw commandError(`Unable to get name, version, arch for ${path}`);
  return { name: withArchitecture(bare, arch, ctx.grains), version, arch };
}

export const nameList = (values: readonly Value[]): string[] => values.map((value) => pyStr(value));
