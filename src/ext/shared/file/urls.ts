// URLs of sources: their schemes, `salt://` paths, and hiding of passwords.

export const localProtocols = ['', 'file'];
export const remoteProtocols = ['http', 'https', 'ftp', 'swift', 's3'];
export const validProtocols = ['salt', 'file', ...remoteProtocols];

/** The scheme of a URL; '' when there is none. */
export function schemeOf(url: string): string {
  return /^([a-zA-Z][a-zA-Z0-9+.-]*):/.exec(url)?.[1]?.toLowerCase() ?? '';
}

/** Path and host of a URL without query and fragment. */
export function splitUrl(url: string): { scheme: string; host: string; path: string } {
  const scheme = schemeOf(url);
  const rest = scheme === '' ? url : url.slice(scheme.length + 1);
  const match = /^(?:\/\/([^/?#]*))?([^?#]*)/.exec(rest);
  return { scheme, host: match?.[1] ?? '', path: match?.[2] ?? '' };
}

/** `salt://path?saltenv=x` → path and environment; anything else is its own path. */
export function parseSaltUrl(url: string): { path: string; saltenv: string | undefined } {
  if (!url.startsWith('salt://')) return { path: url, saltenv: undefined };
  const resource = url.slice('salt://'.length);
  const old = resource.indexOf('?env=');
  if (old >= 0) return { path: resource.slice(0, old), saltenv: undefined };
  const at = resource.indexOf('?saltenv=');
  return at < 0
    ? { path: resource, saltenv: undefined }
    : { path: resource.slice(0, at), saltenv: resource.slice(at + '?saltenv='.length) };
}

export function saltUrl(path: string, saltenv?: string): string {
  return `salt://${path}${saltenv ? `?saltenv=${saltenv}` : ''}`;
}

/** Removes user names and passwords, which must not appear in results. */
export function withoutPassword(url: string): string {
  return url.replace(/(https?):\/\/.*@/gi, '$1://<redacted>@');
}
