// The local caller of this tree, kept open for many calls with one configuration.
import { dictOf } from '../../../src/base/codec/value.ts';
import { loadMinionConfig } from '../../../src/base/config/minion.ts';
import { createLoggerFromOpts } from '../../../src/base/log/index.ts';
import { generateJid } from '../../../src/base/util/index.ts';
import { Display } from '../../../src/cli/output.ts';
import { openCaller } from '../../../src/minion/caller/caller.ts';
import { callLocally } from '../../../src/minion/caller/run.ts';

export interface Answer {
  readonly value?: string;
  readonly error?: string;
}

/** Answers calls as `salt-call --local --out=json` prints them. */
export async function openOurs(conf: string): Promise<(fun: string, words: readonly string[]) => Promise<Answer>> {
  const { opts } = loadMinionConfig({ configDir: conf });
  opts.raw['file_client'] = 'local';
  const log = createLoggerFromOpts(opts);
  const caller = await openCaller({ opts, log, local: true });
  const display = new Display({ output: 'json' });
  return async (fun, words) => {
    const outcome = await callLocally(caller, { opts, log, local: true, fun, words }, generateJid());
    if (outcome.kind === 'failure') return { error: `${outcome.stderr}${outcome.stdout}`.trim() };
    return { value: await display.format(dictOf([['local', outcome.return]])) };
  };
}
