// The same reaction files with a real Salt master and ours: the same events are seen, the same reactions are run.
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { Deployment, halite, type Implementation, runProgram } from '../support/deployment.ts';
import { eventually } from '../support/eventually.ts';
import { saltRelease } from '../support/salt-release.ts';

const reactions: Readonly<Record<string, string>> = {
  // The event as templates see it, one line of JSON.
  show: [
    'show:',
    '  local.cmd.run:',
    '    - tgt: m1',
    '    - args:',
    '      - cmd: cat >> ROOT/shown',
    "      - stdin: {{ (tag ~ ' ' ~ (data | json(sort_keys=True)) ~ '\\n') | json }}",
  ].join('\n'),
  act: [
    'by_place: {local.cmd.run: [{tgt: m1}, {arg: ["echo place {{ data.n }} >> ROOT/done"]}]}',
    'by_name: {local.cmd.run: [{tgt: "id:m1"}, {tgt_type: grain}, {kwarg: {cmd: echo name >> ROOT/done}}]}',
    'map: {local.cmd.run: [{tgt: [m1]}, {tgt_type: list}, {args: {cmd: echo map >> ROOT/done}}]}',
    'old: {cmd.cmd.run: [{tgt: m1}, {arg: [echo old >> ROOT/done]}]}',
    'list: {local: [cmd.run, {tgt: m1}, {args: [{cmd: echo list >> ROOT/done}]}]}',
    "r1: {runner.salt.cmd: [{args: [{fun: cmd.shell}, {cmd: 'echo r1 {{ tag }} >> ROOT/done'}]}]}",
    'r2: {runner.salt.cmd: [{arg: [cmd.shell, echo r2 >> ROOT/done]}]}',
    'w1: {wheel.key.accept: [{match: nobody}]}',
  ].join('\n'),
  result: [
    "{% if data['fun'] == 'test.echo' %}",
    'result:',
    '  local.cmd.run:',
    "    - tgt: {{ data['id'] }}",
    '    - args:',
    "      - cmd: echo \"{{ tag.split('/')[3:] | join('/') }} {{ data['return'] }} {{ data.keys() | sort | join(',') }}\" >> ROOT/shown",
    '{% endif %}',
  ].join('\n'),
};
const done = ['list', 'map', 'name', 'old', 'place 7', 'r1 act/1', 'r2'];

/** Everything that differs between two runs. */
const comparable = (line: string): string =>
  line
    .replace(/"_stamp": "[^"]*"/, '"_stamp": …')
    .replace(/"(ts|__pub_pid)": \d+/g, '"$1": 0')
    .replace(/"__pub_jid": "\d+"/, '"__pub_jid": …')
    .replace(/started at [^"]*/, 'started at …');

async function reactedTo(master: Implementation): Promise<{ done: string[]; shown: string[] }> {
  const fleet = await Deployment.create({ master });
  try {
    const lines = (name: string): string[] =>
      existsSync(fleet.path(name)) ? readFileSync(fleet.path(name), 'utf8').split('\n').filter(Boolean) : [];
    mkdirSync(fleet.path('srv/reactor'));
    for (const [name, text] of Object.entries(reactions)) {
      writeFileSync(fleet.path('srv/reactor', `${name}.sls`), `${text.replaceAll('ROOT', fleet.root)}\n`);
    }
    const rules = [
      ["'salt/minion/*/start'", 'show'],
      ["'my/*'", 'show'],
      ["'act/*'", 'act'],
      ["'salt/job/*/ret/m1'", 'result'],
    ].map(([tag, name]) => `  - ${tag}: [${fleet.path('srv/reactor', `${name}.sls`)}]`);
    writeFileSync(fleet.path('etc/master.d/reactor.conf'), `reactor:\n${rules.join('\n')}\n`);
    await fleet.startMaster();
    fleet.startMinion('m1');
    await fleet.answering('m1');
    await eventually('the start', () => lines('shown').some((line) => line.startsWith('salt/minion/m1/start')), {
      timeoutMs: 120_000,
    });
    const call = (...args: string[]) => runProgram(`${halite.bin}/salt-call`, ['-c', fleet.path('m1/etc'), ...args]);
    await call('event.send', 'my/one', '{a: 1, b: [x, 2]}', 'more=text');
    await call('event.fire_master', '{x: 1}', 'my/two');
    await fleet.run('salt-run', ['event.send', 'my/three', '{z: 9}']);
    await fleet.run('salt-run', ['event.send', 'act/1', '{n: 7}']);
    await fleet.salt('m1', 'test.echo', 'hello');
    await eventually(
      'all that was asked for',
      () => lines('done').length >= done.length && lines('shown').length >= 5,
      {
        timeoutMs: 120_000,
        describe: () => JSON.stringify([lines('done'), lines('shown'), fleet.master.output().slice(-2000)]),
      },
    );
    return { done: lines('done').sort(), shown: lines('shown').map(comparable).sort() };
  } finally {
    await fleet.destroy();
  }
}

describe('the reactor', () => {
  it('has the same effects with our master as with Salt 3006', async () => {
    const [ours, theirs] = await Promise.all([reactedTo(halite), reactedTo(saltRelease('3006.27'))]);
    expect(ours.done).toEqual(done);
    expect(ours).toEqual(theirs);
  });
});
