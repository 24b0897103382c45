// The presence text: a Halite minion subscribes to it in addition to the jobs, so the master knows which minions are
// connected, per connection.
import { createHmac, timingSafeEqual } from 'node:crypto';

const prefix = 'halite1/';

export interface PresenceClaim {
  readonly id: string;
  /** Random per minion process: two live values for one id mean two machines (or two processes) that use it. */
  readonly boot: string;
}

/** What a minion reports about its process in the boot text, so that two users of one id can be distinguished. */
export interface BootDetails {
  readonly pid: number;
  /** The address from which it connects; empty when unknown. */
  readonly address: string;
}

export function bootText(random: string, { pid, address }: BootDetails): string {
  return `${random}~${pid}~${/^[\w.:%-]{0,64}$/.test(address) ? address : ''}`;
}

export function readBoot(boot: string): BootDetails {
  const [, pid = '', address = ''] = boot.split('~');
  return { pid: /^\d{1,9}$/.test(pid) ? Number(pid) : 0, address };
}

function mac(claim: PresenceClaim, sessionKey: string): string {
  return createHmac('sha256', sessionKey).update(`presence\0${claim.id}\0${claim.boot}`).digest('hex').slice(0, 32);
}

/** The text to subscribe to; proves possession of the session key without revealing it. */
export function presenceTopic(claim: PresenceClaim, sessionKey: string): string {
  return `${prefix}${encodeURIComponent(claim.id)}/${claim.boot}/${mac(claim, sessionKey)}`;
}

/** Parses a presence text; undefined when it is another text. `verifyPresence` checks the proof. */
export function readPresenceTopic(topic: string): (PresenceClaim & { proof: string }) | undefined {
  if (!topic.startsWith(prefix) || topic.length > 1024) return undefined;
  const parts = topic.slice(prefix.length).split('/');
  const [id, boot, proof] = parts;
  if (parts.length !== 3 || !id || !boot || !proof) return undefined;
  try {
    return { id: decodeURIComponent(id), boot, proof };
  } catch {
    return undefined;
  }
}

export function verifyPresence(claim: PresenceClaim & { proof: string }, sessionKey: string): boolean {
  const expected = Buffer.from(mac(claim, sessionKey));
  const given = Buffer.from(claim.proof);
  return expected.length === given.length && timingSafeEqual(expected, given);
}
