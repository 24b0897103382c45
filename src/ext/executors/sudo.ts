// Executor `sudo`: runs the function with `salt-call` as another user.
import { basename, dirname, join } from 'node:path';
import { asNumber, defineExecutor, dictGet, fieldOf, isDict, messageOf, pyStr } from 'halite/sdk';
import { dumpJson, loadJson } from 'halite/sdk/codec';
import { existsSync } from 'halite/sdk/fs';
import { which } from 'halite/sdk/system';

/** State runs exclude each other; the outer call is one already. */
const stateRuns = new Set(['state.sls', 'state.highstate', 'state.apply']);

/** The command that belongs to this program, by its path: sudo has a PATH of its own. */
function saltCall(): string[] {
  const own = join(dirname(dirname(process.argv[1] ?? '')), 'bin', 'salt-call');
  return basename(process.argv[1] ?? '').startsWith('job-process') && existsSync(own)
    ? [process.execPath, own]
    : ['salt-call'];
}

export default defineExecutor({
  name: 'sudo',
  doc: 'Runs the function with salt-call as the user `sudo_user`, through sudo.',
  available: ({ opts }) => {
    if (!opts['sudo_user']) return 'sudo_user is not set';
    return which('sudo') === null ? 'sudo is not installed' : true;
  },
  async execute({ fun, args, kwargs }, ctx) {
    const named = Object.entries(kwargs).filter(([name]) => !name.startsWith('__pub_'));
    if (stateRuns.has(fun)) named.push(['concurrent', true]);
    const folder = dirname(pyStr(ctx.opts['conf_file'] ?? '/etc/salt/minion'));
    const options = ['--out', 'json', '--metadata', '-c', folder];
    const words = [...args.map((arg) => dumpJson(arg)), ...named.map(([name, value]) => `${name}=${dumpJson(value)}`)];
    const user = pyStr(ctx.opts['sudo_user'] ?? '');
    const command = ['-n', '-u', user, ...saltCall(), ...options, '--', fun, ...words];
    const { retcode, stdout, stderr } = await ctx.exec('sudo', command);
    ctx.setRetcode(retcode);
    if (retcode !== 0 && stdout.trim() === '') return stderr;
    try {
      const local = fieldOf(loadJson(stdout), 'local') ?? null;
      if (!isDict(local)) return stderr;
      ctx.setRetcode(asNumber(dictGet(local, 'retcode')) ?? 0);
      return dictGet(local, 'return') ?? null;
    } catch (error) {
      ctx.setRetcode(retcode || 1);
      return `${stderr}\nThe answer of salt-call cannot be read: ${messageOf(error)}`.trim();
    }
  },
});
