// When the AES key changes: at once on a master alone, at one place for all members of a cluster.
import { messageOf } from '../../base/errors/index.ts';
import type { Logger } from '../../base/log/index.ts';
import type { EventBus } from '../../protocol/event/bus.ts';
import type { Rotation } from '../shared/rotation.ts';
import type { Secrets } from './secrets.ts';

export interface AesChange {
  /** Now; the number of the key in use afterwards. */
  now(): Promise<number>;
  /** Because a minion lost its trust: soon, together with others. */
  soon(): void;
}

export interface AesChangeParts {
  readonly secrets: Pick<Secrets, 'rotate' | 'aes'>;
  readonly bus: Pick<EventBus, 'fire'>;
}

const told = ({ bus }: AesChangeParts): void => bus.fire('key', { rotate_aes_key: true });

export function ownAesChange(parts: AesChangeParts): AesChange {
  const change = (): number => {
    parts.secrets.rotate();
    told(parts);
    return parts.secrets.aes.current.generation;
  };
  return { now: async () => change(), soon: () => void change() };
}

/** `immediately`: the option `rotate_aes_key: now`. */
export function sharedAesChange(
  parts: AesChangeParts & { readonly log: Pick<Logger, 'warn'> },
  rotation: Pick<Rotation, 'rotate' | 'wanted'>,
  immediately: boolean,
): AesChange {
  let running: Promise<number> | undefined;
  const now = (): Promise<number> => {
    running ??= rotation.rotate().finally(() => {
      running = undefined;
    });
    return running;
  };
  const failed = (error: unknown): void =>
    parts.log.warn('the AES key could not be changed now', { error: messageOf(error) });
  return { now, soon: () => void (immediately ? now().catch(failed) : rotation.wanted().catch(failed)) };
}
