// Which events of a minion are copies of each other.
import { expect, it } from 'vitest';
import { newDict, type PlainDict } from '../../base/codec/value.ts';
import { CallCopies, copyKey } from './copies.ts';

const call = newDict(Object.entries({ __pub_jid: '20261118215808374483', __pub_pid: 7, n: 1 }));
/** As the master fires what a real `salt-call event.send` sends: the whole request. */
const request = (ts: number, data: PlainDict = call): PlainDict =>
  newDict(Object.entries({ id: 'm1', tag: 'deploy', data, cmd: '_minion_event', ts, _stamp: `at ${ts}` }));

it('takes copies that were sent before and after the turn of a second as one event', () => {
  const copies = new CallCopies();
  expect(copies.isCopy('m1', 'deploy', request(100))).toBe(false);
  expect(copies.isCopy('m1', 'deploy', request(101))).toBe(true);
});

it('takes another call, tag, minion or content as another event', () => {
  const copies = new CallCopies();
  const other = newDict(Object.entries({ ...call, __pub_pid: 8 }));
  const content = newDict(Object.entries({ ...call, n: 2 }));
  const told = [
    copies.isCopy('m1', 'deploy', request(100)),
    copies.isCopy('m1', 'deploy', request(100, other)),
    copies.isCopy('m1', 'other', request(100)),
    copies.isCopy('m2', 'deploy', request(100)),
    copies.isCopy('m1', 'deploy', request(100, content)),
  ];
  expect(told).toEqual([false, false, false, false, false]);
});

it('compares a time that is the data of the event, and not of its request', () => {
  const of = (ts: number): string => copyKey('m1', 'temperature', newDict(Object.entries({ ts, value: 20 })));
  expect(of(1)).not.toBe(of(2));
});
