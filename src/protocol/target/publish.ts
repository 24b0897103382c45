// How a target is written to the wire, so that minions of 2015.5 to 3008 read it in the same way.
import { colonForm } from './compound.ts';
import type { Target } from './types.ts';

export interface PublishForm {
  /** Text for every kind except `list`: old minions silently ignore compound targets that are arrays. */
  readonly tgt: string | string[];
  readonly tgt_type: string;
  /** Only when it is not a colon. */
  readonly delimiter?: string;
}

/** The `tgt` and `tgt_type` of a job. */
export function publishForm(target: Target): PublishForm {
  switch (target.type) {
    case 'compound':
      return { tgt: withoutLeadingNot(target.words).join(' '), tgt_type: 'compound' };
    case 'list':
      return { tgt: [...target.ids], tgt_type: 'list' };
    case 'glob':
    case 'pcre':
      return { tgt: target.pattern, tgt_type: target.type };
    case 'ipcidr':
      return { tgt: target.network, tgt_type: 'ipcidr' };
    case 'never':
      return { tgt: [], tgt_type: 'list' };
    default: {
      const { expression, delimiter, type } = target;
      if (delimiter === ':') return { tgt: expression, tgt_type: type };
      const plain = colonForm(expression, delimiter);
      return plain === undefined ? { tgt: expression, tgt_type: type, delimiter } : { tgt: plain, tgt_type: type };
    }
  }
}

/**
 * The compound matcher of 2015.5 never matches a `not` at the start or after a parenthesis: `* and not` means the same.
 */
function withoutLeadingNot(words: readonly string[]): string[] {
  const out: string[] = [];
  for (const word of words) {
    const before = out.at(-1);
    if (word === 'not' && (before === undefined || before === '(')) out.push('*', 'and');
    out.push(word);
  }
  return out;
}
