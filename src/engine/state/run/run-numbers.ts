// The numbers of results (`__run_num__`): one row over all lists of a run, in the order the results came about.
export class RunNumbers {
  #next = 0;

  /** The number of this result. */
  take(): number {
    return this.#next++;
  }

  /** The number that the next result will have: Salt gives it to one that it does not count. */
  get next(): number {
    return this.#next;
  }

  /** Salt numbers the parts of a result from one further on, and the result after them like the last part. */
  takePart(): number {
    return ++this.#next;
  }
}
