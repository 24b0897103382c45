// Where the master's unix socket lies, below `sock_dir`.
export const socketName = 'halite.ipc';
/** Beside it where users with limited rights may connect: for the master's own user alone. */
export const ownSocketName = 'halite-own.ipc';
