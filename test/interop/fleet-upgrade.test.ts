// `fleet.upgrade` on real Salt minions: to the next release of Salt, to Halite, and back where the new version is not well.
// HALITE_UPGRADE_SALT_MINIONS=5 takes that many.
import { spawn } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Deployment, halite } from '../support/deployment.ts';
import { eventually } from '../support/eventually.ts';
import { saltRelease } from '../support/salt-release.ts';

const count = Number(process.env['HALITE_UPGRADE_SALT_MINIONS'] ?? 1);
const ids = Array.from({ length: count }, (_, number) => `s${number + 1}`);
const [older, newer] = [saltRelease('3006.27'), saltRelease('3007.14')];
let own: Deployment;

/** The service of a minion: which commands it runs says the file `build`. */
const service = `#!/bin/sh
dir=$1
[ -n "$dir" ] || dir=$(dirname "$PACKAGE")/../..
cd "$dir" || exit 1
[ ! -s group ] || kill -9 "-$(cat group)"
# Salt does not start beside a process of its own that nobody has waited for yet.
rm -f pid process_responsibility_pid
setsid sh -c 'echo $$ >group; exec "$(cat build)/salt-minion" -c "$PWD/etc"' </dev/null >>out 2>&1 &
exit 0
`;

type Report = { result: string; each: Record<string, string> };
async function upgrade(version: string, from: string, to: string, more: readonly string[] = []): Promise<Report> {
  const words = [
    `version=${version}`,
    'install=cp "$PACKAGE" "$(dirname "$PACKAGE")/../../build"',
    'rollback=cp "$OLD_PACKAGE" "$(dirname "$OLD_PACKAGE")/../../build"',
    `restart=${own.path('service')}`,
    ...[`package=salt://${to}`, `old_package=salt://${from}`, 'wait=120', 'batch=100%'],
  ];
  const { stdout, stderr } = await own.run('salt-run', ['fleet.upgrade', 's*', ...words, ...more, '--out=json'], {
    timeoutMs: 300_000,
  });
  const at = stdout.indexOf('{');
  if (at === -1) throw new Error(`no report: ${stdout}\n${stderr}`);
  return JSON.parse(stdout.slice(at)) as Report;
}
const versions = (): Promise<Record<string, unknown>> => own.json('s*', 'test.version', '-t', '10');

beforeAll(async () => {
  own = await Deployment.create();
  for (const [name, { bin }] of Object.entries({ older, newer, halite }))
    writeFileSync(own.path('srv/salt', name), `${bin}\n`);
  writeFileSync(own.path('srv/salt/wrong.sls'), 'wrong:\n  test.fail_without_changes: []\n');
  writeFileSync(own.path('service'), service, { mode: 0o755 });
  await own.startMaster();
  for (const id of ids) {
    own.configureMinion(id);
    writeFileSync(own.path(id, 'build'), `${older.bin}\n`);
    spawn(own.path('service'), [own.path(id)], { stdio: 'ignore' });
  }
  await own.answering(...ids);
});
afterAll(async () => {
  const groups = ids.map((id) => own?.path(id, 'group') ?? '').filter((file) => existsSync(file));
  for (const file of groups) {
    const group = Number(readFileSync(file, 'utf8'));
    process.kill(-group, 'SIGKILL');
    await eventually('the minion to end', () => !existsSync(`/proc/${group}`)).catch(() => undefined);
  }
  await own?.destroy();
});

describe('a real Salt minion', () => {
  it('gets the next release of Salt', async () => {
    const { result, each } = await upgrade('3007.14', 'older', 'newer');
    expect(result, JSON.stringify(each)).toBe('done');
    for (const id of ids) expect(each[id]).toBe('upgraded: 3006.27 -> 3007.14');
    expect(await versions()).toEqual(Object.fromEntries(ids.map((id) => [id, '3007.14'])));
  });

  it('is back with Salt where a state fails with Halite', async () => {
    const { result, each } = await upgrade('halite', 'newer', 'halite', ['state=wrong']);
    expect(result, JSON.stringify(each)).toBe('stopped');
    expect(each[ids[0]!]).toBe('returned: the state wrong fails in test mode with the new version');
    expect(await versions()).toEqual(Object.fromEntries(ids.map((id) => [id, '3007.14'])));
  });

  it('becomes a minion of Halite, with the same key', async () => {
    const { result, each } = await upgrade('halite', 'newer', 'halite');
    expect(result, JSON.stringify(each)).toBe('done');
    for (const id of ids) expect(each[id]).toBe('upgraded: 3007.14 -> halite');
    for (const version of Object.values(await versions())) expect(version).toContain('halite');
  });
});
