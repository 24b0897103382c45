// The fate of every targeted minion: a closed union, so that targeted = sum of the verdicts holds by construction.
import type { PlainDict } from '../../base/codec/value.ts';

/** Why a minion gave no result. The manual has one paragraph for each code. */
export const reasonTexts = {
  'never-connected': 'has not connected to this master since it started',
  'connection-lost': 'its connection to the master was lost',
  'key-pending': 'its key waits for acceptance',
  'key-rejected': 'its key is rejected',
  'key-denied': 'it presented another key than the accepted one',
  'no-key': 'no key of this id is known',
  'too-old': 'it speaks an older protocol than minimum_auth_version allows',
  silent: 'the key is accepted but nothing was heard',
  'no-record': 'it answered that it does not run the job, and no result arrived',
  'duplicate-id': 'several machines use this id',
  'not-evaluated': 'its grains or pillar are not known here, so the target could not be evaluated',
  deadline: 'the deadline of the job passed',
  expired: 'the job waited for it until it expired',
  failhard: 'the batch was stopped after a failure',
} as const;
export type ReasonCode = keyof typeof reasonTexts;

export interface Reason {
  readonly code: ReasonCode;
  readonly text: string;
  readonly evidence: PlainDict;
}

export type Verdict =
  | { readonly kind: 'waiting' }
  | { readonly kind: 'running'; readonly since: number; readonly text: string }
  | { readonly kind: 'queued'; readonly until: number }
  | { readonly kind: 'returned'; readonly retcode: number }
  | { readonly kind: 'failed'; readonly retcode: number }
  | { readonly kind: 'missing'; readonly reason: Reason };
export type VerdictKind = Verdict['kind'];

/** How many minions ended in each verdict; its sum is the number targeted. */
export type Balance = Readonly<Record<VerdictKind, number>>;

export function balanceOf(verdicts: Iterable<Verdict>): Balance {
  const balance: Record<VerdictKind, number> = {
    waiting: 0,
    running: 0,
    queued: 0,
    returned: 0,
    failed: 0,
    missing: 0,
  };
  for (const verdict of verdicts) balance[verdict.kind]++;
  return balance;
}

/** Nothing more is expected of this minion for the one who waits. */
export function isFinal(verdict: Verdict): boolean {
  return verdict.kind !== 'waiting' && verdict.kind !== 'running';
}
