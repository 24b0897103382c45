// The reactor with real daemons: jobs, runners, keys and functions of the master in answer to events.
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Deployment } from '../support/deployment.ts';
import { eventually } from '../support/eventually.ts';

interface Status {
  readonly events: number;
  readonly reactions: number;
  readonly failed: number;
  readonly dropped: number;
  readonly waiting: number;
  readonly running: number;
  readonly last_error: { readonly tag: string; readonly error: string } | null;
}

let fleet: Deployment;
const text = (name: string): string => (existsSync(fleet.path(name)) ? readFileSync(fleet.path(name), 'utf8') : '');
const lines = (name: string): string[] => text(name).split('\n').filter(Boolean);

async function runner(...args: string[]): Promise<unknown> {
  const { stdout, stderr } = await fleet.run('salt-run', [...args, '--out=json']);
  try {
    return JSON.parse(stdout);
  } catch {
    throw new Error(`no JSON: ${stdout}${stderr}`);
  }
}
const status = async (): Promise<Status> => (await runner('reactor.status')) as Status;
const fire = (tag: string, data = '{}'): Promise<unknown> => runner('event.send', tag, data);

function reaction(name: string, sls: string, renderer = '#!jinja|yaml\n'): void {
  writeFileSync(fleet.path('srv/reactor', `${name}.sls`), renderer + sls.replaceAll('ROOT', fleet.root));
}

beforeAll(async () => {
  // Files that do not say how they are rendered are rendered as this says.
  fleet = await Deployment.create({ autoAccept: false, masterConfig: 'renderer: jinja|json' });
  mkdirSync(fleet.path('srv/reactor'));
  const rules = [
    'reactor:',
    "  - 'salt/auth': [ROOT/srv/reactor/accept.sls]",
    "  - 'site/local': [ROOT/srv/reactor/local.sls]",
    "  - 'site/master/*': ['salt://react/runner.sls', 'ROOT/srv/reactor/here*.sls']",
    "  - 'site/json': [ROOT/srv/reactor/json.sls]",
    "  - 'site/bad': [ROOT/srv/reactor/none.sls, ROOT/srv/reactor/bad.sls, ROOT/srv/reactor/wrong.sls]",
    "  - 'salt/run/*': [ROOT/srv/reactor/echo.sls]",
    '',
  ];
  writeFileSync(fleet.path('etc/master.d/reactor.conf'), rules.join('\n').replaceAll('ROOT', fleet.root));
  reaction(
    'accept',
    "{% if data.get('act') == 'pend' %}\naccept:\n  wheel.key.accept:\n    - match: {{ data['id'] }}\n{% endif %}\n",
  );
  reaction(
    'local',
    [
      'new:',
      '  local.cmd.run:',
      "    - tgt: 'm*'",
      '    - args:',
      '      - cmd: echo "{{ data.who }} {{ tag }}" >> ROOT/told',
      'old:',
      '  cmd.test.arg:',
      '    - tgt: [m1]',
      '    - tgt_type: list',
      '    - arg: [1, {{ data.who }}]',
      '    - kwarg: {b: 2}',
    ].join('\n'),
  );
  mkdirSync(fleet.path('srv/salt/react'));
  writeFileSync(
    fleet.path('srv/salt/react/runner.sls'),
    '#!jinja|yaml\nr: {runner.test.arg: [{args: [{tag: {{ tag }}}]}]}\n',
  );
  reaction('here1', 'h:\n  caller.cmd.shell:\n    - args: ["echo {{ tag }} >> ROOT/here"]\n');
  reaction('bad', 'a:\n  b: {{ data.x \n', '');
  reaction('json', '{"j": {"caller.cmd.shell": [{"args": ["echo {{ tag }} >> ROOT/json"]}]}}', '');
  reaction('wrong', 'w: {nothing.here: []}\nx: {runner.no.such: []}\ny: {local.test.ping: []}\n');
  // It would set itself off without end if events of reactions were reacted to.
  reaction(
    'echo',
    "{% if data.fun == 'runner.test.arg' %}\ne: {runner.test.arg: [{args: [{echo: 1}]}]}\n{% endif %}\n",
  );
  await fleet.startMaster();
  fleet.startMinion('m1');
  // Nobody accepts its key but the reactor.
  await fleet.answering('m1');
});
afterAll(async () => {
  await fleet?.destroy();
});

describe('the reactor', () => {
  it('sends jobs to minions, in the forms of today and of old', async () => {
    await fire('site/local', '{who: somebody}');
    await eventually('the command of the reaction', () => lines('told').includes('somebody site/local'));
    const jobs = async () =>
      Object.values((await runner('jobs.list_jobs', 'search_function=test.arg')) as Record<string, object>);
    await eventually('the other job', async () => (await jobs()).length > 0);
    expect(await jobs()).toEqual([
      expect.objectContaining({ Arguments: [1, 'somebody', { __kwarg__: true, b: 2 }], Target: ['m1'] }),
    ]);
  });

  it('runs runners and functions on the master, from its file server and by pattern', async () => {
    const before = await status();
    await fire('site/master/one');
    await eventually('the function on the master', () => lines('here').includes('site/master/one'));
    await eventually('all of it', async () => (await status()).reactions >= before.reactions + 2);
  });

  it('renders files as the option renderer says', async () => {
    await fire('site/json');
    await eventually('the reaction in JSON', () => lines('json').includes('site/json'));
  });

  it('reports a wrong file or reaction, and runs the rest', async () => {
    const before = await status();
    await fire('site/bad');
    await eventually('every failure', async () => (await status()).failed >= before.failed + 5);
    expect((await status()).last_error?.tag).toBe('site/bad');
    const log = fleet.master.output();
    expect(log).toContain('none.sls cannot be used for site/bad: there is no such file');
    expect(log).toMatch(/bad\.sls cannot be used for site\/bad: Jinja syntax error: .*line 2/);
    expect(log).toContain('(nothing.here): there is no "nothing"; use local, runner, wheel or caller');
    expect(log).toContain('(runner.no.such): there is no such function');
    expect(log).toContain('(local.test.ping) has no target: it needs "- tgt: …"');
  });

  it('does not trigger itself', async () => {
    const before = await status();
    await runner('test.arg', 'x');
    // Both events of the runner are reacted to once each, those of the reactions are not.
    await eventually('the reactions', async () => (await status()).reactions >= before.reactions + 2);
    const { reactions, waiting } = await status();
    expect([reactions, waiting]).toEqual([before.reactions + 2, 0]);
  });

  it('adds and removes rules while it runs', async () => {
    reaction('added', 'a:\n  caller.cmd.shell:\n    - args: ["echo {{ data.n }} >> ROOT/added"]\n');
    expect(await runner('reactor.add', 'site/added', fleet.path('srv/reactor/added.sls'))).toEqual({
      status: true,
      comment: 'Reactor added.',
    });
    await fire('site/added', '{n: 1}');
    await eventually('the new reaction', () => lines('added').includes('1'));
    expect(await runner('reactor.set_leader', 'False')).toBe(false);
    await fire('site/added', '{n: 2}');
    expect(await runner('reactor.set_leader', 'True')).toBe(true);
    await fire('site/added', '{n: 3}');
    await eventually('the one after it', () => lines('added').includes('3'));
    expect(lines('added')).toEqual(['1', '3']);
    expect(await runner('reactor.delete', 'site/added')).toEqual({ status: true, comment: 'Reactor deleted.' });
    expect(JSON.stringify(await runner('reactor.list'))).not.toContain('site/added');
  });

  it('runs all reactions of a burst, in order', async () => {
    reaction(
      'burst',
      'b:\n  local.cmd.run:\n    - tgt: m1\n    - args: [{cmd: "true"}]\n    - metadata: {n: {{ data.data.n }}}\n',
    );
    await runner('reactor.add', 'site/burst', fleet.path('srv/reactor/burst.sls'));
    const before = await status();
    writeFileSync(
      fleet.path('srv/salt/burst.sls'),
      '#!jinja|yaml\n{% for n in range(60) %}\ne{{ n }}: {event.send: [{name: site/burst}, {data: {n: {{ n }}}}]}\n{% endfor %}\n',
    );
    await fleet.json('m1', 'state.apply', 'burst');
    await eventually('all of them', async () => (await status()).reactions >= before.reactions + 60);
    const { dropped, failed } = await status();
    expect([dropped, failed]).toEqual([before.dropped, before.failed]);
    const jobs = (await runner('jobs.list_jobs', 'search_function=cmd.run', 'search_metadata={n: 59}')) as object;
    expect(Object.keys(jobs)).toHaveLength(1);
    const all = (await runner('jobs.list_jobs', 'search_function=cmd.run')) as Record<
      string,
      { Metadata?: { n?: number } }
    >;
    const numbers = Object.entries(all)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .flatMap(([, { Metadata }]) => Metadata?.n ?? []);
    expect(numbers).toEqual(Array.from({ length: 60 }, (_, n) => n));
  });
});
