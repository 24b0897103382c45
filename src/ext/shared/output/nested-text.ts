// Data in the form of the outputter `nested`, for texts that show it without colors.
import type { Value } from 'halite/sdk';
import { colorsFor } from './colors.ts';
import { nestedLines } from './nested-lines.ts';

export const plainNested = (data: Value, indent = 0): string =>
  nestedLines(data, { colors: colorsFor({ color: false, opts: {} }), strip: true, retcode: 0 }, indent).join('\n');
