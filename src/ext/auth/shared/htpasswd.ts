// Password hashes as htpasswd writes them: bcrypt, Apache's MD5, SHA-1, and SHA-256 and SHA-512 of crypt(3).
import { createHash } from 'node:crypto';
import { cryptText } from './crypt-text.ts';
import { equalSecrets } from './equal.ts';
import { shaCrypt } from './sha-crypt.ts';

/** A hash that no password has, compared when there is no such name. */
const nobody = '!';

export async function matchesHtpasswd(password: string, known: string | undefined): Promise<boolean> {
  const hash = known ?? nobody;
  if (/^\$2[abxy]\$/.test(hash)) {
    const { compare } = await import('bcryptjs');
    // Others than PHP and htpasswd write 2b for the same.
    return compare(password, hash.replace(/^\$2[xy]\$/, '$2b$'));
  }
  const [, id, salt] = /^\$(apr1|1|5|6)\$(?:rounds=\d+\$)?([^$]*)/.exec(hash) ?? [];
  let given: string | undefined;
  if (id === 'apr1' || id === '1') given = md5Crypt(password, salt ?? '', `$${id}$`);
  else if (id === '5' || id === '6') given = await shaCrypt(password, hash);
  else if (hash.startsWith('{SHA}')) given = `{SHA}${createHash('sha1').update(password).digest('base64')}`;
  // The comparison is made in every case; crypt(3) with DES is not supported: it ignores all but eight characters.
  return equalSecrets(given ?? password, hash) && given !== undefined;
}

/** MD5 of crypt(3), which Apache uses with another mark. */
function md5Crypt(password: string, salt: string, mark: string): string {
  const md5 = (...parts: (Buffer | string)[]): Buffer => {
    const hash = createHash('md5');
    for (const part of parts) hash.update(part);
    return hash.digest();
  };
  const secret = Buffer.from(password, 'utf8');
  const grain = Buffer.from(salt.slice(0, 8), 'utf8');
  const other = md5(secret, grain, secret);
  const parts: Buffer[] = [secret, Buffer.from(mark), grain];
  for (let left = secret.length; left > 0; left -= 16) parts.push(other.subarray(0, Math.min(16, left)));
  for (let bits = secret.length; bits > 0; bits >>= 1) parts.push(bits & 1 ? Buffer.from([0]) : secret.subarray(0, 1));
  let sum = md5(...parts);
  for (let round = 0; round < 1000; round++) {
    const step: Buffer[] = [round & 1 ? secret : sum];
    if (round % 3) step.push(grain);
    if (round % 7) step.push(secret);
    step.push(round & 1 ? sum : secret);
    sum = md5(...step);
  }
  const at = (index: number): number => sum[index] ?? 0;
  const triples = [
    [0, 6, 12],
    [1, 7, 13],
    [2, 8, 14],
    [3, 9, 15],
    [4, 10, 5],
  ] as const;
  const text = triples.map(([a, b, c]) => cryptText((at(a) << 16) | (at(b) << 8) | at(c), 4)).join('');
  return `${mark}${grain.toString('utf8')}$${text}${cryptText(at(11), 2)}`;
}
