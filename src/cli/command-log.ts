// The log of a command that was asked to write one: whatever it prints as an error, and what it tells only there. It holds
// almost no code, because every command loads it.

type Level = 'debug' | 'info' | 'warn' | 'error' | 'critical';
type Writer = (level: Level, message: string) => void;

let writer: Writer | undefined;

const names: Readonly<Record<string, Level>> = {
  DEBUG: 'debug',
  INFO: 'info',
  WARNING: 'warn',
  ERROR: 'error',
  CRITICAL: 'critical',
};

export const commandLog = {
  start(to: Writer | undefined): void {
    writer = to;
  },
  note(level: Level, message: string): void {
    writer?.(level, message);
  },
  /** Lines as they are printed: `[WARNING ] text`, `ERROR: text`, and others, which belong to the one before. */
  copy(text: string): void {
    if (!writer) return;
    let level: Level = 'info';
    for (const line of text.split('\n').filter((each) => each.trim() !== '')) {
      const [, name = '', message = line] = /^(?:\[(\w+) *\]|(?:ERROR|WARNING):) (.*)$/.exec(line) ?? [];
      const word = name || (/^(ERROR|WARNING): /.exec(line)?.[1] ?? '');
      level = names[word] ?? level;
      writer(level, message);
    }
  },
};
