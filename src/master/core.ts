// What the parts of the master share; built once in main.ts and handed to each of them.
import type { MasterOpts } from '../base/config/index.ts';
import type { Logger } from '../base/log/index.ts';
import type { FileServer } from '../engine/files/server.ts';
import type { PillarService } from '../engine/pillar/service.ts';
import type { EventBus } from '../protocol/event/bus.ts';
import type { JobStore } from '../store/jobs.ts';
import type { KeyStore } from '../store/keys.ts';
import type { UserKeys } from './authorization/user-keys.ts';
import type { Fleet } from './fleet/fleet.ts';
import type { Mine } from './fleet/mine.ts';
import type { Publisher } from './publish/publisher.ts';
import type { History } from './returners/history.ts';
import type { ReturnerSettings } from './returners/settings.ts';
import type { ReturnerSinks } from './returners/sinks.ts';
import type { KeySignature } from './sign-in/key-signature.ts';
import type { NewKeys } from './sign-in/new-keys.ts';
import type { Secrets } from './sign-in/secrets.ts';
import type { DurableJobs } from './tracking/durable.ts';
import type { Tracker } from './tracking/tracker.ts';

export interface Master {
  readonly opts: MasterOpts;
  readonly log: Logger;
  readonly keys: KeyStore;
  readonly secrets: Secrets;
  readonly bus: EventBus;
  readonly store: JobStore;
  /** Where jobs, results and events go beside the own store. */
  readonly sinks: ReturnerSinks;
  readonly returnerSettings: ReturnerSettings;
  readonly history: History;
  readonly fleet: Fleet;
  readonly publisher: Publisher;
  readonly tracker: Tracker;
  readonly durable: DurableJobs;
  readonly mine: Mine;
  readonly userKeys: UserKeys;
  readonly newKeys: NewKeys;
  readonly files: FileServer;
  readonly pillars: PillarService;
  /** Present with `master_sign_pubkey`. */
  readonly keySignature: KeySignature | undefined;
}

/**
 * How far a sender is believed. `proven`: by its session key or its token. Protocols before P3 prove less, because all minions
 * share their key: `claimed` is an id that came without a token, `disputed` one whose owner has used P3, `anonymous` none at all.
 */
export type Trust = 'proven' | 'claimed' | 'disputed' | 'anonymous';

/** Who sent a request, as far as handlers need it. */
export interface Sender {
  /** Empty when anonymous: only what every minion may have is asked so. */
  readonly id: string;
  readonly trust: Trust;
  readonly version: number;
  readonly peer: string;
  readonly transport: string;
  /** These very bytes were answered before: what follows from them has been done. */
  readonly repeated?: boolean;
}
