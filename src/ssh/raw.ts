// `-r`: the words of the command line, interpreted by the login shell of the target; nothing is installed there.
import type { Limits, SshHost } from './host.ts';
import { sshFailure } from './reasons.ts';
import type { SshOutcome } from './session.ts';

const mostBytes = 64 << 20;

export async function runRaw(host: SshHost, words: readonly string[], limits: Limits): Promise<SshOutcome> {
  const process = host.connect(words.join(' '));
  const parts: Buffer[] = [];
  let bytes = 0;
  process.child.stdin.end();
  process.child.stdout.on('data', (chunk: Buffer) => {
    if (bytes < mostBytes) parts.push(chunk);
    bytes += chunk.length;
  });
  const retcode = await process.within(limits);
  if (typeof retcode !== 'number') return { kind: 'missing', failure: retcode };
  const stdout = Buffer.concat(parts).toString('utf8');
  if (retcode === 255 && stdout === '') {
    const failure = sshFailure(retcode, process.errors, host.asked);
    // Otherwise the command itself may have ended with 255.
    if (failure.code !== 'ssh-lost') return { kind: 'missing', failure };
  }
  return { kind: 'text', stdout, stderr: process.errors, retcode };
}
