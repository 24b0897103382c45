// What the runner `master.rotate_keys` may do, and what happens by itself when its time has come.
import { newDict, type PlainDict } from '../../base/codec/value.ts';
import { HaliteError, messageOf } from '../../base/errors/index.ts';
import type { Logger } from '../../base/log/index.ts';
import { isValidMinionId } from '../../base/util/valid-id.ts';
import type { RolloverServices } from '../../extend/sdk/index.ts';
import type { KeyRing } from '../sign-in/master-keys.ts';
import { whenAllHaveIt } from './record.ts';
import type { RolloverReport } from './report.ts';
import type { Rollover } from './rollover.ts';

interface Signatures {
  publicKey(): Promise<string>;
  demand(id: string, wanted: boolean): Promise<void> | void;
}

export interface RolloverServiceParts {
  readonly rollover: Rollover;
  readonly report: RolloverReport;
  /** Of this master, or of all members of its cluster. */
  readonly signatures: Signatures;
  readonly ring: KeyRing;
  readonly log: Pick<Logger, 'warn' | 'error' | 'limited'>;
  leads(): boolean;
}

const lookMs = 2_000;

export function rolloverServices({ rollover, report, signatures }: RolloverServiceParts): RolloverServices {
  const one = makeOneAtATime();
  return {
    status: async () => status(rollover, report),
    announce: (options) => one(() => rollover.announce(options)),
    abort: () => one(() => rollover.abort()),
    switchOver: () => one(() => rollover.switchOver()),
    back: () => one(() => rollover.back()),
    compromised: () => one(() => rollover.compromised()),
    end: () => one(() => rollover.end()),
    signingKey: () => signatures.publicKey(),
    demandSignature: async (id, wanted) => {
      if (!isValidMinionId(id)) throw new HaliteError('call.arguments', `'${id}' is not a minion id`);
      await signatures.demand(id, wanted);
    },
  };
}

/** Two operators at once: the second one sees what the first has done. */
function makeOneAtATime(): <T>(act: () => Promise<T>) => Promise<T> {
  let tail: Promise<unknown> = Promise.resolve();
  return (act) => {
    const done = tail.then(act);
    tail = done.catch(() => undefined);
    return done;
  };
}

function status({ record }: Rollover, report: RolloverReport): PlainDict {
  const minions = report
    .all()
    .map(({ id, standing, halite, seen }) => newDict(Object.entries({ id, standing, halite, seen })));
  const {
    phase = 'none',
    from = '',
    to = '',
    announced = 0,
    at = 0,
    switched = 0,
    until = 0,
    statement = '',
  } = record ?? {};
  const compromised = record !== undefined && statement === '';
  return newDict(Object.entries({ phase, from, to, announced, at, switched, until, compromised, minions }));
}

/** The planned switch and the end of the grace come by themselves. Returns what stops it. */
export function followTimes(parts: RolloverServiceParts, services: RolloverServices): () => void {
  const { rollover, report, log, ring } = parts;
  let busy = false;
  const look = async (): Promise<void> => {
    const { record } = rollover;
    if (record?.phase === 'announced' && record.at > 0) {
      const due =
        record.at === whenAllHaveIt
          ? report.all().every(({ standing }) => standing === 'ready')
          : Date.now() >= record.at;
      if (due) await services.switchOver();
    } else if (record?.phase === 'switched' && record.until > 0 && ring.former && Date.now() >= record.until) {
      const late = report.all().filter(({ standing }) => standing !== 'moved');
      await services.end();
      if (late.length > 0)
        log.warn('the old key of this master is deleted; these minions do not have the new one', {
          minions: late.map(({ id }) => id).join(', '),
          hint: 'On each of them: remove minion_master.pub from its pki folder and restart it.',
        });
    }
  };
  const timer = setInterval(() => {
    if (busy || !parts.leads()) return;
    busy = true;
    look()
      .catch((error: unknown) =>
        log.limited('rollover-time', 'error', 'the change of the master key waits', { error: messageOf(error) }),
      )
      .finally(() => {
        busy = false;
      });
  }, lookMs);
  timer.unref();
  return () => clearInterval(timer);
}
