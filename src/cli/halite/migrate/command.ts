// `halite migrate`: looks at an existing Salt installation, takes the place of its master, and goes back.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { asText, newDict, type PlainDict, type Value } from '../../../base/codec/value.ts';
import { exitCodes } from '../../../base/util/exit-codes.ts';
import type { Terminal } from '../../io.ts';
import { type CheckReport, checkInstallation } from './check/check.ts';
import { checkText, countOf } from './check/report.ts';

export interface MigrateCall {
  readonly configDir: string;
  readonly words: readonly Value[];
  readonly kwargs: PlainDict;
  readonly dryRun: boolean;
  readonly io: Terminal;
  /** Prints data with the outputter that was chosen; undefined when none was. */
  readonly show: ((data: Value) => Promise<void>) | undefined;
}

const ofSwitch = ['old', 'old_stop', 'old_start', 'stop', 'start', 'wait', 'most_lost', 'force', 'backup'];
const known: Readonly<Record<string, readonly string[]>> = {
  check: ['config', 'root', 'all'],
  run: ofSwitch,
  back: ['wait'],
  done: ['most_lost'],
};

/** The exit code, or what is wrong with the words. */
export async function migrate(call: MigrateCall): Promise<number | string> {
  const { words, kwargs } = call;
  const [step = '', ...more] = words.map(String);
  const arguments_ = Object.hasOwn(known, step) ? known[step]! : undefined;
  if (arguments_ === undefined) return 'migrate takes: check [folder, archive or live], run, back, or done';
  const extra = more.slice(step === 'check' ? 1 : 0);
  if (extra.length > 0) return `migrate ${step} does not take ${extra[0]}`;
  const strange = Object.keys(kwargs).find((name) => !arguments_.includes(name));
  if (strange !== undefined) return `migrate ${step} has no argument ${strange}; it has ${arguments_.join(', ')}`;
  const scratch = mkdtempSync(join(tmpdir(), 'halite-migrate-'));
  try {
    return step === 'check' ? await check(call, more[0] ?? '', scratch) : await take(call, step, scratch);
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
}

async function check({ configDir, kwargs, io, show }: MigrateCall, name: string, scratch: string): Promise<number> {
  const report = await checkInstallation({
    ...{ name, configDir, scratch },
    inside: asText(kwargs['config']) ?? '/etc/salt',
    root: asText(kwargs['root']) ?? '/',
  });
  if (show) await show(asData(report));
  else io.out(checkText(report, kwargs['all'] === true));
  return countOf(report, 'missing') > 0 ? exitCodes.generic : exitCodes.ok;
}

async function take({ configDir, kwargs, dryRun, io }: MigrateCall, step: string, scratch: string): Promise<number> {
  const { migrateBack, migrateDone, migrateRun } = await import('./switch/switch.ts');
  const text = (name: string): string => asText(kwargs[name]) ?? '';
  const number = (name: string, usual: number): number => {
    const value = kwargs[name];
    return typeof value === 'number' && value >= 0 ? value : usual;
  };
  const steps: Readonly<Record<string, typeof migrateRun>> = { run: migrateRun, back: migrateBack, done: migrateDone };
  return steps[step]!({
    ...{ configDir, dryRun, scratch, force: kwargs['force'] === true },
    ...{ old: text('old'), oldStop: text('old_stop'), oldStart: text('old_start') },
    ...{ stop: text('stop'), start: text('start'), backup: text('backup') },
    ...{ wait: number('wait', 120), mostLost: number('most_lost', 0) },
    say: (line) => io.err(`${line}\n`),
    print: (line) => io.out(line),
  });
}

function asData({ source, configDir, roles, entries, notes }: CheckReport): Value {
  return newDict([
    ['source', source],
    ['config_dir', configDir],
    ['roles', [...roles]],
    ['entries', entries.map((entry) => newDict(Object.entries(entry) as [string, Value][]))],
    ['notes', [...notes]],
  ]);
}
