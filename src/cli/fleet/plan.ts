// From the command line of `salt-fleet` to what each of its processes has to do; everything is checked before any of them starts.
import { lookup } from 'node:dns/promises';
import { isIP } from 'node:net';
import { asNumber, asText } from '../../base/codec/value.ts';
import { HaliteError, messageOf } from '../../base/errors/index.ts';
import { minionIdProblem } from '../../base/util/valid-id.ts';
import type { FleetOptions, Protocol } from '../../fleet/options.ts';
import { openFilesLimit } from '../../protocol/wire/link/open-files.ts';
import { bareHost } from '../../protocol/wire/link/resolve.ts';
import type { ParsedCommandLine } from '../optparse.ts';

const mostMinions = 100_000;
const mostProcesses = 32;
const mostConnections = 20_000;
const mostShared = 50;
const minionsOfProcess = 5000;
const usualConnections = 64;
/** What a process has open besides its connections. */
const otherFiles = 64;
const mostSeconds = 86_400;

const wrong = (message: string, hint?: string): HaliteError =>
  new HaliteError('cli.usage', message, hint ? { hint } : {});

type Values = ParsedCommandLine['values'];

function numberOf(values: Values, name: string, least: number, most: number): number {
  const value = asNumber(values[name]);
  if (value === undefined || !Number.isFinite(value) || value < least || value > most)
    throw wrong(`--${name.replaceAll('_', '-')} must be a number from ${least} to ${most}`);
  return value;
}

const msOf = (values: Values, name: string, least = 0): number =>
  Math.round(numberOf(values, name, least, mostSeconds) * 1000);
const shareOf = (values: Values, name: string): number => numberOf(values, name, 0, 1);

/** Names a master: `host`, `host:port`, `[::1]:port`. */
export function readMaster(text: string): { readonly host: string; readonly port: number } {
  const found = /^(\[[\da-fA-F:.%]+\]|[^:[\]]+)(?::(\d{1,5}))?$/.exec(text);
  if (!found && isIP(text) === 6) return { host: text, port: 4506 };
  const port = Number(found?.[2] ?? 4506);
  if (!found?.[1] || port < 1 || port > 65_535)
    throw wrong(`"${text.slice(0, 80)}" is not <master> or <master>:<port>`);
  return { host: found[1], port };
}

const isLoopback = (address: string): boolean => /^127\.|^::1$|^::ffff:127\./.test(address);

/** The address that is used for the whole run, so that it cannot become another one after the check. */
async function addressOf(host: string, own: boolean): Promise<string> {
  const found = await lookup(bareHost(host), { all: true }).catch((error: unknown) => {
    throw new HaliteError('wire.closed', `The master ${host} is not known: ${messageOf(error)}`);
  });
  const loopback = found.find(({ address }) => isLoopback(address));
  const [first] = found;
  if (loopback) return loopback.address;
  if (!first) throw new HaliteError('wire.closed', `The master ${host} has no address`);
  if (own) return first.address;
  throw new HaliteError(
    'auth.denied',
    `${host} (${first.address}) is not this machine, and this command loads a master as hard as it can`,
    {
      hint: 'If the master is yours and may be loaded, add --i-own-this-master.',
    },
  );
}

export interface FleetPlan {
  readonly master: string;
  readonly parts: readonly FleetOptions[];
  readonly durationMs: number;
  /** Stop after so many jobs; 0: no limit. */
  readonly jobs: number;
  readonly stormShare: number;
}

export async function planFleet({ values, args }: ParsedCommandLine): Promise<FleetPlan> {
  if (args.length > 1) throw wrong('name one master');
  const { host, port } = readMaster(args[0] ?? '127.0.0.1');
  const whole = wholeFleet(values, port);
  const parts = splitFleet(whole, numberOf(values, 'processes', 0, mostProcesses));
  checkFiles(parts);
  const address = await addressOf(host, values['own'] === true);
  return {
    master: `${host}:${port}`,
    parts: parts.map((part) => ({ ...part, address })),
    durationMs: msOf(values, 'duration'),
    jobs: numberOf(values, 'jobs', 0, 1e9),
    stormShare: whole.stormShare,
  };
}

type Whole = Omit<FleetOptions, 'address'>;

function wholeFleet(values: Values, requestPort: number): Whole {
  const minions = numberOf(values, 'minions', 1, mostMinions);
  const prefix = asText(values['prefix']) ?? '';
  const width = Math.max(4, String(minions).length);
  const problem = minionIdProblem(`${prefix}${'1'.padStart(width, '0')}`);
  if (problem !== undefined) throw wrong(`--prefix: the id of a minion ${problem}`);
  const asked = numberOf(values, 'connections', -1, mostConnections);
  return {
    ...{ requestPort, minions, prefix, width, offset: 0 },
    keys: numberOf(values, 'keys', 0, mostMinions),
    publishPort: numberOf(values, 'publish_port', 0, 65_535),
    transport: values['transport'] === 'tcp' ? 'tcp' : 'zeromq',
    protocol: Number(values['protocol']) as Protocol,
    behaviour: values['behaviour'] === 'salt' ? 'salt' : 'halite',
    connections: asked === -1 ? minions : asked || Math.min(usualConnections, minions),
    share: numberOf(values, 'share', 1, mostShared),
    keysDir: asText(values['keys_dir']) ?? '',
    keySize: numberOf(values, 'key_size', 2048, 8192),
    ...{ token: values['token'] === true, light: values['light'] === true, verify: values['verify'] === true },
    ...{ boot: values['boot'] === true, authOnly: values['auth_only'] === true, hold: values['hold'] === true },
    signInMs: msOf(values, 'sign_in_time', 1),
    acceptanceWaitMs: msOf(values, 'acceptance_wait', 0.1),
    settleMs: msOf(values, 'settle'),
    ramp: numberOf(values, 'ramp', 0, mostMinions),
    ...{ delayMs: msOf(values, 'delay'), jitter: shareOf(values, 'jitter'), fail: shareOf(values, 'fail') },
    ...{ drop: shareOf(values, 'drop'), duplicate: shareOf(values, 'duplicate') },
    resultBytes: numberOf(values, 'result_size', 0, 50_000_000),
    fill: numberOf(values, 'fill', 0, 1_000_000),
    ...{ churn: numberOf(values, 'churn', 0, mostMinions), churnAwayMs: msOf(values, 'churn_away') },
    ...{ stormEveryMs: msOf(values, 'storm_every'), stormShare: shareOf(values, 'storm_share') },
    ...{ reconnectMs: msOf(values, 'reconnect', 0.01), reauthMs: msOf(values, 'reauth_delay') },
    ...{ timeoutMs: msOf(values, 'timeout', 0.1), tries: numberOf(values, 'tries', 1, 100) },
  };
}

/** Each process gets its share of everything that is counted for the whole fleet. */
function splitFleet(whole: Whole, asked: number): Whole[] {
  const count = Math.min(whole.minions, asked || Math.min(8, Math.ceil(whole.minions / minionsOfProcess)));
  const parts: Whole[] = [];
  let offset = 0;
  for (let part = 0; part < count; part++) {
    const of = (all: number): number => Math.floor((all * (part + 1)) / count) - Math.floor((all * part) / count);
    const minions = of(whole.minions);
    parts.push({
      ...whole,
      ...{ offset, minions, fill: of(whole.fill), churn: whole.churn / count, ramp: whole.ramp / count },
      connections: Math.max(1, of(whole.connections)),
    });
    offset += minions;
  }
  return parts;
}

function checkFiles(parts: readonly Whole[]): void {
  const limit = openFilesLimit();
  for (const { minions, share, connections, authOnly } of parts) {
    const needed = (authOnly ? 0 : Math.ceil(minions / share)) + connections + otherFiles;
    if (needed <= limit) continue;
    throw new HaliteError('config.value', `A process of this fleet needs ${needed} open files, and may have ${limit}`, {
      hint: 'Use more --processes, let minions --share subscriptions, or raise the limit (ulimit -n).',
    });
  }
}
