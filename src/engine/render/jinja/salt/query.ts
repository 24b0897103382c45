// json_query: JMESPath over template data.
import { typeError } from '../errors.ts';
import { define, type FunctionTable, tableOf } from '../runtime/define.ts';
import { textOf } from '../runtime/markup.ts';
import { typeName } from '../runtime/value.ts';
import { parseJmes } from './jmespath/parse.ts';

export const queryFilters: FunctionTable = tableOf({
  json_query: define('json_query', 'data, expr', (_rt, data, expression) => {
    const text = textOf(expression!);
    if (text === undefined) throw typeError(`expected string or bytes-like object, got '${typeName(expression!)}'`);
    return parseJmes(text)(data!);
  }),
});
