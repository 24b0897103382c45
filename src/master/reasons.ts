// From what the master knows of a minion to the one reason why it gave no result, with the evidence.

import { newDict, type PlainDict } from '../base/codec/value.ts';
import { fingerprint } from '../base/crypto/index.ts';
import { type Reason, type ReasonCode, reasonTexts } from '../protocol/job/verdict.ts';
import type { Master } from './core.ts';

const clock = (time: number): string =>
  new Date(time)
    .toISOString()
    .replace('T', ' ')
    .replace(/\.\d+Z$/, ' UTC');

export function reason(code: ReasonCode, evidence: PlainDict, detail = ''): Reason {
  return { code, text: detail ? `${reasonTexts[code]} (${detail})` : reasonTexts[code], evidence };
}

/** The reason for a minion that was not even reachable, known without asking it; undefined when it may well answer. */
export function knownAbsent(master: Master, id: string): Reason | undefined {
  const keyReason = keyProblem(master, id);
  if (keyReason) return keyReason;
  const record = master.fleet.known(id);
  if (record && master.fleet.connected(id) === 'no') {
    return reason('connection-lost', evidenceOf(master, id), `at ${clock(record.lostAt)}`);
  }
  return undefined;
}

function keyProblem(master: Master, id: string): Reason | undefined {
  const { keys, fleet } = master;
  if (keys.has('accepted', id)) return undefined;
  const print = (state: 'pending' | 'rejected' | 'denied'): PlainDict => {
    const pem = keys.readText(state, id);
    return newDict([['fingerprint', pem ? safeFingerprint(pem) : '']]);
  };
  if (keys.has('pending', id)) return reason('key-pending', print('pending'), `accept it with: salt-key -a ${id}`);
  if (keys.has('rejected', id)) return reason('key-rejected', print('rejected'));
  if (keys.has('denied', id)) return reason('key-denied', print('denied'));
  const auth = fleet.known(id)?.lastAuth;
  if (auth?.result === 'too-old') return reason('too-old', newDict([['last_sign_in', auth.detail]]), auth.detail);
  return reason('no-key', newDict());
}

function safeFingerprint(pem: string): string {
  try {
    return fingerprint(pem);
  } catch {
    return 'unreadable';
  }
}

/** Asked and not answered: the most telling of what is known. */
export function silence(master: Master, id: string): Reason {
  const absent = knownAbsent(master, id);
  if (absent) return absent;
  const record = master.fleet.known(id);
  const evidence = evidenceOf(master, id);
  if (record && record.connections.size > 1) {
    const peers = [...record.connections.values()].map((connection) => connection.peer || connection.boot);
    return reason('duplicate-id', evidence, peers.join(' and '));
  }
  if (record?.lastAuth?.result === 'denied') return reason('key-denied', evidence, record.lastAuth.detail);
  if (record?.lastAuth?.result === 'too-old') return reason('too-old', evidence, record.lastAuth.detail);
  if (!record || record.lastContact === 0) return reason('never-connected', evidence);
  return reason('silent', evidence, `since ${clock(record.lastContact)}`);
}

export function evidenceOf(master: Master, id: string): PlainDict {
  const record = master.fleet.known(id);
  const evidence = newDict();
  if (!record) return evidence;
  if (record.lastContact > 0) evidence['last_contact'] = clock(record.lastContact);
  if (record.lostAt > 0) evidence['connection_lost'] = clock(record.lostAt);
  // ZeroMQ does not tell addresses; the minion's own are in its grains.
  const address = record.address.startsWith('zeromq:') ? ownAddress(master, id) : record.address;
  if (address) evidence['address'] = address;
  if (record.lastAuth) evidence['last_sign_in'] = `${record.lastAuth.result}: ${record.lastAuth.detail}`;
  if (record.connections.size > 0) evidence['connections'] = record.connections.size;
  return evidence;
}

function ownAddress(master: Master, id: string): string {
  const grains = master.fleet.grains(id);
  const addresses = grains && !(grains instanceof Map) ? grains['ipv4'] : undefined;
  return Array.isArray(addresses)
    ? String(addresses.find((address) => address !== '127.0.0.1') ?? addresses[0] ?? '')
    : '';
}
