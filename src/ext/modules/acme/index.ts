// Execution module `acme`: certificates of Let's Encrypt, with certbot.

import {
  type ArgsOf,
  defineModule,
  fn,
  invocationError,
  isTruthy,
  type ModuleContext,
  newDict,
  type PlainDict,
  p,
  pyStr,
  type Value,
} from 'halite/sdk';
import { chmodSync, chownSync, isDirectory, isFile, listDir, realpathSync, statSync } from 'halite/sdk/fs';
import { groupByName, userByName, whichFirst } from 'halite/sdk/system';
import { certParams } from '../../shared/acme/params.ts';
import { type Answer, command } from '../shared/command.ts';

const live = '/etc/letsencrypt/live/';
const programs = ['certbot', 'letsencrypt', 'certbot-auto', 'letsencrypt-auto', '/opt/letsencrypt/letsencrypt-auto'];
const certFile = (name: string, kind = 'cert'): string => `${live}${name}/${kind}.pem`;

/** Local time without a zone, as Python writes it. */
const isoLocal = (time: Date): string =>
  new Date(time.getTime() - time.getTimezoneOffset() * 60_000).toISOString().slice(0, 19);

/** The time when a certificate expires, or that many days before it, when it must be renewed. */
async function endOf(name: string, window: number, ctx: ModuleContext): Promise<Date> {
  const about = (await ctx.call('x509.read_certificate', certFile(name))) as PlainDict;
  const time = new Date(`${pyStr(about['not_after'] ?? about['Not After'] ?? '').replace(' ', 'T')}Z`);
  return new Date(time.getTime() - window * 86_400_000);
}

async function needsRenewal(name: string, window: Value, ctx: ModuleContext): Promise<boolean> {
  if (!isTruthy(window)) return (await endOf(name, 0, ctx)) <= new Date();
  if (/^(force|true)$/i.test(pyStr(window))) return true;
  if (!/^\d+$/.test(pyStr(window)))
    throw invocationError(
      'The argument "window", if provided, must be one of the following : True (boolean), "force" or "Force" (str) or a numerical value in days.',
    );
  return (await endOf(name, Number(window), ctx)) <= new Date();
}

type Wanted = ArgsOf<typeof certParams>;

const option = (flag: string, value: string | null): string[] => (isTruthy(value) ? [flag, pyStr(value)] : []);

function authenticator(args: Wanted): string[] {
  if (isTruthy(args.webroot))
    return ['--authenticator', 'webroot', ...(args.webroot === true ? [] : ['--webroot-path', pyStr(args.webroot)])];
  if (args.dns_plugin !== 'cloudflare') return ['--authenticator', 'standalone'];
  const seconds = args.dns_plugin_propagate_seconds;
  const credentials = pyStr(args.dns_plugin_credentials);
  const plugin = ['--dns-cloudflare', '--dns-cloudflare-credentials', credentials];
  return [...plugin, '--dns-cloudflare-propagation-seconds', seconds];
}

function argvOf(args: Wanted, certname: string, renew: boolean): string[] {
  const names = [args.name, ...(Array.isArray(args.aliases) ? args.aliases : [])];
  return [
    ...[whichFirst(programs) ?? 'certbot', 'certonly', '--non-interactive', '--agree-tos'],
    ...(renew ? ['--renew-by-default'] : []),
    ...[...option('--server', args.server), '--cert-name', certname, ...(args.test_cert ? ['--test-cert'] : [])],
    ...[...authenticator(args), ...option('--email', args.email), ...option('--rsa-key-size', args.keysize)],
    ...names.flatMap((one) => ['--domains', one]),
    ...option('--preferred-challenges', args.preferred_challenges),
    ...[
      ...option('--tls-sni-01-port', args.tls_sni_01_port),
      ...option('--tls-sni-01-address', args.tls_sni_01_address),
    ],
    ...[...option('--http-01-port', args.http_01_port), ...option('--http-01-address', args.http_01_address)],
  ];
}

/** Sets owner and mode of the key file that the link points to. */
function guardKey(certname: string, args: Wanted): void {
  const file = realpathSync(certFile(certname, 'privkey'));
  const now = statSync(file);
  const [uid, gid] = [userByName(args.owner)?.uid ?? now.uid, groupByName(args.group)?.gid ?? now.gid];
  if (uid !== now.uid || gid !== now.gid) chownSync(file, uid, gid);
  chmodSync(file, Number.parseInt(args.mode, 8));
}

async function obtain(args: Wanted, ctx: ModuleContext): Promise<PlainDict> {
  const certname = isTruthy(args.certname) ? pyStr(args.certname) : args.name;
  const failed = (comment: string): PlainDict => newDict(Object.entries({ result: false, comment }));
  if (args.test_cert && isTruthy(args.server)) return failed('Use either server or test_cert, not both');
  const renew = isFile(certFile(certname)) && (await needsRenewal(certname, args.renew, ctx));
  const argv = argvOf(args, certname, renew);
  let done: Answer = await command(ctx, argv);
  if (done.retcode !== 0 && done.stderr.includes('expand')) done = await command(ctx, [...argv, '--expand']);
  if (done.retcode !== 0) return failed(`Certificate ${args.name} renewal failed with:\n${done.stderr}`);
  const unchanged = done.stdout.includes('no action taken');
  guardKey(certname, args);
  return newDict(
    Object.entries({
      comment: unchanged
        ? `Certificate ${certFile(certname)} unchanged`
        : `Certificate ${certname} ${renew ? 'renewed' : 'obtained'}`,
      not_after: isoLocal(await endOf(certname, 0, ctx)),
      changes: newDict(),
      result: unchanged ? null : true,
    }),
  );
}

const name = p.string({ doc: 'the certificate' });
const window = p.oneOf(['bool', 'string'], {
  default: null,
  falsy: null,
  doc: 'days before it expires; true means always',
});

export default defineModule({
  name: 'acme',
  doc: "Certificates of Let's Encrypt.",
  available: () =>
    whichFirst(programs) !== null || 'The ACME execution module cannot be loaded: letsencrypt-auto not installed.',
  reads: ['certs', 'info', 'expires', 'has', 'renew_by', 'needs_renewal'],
  functions: {
    cert: fn({
      doc: 'Obtains or renews a certificate.',
      examples: ["salt '*' acme.cert www.example.com webroot=/var/www email=admin@example.com"],
      params: certParams,
      run: obtain,
    }),
    certs: fn({
      doc: 'Existing certificates.',
      examples: ["salt '*' acme.certs"],
      run: () => listDir(live).filter((one) => isDirectory(`${live}${one}`)),
    }),
    info: fn({
      doc: 'Details of a certificate.',
      examples: ["salt '*' acme.info www.example.com"],
      params: { name },
      run: (args, ctx) =>
        isFile(certFile(args.name)) ? ctx.call('x509.read_certificate', certFile(args.name)) : newDict(),
    }),
    expires: fn({
      doc: 'When a certificate expires.',
      examples: ["salt '*' acme.expires www.example.com"],
      params: { name },
      run: async (args, ctx) => isoLocal(await endOf(args.name, 0, ctx)),
    }),
    has: fn({
      doc: 'Whether a certificate exists.',
      examples: ["salt '*' acme.has www.example.com"],
      params: { name },
      run: (args) => isFile(certFile(args.name)),
    }),
    renew_by: fn({
      doc: 'When a certificate should be renewed.',
      examples: ["salt '*' acme.renew_by www.example.com window=30"],
      params: { name, window },
      run: async (args, ctx) => isoLocal(await endOf(args.name, Number(args.window ?? 0), ctx)),
    }),
    needs_renewal: fn({
      doc: 'Whether a certificate should be renewed.',
      examples: ["salt '*' acme.needs_renewal www.example.com window=30"],
      params: { name, window },
      run: (args, ctx) => needsRenewal(args.name, args.window, ctx),
    }),
  },
});
