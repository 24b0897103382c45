// What a request server answers on its own account. Salt: every request gets a reply, or the client is stuck.
import { pack } from '../../../base/codec/msgpack/index.ts';

/** Largest message unless configured; Salt's streams have the same bound. */
export const defaultMaxMessageBytes = 100 * 1024 * 1024;

/** Makes a real minion sign in again and repeat. */
export const badLoad: Uint8Array = pack('bad load');
export const serverError: Uint8Array = pack('Server-side exception handling payload');
