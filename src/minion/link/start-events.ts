// Announces this minion to the master.
import { newDict, type PlainDict, type Value } from '../../base/codec/value.ts';
import type { MinionOpts } from '../../base/config/index.ts';
import type { Logger } from '../../base/log/index.ts';

interface Announcer {
  fire(tag: string, data: Value, extra?: PlainDict): Promise<boolean>;
}

export function pickGrains(grains: PlainDict, names: readonly string[]): PlainDict {
  return newDict(names.filter((name) => Object.hasOwn(grains, name)).map((name) => [name, grains[name]!] as const));
}

interface Announced {
  readonly opts: MinionOpts;
  readonly log: Logger;
  readonly syndic?: boolean;
  grains(): Promise<PlainDict>;
}

export async function announce(link: Announcer, { opts, log, syndic, grains }: Announced): Promise<void> {
  if (syndic) await fireSyndicStart(link, opts, log);
  else await fireStartEvents(link, opts, await grains(), log);
}

/** The old tag first, when it is enabled, then the new one. */
async function fireStartEvents(link: Announcer, opts: MinionOpts, grains: PlainDict, log: Logger): Promise<void> {
  const names = opts.start_event_grains;
  const extra = newDict();
  if (names.length > 0) extra['grains'] = pickGrains(grains, names);
  const text = `Minion ${opts.id} started at ${asctime(new Date())}`;
  if (opts.enable_legacy_startup_events) await link.fire('minion_start', text, extra);
  if (!(await link.fire(`salt/minion/${opts.id}/start`, text, extra))) log.debug('start event not delivered');
}

/** The same of a syndic; `halite_syndic` says that it answers every job and tells reasons. */
async function fireSyndicStart(link: Announcer, opts: MinionOpts, log: Logger): Promise<void> {
  const text = `Syndic ${opts.id} started at ${asctime(new Date())}`;
  const extra = newDict([['halite_syndic', true]]);
  if (opts.enable_legacy_startup_events) await link.fire('syndic_start', text, extra);
  if (!(await link.fire(`salt/syndic/${opts.id}/start`, text, extra))) log.debug('start event not delivered');
}

/** C's asctime, in local time: `Sun Jun  6 23:21:05 1993`. */
export function asctime(when: Date): string {
  const [weekday, month, day, year] = when.toDateString().split(' ');
  return `${weekday} ${month} ${String(Number(day)).padStart(2)} ${when.toTimeString().slice(0, 8)} ${year}`;
}
