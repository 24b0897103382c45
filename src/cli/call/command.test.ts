// The messages of salt-call, and their stream, for invalid arguments.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { captureTerminal } from '../testing.ts';
import { saltCall } from './command.ts';

let folder: string;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'halite-call-'));
  writeFileSync(join(folder, 'minion'), `id: one\nroot_dir: ${folder}\nfile_client: local\nlog_level: quiet\n`);
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

async function call(...words: string[]) {
  const io = captureTerminal();
  const code = await saltCall(['-c', folder, '--local', '--out=json', ...words], io);
  return { code, out: io.stdout, err: io.stderr };
}

describe('salt-call with wrong arguments', { timeout: 60_000 }, () => {
  it('shows the usage when the function refuses its arguments, as Salt does', async () => {
    const { code, out, err } = await call('file.access', '/etc', 'q');
    expect({ code, err }).toEqual({ code: 1, err: '\nPassed invalid arguments: Invalid mode specified..\n\nUsage:\n' });
    expect(out).toContain('CLI Example:');
  });

  it('shows the usage for a TypeError of Python too', async () => {
    const { code, err } = await call('test.raise_exception', 'TypeError', 'not that');
    expect({ code, err }).toEqual({ code: 1, err: '\nPassed invalid arguments: not that.\n\nUsage:\n' });
  });

  it('shows the bare message for a keyword no function has', async () => {
    const { code, out, err } = await call('test.echo', 'x', 'bogus=1');
    expect({ code, out }).toEqual({ code: 1, out: '' });
    expect(err).toBe('The following keyword arguments are not valid: bogus=1\n');
  });

  it('reports the failure in one line', async () => {
    const { code, out, err } = await call('file.copy', '/no/such/file', '/tmp/x');
    expect({ code, out }).toEqual({ code: 1, out: '' });
    expect(err).toBe("Error running 'file.copy': No such file or directory '/no/such/file'\n");
  });
});
