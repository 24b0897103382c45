// Simulated minions of one master as a process of their own, in the network namespace of a test.
import { createInterface } from 'node:readline';
import { SimulatedFleet } from '../bench/simulated-fleet.ts';

const { host, port, count, prefix } = JSON.parse(process.argv[2] ?? '{}') as Record<string, string>;
const fleet = await SimulatedFleet.start(Number(port), Number(count), { host: host!, prefix: prefix!, steady: true });
const say = (event: Record<string, unknown>): void => void process.stdout.write(`${JSON.stringify(event)}\n`);
say({ say: 'open' });

createInterface({ input: process.stdin }).on('line', (line) => {
  const { do: what } = JSON.parse(line) as { do: string };
  const { sent, answered, acknowledged } = fleet;
  say({ say: 'told', sent, answered, ...(what === 'list' ? { acknowledged: [...acknowledged] } : {}) });
});
process.stdin.on('end', () => process.exit(0));
