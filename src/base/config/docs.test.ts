import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { describeOptions, renderOptionsPage } from './docs.ts';

const page = (name: string): string =>
  readFileSync(fileURLToPath(new URL(`../../../docs/reference/${name}-options.md`, import.meta.url)), 'utf8');

describe.each(['master', 'minion'] as const)('manual of the %s options', (daemon) => {
  it('is up to date; run npm run docs when it is not', () => {
    expect(page(daemon)).toBe(renderOptionsPage(daemon));
  });

  it('names every option once, with one sentence', () => {
    const described = describeOptions(daemon);
    expect(new Set(described.map(({ name }) => name)).size).toBe(described.length);
    for (const { name, doc, type } of described) {
      expect(doc, name).toMatch(/^[A-Z`].*\.$/);
      expect(type, name).not.toBe('');
    }
  });
});

describe('describeOptions', () => {
  it('says type, default and version', () => {
    const master = describeOptions('master');
    expect(master.find(({ name }) => name === 'publish_port')).toMatchObject({ type: 'int', default: '`4505`' });
    expect(master.find(({ name }) => name === 'user')?.default).toBe('the user who starts the program');
    expect(master.find(({ name }) => name === 'cluster_id')).toMatchObject({ type: 'str or null', since: '3007.0' });
    expect(master.find(({ name }) => name === 'fileserver_list_cache_time')?.default).toBe('`20`');
  });
});
