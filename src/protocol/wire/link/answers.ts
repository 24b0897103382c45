// Replies that a request server sends itself. As in Salt, every request gets a reply, or the client would hang.
import { pack } from '../../../base/codec/msgpack/index.ts';

/** Largest message unless configured; Salt's streams have the same limit. */
export const defaultMaxMessageBytes = 100 * 1024 * 1024;

/** Makes a real minion sign in again and repeat the request. */
export const badLoad: Uint8Array = pack('bad load');
export const serverError: Uint8Array = pack('Server-side exception handling payload');
