// Looks up names so that one that cannot be resolved never delays the others. The system resolves few names at a time, and
// an unknown one may take many seconds: names that failed before wait for each other, and rest between two attempts.
import { type LookupAddress, lookup } from 'node:dns';
import { promisify } from 'node:util';
import { HaliteError } from '../../../base/errors/index.ts';

export type LookUp = (name: string, family: 0 | 4) => Promise<readonly LookupAddress[]>;

const system: LookUp = (name, family) => promisify(lookup)(name, { all: true, family });

/** As long as an answer is quick, asking every second costs nothing. */
const shortestRestMs = 1000;
/** A slow one may take a third of the time. */
const restFactor = 2;
const longestRestMs = 30_000;
/** Names of masters are few; this only keeps a program that asks for many from growing without limit. */
const mostFailed = 1000;

interface Failure {
  readonly error: HaliteError;
  readonly until: number;
}

export class Names {
  readonly #lookUp: LookUp;
  readonly #running = new Map<string, Promise<readonly LookupAddress[]>>();
  readonly #failed = new Map<string, Failure>();
  /** The last lookup of a name that had failed before. */
  #suspects: Promise<unknown> = Promise.resolve();

  constructor(lookUp: LookUp = system) {
    this.#lookUp = lookUp;
  }

  /** Concurrent calls for one name share one lookup. */
  resolve(name: string, family: 0 | 4): Promise<readonly LookupAddress[]> {
    const key = `${family} ${name}`;
    const failure = this.#failed.get(key);
    if (failure && performance.now() < failure.until) return Promise.reject(failure.error);
    let running = this.#running.get(key);
    if (!running) {
      running = (failure ? this.#inTurn(key, name, family) : this.#ask(key, name, family)).finally(() =>
        this.#running.delete(key),
      );
      this.#running.set(key, running);
    }
    return running;
  }

  #inTurn(key: string, name: string, family: 0 | 4): Promise<readonly LookupAddress[]> {
    const turn = this.#suspects.then(() => this.#ask(key, name, family));
    this.#suspects = turn.catch(() => undefined);
    return turn;
  }

  async #ask(key: string, name: string, family: 0 | 4): Promise<readonly LookupAddress[]> {
    const began = performance.now();
    try {
      const found = await this.#lookUp(name, family);
      if (found.length === 0) throw new HaliteError('wire.closed', `The name ${name} has no address`);
      this.#failed.delete(key);
      return found;
    } catch (thrown) {
      const error = problemOf(name, thrown);
      const restMs = Math.min(longestRestMs, Math.max(shortestRestMs, restFactor * (performance.now() - began)));
      this.#failed.delete(key);
      this.#failed.set(key, { error, until: performance.now() + restMs });
      const [oldest] = this.#failed.keys();
      if (this.#failed.size > mostFailed && oldest !== undefined) this.#failed.delete(oldest);
      throw error;
    }
  }
}

function problemOf(name: string, thrown: unknown): HaliteError {
  if (thrown instanceof HaliteError) return thrown;
  const { code, message } = thrown as NodeJS.ErrnoException;
  return new HaliteError('wire.closed', `The name ${name} cannot be resolved (${code ?? message})`, {
    hint: 'Check the name in the configuration and the DNS of this machine.',
    cause: thrown,
  });
}
