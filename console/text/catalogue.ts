// All texts: English, Chinese.
import { commonTexts } from './common.ts';
import { fleetTexts } from './fleet.ts';
import { jobTexts } from './jobs.ts';
import { masterTexts } from './master.ts';

export const catalogue = { ...commonTexts, ...fleetTexts, ...jobTexts, ...masterTexts } as const satisfies Readonly<
  Record<string, readonly [english: string, chinese: string, one?: string]>
>;

export type TextKey = keyof typeof catalogue;
