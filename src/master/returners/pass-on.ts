// Results that a minion with `return_via_master` asks the master to pass to returners.
import { asPlainDict, type PlainDict } from '../../base/codec/value.ts';
import { messageOf } from '../../base/errors/index.ts';
import type { Logger } from '../../base/log/index.ts';
import type { JobReturn } from '../../protocol/job/job-return.ts';

import type { JobStore } from '../../store/jobs.ts';
import { storedJob } from '../../store/records.ts';
import type { ReturnerSettings } from './settings.ts';
import type { ReturnerSinks } from './sinks.ts';

export interface PassOnParts {
  readonly store: Pick<JobStore, 'load'>;
  readonly sinks: Pick<ReturnerSinks, 'pass'>;
  readonly returnerSettings: Pick<ReturnerSettings, 'via'>;
  readonly log: Pick<Logger, 'limited'>;
}

/** Resolves when the result, in its encoded form `load`, is in the spools of its returners; undefined without any. */
export function passOn(parts: PassOnParts, ret: JobReturn, load: PlainDict): Promise<void> | undefined {
  const { returners } = ret;
  return returners?.names.length ? passTo(parts, returners.names, ret, load) : undefined;
}

async function passTo(parts: PassOnParts, asked: readonly string[], ret: JobReturn, load: PlainDict): Promise<void> {
  try {
    const names = asked.filter((name) => isAllowed(parts, name));
    if (names.length === 0) return;
    const options = await jobOptions(parts, ret.jid);
    await Promise.all(names.map((name) => parts.sinks.pass(name, load, options)));
  } catch (error) {
    const fields = { minion: ret.id, error: messageOf(error) };
    parts.log.limited('pass-on', 'error', 'a result could not be passed to its returner', fields);
  }
}

function isAllowed(parts: PassOnParts, name: string): boolean {
  const { via } = parts.returnerSettings;
  if (via === true || (via !== false && via.includes(name))) return true;
  parts.log.limited(`via:${name}`, 'warn', 'a minion asks for a returner that return_via_master does not allow', {
    returner: name.slice(0, 80),
  });
  return false;
}

/**
 * Options for one job apply only when it was published here, by a user with full rights: addresses and files that a
 * minion sends, in its result or in its own run, are ignored.
 */
async function jobOptions(parts: PassOnParts, jid: string): Promise<{ config?: string; kwargs?: PlainDict }> {
  const load = await parts.store.load(jid);
  const job = load && storedJob(load);
  if (!job || job.startedBy !== undefined) return {};
  const kwargs = asPlainDict(job.options?.ret_kwargs);
  const config = job.options?.ret_config;
  return { ...(config ? { config } : {}), ...(kwargs ? { kwargs } : {}) };
}
