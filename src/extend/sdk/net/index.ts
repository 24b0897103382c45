// `halite/sdk/net`: addresses, networks and the reasons of failed connections.
export * from '../../../base/util/ip.ts';
export { ipKinds } from '../../../base/util/ip-kinds.ts';
export { netReason } from '../../../base/util/net-errors.ts';
