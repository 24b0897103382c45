// State module `git`: checkouts, repositories and settings of git.
import { defineState, needsFunction } from 'halite/sdk';
import { cloned, detached, present } from './clone.ts';
import { config_set, config_unset } from './config.ts';
import { latest } from './latest.ts';

export default defineState({
  name: 'git',
  doc: 'Checkouts, repositories and settings of git.',
  available: needsFunction('git.version', 'git module could not be loaded'),
  functions: { latest, cloned, present, detached, config_set, config_unset },
});
