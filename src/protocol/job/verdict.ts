// The outcome of a job on each targeted minion: a closed union, so that targeted = sum of the verdicts holds by
// construction.
import type { PlainDict } from '../../base/codec/value.ts';

/** Why a minion returned no result. The guide `jobs.md` has one row for each code. */
export const reasonTexts = {
  'never-connected': 'has not connected to this master since it started',
  'connection-lost': 'its connection to the master was lost',
  'not-subscribed': 'it reaches the request port of the master but not the publish port, where jobs come from',
  'key-pending': 'its key waits for acceptance',
  'key-rejected': 'its key is rejected',
  'key-denied': 'it presented another key than the accepted one',
  'no-key': 'no key of this id is known',
  'too-old': 'it speaks an older protocol than minimum_auth_version allows',
  silent: 'its key is accepted, but it does not answer',
  'accepted-silent': 'it took the job and then fell silent',
  'still-running': 'it still runs the job',
  'no-record': 'it answered that it does not run the job, and no result arrived',
  'duplicate-id': 'several minions use this id',
  'clock-skew': 'its clock is wrong',
  'not-evaluated': 'its grains or pillar are not known here, so the target could not be evaluated',
  deadline: 'the deadline of the job passed',
  expired: 'the job waited for it until it expired',
  cancelled: 'the job waited for it and was taken back',
  failhard: 'the batch was stopped after a failure',
  'cut-off': 'this master was cut off from the master that has it',
  'below-silent': 'a lower master sent it the job, but it does not answer',
  'lower-silent': 'this lower master did not say which of its minions it reached',
  'ssh-unreachable': 'ssh does not reach it',
  'ssh-host-key': 'its host key is not known, or is another one than the known one',
  'ssh-refused': 'it does not accept the key or the password',
  'ssh-place': 'its folder for salt-ssh cannot be used',
  'ssh-runtime': 'there is no runtime for its system',
  'ssh-lost': 'the connection was lost while the job ran',
  'owner-lost': 'the master that followed the job is gone, and no other one went on with it',
} as const;
export type ReasonCode = keyof typeof reasonTexts;

export const isReasonCode = (code: string): code is ReasonCode => Object.hasOwn(reasonTexts, code);

/** Reasons that say the minion was not connected, in Salt's sense of `[Not connected]`. */
const notConnected: ReadonlySet<ReasonCode> = new Set<ReasonCode>([
  'never-connected',
  'connection-lost',
  'not-subscribed',
  'key-pending',
  'key-rejected',
  'key-denied',
  'no-key',
  'too-old',
  'ssh-unreachable',
  'ssh-host-key',
  'ssh-refused',
]);
export const saysConnected = (code: ReasonCode): boolean => !notConnected.has(code);

export interface Reason {
  readonly code: ReasonCode;
  readonly text: string;
  readonly evidence: PlainDict;
}

export type Verdict =
  | { readonly kind: 'waiting' }
  | { readonly kind: 'running'; readonly since: number; readonly text: string }
  | { readonly kind: 'queued'; readonly until: number; readonly reason: Reason }
  | { readonly kind: 'returned'; readonly retcode: number }
  | { readonly kind: 'failed'; readonly retcode: number }
  | { readonly kind: 'missing'; readonly reason: Reason }
  /** Ended by `--deadline`: killed by the minion, which reported it, or no longer waited for by the master. */
  | { readonly kind: 'deadline'; readonly reason: Reason }
  /** Kept by `--durable` until it expired or was cancelled. */
  | { readonly kind: 'expired'; readonly reason: Reason };
export type VerdictKind = Verdict['kind'];

/** The number of minions per verdict; the sum is the number of targeted minions. */
export type Balance = Readonly<Record<VerdictKind, number>>;

export function balanceOf(verdicts: Iterable<Verdict>): Balance {
  const balance: Record<VerdictKind, number> = {
    waiting: 0,
    running: 0,
    queued: 0,
    returned: 0,
    failed: 0,
    missing: 0,
    deadline: 0,
    expired: 0,
  };
  for (const verdict of verdicts) balance[verdict.kind]++;
  return balance;
}

/** Whether the waiting command expects nothing more from this minion. */
export function isFinal(verdict: Verdict): boolean {
  return verdict.kind !== 'waiting' && verdict.kind !== 'running';
}

/** Field of a return that says that the minion ended the job itself, with this value. */
export const endedField = 'halite_end';
/** Fields of a published job that only Halite minions support. */
export const deadlineField = 'halite_deadline';
export const durableField = 'halite_durable';
/** Field of a result given to another master than the one that asked: the name of that one. */
export const keptForField = 'halite_for';
