// Comparing secrets.
import { createHash, timingSafeEqual } from 'node:crypto';

const digest = (text: string): Buffer => createHash('sha256').update(text).digest();

/** Takes the same time wherever the texts differ, and whatever their lengths are. */
export const equalSecrets = (given: string, known: string): boolean => timingSafeEqual(digest(given), digest(known));
