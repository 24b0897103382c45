// URLs of files on the file server: `salt://path?saltenv=env`.
const scheme = 'salt://';

export const isSaltUrl = (url: string): boolean => url.startsWith(scheme);

/**
 * The path and the environment of a `salt://` URL; anything else is its own path. Only `?saltenv=` ends the path: other
 * question marks belong to names.
 */
export function parseSaltUrl(url: string): { path: string; saltenv: string | undefined } {
  if (!isSaltUrl(url)) return { path: url, saltenv: undefined };
  const resource = url.slice(scheme.length);
  // `?env=` is used in very old trees; Salt drops it.
  const old = resource.indexOf('?env=');
  if (old >= 0) return { path: resource.slice(0, old), saltenv: undefined };
  const at = resource.indexOf('?saltenv=');
  if (at < 0) return { path: resource, saltenv: undefined };
  return { path: resource.slice(0, at), saltenv: resource.slice(at + '?saltenv='.length) };
}

export function saltUrl(path: string, saltenv?: string): string {
  return `${scheme}${path.replaceAll('\\', '/')}${saltenv ? `?saltenv=${saltenv}` : ''}`;
}
