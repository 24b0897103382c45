// Results go to returners in addition to the master; a failing returner never delays the master.
import { newDict } from '../../base/codec/value.ts';
import type { MinionOpts } from '../../base/config/index.ts';
import type { Logger } from '../../base/log/index.ts';
import {
  type ReturnerChoice,
  type ReturnerProblem,
  type ReturnerWorker,
  returnerChoice,
  type WorkerData,
} from '../../engine/exec/index.ts';
import { type PublishedJob, wireTexts } from '../../protocol/job/job.ts';
import type { JobReturn } from '../../protocol/job/job-return.ts';
import { returnFields } from '../../protocol/wire/messages/job-return.ts';
import type { JobLink } from '../link/master-link.ts';

/** Where problems are reported in addition to the log. */
type Told = Pick<JobLink, 'ready' | 'fire'>;

export class Returners {
  readonly #opts: MinionOpts;
  readonly #log: Logger;
  readonly #worker: Pick<ReturnerWorker, 'save' | 'recycle' | 'stop'>;
  readonly #data: (link: JobLink) => WorkerData;
  /** Returner → the last reported problem, so that an unavailable database does not fill the log. */
  readonly #said = new Map<string, string>();

  constructor(
    opts: MinionOpts,
    log: Logger,
    worker: Pick<ReturnerWorker, 'save' | 'recycle' | 'stop'>,
    data: (link: JobLink) => WorkerData,
  ) {
    this.#opts = opts;
    this.#log = log;
    this.#worker = worker;
    this.#data = data;
  }

  /** Passes a result on without waiting; returns the result for the master, which may be asked to pass it on. */
  hand(link: JobLink, job: PublishedJob, ret: JobReturn): JobReturn {
    const choice = returnerChoice(job, this.#opts.return);
    if (!choice) return ret;
    if (this.#opts.return_via_master) return { ...ret, returners: choice };
    const saved = this.#worker.save(this.#data(link), choice, returnFields(ret));
    void saved.then((problems) => this.#tell(link, choice, ret, problems));
    return ret;
  }

  recycle(): void {
    this.#worker.recycle();
  }

  stop(): void {
    this.#worker.stop();
  }

  #tell(link: Told, choice: ReturnerChoice, ret: JobReturn, problems: readonly ReturnerProblem[]): void {
    const { jid, fun } = ret;
    for (const name of choice.names) {
      const problem = problems.find((item) => item.returner === name);
      const before = this.#said.get(name);
      if (!problem) {
        if (this.#said.delete(name)) this.#log.info('the returner works again', { returner: name });
        continue;
      }
      this.#said.set(name, problem.error);
      if (before === problem.error) this.#log.debug('a returner failed again', { jid, returner: name });
      else this.#log.error(`The return failed for job ${jid}: ${problem.error}`, { returner: name });
      if (!link.ready) continue;
      const data = newDict(Object.entries({ jid, id: this.#opts.id, fun: wireTexts(fun), ...problem }));
      void link.fire(`salt/job/${jid}/returner/${this.#opts.id}`, data);
    }
  }
}
