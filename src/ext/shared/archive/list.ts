// Lists the content of an archive: folders, files and links.
import { commandError, type ModuleContext, newDict, type PlainDict } from 'halite/sdk';
import { compareText } from 'halite/sdk/codec';
import { askTool, which } from 'halite/sdk/system';
import { lines, shellSplit } from 'halite/sdk/text';
import type { Member } from './check.ts';
import { ZipFile } from './zip-file.ts';

export interface Listing {
  dirs: string[];
  files: string[];
  links: string[];
}

/** tar, zip or rar, by the file extension. */
export function formatOf(name: string): string | undefined {
  const lower = name.toLowerCase();
  if (/\.(tar|tar\.gz|tgz|tar\.bz2|tbz2|tbz|tar\.xz|txz|tar\.lzma|tlz)$/.test(lower)) return 'tar';
  return /\.(zip|rar)$/.exec(lower)?.[1];
}

/** Decodes `\n`, `\\` and `\303\244` in names that tar prints. */
function unescaped(name: string): string {
  if (!name.includes('\\')) return name;
  const letters: Readonly<Record<string, number>> = { n: 10, t: 9, r: 13, b: 8, f: 12, v: 11, a: 7 };
  const bytes: number[] = [];
  for (const part of name.match(/\\(?:[0-7]{3}|.)|[^\\]+/gs) ?? []) {
    if (!part.startsWith('\\')) bytes.push(...Buffer.from(part));
    else if (/^\\[0-7]{3}$/.test(part)) bytes.push(Number.parseInt(part.slice(1), 8));
    else bytes.push(letters[part.charAt(1)] ?? part.charCodeAt(1));
  }
  return Buffer.from(bytes).toString('utf8');
}

const kinds: Readonly<Record<string, Member['kind']>> = {
  '-': 'file',
  C: 'file',
  V: 'file',
  d: 'dir',
  l: 'link',
  h: 'hard',
};
const tarLine =
  /^(.)(\S{9})\S*\s+\S+\s+(\d+)(?:,\s*\d+)?\s+\S+\s+\S+\s"((?:[^"\\]|\\.)*)"(?: (?:->|link to) "((?:[^"\\]|\\.)*)")?/s;

/** Set-user-id and set-group-id as `rwsr-sr-x` shows them. */
const lentRights = (letters: string): number =>
  (/[sS]/.test(letters.charAt(2)) ? 0o4000 : 0) | (/[sS]/.test(letters.charAt(5)) ? 0o2000 : 0);

/** One line of `tar -tv`; a line of unknown form means that the archive must not be unpacked. */
function tarMember(line: string): Member {
  const [, type = '', letters = '', size = '', name, target] = tarLine.exec(line) ?? [];
  if (name === undefined) return { name: line, kind: 'special', size: 0, mode: 0 };
  return {
    name: unescaped(name),
    kind: kinds[type] ?? 'special',
    target: target === undefined ? undefined : unescaped(target),
    size: type === '-' ? Number(size) : 0,
    mode: lentRights(letters),
  };
}

/** Members of a tar archive in order; `options` may name a program that decompresses it. */
export async function tarMembers(
  path: string,
  options: string | null,
  ctx: ModuleContext,
): Promise<Member[] | undefined> {
  if (!which('tar')) throw commandError("'tar' command not available");
  const list = (program: string[]) =>
    askTool(ctx, 'tar', [...program, '--quoting-style=c', '--numeric-owner', '--absolute-names', '-tvf', path], {
      maxOutputBytes: 512 << 20,
    });
  // As in Salt, the program is used only if the archive cannot be read without it.
  const plain = await list([]);
  const { retcode, stdout } =
    plain.retcode === 0 || !options ? plain : await list([`--use-compress-program=${shellSplit(options).join(' ')}`]);
  if (retcode !== 0) return undefined;
  return lines(stdout).map(tarMember);
}

/** Salt's description of the location of an unreadable archive. */
export const whereabouts = (path: string): string => ` Additional info follows:\n\narchive location:\n    ${path}`;

async function listTar(name: string, path: string, options: string | null, ctx: ModuleContext): Promise<Listing> {
  const members = await tarMembers(path, options, ctx);
  if (!members) {
    throw commandError(
      `Unable to list contents of ${name}. If this is an XZ-compressed tar archive, install XZ Utils to enable listing its contents. If it is ` +
        'compressed using something other than XZ, it may be necessary to specify CLI options to decompress the archive. See the documentation for details.' +
        whereabouts(path),
    );
  }
  const found: Listing = { dirs: [], files: [], links: [] };
  for (const { kind, name: member } of members) {
    if (kind === 'link') found.links.push(member);
    else if (kind === 'dir') found.dirs.push(`${member.replace(/\/+$/, '')}/`);
    else found.files.push(member);
  }
  return found;
}

const typeBits = 0o170000;

function listZip(name: string, path: string): Listing {
  let zip: ZipFile;
  try {
    zip = new ZipFile(path);
  } catch {
    throw commandError(`${name} is not a ZIP file.${whereabouts(path)}`);
  }
  try {
    const dirs = new Set<string>();
    const [files, links]: [string[], string[]] = [[], []];
    for (const entry of zip.entries) {
      const kind = entry.mode & typeBits;
      if (kind === 0o120000) links.push(entry.name);
      else if (kind === 0o040000) dirs.add(entry.name);
      else files.push(entry.name);
    }
    for (const file of files) {
      const folder = file.slice(0, file.lastIndexOf('/') + 1);
      if (folder) dirs.add(folder);
    }
    return { dirs: [...dirs], files: files.filter((file) => !dirs.has(file)), links };
  } finally {
    zip.close();
  }
}

async function listRar(name: string, path: string, ctx: ModuleContext): Promise<Listing> {
  if (!which('rar')) throw commandError('rar command not available, is it installed?');
  const { stdout } = await askTool(ctx, 'rar', ['lt', path]);
  const found: Listing = { dirs: [], files: [], links: [] };
  for (const [, member = '', type = ''] of stdout.matchAll(/Name:\s*([^\n]+)\s*Type:\s*([^\n]+)/g)) {
    if (type.trim() === 'Directory') found.dirs.push(`${member}/`);
    else found.files.push(member);
  }
  if (found.dirs.length + found.files.length === 0) throw commandError(`Failed to list ${name}, is it a rar file?`);
  return found;
}

export async function listArchive(
  name: string,
  path: string,
  format: string,
  options: string | null,
  strip: number,
  ctx: ModuleContext,
): Promise<Listing> {
  const found =
    format === 'tar'
      ? await listTar(name, path, options, ctx)
      : format === 'zip'
        ? listZip(name, path)
        : format === 'rar'
          ? await listRar(name, path, ctx)
          : undefined;
  if (!found) throw commandError(`Unsupported archive format '${format}'.${whereabouts(path)}`);
  if (strip === 0) return found;
  const stripped = (names: string[]): string[] =>
    names
      .map((item) => item.split('/').slice(strip).join('/'))
      .filter(Boolean)
      .sort(compareText);
  return { dirs: stripped(found.dirs), files: stripped(found.files), links: stripped(found.links) };
}

/** The same with the top-level entries, for extraction. */
export function withTop({ dirs, files, links }: Listing): PlainDict {
  const sorted = (names: string[]): string[] => [...names].sort(compareText);
  const all = [...dirs, ...files, ...links];
  const top = sorted(dirs).filter((name) => name.split('/').length === 2);
  const [first = '', last = ''] = [sorted(all)[0], sorted(all).at(-1)];
  let same = 0;
  while (same < first.length && first[same] === last[same]) same++;
  const prefix = first.slice(0, same);
  const folder = prefix.includes('/') ? `${prefix.split('/')[0]}/` : '';
  if (folder && !top.includes(folder)) top.push(folder);
  return newDict([
    ['dirs', sorted(dirs)],
    ['files', sorted(files)],
    ['links', sorted(links)],
    ['top_level_dirs', top],
    ['top_level_files', sorted(files).filter((name) => !name.includes('/'))],
    ['top_level_links', sorted(links).filter((name) => !name.includes('/'))],
  ]);
}
