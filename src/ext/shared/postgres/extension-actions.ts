// Extensions of PostgreSQL, as functions and states speak of them.

/** What is to be done with an extension, in the words Salt's functions return. */
export const notInstalled = 'EXTENSION NOT INSTALLED';
export const installedState = 'EXTENSION INSTALLED';
export const toUpgrade = 'EXTENSION TO UPGRADE';
export const toMove = 'EXTENSION TO MOVE';
