// Reports the progress of longer jobs to a Halite master, so that it need not ask. Real Salt masters never get these
// messages.
import { newDict, type PlainDict } from '../../base/codec/value.ts';
import { isJid } from '../../base/util/index.ts';

/** Jobs that end sooner send nothing: their return is enough. */
const quietMs = 150;
const progressEveryMs = 1000;
const longestText = 500;

export type Phase = 'accepted' | 'started' | 'progress' | 'done';

export interface LifeCycle {
  queued(): void;
  started(): void;
  progress(text: string): void;
  done(): void;
}

const silent: LifeCycle = { queued() {}, started() {}, progress() {}, done() {} };

/** Reports about one job. `fire` sends an event and never throws. */
export function followJob(
  id: string,
  jid: string,
  fire: ((tag: string, data: PlainDict) => void) | undefined,
): LifeCycle {
  if (!fire || !isJid(jid)) return silent;
  const accepted = performance.now();
  let started: number | undefined;
  /** How long ago it was accepted and started, because the clocks of the two machines may differ. */
  const ages = (): [string, number][] => {
    const now = performance.now();
    const age = (since: number): number => Math.round(now - since);
    return [
      ['accepted', age(accepted)],
      ...(started === undefined ? [] : [['started', age(started)] as [string, number]]),
    ];
  };
  const say = (phase: Phase, text = '') =>
    fire(`halite/job/${jid}/${phase}/${id}`, newDict([['text', text.slice(-longestText)], ...ages()]));
  let phase: Phase = 'accepted';
  let spoken = false;
  let waiting: string | undefined;
  let progressTimer: NodeJS.Timeout | undefined;
  const first = setTimeout(() => {
    spoken = true;
    say(phase, phase === 'accepted' ? 'queued' : '');
    if (waiting !== undefined) sayProgress();
  }, quietMs);
  const sayProgress = () => {
    const text = waiting;
    waiting = undefined;
    if (text === undefined) return;
    say('progress', text);
    progressTimer = setTimeout(() => {
      progressTimer = undefined;
      sayProgress();
    }, progressEveryMs);
  };
  return {
    queued() {
      phase = 'accepted';
    },
    started() {
      phase = 'started';
      started = performance.now();
      if (spoken) say(phase);
    },
    progress(text) {
      waiting = lastLine(text);
      if (spoken && !progressTimer) sayProgress();
    },
    done() {
      clearTimeout(first);
      clearTimeout(progressTimer);
      waiting = undefined;
      if (spoken) say('done');
    },
  };
}

export function lastLine(text: string): string {
  return text.trimEnd().split('\n').at(-1) ?? '';
}
