// Settings of real Salt minions that matter with several masters. Only they know them, so they are asked.
import { isIP } from 'node:net';
import { dictGet, HaliteError, type MasterContext, type Value } from 'halite/sdk';
import { counted, type Finding, named } from './finding.ts';

const asked = [
  'master',
  'master_type',
  'master_alive_interval',
  'cache_jobs',
  'retry_dns',
  'verify_master_pubkey_sign',
] as const;
type Settings = Partial<Record<(typeof asked)[number], Value>>;

interface Check {
  readonly level: 'problem' | 'warning';
  readonly what: string;
  readonly repair: string;
  readonly applies: (settings: Settings, signs: boolean) => boolean;
}

const several = ({ master }: Settings): boolean => Array.isArray(master) && master.length > 1;
const hot = (settings: Settings): boolean => several(settings) && (settings.master_type ?? 'str') === 'str';
const hostOf = (master: Value): string =>
  String(master)
    .replace(/:\d+$/, '')
    .replace(/^\[(.*)\]$/, '$1');

export const checks: readonly Check[] = [
  {
    level: 'problem',
    what: 'the whole minion ends when one of its masters dies: it has several masters and master_alive_interval',
    repair:
      'remove master_alive_interval from its configuration and restart it; heartbeats of a Halite master replace it',
    applies: (settings) => hot(settings) && Number(settings.master_alive_interval ?? 0) > 0,
  },
  {
    level: 'warning',
    what: 'it never changes masters: master_type is failover, and master_alive_interval is not set',
    repair: 'set master_alive_interval: 15 in its configuration and restart it',
    applies: (settings) => settings.master_type === 'failover' && !(Number(settings.master_alive_interval ?? 0) > 0),
  },
  {
    level: 'warning',
    what: 'results of its running jobs are lost when the master that asked dies: it keeps no copies',
    repair: 'set cache_jobs: True in its configuration and restart it; later: salt ID saltutil.find_cached_job JID',
    applies: (settings) => several(settings) && settings.cache_jobs !== true,
  },
  {
    level: 'warning',
    what: 'one master whose name does not resolve makes it deaf to all of them',
    repair: 'set retry_dns: 0 in its configuration, or name its masters by their addresses',
    applies: (settings) =>
      hot(settings) &&
      Number(settings.retry_dns ?? 30) > 0 &&
      (settings.master as Value[]).some((master) => isIP(hostOf(master)) === 0),
  },
  {
    level: 'problem',
    what: 'it does not connect any more when it is restarted: its master_type is distributed, which fails in every release of Salt',
    repair: 'set master_type: failover and master_alive_interval: 15 in its configuration, or use a Halite minion',
    applies: (settings) => settings.master_type === 'distributed',
  },
  {
    level: 'problem',
    what: 'its next sign-in fails: it wants a signed key (verify_master_pubkey_sign), and this master does not sign',
    repair: 'set master_sign_pubkey: True on all masters, or remove the option there',
    applies: (settings, signs) => settings.verify_master_pubkey_sign === true && !signs,
  },
  {
    level: 'problem',
    what: 'its next sign-in fails: this master signs its key (master_sign_pubkey), and it does not expect that',
    repair: 'set verify_master_pubkey_sign: True there and copy master_sign.pub, or remove master_sign_pubkey here',
    applies: (settings, signs) => settings.verify_master_pubkey_sign === false && signs,
  },
];

/** Halite minions need none of this: they find their settings themselves (`halite doctor` there). */
export async function masterFindings(ctx: MasterContext): Promise<Finding[]> {
  const { fleet } = ctx.master;
  const real: string[] = [];
  for (const { id, connected } of fleet.all()) {
    const grains = await fleet.grains(id);
    if (connected !== 'no' && !(grains && dictGet(grains, 'haliteversion') !== undefined)) real.push(id);
  }
  if (real.length === 0) return [{ level: 'fine', what: 'There is no real Salt minion to ask' }];
  const settings = await settingsOf(ctx, real);
  const signs = ctx.opts['master_sign_pubkey'] === true;
  const findings = checks.flatMap(({ level, what, repair, applies }): Finding[] => {
    const ids = [...settings].filter(([, given]) => applies(given, signs)).map(([id]) => id);
    return ids.length === 0 ? [] : [{ level, what: `${counted(ids.length)} (${named(ids.sort())}): ${what}`, repair }];
  });
  const silent = real.filter((id) => !settings.has(id));
  if (silent.length > 0)
    findings.push({
      level: 'warning',
      what: `${counted(silent.length)} (${named(silent)}): did not say how its masters are configured`,
      repair: 'salt-run manage.explain ID',
    });
  return [...findings, { level: 'fine', what: `${counted(settings.size)} said how their masters are configured` }];
}

async function settingsOf(ctx: MasterContext, ids: readonly string[]): Promise<Map<string, Settings>> {
  const found = new Map<string, Settings>();
  for (const name of asked) {
    const { returns } = await ctx.master
      .runJob({ tgt: [...ids], tgt_type: 'list', fun: 'config.get', arg: [name] })
      .catch((error: unknown) => {
        if (error instanceof HaliteError && error.code === 'target.empty') return { returns: {} };
        throw error;
      });
    for (const [id, { ret }] of Object.entries(returns)) {
      const known = found.get(id) ?? {};
      known[name] = ret;
      found.set(id, known);
    }
  }
  return found;
}
