// Short names of certificate arguments, signing policies, and signing by another minion.
import {
  commandError,
  type Dict,
  dictEntries,
  dictGet,
  invocationError,
  isDict,
  type ModuleContext,
  newDict,
  type PlainDict,
  pyStr,
  type Value,
} from 'halite/sdk';
import { longExtensionNames } from './extensions.ts';
import { longNames, nameOids } from './names.ts';

/** Replaces old and long names by the short ones, and removes obsolete arguments. */
export function shortened(given: PlainDict): PlainDict {
  const other: Readonly<Record<string, string>> = { ...longNames, ...longExtensionNames, algorithm: 'digest' };
  return newDict(
    Object.entries(given)
      .filter(([key]) => !key.startsWith('__') && !['text', 'version', 'serial_bits', 'verbose'].includes(key))
      .map(([key, value]) => [Object.hasOwn(other, key) ? (other[key] as string) : key, value]),
  );
}

const policyDict = (value: Value | undefined): PlainDict => {
  if (Array.isArray(value)) return newDict(value.flatMap((item) => (isDict(item) ? entries(item) : [])));
  return value !== undefined && isDict(value) ? newDict(entries(value)) : newDict();
};
const entries = (dict: Dict): [string, Value][] => dictEntries(dict).map(([key, value]) => [pyStr(key), value]);

/** The policy of that name in the pillar or the configuration (`x509_signing_policies`). */
export async function ownPolicy(name: Value, ctx: ModuleContext): Promise<PlainDict> {
  if (name === null) return newDict();
  for (const fun of ['pillar.get', 'config.get']) {
    const all = await ctx.call(fun, 'x509_signing_policies', newDict());
    const found = isDict(all) ? dictGet(all, pyStr(name)) : undefined;
    if (found) return shortened(policyDict(found));
  }
  return newDict();
}

/** A policy takes precedence over the request. */
export function withPolicy(policy: PlainDict, args: PlainDict): PlainDict {
  const result = newDict(Object.entries(args));
  const names = Object.keys(nameOids);
  if (names.some((name) => name in policy)) delete result['subject'];
  const [asked, fixed] = [result['subject'], policy['subject']];
  const rest = newDict(Object.entries(policy));
  if (asked !== undefined && fixed !== undefined && isDict(asked) && isDict(fixed)) {
    result['subject'] = newDict([...entries(asked), ...entries(fixed)]);
    delete rest['subject'];
  }
  return Object.assign(result, rest);
}

interface Answer {
  readonly data: Value;
  readonly errors?: Value;
}

/** Calls the signing minion; the master must allow this function (`peer`). */
export async function askSigner(
  server: Value,
  policy: Value,
  args: PlainDict,
  onlyPolicy: boolean,
  ctx: ModuleContext,
): Promise<Value> {
  const answer = await ctx.callWith('publish.publish', [server, 'x509.sign_remote_certificate'], {
    arg: [policy, args, onlyPolicy],
    timeout: 60,
  });
  const first = isDict(answer) ? dictEntries(answer)[0]?.[1] : undefined;
  if (first === undefined)
    throw invocationError(
      'ca_server did not respond. Salt master must permit peers to call the sign_remote_certificate function.',
    );
  if (!isDict(first) || dictGet(first, 'data') === undefined)
    throw commandError('Received invalid return value from ca_server. See minion log for details');
  const { data, errors } = Object.fromEntries(entries(first)) as unknown as Answer;
  if (Array.isArray(errors) && errors.length > 0)
    throw commandError(`ca_server reported errors:\n${errors.map(pyStr).join('\n')}`);
  return data;
}

/** The policy, from the signing minion or the local one. */
export async function policyFor(name: string, server: string | null, ctx: ModuleContext): Promise<PlainDict> {
  if (server === null) return ownPolicy(name, ctx);
  const place = `x509 policy ${pyStr(server)} ${pyStr(name)}`;
  const known = ctx.cache.get(place) as PlainDict | undefined;
  if (known) return known;
  const found = shortened(policyDict(await askSigner(server, name, newDict(), true, ctx)));
  ctx.cache.set(place, found);
  return found;
}
