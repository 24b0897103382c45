// The program of the configuration that prints the password of the targets.
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { asList, asText, type PlainDict } from '../base/codec/value.ts';
import { HaliteError } from '../base/errors/index.ts';

const run = promisify(execFile);

/** Sets `ssh_passwd` to what the program of `ssh_passwd_command` prints, unless there is a password already. */
export async function askPasswordProgram(opts: PlainDict): Promise<void> {
  const command = opts['ssh_passwd_command'];
  const words = asList(command)?.map(String) ?? (asText(command) ? ['/bin/sh', '-c', String(command)] : []);
  const [file, ...args] = words;
  if (!file || opts['ssh_passwd']) return;
  try {
    const { stdout } = await run(file, args, { encoding: 'utf8', timeout: 60_000, maxBuffer: 65_536 });
    opts['ssh_passwd'] = firstLine(stdout);
  } catch (error) {
    const code = (error as { code?: unknown }).code;
    throw new HaliteError('config.value', `The program of ssh_passwd_command failed (${String(code)})`);
  }
}

export const firstLine = (text: string): string => (text.split('\n', 1)[0] ?? '').replace(/\r$/, '');
