// Measures salt-ssh beside that of Salt 3006.27 on the same sshd processes: `npm run bench -- ssh`. HALITE_SSH_TARGETS sets
// the number of targets (200), HALITE_SSH_OURS=1 leaves Salt out. A tenth of the hosts more is dead: half of them refuse
// connections, the others take them and never say a word. They must not hold up the others: the first figure is when the
// last good answer was there, the second one the end of the command.
import { readFileSync } from 'node:fs';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { join } from 'node:path';
import { halite, type Implementation, startProgram } from '../support/deployment.ts';
import { freePorts } from '../support/ports.ts';
import { saltRelease } from '../support/salt-release.ts';
import { SshField } from '../support/ssh-field.ts';

const targets = Number(process.env['HALITE_SSH_TARGETS'] ?? 200);
const servers = Math.min(8, targets);

const childrenOf = (pid: number): number[] => {
  try {
    return readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ').filter(Boolean).map(Number);
  } catch {
    return [];
  }
};

/** Resident memory of a process and everything that it started, in MB. */
function memoryOf(pid: number): number {
  let kb = 0;
  try {
    kb = Number(/^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0);
  } catch {
    // Ended meanwhile.
  }
  return kb / 1024 + childrenOf(pid).reduce((sum, child) => sum + memoryOf(child), 0);
}

interface Figure {
  readonly seconds: number;
  /** When the last good answer was there. */
  readonly answered: number;
  readonly peakMb: number;
  readonly good: number;
}

async function measure(
  field: SshField,
  { bin }: Implementation,
  args: readonly string[],
  good: RegExp,
): Promise<Figure> {
  const start = performance.now();
  let answered = 0;
  const onOutput = (text: string): void => {
    if (text.search(good) >= 0) answered = (performance.now() - start) / 1000;
  };
  const { pid, done } = startProgram(join(bin, 'salt-ssh'), ['-c', field.path('etc'), '--out=json', ...args], {
    timeoutMs: 3_600_000,
    onOutput,
    env: { TMPDIR: field.path('tmp') },
  });
  let peakMb = 0;
  const timer = setInterval(() => {
    peakMb = Math.max(peakMb, memoryOf(pid));
  }, 500);
  const { stdout } = await done;
  clearInterval(timer);
  return { seconds: (performance.now() - start) / 1000, answered, peakMb, good: (stdout.match(good) ?? []).length };
}

const states = Array.from({ length: 20 }, (_, at) =>
  at % 2 === 0
    ? `state${at}:\n  test.nop: []\n`
    : `{{ grains['thin'] }}/out/file${at}:\n  file.managed:\n    - source: salt://files/one\n    - makedirs: True\n`,
).join('');

const held: Socket[] = [];
const silent = createServer((socket) => held.push(socket.on('error', () => undefined)));
await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve));
const { port: silentPort } = silent.address() as AddressInfo;
const field = new SshField();
try {
  for (let at = 0; at < servers; at++)
    await field.add(`server${at}`, {
      lines: ['MaxStartups 1000', 'MaxSessions 100'],
      // Salt's program needs the Python of the system, not one of a version manager.
      env: { PATH: '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin' },
    });
  const [dead = 0] = await freePorts(1);
  const lines = Array.from({ length: targets }, (_, at) => {
    const id = `t${at}`;
    const folder = field.path('targets', id);
    return field.entry({ ...field.targets[at % servers]!, id, folder }, `grains: {thin: ${folder}}`);
  });
  for (let at = 0; at < Math.ceil(targets / 10); at++)
    lines.push(`dead${at}: {host: 127.0.0.1, port: ${at % 2 === 0 ? dead : silentPort}}\n`);
  field.write('etc/roster', lines.join(''));
  field.write('srv/salt/files/one', 'one\n');
  field.write('srv/salt/twenty.sls', states);
  const runs: [string, string[], RegExp][] = [
    ['raw shell command', ['*', '-r', 'echo measured'], /measured/g],
    ['test.ping, first', ['*', 'test.ping'], /: true/g],
    ['test.ping, again', ['*', 'test.ping'], /: true/g],
    ['20 states', ['*', 'state.apply', 'twenty'], /-state0_/g],
    ['20 states, again', ['*', 'state.apply', 'twenty'], /-state0_/g],
  ];
  const all: [string, Implementation][] = [['Halite', halite]];
  if (!process.env['HALITE_SSH_OURS']) all.push(['Salt 3006.27', saltRelease('3006.27')]);
  console.log(`${targets} targets on ${servers} sshd processes, ${Math.ceil(targets / 10)} dead ones, 25 at a time`);
  for (const [name, implementation] of all)
    for (const [what, args, good] of runs) {
      const { seconds, answered, peakMb, good: count } = await measure(field, implementation, args, good);
      console.log(
        `${name.padEnd(14)} ${what.padEnd(20)} ${answered.toFixed(1).padStart(8)} s ${seconds.toFixed(1).padStart(8)} s ${peakMb.toFixed(0).padStart(6)} MB  ${count} of ${targets} answered`,
      );
    }
} finally {
  silent.close();
  for (const socket of held) socket.destroy();
  await field.destroy();
}
