// Scenarios of single programs: commands, states, an idle minion.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Deployment, type Implementation, runProgram } from '../../support/deployment.ts';
import { eventually } from '../../support/eventually.ts';
import { commandMs, type Figures, lightFleet, timed, withFleet, withMaster } from './kinds.ts';
import { costOf, ticksPerSecond } from './machine.ts';

/** Seconds of a processor that the ended children of this process have used. */
function childrenSeconds(): number {
  const stat = readFileSync('/proc/self/stat', 'utf8');
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return (Number(fields[13]) + Number(fields[14])) / ticksPerSecond;
}

/** The median time of a program, and the mean of its processor time: one run is shorter than the kernel can count. */
async function runs(times: number, run: () => Promise<unknown>): Promise<{ seconds: number; cpuMs: number }> {
  await run();
  const before = childrenSeconds();
  const taken: number[] = [];
  for (let n = 0; n < times; n++) taken.push(await timed(run));
  const cpuMs = ((childrenSeconds() - before) * 1000) / times;
  return { seconds: taken.sort((a, b) => a - b)[times >> 1] ?? 0, cpuMs };
}

/** From the start to the end of a command, with the least that it can do. */
export const command = (implementation: Implementation, { times = 30 }): Promise<Figures> =>
  withMaster(implementation, (master) =>
    withFleet(master, lightFleet(1), async () => {
      const ping = async (): Promise<void> => {
        const { code, stderr } = await master.salt('*', 'test.ping');
        if (code !== 0) throw new Error(`salt test.ping ended with ${code}: ${stderr}`);
      };
      const config = master.configureMinion('alone', 'file_client: local');
      const call = async (): Promise<void> => {
        const args = ['-c', config, '--local', 'test.ping'];
        const { code, stderr } = await runProgram(join(implementation.bin, 'salt-call'), args);
        if (code !== 0) throw new Error(`salt-call ended with ${code}: ${stderr}`);
      };
      return { ...(await runs(times, ping)), callMs: (await runs(times, call)).cpuMs };
    }),
  );

/** A real minion that has had something to do. */
export const idleMinion = (implementation: Implementation, { restSeconds = 35 }): Promise<Figures> =>
  withMaster(implementation, async (master) => {
    master.startMinion('m1', implementation);
    await master.answering('m1');
    await master.salt('m1', 'cmd.run', 'true');
    const began = performance.now();
    const rested = (): boolean => performance.now() - began >= restSeconds * 1000;
    await eventually('the minion to rest', rested, { timeoutMs: restSeconds * 2000 + 1000 });
    return { mb: costOf(master.minion('m1').pid).mb };
  });

/** `salt-call --local state.apply` in a folder of its own. */
export const states = async (implementation: Implementation, { files = 0, chain = 0 }): Promise<Figures> => {
  const place = await Deployment.create({ master: implementation });
  try {
    const config = place.configureMinion('m1', `file_client: local\nfile_roots: {base: [${place.path('srv/salt')}]}`);
    const out = place.path('out');
    const managed = Array.from(
      { length: files },
      (_, n) => `${out}/f${n}:\n  file.managed:\n    - source: salt://source\n    - makedirs: True\n`,
    );
    const links = Array.from(
      { length: chain },
      (_, n) => `s${n}:\n  test.nop:\n    - require: [${n === 0 ? '' : `test: s${n - 1}`}]\n`,
    );
    writeFileSync(place.path('srv/salt/source'), 'a line\n'.repeat(100));
    writeFileSync(place.path('srv/salt/work.sls'), [...managed, ...links].join(''));
    const apply = async (): Promise<number> => {
      return timed(async () => {
        const args = ['-c', config, '--local', 'state.apply', 'work', '--out=json'];
        const { code, stdout } = await runProgram(join(implementation.bin, 'salt-call'), args, {
          timeoutMs: commandMs,
        });
        const good = stdout.match(/"result": true/g)?.length ?? 0;
        if (code !== 0 || good !== files + chain) throw new Error(`${good} of ${files + chain} states, code ${code}`);
      });
    };
    return { first: await apply(), again: await apply() };
  } finally {
    await place.destroy();
  }
};
