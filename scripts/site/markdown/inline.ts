// What stands inside a line of Markdown: code, links, pictures, emphasis; as HTML.

export interface InlineOptions {
  /** The address of a link on the page; undefined: the text is shown without a link. */
  readonly link: (target: string) => string | undefined;
  readonly image: (target: string) => string;
}

const entities: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };
export const escapeHtml = (text: string): string => text.replace(/[&<>"]/g, (char) => entities[char] ?? char);

/** One kind of thing after the other, in the order in which Markdown gives them precedence. */
const token =
  /(?<code>(?<ticks>`+)(?!`)(?<inside>[\s\S]*?[^`])\k<ticks>(?!`))|(?<escaped>\\[!-/:-@[-`{-~])|(?<image>!\[(?<alt>[^\]]*)\]\((?<src>[^)\s]+)\))|(?<link>\[(?<label>(?:[^[\]`]|`[^`]*`|!\[[^\]]*\]\([^)]*\))*)\]\(<?(?<href>[^)\s>]+)>?(?:\s+"[^"]*")?\))|(?<auto><(?<url>https?:[^>\s]+)>)|(?<anchor><a (?:id|name)="(?<id>[\w-]+)"><\/a>)|(?<strong>\*\*(?<bold>[^\s*](?:[\s\S]*?[^\s])?)\*\*)|(?<em>(?<![\w*])\*(?<soft>[^\s*](?:[^*]*[^\s*])?)\*(?![\w*]))/gu;

export function inlineHtml(text: string, options: InlineOptions): string {
  let html = '';
  let at = 0;
  for (const found of text.matchAll(token)) {
    html += escapeHtml(text.slice(at, found.index)) + tokenHtml(found.groups ?? {}, options);
    at = found.index + found[0].length;
  }
  return html + escapeHtml(text.slice(at));
}

function tokenHtml(part: Readonly<Record<string, string | undefined>>, options: InlineOptions): string {
  if (part['code']) return `<code>${escapeHtml(codeText(part['inside'] ?? ''))}</code>`;
  if (part['escaped']) return escapeHtml(part['escaped'].slice(1));
  if (part['image'])
    return `<img src="${escapeHtml(options.image(part['src'] ?? ''))}" alt="${escapeHtml(part['alt'] ?? '')}" loading="lazy">`;
  if (part['link']) return linkHtml(part['href'] ?? '', inlineHtml(part['label'] ?? '', options), options);
  if (part['auto']) return linkHtml(part['url'] ?? '', escapeHtml(part['url'] ?? ''), options);
  if (part['anchor']) return `<a id="${part['id']}"></a>`;
  if (part['strong']) return `<strong>${inlineHtml(part['bold'] ?? '', options)}</strong>`;
  return `<em>${inlineHtml(part['soft'] ?? '', options)}</em>`;
}

/** One space at both ends belongs to the marks, so that code can begin with a backtick. */
const codeText = (inside: string): string => {
  const line = inside.replaceAll('\n', ' ');
  return /^ .*\S.* $/.test(line) ? line.slice(1, -1) : line;
};

function linkHtml(target: string, label: string, options: InlineOptions): string {
  const address = options.link(target);
  if (address === undefined) return label;
  const outside = /^[a-z]+:/i.test(address) ? ' rel="noreferrer"' : '';
  return `<a href="${escapeHtml(address)}"${outside}>${label}</a>`;
}

/** The text alone, for titles and for the search. */
export function plainText(text: string): string {
  const html = inlineHtml(text, { link: () => undefined, image: () => '' });
  return html
    .replace(/<[^>]*>/g, '')
    .replace(/&lt;/g, '<')
    .replace(/&gt;/g, '>')
    .replace(/&quot;/g, '"')
    .replace(/&amp;/g, '&');
}
