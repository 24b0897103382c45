// Actions on extensions of PostgreSQL, shared by functions and states.

/** Actions on an extension, with the names that Salt's functions return. */
export const notInstalled = 'EXTENSION NOT INSTALLED';
export const installedState = 'EXTENSION INSTALLED';
export const toUpgrade = 'EXTENSION TO UPGRADE';
export const toMove = 'EXTENSION TO MOVE';
