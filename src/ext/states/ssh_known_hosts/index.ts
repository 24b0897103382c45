// State module `ssh_known_hosts`: known hosts.
import {
  defineState,
  isDict,
  newDict,
  type PlainDict,
  p,
  pyStr,
  resource,
  type StateContext,
  type StateResult,
  state,
  textKeyed,
  type Value,
  withForecast,
} from 'halite/sdk';
import { failureOf, isExpected } from '../shared/calls.ts';

const user = p.scalar({ default: null, doc: 'whose file; the one of the system when left out' });
const config = p.scalar({ default: null, doc: 'the file' });
const fileOf = (given: Value, who: Value): string =>
  pyStr(given || (who ? '.ssh/known_hosts' : '/etc/ssh/ssh_known_hosts'));
const needsPath = 'If not specifying a "user", specify an absolute "config".';

interface Wanted {
  readonly name: string;
  readonly user: Value;
  readonly fingerprint: Value;
  readonly key: Value;
  readonly port: Value;
  readonly enc: Value;
  readonly file: string;
  readonly hashType: Value;
}

async function forecast(
  { name, key, fingerprint, enc, port, file, hashType, user: who }: Wanted,
  ctx: StateContext,
): Promise<StateResult> {
  if (key && fingerprint) return ctx.fail('Specify either "key" or "fingerprint", not both.');
  if (key && !enc) return ctx.fail('Required argument "enc" if using "key" argument.');
  let status: Value;
  try {
    status = await ctx.callWith('ssh.check_known_host', [who, name], {
      key,
      fingerprint,
      config: file,
      port,
      fingerprint_hash_type: hashType,
    });
  } catch (error) {
    if (!isExpected(error)) throw error;
    return ctx.fail(`ssh.check_known_host error: ${failureOf(error).message}`);
  }
  if (isDict(status)) return ctx.fail(pyStr(textKeyed(status)['error'] ?? ''));
  if (status === 'exists') return ctx.ok(`Host ${name} is already in ${file}`);
  return ctx.result({
    result: null,
    comment: `Key for ${name} is set to be ${status === 'add' ? 'added to' : 'updated in'} ${file}`,
  });
}

/** The saved entry, with the details of the request. */
function savedText({ name, key, fingerprint, enc, file }: Wanted, answer: PlainDict): string {
  const first = textKeyed(Array.isArray(answer['new']) ? answer['new'][0] : undefined);
  if (key) return `${name}'s key saved to ${file} (key: ${pyStr(first['key'] ?? '')})`;
  if (fingerprint) return `${name}'s key saved to ${file} (fingerprint: ${pyStr(first['fingerprint'] ?? '')})`;
  if (enc) return `${name}'s ${pyStr(enc)} key saved to ${file} (key: ${pyStr(first['key'] ?? '')})`;
  return `${name}'s key(s) saved to ${file}`;
}

const present = state({
  doc: 'A known host.',
  examples: ['github.com:\n  ssh_known_hosts.present:\n    - user: root\n    - fingerprint: 9d:38:5b:…'],
  params: {
    name: p.string({ doc: 'the host' }),
    user,
    fingerprint: p.scalar({ default: null, doc: 'fingerprint its key must have' }),
    key: p.scalar({ default: null, doc: 'its key' }),
    port: p.scalar({ default: null, doc: 'its port' }),
    enc: p.scalar({ default: null, doc: 'kind of key' }),
    config,
    hash_known_hosts: p.bool({ default: true, doc: 'hash its name' }),
    timeout: p.scalar({ default: 5, nullable: true, doc: 'seconds to wait for its answer' }),
    fingerprint_hash_type: p.scalar({ default: null, doc: 'hash of fingerprints' }),
  },
  async run(args, ctx) {
    const file = fileOf(args.config, args.user);
    if (!args.user && !file.startsWith('/')) return ctx.fail(needsPath);
    const wanted: Wanted = { ...args, file, hashType: args.fingerprint_hash_type };
    const { user: who, fingerprint, key, port, enc, hash_known_hosts, timeout, fingerprint_hash_type } = args;
    const save = async (): Promise<StateResult> => {
      const answer = textKeyed(
        await ctx.callWith('ssh.set_known_host', [], {
          user: who,
          hostname: args.name,
          ...{ fingerprint, key, port, enc },
          config: file,
          ...{ hash_known_hosts, timeout, fingerprint_hash_type },
        }),
      );
      if (answer['status'] === 'exists') return ctx.ok(`${args.name} already exists in ${file}`);
      if (answer['status'] === 'error') return ctx.fail(pyStr(answer['error'] ?? ''));
      const changes = newDict(Object.entries({ old: answer['old'] ?? null, new: answer['new'] ?? null }));
      return ctx.ok(savedText(wanted, answer), { changes });
    };
    return withForecast(ctx, () => forecast(wanted, ctx), save);
  },
});

const absent = state({
  doc: 'A host that must not be known.',
  examples: ['github.com:\n  ssh_known_hosts.absent:\n    - user: root'],
  params: { name: p.string({ doc: 'the host' }), user, config },
  async run(args, ctx) {
    const file = fileOf(args.config, args.user);
    if (!args.user && !file.startsWith('/')) return ctx.fail(needsPath);
    const entry = { user: args.user, hostname: args.name, config: file };
    return resource(ctx, {
      find: () => ctx.callWith('ssh.get_known_host_entries', [], entry),
      wanted: false,
      change: async () => textKeyed(await ctx.callWith('ssh.rm_known_host', [], entry)),
      problem: (answer) => (answer['status'] === 'error' ? pyStr(answer['error'] ?? '') : undefined),
      changes: ({ found }) => ({ old: found, new: null }),
      right: 'Host is already absent',
      would: `Key for ${args.name} is set to be removed from ${file}`,
      done: ({ answer }) => pyStr(answer['comment'] ?? ''),
    });
  },
});

export default defineState({
  name: 'ssh_known_hosts',
  doc: 'Known hosts.',
  functions: { present, absent },
});
