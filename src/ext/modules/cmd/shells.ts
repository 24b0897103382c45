// The installed shells and interpreters.
import { type ModuleContext, messageOf, newDict, type PlainDict } from 'halite/sdk';
import { readText } from 'halite/sdk/fs';
import { which } from 'halite/sdk/system';
import { lines } from 'halite/sdk/text';

/** The shells /etc/shells lists. */
export function listedShells(): string[] {
  return lines(readText('/etc/shells') ?? '')
    .map((line) => line.trim())
    .filter((line) => line !== '' && !line.startsWith('#'));
}

const versionCommands: Readonly<Record<string, readonly [RegExp, ...string[]]>> = {
  bash: [/version (\d\S*)/i, 'bash', '--version'],
  'bash-test-error': [/versioZ ([-\w.]+)/i, 'bash', '--version'],
  'bash-test-env': [/(HOME=.*)/i, 'bash', '-c', 'declare'],
  zsh: [/^zsh (\d\S*)/i, 'zsh', '--version'],
  tcsh: [/^tcsh (\d\S*)/i, 'tcsh', '--version'],
  cmd: [/Version ([\d.]+)/i, 'cmd.exe', '/C', 'ver'],
  powershell: [/PSVersion\s+(\d\S*)/i, 'powershell', '-NonInteractive', '$PSVersionTable'],
  perl: [/^(\d\S*)/i, 'perl', '-e', 'printf "%vd\n", $^V;'],
  python: [/^Python (\d\S*)/i, 'python', '-V'],
  ruby: [/^ruby (\d\S*)/i, 'ruby', '-v'],
  php: [/^PHP (\d\S*)/i, 'php', '-v'],
};

/** Whether an interpreter is installed, where, and its version. */
export async function shellInfo(shell: string, ctx: ModuleContext): Promise<PlainDict> {
  const known = Object.hasOwn(versionCommands, shell) ? versionCommands[shell] : undefined;
  if (!known) {
    return newDict([
      ['error', `Salt does not know how to get the version number for ${shell}`],
      ['installed', null],
    ]);
  }
  const [pattern, program = '', ...args] = known;
  const line = [program, ...args].join(' ');
  const path = which(program);
  if (!path) {
    const reason = `[Errno 2] No such file or directory: '${program}'`;
    return newDict([
      ['error', `Unable to run command '${line}' Reason: ${reason}`],
      ['installed', false],
    ]);
  }
  const failed = (reason: string): PlainDict =>
    newDict([
      ['error', `Unable to run command '${line}' Reason: ${reason}`],
      ['installed', false],
    ]);
  try {
    const { stdout, timedOut } = await ctx.exec(path, args, { mergeStderr: true, timeoutMs: 10_000 });
    if (timedOut) return failed('Timed out.');
    return describe(shell, path, pattern.exec(stdout)?.[1], stdout);
  } catch (error) {
    return failed(messageOf(error));
  }
}

function describe(shell: string, path: string, raw: string | undefined, output: string): PlainDict {
  const info = newDict([
    ['installed', raw === undefined ? null : false],
    ['path', path],
  ]);
  if (raw !== undefined) info['version_raw'] = raw;
  const digits = raw === undefined ? undefined : /^\d[\d.]*/.exec(raw)?.[0];
  if (digits !== undefined) {
    const parts = digits.split('.').slice(0, 3);
    if (parts.length === 1) parts.push('0');
    info['installed'] = true;
    info['version'] = parts.join('.');
    return info;
  }
  info['error'] = `The version regex pattern for shell ${shell}, could not find the version string`;
  info['stdout'] = output;
  return info;
}
