// Authentication module `pam`: accounts of this machine, and everything else that its PAM knows.
import { type AuthContext, asText, ConcurrencyLimit, defineAuth, HaliteError } from 'halite/sdk';
import { type ChildProcess, spawn, which } from 'halite/sdk/system';
import { pamHelper } from './shared/pam-helper.ts';

const timeoutMs = 15_000;
/** PAM delays failed logins by seconds: a few processes are enough. */
const processes = 4;
const mostOutput = 4096;

/** Names that the tools of the system accept, and that cannot be an option or another field. */
const isName = (name: string): boolean => /^[^\0/:\n-][^\0/:\n]{0,255}$/.test(name);

const pythonOf = ({ opts }: Pick<AuthContext, 'opts'>): string => asText(opts['auth.pam.python']) || 'python3';

interface Outcome {
  readonly status: number | null;
  readonly text: string;
}

/** The password goes through a pipe: it is in no argument, no variable and no file. */
function ask(python: string, fields: readonly string[]): Promise<Outcome> {
  return new Promise((resolve, reject) => {
    const env = { PATH: process.env['PATH'] ?? '/usr/bin:/bin' };
    const child: ChildProcess = spawn(python, ['-I', '-S', '-c', pamHelper], { env, stdio: 'pipe' });
    let text = '';
    const keep = (piece: Buffer): void => {
      text = (text + piece.toString('utf8')).slice(0, mostOutput);
    };
    const timer = setTimeout(() => child.kill('SIGKILL'), timeoutMs);
    child.stdout?.on('data', keep);
    child.stderr?.on('data', keep);
    child.stdin?.on('error', () => undefined);
    child.on('error', (error) => {
      clearTimeout(timer);
      reject(error);
    });
    child.on('close', (status) => {
      clearTimeout(timer);
      resolve({ status, text: text.trim() });
    });
    child.stdin?.end(fields.join('\0'));
  });
}

/** By number: other names can have it too. */
async function isSuperUser(name: string, ctx: AuthContext): Promise<boolean> {
  const { stdout } = await ctx.exec('id', ['-u', '--', name], { timeoutMs });
  return name === 'root' || stdout.trim() === '0';
}

async function groupsOf(name: string, ctx: AuthContext): Promise<string[]> {
  if (!isName(name)) return [];
  const { retcode, stdout } = await ctx.exec('id', ['-Gn', '--', name], { timeoutMs });
  return retcode === 0 ? stdout.split(/\s+/).filter((group) => group !== '') : [];
}

export default defineAuth({
  name: 'pam',
  doc: 'Accounts of this machine, through PAM. Options: `auth.pam.service` (login), `auth.pam.allow_root`, `auth.pam.python`.',
  available: (system) =>
    which(pythonOf(system)) !== null || `it needs ${pythonOf(system)}, which asks PAM (option auth.pam.python)`,
  open(_settings, ctx) {
    const service = asText(ctx.opts['auth.pam.service']) || 'login';
    if (!/^[\w.-]{1,64}$/.test(service))
      throw new HaliteError(
        'config.value',
        `auth.pam.service: ${JSON.stringify(service)} is not the name of a PAM service`,
      );
    if (process.geteuid?.() !== 0) {
      ctx.log.error(
        'pam: this master is not root, so PAM accepts only passwords of its own account: run it as root, or let its user read the shadow file (on Debian: group shadow)',
      );
    }
    const limit = new ConcurrencyLimit(processes, 2 * timeoutMs);
    return {
      async check({ username, password }) {
        if (!isName(username) || password === '' || password.includes('\0')) return undefined;
        if (ctx.opts['auth.pam.allow_root'] !== true && (await isSuperUser(username, ctx)))
          throw new HaliteError('auth.failed', 'root may log in only with auth.pam.allow_root');
        const { status, text } = await limit.run(() => ask(pythonOf(ctx), [service, username, password]));
        if (status === 0) return { groups: await groupsOf(username, ctx) };
        throw new HaliteError('auth.failed', status === null ? 'PAM did not answer' : `PAM refused it: ${text}`);
      },
      groups: (name) => groupsOf(name, ctx),
    };
  },
});
