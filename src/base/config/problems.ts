// Problems of a configuration that do not stop the program.

export type ProblemKind =
  | 'missing'
  | 'unknown'
  | 'type'
  | 'value'
  | 'include'
  | 'syntax'
  | 'deprecated'
  | 'unsupported';

export interface ConfigProblem {
  readonly kind: ProblemKind;
  /** The log level of the problem. */
  readonly level: 'info' | 'warn' | 'error';
  readonly message: string;
  readonly option?: string;
  readonly file?: string;
  /** The option that was probably meant. */
  readonly suggestion?: string;
  /** How to fix it. */
  readonly advice?: string;
}

/** Collects problems and debug notes while a configuration is read. */
export class ConfigReport {
  readonly problems: ConfigProblem[] = [];
  /** What was read and found; for the debug log. */
  readonly notes: string[] = [];
  /** Every file that was read, in order. */
  readonly sources: string[] = [];

  note(text: string): void {
    this.notes.push(text);
  }

  add(problem: ConfigProblem): void {
    this.problems.push(problem);
  }

  warn(kind: ProblemKind, message: string, extra: Partial<ConfigProblem> = {}): void {
    this.add({ kind, level: 'warn', message, ...extra });
  }
}
