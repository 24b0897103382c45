// Checks `ssh_minion_opts`, which must not override what the master decides.
import { dictEntries, dictOf, isDict, type PlainDict } from '../codec/value.ts';
import type { ConfigReport } from './problems.ts';

const refused = (name: string): boolean =>
  /^[a-z0-9]+fs_/i.test(name) ||
  (name.includes('pillar') && name !== 'ssh_merge_pillar') ||
  name === 'fileserver_backend';

/** Pillar and file server options of SSH targets come from the master, so such entries are dropped. */
export function checkSshMinionOpts(opts: PlainDict, report: ConfigReport): void {
  const given = opts['ssh_minion_opts'];
  if (!isDict(given)) return;
  const kept = dictEntries(given).filter(([name]) => {
    if (!refused(String(name))) return true;
    report.warn('value', `'${String(name)}' is not a valid ssh_minion_opts parameter, ignoring`, {
      option: 'ssh_minion_opts',
    });
    return false;
  });
  opts['ssh_minion_opts'] = dictOf(kept);
}
