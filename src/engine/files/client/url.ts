// URLs of files as Salt parses them: paths on the file server, and the parts of any other.
import { HaliteError } from '../../../base/errors/index.ts';
import { isSaltUrl, parseSaltUrl } from '../../../base/util/salt-url.ts';

export interface UrlParts {
  /** Lower case; '' for a plain path. */
  readonly scheme: string;
  readonly netloc: string;
  readonly path: string;
  readonly query: string;
}

/** A path on the file server. Throws for any other URL, in Salt's words. */
export function serverPath(url: string): string {
  if (!isSaltUrl(url)) throw new HaliteError('call.failed', `Unsupported path: ${url}`);
  return parseSaltUrl(url).path;
}

/** Python's urlparse(), as far as needed for files. */
export function urlParts(url: string, fragments = true): UrlParts {
  const scheme = /^([A-Za-z][A-Za-z0-9+.-]*):/.exec(url);
  let rest = scheme ? url.slice(scheme[0].length) : url;
  let netloc = '';
  if (rest.startsWith('//')) {
    const end = rest.slice(2).search(/[/?#]/);
    netloc = end < 0 ? rest.slice(2) : rest.slice(2, end + 2);
    rest = rest.slice(2 + netloc.length);
  }
  if (fragments) rest = rest.replace(/#.*$/s, '');
  const question = rest.indexOf('?');
  const path = question < 0 ? rest : rest.slice(0, question);
  const lower = scheme?.[1]?.toLowerCase() ?? '';
  return {
    scheme: lower,
    netloc,
    path: ['', 'http', 'https', 'ftp'].includes(lower) ? withoutParams(path) : path,
    query: question < 0 ? '' : rest.slice(question + 1),
  };
}

/** Parameters after a semicolon in the last part of a path. */
function withoutParams(path: string): string {
  const at = path.indexOf(';', path.lastIndexOf('/') + 1);
  return at < 0 ? path : path.slice(0, at);
}
