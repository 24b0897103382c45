// What a minion left on its disk: results that wait for masters, and the lock of its process.
import type { MinionOpts } from '../../../base/config/index.ts';
import { nullLogger } from '../../../base/log/index.ts';
import { Spool } from '../../../minion/jobs/spool.ts';
import { isLocked, lockPath, readLockHolder } from '../../../minion/lock.ts';
import type { Findings } from './finding.ts';

/** Results that no master has accepted yet: how many, how old, and for whom. */
export async function examineSpool(findings: Findings, opts: MinionOpts): Promise<void> {
  const spool = new Spool(opts.cachedir, nullLogger());
  const waiting = await spool.list();
  const [oldest] = waiting;
  if (!oldest) return;
  const names = await Promise.all(waiting.map((item) => spool.askedFor(item).then(({ name }) => name || 'any master')));
  const counted = [...new Set(names)].map((name) => `${name}: ${names.filter((other) => other === name).length}`);
  const kept = waiting.filter((item) => item.kept).length;
  const what = `${waiting.length} result${waiting.length === 1 ? ' waits' : 's wait'} for the master that asked (${counted.join(', ')}), the oldest since ${new Date(oldest.since).toLocaleString()}`;
  findings.warning(
    kept > 0 ? `${what}; another master has a copy of ${kept}` : what,
    'nothing when the master comes back: they are delivered then; otherwise remove it from master, and another one takes them',
  );
}

/** A process without the lock is a second one, or one of an older version. */
export function examineLock(findings: Findings, opts: MinionOpts, runs: boolean): void {
  const path = lockPath(opts.cachedir);
  const locked = isLocked(path);
  if (locked === undefined)
    findings.warning(
      'A second minion process would not be noticed: the program flock is missing',
      'install util-linux',
    );
  if (!locked) return;
  const holder = readLockHolder(path);
  const who = holder ? `process ${holder.pid} (minion ${holder.id}, started ${holder.started})` : 'an unknown process';
  if (!runs)
    findings.problem(
      `${opts.cachedir} is in use by ${who}, which has another configuration`,
      holder ? `kill ${holder.pid}, or give this minion its own cachedir and pki_dir` : `see which: fuser ${path}`,
    );
  else findings.fine(`Its lock is held by ${who}`);
}
