// An upgrade on the disk of the master: written before every step, so that it goes on after a restart.
import { join } from 'node:path';
import { asText, fieldOf, HaliteError, isDict, type MasterContext, type Value } from 'halite/sdk';
import { mkdirSync, readdirSync, readFileSync, replaceFileNow } from 'halite/sdk/fs';
import type { Steps } from './agent.ts';

/**
 * `started`: its script runs. `upgraded`, `already`: it has the new version. `returned`: it has the old one again.
 * `offline`: it did not answer before, and nothing was done. `failed`: nothing could be started, or the old version did
 * not come back. `lost`: it does not answer.
 */
export const standings = [
  'waiting',
  'started',
  'upgraded',
  'already',
  'returned',
  'offline',
  'failed',
  'lost',
] as const;
export type Standing = (typeof standings)[number];

export interface MinionRecord {
  standing: Standing;
  /** The version before, and why it stands so. */
  from: string;
  why: string;
  folder: string;
  /** When it was started, in milliseconds since the epoch. */
  at: number;
}

export interface UpgradeRecord {
  readonly id: string;
  readonly version: string;
  readonly steps: Steps;
  /** Files of the file server. */
  readonly source: readonly string[];
  readonly oldSource: readonly string[];
  readonly state: string;
  readonly ask: string;
  /** Groups in order, the canaries first. */
  readonly groups: readonly (readonly string[])[];
  readonly mostFailed: number;
  result: 'running' | 'done' | 'stopped';
  readonly minions: Record<string, MinionRecord>;
}

const folderOf = ({ opts }: MasterContext): string => join(String(opts['cachedir']), 'upgrades');
const named = /^\d{8}T\d{9}Z$/;

/** The name of a file of the file server. */
export const nameOf = (source: string): string => source.slice(source.lastIndexOf('/') + 1);

export const newId = (): string => new Date().toISOString().replace(/[-:.]/g, '');

export function save(ctx: MasterContext, record: UpgradeRecord): void {
  const folder = folderOf(ctx);
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  replaceFileNow(join(folder, `${record.id}.json`), `${JSON.stringify(record, undefined, 1)}\n`);
}

/** Ids of all upgrades, oldest first. */
export function upgrades(ctx: MasterContext): string[] {
  try {
    return readdirSync(folderOf(ctx))
      .flatMap((name) => (name.endsWith('.json') && named.test(name.slice(0, -5)) ? [name.slice(0, -5)] : []))
      .sort();
  } catch {
    return [];
  }
}

export function load(ctx: MasterContext, id: string): UpgradeRecord {
  const file = join(folderOf(ctx), `${id}.json`);
  if (!named.test(id) || !upgrades(ctx).includes(id))
    throw new HaliteError('config.missing', `There is no upgrade ${id}`, {
      hint: 'List them: salt-run fleet.upgrades',
    });
  const said = JSON.parse(readFileSync(file, 'utf8')) as Value;
  // Written by this master for itself, in a folder of its own: only its form is checked.
  if (!isDict(said) || asText(fieldOf(said, 'version')) === undefined || !isDict(fieldOf(said, 'minions')))
    throw new HaliteError('codec.malformed', `${file} does not describe an upgrade`);
  const record = said as unknown as UpgradeRecord;
  // A master of before wrote one file, without a list.
  const files = (given: string | readonly string[]): string[] => [given].flat().filter((each) => each !== '');
  return { ...record, source: files(record.source), oldSource: files(record.oldSource) };
}
