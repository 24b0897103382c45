// The returners' side in a separate process: gets results from the daemon, saves them, and reports failures.

import { packValue } from '../../../base/codec/msgpack/index.ts';
import { newDict, type PlainDict } from '../../../base/codec/value.ts';
import { withTimeout } from '../../../base/util/with-timeout.ts';
import type { Loader } from '../../../extend/loader/index.ts';
import { type FromJobProcess, type ToJobProcess, unpackDict } from '../job-messages.ts';
import type { OpenReturner } from './open.ts';
import { type ReturnerChoice, type ReturnerProblem, ReturnerSessions } from './sessions.ts';

/** How long an ending process waits for results in progress. */
const longestEndMs = 60_000;

/**
 * The value for a returner, as in Salt and in its order: without command and request, the id at the end, and an
 * outputter only where an error names one, before the job; that of a function is sent only to the master.
 */
function retOf({
  cmd: _cmd,
  returners: _returners,
  id,
  out,
  success,
  return: value,
  retcode,
  ...rest
}: PlainDict): PlainDict {
  const answer = { success, return: value, retcode, ...(success === false && out === 'nested' ? { out } : {}) };
  return newDict(Object.entries({ ...answer, ...rest, id } as PlainDict));
}

export class ReturnerProcess {
  readonly #loader: () => Loader;
  readonly #request: () => OpenReturner;
  readonly #underWay = new Set<Promise<unknown>>();
  #sessions: ReturnerSessions | undefined;

  constructor(loader: () => Loader, request: () => OpenReturner) {
    this.#loader = loader;
    this.#request = request;
  }

  /** Options, grains or pillar changed: sessions opened from now on use them. */
  changed(): void {
    void this.#sessions?.close();
    this.#sessions = undefined;
  }

  save(choice: ReturnerChoice, load: PlainDict): Promise<ReturnerProblem[]> {
    this.#sessions ??= new ReturnerSessions(this.#loader, this.#request);
    return this.#waitFor(this.#sessions.save(choice, retOf(load)));
  }

  /** Answers a message of the daemon. */
  answer(message: Extract<ToJobProcess, { t: 'keep' }>, send: (message: FromJobProcess) => void): Promise<void> {
    const body = unpackDict(message.body);
    const saved = this.save(body['choice'] as unknown as ReturnerChoice, body['load'] as PlainDict);
    const answered = saved.then((problems) => {
      const listed = problems.map((problem) => newDict(Object.entries(problem)));
      send({ t: 'kept', n: message.n, body: packValue(listed) });
    });
    return this.#waitFor(answered);
  }

  #waitFor<T>(work: Promise<T>): Promise<T> {
    this.#underWay.add(work);
    return work.finally(() => this.#underWay.delete(work));
  }

  /** Before the process ends: saves in progress are finished, connections are closed. */
  async settle(): Promise<void> {
    const work = Promise.allSettled([...this.#underWay]).then(() => this.#sessions?.close());
    await withTimeout(work, longestEndMs, () => undefined);
  }
}
