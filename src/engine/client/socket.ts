// Where the master's unix socket lies, below `sock_dir`.
export const socketName = 'halite.ipc';
