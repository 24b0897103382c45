// How many sign-ins there were, by the answer.
import { Tally } from '../../base/metrics/index.ts';

/** `invalid`: the request could not be read, or its id cannot be one. */
const signInActs = ['accept', 'pend', 'reject', 'denied', 'full', 'error', 'invalid'] as const;
export type SignInAct = (typeof signInActs)[number];

export type SignInCounts = Tally<SignInAct>;
export const signInCounts = (): SignInCounts => new Tally<SignInAct>(signInActs);
