// The report about rules that mean more or less than under Salt, checked with Salt's own code: wherever the two decide
// differently about a request, the report of the doctor has a line about that rule.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { dictOf, newDict, type Value } from '../../src/base/codec/value.ts';
import { argumentsOf } from '../../src/master/authorization/call-arguments.ts';
import { configuredRules } from '../../src/master/authorization/external-auth.ts';
import { compareRights } from '../../src/master/authorization/rights-report.ts';
import { permitsMaster, permitsPublish, readRules } from '../../src/master/authorization/rules.ts';
import { runProgram } from '../support/deployment.ts';
import { saltRelease } from '../support/salt-release.ts';

const functions = {
  modules: ['test.ping', 'test.echo', 'testing.ping', 'cmd.run', 'cmd.run_all', 'grains.item', 'grains.items'],
  runners: ['jobs.list_job', 'jobs.list_jobs', 'manage.up', 'salt.cmd'],
  wheel: ['key.list', 'key.list_all', 'config.values'],
};
const argumentLists: Value[][] = [
  [],
  ['nginx'],
  ['nginx-extras'],
  [5],
  ['colour=green'],
  [
    newDict([
      ['__kwarg__', true],
      ['colour', 'green'],
    ]),
  ],
];

/** A block of external_auth with one user, group or pattern. */
interface Config {
  readonly key: string;
  readonly rules: Value;
  readonly name?: string;
  readonly groups?: readonly string[];
}
const configs: Config[] = [
  ...[
    ['test.ping'],
    ['cmd.run'],
    ['grains.item'],
    ['test.*'],
    ['.*'],
    ['*'],
    ['cmd\\.run$'],
    [{ '*': ['cmd.run'] }],
    [{ m1: 'grains.item' }],
    { '*': ['test.ping'] },
    { 'test.ping': ['m1'] },
    [{ '*': ['test.ping'], m1: ['cmd.run'] }],
    [{ '*': [{ 'test.echo': { args: ['nginx'] } }] }],
    [{ '*': [{ 'test.echo': { args: ['nginx.*'] } }] }],
    [{ '*': [{ 'test.echo': { args: [5] } }] }],
    [{ '*': [{ 'test.echo': { args: [null] } }] }],
    [{ '*': [{ 'test.echo': { kwargs: { colour: 'green' } } }] }],
    [{ '*': [{ 'test.echo': { argumnets: ['x'] } }] }],
    ['@runner'],
    ['@wheel'],
    ['@runners', '@wheels'],
    ['@jobs'],
    [{ '@runner': ['jobs.list_job'] }],
    [{ '@jobs': ['list_job'] }],
    [{ '@wheel': ['key.list'] }],
    [{ '@wheel': [{ 'key.list': { args: ['nginx'] } }] }],
    [{ '@runners': [{ 'manage.up': { args: ['nginx'] } }] }],
    ['test.ping', 7],
  ].map((rules): Config => ({ key: 'fred', rules: rules as Value })),
  { key: 'steve|admin.*', rules: ['test.ping'], name: 'admin1' },
  { key: 'ops*', rules: ['test.ping'], name: 'ops1' },
  { key: 'dev.*%', rules: ['test.ping'], groups: ['developers'] },
  { key: 'devs%', rules: ['test.ping'], groups: ['devs'] },
  { key: '*', rules: ['test.ping'], name: 'anybody' },
];

type Asked = { readonly kind: 'publish' | 'runner' | 'wheel'; readonly fun: string; readonly args: Value[] };
const requests: Asked[] = [
  ...functions.modules.flatMap((fun) => argumentLists.map((args): Asked => ({ kind: 'publish', fun, args }))),
  ...functions.runners.flatMap((fun) => argumentLists.map((args): Asked => ({ kind: 'runner', fun, args }))),
  ...functions.wheel.flatMap((fun) => argumentLists.map((args): Asked => ({ kind: 'wheel', fun, args }))),
];

const program = `
import json, sys
import salt.config, salt.utils.minions
ck = salt.utils.minions.CkMinions(salt.config.master_config(sys.argv[1]))
job = json.load(sys.stdin)
out = []
for config in job['configs']:
    row = []
    try:
        allowed = ck.fill_auth_list({config['key']: config['rules']}, config['name'], config['groups'])
    except Exception:
        allowed = []
    for asked in job['requests']:
        try:
            if asked['kind'] == 'publish':
                found = ck.auth_check(allowed, asked['fun'], asked['args'], 'm1', 'glob')
            else:
                args = asked['args']
                kwarg = {}
                if args and isinstance(args[-1], dict):
                    kwarg = {k: v for k, v in args[-1].items() if k != '__kwarg__'}
                    args = args[:-1]
                given = {'arg': args, 'kwarg': kwarg} if asked['kind'] == 'runner' else {}
                check = ck.runner_check if asked['kind'] == 'runner' else ck.wheel_check
                found = check(allowed, asked['fun'], given)
        except Exception:
            found = False
        row.append(found is True)
    out.append(row)
print(json.dumps(out))
`;

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'halite-rights-'));
  mkdirSync(join(folder, 'pki/minions'), { recursive: true });
  writeFileSync(join(folder, 'pki/minions/m1'), 'x');
  const lines = [
    `root_dir: ${folder}`,
    `pki_dir: ${folder}/pki`,
    `cachedir: ${folder}/cache`,
    `log_file: ${folder}/log`,
  ];
  writeFileSync(join(folder, 'master'), `${lines.join('\n')}\n`);
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function oursPermits({ key, rules, name = 'fred', groups = [] }: Config, { kind, fun, args }: Asked): boolean {
  const listed = configuredRules(dictOf([[key, rules]]), { name, groups }, false);
  const call = { fun, ...argumentsOf(args) };
  const read = readRules(listed);
  if (kind === 'publish') return permitsPublish(read, [call], (scope) => scope === '*' || scope === 'm1');
  return permitsMaster(read, kind === 'runner' ? 'runners' : 'wheel', call);
}

describe.each(['3006.27', '3008.2'] as const)('beside Salt %s', (version) => {
  it('every difference is told', async () => {
    const plain = (value: Value): unknown => (value instanceof Map ? Object.fromEntries(value) : value);
    const asked = requests.map(({ args, ...rest }) => ({ ...rest, args: args.map(plain) }));
    const given = configs.map(({ key, rules, name = 'fred', groups = [] }) => ({ key, rules, name, groups }));
    const { stdout, stderr, code } = await runProgram(
      join(saltRelease(version).bin, 'python'),
      ['-c', program, join(folder, 'master')],
      { input: JSON.stringify({ configs: given, requests: asked }), timeoutMs: 120_000 },
    );
    expect(code, stderr).toBe(0);
    const theirs = JSON.parse(stdout) as boolean[][];
    let [less, more] = [0, 0];
    for (const [at, config] of configs.entries()) {
      const raw = newDict([['external_auth', { pam: { [config.key]: config.rules } } as Value]]);
      const told = new Set(compareRights({ raw, functions }).map(({ kind }) => kind));
      for (const [which, request] of requests.entries()) {
        const [salt, ours] = [theirs[at]![which]!, oursPermits(config, request)];
        if (salt === ours) continue;
        const text = `${JSON.stringify(config)} ${JSON.stringify(request)}: Salt ${salt}, ours ${ours}`;
        if (salt) less += 1;
        else more += 1;
        expect(salt ? told.has('less') || told.has('mistake') : told.has('more'), text).toBe(true);
      }
    }
    // Both kinds of differences were met.
    expect(
      [less, more].every((count) => count > 5),
      `less ${less}, more ${more}`,
    ).toBe(true);
  });
});
