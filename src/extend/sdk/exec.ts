// Running a program and writing to the log, for every kind of extension.

export interface ExtensionLog {
  debug(message: string, fields?: Readonly<Record<string, unknown>>): void;
  info(message: string, fields?: Readonly<Record<string, unknown>>): void;
  warn(message: string, fields?: Readonly<Record<string, unknown>>): void;
  error(message: string, fields?: Readonly<Record<string, unknown>>): void;
}
export type LogLevel = keyof ExtensionLog;

export interface ExecOptions {
  readonly cwd?: string;
  /** The name under which the program is started (argv[0]); default: its file. */
  readonly argv0?: string;
  readonly env?: Readonly<Record<string, string>>;
  /** Only `env`, nothing inherited. */
  readonly cleanEnv?: boolean;
  readonly input?: string | Uint8Array;
  /** Kills the whole process tree when it is exceeded. */
  readonly timeoutMs?: number;
  readonly uid?: number;
  readonly gid?: number;
  readonly groups?: readonly number[];
  readonly umask?: number;
  /** Called with each chunk of output, for progress. */
  readonly onOutput?: (text: string, stream: 'stdout' | 'stderr') => void;
  /** stderr is merged into stdout, in order. */
  readonly mergeStderr?: boolean;
  readonly maxOutputBytes?: number;
  /** Encoding of the output, as named by TextDecoder; default UTF-8. */
  readonly encoding?: string;
}

export interface ExecResult {
  readonly pid: number;
  /** Exit status; 128+n when ended by signal n. */
  readonly retcode: number;
  /** Number of the signal that ended it; undefined when it exited by itself. */
  readonly signal?: number | undefined;
  readonly stdout: string;
  readonly stderr: string;
  readonly timedOut: boolean;
}
