// Texts of the console in the chosen language. Both languages stand side by side in the catalogue, so none is forgotten.
import { language, utc } from '../state/settings.ts';
import { catalogue, type TextKey } from './catalogue.ts';

export type { TextKey };

/** The third is English for one. */
const texts: Readonly<Record<string, readonly [english: string, chinese: string, one?: string]>> = catalogue;

/** `{name}` in a text is replaced by the value of that name. */
export function t(key: TextKey, values: Readonly<Record<string, string | number>> = {}): string {
  const [english, chinese, one] = texts[key] ?? ['', ''];
  const text = language.value === 'zh' ? chinese : values['n'] === 1 && one !== undefined ? one : english;
  return text.replace(/\{(\w+)\}/g, (whole, name: string) => (name in values ? shown(values[name]!) : whole));
}

const shown = (value: string | number): string => (typeof value === 'number' ? count(value) : value);

const isTextKey = (key: string): key is TextKey => Object.hasOwn(catalogue, key);

/** A word of the API in the user's language; unknown words are shown as they are. */
export const word = (prefix: string, name: string): string => {
  const key = `${prefix}.${name}`;
  return isTextKey(key) ? t(key) : name;
};

const locale = (): string => (language.value === 'zh' ? 'zh-Hans' : 'en');

export const count = (value: number): string => value.toLocaleString(locale());

const dateOptions: Intl.DateTimeFormatOptions = { dateStyle: 'short', timeStyle: 'medium' };

export const timeText = (seconds: number): string =>
  new Date(seconds * 1000).toLocaleString(locale(), {
    ...dateOptions,
    ...(utc.value === 'utc' ? { timeZone: 'UTC' } : {}),
  });

/** For tooltips: the same everywhere. */
export const utcText = (seconds: number): string =>
  `${new Date(seconds * 1000).toISOString().slice(0, 19).replace('T', ' ')} UTC`;

const units: readonly (readonly [Intl.RelativeTimeFormatUnit, number])[] = [
  ['day', 86_400],
  ['hour', 3600],
  ['minute', 60],
  ['second', 1],
];

export function agoText(seconds: number, now: number): string {
  const passed = now - seconds;
  const [unit, size] = units.find(([, each]) => Math.abs(passed) >= each) ?? ['second', 1];
  return new Intl.RelativeTimeFormat(locale(), { numeric: 'auto' }).format(-Math.round(passed / size), unit);
}

export function durationText(seconds: number): string {
  if (seconds < 10) return `${seconds.toFixed(1)} s`;
  if (seconds < 120) return `${Math.round(seconds)} s`;
  const minutes = Math.floor(seconds / 60);
  return minutes < 120 ? `${minutes} min ${Math.round(seconds % 60)} s` : `${(minutes / 60).toFixed(1)} h`;
}
