// Execution module `sdb`: values of secret stores, by addresses like sdb://profile/key.
import { randomInt } from 'node:crypto';
import { defineModule, fn, HaliteError, type ModuleContext, p, type SdbServices, type Value } from 'halite/sdk';

const uri = p.scalar({ nullable: true, doc: 'sdb://<profile>/<key>; the profile is an option or a key of the pillar' });
const usualCharacters = 'abcdefghijklmnopqrstuvwxyz0123456789!@#$%^&*(-_=+)';

function stores(ctx: ModuleContext): SdbServices {
  if (!ctx.sdb) throw new HaliteError('call.failed', 'Secret stores are not available here');
  return ctx.sdb;
}

async function getOrSet(address: Value, length: number, characters: string, ctx: ModuleContext): Promise<Value> {
  if (typeof address !== 'string' || !address.startsWith('sdb://')) return false;
  const known = await stores(ctx).get(address);
  if (known !== null) return known;
  const all = [...characters];
  const made = Array.from({ length }, () => all[randomInt(all.length)] as string).join('');
  await stores(ctx).set(address, made);
  return made;
}

export default defineModule({
  name: 'sdb',
  doc: 'Values of secret stores: profiles with a `driver` in the configuration or in the pillar.',
  reads: ['get'],
  functions: {
    get: fn({
      doc: 'The value of an address. A text that is not an address of a known profile is returned unchanged, unless `strict`.',
      examples: ["salt '*' sdb.get sdb://mymemcached/foo strict=True"],
      params: { uri, strict: p.bool({ default: false, doc: 'refuse texts that are not addresses' }) },
      run: (args, ctx) => stores(ctx).get(args.uri, args.strict),
    }),
    set: fn({
      doc: 'Sets a value; False when there is no such profile.',
      examples: ["salt '*' sdb.set sdb://mymemcached/foo bar"],
      params: { uri, value: p.any({ doc: 'the value, of any kind' }) },
      run: (args, ctx) => stores(ctx).set(args.uri, args.value),
    }),
    delete: fn({
      doc: 'Deletes a value; False when there is no such profile.',
      examples: ["salt '*' sdb.delete sdb://mymemcached/foo"],
      params: { uri },
      run: (args, ctx) => stores(ctx).delete(args.uri),
    }),
    get_or_set_hash: fn({
      doc: 'The value of an address; if there is none, stores and returns a random text.',
      examples: ["salt '*' sdb.get_or_set_hash sdb://mymemcached/SECRET_KEY 50"],
      params: {
        uri,
        length: p.int({ default: 8, doc: 'number of characters' }),
        chars: p.string({ default: usualCharacters, doc: 'characters to choose from' }),
      },
      run: (args, ctx) => getOrSet(args.uri, args.length, args.chars, ctx),
    }),
  },
});
