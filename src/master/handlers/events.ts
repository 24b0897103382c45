// Events that minions send: filtered, then fired; life-cycle messages of Halite minions go to the tracker.
import { type Dict, isDict, newDict, type PlainDict, type Value } from '../../base/codec/value.ts';
import { minionMayFire } from '../../protocol/event/minion-event-filter.ts';
import type { Master, Sender } from '../core.ts';
import type { Handlers } from './table.ts';

export function eventHandlers(master: Master): Handlers {
  return { _minion_event: { run: (load, sender) => takeEvent(master, load, sender) } };
}

function takeEvent(master: Master, load: PlainDict, sender: Sender): Value {
  if (isDict(load['grains'])) void keepStartGrains(master, sender.id, load['grains']);
  const events = load['events'];
  if (Array.isArray(events)) {
    for (const event of events) {
      if (!isDict(event) || event instanceof Map || typeof event['tag'] !== 'string') continue;
      const data = isDict(event['data']) ? event['data'] : newDict();
      fire(master, sender, event['tag'], data);
      if (typeof load['pretag'] === 'string') fire(master, sender, `${load['pretag']}/${event['tag']}`, data);
    }
  } else if (typeof load['tag'] === 'string') {
    if (load['tag'].startsWith('halite/job/')) lifeCycle(master, sender, load['tag'], load['data']);
    else fire(master, sender, load['tag'], load);
  }
  return null;
}

function fire(master: Master, sender: Sender, tag: string, data: Dict): void {
  // A real Salt minion has no presence subscription: its start event says that it is back.
  if (tag === `salt/minion/${sender.id}/start`) master.durable.arrived(sender.id, 'joined');
  if (!minionMayFire(tag, sender.id)) {
    master.log.limited(`event:${sender.id}`, 'warn', 'event with a reserved tag refused', {
      minion: sender.id,
      tag: tag.slice(0, 80),
    });
    return;
  }
  master.bus.fire(tag, data);
}

/** `halite/job/<jid>/<phase>/<id>`: accepted, started, progress, done. A minion speaks only for itself. */
function lifeCycle(master: Master, sender: Sender, tag: string, data: Value | undefined): void {
  const [, , jid, phase, id] = tag.split('/');
  if (!jid || !phase || id !== sender.id) return;
  const said = isDict(data) && !(data instanceof Map) ? data : newDict();
  const text = typeof said['text'] === 'string' ? said['text'].slice(0, 500) : '';
  master.tracker.phase(jid, sender.id, phase, { text, accepted: ago(said['accepted']), started: ago(said['started']) });
  master.bus.fire(tag, { id: sender.id, jid, phase, text });
}

/** The moment that lies so many milliseconds back; undefined for what is no sensible age. */
function ago(age: Value | undefined): number | undefined {
  return typeof age === 'number' && age >= 0 && age < 31_536_000_000 ? Date.now() - age : undefined;
}

/** Grains named in `start_event_grains`: merged over what is known until the pillar request brings them all. */
async function keepStartGrains(master: Master, id: string, grains: Dict): Promise<void> {
  const known = master.fleet.data(id);
  if (known || grains instanceof Map) return;
  await master.fleet.setData(id, { grains, pillar: newDict() }).catch(() => {});
}
