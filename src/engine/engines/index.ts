// Engines: programs that run beside a daemon, each in a process of its own.
export { Engines } from './engines.ts';
export { readEngines, takeReactor } from './settings.ts';
