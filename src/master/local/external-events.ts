// The event stream of users of external authentication: filtered by their rights, which are read again while it lasts.
import { textField } from '../../base/codec/fields.ts';
import { dictGet, type PlainDict, type Value } from '../../base/codec/value.ts';
import type { MasterOpts } from '../../base/config/index.ts';
import { restBlock } from '../../base/config/rest-block.ts';
import { HaliteError } from '../../base/errors/index.ts';
import { withTimeout } from '../../base/util/with-timeout.ts';
import type { Authorization, Caller } from '../authorization/authorization.ts';
import { EventRights } from '../authorization/event-rights.ts';
import type { Targets } from '../publish/targets.ts';
import type { EventTail } from './event-tail.ts';
import { ownerOf, type StartedJobs } from './started-jobs.ts';

export interface ExternalEventParts {
  readonly opts: Pick<MasterOpts, 'raw'>;
  readonly authorization: Pick<Authorization, 'authenticateCaller'>;
  readonly targets: Pick<Targets, 'match'>;
  readonly tail: EventTail;
  readonly started: StartedJobs;
}

/** A deleted or expired token ends the stream, and changed rights apply, after this time. */
const renewMs = 5_000;

export async function* externalEvents(
  parts: ExternalEventParts,
  args: PlainDict,
  caller: Caller,
  signal: AbortSignal,
): AsyncIterable<Value> {
  const { tail } = parts;
  const token = textField(args, 'token');
  if (!token) throw new HaliteError('auth.failed', 'An event stream needs a token: log in first.');
  const mode = modeOf(parts.opts.raw);
  if (mode === 'none')
    throw new HaliteError('auth.denied', 'Authorization error occurred.', { hint: 'Why: api_events is none.' });
  const seen = since(textField(args, 'since'), tail.epoch);
  const queue = tail.open(seen.seq, signal);
  let renewAt = Date.now() + renewMs;
  let see = rightsOf(parts, caller, mode);
  let last = seen.seq ?? tail.seq;
  yield { type: 'start', id: `${tail.epoch}-${last}` };
  if (seen.unknown) yield { type: 'gap', missed: null, id: `${tail.epoch}-${last}` };
  let next = queue.next();
  try {
    for (;;) {
      const found = await withTimeout(next, Math.max(1, renewAt - Date.now()), () => undefined, { ref: false });
      if (Date.now() >= renewAt) {
        see = rightsOf(parts, await parts.authorization.authenticateCaller({ token }), mode);
        renewAt = Date.now() + renewMs;
      }
      if (!found) continue;
      if (found.done) return;
      next = queue.next();
      const { seq, event, packed } = found.value;
      const missed = seq - last - 1;
      last = seq;
      if (missed > 0) yield { type: 'gap', missed, id: `${tail.epoch}-${seq - 1}` };
      if (see(event.tag, event.data))
        yield { type: 'event', id: `${tail.epoch}-${seq}`, tag: event.tag, data: packed() };
    }
  } finally {
    queue.close();
  }
}

type EventMode = 'filtered' | 'all' | 'none';

function modeOf(raw: PlainDict): EventMode {
  const options = restBlock(raw)?.options;
  const value = options && dictGet(options, 'api_events');
  return value === 'all' || value === 'none' ? value : 'filtered';
}

function rightsOf(
  { targets, started }: ExternalEventParts,
  caller: Caller,
  mode: EventMode,
): (tag: string, data: Parameters<EventRights['maySee']>[1]) => boolean {
  if (mode === 'all') return () => true;
  const owner = ownerOf(caller);
  const rights = new EventRights({
    rules: caller.external?.rules ?? [],
    targets,
    started: (jid) => started.by(jid, owner),
  });
  return (tag, data) => rights.maySee(tag, data);
}

/** `<epoch>-<number>`; one of another run cannot be continued. */
function since(text: string | undefined, epoch: string): { seq?: number; unknown: boolean } {
  if (text === undefined) return { unknown: false };
  const parts = /^([0-9a-f]{12})-(\d{1,15})$/.exec(text);
  return parts?.[1] === epoch ? { seq: Number(parts[2]), unknown: false } : { unknown: true };
}
