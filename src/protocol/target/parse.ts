// Parses the text of a user or a peer to a target.
import { HaliteError, messageOf } from '../../base/errors/index.ts';
import { shortened } from '../../base/util/budget.ts';
import { nearest } from '../../base/util/nearest.ts';
import { parseCompound } from './compound.ts';
import { maxListed, maxText, tooMuch } from './limits.ts';
import { expandNodegroups } from './nodegroups.ts';
import { placed, wholeError, wordsOf } from './syntax-error.ts';
import { dataTerm, globTerm, ipTerm, listTerm, type Place, pcreTerm, rangeTerm } from './terms.ts';
import { type Target, type TargetKind, type TargetOptions, targetKinds } from './types.ts';

export function isTargetKind(kind: unknown): kind is TargetKind {
  return (targetKinds as readonly unknown[]).includes(kind);
}

/** The target; throws 'target.syntax' with a mark under the error, unless `lenient`. */
export function parseTarget(expression: string | readonly string[], kind: string, options: TargetOptions = {}): Target {
  if (!options.lenient) return parse(expression, kind, options);
  try {
    return parse(expression, kind, options);
  } catch (thrown) {
    if (thrown instanceof HaliteError) return { type: 'never', reason: messageOf(thrown) };
    throw thrown;
  }
}

function parse(expression: string | readonly string[], kind: string, options: TargetOptions): Target {
  if (!isTargetKind(kind)) {
    const given = shortened(typeof kind === 'string' ? kind : shown(kind));
    const close = nearest(given, targetKinds);
    throw new HaliteError(
      'target.syntax',
      `There is no target type ${given}`,
      close ? { hint: `Did you mean ${close}?` } : {},
    );
  }
  if (kind === 'compound' || kind === 'compound_pillar_exact') return compound(expression, kind, options);
  if (kind === 'list') {
    const ids = typeof expression === 'string' ? checkText(expression, kind) : checkTexts(expression);
    return listTerm(ids, placeOf(typeof ids === 'string' ? ids : ids.slice(0, 10).join(), options));
  }
  const text = checkText(expression, kind);
  const place = placeOf(text, options);
  switch (kind) {
    case 'glob':
      return globTerm(text, place);
    case 'pcre':
      return pcreTerm(text, place);
    case 'ipcidr':
      return ipTerm(text.trim(), place);
    case 'range':
      return rangeTerm(place);
    case 'nodegroup': {
      const words = expandNodegroups(text.trim(), options.nodegroups ?? {});
      return compound(words, 'compound', options);
    }
    default:
      return dataTerm(kind, text, options.delimiter ?? ':', place);
  }
}

function compound(expression: string | readonly string[], kind: string, options: TargetOptions): Target {
  const words = typeof expression === 'string' ? wordsOf(checkText(expression, kind)) : placed(checkTexts(expression));
  const text = typeof expression === 'string' ? expression : words.map((word) => word.text).join(' ');
  return parseCompound(words, text, {
    nodegroups: options.nodegroups ?? {},
    lenient: options.lenient === true,
    pillarExact: kind === 'compound_pillar_exact',
  });
}

const placeOf = (text: string, options: TargetOptions): Place => ({
  expression: text,
  at: 0,
  length: text.length,
  lenient: options.lenient === true,
});

function checkText(expression: unknown, kind: string): string {
  if (typeof expression !== 'string') throw wholeError(`A ${kind} target must be text`, shown(expression));
  if (expression.length > maxText) throw tooMuch('too many characters');
  if (expression.trim() === '') throw wholeError('The target is empty', expression);
  return expression;
}

function checkTexts(expression: unknown): readonly string[] {
  if (!Array.isArray(expression) || !expression.every((item) => typeof item === 'string'))
    throw wholeError('A target must be text or a list of texts', shown(expression));
  if (expression.length > maxListed) throw tooMuch(`more than ${maxListed.toLocaleString('en-US')} entries`);
  return expression;
}

/** A description of the value that was given instead of text; a peer may send anything. */
const shown = (given: unknown): string =>
  given === null || typeof given !== 'object' ? String(given) : Array.isArray(given) ? 'a list' : 'a map';
