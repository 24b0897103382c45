// Checks an archive before a program unpacks it.
import type { ModuleContext } from 'halite/sdk';
import { askTool } from 'halite/sdk/system';
import { shellSplit } from 'halite/sdk/text';
import { checkMembers, type Member } from './check.ts';
import { tarMembers } from './list.ts';
import { zipMembers } from './unzip.ts';
import { ZipFile } from './zip-file.ts';

export interface TarRequest {
  readonly path: string;
  /** The destination of tar; a folder that does not exist yet is not checked for links. */
  readonly dest: string | null;
  /** Words for tar itself (`xzf --strip-components=1`); the first may be a bundle of letters. */
  readonly options: string | null;
  /** The program that decompresses. */
  readonly program?: string | null;
}

const isBundle = (word: string, at: number): boolean => (at === 0 ? /^-?[A-Za-z]/.test(word) : /^-[A-Za-z]/.test(word));

/** Whether the words contain this option of tar, by its letter or its name. */
function hasOption(words: readonly string[], letter: string, name: string): boolean {
  return words.some((word, at) => word === name || (isBundle(word, at) && word.includes(letter)));
}

/** The number of leading folders that `--strip-components` removes. */
export const stripOf = (options: string | null): number =>
  Number(/--strip(?:-components)?(?:\s+|=)["']?(\d+)["']?/.exec(options ?? '')?.[1] ?? 0);

/** With `--absolute-names` (-P) the operator trusts the archive. */
const trusted = (options: string | null): boolean => hasOption(shellSplit(options ?? ''), 'P', '--absolute-names');

/** Throws unless every member stays inside the destination. Archives that only tar can list are left to tar's own protection. */
export async function checkTar(request: TarRequest, ctx: ModuleContext): Promise<void> {
  const { path, dest, options, program = null } = request;
  if (trusted(options)) return;
  const members = await tarMembers(path, program, ctx);
  if (members) checkMembers(path, members, dest ?? '.', stripOf(options));
}

/** Whether a call of tar with these options unpacks. */
export function unpacks(options: string): boolean {
  const words = shellSplit(options);
  return hasOption(words, 'x', '--extract') || words.includes('--get');
}

/** With `--same-permissions` (-p) the modes of the archive are kept, including set-user-id. */
export const keepsModes = (options: string | null): boolean =>
  ['--same-permissions', '--preserve-permissions'].some((name) => hasOption(shellSplit(options ?? ''), 'p', name));

export function checkZip(path: string, dest: string, excludes: readonly string[], password: string | undefined): void {
  const zip = new ZipFile(path);
  try {
    checkMembers(path, zipMembers(zip, excludes, password), dest);
  } finally {
    zip.close();
  }
}

/** `Type:` as rar and unrar write it. */
function rarKind(type: string): Member['kind'] {
  if (/^Directory/.test(type)) return 'dir';
  if (/^File/.test(type)) return 'file';
  return /hard link/i.test(type)
    ? 'hard'
    : /link/i.test(type)
      ? 'link'
      : /copy|reference/i.test(type)
        ? 'file'
        : 'special';
}

export async function checkRar(program: string, path: string, dest: string, ctx: ModuleContext): Promise<void> {
  const { stdout } = await askTool(ctx, program, ['lt', path]);
  const members: Member[] = [];
  for (const block of stdout.split(/\n(?=\s*Name: )/)) {
    const field = (name: string): string | undefined => new RegExp(`^\\s*${name}: (.*)$`, 'm').exec(block)?.[1];
    const [name, type] = [field('Name'), field('Type')];
    if (name === undefined || type === undefined) continue;
    members.push({
      name,
      kind: rarKind(type.trim()),
      target: field('Target'),
      size: Number(field('Size') ?? 0),
      mode: 0,
    });
  }
  checkMembers(path, members, dest);
}
