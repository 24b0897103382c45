// A member of a cluster as a process of its own, which tests kill and freeze: told by lines of JSON, tells by lines of JSON.
import { createInterface } from 'node:readline';
import { openMember, publication, result } from './cluster-member.ts';

interface Order {
  readonly do: 'append' | 'publish' | 'lease' | 'close' | 'tell';
  readonly from?: number;
  readonly count?: number;
  readonly key?: string;
  readonly ttlMs?: number;
}

const say = (event: Record<string, unknown>): void => void process.stdout.write(`${JSON.stringify(event)}\n`);
const plan = JSON.parse(process.argv[2] ?? '{}') as Parameters<typeof openMember>[0];
const member = await openMember(plan);
const { cluster } = member;
let acknowledged = 0;
say({ say: 'open', slot: cluster.self.slot, boot: cluster.self.boot });
cluster.onChange((change) =>
  say({ say: 'change', kind: change.kind, state: change.kind === 'state' ? change.state.kind : '' }),
);

async function obey(order: Order): Promise<void> {
  const { from = 0, count = 0, key = '', ttlMs = 1500 } = order;
  if (order.do === 'append') {
    for (let n = from; n < from + count; n++) {
      void cluster.ledger.append(result(key, `id${n}`)).then(() => {
        acknowledged += 1;
      });
    }
  } else if (order.do === 'publish') {
    cluster.relay.publish(key, publication(key), 5000).then(
      (place) => say({ say: 'place', key, place }),
      (error: unknown) => say({ say: 'refused', key, why: String(error) }),
    );
  } else if (order.do === 'lease') {
    const { signal } = new AbortController();
    const lease = await cluster.registry.lease(key, { ttlMs, lost: () => say({ say: 'lost', key }), signal });
    say({ say: 'lease', key, term: lease.term });
    // What a holder does: asks before each act. The wall clock of one machine is good enough to compare processes of it.
    setInterval(() => {
      if (lease.isHeld()) say({ say: 'act', key, term: lease.term, at: Date.now() });
    }, 20);
  } else if (order.do === 'tell') {
    const { rss } = process.memoryUsage();
    say({
      say: 'told',
      acknowledged,
      held: cluster.ledger.held(),
      state: cluster.state.kind,
      rss,
      members: cluster.members().length,
      server: cluster.report()?.server,
    });
  } else {
    await member.close();
    process.exit(0);
  }
}

createInterface({ input: process.stdin }).on('line', (line) => void obey(JSON.parse(line) as Order));
