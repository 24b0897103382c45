// Configuration: option tables, loaders, folders and the manual.
export { type ClientLoadRequest, loadApiConfig, loadClientConfig } from './client.ts';
export { generateMinionId, type HostFacts } from './host-names.ts';
export { configDirOf, type Environment } from './load-files.ts';
export { loadMasterConfig } from './master.ts';
export { type MasterAddress, masterAddresses, parseHostPort } from './master-address.ts';
export { loadMinionConfig, type MinionLoadRequest } from './minion.ts';
export { masterOptions, minionOptions } from './options/index.ts';
export type { OptionRow, OptionType, Roots } from './options/row.ts';
export type { ClientOpts, MasterOpts, MinionOpts, OpenOpts } from './opts.ts';
export { type DirsReport, prepareDirs } from './prepare-dirs.ts';
export type { ConfigProblem, ProblemKind } from './problems.ts';
export type { LoadedConfig, LoadRequest } from './request.ts';
export { findSaltfile, loadSaltfile, type Saltfile, type SaltfileRequest } from './saltfile.ts';
