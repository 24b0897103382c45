// A job as its page sees it: one character for each minion, changed by the messages of the stream.
import { signal } from '@preact/signals';
import { type JobDetail, jobDetail } from '../../api/jobs.ts';
import { numberOf } from '../../api/read.ts';
import { isVerdictCode, noCounts, type VerdictCode } from '../../kit/verdicts.tsx';
import type { LiveMessage } from '../../live/messages.ts';

type Change = readonly [index: number, code: string];

const longestOutput = 64 * 1024;

export class JobModel {
  readonly jid: string;
  readonly detail = signal<JobDetail | undefined>(undefined);
  readonly problem = signal<unknown>(undefined);
  /** Grows with every change of a verdict. */
  readonly version = signal(0);
  readonly ended = signal(false);
  readonly seconds = signal<number | undefined>(undefined);
  readonly output = signal('');
  #codes: string[] = [];
  #counts = noCounts();
  /** What the stream said while the job was being loaded: it is newer than what is loaded. */
  #early: Change[] | undefined;

  constructor(jid: string) {
    this.jid = jid;
  }

  get counts(): Readonly<Record<VerdictCode, number>> {
    return this.#counts;
  }

  readonly codeAt = (index: number): string => this.#codes[index] ?? 'w';

  /** Loads everything; later only the groups are taken from it, unless the job has changed its minions. */
  async load(): Promise<void> {
    this.#early = [];
    try {
      const detail = await jobDetail(this.jid);
      const early = this.#early;
      this.#early = undefined;
      this.detail.value = detail;
      this.#codes = [...detail.verdicts];
      this.#change(early ?? []);
      this.ended.value = !detail.row.running;
      const { startedAt, endedAt } = detail.row;
      if (startedAt !== undefined && endedAt !== undefined) this.seconds.value = Math.max(0, endedAt - startedAt);
      this.problem.value = undefined;
      this.#count();
    } catch (error) {
      this.#early = undefined;
      this.problem.value = error;
    }
  }

  hear(message: LiveMessage): void {
    if (message.kind === 'job') this.#begin(message.verdicts);
    else if (message.kind === 'verdicts') {
      this.#early?.push(...message.changes);
      this.#change(message.changes);
      this.#count();
    } else if (message.kind === 'output')
      this.output.value = `${this.output.value}${message.text}`.slice(-longestOutput);
    else if (message.kind === 'end') {
      this.ended.value = true;
      const ms = numberOf(message.ms);
      if (ms !== undefined) this.seconds.value = ms / 1000;
    }
  }

  #begin(verdicts: string): void {
    if (verdicts === '') return;
    this.#codes = [...verdicts];
    this.#early?.push(...this.#codes.map((code, at): Change => [at, code]));
    this.#count();
  }

  #change(changes: readonly Change[]): void {
    for (const [index, code] of changes) if (index >= 0 && index < this.#codes.length) this.#codes[index] = code;
  }

  #count(): void {
    const counts = noCounts();
    for (const code of this.#codes) if (isVerdictCode(code)) counts[code] += 1;
    this.#counts = counts;
    this.version.value += 1;
  }
}
