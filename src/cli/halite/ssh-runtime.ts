// `halite ssh-runtime add`: keeps a Node.js for targets of salt-ssh that this master's own does not run on.
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { HaliteError } from '../../base/errors/index.ts';
import { nullLogger } from '../../base/log/index.ts';
import { isFile } from '../../base/util/fs-facts.ts';
import { Runtimes } from '../../ssh/runtimes.ts';

const systems = /^linux-(?:x64-glibc-217|(?:x64|arm64|armv7l|ppc64le|s390x)(?:-musl)?)$/;

/** The version is in the names that Node.js gives its files; a program for this machine says it itself. */
async function versionOf(program: string): Promise<string> {
  const named = /node-v(\d+\.\d+\.\d+)/.exec(program)?.[1];
  if (named) return named;
  const said = await promisify(execFile)(program, ['--version'], { timeout: 10_000 }).catch(() => undefined);
  const version = /^v(\d+\.\d+\.\d+)/.exec(said?.stdout ?? '')?.[1];
  if (version) return version;
  throw new HaliteError('call.arguments', `Which version of Node.js ${program} is cannot be found out`, {
    hint: 'Keep the name of the folder it was unpacked into, such as node-v20.20.2-linux-arm64.',
  });
}

export async function addRuntime(opts: { readonly cachedir: string }, words: readonly string[]): Promise<string> {
  const [act, program = '', system = ''] = words;
  if (act !== 'add' || words.length !== 3 || !systems.test(system) || !isFile(program))
    throw new HaliteError('cli.usage', 'Write: halite ssh-runtime add /path/of/node linux-arm64', {
      hint: 'Systems: linux-x64, linux-arm64, linux-armv7l, linux-ppc64le, linux-s390x, and -musl; linux-x64-glibc-217.',
    });
  return new Runtimes(opts.cachedir, nullLogger()).add(program, system, await versionOf(program));
}
