// State module `acme`: certificates of Let's Encrypt.
import { defineState, newDict, type PlainDict, p, state } from 'halite/sdk';
import { pyStr } from '../../base/codec/python/index.ts';
import { pyEquals } from '../../base/util/index.ts';
import { needsFunction } from '../modules/support/needs.ts';
import { isTruthy } from '../modules/support/values.ts';
import { plain } from './support/calls.ts';

const any = (doc: string) => p.any({ default: null, doc });

/** Fields that differ, before and after. */
function difference(before: PlainDict, after: PlainDict): PlainDict {
  const keys = [...new Set([...Object.keys(before), ...Object.keys(after)])];
  const other = keys.filter((key) => !pyEquals(before[key] ?? null, after[key] ?? null));
  const side = (of: PlainDict): PlainDict =>
    newDict(other.filter((key) => key in of).map((key) => [key, of[key] ?? null]));
  const sides = Object.entries({ old: side(before), new: side(after) });
  return newDict(sides.filter(([, fields]) => Object.keys(fields).length > 0));
}

const cert = state({
  doc: 'A certificate that is there and does not end soon.',
  examples: [
    'www.example.com:\n  acme.cert:\n    - email: admin@example.com\n    - webroot: /var/www\n    - renew: 14',
  ],
  params: {
    name: p.string({ doc: 'the first name in the certificate' }),
    aliases: any('list of further names'),
    email: any('address for notices'),
    webroot: any('folder of the web site; true when certbot knows it'),
    test_cert: p.bool({ default: false, doc: 'from the servers for tests' }),
    renew: any('true, or days before its end'),
    keysize: any('size of the key'),
    server: any('another authority'),
    owner: p.string({ default: 'root', doc: 'owner of the key' }),
    group: p.string({ default: 'root', doc: 'group of the key' }),
    mode: p.any({ default: '0640', doc: 'mode of the key' }),
    certname: any('name of the certificate'),
    preferred_challenges: any('http or dns'),
    tls_sni_01_port: any('no longer used'),
    tls_sni_01_address: any('no longer used'),
    http_01_port: any('port certbot listens on'),
    http_01_address: any('address certbot listens on'),
    dns_plugin: any('cloudflare'),
    dns_plugin_credentials: any('file for the plugin'),
    dns_plugin_propagate_seconds: p.any({ default: 10, doc: 'how long names take' }),
  },
  async run({ name, ...given }, ctx) {
    const certname = given.certname === null ? name : pyStr(given.certname);
    const there = isTruthy(await ctx.call('acme.has', certname));
    if (there && !isTruthy(await ctx.call('acme.needs_renewal', certname, given.renew)))
      return ctx.result({
        name: certname,
        result: true,
        comment: [`Certificate ${certname} exists and does not need renewal.`],
      });
    if (ctx.test)
      return ctx.result({
        name: certname,
        result: null,
        comment: [`Certificate ${certname} would have been ${there ? 'renew' : 'obtain'}ed.`],
        changes: newDict(Object.entries({ old: 'current certificate', new: 'new certificate' })),
      });
    const before = there ? plain(await ctx.call('acme.info', certname)) : newDict();
    const said = plain(await ctx.callWith('acme.cert', [name], { ...given, certname }));
    const after = isTruthy(said['result']) ? plain(await ctx.call('acme.info', certname)) : newDict();
    return ctx.result({
      name: certname,
      result: said['result'] ?? null,
      comment: [pyStr(said['comment'] ?? '')],
      changes: difference(before, after),
    });
  },
});

export default defineState({
  name: 'acme',
  doc: "Certificates of Let's Encrypt.",
  available: needsFunction('acme.cert', 'acme module could not be loaded'),
  functions: { cert },
});
