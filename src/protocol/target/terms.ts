// Single terms: what each kind of target accepts, checked once when it is parsed.
import { messageOf } from '../../base/errors/index.ts';
import { boundedRegex } from '../../base/util/bounded-regex.ts';
import { shortened } from '../../base/util/budget.ts';
import { splitPath } from '../../base/util/dict-path.ts';
import { parseIp } from '../../base/util/ip.ts';
import { clearedNetwork, targetNetwork } from './ip.ts';
import { maxListed, maxParts, maxTerm, tooMuch } from './limits.ts';
import { syntaxError } from './syntax-error.ts';
import type { DataKind, Term } from './types.ts';

/** The position of a term in the whole expression, for errors. */
export interface Place {
  readonly expression: string;
  readonly at: number;
  readonly length: number;
  readonly lenient: boolean;
}

/** Users get an error; for a minion or a top file the term matches nothing, as in Salt. */
function refuse(message: string, place: Place, hint?: string): Term {
  if (place.lenient) return { type: 'never', reason: message };
  throw syntaxError(message, place.expression, place.at, place.length, hint);
}

export function globTerm(pattern: string, place: Place): Term {
  return pattern.length > maxTerm ? tooLong(place) : { type: 'glob', pattern };
}

const tooLong = (place: Place): Term => refuse('This is longer than any id or value', place);

export function pcreTerm(pattern: string, place: Place): Term {
  if (pattern.length > maxTerm) return tooLong(place);
  try {
    boundedRegex(pattern);
  } catch (thrown) {
    return refuse(messageOf(thrown), place);
  }
  return { type: 'pcre', pattern };
}

/** Ids from a text or a list: spaces, quotes, empty entries and trailing commas are ignored. */
export function listTerm(ids: string | readonly string[], place: Place): Term {
  const entries = typeof ids === 'string' ? unquote(ids).split(',') : ids;
  const clean = [...new Set(entries.map(unquote).filter((id) => id !== ''))];
  if (clean.length > maxListed) throw tooMuch(`more than ${maxListed.toLocaleString('en-US')} ids`);
  return clean.length === 0 ? refuse('The list of minions is empty', place) : { type: 'list', ids: clean };
}

function unquote(text: string): string {
  const trimmed = text.trim();
  if (!trimmed.startsWith('"') && !trimmed.startsWith("'")) return trimmed;
  const quoted = /^(["'])(.*)\1$/s.exec(trimmed);
  // `"a","b"` begins and ends with a quote without being one quoted text.
  return quoted && !(quoted[2] as string).includes(quoted[1] as string) ? (quoted[2] as string).trim() : trimmed;
}

export function dataTerm(type: DataKind, expression: string, delimiter: string, place: Place): Term {
  if (delimiter === '' || !expression.includes(delimiter)) {
    const named = shortened(expression);
    const example = `${named || 'os'}${delimiter || ':'}${type.startsWith('grain') ? 'Debian' : 'value'}`;
    return refuse(
      `"${named}" names no value to compare with`,
      place,
      `Write key${delimiter || ':'}value, for example ${example}.`,
    );
  }
  if (expression.length > maxTerm) return tooLong(place);
  if (splitPath(expression, delimiter).length > maxParts) return refuse(`A path has ${maxParts} parts at most`, place);
  if (type.endsWith('_pcre')) {
    const pattern = expression.slice(expression.lastIndexOf(delimiter) + delimiter.length);
    try {
      boundedRegex(pattern.toLowerCase());
    } catch (thrown) {
      // The value itself may contain the delimiter, so only the last part is checked, and only for users.
      if (!place.lenient) throw syntaxError(messageOf(thrown), place.expression, place.at, place.length);
    }
  }
  return { type, expression, delimiter };
}

export function ipTerm(network: string, place: Place): Term {
  if (network.length > maxTerm) return tooLong(place);
  if (parseIp(network) || targetNetwork(network)) return { type: 'ipcidr', network };
  const meant = network.includes('/') ? clearedNetwork(network) : undefined;
  const hint = meant && meant !== network ? `The address part must be the network itself: ${meant}.` : undefined;
  return refuse(`"${shortened(network)}" is neither an IP address nor a network`, place, hint);
}

export function rangeTerm(place: Place): Term {
  return refuse(
    'Range targets need a range server, which Halite does not support',
    place,
    'Use a list, a nodegroup or a compound target.',
  );
}
