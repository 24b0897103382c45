// What endpoints work with.
import type { Logger } from '../base/log/index.ts';
import type { AccessLog } from './access-log.ts';
import type { ClientCertificates } from './client-certificates.ts';
import type { Streams } from './events/streams.ts';
import type { ServerFigures } from './figures.ts';
import type { CallLimits } from './limits.ts';
import type { Master } from './master.ts';
import type { ApiSettings } from './settings.ts';

export interface Api {
  readonly settings: ApiSettings;
  readonly master: Master;
  readonly log: Logger;
  readonly limits: CallLimits;
  /** Wrong passwords take long: they must not take the places of calls. */
  readonly loginLimits: CallLimits;
  readonly streams: Streams;
  /** Undefined when nobody logs in with a certificate. */
  readonly certificates: ClientCertificates | undefined;
  readonly figures: ServerFigures;
  /** Undefined without `log_access_file`. */
  readonly accesses: AccessLog | undefined;
  /** For hooks without a token; undefined when they are not allowed or the master has none. */
  hookKey(): string | undefined;
}
