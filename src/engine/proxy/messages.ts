// Messages between the daemon and a proxy process, which serves one device or, with deltaproxy, many.
import type { FromJobProcess, Packed, ToJobProcess } from '../exec/job-messages.ts';

export type ToProxyProcess =
  /** Options, grains and pillar of a minion; sent again when they change. */
  | {
      readonly t: 'device';
      readonly id: string;
      readonly sdkUrl: string | undefined;
      readonly hasMaster: boolean;
      readonly body: Packed;
    }
  | { readonly t: 'forget'; readonly id: string }
  | { readonly t: 'ask'; readonly n: number; readonly id: string; readonly body: Packed }
  /** Extensions changed: they are loaded again before the next session. */
  | { readonly t: 'reload' }
  | { readonly t: 'beat' }
  | { readonly t: 'end' }
  | Extract<ToJobProcess, { t: 'reply' | 'failure' }>;

export type FromProxyProcess =
  | { readonly t: 'answer'; readonly n: number; readonly body: Packed }
  | { readonly t: 'refused'; readonly n: number; readonly code: string; readonly message: string }
  /** A session ended by itself. */
  | { readonly t: 'lost'; readonly id: string; readonly why: string }
  | { readonly t: 'beat' }
  | Extract<FromJobProcess, { t: 'call' | 'log' }>;
