// `file.retention_schedule`: keeps some backups per day, week and so on, and deletes the rest.

import { dictEntries, newDict, type PlainDict, p, pyStr, state } from 'halite/sdk';
import { expandUser, joinPath, readdirSync, rmSync } from 'halite/sdk/fs';
import { parseTime } from 'halite/sdk/time';
import { isDir, lookAtLink } from '../../shared/file/facts.ts';
import * as common from './params.ts';

interface Backup {
  readonly name: string;
  readonly time: Date;
}

type Level = (time: Date) => number;
const year: Level = (time) => time.getUTCFullYear();
const month: Level = (time) => time.getUTCMonth();
const day: Level = (time) => time.getUTCDate();
const hour: Level = (time) => time.getUTCHours();
const moment: Level = (time) => time.getTime();
const weekday: Level = (time) => (time.getUTCDay() + 6) % 7;
/** ISO week of the year. */
const week: Level = (time) => {
  const thursday = new Date(Date.UTC(time.getUTCFullYear(), time.getUTCMonth(), time.getUTCDate() - weekday(time) + 3));
  return 1 + Math.floor((thursday.getTime() - Date.UTC(thursday.getUTCFullYear(), 0, 1)) / (7 * 86_400_000));
};

const byDay = [year, month, day, hour, moment];
const byWeek = [year, week, weekday, moment];
const depths: Readonly<Record<string, number>> = {
  first_of_year: 1,
  first_of_month: 2,
  first_of_day: 3,
  first_of_hour: 4,
  most_recent: 5,
};

function grouped(backups: readonly Backup[], level: Level): [number, Backup[]][] {
  const groups = new Map<number, Backup[]>();
  for (const backup of backups) {
    const key = level(backup.time);
    const group = groups.get(key);
    if (group) group.push(backup);
    else groups.set(key, [backup]);
  }
  return [...groups].sort(([a], [b]) => b - a);
}

/** The first backup of each of the newest `count` groups, `depth` levels down. */
function firsts(backups: readonly Backup[], levels: readonly Level[], depth: number, count: number): Set<string> {
  const found = new Set<string>();
  if (depth <= 0) {
    const first = backups.toSorted((a, b) => a.time.getTime() - b.time.getTime())[0];
    if (first) found.add(first.name);
    return found;
  }
  const [level, ...deeper] = levels as [Level, ...Level[]];
  for (const [, group] of grouped(backups, level)) {
    const left = count - found.size;
    if (left < 1) break;
    for (const name of firsts(group, deeper, depth - 1, left)) found.add(name);
  }
  return found;
}

function retained(backups: readonly Backup[], retain: PlainDict | Map<unknown, unknown>): Set<string> {
  const found = new Set<string>();
  for (const [rule, given] of dictEntries(retain as PlainDict)) {
    const count = given === 'all' ? Number.MAX_SAFE_INTEGER : Number(pyStr(given));
    const name = pyStr(rule);
    const kept =
      name === 'first_of_week'
        ? firsts(backups, byWeek, 2, count + 1)
        : firsts(backups, byDay, depths[name] ?? 5, count);
    for (const item of kept) found.add(item);
  }
  return found;
}

/** Local time as if it were UTC, so that days are local days. */
const local = (time: Date): Date => new Date(time.getTime() - time.getTimezoneOffset() * 60_000);
const newestFirst = (names: Iterable<string>): string[] => [...names].sort().reverse();

export const retention_schedule = state({
  doc: 'Keeps some backups of a folder by rules such as "the first of each week" and deletes the others.',
  examples: [
    '/var/backups/db:\n  file.retention_schedule:\n    - retain:\n        most_recent: 5\n        first_of_day: 7\n    - strptime_format: db-%Y%m%d.sql',
  ],
  params: {
    name: common.name,
    retain: p.dict({
      doc: 'rule → how many: most_recent, first_of_hour, first_of_day, first_of_week, first_of_month, first_of_year; `all` for any number',
    }),
    strptime_format: p.scalar({
      default: null,
      doc: 'format of the time in the names; default: the modification time',
    }),
    timezone: p.ignored({ default: null, doc: 'accepted' }),
  },
  async run(args, ctx) {
    const name = expandUser(args.name);
    if (!name) return ctx.fail('Must provide name to file.retention_schedule', { name });
    if (!isDir(name)) return ctx.fail('Name provided to file.retention must be a directory', { name });
    const backups: Backup[] = [];
    const ignored: string[] = ['.', '..'];
    for (const entry of readdirSync(name)) {
      const changed = lookAtLink(joinPath(name, entry))?.mtime;
      const time = args.strptime_format ? parseTime(entry, pyStr(args.strptime_format)) : changed && local(changed);
      if (time) backups.push({ name: entry, time });
      else ignored.push(entry);
    }
    const kept = retained(backups, args.retain);
    const deleted = newestFirst(backups.map((backup) => backup.name).filter((entry) => !kept.has(entry)));
    const count = deleted.length;
    if (count === 0)
      // Salt says it in two ways.
      return ctx.ok(`0 backups ${ctx.test ? 'would have been' : 'were'} removed from ${name}.\n`, { name });
    const changes = newDict([
      ['retained', newestFirst(kept)],
      ['deleted', deleted],
      ['ignored', newestFirst(ignored)],
    ]);
    const done = await ctx.change(changes, `${count} backups were removed from ${name}.\n`, {
      test: `${count} backups would have been removed from ${name}.\n`,
      apply() {
        for (const entry of deleted) rmSync(joinPath(name, entry), { recursive: true, force: true });
      },
    });
    return Object.assign(done, { name });
  },
});
