// A chunk on its way to the master.
import type { JsonText } from '../../base/codec/json/index.ts';
import type { PlainDict, Value } from '../../base/codec/value.ts';
import type { MasterSession } from '../master.ts';
import type { ApiSettings } from '../settings.ts';

/** One chunk in the name of its caller. */
export interface Call {
  readonly chunk: PlainDict;
  readonly session: MasterSession;
  readonly settings: ApiSettings;
  /** Aborted when the client has left: this ends the wait, not the job. */
  readonly signal: AbortSignal;
}

/** JSON text of the master goes to the client as it is. */
export type Item = Value | JsonText;
