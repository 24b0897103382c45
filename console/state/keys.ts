// Keys of the whole console. What is typed into a field belongs to the field.
import { signal } from '@preact/signals';
import { go } from './router.ts';

export const helpOpen = signal(false);

const afterG: Readonly<Record<string, string>> = {
  ...{ o: 'overview', m: 'minions', j: 'jobs', k: 'keys', e: 'events', s: 'states' },
  ...{ r: 'runners', d: 'doctor', c: 'schedules', a: 'masters' },
};
const chordTime = 1500;

const isField = (target: EventTarget | null): boolean =>
  target instanceof HTMLElement && (/^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName) || target.isContentEditable);

export function startKeys(): void {
  let chord = 0;
  document.addEventListener('keydown', (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
    if (event.key === 'Escape' && event.target instanceof HTMLElement && isField(event.target)) event.target.blur();
    if (isField(event.target) || document.querySelector('dialog[open]')) return;
    const page = event.timeStamp - chord < chordTime ? afterG[event.key] : undefined;
    chord = event.key === 'g' && page === undefined ? event.timeStamp : 0;
    if (page !== undefined) go([page]);
    else if (event.key === '/') focusSearch();
    else if (event.key === 'r') go(['run']);
    else if (event.key === '?') helpOpen.value = true;
    else if (event.key === 'j' || event.key === 'k') focusList();
    else return;
    event.preventDefault();
  });
}

/** The search of the page, else that of the frame. */
function focusSearch(): void {
  const field =
    document.querySelector<HTMLInputElement>('main input[type="search"]') ??
    document.querySelector<HTMLInputElement>('input[type="search"]');
  field?.focus();
  field?.select();
}

function focusList(): void {
  document.querySelector<HTMLElement>('main [role="row"][tabindex="0"]')?.focus();
}
