// Events that minions send: filtered, then fired; life-cycle messages of Halite minions are passed to the tracker.
import { asPlainDict, type Dict, isDict, newDict, type PlainDict, type Value } from '../../../base/codec/value.ts';
import type { Logger } from '../../../base/log/index.ts';
import { isJid } from '../../../base/util/jid.ts';
import type { EventBus } from '../../../protocol/event/bus.ts';
import { minionMayFire, type NamesInTags } from '../../../protocol/event/minion-event-filter.ts';
import { isProblem } from '../../../protocol/wire/messages/fields.ts';
import { readMinionEvents } from '../../../protocol/wire/messages/minion-loads.ts';
import type { KeyStore } from '../../../store/keys.ts';
import type { Fleet } from '../../fleet/fleet.ts';
import type { SharedEvents } from '../../shared/events.ts';
import type { DurableJobs } from '../../tracking/durable.ts';
import type { Tracker } from '../../tracking/tracker.ts';
import type { Sender } from '../sender.ts';
import { belowTag, type LowerEventParts, noteLower, takeReasons, withPath } from './lower-events.ts';
import type { Handlers } from './table.ts';

export interface EventParts {
  readonly log: Pick<Logger, 'limited'>;
  readonly bus: Pick<EventBus, 'fire'>;
  readonly events: Pick<SharedEvents, 'fromMinion'>;
  readonly keys: Pick<KeyStore, 'accepted'>;
  readonly fleet: Pick<Fleet, 'data' | 'setData'>;
  readonly tracker: Pick<Tracker, 'phase'> & LowerEventParts['tracker'];
  readonly durable: Pick<DurableJobs, 'arrived'>;
  readonly lower: LowerEventParts['lower'];
}

/** Beacons and syndics send some dozens at once. */
const mostEvents = 5000;
const phases = new Set(['accepted', 'started', 'progress', 'done']);

export function eventHandlers(parts: EventParts): Handlers {
  return { _minion_event: { run: (load, sender) => takeEvents(parts, load, sender) } };
}

function takeEvents(parts: EventParts, load: PlainDict, sender: Sender): Value {
  if (isDict(load['grains'])) void keepStartGrains(parts, sender.id, load['grains']);
  const { tag } = load;
  if (!Array.isArray(load['events']) && typeof tag === 'string' && tag.startsWith('halite/job/')) {
    lifeCycle(parts, sender, tag, load['data']);
    return null;
  }
  if (typeof tag === 'string' && tag.startsWith(belowTag)) {
    takeReasons(parts, sender.id, tag, load['data']);
    return null;
  }
  const events = readMinionEvents(load);
  if (isProblem(events)) return null;
  for (const event of events.slice(0, mostEvents)) fire(parts, sender, event.tag, event.data);
  if (events.length > mostEvents) {
    parts.log.limited(`events:${sender.id}`, 'warn', 'too many events in one message: the rest is dropped', {
      minion: sender.id,
      events: events.length,
    });
  }
  return null;
}

function fire(parts: EventParts, sender: Sender, tag: string, data: Dict): void {
  // A real Salt minion has no presence subscription: its start event shows that it has reconnected.
  if (tag === `salt/minion/${sender.id}/start`) parts.durable.arrived(sender.id, 'joined');
  const { lower } = parts;
  if (lower.on) noteLower(lower, sender.id, tag, data);
  const isLower = lower.on && lower.has(sender.id);
  if (!minionMayFire(tag, sender.id, namesOf(parts, isLower))) {
    // A lower master passes everything on, also what only a master may say.
    parts.log.limited(`event:${sender.id}`, isLower ? 'debug' : 'warn', 'event with a reserved tag refused', {
      minion: sender.id,
      tag: tag.slice(0, 80),
    });
    return;
  }
  parts.events.fromMinion(sender.id, tag, isLower ? withPath(data, sender.id) : data);
}

/** A minion below a syndic has no key here, as far as this master knows. */
const namesOf = ({ keys }: EventParts, isLower: boolean): NamesInTags => ({
  speaksFor: (name) => isLower && !keys.accepted(name),
  isMinion: (name) => keys.accepted(name) !== undefined,
});

/** `halite/job/<jid>/<phase>/<id>`: accepted, started, progress, done. A minion may only report about itself. */
function lifeCycle(parts: EventParts, sender: Sender, tag: string, data: Value | undefined): void {
  const [, , jid, phase, id, ...more] = tag.split('/', 6);
  if (!isJid(jid) || !phase || !phases.has(phase) || id !== sender.id || more.length > 0) return;
  const said = asPlainDict(data) ?? newDict();
  const text = typeof said['text'] === 'string' ? said['text'].slice(0, 500) : '';
  parts.tracker.phase(jid, sender.id, phase, { text, accepted: ago(said['accepted']), started: ago(said['started']) });
  parts.bus.fire(tag, { id: sender.id, jid, phase, text });
}

/** The time that many milliseconds ago; undefined for an implausible age. */
function ago(age: Value | undefined): number | undefined {
  return typeof age === 'number' && age >= 0 && age < 31_536_000_000 ? Date.now() - age : undefined;
}

/** Grains named in `start_event_grains`: merged over the known ones until the pillar request sends them all. */
async function keepStartGrains(parts: EventParts, id: string, grains: Dict): Promise<void> {
  const known = parts.fleet.data(id);
  if (known || grains instanceof Map) return;
  await parts.fleet.setData(id, { grains, pillar: newDict() }).catch(() => {});
}
