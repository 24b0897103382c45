// What this browser remembers: theme, language, times. Nothing of the fleet, and no token.
import { effect, signal } from '@preact/signals';

export type Theme = 'auto' | 'light' | 'dark';
export type Language = 'en' | 'zh';

function remembered<T extends string>(name: string, allowed: readonly T[], fallback: T): T {
  try {
    return allowed.find((value) => value === localStorage.getItem(`halite.${name}`)) ?? fallback;
  } catch {
    return fallback;
  }
}

function remember(name: string, value: string): void {
  try {
    localStorage.setItem(`halite.${name}`, value);
  } catch {
    // Private windows may refuse; the choice then ends with the tab.
  }
}

const browserLanguage: Language = /^zh\b/i.test(navigator.language) ? 'zh' : 'en';

export const theme = signal<Theme>(remembered('theme', ['auto', 'light', 'dark'], 'auto'));
export const language = signal<Language>(remembered('language', ['en', 'zh'], browserLanguage));
export const utc = signal<'local' | 'utc'>(remembered('times', ['local', 'utc'], 'local'));
/** From how many minions on a job is confirmed. */
export const confirmAbove = signal(Number(remembered('confirm', ['1', '10', '50', '200', '1000'], '50')));

export function startSettings(): void {
  effect(() => {
    remember('theme', theme.value);
    if (theme.value === 'auto') document.documentElement.removeAttribute('data-theme');
    else document.documentElement.dataset['theme'] = theme.value;
  });
  effect(() => {
    remember('language', language.value);
    document.documentElement.lang = language.value === 'zh' ? 'zh-Hans' : 'en';
  });
  effect(() => remember('times', utc.value));
  effect(() => remember('confirm', String(confirmAbove.value)));
}

/** Texts the user saved for a page: queries, target expressions. At most twenty of each. */
export function savedViews(page: string): readonly string[] {
  try {
    const found: unknown = JSON.parse(localStorage.getItem(`halite.views.${page}`) ?? '[]');
    return Array.isArray(found) ? found.filter((each) => typeof each === 'string').slice(0, 20) : [];
  } catch {
    return [];
  }
}

export function saveViews(page: string, views: readonly string[]): void {
  remember(`views.${page}`, JSON.stringify([...new Set(views)].slice(0, 20)));
}
