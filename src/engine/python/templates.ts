// Templates get objects of Python with their attributes; everybody else gets their text.
import { AsyncLocalStorage } from 'node:async_hooks';

const asking = new AsyncLocalStorage<string>();

/** Runs a call that a template makes. */
export const fromTemplate = <T>(fun: string, run: () => T): T => asking.run(fun.slice(fun.indexOf('.') + 1), run);

/** Whether a template called this function, and not another function that it called. */
export const askedByTemplate = (fun: string): boolean => asking.getStore() === fun;
