// The reason why a connection failed, in Python's words, because scripts around Salt search for them.
const texts: Readonly<Record<string, string>> = {
  ECONNREFUSED: '[Errno 111] Connection refused',
  ECONNRESET: '[Errno 104] Connection reset by peer',
  EHOSTUNREACH: '[Errno 113] No route to host',
  ENETUNREACH: '[Errno 101] Network is unreachable',
  ETIMEDOUT: '[Errno 110] Connection timed out',
  ENOTFOUND: '[Errno -2] Name or service not known',
  EAI_AGAIN: '[Errno -3] Temporary failure in name resolution',
};

/** The reason of a failed request, also of one that tried several addresses. */
export function netReason(error: unknown): string {
  const first = error instanceof AggregateError ? error.errors[0] : error;
  const { code, message } = (first ?? {}) as { code?: string; message?: string };
  const certificate = code !== undefined && /CERT|SELF_SIGNED|ISSUER|SIGNATURE/.test(code);
  if (certificate) return `[SSL: CERTIFICATE_VERIFY_FAILED] certificate verify failed: ${message ?? code}`;
  return (code === undefined ? undefined : texts[code]) ?? (message || code || String(error));
}
