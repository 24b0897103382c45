// What joining will do to this machine, in files and in words.
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { asNumber, dictGet, isDict, newDict, type PlainDict, type Value } from '../../../../base/codec/value.ts';
import { dumpYaml } from '../../../../base/codec/yaml/index.ts';
import { findAccount } from '../../../../base/config/accounts.ts';
import type { MasterOpts } from '../../../../base/config/index.ts';
import { HaliteError } from '../../../../base/errors/index.ts';
import { redact } from '../../../../base/log/redact.ts';
import { visibleLine } from '../../../../base/util/visible.ts';
import { busKeyFile, busKeysOf } from '../../../../engine/cluster/bus-keys.ts';
import type { Invitation } from '../../../../engine/cluster/joining/invitation.ts';
import type { Handover } from '../../../../engine/cluster/joining/messages.ts';
import { readClusterOptions } from '../../../../engine/cluster/options.ts';
import { equalOptions } from '../../../../master/shared/drift-options.ts';
import type { Change } from '../../../moving/place.ts';
import { checkKeys } from './keys.ts';

export interface JoinFacts {
  readonly invitation: Invitation;
  readonly opts: MasterOpts;
  readonly configDir: string;
  readonly member: string;
  /** The configuration has a block `cluster:`, which stays as it is. */
  readonly hasOwn: boolean;
}

export interface JoinPlan {
  readonly files: readonly { readonly path: string; readonly text: string; readonly mode: number }[];
  /** Options that become equal to those of the members, and their values here before. */
  readonly options: readonly { readonly name: string; readonly before: Value; readonly after: Value }[];
}

const longestKey = 64 * 1024;

export function joinPlan(facts: JoinFacts, handover: Handover, keys: ReadonlyMap<string, string>): JoinPlan {
  const { invitation, opts, configDir, hasOwn } = facts;
  checkKeys(keys, invitation, `the master ${handover.member}`);
  const files: { path: string; text: string; mode: number }[] = [];
  for (const [name, text] of keys) {
    const known = /^master\.(pem|pub)$|^[\w-]{1,64}\.(pem|pub)$|^[\w.-]{1,64}signature$/.test(name);
    if (!known || text.length > longestKey) throw odd(`a key file ${visibleLine(name)}`);
    files.push({ path: join(opts.pki_dir, name), text, mode: name.endsWith('.pem') ? 0o400 : 0o644 });
  }
  // Read as the master will read it.
  busKeysOf(handover.busKeys, 'the answer of the cluster');
  files.push({ path: join(opts.pki_dir, busKeyFile), text: handover.busKeys, mode: 0o400 });
  if (invitation.ca !== undefined && !hasOwn) files.push({ path: caPlace(facts), text: invitation.ca, mode: 0o644 });
  if (!hasOwn)
    files.push({ path: join(configDir, 'master.d/cluster.conf'), text: clusterText(facts, handover), mode: 0o644 });
  const options = equalOptions
    .filter((name) => handover.options[name] !== undefined)
    .map((name) => ({ name, before: opts.raw[name] ?? null, after: handover.options[name] as Value }))
    .filter(({ before, after }) => !isDeepStrictEqual(plain(before), plain(after)));
  const place = join(configDir, 'master.d/zz-cluster.conf');
  const values = newDict([...before(place, opts), ...options.map(({ name, after }): [string, Value] => [name, after])]);
  if (options.length > 0) {
    const secret = !isDeepStrictEqual(plain(redact(values)), plain(values));
    const head = `# What is equal on all masters of the cluster ${invitation.cluster}. Written by halite cluster join.\n`;
    files.push({ path: place, text: head + dumpYaml(values), mode: secret ? 0o640 : 0o644 });
  }
  return { files, options };
}

/** A file of an earlier join stays in effect for the options that are equal already. */
function before(place: string, opts: MasterOpts): [string, Value][] {
  if (!existsSync(place)) return [];
  const names = new Set([...readFileSync(place, 'utf8').matchAll(/^([a-z_]+):/gm)].map(([, name]) => name));
  return equalOptions.filter((name) => names.has(name)).map((name): [string, Value] => [name, opts.raw[name] ?? null]);
}

const caPlace = ({ opts }: JoinFacts): string => join(opts.pki_dir, 'cluster_ca.pem');

function clusterText(facts: JoinFacts, { cluster }: Handover): string {
  const { invitation } = facts;
  if (dictGet(cluster, 'nats') === 'managed') {
    throw new HaliteError(
      'config.missing',
      'The masters of this cluster run their nats-servers themselves, and this machine has no block `cluster:` for its own',
      {
        hint: 'Write it first, with name, nats: managed, listen, routes_listen and peers, and the address of this machine in `peers` of the others; then run this again.',
      },
    );
  }
  const block = newDict([
    ['name', invitation.cluster],
    ['servers', [...invitation.servers]],
  ] as [string, Value][]);
  if (invitation.insecure) block['insecure'] = true;
  if (invitation.ca !== undefined) block['ca'] = caPlace(facts);
  const defaults = { ack: 'both', ack_wait: 2, replicas: 3, log_mb: 4096 };
  for (const [name, usual] of Object.entries(defaults)) {
    const value = dictGet(cluster, name);
    if ((typeof value === 'string' || asNumber(value) !== undefined) && value !== usual) block[name] = value as Value;
  }
  readClusterOptions(block);
  return `# Written by halite cluster join.\n${dumpYaml(newDict([['cluster', block]]))}`;
}

export function changesOf({ files }: JoinPlan, scratch: string, user: string): Change[] {
  const account = process.geteuid?.() === 0 ? findAccount(user) : undefined;
  return files.map(({ path, text, mode }, at) => {
    const file = join(scratch, `new-${at}`);
    writeFileSync(file, text, { mode: 0o600 });
    const sha256 = createHash('sha256').update(text).digest('hex');
    return { path, mode, owner: account && { uid: account.uid, gid: account.gid }, content: { file, sha256 } };
  });
}

interface Known {
  readonly handover: Handover;
  readonly plan: JoinPlan;
  readonly keysFrom: string | undefined;
}

/** Without what the members said: the plan of a dry run. */
export function planText(facts: JoinFacts, known?: Known): string {
  const { invitation, opts, configDir, member, hasOwn } = facts;
  const slot = known ? `slot ${known.handover.slot}` : 'a free slot';
  const lines = [
    `This machine (configuration ${configDir}) becomes the master ${member} of the cluster ${invitation.cluster}, in ${slot}:`,
    `  nats-servers     ${invitation.servers.join(', ')}`,
    `  RSA key          ${invitation.fingerprint}`,
  ];
  if (!known) {
    lines.push(
      `  keys             master.pem, master.pub, ${busKeyFile} and signing keys into ${opts.pki_dir}; over ssh if ${invitation.ssh} can be read, else sealed for this machine`,
      `  configuration    ${hasOwn ? '`cluster:` is there already and stays' : join(configDir, 'master.d/cluster.conf')}; options that must be equal: ${join(configDir, 'master.d/zz-cluster.conf')}`,
      `What is replaced is copied to ${join(opts.cachedir, 'backup')} first. Keys of minions, grains, the mine and the history come when the master starts.`,
    );
  } else {
    lines.push(`  keys             from ${known.keysFrom ?? `${known.handover.member}, sealed for this machine`}`);
    for (const { path } of known.plan.files)
      lines.push(`  ${existsSync(path) ? 'replaced' : 'new     '}         ${path}`);
    for (const { name, before, after } of known.plan.options)
      lines.push(`  option           ${optionText(name, before, after)}`);
  }
  return `${lines.join('\n')}\n`;
}

function optionText(name: string, before: Value, after: Value): string {
  const shown = (value: Value): string => {
    const [text = ''] = [JSON.stringify(redact(newDict([[name, value]])) as PlainDict)];
    return text.length > 80 ? `${text.slice(0, 77)}…` : text;
  };
  return visibleLine(`${shown(before)} becomes ${shown(after)}`);
}

/** For comparison: maps of any kind as plain objects. */
function plain(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(plain);
  if (!isDict(value)) return value;
  const entries = value instanceof Map ? [...value] : Object.entries(value);
  return Object.fromEntries(entries.map(([key, item]) => [String(key), plain(item)]));
}

const odd = (what: string): HaliteError =>
  new HaliteError('path.refused', `The answer of the cluster has ${what}, which is not taken. Nothing was changed.`);
