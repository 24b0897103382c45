// Proxied devices: the process that holds their sessions, and the daemon's side of it.
export { Device } from './device.ts';
export { ProxyHost } from './host.ts';
