// Bounds for the size of targets and the cost of their evaluation, in one place.
import { HaliteError } from '../../base/errors/index.ts';
import { Budget } from '../../base/util/budget.ts';

/** Characters of a whole expression. */
export const maxText = 1 << 20;
/** Characters of one glob, regular expression, network or `key:value`; ids have at most 255. */
export const maxTerm = 1 << 14;
/** Words of a compound expression, with nodegroups expanded. */
export const maxWords = 20_000;
/** Ids of a list: more minions than any master has. */
export const maxListed = 100_000;
/** Parts of a path into grains or pillar. */
export const maxParts = 256;

/** Steps for a whole request, and per minion on average. */
const forRequest = 20_000_000;
const forEach = 10_000;
/** Minions and limited users get a part of it: an ordinary expression needs some hundred steps per minion. */
const foreignPart = 0.25;
/** Steps for one minion, whose data could be malicious. */
export const forOneMinion = 2_000_000;

/** The budget for matching a target against all minions. `foreign`: requested by a minion or a limited user. */
export const targetBudget = (minions: number, foreign: boolean): Budget =>
  new Budget((forRequest + minions * forEach) * (foreign ? foreignPart : 1));

export const tooMuch = (what: string): HaliteError =>
  new HaliteError('target.syntax', `The target has ${what}`, { hint: 'Use a list, a nodegroup or several commands.' });
