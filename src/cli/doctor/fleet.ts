// The running master's own findings, and those of one minion.
import { readValue } from '../../base/codec/json/index.ts';
import { dictGet, isDict, newDict, type PlainDict, type Value } from '../../base/codec/value.ts';
import { loadClientConfig } from '../../base/config/client.ts';
import { HaliteError } from '../../base/errors/index.ts';
import { connectLocal } from '../../engine/client/local.ts';
import type { Finding, Level } from './finding.ts';

async function askRunner(configDir: string, fun: string, args: readonly Value[], kwargs: PlainDict): Promise<Value> {
  const client = await connectLocal(loadClientConfig({ configDir }).opts);
  try {
    for await (const item of client.runner(fun, args, kwargs)) {
      if (item.type === 'result') return readValue(item.ret);
    }
    throw new HaliteError('daemon.unreachable', 'The master did not answer');
  } finally {
    client.close();
  }
}

const levels: readonly string[] = ['problem', 'warning', 'fine'];

/** What the master says about its stores, keys and minions. */
export async function examineFleet(configDir: string): Promise<Finding[]> {
  const found = await askRunner(configDir, 'doctor.fleet', [], newDict([['all', true]]));
  if (!Array.isArray(found)) throw new HaliteError('call.failed', `doctor.fleet: ${String(found)}`);
  return found.filter(isDict).map((item) => {
    const text = (key: string): string => String(dictGet(item, key) ?? '');
    const level = text('level');
    return {
      level: (levels.includes(level) ? level : 'warning') as Level,
      about: 'fleet',
      what: text('what'),
      ...(text('repair') ? { repair: text('repair') } : {}),
    };
  });
}

/** What the master knows of a minion, or of a job when it is a job id. */
export function explainOf(configDir: string, what: string): Promise<Value> {
  return askRunner(configDir, /^\d{20}/.test(what) ? 'jobs.explain' : 'manage.explain', [what], newDict());
}
