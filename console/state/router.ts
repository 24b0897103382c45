// The address behind `#`: `/job/2026…?view=groups`. It survives logins and can be shared; servers never see it.
import { computed, signal } from '@preact/signals';

export interface Place {
  /** Decoded parts of the path. */
  readonly parts: readonly string[];
  readonly query: URLSearchParams;
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

function placeOf(hash: string): Place {
  const [path = '', query = ''] = hash.replace(/^#/, '').split(/\?(.*)/s);
  return {
    parts: path
      .split('/')
      .filter((part) => part !== '')
      .map(decoded),
    query: new URLSearchParams(query),
  };
}

export function hashOf(parts: readonly string[], query: Readonly<Record<string, string | undefined>> = {}): string {
  const shown = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) if (value !== undefined && value !== '') shown.set(name, value);
  const end = shown.toString();
  return `#/${parts.map(encodeURIComponent).join('/')}${end === '' ? '' : `?${end}`}`;
}

const hash = signal(location.hash);
globalThis.addEventListener('hashchange', () => {
  hash.value = location.hash;
});

export const place = computed(() => placeOf(hash.value));

export function go(parts: readonly string[], query?: Readonly<Record<string, string | undefined>>): void {
  location.hash = hashOf(parts, query);
}

/** Changes the query of this page without a step in the history: what is typed into a search box. */
export function setQuery(changes: Readonly<Record<string, string | undefined>>): void {
  const { parts, query } = place.peek();
  const next = hashOf(parts, { ...Object.fromEntries(query), ...changes });
  if (next === location.hash) return;
  history.replaceState(null, '', next);
  hash.value = next;
}
