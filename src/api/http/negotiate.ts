// The form of an answer, by the header Accept.

export type Form = 'json' | 'yaml';

const offered: readonly (readonly [type: string, form: Form])[] = [
  ['application/json', 'json'],
  ['application/x-yaml', 'yaml'],
  ['application/yaml', 'yaml'],
  ['text/yaml', 'yaml'],
];

interface Range {
  readonly type: string;
  readonly quality: number;
}

const mostRanges = 32;

function rangesOf(accept: string): Range[] {
  return accept
    .split(',', mostRanges)
    .map((item) => {
      const [type = '', ...parameters] = item.split(';').map((part) => part.trim().toLowerCase());
      const given = parameters.find((part) => part.startsWith('q='))?.slice(2);
      const quality = given === undefined ? 1 : Number(given);
      return { type, quality: Number.isFinite(quality) ? Math.min(Math.max(quality, 0), 1) : 0 };
    })
    .filter(({ type }) => type !== '');
}

/** How well a type fits: its quality by the most specific range that names it; undefined when none does. */
function qualityOf(type: string, ranges: readonly Range[]): number | undefined {
  const kind = `${type.slice(0, type.indexOf('/'))}/*`;
  for (const name of [type, kind, '*/*']) {
    const found = ranges.find((range) => range.type === name);
    if (found) return found.quality;
  }
  return undefined;
}

/** The best offered form with its media type; undefined when the client accepts none of them. */
export function negotiate(accept: string | undefined): { readonly type: string; readonly form: Form } | undefined {
  const ranges = rangesOf(accept ?? '');
  if (ranges.length === 0) return { type: 'application/json', form: 'json' };
  let best: { type: string; form: Form; quality: number } | undefined;
  for (const [type, form] of offered) {
    const quality = qualityOf(type, ranges) ?? 0;
    if (quality > (best?.quality ?? 0)) best = { type, form, quality };
  }
  return best;
}

/** Whether a browser asks for a page: HTML is named, and before everything else. */
export function prefersHtml(accept: string | undefined): boolean {
  const ranges = rangesOf(accept ?? '');
  const html = ranges.find(({ type }) => type === 'text/html')?.quality ?? 0;
  const other = Math.max(0, ...ranges.filter(({ type }) => type !== 'text/html').map(({ quality }) => quality));
  const first = ranges.findIndex(({ quality }) => quality === Math.max(html, other));
  return html > 0 && html >= other && ranges[first]?.type === 'text/html';
}

export const notAcceptable = (accept: string): string =>
  `Your client sent this Accept header: ${accept}. But this resource only emits these media types: application/json, application/x-yaml.`;
