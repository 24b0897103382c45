// What can be run: names, documentation and parameters.
import { get, part, post } from './http.ts';
import { type Fields, fieldsOf, flagOf, listOf, pageOf, textOf } from './read.ts';

export interface Parameter {
  readonly name: string;
  readonly required: boolean;
  /** As JSON, where it is no text. */
  readonly fallback: string;
}

export interface FunctionFacts {
  readonly name: string;
  readonly doc: string;
  readonly parameters: readonly Parameter[];
  readonly allowed: boolean;
}

function parameterOf(value: unknown): Parameter {
  const fields = fieldsOf(value);
  const fallback = fields['default'];
  return {
    name: textOf(fields['name']) || textOf(value),
    required: flagOf(fields['required']),
    fallback: fallback === undefined || fallback === null ? '' : textOf(fallback) || JSON.stringify(fallback),
  };
}

const functionOf = (value: unknown): FunctionFacts => {
  const fields = fieldsOf(value);
  return {
    name: textOf(fields['name']),
    doc: textOf(fields['doc']),
    parameters: listOf(fields['args']).map(parameterOf),
    allowed: fields['may'] !== 'none',
  };
};

const functionsIn = (answer: unknown): readonly FunctionFacts[] => pageOf(answer).rows.map(functionOf);

export const functions = async (q: string, signal?: AbortSignal): Promise<readonly FunctionFacts[]> =>
  functionsIn(await get('functions', { q, kind: 'modules', limit: 50 }, signal));

export const runners = async (): Promise<readonly FunctionFacts[]> =>
  functionsIn(await get('runners', { limit: 1000 }));

export interface RunnerAnswer {
  readonly jid: string;
  readonly success: boolean;
  readonly value: unknown;
}

/** Runners and wheel functions of the master. */
export async function callMaster(kind: 'runners' | 'wheel', fun: string, arg: readonly unknown[], kwarg: Fields) {
  const fields = fieldsOf(await post(`${kind}/${part(fun)}`, { arg, kwarg }));
  const answer: RunnerAnswer = {
    jid: textOf(fields['jid']),
    success: fields['success'] !== false,
    value: fields['return'],
  };
  return answer;
}
