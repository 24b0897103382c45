// Login records of the system files `wtmp` and `btmp`, and the selection of those that are reported.
import {
  type BeaconContext,
  type BeaconSession,
  fieldOf,
  isDict,
  newDict,
  type PlainDict,
  pyStr,
  type Value,
} from 'halite/sdk';
import { parseDateText } from 'halite/sdk/time';
import { entriesOf } from './settings.ts';
import { Tail } from './tail.ts';

const recordSize = 384;

/** One record with Salt's keys: `time` is the session and `addr` is the time, as existing reactors expect. */
function readRecord(record: Buffer): PlainDict {
  const text = (at: number, length: number): string =>
    record.toString('utf8', at, at + length).replace(/^\0+|\0+$/g, '');
  return newDict(
    Object.entries({
      type: record.readInt16LE(0),
      PID: record.readInt32LE(4),
      line: text(8, 32),
      inittab: text(40, 4),
      user: text(44, 32),
      hostname: text(76, 256),
      exit_status: record.readInt16LE(332),
      session: record.readInt16LE(334),
      time: record.readInt32LE(336),
      addr: record.readInt32LE(340),
    }),
  );
}

function rangeProblem(beacon: string, range: Value | undefined): string | undefined {
  if (range === undefined || range === null) return undefined;
  if (!isDict(range)) return `The time_range parameter for ${beacon} beacon must be a dictionary.`;
  const ends = ['start', 'end'].map((key) => fieldOf(range, key));
  if (ends.includes(undefined))
    return entriesOf(range).length === 0
      ? undefined
      : `The time_range parameter for ${beacon} beacon must contain start & end options.`;
  if (ends.some((end) => !parseDateText(pyStr(end as Value), new Date())))
    return `The time_range parameter for ${beacon} beacon must contain times in start & end.`;
  return undefined;
}

export function loginProblem(beacon: string, settings: PlainDict): string | undefined {
  for (const [key, word] of [
    ['users', 'User'],
    ['groups', 'Group'],
  ] as const) {
    const given = settings[key];
    if (given === undefined) continue;
    if (!isDict(given)) return `${word} configuration for ${beacon} beacon must be a dictionary.`;
    for (const [, one] of entriesOf(given)) {
      const problem = rangeProblem(beacon, fieldOf(one, 'time_range'));
      if (problem) return problem;
    }
  }
  const { defaults } = settings;
  if (defaults !== undefined && !isDict(defaults))
    return `Defaults configuration for ${beacon} beacon must be a dictionary.`;
  return rangeProblem(beacon, fieldOf(defaults, 'time_range'));
}

function inRange(range: Value | undefined, now: Date): boolean {
  const [start, end] = ['start', 'end'].map((key) => parseDateText(pyStr(fieldOf(range, key) ?? ''), now));
  return start !== undefined && end !== undefined && start <= now && now <= end;
}

/** The configured users, and the members of the configured groups with the settings of their group. */
async function usersOf(settings: PlainDict, ctx: BeaconContext): Promise<Map<string, Value>> {
  const users = new Map(entriesOf(settings['users']));
  for (const [group, of] of entriesOf(settings['groups'])) {
    const members = fieldOf(await ctx.call('group.info', group), 'members');
    if (!Array.isArray(members)) ctx.log.warn(`Group ${group} does not exist, ignoring.`);
    else for (const member of members) if (!users.has(pyStr(member))) users.set(pyStr(member), of);
  }
  return users;
}

function isWanted(event: PlainDict, users: Map<string, Value>, defaults: Value | undefined, now: Date): boolean {
  const user = pyStr(event['user'] ?? '');
  if (users.size > 0 && !users.has(user)) return false;
  const range = fieldOf(users.get(user), 'time_range') ?? fieldOf(defaults, 'time_range');
  return range === undefined || range === null || inRange(range, now);
}

export interface LoginOptions {
  readonly path: string;
  /** Completes an event with data of earlier ones. */
  readonly complete?: (event: PlainDict) => void;
}

export async function openLogins(
  settings: PlainDict,
  ctx: BeaconContext,
  { path, complete }: LoginOptions,
): Promise<BeaconSession> {
  const tail = new Tail(path);
  let rest = Buffer.alloc(0);
  await tail.skip();
  return {
    async read() {
      const { bytes, fresh } = await tail.read();
      const all = fresh ? bytes : Buffer.concat([rest, bytes]);
      const count = Math.floor(all.length / recordSize);
      rest = Buffer.from(all.subarray(count * recordSize));
      if (count === 0) return [];
      const events = Array.from({ length: count }, (_, at) =>
        readRecord(all.subarray(at * recordSize, (at + 1) * recordSize)),
      );
      for (const event of events) complete?.(event);
      const users = await usersOf(settings, ctx);
      const now = new Date();
      return events.filter((event) => isWanted(event, users, settings['defaults'], now));
    },
  };
}
