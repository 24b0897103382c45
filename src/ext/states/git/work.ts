// The data of `git.latest` before it changes anything.
import type { PlainDict } from 'halite/sdk';
import type { LatestArgs } from './latest-params.ts';
import type { Checkout, RemoteRev } from './shared.ts';

export interface Work {
  readonly args: LatestArgs;
  readonly name: string;
  readonly target: string;
  readonly branch: string | null;
  readonly remote: string;
  readonly rev: RemoteRev;
  readonly refs: PlainDict;
  readonly defaultBranch: string | null;
  readonly fetchUrl: string;
  readonly identity: string[] | null;
  readonly refspecs: string[];
  readonly bare: boolean;
  readonly git: Checkout;
  readonly comments: string[];
  readonly changes: PlainDict;
}
