// The files of the console: read at the first request, then kept. They are few and small, and their names are the only
// ones that are served.
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { HaliteError } from '../../base/errors/index.ts';
import { bundleFolder } from '../../base/util/bundle-file.ts';

export interface ConsoleFile {
  readonly type: string;
  readonly plain: Buffer;
  /** Made by the build; undefined for the page itself. */
  readonly packed: ReadonlyMap<string, Buffer>;
}

const types: Readonly<Record<string, string>> = {
  js: 'text/javascript; charset=utf-8',
  css: 'text/css; charset=utf-8',
  svg: 'image/svg+xml',
};
const codings = { br: 'br', gz: 'gzip' } as const;

let known: Promise<ReadonlyMap<string, ConsoleFile>> | undefined;

/** By the path below `/console/`; the page is ''. */
export function consoleFiles(): Promise<ReadonlyMap<string, ConsoleFile>> {
  known ??= readFiles().catch((error: unknown) => {
    known = undefined;
    throw error;
  });
  return known;
}

async function readFiles(): Promise<ReadonlyMap<string, ConsoleFile>> {
  const folder = bundleFolder('console');
  if (!folder)
    throw new HaliteError('extension.broken', 'the files of the console are missing', {
      hint: 'Build them with: npm run build',
    });
  const page = await readFile(join(folder, 'index.html'));
  const files = new Map<string, ConsoleFile>([
    ['', { type: 'text/html; charset=utf-8', plain: page, packed: new Map() }],
  ]);
  const names = await readdir(join(folder, 'assets'));
  for (const name of names) {
    const type = types[name.slice(name.lastIndexOf('.') + 1)];
    if (type) files.set(`assets/${name}`, { type, ...(await readAsset(join(folder, 'assets'), name, names)) });
  }
  return files;
}

async function readAsset(folder: string, name: string, names: readonly string[]): Promise<Omit<ConsoleFile, 'type'>> {
  const packed = new Map<string, Buffer>();
  for (const [end, coding] of Object.entries(codings))
    if (names.includes(`${name}.${end}`)) packed.set(coding, await readFile(join(folder, `${name}.${end}`)));
  return { plain: await readFile(join(folder, name)), packed };
}
