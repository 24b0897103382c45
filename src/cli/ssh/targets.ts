// The targets of a command: those of the rosters, or a host that no roster has.
import { lookup } from 'node:dns/promises';
import { appendFileSync } from 'node:fs';
import { userInfo } from 'node:os';
import { dictEntries, dictGet, dictOf, isDict, newDict, type Value } from '../../base/codec/value.ts';
import { dumpYaml } from '../../base/codec/yaml/dump.ts';
import { messageOf } from '../../base/errors/index.ts';
import type { Logger } from '../../base/log/index.ts';
import { hasGlob } from '../../base/util/fnmatch.ts';
import type { RosterTarget } from '../../extend/sdk/index.ts';
import type { Rosters } from '../../ssh/rosters.ts';
import { readTarget, type SshTarget, type TargetDefaults } from '../../ssh/target.ts';

export interface TargetParts {
  readonly rosters: Rosters;
  readonly defaults: TargetDefaults;
  readonly log: Logger;
  readonly updateRoster: boolean;
}

export async function findTargets(parts: TargetParts, target: RosterTarget): Promise<SshTarget[]> {
  const { rosters, defaults } = parts;
  const { user, host } = direct(target);
  const found = await rosters.targets(target, defaults);
  if (found.length > 0 || host === '') return found;
  // `root@web1` of a host that a roster has.
  const listed = user === '' ? [] : await byAddress(parts, host);
  if (listed.length > 0) return listed;
  if (!(await isKnownName(host))) return [];
  const made = readTarget(host, dictOf([['host', host]]), user === '' ? defaults : { ...defaults, user });
  if (parts.updateRoster) addToRoster(parts, made);
  return [made];
}

/** `user@host` or a name, when it can be one. */
function direct({ tgt, kind }: RosterTarget): { user: string; host: string } {
  if (kind !== 'glob' || typeof tgt !== 'string') return { user: '', host: '' };
  const at = tgt.lastIndexOf('@');
  const host = tgt.slice(at + 1);
  const usable = host !== '' && !hasGlob(host) && !/[\s\p{Cc}/]/u.test(tgt) && !host.startsWith('-');
  return usable ? { user: at > 0 ? tgt.slice(0, at) : '', host } : { user: '', host: '' };
}

async function byAddress({ rosters, defaults }: TargetParts, host: string): Promise<SshTarget[]> {
  const all = await rosters.find({ tgt: '*', kind: 'glob' }).catch(() => newDict());
  const ids = dictEntries(all).flatMap(([id, entry]) => {
    const address = isDict(entry) ? dictGet(entry, 'host') : entry;
    return id === host || address === host ? [String(id)] : [];
  });
  return ids.length === 0 ? [] : rosters.targets({ tgt: ids.slice(0, 1), kind: 'list' }, defaults);
}

const isKnownName = (host: string): Promise<boolean> =>
  lookup(host).then(
    () => true,
    () => false,
  );

/** As in Salt, and without a password: secrets do not belong there unasked. */
function addToRoster({ rosters, log }: TargetParts, { id, host, user }: SshTarget): void {
  try {
    const file = rosters.rosterFile();
    const entry: Value = newDict([[id, newDict(Object.entries({ host, user }))]]);
    const about = `# Automatically added by "${userInfo().username}" at ${new Date().toISOString().slice(0, 19)}\n`;
    appendFileSync(file, `${about}${dumpYaml(entry, { flow: false })}`);
    log.info('The host has been added to the roster', { host, roster: file });
  } catch (error) {
    log.error('Unable to update the roster', { error: messageOf(error) });
  }
}
