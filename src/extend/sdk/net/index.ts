// `halite/sdk/net`: addresses, networks and why a connection failed.
export * from '../../../base/util/ip.ts';
export { ipKinds } from '../../../base/util/ip-kinds.ts';
export { netReason } from '../../../base/util/net-errors.ts';
