// The loop: mutate, run, keep inputs that reached something new; failures are minimised and reported once.
import { Dice } from '../../support/fuzz.ts';
import type { Coverage } from './coverage.ts';
import { minimise } from './minimise.ts';
import { type Material, mutate } from './mutate.ts';
import { defaultMostSteps, type FuzzTarget } from './target.ts';

export interface Find {
  readonly what: string;
  readonly input: Uint8Array;
  readonly stack: string;
}

export interface Outcome {
  readonly executions: number;
  readonly reached: number;
  readonly places: number;
  readonly finds: readonly Find[];
  /** Inputs that reach everything that was reached. */
  readonly corpus: readonly Uint8Array[];
}

export interface LoopOptions {
  readonly seed: number;
  readonly mostRuns: number;
  readonly until: number;
  readonly corpus: readonly Uint8Array[];
  readonly tokens: readonly string[];
  /** The corpus will be kept: it is made as small as can be. */
  readonly save: boolean;
  /** Called before every run, so that the supervisor finds a run that never ends. */
  readonly announce: (input: Uint8Array) => void;
}

const mostFinds = 10;

export class Loop {
  readonly #target: FuzzTarget;
  readonly #coverage: Coverage;
  readonly #options: LoopOptions;
  readonly #kept: Uint8Array[] = [];
  readonly #finds = new Map<string, Find>();
  #executions = 0;

  constructor(target: FuzzTarget, coverage: Coverage, options: LoopOptions) {
    this.#target = target;
    this.#coverage = coverage;
    this.#options = options;
  }

  async run(): Promise<Outcome> {
    const { seed, mostRuns, until, corpus, tokens } = this.#options;
    const dice = new Dice(seed);
    const own = (this.#target.seeds ?? []).map((given) => (typeof given === 'string' ? Buffer.from(given) : given));
    this.#coverage.take();
    for (const input of [new Uint8Array(), ...own, ...corpus]) {
      await this.#try(input);
      this.#kept.push(input);
    }
    const ownTokens = this.#target.tokens ?? [];
    const material: Material = {
      corpus: this.#kept,
      // Those named by the target weigh as much as all texts of the code.
      tokens: [...tokens, ...repeatedTo(ownTokens, tokens.length)].map((text) => Buffer.from(text)),
      maxLength: this.#target.maxLength ?? 1000,
    };
    while (this.#executions < mostRuns && Date.now() < until && this.#finds.size < mostFinds) {
      const input = mutate(dice, material);
      if (await this.#try(input)) this.#kept.push(input);
    }
    const { reached, places } = this.#coverage;
    const finds = [...this.#finds.values()];
    return {
      executions: this.#executions,
      reached,
      places,
      finds,
      corpus: this.#options.save ? await this.#smallest() : this.#kept,
    };
  }

  /** True when the input reached something new and nothing went wrong. */
  async #try(input: Uint8Array): Promise<boolean> {
    const failure = await this.#failureOf(input);
    const fresh = this.#coverage.take();
    if (failure === undefined) return fresh;
    const key = keyOf(failure);
    if (this.#finds.has(key)) return false;
    const small = await minimise(input, async (candidate) => {
      const other = await this.#failureOf(candidate);
      this.#coverage.take();
      return other !== undefined && keyOf(other) === key;
    });
    this.#finds.set(key, { what: `${failure.name}: ${failure.message}`, input: small, stack: failure.stack ?? '' });
    return false;
  }

  async #failureOf(input: Uint8Array): Promise<Error | undefined> {
    this.#options.announce(input);
    this.#executions++;
    try {
      const running = this.#target.run(input);
      if (running) await running;
    } catch (error) {
      return error instanceof Error ? error : new Error(String(error));
    }
    const most = (this.#target.mostSteps ?? defaultMostSteps)(input.length);
    const steps = this.#coverage.count();
    return steps > most ? new TooManySteps(`${steps} steps, more than ${most}`) : undefined;
  }

  async #smallest(): Promise<Uint8Array[]> {
    const seen = new Set<number>();
    const chosen: Uint8Array[] = [];
    const bySize = [...this.#kept].sort((a, b) => a.length - b.length);
    for (const input of bySize) {
      const places = await this.#placesOf(input);
      const fresh = places.filter((place) => !seen.has(place));
      if (fresh.length === 0) continue;
      const small = await minimise(
        input,
        async (candidate) => {
          const reached = new Set(await this.#placesOf(candidate));
          return fresh.every((place) => reached.has(place));
        },
        60,
      );
      for (const place of await this.#placesOf(small)) seen.add(place);
      chosen.push(small);
    }
    return chosen;
  }

  async #placesOf(input: Uint8Array): Promise<number[]> {
    await this.#failureOf(input);
    return this.#coverage.takePlaces();
  }
}

class TooManySteps extends Error {
  override name = 'TooManySteps';
}

function repeatedTo(tokens: readonly string[], count: number): string[] {
  if (tokens.length === 0) return [];
  return Array.from({ length: Math.max(count, tokens.length) }, (_, at) => tokens[at % tokens.length]!);
}

/** One cause is reported once: the kind of error, its message without numbers and quotes, and where it was thrown. */
function keyOf(error: Error): string {
  if (error instanceof TooManySteps) return error.name;
  const place = /\n\s+at ([^(\n]*)/.exec(error.stack ?? '')?.[1]?.trim() ?? '';
  if (error instanceof RangeError && error.message.includes('call stack')) return error.message;
  return `${error.name} ${error.message.replace(/\d+|'[^']*'|"[^"]*"/g, '').slice(0, 60)} ${place}`;
}
