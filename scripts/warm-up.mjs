// V8's code cache of a command: made after a harmless run, so that the functions that ran are compiled in it.
import { spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** `bundle` is the final folder of the bundles in `folder`: the cache stores it. */
export async function makeCodeCache(folder, bundle, name, warmUp) {
  const warm = mkdtempSync(join(tmpdir(), 'halite-warm-'));
  const master = await answerCommands(join(warm, 'run'));
  try {
    writeWarmUp(warm);
    const env = { ...process.env, HALITE_MAKE_CODE_CACHE: bundle, NO_COLOR: '1' };
    const code = `process.argv[1] = '${name}'; require(${JSON.stringify(`${folder}/launch.cjs`)})('${name}')`;
    const args = warmUp.map((word) => word.replace('{warm}', warm));
    const run = spawn(process.execPath, ['-e', code, name, ...args], {
      cwd: folder,
      env,
      stdio: 'ignore',
      timeout: 60_000,
    });
    await new Promise((resolve) => run.on('close', resolve).on('error', resolve));
  } finally {
    master.close();
    rmSync(warm, { recursive: true, force: true });
  }
}

const jid = '20260101000000000000';
const results = [true, { a: [1, 'text'], b: { c: null } }, 'line\nline'];
/** What a master would answer: the calls of a connection are numbered, and the first one only says who is calling. */
const answers = {
  publish: [
    { type: 'job', jid, minions: results.map((_, at) => `m${at}`), missing: [] },
    ...results.map((ret, at) => ({
      type: 'return',
      id: `m${at}`,
      jid,
      ret,
      retcode: 0,
      success: true,
      fun: 'test.ping',
    })),
    { type: 'end', balance: { expected: results.length, returned: results.length } },
  ],
  runner: [
    { type: 'started', jid, user: 'root' },
    { type: 'result', ret: results[1], success: true, retcode: 0 },
  ],
};

/** Enough of a master for one command. */
async function answerCommands(folder) {
  mkdirSync(folder);
  const server = createServer((socket) => {
    socket.on('error', () => undefined);
    socket.on('data', (chunk) => {
      const verb = Object.keys(answers).find((each) => chunk.includes(each));
      if (verb === undefined) return;
      for (const item of answers[verb]) socket.write(frame([2, 'item', item]));
      socket.write(frame([2, 'end']));
    });
  });
  // Without it (the path of the folder may be too long) less of the command is compiled.
  await new Promise((resolve) => server.once('error', resolve).listen(join(folder, 'halite.ipc'), resolve));
  return server;
}

function frame(message) {
  const body = packed(message);
  const head = Buffer.alloc(4);
  head.writeUInt32BE(body.length);
  return Buffer.concat([head, body]);
}

/** Msgpack of short values. */
function packed(value) {
  if (value === null) return Buffer.from([0xc0]);
  if (typeof value === 'boolean') return Buffer.from([value ? 0xc3 : 0xc2]);
  if (typeof value === 'number') return Buffer.from([value]);
  if (typeof value === 'string')
    return Buffer.concat([Buffer.from([0xd9, Buffer.byteLength(value)]), Buffer.from(value)]);
  if (Array.isArray(value)) return Buffer.concat([Buffer.from([0x90 | value.length]), ...value.map(packed)]);
  const entries = Object.entries(value);
  return Buffer.concat([Buffer.from([0x80 | entries.length]), ...entries.flat().map(packed)]);
}

/** Typical states: their code should be in the cache for state runs. They change nothing outside the folder. */
const warmUpStates = `{% set out = pillar['out'] %}
{% for name in ['a', 'b'] %}
{{ out }}/{{ name }}.conf:
  file.managed:
    - source: salt://{{ name }}.txt
    - makedirs: True
    - mode: '0644'
    - require:
      - test: start
{% endfor %}
{{ out }}/template:
  file.managed:
    - source: salt://template.j2
    - template: jinja
    - context: {text: {{ grains['os'] | lower | yaml_dquote }}}
    - watch_in:
      - cmd: after
{{ out }}/old:
  file.managed:
    - contents: new
{{ out }}/folder:
  file.directory:
    - makedirs: True
after:
  cmd.run:
    - name: 'true'
    - onlyif: test -e /
start:
  test.nop: []
`;

function writeWarmUp(folder) {
  const write = (path, text) => writeFileSync(join(folder, path), text);
  const keys = ['minions', 'minions_pre', 'minions_rejected', 'minions_denied'].map((name) => `pki/${name}`);
  for (const name of ['srv', 'pillar', 'out', ...keys]) mkdirSync(join(folder, name), { recursive: true });
  const roots = [`file_roots: {base: ['${folder}/srv']}`, `pillar_roots: {base: ['${folder}/pillar']}`];
  write('minion', ['id: warm', 'file_client: local', `root_dir: ${folder}/root`, ...roots, ''].join('\n'));
  const own = [`pki_dir: ${folder}/pki`, `cachedir: ${folder}/cache`, `sock_dir: ${folder}/run`];
  write('master', [`root_dir: ${folder}/root`, ...own, ''].join('\n'));
  write('pki/minions/m1', '');
  write('roster', 'warm: 127.0.0.1\n');
  write('pillar/top.sls', 'base:\n  "*": [data]\n');
  write('pillar/data.sls', `out: ${folder}/out\n`);
  write('srv/top.sls', 'base:\n  "*": [states]\n');
  write('srv/states.sls', warmUpStates);
  for (const name of ['a', 'b']) write(`srv/${name}.txt`, `${name}\n`);
  write('srv/template.j2', '{% if text %}{{ text }}{% endif %}\n');
  // One file exists already, so that comparing and printing a difference are in the cache too.
  write('out/a.conf', 'a\n');
  write('out/old', 'old\n');
}
