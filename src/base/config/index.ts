// Configuration: option tables, loaders, folders and the reference pages.
export { loadClientConfig } from './client.ts';
export { loadMasterConfig } from './master.ts';
export { type MasterAddress, masterAddresses } from './master-address.ts';
export { loadMinionConfig } from './minion.ts';
export { minionOptions } from './options/index.ts';
export type { MasterOpts, MinionOpts } from './opts.ts';
export { prepareDirs } from './prepare-dirs.ts';
export type { LoadedConfig, LoadRequest } from './request.ts';
export { findSaltfile, loadSaltfile } from './saltfile.ts';
