// The tags of Salt's own events, each built in one place.

/** Joins with `/`, as all of Salt's tags do. */
export function joinTag(...parts: readonly string[]): string {
  return parts.join('/');
}

export const tags = {
  auth: 'salt/auth',
  key: 'salt/key',
  /** Fired when the AES key was replaced. */
  rotated: 'key',
  presencePresent: 'salt/presence/present',
  presenceChange: 'salt/presence/change',
  /** Fired before the minion's own tag while `enable_legacy_startup_events` is on. */
  legacyMinionStart: 'minion_start',
  legacySyndicStart: 'syndic_start',
  minionError: '_salt_error',
} as const;

export const jobNewTag = (jid: string): string => `salt/job/${jid}/new`;
export const jobReturnTag = (jid: string, id: string): string => `salt/job/${jid}/ret/${id}`;
export const jobProgressTag = (jid: string, id: string, step: number | string): string =>
  `salt/job/${jid}/prog/${id}/${step}`;
export const jobErrorTag = (jid: string): string => `salt/job/${jid}/error`;
/** Prefix of all events of a job. */
export const jobPrefix = (jid: string): string => `salt/job/${jid}/`;

export const minionStartTag = (id: string): string => `salt/minion/${id}/start`;
export const syndicStartTag = (id: string): string => `salt/syndic/${id}/start`;
/** Prefix under which a syndic forwards the events of its minions. */
export const syndicPretag = (id: string): string => `syndic/${id}`;
export const minionRefreshTag = (id: string): string => `minion/refresh/${id}`;
export const beaconTag = (id: string, beacon: string): string => `salt/beacon/${id}/${beacon}/`;

export const runNewTag = (jid: string): string => `salt/run/${jid}/new`;
export const runReturnTag = (jid: string): string => `salt/run/${jid}/ret`;
export const runArgsTag = (jid: string): string => `salt/run/${jid}/args`;
export const runProgressTag = (jid: string, step: string): string => `salt/run/${jid}/progress/${step}`;
export const wheelNewTag = (jid: string): string => `salt/wheel/${jid}/new`;
export const wheelReturnTag = (jid: string): string => `salt/wheel/${jid}/ret`;

export const fileserverUpdateTag = (backend: string): string => `salt/fileserver/${backend}/update`;
export const statsTag = (worker: string): string => `salt/stats/${worker}`;

export interface JobTag {
  readonly jid: string;
  /** `new`, `ret`, `prog`, `error` or whatever stands there. */
  readonly kind: string;
  readonly id: string | undefined;
}

/** Takes `salt/job/<jid>/<kind>[/<id>…]` apart; undefined for other tags. */
export function readJobTag(tag: string): JobTag | undefined {
  const [salt, job, jid, kind, id] = tag.split('/', 5);
  if (salt !== 'salt' || job !== 'job' || !jid || !kind) return undefined;
  return { jid, kind, id };
}
