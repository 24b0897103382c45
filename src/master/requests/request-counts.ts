// What the request port counts.
import { Histogram, Tally } from '../../base/metrics/index.ts';

/**
 * Why a request of a minion was not carried out. `identity`: it is in the name of another one. `busy`, `gone`: a sign-in
 * whose minion was told to come back, or had hung up.
 */
const refusals = [
  ...(['malformed', 'no-key', 'undecryptable', 'old-key', 'identity', 'too-late', 'too-old'] as const),
  ...(['unknown-command', 'error', 'busy', 'gone'] as const),
] as const;
export type Refusal = (typeof refusals)[number];

const seconds = [0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

export class RequestCounts {
  /** By command: only those that there are. */
  readonly handled = new Tally<string>(['_auth', '_return']);
  readonly refused = new Tally<Refusal>(refusals);
  /** From the arrival of a request to its answer. */
  readonly duration = new Histogram(seconds);
}
