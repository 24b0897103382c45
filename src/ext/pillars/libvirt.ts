// External pillar `libvirt`: keys and certificates for hypervisors, created on the master at the first request.

import { join } from 'node:path';
import { definePillar, dictGet, newDict, type PillarContext, p, pyStr } from 'halite/sdk';
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'halite/sdk/fs';

async function certtool(ctx: PillarContext, ...args: string[]): Promise<string> {
  const done = await ctx.exec('certtool', args, { timeoutMs: 120_000 });
  if (done.retcode !== 0) throw new Error(`certtool failed: ${done.stderr.trim().slice(0, 300)}`);
  return done.stdout;
}

async function makeKey(file: string, ctx: PillarContext): Promise<void> {
  if (!existsSync(file)) writeFileSync(file, await certtool(ctx, '--generate-privkey'), { mode: 0o600 });
}

interface Signed {
  readonly name: string;
  readonly template: readonly string[];
}

/** One line of a template; a line break would add another setting. */
const setting = (name: string, value: string): string => `${name} = ${value.replace(/[\r\n]+/g, ' ')}`;

/** The authority of all hypervisors, then key and certificate of this one. */
async function makeAll(folder: string, own: string, ctx: PillarContext): Promise<void> {
  const request = (name: string, otherwise: string): string =>
    pyStr(dictGet(ctx.pillar, `ext_pillar_virt.${name}`) ?? otherwise);
  const cn = setting('cn', pyStr(dictGet(ctx.grains, 'fqdn') ?? ctx.minionId));
  const usage = ['encryption_key', 'signing_key'];
  mkdirSync(own, { recursive: true, mode: 0o700 });
  const [caKey, caCert] = [join(folder, 'cakey.pem'), join(folder, 'cacert.pem')];
  const info = (file: string, lines: readonly string[]): string => {
    if (!existsSync(file)) writeFileSync(file, `${lines.join('\n')}\n`);
    return file;
  };
  const caInfo = info(join(folder, 'ca.info'), ['cn = salted', 'ca', 'cert_signing_key']);
  await makeKey(caKey, ctx);
  if (!existsSync(caCert))
    await certtool(ctx, '--generate-self-signed', '--load-privkey', caKey, '--template', caInfo, '--outfile', caCert);
  const country = [
    setting('country', request('country', 'US')),
    setting('state', request('st', 'Utah')),
    setting('locality', request('locality', 'Salt Lake City')),
    setting('organization', request('organization', 'Salted')),
  ];
  const days = setting('expiration_days', request('expiration_days', '365'));
  const wanted: Signed[] = [
    { name: 'server', template: ['organization = salted', cn, 'tls_www_server', ...usage, days] },
    { name: 'client', template: [...country, cn, 'tls_www_client', ...usage] },
  ];
  for (const { name, template } of wanted) {
    const [key, cert] = [join(own, `${name}key.pem`), join(own, `${name}cert.pem`)];
    await makeKey(key, ctx);
    const authority = ['--load-ca-certificate', caCert, '--load-ca-privkey', caKey];
    const from = ['--load-privkey', key, '--template', info(join(own, `${name}.info`), template)];
    if (!existsSync(cert)) await certtool(ctx, '--generate-certificate', ...from, ...authority, '--outfile', cert);
  }
}

export default definePillar({
  name: 'libvirt',
  doc: 'Keys and certificates for hypervisors, made by certtool on the master; the state virt.keys asks for them.',
  params: { command: p.ignored({ default: null, doc: 'no effect' }) },
  async compile(_args, ctx) {
    if (!/^[\w.@:+=,-]+$/.test(ctx.minionId) || ctx.minionId.startsWith('.'))
      throw new Error(`the id ${JSON.stringify(ctx.minionId)} cannot be the name of a folder`);
    const folder = join(pyStr(ctx.opts['pki_dir'] ?? '/etc/salt/pki/master'), 'libvirt');
    const own = join(folder, ctx.minionId);
    if (!existsSync(join(own, 'clientcert.pem'))) await makeAll(folder, own, ctx);
    const found = newDict();
    for (const file of readdirSync(own)
      .filter((name) => name.endsWith('.pem'))
      .sort()) {
      const text = readFileSync(join(own, file), 'utf8');
      if (file.endsWith('key.pem')) ctx.keepSecret(text);
      found[`libvirt.${file}`] = text;
    }
    found['libvirt.cacert.pem'] = readFileSync(join(folder, 'cacert.pem'), 'utf8');
    return found;
  },
});
