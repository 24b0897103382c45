// The path of the master's unix socket, below `sock_dir`.
export const socketName = 'halite.ipc';
/** A second socket where users with limited rights may connect: only for the master's own user. */
export const ownSocketName = 'halite-own.ipc';
