// Finds a Python on this machine and remembers it: asking a version manager's wrapper takes longer than a whole call.
import { execFile } from 'node:child_process';
import { constants } from 'node:fs';
import { access, readFile, stat } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import { fieldOf, isTexts, newDict, type Value } from '../../base/codec/value.ts';
import { HaliteError } from '../../base/errors/index.ts';
import { replaceFile } from '../../base/util/replace-file.ts';

export interface FoundPython {
  /** The program itself, behind wrappers and links. */
  readonly executable: string;
  readonly version: readonly [number, number, number];
}

type Opts = Readonly<Record<string, Value>>;

const oldest = [3, 6] as const;
const probeTimeoutMs = 20_000;
const probe = 'import json, sys; print(json.dumps([sys.executable] + list(sys.version_info[:3])))';

/** Where it is looked for, in this order; an option that is set is the only place. */
export function placesOf(opts: Opts, path = process.env['PATH'] ?? ''): string[] {
  const told = opts['python_executable'];
  if (typeof told === 'string' && told !== '') return [told];
  const onPath = path
    .split(delimiter)
    .filter((folder) => folder.startsWith('/'))
    .map((folder) => join(folder, 'python3'));
  const places = [
    '/opt/saltstack/salt/bin/python3',
    '/usr/bin/python3',
    ...onPath,
    '/usr/libexec/platform-python',
    '/usr/local/bin/python3',
  ];
  return [...new Set(places)];
}

/** The first Python that is new enough. Throws with what was looked at. */
export async function findPython(opts: Opts, path?: string): Promise<FoundPython> {
  const cache = typeof opts['cachedir'] === 'string' ? join(opts['cachedir'], 'python.json') : undefined;
  const tried: string[] = [];
  for (const place of placesOf(opts, path)) {
    const version = await versionOf(place);
    if (version === undefined) {
      if (tried.length < 4) tried.push(`${place} is missing`);
      continue;
    }
    const known = cache ? await remembered(cache, place, version) : undefined;
    const found = known ?? (await ask(place));
    if (typeof found === 'string') {
      tried.push(`${place}: ${found}`);
      continue;
    }
    if (isOld(found)) {
      tried.push(`${place} is Python ${found.version.join('.')}`);
      continue;
    }
    if (cache && !known) await remember(cache, place, version, found);
    return found;
  }
  throw new HaliteError('extension.unavailable', `no Python 3.6 or newer was found: ${tried.join(', ')}`, {
    hint: 'Install python3 or set python_executable.',
  });
}

const isOld = ({ version }: FoundPython): boolean =>
  version[0] < oldest[0] || (version[0] === oldest[0] && version[1] < oldest[1]);

/** Changes with the program. */
async function versionOf(place: string): Promise<string | undefined> {
  try {
    await access(place, constants.X_OK);
    const { mtimeMs, size, ino } = await stat(place);
    return `${mtimeMs}-${size}-${ino}`;
  } catch {
    return undefined;
  }
}

function ask(place: string): Promise<FoundPython | string> {
  return new Promise((resolve) => {
    execFile(place, ['-I', '-c', probe], { timeout: probeTimeoutMs }, (error, stdout, stderr) => {
      if (error) return resolve(stderr.trim().split('\n').at(-1) || error.message.split('\n')[0]!);
      resolve(readProbe(stdout) ?? 'does not answer as Python does');
    });
  });
}

function readProbe(text: string): FoundPython | undefined {
  let read: unknown;
  try {
    read = JSON.parse(text);
  } catch {
    return undefined;
  }
  if (!Array.isArray(read) || typeof read[0] !== 'string' || !read.slice(1, 4).every(Number.isInteger))
    return undefined;
  const [executable, major, minor, micro] = read as [string, number, number, number];
  return { executable, version: [major, minor, micro] };
}

async function remembered(cache: string, place: string, version: string): Promise<FoundPython | undefined> {
  try {
    const read: unknown = JSON.parse(await readFile(cache, 'utf8'));
    const entry = fieldOf(read, place);
    const texts = entry ?? null;
    if (!isTexts(texts) || texts[0] !== version || texts.length !== 5) return undefined;
    if ((await versionOf(texts[1]!)) === undefined) return undefined;
    return { executable: texts[1]!, version: [Number(texts[2]), Number(texts[3]), Number(texts[4])] };
  } catch {
    return undefined;
  }
}

/** Only the newest place is kept: there is one Python at a time. */
async function remember(cache: string, place: string, version: string, found: FoundPython): Promise<void> {
  const entry = [version, found.executable, ...found.version.map(String)];
  const text = JSON.stringify(newDict([[place, entry]]));
  // Without the note it is asked again next time.
  await replaceFile(cache, Buffer.from(text)).catch(() => undefined);
}
