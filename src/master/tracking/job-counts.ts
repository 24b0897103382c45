// What is counted of jobs and their results.
import { Tally } from '../../base/metrics/index.ts';
import { builtin } from '../../extend/loader/builtin.gen.ts';
import type { Verdict } from '../../protocol/job/verdict.ts';

const others = 'other';

export class JobCounts {
  /** By the module of their function; only modules of our own have a name here, because users choose the names. */
  readonly published = new Tally();
  ended = 0;
  /** By `kind reason`. */
  readonly #verdicts = new Tally<string>(['returned ', 'failed ']);

  publishedJob(fun: string): void {
    const module = fun.slice(0, Math.max(0, fun.indexOf('.')));
    this.published.add(ownModules().has(module) ? module : others);
  }

  verdict(verdict: Verdict): void {
    if (verdict.kind === 'returned') this.#verdicts.add('returned ');
    else this.#verdicts.add(`${verdict.kind} ${'reason' in verdict ? verdict.reason.code : ''}`);
  }

  verdicts(): { readonly labels: { readonly verdict: string; readonly reason: string }; readonly value: number }[] {
    return this.#verdicts.samples('both').map(({ labels, value }) => {
      const [verdict = '', reason = ''] = (labels?.['both'] ?? '').split(' ');
      return { labels: { verdict, reason }, value };
    });
  }
}

const resultKinds = ['new', 'repeated', 'refused', 'unstored'] as const;
/** `unstored`: it is not acknowledged, its minion keeps it. */
export type ResultKind = (typeof resultKinds)[number];

export type ResultCounts = Tally<ResultKind>;
export const resultCounts = (): ResultCounts => new Tally<ResultKind>(resultKinds);

let known: ReadonlySet<string> | undefined;
function ownModules(): ReadonlySet<string> {
  known ??= new Set(Object.entries(builtin['modules'] ?? {}).map(([file, { virtualName }]) => virtualName ?? file));
  return known;
}
