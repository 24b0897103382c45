// deltaproxy: how much memory so many proxies in one process need, and how long they take until all answer. Beside it, fewer of
// real Salt's where that is installed. `HALITE_PROXIES=500 HALITE_SALT_PROXIES=100 npm run bench -- proxies`
import { readFileSync, writeFileSync } from 'node:fs';
import { Deployment, halite, type Implementation } from '../support/deployment.ts';
import { eventually } from '../support/eventually.ts';
import { saltRelease } from '../support/salt-release.ts';

const ours = Number(process.env['HALITE_PROXIES'] ?? 500);
const theirs = Number(process.env['HALITE_SALT_PROXIES'] ?? 100);

/** A process and everything below it. */
function tree(pid: number): number[] {
  try {
    const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ').filter(Boolean);
    return [pid, ...children.flatMap((child) => tree(Number(child)))];
  } catch {
    return [];
  }
}

/** In MiB: shared pages count for each process by its part. */
function memory(pid: number): number {
  try {
    const text = readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8');
    return Number(/^Pss:\s+(\d+)/m.exec(text)?.[1] ?? 0) / 1024;
  } catch {
    return 0;
  }
}

async function measure(implementation: Implementation, count: number): Promise<void> {
  const fleet = await Deployment.create();
  const ids = Array.from({ length: count }, (_, at) => `d${String(at).padStart(4, '0')}`);
  try {
    writeFileSync(fleet.path('srv/pillar/top.sls'), "base:\n  holder: [holder]\n  'd????': [dummy]\n");
    const list = ids.map((id) => `    - ${id}\n`).join('');
    const holder = `proxy:\n  proxytype: deltaproxy\n  parallel_startup: True\n  ids:\n${list}`;
    writeFileSync(fleet.path('srv/pillar/holder.sls'), holder);
    writeFileSync(fleet.path('srv/pillar/dummy.sls'), 'proxy: {proxytype: dummy}\n');
    await fleet.startMaster();
    const began = performance.now();
    const seconds = (): string => ((performance.now() - began) / 1000).toFixed(1);
    const daemon = fleet.startProxy('holder', implementation, 'metaproxy: deltaproxy');
    // Salt does not say it; asking all the time would measure the questions.
    const started = (): boolean => daemon.said(['has started its proxies']);
    if (implementation === halite)
      await eventually('the proxies to start', started, {
        timeoutMs: 600_000,
        describe: () => daemon.output().slice(-3000),
      });
    let answered = 0;
    await eventually(
      'all proxies to answer',
      async () => {
        const answers = await fleet.json('d*', 'test.ping', '-t', '10').catch(() => ({}));
        answered = Object.values(answers).filter((answer) => answer === true).length;
        return answered === count;
      },
      { timeoutMs: 600_000, describe: () => `${answered} answered\n${daemon.output().slice(-3000)}` },
    );
    const ready = seconds();
    const asked = performance.now();
    const listed = await fleet.json('-L', ids.slice(0, 50).join(','), 'pkg.version', 'apache', '-t', '60');
    const took = ((performance.now() - asked) / 1000).toFixed(1);
    const parts = tree(daemon.pid).map((pid) => memory(pid));
    const sum = parts.reduce((one, other) => one + other, 0);
    const each = parts.map((part) => part.toFixed(0)).join(' + ');
    console.log(
      `${implementation.name}: ${count} proxies, all answer after ${ready} s; ${sum.toFixed(0)} MiB (${each}), ` +
        `${((sum * 1024) / count).toFixed(0)} KiB for each; a job for a list of 50: ${Object.keys(listed).length} answers in ${took} s`,
    );
  } finally {
    await fleet.destroy();
  }
}

await measure(halite, ours);
if (theirs > 0) await measure(saltRelease('3006.27'), theirs);
