// The local socket between commands and daemons: length-prefixed msgpack, many calls at once, streams of answers.
export { connectIpc, type IpcClient, type IpcConnectOptions } from './ipc/client.ts';
export type { IpcCall } from './ipc/responder.ts';
export { type IpcHandler, type IpcServer, listenIpc } from './ipc/server.ts';
