// Reports the progress of a state run to the master and the operator.

import { isTruthy, pyStr } from '../../../base/codec/python/index.ts';
import { newDict, type PlainDict, type Value } from '../../../base/codec/value.ts';
import type { ModuleContext } from '../../../extend/sdk/index.ts';
import type { Chunk } from '../data.ts';

/** The data and the channel of events. */
export interface EventScene {
  readonly opts: Readonly<Record<string, Value>>;
  context(): Pick<ModuleContext, 'progress' | 'minion' | 'log'>;
}

/** Fires `state_events` and `fire_event` events and reports progress; `settle` waits until all are sent. */
export class RunEvents {
  readonly #session: EventScene;
  readonly #jid: string;
  readonly #id: string;
  readonly #sends: boolean;
  /** Events that wait to be sent, in order. */
  readonly #waiting: (readonly [tag: string, data: PlainDict])[] = [];
  #sending: Promise<void> | undefined;
  #done = 0;

  constructor(session: EventScene, jid: string, id: string) {
    this.#session = session;
    this.#jid = jid;
    this.#id = id;
    this.#sends = session.opts['local'] !== true && session.opts['file_client'] !== 'local';
  }

  result(result: PlainDict, low: Chunk, total: number): void {
    this.#done++;
    const context = this.#session.context();
    const verdict = result['result'] === false ? ' failed' : '';
    context.progress(
      `${this.#done}/${total} ${pyStr(low['state'])}.${pyStr(low['fun'])} ${pyStr(low['__id__'])}${verdict}`,
    );
    if (this.#sends) this.#fire(result, low, total);
  }

  #fire(result: PlainDict, low: Chunk, total: number): void {
    const asked = low['fire_event'] ?? false;
    if (!isTruthy(asked) && !isTruthy(this.#session.opts['state_events'] ?? true)) return;
    const data = newDict([['ret', copyOf(result)]]);
    let tag: string;
    if (asked === true) tag = `salt/state_result/${this.#jid}/${this.#id}/${pyStr(result['name'])}`;
    else if (typeof asked === 'string') tag = `salt/state_result/${this.#jid}/${this.#id}/${asked}`;
    else {
      tag = `salt/job/${this.#jid}/prog/${this.#id}/${pyStr(result['__run_num__'])}`;
      data['len'] = total;
    }
    this.#waiting.push([tag, data]);
    this.#sending ??= this.#send();
  }

  /** One after the other. A master that does not accept one is awaited only once: the waiting events are dropped. */
  async #send(): Promise<void> {
    const { minion, log } = this.#session.context();
    for (let next = this.#waiting.shift(); next; next = this.#waiting.shift()) {
      const [tag, data] = next;
      const problem = await minion.fire(tag, data).then(
        (taken) => (taken ? undefined : 'the master did not accept it'),
        (error: unknown) => String(error),
      );
      if (problem === undefined) continue;
      const dropped = this.#waiting.splice(0).length;
      log.warn('An event of the state run could not be sent', { tag, error: problem, ...(dropped ? { dropped } : {}) });
    }
    this.#sending = undefined;
  }

  async settle(): Promise<void> {
    await this.#sending;
  }
}

/** The result may still change (parallel states); an event contains its state at that time. */
function copyOf(result: PlainDict): PlainDict {
  return newDict(Object.entries(result));
}
