// A parsed target, and the data it is matched against.
import type { Dict, Value } from '../../base/codec/value.ts';

export const targetKinds = [
  'glob',
  'pcre',
  'list',
  'grain',
  'grain_pcre',
  'pillar',
  'pillar_pcre',
  'pillar_exact',
  'ipcidr',
  'nodegroup',
  'compound',
  'compound_pillar_exact',
  'range',
] as const;
export type TargetKind = (typeof targetKinds)[number];

export type DataKind = 'grain' | 'grain_pcre' | 'pillar' | 'pillar_pcre' | 'pillar_exact';

/** A target without operators. */
export type Term =
  | { readonly type: 'glob' | 'pcre'; readonly pattern: string }
  | { readonly type: 'list'; readonly ids: readonly string[] }
  | { readonly type: DataKind; readonly expression: string; readonly delimiter: string }
  | { readonly type: 'ipcidr'; readonly network: string }
  /** Matches nothing: an expression that real Salt silently does not match either. */
  | { readonly type: 'never'; readonly reason: string };

/** A compound expression as a tree. */
export type Expression =
  | Term
  | { readonly type: 'and' | 'or'; readonly parts: readonly Expression[] }
  | { readonly type: 'not'; readonly inner: Expression };

export interface CompoundTarget {
  readonly type: 'compound';
  readonly expression: Expression;
  /** The words to publish: nodegroups expanded, lists in normal form. */
  readonly words: readonly string[];
}

export type Target = Term | CompoundTarget;

/** Undefined grains or pillar are unknown, not empty. */
export interface Subject {
  readonly id: string;
  readonly grains?: Dict | undefined;
  readonly pillar?: Dict | undefined;
}

export type Verdict = 'match' | 'no-match' | 'unknown';

/** Group name → definition: text, or a list of words. */
export type Nodegroups = Dict | Readonly<Record<string, Value>>;

export interface TargetOptions {
  readonly delimiter?: string;
  readonly nodegroups?: Nodegroups | undefined;
  /** For expressions from a master or a top file: an invalid part matches nothing instead of being an error. */
  readonly lenient?: boolean;
}
