// The program of a process that plays minions. Its orders come from the process that started it, and it ends with it.
import { messageOf } from '../base/errors/index.ts';
import { Fleet } from './fleet.ts';
import type { PartNews, PartOrder } from './part-messages.ts';

const tell = (news: PartNews): void => {
  if (process.connected) process.send?.(news);
};
let fleet: Fleet | undefined;

function obey(order: PartOrder): void {
  if (order.do === 'start') {
    fleet = new Fleet(order.options, tell);
    fleet.start().catch((error: unknown) => tell({ say: 'failed', why: messageOf(error) }));
  } else if (order.do === 'snapshot') {
    if (fleet) tell({ say: 'snapshot', ticket: order.ticket, snapshot: fleet.snapshot() });
  } else if (order.do === 'storm') fleet?.storm(order.share);
  else if (order.do === 'stop') end();
  else fleet?.[order.do]();
}

function end(): void {
  fleet?.close();
  if (process.connected) process.disconnect();
}

// A terminal signals the whole group: the process that leads reports first.
process.on('SIGINT', () => undefined);
process.on('SIGTERM', () => undefined);
process.on('disconnect', end);
process.on('message', obey);
