// Decimal formatting of floats with Python's rounding.

/** Python's `'%.*f'`: rounds the exact binary value, ties to even (JavaScript rounds ties up). */
export function pyFixed(value: number, digits: number): string {
  const text = value.toFixed(digits);
  if (!Number.isFinite(value) || digits > 20) return text;
  // A tie needs a binary fraction that ends one digit after the last one shown.
  const exact = Math.abs(value) < 1e15 ? value.toFixed(Math.min(100, digits + 30)) : text;
  const tail = exact.slice(exact.indexOf('.') + 1 + digits);
  if (!/^50*$/.test(tail) || exact === text) return text;
  const lower = exact.slice(0, exact.length - tail.length).replace(/\.$/, '');
  const lastDigit = Number(lower.at(-1));
  return lastDigit % 2 === 0 ? lower : text;
}

/** Python's round(value, digits). */
export function pyRound(value: number, digits: number): number {
  return Number(pyFixed(value, digits));
}
