// State module `acme`: certificates of Let's Encrypt.
import {
  defineState,
  isTruthy,
  needsFunction,
  newDict,
  type PlainDict,
  pyEquals,
  pyStr,
  resource,
  state,
  textKeyed,
} from 'halite/sdk';
import { certParams } from '../../shared/acme/params.ts';

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
  doc: 'A certificate that exists and does not expire soon.',
  examples: [
    'www.example.com:\n  acme.cert:\n    - email: admin@example.com\n    - webroot: /var/www\n    - renew: 14',
  ],
  params: certParams,
  async run({ name, ...given }, ctx) {
    const certname = given.certname === null ? name : pyStr(given.certname);
    return resource(ctx, {
      find: async () => isTruthy(await ctx.call('acme.has', certname)),
      compare: async (there) => !there || isTruthy(await ctx.call('acme.needs_renewal', certname, given.renew)),
      async change({ found: there }) {
        const before = there ? textKeyed(await ctx.call('acme.info', certname)) : newDict();
        const said = textKeyed(await ctx.callWith('acme.cert', [name], { ...given, certname }));
        const after = isTruthy(said['result']) ? textKeyed(await ctx.call('acme.info', certname)) : newDict();
        return ctx.result({
          result: said['result'] ?? null,
          comment: [pyStr(said['comment'] ?? '')],
          changes: difference(before, after),
        });
      },
      testChanges: { old: 'current certificate', new: 'new certificate' },
      right: [`Certificate ${certname} exists and does not need renewal.`],
      would: ({ found }) => [`Certificate ${certname} would have been ${found ? 'renew' : 'obtain'}ed.`],
      extra: { name: certname },
    });
  },
});

export default defineState({
  name: 'acme',
  doc: "Certificates of Let's Encrypt.",
  available: needsFunction('acme.cert', 'acme module could not be loaded'),
  functions: { cert },
});
