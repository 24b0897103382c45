// `npm run soak -- --minutes N`: prints a table; 1 when memory grows or a good minion is not served.
import { parseArgs } from 'node:util';
import { reportOf } from './report.ts';
import { soak } from './soak.ts';

const { values } = parseArgs({
  options: { minutes: { type: 'string', default: '30' }, minions: { type: 'string', default: '30' } },
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
process.exit(wrong.length === 0 ? 0 : 1);
