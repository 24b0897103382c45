// Periodic cleaning: what is removed, and where.
import { describe, expect, it } from 'vitest';
import { loadMasterConfig } from '../../base/config/index.ts';
import { nullLogger } from '../../base/log/index.ts';
import type { Retention } from '../../store/jobs.ts';
import { readReturnerSettings } from '../returners/settings.ts';
import { newGeneration } from '../sign-in/aes-keys.ts';
import { Maintenance } from './maintenance.ts';

function cleaned(overrides: Record<string, string | number>): {
  own: Retention[];
  other: unknown[][];
  maintenance: Maintenance;
} {
  const { opts } = loadMasterConfig({
    configDir: '/nonexistent',
    env: {},
    overrides: { publish_session: 0, ...overrides },
  });
  const own: Retention[] = [];
  const other: unknown[][] = [];
  const unused = (): never => expect.fail('only history is cleaned');
  const maintenance = new Maintenance({
    opts,
    log: nullLogger(),
    returnerSettings: readReturnerSettings(opts),
    leads: () => true,
    secrets: { aes: { current: newGeneration(0) } },
    durable: { expire: () => undefined },
    tokens: { sweep: async () => undefined },
    keyChanges: { rotate: unused },
    fleet: { present: unused },
    bus: { fire: unused },
    sinks: {
      ask: async (...question: unknown[]) => {
        other.push(question);
        return null;
      },
    },
    store: {
      clean: async (retention: Retention) => {
        own.push(retention);
        return { jobs: 0 };
      },
    },
  });
  maintenance.run();
  maintenance.run();
  return { own, other, maintenance };
}

describe('old jobs', () => {
  it('are removed from the own store after a day, and from another only when configured', () => {
    const { own, other } = cleaned({ master_job_cache: 'mysql' });
    expect(own[0]?.keepSeconds).toBe(86_400);
    expect(other).toEqual([]);
  });
  it.each([
    [{ keep_jobs_seconds: 86_400 }, 86_400],
    [{ keep_jobs_seconds: 60 }, 60],
    [{ keep_jobs: 72 }, 259_200],
  ])('are removed from the database of master_job_cache with %o, periodically', (given, seconds) => {
    const { own, other } = cleaned({ master_job_cache: 'mysql', ...given });
    expect(own[0]?.keepSeconds).toBe(seconds);
    expect(other).toEqual([['mysql', 'clean', seconds]]);
  });
  it('are searched again only when the last search is finished', async () => {
    const { own, maintenance } = cleaned({});
    expect(own).toHaveLength(1);
    await new Promise(setImmediate);
    maintenance.run();
    expect(own).toHaveLength(2);
  });
  it('are never removed with 0', () => {
    const { own, other } = cleaned({ master_job_cache: 'mysql', keep_jobs_seconds: 0 });
    expect(own[0]?.keepSeconds).toBe(0);
    expect(other).toEqual([]);
  });
});
