// Announces this minion to the master.
import { newDict, type PlainDict, type Value } from '../../base/codec/value.ts';
import type { MinionOpts } from '../../base/config/index.ts';
import type { Logger } from '../../base/log/index.ts';

interface Announcer {
  fire(tag: string, data: Value, extra?: PlainDict): Promise<boolean>;
}

/** The old tag first, when it is enabled, then the new one. */
export async function fireStartEvents(
  link: Announcer,
  opts: MinionOpts,
  grains: PlainDict,
  log: Logger,
): Promise<void> {
  const names = opts.start_event_grains;
  const extra = newDict();
  if (names.length > 0) {
    extra['grains'] = newDict(
      names.filter((name) => Object.hasOwn(grains, name)).map((name) => [name, grains[name]!] as const),
    );
  }
  const text = `Minion ${opts.id} started at ${asctime(new Date())}`;
  if (opts.enable_legacy_startup_events) await link.fire('minion_start', text, extra);
  if (!(await link.fire(`salt/minion/${opts.id}/start`, text, extra))) log.debug('start event not delivered');
}

/** C's asctime, in local time: `Sun Jun  6 23:21:05 1993`. */
export function asctime(when: Date): string {
  const [weekday, month, day, year] = when.toDateString().split(' ');
  return `${weekday} ${month} ${String(Number(day)).padStart(2)} ${when.toTimeString().slice(0, 8)} ${year}`;
}
