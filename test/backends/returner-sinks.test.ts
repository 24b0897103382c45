// The thread for returners, with a returner that ends it: it is started again and nothing is lost.
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { dictOf, type PlainDict } from '../../src/base/codec/value.ts';
import { nullLogger } from '../../src/base/log/index.ts';
import type { ReturnerSettings } from '../../src/master/returners/settings.ts';
import { ReturnerSinks } from '../../src/master/returners/sinks.ts';
import { EventBus } from '../../src/protocol/event/bus.ts';
import { eventually } from '../support/eventually.ts';

const folder = mkdtempSync(join(tmpdir(), 'halite-sinks-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

it('continues after a returner has ended its thread', async () => {
  const [file, died] = [join(folder, 'diary'), join(folder, 'died')];
  mkdirSync(join(folder, 'returners'));
  writeFileSync(
    join(folder, 'returners/diary.mjs'),
    `// Ends its thread once, without any error, and then writes a diary.
     import { appendFileSync, existsSync, writeFileSync } from 'node:fs';
     export function returner(ret) {
       if (!existsSync('${died}')) {
         writeFileSync('${died}', '');
         process.exit(0);
       }
       appendFileSync('${file}', ret.id + '\\n');
     }\n`,
  );
  const opts = { extension_modules: folder, id: 'master' };
  const settings = { folder: join(folder, 'spool'), opts, jobCache: 'diary', extJobCache: '', events: [] };
  const limits = { maxBytes: 1e9, gather: { count: 0, ms: 0 } };
  const sinks = new ReturnerSinks({
    settings: { ...settings, ...limits } as unknown as ReturnerSettings,
    ...{ log: nullLogger(), bus: new EventBus(), names: async () => [] },
  });
  await sinks.start();
  const ids = ['a', 'b', 'c'];
  for (const id of ids) {
    const load = dictOf([
      ['id', id],
      ['jid', '20260131080000000001'],
      ['return', true],
    ]);
    await sinks.add('jobs', 'diary', { k: 'ret', load: load as PlainDict });
  }
  await eventually('the diary to be written', () => existsSync(file) && readFileSync(file, 'utf8') === 'a\nb\nc\n', {
    timeoutMs: 120_000,
  });
  expect(existsSync(died)).toBe(true);
  await sinks.stop();
});
