// Durations as people write them: 90, '90s', '24h', '2d', '1h30m'.
import { HaliteError } from '../errors/index.ts';

const units: Readonly<Record<string, number>> = {
  ms: 0.001,
  s: 1,
  sec: 1,
  second: 1,
  m: 60,
  min: 60,
  minute: 60,
  h: 3600,
  hour: 3600,
  d: 86400,
  day: 86400,
  w: 604800,
  week: 604800,
};
const partPattern = /(\d+(?:\.\d+)?)\s*([a-z]*)\s*/gy;

/** Seconds; a bare number counts in `unit` (default: seconds). */
export function parseDuration(value: string | number, unit = 's'): number {
  const bare = units[unit] ?? 1;
  if (typeof value === 'number') {
    if (!Number.isFinite(value) || value < 0) throw wrong(String(value));
    return value * bare;
  }
  const text = value.trim().toLowerCase();
  let seconds = 0;
  let end = 0;
  partPattern.lastIndex = 0;
  for (let part = partPattern.exec(text); part; part = partPattern.exec(text)) {
    const name = part[2] as string;
    const size = name === '' ? bare : (units[name] ?? units[name.replace(/s$/, '')]);
    // A number without unit only makes sense alone: "1h30" is more likely a mistake.
    if (size === undefined || (name === '' && part[0].length !== text.length)) throw wrong(value);
    seconds += Number(part[1]) * size;
    end = partPattern.lastIndex;
  }
  if (text === '' || end !== text.length) throw wrong(value);
  return seconds;
}

const wrong = (text: string): HaliteError =>
  new HaliteError('config.value', `"${text}" is not a duration`, {
    hint: 'Write for example 90, 90s, 15m, 24h or 2d.',
  });
