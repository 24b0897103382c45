// Brings what a target lacks: a runtime and our program, over the connection that is open.
import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { pipeline } from 'node:stream/promises';
import { HaliteError, messageOf } from '../base/errors/index.ts';
import { framesLine } from '../protocol/wire/stdio/frames.ts';
import type { SshHost, SshProcess } from './host.ts';
import { failureOf, placeFailure, type SshFailure, spaceFailure, startFailure } from './reasons.ts';
import type { Platform, Runtimes, Shipment } from './runtimes.ts';
import { type Around, adoptCommand, around, mark, putCommand } from './scripts.ts';

/** What a target said about itself when it could not run a job yet. */
export interface Needs extends Platform {
  readonly freeKb: number;
  /** `exec`, `noexec`, `full`. */
  readonly place: string;
  /** The version of its own Node.js, or ''. */
  readonly node: string;
  readonly hasRuntime: boolean;
  readonly hasProgram: boolean;
}

export function readNeeds(words: readonly string[]): Needs {
  const [system = '', machine = '', libc = '', unpackers = '', free = '0', place = '', node = '-', runtime, program] =
    words;
  return {
    ...{ system, machine, libc, place },
    unpackers: new Set(unpackers.split(',')),
    freeKb: Number(free) || 0,
    node: node === '-' ? '' : node,
    hasRuntime: runtime === 'yes',
    hasProgram: program === 'yes',
  };
}

/** Ours runs with it. */
const leastNode = [20, 19] as const;

function usableNode(version: string): boolean {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  return major > leastNode[0] || (major === leastNode[0] && minor >= leastNode[1]);
}

/** An unpacked runtime, its packed form in the pipe, the program, caches. */
const runtimeKb = 110 * 1024;
const programKb = 8 * 1024;

export interface ProvisionParts {
  readonly host: SshHost;
  readonly folder: string;
  readonly runtimes: Runtimes;
  readonly around: Omit<Around, 'tty'>;
  readonly sudoPassword: string;
  readonly onStep: (text: string) => void;
}

/** Resolves with the reason when it is not possible. */
export async function provision(parts: ProvisionParts, needs: Needs): Promise<SshFailure | undefined> {
  const { folder, runtimes, onStep } = parts;
  if (needs.place !== 'exec') return placeFailure(folder, needs.place);
  const own = !needs.hasRuntime && usableNode(needs.node);
  const bring = !needs.hasRuntime && !own;
  if (bring && !needs.unpackers.has('gzip'))
    return failureOf('ssh-runtime', 'It has no gzip to unpack the runtime with');
  const wanted = programKb + (bring ? runtimeKb : 0);
  if (needs.freeKb > 0 && needs.freeKb < wanted) return spaceFailure(folder, needs.freeKb, wanted);
  try {
    if (bring) {
      onStep('sending the runtime');
      const failure = await put(parts, 'node', await runtimes.runtime(needs));
      if (failure) return failure;
    }
    const refused = own ? await adopt(parts) : undefined;
    if (refused || needs.hasProgram) return refused;
    onStep('sending the program');
    return await put(parts, 'app', await runtimes.program());
  } catch (error) {
    if (!(error instanceof HaliteError) || error.code !== 'extension.unavailable') throw error;
    return failureOf('ssh-runtime', [error.message, error.hint].filter(Boolean).join('. '), 1);
  }
}

function start({ host, around: how, sudoPassword }: ProvisionParts, command: string): SshProcess {
  const started = host.share(around(command, { ...how, tty: false }));
  if (sudoPassword !== '') started.child.stdin.write(`${sudoPassword}\n`);
  return started;
}

/** The last line with our mark. */
async function answerOf(process: SshProcess): Promise<string> {
  let said = '';
  process.child.stdout.setEncoding('utf8').on('data', (text: string) => {
    if (said.length < 16_384) said += text;
  });
  await process.ended;
  const lines = said.split('\n').filter((line) => line.startsWith(`${mark} `));
  return lines.at(-1)?.slice(mark.length + 1) ?? '';
}

async function put(parts: ProvisionParts, kind: 'node' | 'app', shipment: Shipment): Promise<SshFailure | undefined> {
  const { name, sha256, packed, file } = shipment;
  const process = start(parts, putCommand(parts.folder, kind, name, sha256, packed));
  const answer = answerOf(process);
  process.child.stdin.write(`${framesLine}\n`);
  const sent = await pipeline(createReadStream(file), process.child.stdin).then(
    () => '',
    (error: unknown) => messageOf(error),
  );
  const said = await answer;
  if (said === 'done') return undefined;
  const { size } = await stat(file);
  const full = /No space left|write error|Disk quota/i.test(process.errors);
  if (said === 'failed brotli' && !full) return startFailure(1, process.errors);
  if (full || (said.startsWith('failed ') && said !== 'failed sum'))
    return failureOf(
      'ssh-place',
      `The folder ${parts.folder} cannot hold ${name} (${Math.ceil(size / 1e6)} MB packed): ${lastLine(process.errors)}`,
      73,
    );
  if (said === 'failed sum')
    return failureOf(
      'ssh-place',
      `What arrived there as ${name} is not what was sent (SHA-256 differs, or cannot be computed)`,
      12,
    );
  return failureOf(
    'ssh-lost',
    `The connection was lost while ${name} was sent: ${lastLine(process.errors) || sent}`,
    255,
  );
}

async function adopt(parts: ProvisionParts): Promise<SshFailure | undefined> {
  const process = start(parts, adoptCommand(parts.folder));
  process.child.stdin.end();
  const said = await answerOf(process);
  return said === 'done'
    ? undefined
    : failureOf('ssh-lost', lastLine(process.errors) || 'The connection was lost', 255);
}

const lastLine = (text: string): string => text.trim().split('\n').at(-1)?.slice(0, 500) ?? '';
