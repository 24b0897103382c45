// json_query: JMESPath over template data.
import { PyError, typeError } from '../errors.ts';
import { define, type FunctionTable, tableOf } from '../runtime/define.ts';
import { textOf } from '../runtime/markup.ts';
import { type PyValue, typeName } from '../runtime/value.ts';
import { parseJmes } from './jmespath/parse.ts';

function expressionOf(value: PyValue): string {
  const text = textOf(value);
  if (value === null || text === '') {
    throw new PyError('EmptyExpressionError', 'Invalid JMESPath expression: cannot be empty.');
  }
  if (text === undefined) throw typeError(`'${typeName(value)}' object is not iterable`);
  return text;
}

export const queryFilters: FunctionTable = tableOf({
  json_query: define('json_query', 'data, expr', (_rt, data, expression) =>
    parseJmes(expressionOf(expression!))(data!),
  ),
});
