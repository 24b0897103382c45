// Masks secrets before anything is logged.

/** The text that replaces a secret. */
export const secretMask = '**********';
const maxDepth = 8;
const secretName =
  /(^|[_.-])(pass(word|wd|phrase)?|secret|shared_?secret|token|aes|session_?key|priv(ate)?(_?key)?|priv_passwd|api_?key|credentials?|authorization|cookie|key_pass)$/i;
const pemBlock = /-----BEGIN ([A-Z ]*PRIVATE KEY)-----[\s\S]*?(-----END \1-----|$)/g;
/** It begins with fixed characters: with the scheme in it, a long text of a peer would take time by the square of its length. */
const urlPassword = /(:\/\/[^\s:/@]+:)[^\s@/]+@/g;
const assignment = /\b(pass(?:word|wd|phrase)?|secret|token|api_?key)(["']?\s*[=:]\s*["']?)([^\s"',;&]+)/gi;

/** Whether a field or option of this name holds a secret. */
export function isSecretName(name: string): boolean {
  return secretName.test(name);
}

/** Text without private keys, passwords in URLs and `password=…` values. */
export function redactText(text: string): string {
  return text
    .replace(pemBlock, (_whole, kind: string) => `-----BEGIN ${kind}----- ${secretMask}`)
    .replace(urlPassword, `$1${secretMask}@`)
    .replace(assignment, `$1$2${secretMask}`);
}

/** A copy of any value in which secrets are masked; for log fields and error details. */
export function redact(value: unknown, depth = 0): unknown {
  if (typeof value === 'string') return redactText(value);
  if (value === null || typeof value !== 'object') return value;
  if (value instanceof Uint8Array || value instanceof Date || value instanceof Error) return value;
  if (depth >= maxDepth) return '…';
  if (Array.isArray(value)) return value.map((item) => redact(item, depth + 1));
  const entries = value instanceof Map ? [...value.entries()] : Object.entries(value);
  const copy: Record<string, unknown> = Object.create(null);
  for (const [key, item] of entries) {
    const name = String(key);
    const hide = isSecretName(name) && item !== null && item !== undefined && item !== '';
    copy[name] = hide ? secretMask : redact(item, depth + 1);
  }
  return copy;
}
