// How large targets may be and what their evaluation may cost, in one place.
import { HaliteError } from '../../base/errors/index.ts';
import { Budget } from '../../base/util/budget.ts';

/** Characters of a whole expression. */
export const maxText = 1 << 20;
/** Characters of one glob, regular expression, network or `key:value`; ids have 255 at most. */
export const maxTerm = 1 << 14;
/** Words of a compound expression, nodegroups written out. */
export const maxWords = 20_000;
/** Ids of a list: more minions than any master has. */
export const maxListed = 100_000;
/** Parts of a path into grains or pillar. */
export const maxParts = 256;

/** Steps for a whole request, and per minion on average. */
const forRequest = 20_000_000;
const forEach = 10_000;
/** Minions and limited users get a part of it: an honest expression needs some hundred steps per minion. */
const foreignPart = 0.25;
/** Steps that one minion may take, whose data could be made for taking many. */
export const forOneMinion = 2_000_000;

/** What matching a target against a fleet may cost. `foreign`: a minion or a limited user asks. */
export const targetBudget = (minions: number, foreign: boolean): Budget =>
  new Budget((forRequest + minions * forEach) * (foreign ? foreignPart : 1));

export const tooMuch = (what: string): HaliteError =>
  new HaliteError('target.syntax', `The target has ${what}`, { hint: 'Use a list, a nodegroup or several commands.' });
