// URLs of sources: their schemes, and hiding of passwords.

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

/** Removes user names and passwords, which must not appear in results. */
export function withoutPassword(url: string): string {
  return url.replace(/(https?):\/\/.*@/gi, '$1://<redacted>@');
}
