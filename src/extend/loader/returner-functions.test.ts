// Returners as `sys.*` shows them.
import { describe, expect, it } from 'vitest';
import { newDict } from '../../base/codec/value.ts';
import { defineReturner, p } from '../sdk/index.ts';
import { Loader } from './loader.ts';
import { createRegistry } from './registry.ts';

const silent = { debug: () => undefined, info: () => undefined, warn: () => undefined, error: () => undefined };
const open = () => ({ save: async () => undefined });
const returners = [
  defineReturner({ name: 'full', doc: 'Keeps all.', keeps: ['jobs', 'events'], options: {}, open }),
  defineReturner({
    name: 'small',
    doc: 'Keeps little.',
    options: { host: p.string({ default: 'salt', doc: 'server' }) },
    open,
  }),
  defineReturner({ name: 'gone', doc: '', available: () => 'not here', options: {}, open }),
];
const loader = new Loader({
  opts: () => ({}),
  grains: () => newDict(),
  log: silent,
  userCode: 'names',
  builtin: {
    returners: Object.fromEntries(
      returners.map((returner) => [returner.name, { load: async () => ({ default: returner }) }]),
    ),
  },
});

describe('the functions of returners', () => {
  const registry = createRegistry(loader);

  it('are those that it provides', async () => {
    expect(await registry.moduleNames('returners')).toEqual(['full', 'small']);
    const names = await registry.functionNames('returners');
    expect(names.filter((name) => name.startsWith('small.'))).toEqual(['small.returner']);
    expect(names).toContain('full.get_jid');
    expect(names).toContain('full.event_return');
  });

  it('are documented with their options', async () => {
    const info = await registry.functionInfo('returners', 'small.returner');
    expect(info?.doc).toContain('small.host: server (salt)');
    expect(Object.keys(info?.params ?? {})).toEqual(['ret']);
    expect(await registry.functionInfo('returners', 'small.get_jid')).toBeUndefined();
    expect(await registry.functionInfo('returners', 'gone.returner')).toBeUndefined();
  });
});
