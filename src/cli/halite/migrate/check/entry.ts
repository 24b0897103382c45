// What the check says about one thing that a Salt installation uses.

/** `unknown`: only running it, or a person, can tell. */
export const verdicts = ['missing', 'differs', 'unknown', 'works'] as const;
export type Verdict = (typeof verdicts)[number];

export interface Entry {
  /** `option`, `state`, `function`, `extension`, `renderer`, … */
  readonly kind: string;
  readonly name: string;
  readonly verdict: Verdict;
  /** Why it differs or is missing, and what to do. */
  readonly why?: string;
  /** Where it is used: `/srv/salt/web/init.sls:12`. */
  readonly places: readonly string[];
  /** How often; more than places when there are many. */
  readonly uses: number;
}

const mostPlaces = 20;
const mostEntries = 20_000;

/** Entries by kind and name; what is used in several places is one entry. */
export class Entries {
  readonly #found = new Map<string, { entry: Entry; places: string[]; uses: number }>();
  /** Whether there were more than fit. */
  full = false;

  add(kind: string, name: string, verdict: Verdict, place: string, why?: string): void {
    const key = JSON.stringify([kind, name, verdict, why ?? '']);
    const known = this.#found.get(key);
    if (known) {
      known.uses += 1;
      if (known.places.length < mostPlaces && !known.places.includes(place)) known.places.push(place);
      return;
    }
    if (this.#found.size >= mostEntries) {
      this.full = true;
      return;
    }
    const places = place === '' ? [] : [place];
    this.#found.set(key, { entry: { kind, name, verdict, ...(why ? { why } : {}), places, uses: 1 }, places, uses: 1 });
  }

  /** Missing first, then by kind and name. */
  list(): Entry[] {
    const rank = ({ verdict }: Entry): number => verdicts.indexOf(verdict);
    return [...this.#found.values()]
      .map(({ entry, places, uses }) => ({ ...entry, places, uses }))
      .sort((a, b) => rank(a) - rank(b) || (a.kind + a.name < b.kind + b.name ? -1 : 1));
  }
}
