// The numbers of results (`__run_num__`): one sequence over all lists of a run, in the order of the results.
export class RunNumbers {
  #next = 0;

  /** The number of this result. */
  take(): number {
    return this.#next++;
  }

  /** The number of the next result: Salt also assigns it to a result that it does not count. */
  get next(): number {
    return this.#next;
  }

  /** Salt numbers the parts of a result starting one later, and the following result like the last part. */
  takePart(): number {
    return ++this.#next;
  }
}
