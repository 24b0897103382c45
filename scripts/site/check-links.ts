// Follows every link of the finished site: to a page that is there, and a place on it; and no page loads anything from
// elsewhere.
import { dirname, join } from 'node:path';

export function checkLinks(files: ReadonlyMap<string, string>, copies: ReadonlyMap<string, string>): string[] {
  const ids = new Map<string, Set<string>>();
  for (const [address, html] of files)
    if (address.endsWith('.html'))
      ids.set(address, new Set([...html.matchAll(/ id="([^"]+)"/g)].map((found) => found[1]!)));
  const problems: string[] = [];
  for (const [address, html] of files) {
    if (!address.endsWith('.html')) continue;
    for (const [, name = '', value = ''] of html.matchAll(/ (href|src)="([^"]*)"/g)) {
      const target = value.replaceAll('&amp;', '&').replaceAll('&quot;', '"');
      if (/^[a-z]+:/i.test(target)) {
        if (name === 'src') problems.push(`${address}: loads ${target}`);
        continue;
      }
      const [path = '', anchor = ''] = target.split('#');
      const file = path === '' ? address : join(dirname(address), path);
      if (!files.has(file) && !copies.has(file)) problems.push(`${address}: links to ${target}, which is not there`);
      else if (anchor !== '' && ids.get(file)?.has(decodeURIComponent(anchor)) !== true)
        problems.push(`${address}: links to ${target}: there is no such place`);
    }
  }
  return [...new Set(problems)];
}
