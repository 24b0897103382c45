// Names of Python internals per type: the sandbox reports them as unsafe instead of missing.
import { PyDict } from './dict.ts';
import { Undefined } from './undefined.ts';
import { PyFloat, PyObject, type PyValue, typeName } from './value.ts';

const words = (text: string): ReadonlySet<string> => new Set(text.split(' ').map((name) => `__${name}__`));

const common = words(
  'class doc init new repr str eq ne lt le gt ge hash getattribute setattr delattr dir format sizeof reduce reduce_ex subclasshook init_subclass getstate',
);
const instance = words('dict module weakref');
const sized = words('len iter contains getitem class_getitem');
const byType: Record<string, ReadonlySet<string>> = {
  str: words('len iter contains getitem add mul rmul mod rmod getnewargs'),
  bytes: words('len iter contains getitem add mul rmul mod rmod getnewargs bytes'),
  list: words('len iter contains getitem class_getitem setitem delitem add iadd mul imul rmul reversed'),
  tuple: words('len iter contains getitem class_getitem add mul rmul getnewargs'),
  dict: words('len iter contains getitem class_getitem setitem delitem or ror ior reversed'),
  OrderedDict: words('len iter contains getitem class_getitem setitem delitem or ror ior reversed dict'),
  set: words('len iter contains class_getitem and or xor sub rand ror rxor rsub iand ior ixor isub'),
  int: words(
    'abs add and bool ceil divmod float floor floordiv getnewargs index int invert lshift mod mul neg or pos pow radd rand rdivmod rfloordiv rlshift rmod rmul ror round rpow rrshift rshift rsub rtruediv rxor sub truediv trunc xor',
  ),
  float: words(
    'abs add bool ceil divmod float floor floordiv getformat getnewargs int mod mul neg pos pow radd rdivmod rfloordiv rmod rmul round rpow rsub rtruediv sub truediv trunc',
  ),
  NoneType: words('bool'),
  function: words('annotations builtins call closure code defaults dict get globals kwdefaults module name qualname'),
  builtin_function_or_method: words('call module name qualname self text_signature'),
  type: words(
    'annotations base bases basicsize call dict dictoffset flags instancecheck itemsize module mro name or prepare qualname ror subclasscheck subclasses text_signature weakrefoffset',
  ),
  Namespace: new Set(['__class__', '_Namespace__attrs']),
};
byType['bool'] = byType['int']!;

const privates: Record<string, ReadonlySet<string>> = {
  Macro: new Set([
    '_environment',
    '_func',
    '_argument_count',
    '_default_autoescape',
    '_invoke',
    '_async_invoke',
    '__call__',
  ]),
  LoopContext: new Set([
    '_iterable',
    '_iterator',
    '_undefined',
    '_recurse',
    '_length',
    '_after',
    '_current',
    '_before',
    '_last_changed_value',
    '_peek_next',
    '_to_iterator',
    '__call__',
    '__iter__',
    '__next__',
    '__len__',
  ]),
  TemplateModule: new Set(['_body_stream', '__name__', '__html__']),
  BlockReference: new Set(['_context', '_stack', '_depth', '_async_call', '__call__']),
  TemplateReference: new Set(['_TemplateReference__context', '__getitem__']),
};
const undefinedNames = new Set([
  '_undefined_hint',
  '_undefined_obj',
  '_undefined_name',
  '_undefined_exception',
  '_undefined_message',
  '_fail_with_undefined_error',
  '__slots__',
  '__add__',
  '__call__',
  '__getitem__',
  '__len__',
  '__iter__',
  '__bool__',
]);

/** True when Python's object would have this underscored attribute. */
export function hasInternal(value: PyValue, name: string): boolean {
  const type = typeName(value);
  if (type === 'Namespace') return byType['Namespace']!.has(name);
  if (common.has(name)) return true;
  if (byType[type]?.has(name)) return true;
  if (value instanceof Undefined) return undefinedNames.has(name);
  if (!(value instanceof PyObject) || value instanceof PyFloat || value instanceof PyDict) return false;
  if (byType[type] === undefined && value.length() !== undefined && sized.has(name)) return true;
  return privates[type]?.has(name) === true || (value.moduleName() !== 'builtins' && instance.has(name));
}
