// `npm run soak -- --minutes N [--out DIR]`: prints a table, writes a chart and the numbers; 1 when memory grows or a good minion is not served.
import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { memoryOf, soakChart } from './chart.ts';
import { reportOf } from './report.ts';
import { soak } from './soak.ts';

const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: '30' },
    minions: { type: 'string', default: '30' },
    out: { type: 'string' },
  },
});
const until = Date.now() + Number(values.minutes) * 60_000;
const result = await soak({
  more: () => Date.now() < until,
  simulated: Number(values.minions),
  say: (line) => console.log(`${new Date().toISOString().slice(11, 19)} ${line}`),
});
const { lines, wrong } = reportOf(result);
for (const line of lines) console.log(line);
for (const line of wrong) console.log(`WRONG ${line}`);
const folder = values.out ?? mkdtempSync(join(tmpdir(), 'halite-soak-'));
mkdirSync(folder, { recursive: true });
writeFileSync(join(folder, 'soak.svg'), soakChart(result));
writeFileSync(join(folder, 'soak.json'), `${JSON.stringify({ ...memoryOf(result), wrong }, null, 1)}\n`);
console.log(`chart and numbers: ${folder}`);
process.exit(wrong.length === 0 ? 0 : 1);
