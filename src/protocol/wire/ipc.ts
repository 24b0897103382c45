// The local socket between commands and daemons: length-prefixed msgpack, many concurrent calls, streams of answers.
export { limitedUser, sharedLimits, trustedUser } from './ipc/admission.ts';
export { connectIpc, type IpcClient } from './ipc/client.ts';
export type { IpcHandler } from './ipc/connection.ts';
export type { IpcCall } from './ipc/responder.ts';
export { type IpcServer, listenIpc } from './ipc/server.ts';
