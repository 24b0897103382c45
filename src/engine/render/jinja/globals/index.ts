// The global functions of Jinja: range, dict, namespace, cycler, joiner, lipsum.
import { overflowError, PyError, typeError } from '../errors.ts';
import { methodTable, PyFunction, PyType, positional } from '../runtime/callable.ts';
import { define } from '../runtime/define.ts';
import { PyDict } from '../runtime/dict.ts';
import { truth } from '../runtime/iterate.ts';
import { escapeHtml, Markup } from '../runtime/markup.ts';
import { fromkeys, updateDict } from '../runtime/methods/dict.ts';
import { asInt } from '../runtime/number.ts';
import { Namespace } from '../runtime/objects.ts';
import { str } from '../runtime/print.ts';
import { PyRange, PyTuple } from '../runtime/sequence.ts';
import { signature } from '../runtime/signature.ts';
import { type Kwargs, PyObject, type PyValue, typeName } from '../runtime/value.ts';
import { lorem } from './lorem.ts';

const maxRange = 100_000;

/** range() with the sandbox's limit on its length. */
const range = new PyFunction(signature('safe_range', '*args'), (_rt, { rest }) => {
  if (rest.length === 0) throw typeError('range expected at least 1 argument, got 0');
  if (rest.length > 3) throw typeError(`range expected at most 3 arguments, got ${rest.length}`);
  const numbers = rest.map((value) => {
    const int = asInt(value);
    if (int === undefined) throw typeError(`'${typeName(value)}' object cannot be interpreted as an integer`);
    return Number(int);
  });
  const [a = 0, b, step = 1] = numbers;
  const made = b === undefined ? new PyRange(0, a, 1) : new PyRange(a, b, step);
  if (made.size > maxRange) {
    throw overflowError(`Range too big. The sandbox blocks ranges larger than MAX_RANGE (${maxRange}).`);
  }
  return made;
});

function dictType(ordered: boolean): PyType {
  const statics = methodTable([positional('fromkeys', 1, 2, (_self: PyValue, args) => fromkeys(args, ordered))]);
  const construct = (args: PyValue[], kwargs: Kwargs | undefined): PyDict => {
    const made = new PyDict({ ordered });
    updateDict(made, ordered ? 'OrderedDict' : 'dict', args, kwargs);
    return made;
  };
  return new PyType(
    ordered ? 'collections.OrderedDict' : 'dict',
    (_rt, args, kwargs) => construct(args, kwargs),
    statics,
  );
}

const namespace = new PyType('jinja2.utils.Namespace', (_rt, args, kwargs) => {
  const values = new PyDict();
  updateDict(values, 'dict', args, kwargs);
  return new Namespace(values);
});

class Cycler extends PyObject {
  readonly #items: readonly PyValue[];
  #position = 0;
  constructor(items: readonly PyValue[]) {
    super();
    if (items.length === 0) throw new PyError('RuntimeError', 'at least one item has to be provided');
    this.#items = items;
  }
  typeName(): string {
    return 'Cycler';
  }
  override moduleName(): string {
    return 'jinja2.utils';
  }
  override attr(name: string): PyValue | undefined {
    switch (name) {
      case 'current':
        return this.#items[this.#position];
      case 'items':
        return new PyTuple([...this.#items]);
      case 'pos':
        return this.#position;
      case 'next':
        return define(
          'Cycler.next',
          '',
          () => {
            const item = this.#items[this.#position]!;
            this.#position = (this.#position + 1) % this.#items.length;
            return item;
          },
          { implicit: 1 },
        );
      case 'reset':
        return define(
          'Cycler.reset',
          '',
          () => {
            this.#position = 0;
            return null;
          },
          { implicit: 1 },
        );
      default:
        return undefined;
    }
  }
}

class Joiner extends PyObject {
  readonly #separator: PyValue;
  #used = false;
  constructor(separator: PyValue) {
    super();
    this.#separator = separator;
  }
  typeName(): string {
    return 'Joiner';
  }
  override moduleName(): string {
    return 'jinja2.utils';
  }
  override attr(name: string): PyValue | undefined {
    if (name === 'sep') return this.#separator;
    return name === 'used' ? this.#used : undefined;
  }
  override invoke(): PyValue {
    if (this.#used) return this.#separator;
    this.#used = true;
    return '';
  }
}

const cycler = new PyType('jinja2.utils.Cycler', (_rt, args, kwargs) => {
  const [unexpected] = kwargs?.keys() ?? [];
  if (unexpected !== undefined) throw typeError(`Cycler.__init__() got an unexpected keyword argument '${unexpected}'`);
  return new Cycler(args);
});
const joinerInit = define('Joiner.__init__', "sep=', '", (_rt, separator) => new Joiner(separator!), { implicit: 1 });
const joiner = new PyType('jinja2.utils.Joiner', (rt, args, kwargs) => joinerInit.invoke(rt, args, kwargs));

const lipsum = define('generate_lorem_ipsum', 'n=5, html=True, min=20, max=100', (_rt, n, html, min, max) => {
  const paragraphs = lorem(Number(asInt(n!) ?? 5), Number(asInt(min!) ?? 20), Number(asInt(max!) ?? 100));
  if (!truth(html!)) return paragraphs.join('\n\n');
  return new Markup(paragraphs.map((text) => `<p>${escapeHtml(str(text))}</p>`).join('\n'));
});

export const orderedDictType: PyType = dictType(true);

export const jinjaGlobals: ReadonlyMap<string, PyValue> = new Map<string, PyValue>([
  ['range', range],
  ['dict', dictType(false)],
  ['namespace', namespace],
  ['cycler', cycler],
  ['joiner', joiner],
  ['lipsum', lipsum],
]);
