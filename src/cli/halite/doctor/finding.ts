// The doctor's findings: each with its meaning and a repair.
export type Level = 'problem' | 'warning' | 'fine';

export interface Finding {
  readonly level: Level;
  /** Whom it concerns: `master`, `minion`, `fleet`, or a minion id. */
  readonly about: string;
  readonly what: string;
  /** The command or the change that repairs it. */
  readonly repair?: string;
}

/** Findings about one subject. */
export class Findings {
  readonly list: Finding[] = [];
  readonly #about: string;

  constructor(about: string) {
    this.#about = about;
  }

  problem(what: string, repair: string): void {
    this.list.push({ level: 'problem', about: this.#about, what, repair });
  }

  warning(what: string, repair: string): void {
    this.list.push({ level: 'warning', about: this.#about, what, repair });
  }

  fine(what: string): void {
    this.list.push({ level: 'fine', about: this.#about, what });
  }
}
